package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/krylov"
)

// token names what a piece of the screen means; the theme alone knows how that looks.
type token uint8

const (
	tokText   token = iota // what is read
	tokStrong              // what is read first
	tokMuted               // units, labels, hints
	tokBorder              // frames
	tokGrid                // axes and guide lines
	tokFocus               // the frame that has the keys
	tokAccent              // keys, the current choice
	tokTrain               // of the training rows
	tokTest                // of the test rows
	tokGood                // accepted, running, done
	tokWarn                // paused, rejected, refused
	tokBad                 // diverged, not finite, negative
	tokAlarm               // a whole line that must not be overlooked
	tokDone                // a whole line that closes a run
	tokChosen              // the highlighted row of a list
	tokNegativeCurvature
	tokBoundary
	tokResidual
	tokLimit
	tokInterrupted
	tokNotFinite
	tokenCount
)

// look is how a token appears: a colour for each kind of background and for terminals with sixteen
// colours, and the attributes that carry it where there is no colour at all. The greys are among the 256
// colours. Of the sixteen, blue stays away from a dark background: many terminals show it too dark to read.
type look struct {
	dark, light     string // hex; "" leaves the terminal's own foreground
	dark16, light16 int    // 0…15
	bold, reverse   bool
}

var looks = [tokenCount]look{
	tokText:              {"", "", 0, 0, false, false},
	tokStrong:            {"", "", 0, 0, true, false},
	tokMuted:             {"#949494", "#6c6c6c", 7, 8, false, false},
	tokBorder:            {"#444444", "#c6c6c6", 8, 7, false, false},
	tokGrid:              {"#4e4e4e", "#b2b2b2", 8, 7, false, false},
	tokFocus:             {"#8fb4e3", "#2f67ad", 14, 4, true, false},
	tokAccent:            {"#8fb4e3", "#2f67ad", 14, 4, true, false},
	tokTrain:             {"#6fb3f2", "#1f6fbf", 14, 6, false, false},
	tokTest:              {"#f0a860", "#b45f06", 11, 3, false, false},
	tokGood:              {"#8ccf8a", "#2e7d32", 10, 2, false, false},
	tokWarn:              {"#e8cb62", "#8a6d00", 11, 3, true, false},
	tokBad:               {"#f2777a", "#c62828", 9, 1, true, false},
	tokAlarm:             {"#f2777a", "#c62828", 9, 1, true, true},
	tokDone:              {"#8ccf8a", "#2e7d32", 10, 2, true, true},
	tokChosen:            {"#8fb4e3", "#2f67ad", 14, 4, true, true},
	tokNegativeCurvature: {"#d78ae0", "#8e24aa", 13, 5, false, false},
	tokBoundary:          {"#6fb3f2", "#1f6fbf", 14, 4, false, false},
	tokResidual:          {"#8ccf8a", "#2e7d32", 10, 2, false, false},
	tokLimit:             {"#e8cb62", "#8a6d00", 11, 3, false, false},
	tokInterrupted:       {"#949494", "#6c6c6c", 7, 8, false, false},
	tokNotFinite:         {"#f2777a", "#c62828", 9, 1, true, false},
}

// theme holds the escape sequence that switches each token on.
type theme struct {
	ink [tokenCount]string
}

// newTheme picks the colours for a background and for what the terminal can show.
func newTheme(dark bool, profile colorprofile.Profile, noColor bool) *theme {
	t := &theme{}
	for k := range looks {
		t.ink[k] = looks[k].sequence(dark, profile, noColor)
	}
	if noColor || profile == colorprofile.ASCII || profile == colorprofile.NoTTY {
		for _, k := range []token{tokMuted, tokBorder, tokGrid} {
			t.ink[k] = ansi.NewStyle().Faint().String()
		}
	}
	return t
}

