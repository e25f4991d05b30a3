package tui

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
)

func applied(deltas []feed.Delta) *View {
	v := testView()
	for i := range deltas {
		v.H.Apply(&deltas[i])
	}
	return v
}

// TestMethodWithFiguresOfItsOwn looks at the pane that else shows a radius or a rate.
func TestMethodWithFiguresOfItsOwn(t *testing.T) {
	v := applied(tuitest.DampedRun(9))
	for _, w := range []int{20, 40, 80, 120} {
		p := &Region{log: true}
		text := ""
		for _, row := range frame(p, v, layout.Rect{W: w, H: 20}, CacheKey{}) {
			if got := ansi.StringWidth(row); got != w {
				t.Errorf("a row of %d columns in %d", got, w)
			}
			text += ansi.Strip(row) + "\n"
		}
		for _, want := range []string{"method", "μ 1.25e-4"} {
			if w >= 40 && !strings.Contains(text, want) {
				t.Errorf("%d columns lack %q:\n%s", w, want, text)
			}
		}
		for _, want := range []string{"damping", "tries 2"} {
			if w >= 80 && !strings.Contains(text, want) {
				t.Errorf("%d columns lack %q:\n%s", w, want, text)
			}
		}
	}
	if text := ansi.Strip(strings.Join(new(Inner).body(v, 60, 3, false), "\n")); !strings.Contains(text, "no inner solves") {
		t.Errorf("the inner pane says %q", text)
	}
}

// TestFiguresOfAnotherMethodBeginAnew switches between two methods with figures, and to one without.
func TestFiguresOfAnotherMethodBeginAnew(t *testing.T) {
	deltas := tuitest.DampedRun(4)
	e := deltas[4].Epochs[0]
	v := applied(deltas)
	e.Epoch, e.Optimizer, e.Figures = 4, "scg", []event.Figure{{Key: "lambda", Value: 1}}
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	if got := fmt.Sprint(len(v.H.Curves.Figures), " ", v.H.Curves.Figures[0].Symbol, " ", v.H.Curves.Figures[0].Series.Points); got != "1 lambda 1" {
		t.Error(got)
	}
	e.Epoch, e.Optimizer, e.Figures = 5, "adam", nil
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	if len(v.H.Curves.Figures) != 0 {
		t.Errorf("%d figures left", len(v.H.Curves.Figures))
	}
}

// TestCommitteeShowsItsMembers looks for the range of the members' errors.
func TestCommitteeShowsItsMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	v := testView()
	for epoch := range 5 {
		e := tuitest.Epoch(epoch, 1, r)
		e.Members = []event.MemberFigures{{TestError: 0.07}, {TestError: 0.064}, {TestError: 0.071}}
		v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	}
	l := v.Line(100)
	new(Accuracy).head(v, l)
	if text := ansi.Strip(l.Full()); !strings.Contains(text, "members 6.40% to 7.10%") {
		t.Error(text)
	}
}

// TestMixtureShowsOneExpertAndTheGates draws a mixture of three equal nets.
func TestMixtureShowsOneExpertAndTheGates(t *testing.T) {
	v := testView()
	v.H.Run = &event.RunEvent{Model: event.ModelInfo{
		Layers: []int{16, 12, 10, 12, 10, 12, 10, 10}, Experts: 3, Loss: "mse", Parameters: 975,
		Activations: []string{"tanh", "identity", "tanh", "identity", "tanh", "identity", "identity"},
	}}
	for i := range 3 {
		v.H.Run.Model.Connections = append(v.H.Run.Model.Connections,
			event.ConnectionInfo{To: 2*i + 1, From: 0, Weights: 192}, event.ConnectionInfo{To: 2*i + 2, From: 2*i + 1, Weights: 120})
	}
	e := tuitest.Epoch(1, 1, rand.New(rand.NewPCG(1, 2)))
	e.Gates = []event.GateFigures{{Width: 36, Slope: 2, Center: 72, Share: 0.2}, {Width: 40, Slope: 2.5, Center: 144, Share: 0.5}, {Width: 36, Slope: 2, Center: 300, Share: 0.3}}
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	for _, w := range []int{20, 40, 80, 120} {
		text := ""
		for _, row := range frame(&Topology{}, v, layout.Rect{W: w, H: 24}, CacheKey{}) {
			if got := ansi.StringWidth(row); got != w {
				t.Errorf("a row of %d columns in %d", got, w)
			}
			text += ansi.Strip(row) + "\n"
		}
		for _, want := range []string{"3 × 16-12-10", "144", "50.0%", "gates"} {
			if w >= 80 && !strings.Contains(text, want) {
				t.Errorf("%d columns lack %q:\n%s", w, want, text)
			}
		}
	}
}

