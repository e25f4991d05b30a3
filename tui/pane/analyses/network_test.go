package analyses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
)

func watchedWeights(e event.WeightsEvent) *pane.View {
	v := panetest.View(tuitest.NewRun(tuitest.Script{Epochs: 3})...)
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	return v
}

// TestTopologyPane draws the network and one of its blocks.
func TestTopologyPane(t *testing.T) {
	add := tuitest.Archive(t)
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
		p := &Topology{view: blockView{open: c.open, row: 3, col: 5}}
		rows := new(pane.Cache).Draw(p, watchedWeights(c.event), layout.Rect{X: 0, Y: 0, W: c.w, H: c.h}, pane.CacheKey{Zoomed: c.zoomed})
		add(fmt.Sprintf("%s %dx%d", c.name, c.w, c.h), ansi.Strip(strings.Join(rows, "\n")))
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
		looksFit(t, watchedWeights(e), func(r *rand.Rand) pane.Pane {
			return &Topology{view: blockView{open: r.IntN(3) > 0, matrix: r.IntN(2) == 0, row: r.IntN(400), col: r.IntN(900)}}
		})
	}
	looksFit(t, panetest.View(), func(*rand.Rand) pane.Pane { return &Topology{} })
}

// TestTopologyKeys chooses a block, asks for its weights and walks over them.
func TestTopologyKeys(t *testing.T) {
	v := watchedWeights(tuitest.WeightsAt(2, 1, 50, 70, 0))
	p := &Topology{}
	if c := p.Ask(v.H); c != nil {
		t.Errorf("asks for %v unasked", c)
	}
	for _, k := range []string{"down", "down", "down", "down", "enter"} {
		if _, taken := pane.Press(p, v, k); !taken {
			t.Errorf("%s is not taken", k)
		}
	}
	if c := p.Ask(v.H); c != (event.ShowWeights{To: 2, From: 1}) {
		t.Errorf("asks for %v", c)
	}
	for _, k := range []string{"right", "right", "down", "up", "up", "left"} {
		pane.Press(p, v, k)
	}
	if p.view.col != 1 || p.view.row != 0 {
		t.Errorf("the cursor is at %d, %d", p.view.row, p.view.col)
	}
	new(pane.Cache).Draw(p, v, layout.Rect{X: 0, Y: 0, W: 120, H: 40}, pane.CacheKey{Zoomed: true})
	d := p.view.drawn
	if !p.HandleMouse(v, tea.MouseClickMsg{}, d.x+d.w-1, d.y+d.h-1) || p.view.col != 69 || p.view.row < 48 {
		t.Errorf("a click at the end of %+v went to %d, %d", d, p.view.row, p.view.col)
	}
	pane.Press(p, v, "n")
	pane.Press(p, v, "esc")
	if _, taken := pane.Press(p, v, "esc"); taken || p.view.open {
		t.Error("the second esc is taken")
	}
}

// TestMixtureShowsOneExpertAndTheGates draws a mixture of three equal nets.
func TestMixtureShowsOneExpertAndTheGates(t *testing.T) {
	v := panetest.View()
	v.H.Run = &event.RunEvent{Model: event.ModelInfo{
		Layers: []int{16, 12, 10, 12, 10, 12, 10, 10}, Experts: 3, Loss: "mse", Parameters: 975,
		Activations: []string{"tanh", "identity", "tanh", "identity", "tanh", "identity", "identity"},
	}}
	for i := range 3 {
		v.H.Run.Model.Connections = append(v.H.Run.Model.Connections,
			event.ConnectionInfo{To: 2*i + 1, From: 0, Weights: 192}, event.ConnectionInfo{To: 2*i + 2, From: 2*i + 1, Weights: 120})
	}
	e := tuitest.Epoch(1, 1, rand.New(rand.NewPCG(1, 2)))
	e.Gates = []event.GateMetrics{{Width: 36, Slope: 2, Center: 72, Share: 0.2}, {Width: 40, Slope: 2.5, Center: 144, Share: 0.5}, {Width: 36, Slope: 2, Center: 300, Share: 0.3}}
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	for _, w := range []int{20, 40, 80, 120} {
		text := ""
		for _, row := range new(pane.Cache).Draw(&Topology{}, v, layout.Rect{W: w, H: 24}, pane.CacheKey{}) {
			if got := ansi.StringWidth(row); got != w {
				t.Errorf("a row of %d columns in %d", got, w)
			}
			text += ansi.Strip(row) + "\n"
		}
		for _, want := range []string{"3 × 16-12-10", "144", "50.0 %", "gates"} {
			if w >= 80 && !strings.Contains(text, want) {
				t.Errorf("%d columns lack %q:\n%s", w, want, text)
			}
		}
	}
}

// TestSparseConnections: a sparse connection has fewer lines than a dense one, and says how many weights it
// could have.
func TestSparseConnections(t *testing.T) {
	draw := func(weights int) (text string, dots int) {
		v := panetest.View()
		v.H.Run = &event.RunEvent{Model: event.ModelInfo{Layers: []int{16, 40}, Connections: []event.ConnectionInfo{{To: 1, From: 0, Weights: weights}}}}
		text = ansi.Strip(strings.Join((&Topology{}).Body(v, 60, 12, false), "\n"))
		for _, r := range text {
			if r > 0x2800 && r <= 0x28ff {
				dots++
			}
		}
		return text, dots
	}
	dense, many := draw(640)
	sparse, few := draw(120)
	if few == 0 || few >= many || !strings.Contains(sparse, "120 of 640") || strings.Contains(dense, " of ") {
		t.Errorf("%d cells of lines:\n%s\nand %d:\n%s", few, sparse, many, dense)
	}
	for part := 0.0; part <= 1; part += 0.1 {
		for n := range 6 {
			for i := range n {
				if got := near([]int{1, 2, 3, 4}, i, n, part); len(got) < 1 || i == 0 && got[0] != 1 || n > 1 && i == n-1 && got[len(got)-1] != 4 {
					t.Errorf("target %d of %d takes from %v", i, n, got)
				}
			}
		}
	}
}

// TestGatesOnASmallScreen: zoomed, the gates are there on the least screen, and their shares in the frame.
func TestGatesOnASmallScreen(t *testing.T) {
	v := panetest.View()
	v.H.Run = &event.RunEvent{Model: event.ModelInfo{Layers: []int{16, 12, 10, 12, 10, 10}, Experts: 2}}
	e := tuitest.Epoch(1, 1, rand.New(rand.NewPCG(1, 2)))
	e.Gates = []event.GateMetrics{{Center: 72, Share: 0.2}, {Center: 144, Share: 0.8}}
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	text := ansi.Strip(strings.Join(new(pane.Cache).Draw(&Topology{}, v, layout.Rect{W: layout.MinWidth, H: layout.MinHeight - layout.HeaderRows - layout.FooterRows}, pane.CacheKey{Zoomed: true}), "\n"))
	for _, want := range []string{"shares 20.0 % to 80.0 %", "expert", "144.0"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
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
	v := panetest.View()
	v.H.Run = &event.RunEvent{Model: *m}
	for h := 1; h < 50; h++ {
		p := &Topology{}
		rows := p.Body(v, 66, h, false)
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
