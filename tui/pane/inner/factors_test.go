package inner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/style"
)

func withFactors(method string, layers ...int) *pane.View {
	return panetest.View(tuitest.FactorRun(method, 25, layers...)...)
}

// TestFactors draws the factors of three networks, small and without a frame.
func TestFactors(t *testing.T) {
	add := tuitest.Archive(t)
	for _, c := range []struct {
		name, method string
		layers       []int
	}{
		{"letters", "soap", []int{16, 70, 50, 26}}, {"left out", "shampoo", []int{784, 100, 10}}, {"deep", "soap", slices.Repeat([]int{64}, 16)},
		{"ends", "kfac", []int{16, 70, 50, 26}},
	} {
		v := withFactors(c.method, c.layers...)
		for _, size := range [][2]int{{40, 7}, {60, 12}, {68, 21}, {120, 12}} {
			rows := new(pane.Cache).Draw(&Pane{}, v, layout.Rect{W: size[0], H: size[1]}, pane.CacheKey{})
			for i, r := range rows {
				if n := ansi.StringWidth(r); n != size[0] {
					t.Errorf("%s, %v: row %d has %d columns", c.name, size, i, n)
				}
			}
			add(fmt.Sprintf("%s, %dx%d", c.name, size[0], size[1]), ansi.Strip(strings.Join(rows, "\n")))
		}
		add(c.name+", strip", ansi.Strip(strings.Join(new(Pane).Strip(v, 60, 3), "\n")))
	}
}

// TestFactorsZoomed draws the zoomed pane in every state that it has.
func TestFactorsZoomed(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"conditions", nil}, {"chosen", []string{"down", "down"}}, {"last", []string{"up"}}, {"ranks", []string{"v", "down"}}, {"steps", []string{"v", "v"}}, {"cursor", []string{"left"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range [][2]int{{40, 16}, {60, 13}, {80, 21}, {120, 37}, {200, 40}} {
				if size[0] == 200 && c.name != "chosen" {
					continue
				}
				v, p := withFactors("shampoo", 784, 70, 50, 26), &Pane{}
				playerText(t, v, p, size[0], size[1])
				for _, k := range c.keys {
					if _, taken := pane.Press(p, v, k); !taken {
						t.Fatalf("%s was not taken", k)
					}
				}
				add(fmt.Sprintf("%dx%d", size[0], size[1]), playerText(t, v, p, size[0], size[1]))
			}
		})
	}
}

// TestFactorsAnySize draws factors that make no sense in rooms of any size: nothing may be wider or higher.
func TestFactorsAnySize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		v := panetest.View()
		for range 1 + r.IntN(3) {
			d := tuitest.RandomDelta(r)
			d.Done, d.Diverged = nil, nil
			for i := range d.Epochs {
				d.Epochs[i].Optimizer = d.Status.Optimizer
			}
			v.H.Apply(&d)
		}
		if !factored(v.H) {
			continue
		}
		v.Glyphs = style.Glyphs(2 + r.IntN(3)).Set(nil)
		p := &Pane{}
		w, h := 5+r.IntN(200), 1+r.IntN(60)
		for range r.IntN(12) {
			pane.Press(p, v, []string{"left", "right", "up", "down", "home", "end", "v", "x", "X", "[", "esc"}[r.IntN(11)])
			p.Body(v, w, h, true)
		}
		for name, rows := range map[string][]string{"zoomed": p.Body(v, w, h, true), "small": p.Body(v, w, h, false), "strip": p.Strip(v, w, h+1)} {
			if len(rows) > h+1 || len(rows) > h && name != "strip" {
				t.Fatalf("%s: %d rows in %d × %d", name, len(rows), w, h)
			}
			for i, row := range rows {
				if n := ansi.StringWidth(row); n > w {
					t.Fatalf("%s: row %d has %d columns of %d × %d: %q", name, i, n, w, h, ansi.Strip(row))
				}
			}
		}
	}
}

