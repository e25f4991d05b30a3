package dashboard

import (
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
)

// TestFocusShows moves the focus over a screen without frames, with and without colours.
func TestFocusShows(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{NoColor: true}, 60, 16)
	seen := map[int]bool{}
	for range layout.Panes {
		for y, row := range strings.Split(frameText(t, a), "\n") {
			if strings.HasPrefix(row, "▸") {
				seen[y] = true
			}
		}
		press(a, "tab")
	}
	// errors, log and metrics share a row; of the machine nothing is told, and there are no console and no images
	if len(seen) != int(layout.Panes)-5 {
		t.Errorf("the mark stood in rows %v", seen)
	}
}

// TestNoDarkBlue looks for the two blues in sixteen colours on a dark background.
func TestNoDarkBlue(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 33, Spectra: true}, screen.Options{}, 120, 40)
	a.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
	for _, blue := range []string{"34m", "94m"} {
		if strings.Contains(a.View().Content, blue) {
			t.Errorf("has %q", blue)
		}
	}
}

// TestLogColumns has epochs of four and of five digits on one screen.
func TestLogColumns(t *testing.T) {
	a := newTest(tuitest.Script{}, screen.Options{NoColor: true}, 120, 40)
	r := rand.New(rand.NewPCG(1, 1))
	d := feed.Delta{Status: a.H.Status}
	for e := 9_990; e <= 10_010; e++ {
		d.Epochs = append(d.Epochs, tuitest.Epoch(e, 1, r))
		d.Epochs[len(d.Epochs)-1].Loss = event.Float(0.000991 + 0.00001*float64(e%3))
	}
	a.Update(came(d))
	rows := a.Panes[layout.Log].Body(a.PaneView(), 40, 20, false)
	at := -1
	for _, row := range rows {
		text := ansi.Strip(row)
		i := strings.Index(text, "%")
		if at < 0 {
			at = i
		}
		if i != at || i < 0 {
			t.Errorf("the error stands elsewhere in %q", text)
		}
	}
}
