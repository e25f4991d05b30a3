package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/history"
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
	if len(seen) != int(layout.Panes)-1 { // errors and log share a row
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
	d := feed.Delta{Status: a.h.Status}
	for e := 9_990; e <= 10_010; e++ {
		d.Epochs = append(d.Epochs, tuitest.Epoch(e, 1, r))
		d.Epochs[len(d.Epochs)-1].Loss = event.Float(0.000991 + 0.00001*float64(e%3))
	}
	a.Update(came(d))
	rows := a.panes[layout.Log].body(a.paneView(), 40, 20, false)
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

// TestInnerScale has so many iterations that their labels are wide: none may be cut.
func TestInnerScale(t *testing.T) {
	for _, n := range []int{3, 9, 40, 999, 1500, 12_500, 99_000} {
		v := testView()
		e := tuitest.Epoch(1, 1, rand.New(rand.NewPCG(1, 1)))
		e.Inner[0].Iterations = n
		v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
		for _, h := range []int{2, 3, 9, 30} {
			labels := 0
			for _, row := range new(Inner).draw(v, 40, h, false) {
				if label, _, ok := strings.Cut(ansi.Strip(row), "┤"); ok {
					labels++
					var x float64
					var unit string
					if k, err := fmt.Sscanf(label+" ", "%g%s", &x, &unit); k == 0 || x <= 0 || x > 1000 || k == 1 && n > 5000 {
						t.Errorf("%d iterations, %d rows: label %q (%v)", n, h, label, err)
					}
				}
			}
			if labels == 0 {
				t.Errorf("%d iterations, %d rows: no label", n, h)
			}
		}
	}
}

// TestArcsLeaveRoom draws a deep network in which every layer feeds all later ones.
func TestArcsLeaveRoom(t *testing.T) {
	m := &event.ModelInfo{Layers: []int{2, 10, 10, 10, 10, 10, 10, 2}}
	skips := 0
	for to := range m.Layers {
		for from := range to {
			m.Connections = append(m.Connections, event.ConnectionInfo{To: to, From: from, Weights: 100})
			if to-from > 1 {
				skips++
			}
		}
	}
	v := testView()
	v.H.Run = &event.RunEvent{Model: *m}
	for h := 1; h < 50; h++ {
		p := &Topology{}
		rows := p.body(v, 66, h, false)
		d := p.arrange(v, m, 66, h, false)
		if d.h < d.arcs {
			t.Errorf("%d rows: %d for arcs, %d for the graph", h, d.arcs, d.h)
		}
		drawn := strings.Count(strings.Join(rows, ""), "╯")
		told := 0
		fmt.Sscanf(strings.TrimSpace(rows[0][strings.LastIndex(rows[0], "+")+1:]), "%d skips", &told)
		if h >= 8 && drawn+told != skips {
			t.Errorf("%d rows: %d arcs and %d more, of %d", h, drawn, told, skips)
		}
	}
}

// TestNextRadius: only a trust region that goes on with another radius has one.
func TestNextRadius(t *testing.T) {
	radius := func(text string) []event.Setting {
		return []event.Setting{{Key: "radius", Text: text, Primary: true}}
	}
	for _, c := range []struct {
		settings []event.Setting
		phase    event.Phase
		want     bool
	}{
		{radius("0.5"), event.Running, true}, {radius("2"), event.Running, false}, {radius("0.5"), event.Ended, false},
		{radius("?"), event.Running, false}, {nil, event.Running, false}, {[]event.Setting{{Key: "rate", Text: "0.5", Primary: true}}, event.Running, false},
	} {
		h := &history.History{Latest: event.EpochEvent{Epoch: 3, Radius: 2}, Status: event.Status{Phase: c.phase, Settings: c.settings}}
		if r, ok := NextRadius(h); ok != c.want || ok && r != 0.5 {
			t.Errorf("%v %v: %v, %v", c.settings, c.phase, r, ok)
		}
	}
}