// TestFactorsComeAndGo: they take the place of the solves and of the steps while the method has them.
func TestFactorsComeAndGo(t *testing.T) {
	v := withSolves(6, 1)
	p := &Pane{}
	if p.Name(v) != "inner" {
		t.Errorf("solves are named %s", p.Name(v))
	}
	s := v.H.Status
	s.Optimizer, s.Settings = "soap", []event.Setting{{Key: "rate", Text: "0.01", Primary: true}}
	v.H.Apply(&feed.Delta{Status: s, Switches: []event.SwitchEvent{{Epoch: 6, From: "tr-newton", To: "soap"}}})
	told := func(epoch int) {
		e := event.UnknownEpoch(epoch)
		e.Optimizer, e.StepNorm, e.Seconds, e.Preconditioner = "soap", 0.5, 0.1, tuitest.FactorsAt(epoch, []int{16, 70, 26}, 512, 0)
		v.H.Apply(&feed.Delta{Status: s, Epochs: []event.EpochEvent{e}})
	}
	told(7)
	text := playerText(t, v, p, 80, 21)
	if p.Name(v) != "factors" || !strings.Contains(text, "condition numbers") || !strings.Contains(text, "3 refreshes this epoch, 15.0 % of its time") {
		t.Errorf("soap after tr-newton:\n%s", text)
	}
	v.H.Apply(&feed.Delta{Status: s, Rewinds: []event.RewindEvent{{Epoch: 7, To: 6}}})
	for _, zoomed := range []bool{false, true} {
		if text := ansi.Strip(strings.Join(p.Body(v, 60, 12, zoomed), "\n")); !strings.Contains(text, factorsToCome) {
			t.Errorf("after a way back:\n%s", text)
		}
	}
	told(7)
	s.Optimizer = "sgd"
	v.H.Apply(&feed.Delta{Status: s, Switches: []event.SwitchEvent{{Epoch: 7, From: "soap", To: "sgd"}}})
	if p.Name(v) != "inner" {
		t.Error("sgd has factors")
	}
}

// TestFactorWords: what is told of factors that are odd.
func TestFactorWords(t *testing.T) {
	inf := event.Float(math.Inf(1))
	v := panetest.View()
	e := event.UnknownEpoch(3)
	e.Optimizer, e.Preconditioner = "soap", &event.PreconditionerMetrics{Refreshes: 1, Seconds: 0.01, Factors: []event.FactorMetrics{
		{To: 1, Side: event.SideOutputs, Size: 2, Eigenvalues: []event.Float{8, 2}, Damping: event.Absent},
		{To: 1, Side: event.SideInputs, Size: 600, Damping: event.Absent},
		{To: 2, From: 1, Side: event.SideOutputs, Size: 1, Damping: event.Absent},
		{To: 2, From: 1, Side: event.SideInputs, Size: 3, Eigenvalues: []event.Float{inf, 0, 1}, Damping: event.Absent},
		{To: 3, From: 2, Side: event.SideInputs, Size: 2, Eigenvalues: []event.Float{0, 0}, Damping: event.Absent},
		{To: 4, From: 3, Side: event.SideInputs, Size: 600, Damping: 0.5},
		{To: 5, From: 4, Side: event.SideInputs, Size: 300, Eigenvalues: []event.Float{9, 8, 7, 0.3, 0.2, 0.1}, Ends: true, Damping: event.Absent},
	}}
	v.H.Apply(&feed.Delta{Status: event.Status{Optimizer: "soap", Settings: []event.Setting{{Key: "side", Text: "512"}}}, Epochs: []event.EpochEvent{e}})
	text := ansi.Strip(strings.Join(new(Pane).Body(v, 90, 12, false), "\n"))
	for _, want := range []string{"layer 0→layer 1 outputs  ", "left out: 600 inputs, longer than side=512", "left out: 1 output  ", "×", "singular", "all zero",
		"all 600 inputs alike", "┊"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	ends := factorRows(v.H)[6]
	if got := []int{ends.rank(0), ends.rank(2), ends.rank(3), ends.rank(5)}; !slices.Equal(got, []int{1, 3, 298, 300}) {
		t.Errorf("of 300 eigenvalues the ends have the ranks %d", got)
	}
	l := v.Line(70)
	new(Pane).Header(v, l)
	if header := strings.TrimSpace(ansi.Strip(l.Full())); header != "1 refresh this epoch" {
		t.Errorf("of an epoch whose time is not known it says %q", header)
	}
}

// TestFactorMouse: a click chooses a factor, and one at the chart moves its cursor.
func TestFactorMouse(t *testing.T) {
	v, p := withFactors("soap", 16, 70, 50, 26), &Pane{}
	playerText(t, v, p, 120, 37)
	click := tea.MouseClickMsg{Button: tea.MouseLeft}
	if !p.HandleMouse(v, click, 6, p.factors.point.y+2) || p.factors.chosen != 3 {
		t.Errorf("a click at the third row chose %d", p.factors.chosen)
	}
	if at := p.factors.Shown[0]; !p.HandleMouse(v, click, at.X+at.W/2, at.Y+1) || !p.factors.On {
		t.Error("a click at the chart was not taken")
	}
	pane.Press(p, v, "esc")
	if _, taken := pane.Press(p, v, "esc"); !taken || p.factors.chosen != 0 {
		t.Error("esc does not let go of the factor")
	}
	if _, taken := pane.Press(p, v, "esc"); taken {
		t.Error("esc does not lead back")
	}
	if f := p.Figure(v); f == nil || len(f.Curves) != 5 || !strings.HasPrefix(f.Title, "letters 16-70-50-26") {
		t.Errorf("the picture is %+v", f)
	}
}