// TestInnerPaneNamesNetsAndBlocks reads of whom the solves of an epoch were, and the one under way.
func TestInnerPaneNamesNetsAndBlocks(t *testing.T) {
	for _, c := range []struct {
		nets, blocks int
		head, now    string
	}{
		{1, 1, "", "▸ it"},
		{1, 4, "in 4 blocks", "▸ block 4 it"},
		{5, 1, "in 5 nets", "▸ net 5 it"},
		{3, 2, "in 3 nets × 2 blocks", "▸ net 3 block 2 it"},
	} {
		v := testView()
		e := tuitest.Epoch(1, 1, rand.New(rand.NewPCG(1, 2)))
		e.Inner = nil
		for i := range c.nets * c.blocks {
			e.Inner = append(e.Inner, event.InnerSummary{Member: i / c.blocks, Block: i % c.blocks, Iterations: 3})
		}
		v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
		in := tuitest.InnerIteration(2, 7, 1)
		in.Member, in.Block = c.nets-1, c.blocks-1
		v.H.Apply(tuitest.DeltaOf(v.H.Status, in))
		l := v.Line(60)
		p := &Inner{}
		p.head(v, l)
		head, now := ansi.Strip(l.Full()), ansi.Strip(p.now(v, 60))
		if !strings.Contains(head, c.head) || c.head == "" && strings.Contains(head, " in ") || !strings.HasPrefix(now, c.now) {
			t.Errorf("%d nets, %d blocks: %q and %q", c.nets, c.blocks, head, now)
		}
	}
}

// TestSwitchEndsTheSolve: the solve under way goes with its method.
func TestSwitchEndsTheSolve(t *testing.T) {
	v := testView()
	in := tuitest.InnerIteration(2, 3, 1)
	v.H.Apply(tuitest.DeltaOf(v.H.Status, in))
	v.H.Apply(&feed.Delta{Switches: []event.SwitchEvent{{Epoch: 1, From: "tr-gn", To: "sgd"}}})
	if now := ansi.Strip(new(Inner).now(v, 60)); strings.Contains(now, "▸") {
		t.Errorf("after the switch: %q", now)
	}
}

// TestCountsStayWhole: what counts something is written without decimals, until it does not.
func TestCountsStayWhole(t *testing.T) {
	v := testView()
	e := tuitest.Epoch(1, 1, rand.New(rand.NewPCG(1, 2)))
	for i, c := range []struct {
		value event.Float
		want  string
	}{{2, "2"}, {tuitest.NaN, "–"}, {12345, "12,345"}, {3e6, "3.00M"}, {0.5, "0.5000"}, {2, "2.000"}} {
		e.Epoch, e.Figures = i+1, []event.Figure{{Key: "tries", Value: c.value}}
		v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
		if got := v.H.Curves.Figures[0].Format(float64(c.value)); got != c.want {
			t.Errorf("after %d epochs %v is %q: expected %q", i+1, c.value, got, c.want)
		}
	}
}

// TestSparseConnections: a sparse connection has fewer lines than a dense one, and says how many weights it
// could have.
func TestSparseConnections(t *testing.T) {
	draw := func(weights int) (text string, dots int) {
		v := testView()
		v.H.Run = &event.RunEvent{Model: event.ModelInfo{Layers: []int{16, 40}, Connections: []event.ConnectionInfo{{To: 1, From: 0, Weights: weights}}}}
		text = ansi.Strip(strings.Join((&Topology{}).body(v, 60, 12, false), "\n"))
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
	v := testView()
	v.H.Run = &event.RunEvent{Model: event.ModelInfo{Layers: []int{16, 12, 10, 12, 10, 10}, Experts: 2}}
	e := tuitest.Epoch(1, 1, rand.New(rand.NewPCG(1, 2)))
	e.Gates = []event.GateFigures{{Center: 72, Share: 0.2}, {Center: 144, Share: 0.8}}
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	text := ansi.Strip(strings.Join(frame(&Topology{}, v, layout.Rect{W: layout.MinWidth, H: layout.MinHeight - layout.HeaderRows - layout.FooterRows}, CacheKey{zoomed: true}), "\n"))
	for _, want := range []string{"shares 20.0% to 80.0%", "expert", "144.0"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

// TestPlacesOutsideThePicture: a line to far outside must not have as many dots as it would be long.
func TestPlacesOutsideThePicture(t *testing.T) {
	g := testView().Glyphs
	a := chart.Area{W: 10, H: 4, Left: 0, Right: 1, Low: 0, High: 1}
	for _, c := range []struct {
		v float64
		x int
	}{{0, 0}, {1, 10*g.DotsX - 1}, {1e15, 10 * g.DotsX}, {-1e300, -1}, {math.NaN(), -1}, {math.Inf(1), 10 * g.DotsX}} {
		if x := a.DotX(g, c.v); x != c.x {
			t.Errorf("x of %v is %d: expected %d", c.v, x, c.x)
		}
	}
	if y := a.DotY(g, math.NaN()); y != -1 {
		t.Errorf("y of NaN is %d", y)
	}
}
