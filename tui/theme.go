package tui

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// look is how a token appears: a colour for each kind of background and for terminals with sixteen
// colours, and the attributes that carry it where there is no colour at all. Most are among the 256
// colours. Of the sixteen, blue stays away from a dark background: many terminals show it too dark to read.
type look struct {
	dark, light     string // hex; "" leaves the terminal's own foreground
	dark16, light16 int    // 0…15
	bold, reverse   bool
}

var looks = [tokenCount]look{
	Text:              {"", "", 0, 0, false, false},
	Strong:            {"", "", 0, 0, true, false},
	Muted:             {"#949494", "#6c6c6c", 7, 8, false, false},
	Border:            {"#444444", "#c6c6c6", 8, 7, false, false},
	Grid:              {"#4e4e4e", "#b2b2b2", 8, 7, false, false},
	Focus:             {"#87afd7", "#005faf", 14, 4, true, false},
	Accent:            {"#87afd7", "#005faf", 14, 4, true, false},
	Train:             {"#5fafff", "#005fd7", 14, 6, false, false},
	Test:              {"#ffaf5f", "#a35405", 11, 3, false, false},
	Good:              {"#87d787", "#2e7d32", 10, 2, false, false},
	Warn:              {"#ffd75f", "#8a6d00", 11, 3, true, false},
	Bad:               {"#ff8787", "#c62828", 9, 1, true, false},
	Alarm:             {"#ff8787", "#c62828", 9, 1, true, true},
	Done:              {"#87d787", "#2e7d32", 10, 2, true, true},
	Chosen:            {"#87afd7", "#005faf", 14, 4, true, true},
	NegativeCurvature: {"#d787d7", "#8e24aa", 13, 5, false, false},
	Boundary:          {"#5fafff", "#005fd7", 14, 4, false, false},
	Residual:          {"#87d787", "#2e7d32", 10, 2, false, false},
	Limit:             {"#ffd75f", "#8a6d00", 11, 3, false, false},
	Interrupted:       {"#949494", "#6c6c6c", 7, 8, false, false},
	NotFinite:         {"#ff8787", "#c62828", 9, 1, true, false},
}

// Palette holds the escape sequence that switches each token on.
type Palette struct {
	ink     [tokenCount]string
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
func (t Theme) Next() Theme {
	if t+1 >= ThemeCount {
		return ThemeAuto
	}
	return t + 1
}

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
		l := looks[k]
		if hues[0] != "" {
			l.dark, l.light = hues[0], hues[1]
		}
		th.ink[k] = l.sequence(dark, profile, noColor)
	}
	th.fade(profile, noColor)
	return th
}

// newPalette picks the colours for a background and for what the terminal can show.
func newPalette(dark bool, profile colorprofile.Profile, noColor bool) *Palette {
	t := &Palette{shading: newShading(dark, profile, noColor)}
	for k := range looks {
		t.ink[k] = looks[k].sequence(dark, profile, noColor)
	}
	t.fade(profile, noColor)
	return t
}

// fade stands in for grey where there is no colour.
func (t *Palette) fade(profile colorprofile.Profile, noColor bool) {
	if noColor || profile == colorprofile.ASCII || profile == colorprofile.NoTTY {
		for _, k := range []Token{Muted, Border, Grid} {
			t.ink[k] = ansi.NewStyle().Faint().String()
		}
	}
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
		s = s.ForegroundColor(shortest(hex))
	}
	if len(s) == 0 {
		return ""
	}
	return s.String()
}

// shortest returns a colour as one of the 256 if it is exactly that: its sequence has half the bytes, and most
// of what goes to a terminal are sequences.
func shortest(hex string) color.Color {
	c := lipgloss.Color(hex)
	r, g, b, _ := c.RGBA()
	for i := 16; i < 256; i++ { // those before are the user's own
		x := ansi.IndexedColor(i)
		if xr, xg, xb, _ := x.RGBA(); xr == r && xg == g && xb == b {
			return x
		}
	}
	return c
}

// Reversed reports whether a token is drawn with its colours exchanged.
func (t Token) Reversed() bool { return looks[t].reverse }

// OnLight is a token's colour on a light background, as on paper; "" for the reader's own.
func (t Token) OnLight() string { return looks[t].light }
