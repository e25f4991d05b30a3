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

func peerView(blocks []event.BlockInfo) *pane.View {
	return panetest.View(tuitest.PeerRun(5, blocks)...)
}

// TestTensors draws the tensors of models that another program has.
func TestTensors(t *testing.T) {
	add := tuitest.Archive(t)
	deep := tuitest.Transformer(12)
	for _, c := range []struct {
		name   string
		blocks []event.BlockInfo
		w, h   int
		zoomed bool
		at     int
	}{
		{"conv", tuitest.ConvNet, 40, 7, false, 0},
		{"conv", tuitest.ConvNet, 48, 12, false, 0},
		{"conv", tuitest.ConvNet, 120, 12, true, 2},
		{"transformer", deep, 40, 6, false, 0},
		{"transformer", deep, 48, 12, false, 0},
		{"transformer", deep, 66, 23, false, 0},
		{"transformer", deep, 60, 13, true, 33},
		{"transformer", deep, 120, 37, true, 62},
		{"none", nil, 60, 7, false, 0},
	} {
		p := &Topology{view: blockView{at: c.at}}
		rows := new(pane.Cache).Draw(p, peerView(c.blocks), layout.Rect{W: c.w, H: c.h}, pane.CacheKey{Zoomed: c.zoomed})
		add(fmt.Sprintf("%s %dx%d", c.name, c.w, c.h), ansi.Strip(strings.Join(rows, "\n")))
	}
}

func TestTensorsFit(t *testing.T) {
	wild := []event.BlockInfo{{Name: "a…\x1b[31mb", Shape: []int{0}}, {Name: "", Shape: nil}, {Name: ".", Shape: []int{1 << 40, 1 << 40}}, {Name: strings.Repeat("long.", 40), Shape: []int{1, 2, 3, 4, 5, 6, 7}}}
	for _, blocks := range [][]event.BlockInfo{tuitest.ConvNet, tuitest.Transformer(12), tuitest.Transformer(90), wild, nil} {
		looksFit(t, peerView(blocks), func(r *rand.Rand) pane.Pane {
			return &Topology{view: blockView{at: r.IntN(500) - 100, open: r.IntN(4) == 0}}
		})
	}
	empty := peerView(tuitest.ConvNet)
	empty.H.Latest.Blocks = []event.BlockNorms{{To: -1, From: -2}, {To: 90, From: 89}, {To: 5, From: 1}, {To: 1, From: 0, Weight: event.NotFinite, Step: 1}}
	looksFit(t, empty, func(*rand.Rand) pane.Pane { return &Topology{} })
}

// TestGroupsHaveEverything: however few rows, groups hold each tensor once and in order, with the norm of all its weights.
func TestGroupsHaveEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	flat := make([]event.BlockInfo, 40)
	for i := range flat {
		flat[i] = event.BlockInfo{Name: fmt.Sprintf("p%d", i), Shape: []int{1 + r.IntN(90)}}
	}
	for _, blocks := range [][]event.BlockInfo{tuitest.ConvNet, tuitest.Transformer(12), tuitest.Transformer(1), flat} {
		v := peerView(blocks)
		weights, norm := 0, 0.0
		for i := range blocks {
			weights += blocks[i].Weights()
			norm += math.Pow(float64(v.H.Latest.Blocks[i].Gradient), 2)
		}
		for rows := 1; rows < 80; rows++ {
			groups := grouped(tensorsOf(v.H), rows)
			next, sum, square := 0, 0, 0.0
			for i := range groups {
				if groups[i].first != next || groups[i].n < 1 || groups[i].name == "" {
					t.Fatalf("%d tensors in %d rows: group %d is %+v, not from %d", len(blocks), rows, i, groups[i], next)
				}
				next, sum, square = next+groups[i].n, sum+groups[i].weights, square+math.Pow(groups[i].gradient, 2)
			}
			if next != len(blocks) || len(groups) > rows || sum != weights || math.Abs(square-norm) > 1e-9*norm {
				t.Errorf("%d tensors in %d rows: %d groups of %d tensors, %d weights, ‖g‖² %g of %g", len(blocks), rows, len(groups), next, sum, square, norm)
			}
		}
	}
}

// TestTensorKeys walks over the tensors and asks for the weights of one.
func TestTensorKeys(t *testing.T) {
	v, p := peerView(tuitest.Transformer(12)), &Topology{}
	draw := func() string {
		return ansi.Strip(strings.Join(new(pane.Cache).Draw(p, v, layout.Rect{W: 100, H: 24}, pane.CacheKey{Zoomed: true}), "\n"))
	}
	draw()
	for _, c := range []struct {
		key string
		at  int
	}{{"down", 1}, {"pgdown", 21}, {"end", 62}, {"down", 63}, {"home", 0}, {"pgup", 0}, {"pgdown", 20}} {
		if _, taken := pane.Press(p, v, c.key); !taken || p.view.at != c.at {
			t.Fatalf("%s leads to %d, not to %d", c.key, p.view.at, c.at)
		}
		draw()
	}
	list := p.view.listed
	if !p.HandleMouse(v, tea.MouseClickMsg{}, 4, 3) || p.view.at != list.first+2 || p.HandleMouse(v, tea.MouseClickMsg{}, 4, 0) || p.HandleMouse(v, tea.MouseClickMsg{}, 4, list.n+1) {
		t.Errorf("a click into %+v leads to %d", list, p.view.at)
	}
	pane.Press(p, v, "enter")
	at := p.view.at
	if c := p.Ask(v.H); c != (event.ShowWeights{To: at + 1, From: at}) {
		t.Fatalf("asks %v", c)
	}
	b := v.H.Run.Model.Blocks[at]
	v.H.Apply(tuitest.DeltaOf(v.H.Status, tuitest.WeightsAt(at+1, at, b.Shape[0], b.Weights()/b.Shape[0], 0)))
	if text := draw(); !strings.Contains(text, b.Name+"  "+b.ShapeText()) || !strings.Contains(text, "row 1 of") {
		t.Errorf("%s is not there:\n%s", b.Name, text)
	}
}

// TestPeerErrors: nobody asks for the errors of a model whose rows are another program's, and the pane says why.
func TestPeerErrors(t *testing.T) {
	v, p := peerView(tuitest.ConvNet), &Errors{}
	if p.Ask(v.H) != nil || p.Glance(v.H) != nil || !p.Blank(v.H) {
		t.Error("it asks, or has a place")
	}
	for _, key := range []pane.CacheKey{{}, {Zoomed: true}, {Bare: true}} {
		if text := ansi.Strip(strings.Join(new(pane.Cache).Draw(p, v, layout.Rect{W: 50, H: 9}, key), "\n")); !strings.Contains(text, theirRows) {
			t.Errorf("%+v does not say why:\n%s", key, text)
		}
	}
}

// TestPeerRows: a spectrum says its rows where the program tells how many there are.
func TestPeerRows(t *testing.T) {
	v := peerView(tuitest.ConvNet)
	for rows, says := range map[int]bool{0: false, 50000: true} {
		v.H.Run.Data.TrainRows = rows
		text := ansi.Strip(strings.Join(new(pane.Cache).Draw(&Spectrum{}, v, layout.Rect{W: 100, H: 30}, pane.CacheKey{Zoomed: true}), "\n"))
		if strings.Contains(text, " rows") != says {
			t.Errorf("of %d rows:\n%s", rows, text)
		}
	}
}
