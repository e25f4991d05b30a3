package style

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Glyphs is the set of characters that drawings are made of.
type Glyphs uint8

// The glyph sets, from the finest to the plainest.
const (
	GlyphsPreferred Glyphs = iota // the user's preference, without one GlyphsAuto
	GlyphsAuto                    // braille with a locale of UTF-8, otherwise, and on Linux' own console, ASCII
	GlyphsBraille                 // 2 × 4 dots a cell
	GlyphsBlock                   // 2 × 2 quadrants a cell, for fonts without braille
	GlyphsASCII                   // nothing beyond 7 bits
	GlyphsCount
)

var glyphsNames = [GlyphsCount]string{"", "auto", "braille", "block", "ascii"}

// Next goes round the glyph sets, the user's preference left out.
func (g Glyphs) Next() Glyphs { return max(GlyphsAuto, (g+1)%GlyphsCount) }

func (g Glyphs) String() string { return glyphsNames[g%GlyphsCount] }

// ParseGlyphs returns the glyph set of a name, "" being GlyphsPreferred.
func ParseGlyphs(name string) (Glyphs, error) {
	if i := slices.Index(glyphsNames[:], name); i >= 0 {
		return Glyphs(i), nil
	}
	return 0, fmt.Errorf("glyphs %q: expected one of %s", name, strings.Join(glyphsNames[1:], ", "))
}

// GlyphSet are what differs between the sets. All other text is written in Unicode and turned into ASCII
// once, when a frame is finished.
type GlyphSet struct {
	ASCII        bool
	DotsX, DotsY int    // dots of a cell that charts can set
	Levels       []rune // rising bars, the first one empty
	Rho, Lambda  string
	Within       string // between a value and its bound
	To           string // from one to another
}

// Set is the set of characters; of GlyphsAuto that which the environment of a terminal suggests.
func (g Glyphs) Set(environ []string) *GlyphSet {
	if g == GlyphsAuto || g == GlyphsPreferred {
		g = GlyphsBraille
		if !utf8Locale(environ) || Lookup(environ, "TERM") == "linux" { // whose font has no braille
			g = GlyphsASCII
		}
	}
	switch g {
	case GlyphsASCII:
		return &GlyphSet{ASCII: true, DotsX: 1, DotsY: 1, Levels: []rune(" .:-=+*#%"), Rho: "rho", Lambda: "lambda",
			Within: " +- ", To: " -> "}
	case GlyphsBlock:
		return &GlyphSet{DotsX: 2, DotsY: 2, Levels: []rune(" ▁▂▃▄▅▆▇█"), Rho: "ρ", Lambda: "λ", Within: " ± ",
			To: " → "}
	}
	return &GlyphSet{DotsX: 2, DotsY: 4, Levels: []rune(" ▁▂▃▄▅▆▇█"), Rho: "ρ", Lambda: "λ", Within: " ± ", To: " → "}
}

// Keys names keys that are arrows.
func (g *GlyphSet) Keys(keys string) string {
	if !g.ASCII {
		return keys
	}
	return arrows.Replace(keys)
}

var arrows = strings.NewReplacer("←↑→↓", "arrows", "← →", "left right", "←→", "left right", "↑ ↓", "up down", "↑↓",
	"up down")

// asciiOf has a character of the same width for everything that is drawn.
var asciiOf = map[rune]rune{
	'╭': '+', '╮': '+', '╰': '+', '╯': '+', '┌': '+', '┐': '+', '└': '+', '┘': '+', '┤': '+', '├': '+', '┬': '+',
	'┴': '+', '┼': '+', '─': '-', '│': '|', '╌': '-', '┊': ':', '━': '=', '┄': '-',
	'▴': '^', '▾': 'v', '▸': '>', '●': 'o', '○': 'o', '■': '#', '‖': '|', '⋮': ':', '…': '.', '·': '|', '×': 'x',
	'–': '-', '‹': '<', '›': '>',
	'±': '+', '→': '>', '←': '<', '↑': '^', '↓': 'v', '−': '-', '≤': '<', '≥': '>', '²': '2', 'Δ': 'd',
	'ξ': 'x', 'ρ': 'r', 'λ': 'l', '▁': '.', '▂': ':', '▃': '-', '▄': '=', '▅': '+', '▆': '*', '▇': '#', '█': '#',
	'⏎': '>', '✓': '+', '✗': 'x', 'ᵀ': 'T', '∂': 'd', '₂': '2', '√': 'v', 'ø': 'o', 'η': 'n', 'α': 'a', 'β': 'b',
	'ε': 'e', 'μ': 'u', 'µ': 'u', 'κ': 'k', '≈': '=', '₀': '0', '₁': '1', '▏': '|', '◉': '@', '░': ':', '°': '\'',
	'§': 'S', 'é': 'e', 'σ': 's', 'δ': 'd', 'γ': 'g', 'τ': 't', 'ν': 'n', 'θ': 't', '³': '3', 'ₖ': 'k', '₊': '+',
	'≡': '=', '▒': '+', '▓': '*', 'π': 'p', '⁻': '-', '¹': '1',
}

// ToASCII replaces every character beyond 7 bits by one of the same width.
func ToASCII(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		a, ok := asciiOf[r]
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case ok:
			b.WriteRune(a)
		default:
			b.WriteString(Repeat("?", ansi.StringWidth(string(r))))
		}
	}
	return b.String()
}

// utf8Locale follows POSIX: LC_ALL, then LC_CTYPE, then LANG; C and POSIX are seven bits. With none of
// them set the terminal is taken to be a modern one, as a bare container's usually is.
func utf8Locale(environ []string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := Lookup(environ, name); v != "" {
			v = strings.ToUpper(v)
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return true
}

// Lookup returns the last value of a variable, as the shell would see it.
func Lookup(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(environ[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// LocaleOf completes an environment for the choice of glyphs. SSH clients often send no locale: then a terminal is
// taken to be a modern one with UTF-8, unless it is of a kind that has no braille.
func LocaleOf(environ []string) []string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if Lookup(environ, name) != "" {
			return environ
		}
	}
	if OldTerminal(environ) {
		return append([]string{"LANG=C"}, environ...)
	}
	return environ
}

// OldTerminal reports whether a terminal is of the VT100's kind.
func OldTerminal(environ []string) bool {
	name := Lookup(environ, "TERM")
	return name == "" || name == "dumb" || strings.HasPrefix(name, "vt1") || strings.HasPrefix(name, "vt2")
}

// ColorProfile is how many a terminal has, as its TERM and COLORTERM say. Nothing else is asked: the files and programs
// that know more are the server's.
func ColorProfile(environ []string) colorprofile.Profile {
	if p := colorprofile.Env(environ); !OldTerminal(environ) && Lookup(environ, "NO_COLOR") == "" &&
		p > colorprofile.ASCII {
		return p
	}
	return colorprofile.ASCII // bold, faint and reverse
}

// Quadrants has the block characters of 2 × 2 dots, row-major.
var Quadrants = []rune(" ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█")