func (l look) sequence(dark bool, profile colorprofile.Profile, noColor bool) string {
	s := ansi.NewStyle()
	if l.bold {
		s = s.Bold()
	}
	if l.reverse {
		s = s.Reverse(true)
	}
	hex, index := l.light, l.light16
	if dark {
		hex, index = l.dark, l.dark16
	}
	switch {
	case noColor, hex == "", profile == colorprofile.ASCII, profile == colorprofile.NoTTY:
	case profile == colorprofile.ANSI:
		s = s.ForegroundColor(ansi.BasicColor(index))
	default:
		s = s.ForegroundColor(lipgloss.Color(hex))
	}
	if len(s) == 0 {
		return ""
	}
	return s.String()
}

// stopToken is the colour of a stop reason; its letter says the same without one.
func stopToken(s krylov.Stop) token {
	switch s {
	case krylov.NegativeCurvature:
		return tokNegativeCurvature
	case krylov.Boundary:
		return tokBoundary
	case krylov.Residual:
		return tokResidual
	case krylov.Limit:
		return tokLimit
	case krylov.NotFinite:
		return tokNotFinite
	}
	return tokInterrupted
}

// Glyphs is the set of characters that drawings are made of.
type Glyphs uint8

// The glyph sets, from the finest to the plainest.
const (
	GlyphsAuto    Glyphs = iota // by the locale: braille with UTF-8, otherwise ASCII
	GlyphsBraille               // 2 × 4 dots a cell
	GlyphsBlock                 // 2 × 2 quadrants a cell, for fonts without braille
	GlyphsASCII                 // nothing beyond 7 bits
)

// glyphs are what differs between the sets. All other text is written in Unicode and turned into ASCII
// once, when a frame is finished.
type glyphs struct {
	ascii        bool
	dotsX, dotsY int    // dots of a cell that charts can set
	levels       []rune // rising bars, the first one empty
	rho, lambda  string
	within       string // between a value and its bound
}

func (g Glyphs) set(environ []string) *glyphs {
	if g == GlyphsAuto {
		g = GlyphsBraille
		if !utf8Locale(environ) {
			g = GlyphsASCII
		}
	}
	switch g {
	case GlyphsASCII:
		return &glyphs{ascii: true, dotsX: 1, dotsY: 1, levels: []rune(" .:-=+*#%"), rho: "rho", lambda: "lambda", within: " +- "}
	case GlyphsBlock:
		return &glyphs{dotsX: 2, dotsY: 2, levels: []rune(" ▁▂▃▄▅▆▇█"), rho: "ρ", lambda: "λ", within: " ± "}
	}
	return &glyphs{dotsX: 2, dotsY: 4, levels: []rune(" ▁▂▃▄▅▆▇█"), rho: "ρ", lambda: "λ", within: " ± "}
}

// asciiOf has a character of the same width for everything that is drawn.
var asciiOf = map[rune]rune{
	'╭': '+', '╮': '+', '╰': '+', '╯': '+', '┌': '+', '┐': '+', '└': '+', '┘': '+', '┤': '+', '├': '+', '┬': '+',
	'┴': '+', '┼': '+', '─': '-', '│': '|', '╌': '-', '┊': ':', '━': '=', '┄': '-',
	'▴': '^', '▾': 'v', '▸': '>', '●': 'o', '○': 'o', '■': '#', '‖': '|', '⋮': ':', '…': '~', '·': '-', '×': 'x', '–': '-',
	'±': '~', '→': '>', '←': '<', '↑': '^', '↓': 'v', '−': '-', '≤': '<', '≥': '>', '²': '2', '∞': '8', 'Δ': 'd',
	'ξ': 'x', 'ρ': 'r', 'λ': 'l', '▁': '.', '▂': ':', '▃': '-', '▄': '=', '▅': '+', '▆': '*', '▇': '#', '█': '#',
	'⏎': '>', '✓': '+', '✗': 'x', 'ᵀ': 'T', '½': '~', '∂': 'd', '₂': '2', '√': 'v', 'ø': 'o', 'η': 'n', 'α': 'a', 'β': 'b',
	'ε': 'e', 'μ': 'u', 'µ': 'u', 'κ': 'k', '≈': '~', '₀': '0', '₁': '1', '▏': '|',
}

// toASCII replaces every character beyond 7 bits by one of the same width.
func toASCII(s string) string {
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
			b.WriteString(repeat("?", ansi.StringWidth(string(r))))
		}
	}
	return b.String()
}
