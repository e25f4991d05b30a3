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
	tokText:              {"", "", 0, 0, false, false},
	tokStrong:            {"", "", 0, 0, true, false},
	tokMuted:             {"#949494", "#6c6c6c", 7, 8, false, false},
	tokBorder:            {"#444444", "#c6c6c6", 8, 7, false, false},
	tokGrid:              {"#4e4e4e", "#b2b2b2", 8, 7, false, false},
	tokFocus:             {"#87afd7", "#005faf", 14, 4, true, false},
	tokAccent:            {"#87afd7", "#005faf", 14, 4, true, false},
	tokTrain:             {"#5fafff", "#005fd7", 14, 6, false, false},
	tokTest:              {"#ffaf5f", "#a35405", 11, 3, false, false},
	tokGood:              {"#87d787", "#2e7d32", 10, 2, false, false},
	tokWarn:              {"#ffd75f", "#8a6d00", 11, 3, true, false},
	tokBad:               {"#ff8787", "#c62828", 9, 1, true, false},
	tokAlarm:             {"#ff8787", "#c62828", 9, 1, true, true},
	tokDone:              {"#87d787", "#2e7d32", 10, 2, true, true},
	tokChosen:            {"#87afd7", "#005faf", 14, 4, true, true},
	tokNegativeCurvature: {"#d787d7", "#8e24aa", 13, 5, false, false},
	tokBoundary:          {"#5fafff", "#005fd7", 14, 4, false, false},
	tokResidual:          {"#87d787", "#2e7d32", 10, 2, false, false},
	tokLimit:             {"#ffd75f", "#8a6d00", 11, 3, false, false},
	tokInterrupted:       {"#949494", "#6c6c6c", 7, 8, false, false},
	tokNotFinite:         {"#ff8787", "#c62828", 9, 1, true, false},
}

// theme holds the escape sequence that switches each token on.
type theme struct {
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
	themeCount
)

var themeNames = [themeCount]string{"", "auto", "dark", "light", "safe", "mono"}

func (t Theme) String() string { return themeNames[t%themeCount] }

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
	tokFocus:             {"#56b4e9", "#0072b2"}, // sky blue, blue
	tokAccent:            {"#56b4e9", "#0072b2"},
	tokTrain:             {"#56b4e9", "#0072b2"},
	tokTest:              {"#e69f00", "#966000"}, // orange
	tokGood:              {"#14b88a", "#00785a"}, // bluish green
	tokWarn:              {"#f0e442", "#756c00"}, // yellow
	tokBad:               {"#f58a3d", "#b04a00"}, // vermillion
	tokAlarm:             {"#f58a3d", "#b04a00"},
	tokDone:              {"#14b88a", "#00785a"},
	tokChosen:            {"#56b4e9", "#0072b2"},
	tokNegativeCurvature: {"#dc93ba", "#a03f78"}, // reddish purple
	tokBoundary:          {"#56b4e9", "#0072b2"},
	tokResidual:          {"#14b88a", "#00785a"},
	tokLimit:             {"#f0e442", "#756c00"},
	tokNotFinite:         {"#f58a3d", "#b04a00"},
}

// onDark reports whether a theme is made for a dark background, given what the terminal's is.
func (t Theme) onDark(dark bool) bool {
	if t == ThemeDark || t == ThemeLight {
		return t == ThemeDark
	}
	return dark
}

// inks makes a theme's escape sequences for a background and for what the terminal can show.
func (t Theme) inks(dark bool, profile colorprofile.Profile, noColor bool) *theme {
	dark, noColor = t.onDark(dark), noColor || t == ThemeMono
	th := newTheme(dark, profile, noColor)
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

// newTheme picks the colours for a background and for what the terminal can show.
func newTheme(dark bool, profile colorprofile.Profile, noColor bool) *theme {
	t := &theme{shading: newShading(dark, profile, noColor)}
	for k := range looks {
		t.ink[k] = looks[k].sequence(dark, profile, noColor)
	}
	t.fade(profile, noColor)
	return t
}

// fade stands in for grey where there is no colour.
func (t *theme) fade(profile colorprofile.Profile, noColor bool) {
	if noColor || profile == colorprofile.ASCII || profile == colorprofile.NoTTY {
		for _, k := range []token{tokMuted, tokBorder, tokGrid} {
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

// reversed reports whether a token is drawn with its colours exchanged.
func (t token) reversed() bool { return looks[t].reverse }

// onLight is a token's colour on a light background, as on paper; "" for the reader's own.
func (t token) onLight() string { return looks[t].light }
