// Package style is how everything on the screen looks: what pieces of it mean (Token), their colours in each theme, the
// characters of each glyph set, lines that never get wider than their room, and text made safe to draw. It alone writes
// escape sequences of colours.
package style

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Palette holds the escape sequence that switches each token on.
type Palette struct {
	Codes   [tokenCount]string
	shading *shading
}

// Theme is a choice of colours.
type Theme uint8

// The themes, in the order of the key that switches them.
const (
	ThemePreferred Theme = iota // the user's preference, without one ThemeAuto
	ThemeAuto                   // dark or light, as the terminal's background is
	ThemeDark                   // for a dark background
	ThemeLight                  // for a light one
	ThemeSafe                   // for eyes that see fewer colours: Okabe and Ito's hues, on either background
	ThemeMono                   // bold, faint and reverse only
	ThemeCount
)

var themeNames = [ThemeCount]string{"", "auto", "dark", "light", "safe", "mono"}

// Next goes round the themes, the user's preference left out.
func (t Theme) Next() Theme { return max(ThemeAuto, (t+1)%ThemeCount) }

func (t Theme) String() string { return themeNames[t%ThemeCount] }

// ParseTheme returns the theme of a name, "" being ThemePreferred.
func ParseTheme(name string) (Theme, error) {
	if i := slices.Index(themeNames[:], name); i >= 0 {
		return Theme(i), nil
	}
	return 0, fmt.Errorf("theme %q: expected one of %s", name, strings.Join(themeNames[1:], ", "))
}

// safeHues are the hues of Okabe and Ito's palette ("Color Universal Design", 2008) for a dark and for a
// light background. Their lightness is moved where text would have less than 4.5:1 against the background.
// Tokens without one keep their grey.
var safeHues = [tokenCount][2]string{
	Focus:             {"#56b4e9", "#0072b2"}, // sky blue, blue
	Accent:            {"#56b4e9", "#0072b2"},
	Train:             {"#56b4e9", "#0072b2"},
	Validation:        {"#14b88a", "#00785a"}, // bluish green
	Test:              {"#e69f00", "#966000"}, // orange
	Good:              {"#14b88a", "#00785a"}, // bluish green
	Warn:              {"#f0e442", "#756c00"}, // yellow
	Bad:               {"#f58a3d", "#b04a00"}, // vermillion
	Alarm:             {"#f58a3d", "#b04a00"},
	Done:              {"#14b88a", "#00785a"},
	Chosen:            {"#56b4e9", "#0072b2"},
	NegativeCurvature: {"#dc93ba", "#a03f78"}, // reddish purple
	Boundary:          {"#56b4e9", "#0072b2"},
	Residual:          {"#14b88a", "#00785a"},
	Limit:             {"#f0e442", "#756c00"},
	NotFinite:         {"#f58a3d", "#b04a00"},
}

// OnDark reports whether a theme is made for a dark background, given what the terminal's is.
func (t Theme) OnDark(dark bool) bool {
	if t == ThemeDark || t == ThemeLight {
		return t == ThemeDark
	}
	return dark
}

// Palette makes a theme's escape sequences for a background and for what the terminal can show.
func (t Theme) Palette(dark bool, profile colorprofile.Profile, noColor bool) *Palette {
	dark, noColor = t.OnDark(dark), noColor || t == ThemeMono
	th := newPalette(dark, profile, noColor)
	if t != ThemeSafe {
		return th
	}
	for k, hues := range safeHues {
		l := appearances[k]
		if hues[0] != "" {
			l.dark, l.light = hues[0], hues[1]
		}
		th.Codes[k] = l.sequence(dark, profile, noColor)
	}
	th.fade(profile, noColor)
	return th
}

// newPalette picks the colours for a background and for what the terminal can show.
func newPalette(dark bool, profile colorprofile.Profile, noColor bool) *Palette {
	t := &Palette{shading: newShading(dark, profile, noColor)}
	for k := range appearances {
		t.Codes[k] = appearances[k].sequence(dark, profile, noColor)
	}
	t.fade(profile, noColor)
	return t
}

// Colorless reports whether attributes alone tell pieces of the screen apart.
func (t *Palette) Colorless() bool { return t.Codes[Train] == "" }

// fade stands in for grey where there is no colour.
func (t *Palette) fade(profile colorprofile.Profile, noColor bool) {
	if noColor || profile == colorprofile.ASCII || profile == colorprofile.NoTTY {
		for _, k := range []Token{Muted, Border, Grid} {
			t.Codes[k] = ansi.NewStyle().Faint().String()
		}
	}
}
