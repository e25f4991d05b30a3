package style

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Token names what a piece of the screen means; the theme alone knows how that looks.
type Token uint8

const (
	Text       Token = iota // what is read
	Strong                  // what is read first
	Muted                   // units, labels, hints
	Border                  // frames
	Grid                    // axes and guide lines
	Focus                   // the frame that has the keys
	Accent                  // keys, the current choice
	Train                   // of the training rows
	Validation              // of the validation rows
	Test                    // of the test rows
	Good                    // accepted, running, done
	Warn                    // paused, rejected, refused
	Bad                     // diverged, not finite, negative
	Alarm                   // a whole line that must not be overlooked
	Done                    // a whole line that closes a run
	Chosen                  // the highlighted row of a list
	NegativeCurvature
	Boundary
	Residual
	Limit
	Interrupted
	NotFinite
	tokenCount
)

// Of is text that means this.
func (t Token) Of(s string) Part { return Part{Token: t, Text: s} }

// Reversed reports whether a token is drawn with its colours exchanged.
func (t Token) Reversed() bool { return appearances[t].reverse }

// OnLight is a token's colour on a light background, as on paper; "" for the reader's own.
func (t Token) OnLight() string { return appearances[t].light }

// appearance is how a token appears: a colour for each kind of background and for terminals with sixteen
// colours, and the attributes that carry it where there is no colour at all. Most are among the 256
// colours. Of the sixteen, blue stays away from a dark background: many terminals show it too dark to read.
type appearance struct {
	dark, light     string // hex; "" leaves the terminal's own foreground
	dark16, light16 int    // 0…15
	bold, reverse   bool
}

var appearances = [tokenCount]appearance{
	Text:              {"", "", 0, 0, false, false},
	Strong:            {"", "", 0, 0, true, false},
	Muted:             {"#949494", "#6c6c6c", 7, 8, false, false},
	Border:            {"#444444", "#c6c6c6", 8, 7, false, false},
	Grid:              {"#4e4e4e", "#b2b2b2", 8, 7, false, false},
	Focus:             {"#87afd7", "#005faf", 14, 4, true, false},
	Accent:            {"#87afd7", "#005faf", 14, 4, true, false},
	Train:             {"#5fafff", "#005fd7", 14, 6, false, false},
	Validation:        {"#87d787", "#2e7d32", 10, 2, false, false},
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

func (l appearance) sequence(dark bool, profile colorprofile.Profile, noColor bool) string {
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

// racerColors tell the racers apart, together with their letters and with every second line dashed.
var racerColors = [...]Token{Train, Test, Residual, NegativeCurvature, Limit, Text, NotFinite, Muted}

// RacerToken is the colour of the i-th racer.
func RacerToken(i int) Token { return racerColors[i%len(racerColors)] }

// RacerLetter is the letter of the i-th racer.
func RacerLetter(i int) string { return string(rune('A' + i%26)) }

// OnPaper is a token's colour on a light ground; nil is black.
func OnPaper(t Token) color.Color {
	if hex := t.OnLight(); hex != "" {
		return lipgloss.Color(hex)
	}
	return nil
}
