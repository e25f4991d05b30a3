package tui

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"newtop/trainer/event"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
)

func watchedWeights(e event.WeightsEvent) *View {
	v := watched(tuitest.NewRun(tuitest.Script{Epochs: 3}))
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	return v
}

// TestTopologyPane draws the network and one of its blocks.
func TestTopologyPane(t *testing.T) {
	for _, c := range []struct {
		name   string
		w, h   int
		zoomed bool
		open   bool
		event  event.WeightsEvent
	}{
		{"small", 40, 9, false, false, event.WeightsEvent{}},
		{"small", 80, 21, true, false, event.WeightsEvent{}},
		{"small", 120, 37, true, false, event.WeightsEvent{}},
		{"waiting", 80, 21, true, true, event.WeightsEvent{}},
		{"matrix", 40, 14, true, true, tuitest.WeightsAt(1, 0, 70, 16, 0)},
		{"matrix", 80, 21, true, true, tuitest.WeightsAt(1, 0, 12, 16, 0)},
		{"matrix", 120, 37, true, true, tuitest.WeightsAt(1, 0, 70, 16, 0)},
		{"tiles", 80, 21, true, true, tuitest.WeightsAt(1, 0, 70, 64, 8)},
		{"tiles", 120, 37, true, true, tuitest.WeightsAt(1, 0, 10, 784, 28)},
	} {
		t.Run(fmt.Sprintf("%s-%dx%d", c.name, c.w, c.h), func(t *testing.T) {
			p := &Topology{look: blockView{open: c.open, row: 3, col: 5}}
			rows := new(Cache).draw(p, watchedWeights(c.event), layout.Rect{X: 0, Y: 0, W: c.w, H: c.h}, CacheKey{zoomed: c.zoomed})
			golden.RequireEqual(t, []byte(ansi.Strip(strings.Join(rows, "\n"))))
		})
	}
}

func TestTopologyFits(t *testing.T) {
	sparse := tuitest.WeightsAt(1, 0, 9, 5, 0)
	for i := range sparse.Values {
		sparse.Values[i] = event.Float(math.NaN())
	}
	wild := tuitest.WeightsAt(1, 0, 2, 2, 0)
	wild.Values[0], wild.Values[3] = event.Float(math.Inf(1)), event.Float(math.Inf(-1))
	for _, e := range []event.WeightsEvent{
		tuitest.WeightsAt(1, 0, 70, 16, 0), tuitest.WeightsAt(1, 0, 300, 784, 28), tuitest.WeightsAt(1, 0, 10, 64, 8), tuitest.WeightsAt(1, 0, 1, 1, 0), sparse, wild, {},
	} {
		looksFit(t, watchedWeights(e), func(r *rand.Rand) Pane {
			return &Topology{look: blockView{open: r.IntN(3) > 0, matrix: r.IntN(2) == 0, row: r.IntN(400), col: r.IntN(900)}}
		})
	}
	looksFit(t, watched(nil), func(*rand.Rand) Pane { return &Topology{} })
}

// TestTopologyKeys chooses a block, asks for its weights and walks over them.
func TestTopologyKeys(t *testing.T) {
	v := watchedWeights(tuitest.WeightsAt(2, 1, 50, 70, 0))
	p := &Topology{}
	if c := p.Ask(v.H); c != nil {
		t.Errorf("asks for %v unasked", c)
	}
	for _, k := range []string{"down", "down", "down", "down", "enter"} {
		if _, taken := Press(p, v, k); !taken {
			t.Errorf("%s is not taken", k)
		}
	}
	if c := p.Ask(v.H); c != (event.ShowWeights{To: 2, From: 1}) {
		t.Errorf("asks for %v", c)
	}
	for _, k := range []string{"right", "right", "down", "up", "up", "left"} {
		Press(p, v, k)
	}
	if p.look.col != 1 || p.look.row != 0 {
		t.Errorf("the cursor is at %d, %d", p.look.row, p.look.col)
	}
	new(Cache).draw(p, v, layout.Rect{X: 0, Y: 0, W: 120, H: 40}, CacheKey{zoomed: true})
	d := p.look.drawn
	if !p.handleMouse(v, tea.MouseClickMsg{}, d.x+d.w-1, d.y+d.h-1) || p.look.col != 69 || p.look.row < 48 {
		t.Errorf("a click at the end of %+v went to %d, %d", d, p.look.row, p.look.col)
	}
	Press(p, v, "n")
	Press(p, v, "esc")
	if _, taken := Press(p, v, "esc"); taken || p.look.open {
		t.Error("the second esc is taken")
	}
}
