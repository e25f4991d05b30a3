package pane

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/internal/tuitest"
	"newtop/tui/style"
)

// storyView is a run with outliers, a hole, a switch, a setting and a way back.
func storyView() *View {
	v := viewOf()
	r := rand.New(rand.NewPCG(3, 4))
	d := feed.Delta{Run: tuitest.NewRun(tuitest.Script{})[0].Run, Status: event.Status{Phase: event.Running, EpochLimit: 80, Optimizer: "tr-newton"}}
	add := func(from, to int) {
		for e := from; e <= to; e++ {
			ev := tuitest.Epoch(e, 1+float64(e%7), r)
			ev.GradientEquivalents, ev.Elapsed = event.Float(31*e), event.Float(0.9*float64(e)+float64(e*e)/20)
			switch e {
			case 12:
				ev.Loss = 90
			case 30:
				ev.TestLoss = 140
			case 22:
				ev.Loss = event.NotFinite
			}
			d.Epochs = append(d.Epochs, ev)
		}
	}
	add(0, 50)
	d.Switches = []event.SwitchEvent{{Epoch: 20, From: "tr-newton", To: "adam"}}
	d.Settings = []event.SettingEvent{{Epoch: 27, Key: "rate", Value: 0.01}, {Epoch: 28, Key: "rate", Value: 0.02}}
	d.Rewinds = []event.RewindEvent{{Epoch: 50, To: 36}}
	add(37, 60)
	d.Status.Epoch = 60
	v.H.Apply(&d)
	return v
}

// zoomedBody returns the body of a zoomed pane after keys, its size checked.
func zoomedBody(t *testing.T, v *View, p Pane, w, h int, keys string) []string {
	t.Helper()
	rows := p.Body(v, w, h, true)
	for _, k := range strings.Fields(keys) {
		if k == "y" {
			p.ToggleLog()
		} else if _, taken := Press(p.(Keyed), v, k); !taken {
			t.Errorf("%q was not taken", k)
		}
		rows = p.Body(v, w, h, true)
	}
	if len(rows) > h {
		t.Fatalf("%d rows in %d", len(rows), h)
	}
	for i, r := range rows {
		if n := ansi.StringWidth(r); n > w {
			t.Fatalf("row %d is %d wide in %d", i, n, w)
		}
	}
	return rows
}

func TestZoomedCharts(t *testing.T) {
	for _, c := range []struct {
		name string
		pane func() Pane
		keys string
	}{
		{"loss", func() Pane { return &Loss{log: true} }, ""},
		{"loss-cursor", func() Pane { return &Loss{log: true} }, "left shift+left shift+left left"},
		{"loss-home", func() Pane { return &Loss{} }, "home right"},
		{"loss-seconds", func() Pane { return &Loss{log: true} }, "x left"},
		{"loss-equivalents-log", func() Pane { return &Loss{log: true} }, "x x X"},
		{"loss-window", func() Pane { return &Loss{log: true} }, "] ] < left"},
		{"loss-smooth", func() Pane { return &Loss{log: true} }, "m m m"},
		{"loss-clip", func() Pane { return &Loss{} }, "c"},
		{"error-clip-smooth", func() Pane { return &Accuracy{} }, "m c left"},
		{"region", func() Pane { return &Region{log: true} }, ""},
		{"work-cursor", func() Pane { return &Work{} }, "left shift+left"},
		{"region-cursor", func() Pane { return &Region{log: true} }, "left shift+left ] ]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, w := range []int{40, 80, 120} {
				rows := zoomedBody(t, storyView(), c.pane(), w, 24, c.keys)
				add(fmt.Sprintf("%d columns", w), ansi.Strip(strings.Join(rows, "\n")))
			}
		})
	}
}

// TestWayBack: after a rewind the curves have one value an epoch again, and what was left stays apart.
func TestWayBack(t *testing.T) {
	h := storyView().H
	for i := 1; i < len(h.Curves.Loss.Buckets); i++ {
		if h.Curves.Loss.Buckets[i].X1[chart.Epochs] != h.Curves.Loss.Buckets[i-1].X1[chart.Epochs]+1 {
			t.Errorf("epoch %v follows on %v", h.Curves.Loss.Buckets[i].X1, h.Curves.Loss.Buckets[i-1].X1)
		}
	}
	if n := len(h.Curves.Loss.Old); n != 1+1+14 {
		t.Errorf("%d buckets were left behind", n)
	}
	if m := h.Curves.Marks(); len(m) != 2 || m[1].Text != "back to 36" {
		t.Errorf("marks %+v", m)
	}
	if h.Latest.Epoch != 60 {
		t.Errorf("the newest epoch is %d", h.Latest.Epoch)
	}
	h.Apply(&feed.Delta{Rewinds: []event.RewindEvent{{Epoch: 60, To: 30}}})
	if h.Latest.Epoch != 30 || h.Curves.Loss.Last() != float64(h.Latest.Loss) {
		t.Errorf("went back to %d, loss %v and %v", h.Latest.Epoch, h.Curves.Loss.Last(), h.Latest.Loss)
	}
}

// TestCursorSpares: the box never covers the cursor's column, where the points are.
func TestCursorSpares(t *testing.T) {
	v := storyView()
	p := &Loss{log: true}
	zoomedBody(t, v, p, 100, 24, "left")
	for range 60 {
		rows := zoomedBody(t, v, p, 100, 24, "left")
		a := p.Shown[0].Area
		x := a.CellX(v.Glyphs, p.Cursor[p.By])
		dots := 0
		for y := a.Y; y < a.Y+a.H; y++ {
			r := []rune(ansi.Strip(rows[y]))[x]
			if strings.ContainsRune("╭╮╰╯─", r) {
				t.Fatalf("epoch %v: %q in the cursor's column\n%s", p.Cursor[0], r, ansi.Strip(strings.Join(rows, "\n")))
			}
			if r == '●' {
				dots++
			}
		}
		if dots == 0 {
			t.Errorf("epoch %v: no point marked", p.Cursor[0])
		}
	}
}

// TestFollow: a window at the end goes with the newest point, one in the middle stays, and 0 and end come back.
func TestFollow(t *testing.T) {
	v := storyView()
	p := &Loss{}
	r := rand.New(rand.NewPCG(1, 1))
	grow := func(e int) {
		v.H.Apply(&feed.Delta{Status: v.H.Status, Epochs: []event.EpochEvent{tuitest.Epoch(e, 1, r)}})
		p.Body(v, 80, 20, true)
	}
	zoomedBody(t, v, p, 80, 20, "] ]")
	was := p.Window
	grow(61)
	if p.Window[1] != 61 || p.Window[0] != was[0]+1 {
		t.Errorf("window %v after %v", p.Window, was)
	}
	zoomedBody(t, v, p, 80, 20, "<")
	stay := p.Window
	grow(62)
	if p.Window != stay || p.Follow {
		t.Errorf("window %v instead of %v", p.Window, stay)
	}
	zoomedBody(t, v, p, 80, 20, "end")
	grow(63)
	if p.Window[1] != 63 || p.Cursor[chart.Epochs] != 63 {
		t.Errorf("window %v, cursor %v", p.Window, p.Cursor)
	}
	zoomedBody(t, v, p, 80, 20, "0")
	if p.Zoomed() || p.On {
		t.Error("0 left something")
	}
}

// TestChartMouse clicks, drags and turns the wheel.
func TestChartMouse(t *testing.T) {
	v := storyView()
	p := &Loss{}
	p.Body(v, 100, 30, true)
	a := p.Shown[0].Area
	if !p.HandleMouse(v, tea.MouseClickMsg{X: 40, Y: 9, Button: tea.MouseLeft}, 40, 9) || !p.On {
		t.Fatal("no cursor")
	}
	if x := a.CellX(v.Glyphs, p.Cursor[chart.Epochs]); x < 39 || x > 41 {
		t.Errorf("cursor in column %d", x)
	}
	p.HandleMouse(v, tea.MouseReleaseMsg{}, 40, 9)
	around := a.Value(40)
	for range 3 {
		p.HandleMouse(v, tea.MouseWheelMsg{Button: tea.MouseWheelUp}, 40, 9)
		p.Body(v, 100, 30, true)
	}
	if x := p.Shown[0].Column(around); math.Abs(x-40) > 6 || p.Window[1]-p.Window[0] > 30 {
		t.Errorf("the wheel went to %v, column %v", p.Window, x)
	}
	before := p.Window
	p.HandleMouse(v, tea.MouseClickMsg{Button: tea.MouseLeft}, 40, 9)
	if !p.HandleMouse(v, tea.MouseMotionMsg{Button: tea.MouseLeft}, 60, 9) || p.Window[0] >= before[0] {
		t.Errorf("dragging to the right went from %v to %v", before, p.Window)
	}
	if p.HandleMouse(v, tea.MouseClickMsg{Button: tea.MouseLeft}, 1, 29) {
		t.Error("took a click beside the chart")
	}
}

// TestChartFuzz gives random keys and clicks to charts of random data in rooms of any size.
func TestChartFuzz(t *testing.T) {
	keys := []string{"left", "right", "shift+left", "shift+right", "home", "end", "esc", "[", "]", "]", "<", ">", "0", "x", "X", "m", "c", "y"}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 9))
		v := viewOf()
		v.Glyphs = style.Glyphs(1 + seed%3).Set(nil)
		p := []Pane{&Loss{log: seed%2 == 0}, &Accuracy{}, &Region{log: true}, &Work{}}[seed%4]
		for range 300 {
			w, h := 1+r.IntN(150), 1+r.IntN(45)
			switch r.IntN(3) {
			case 0:
				d := tuitest.RandomDelta(r)
				v.H.Apply(&d)
			case 1:
				k := keys[r.IntN(len(keys))]
				if k == "y" {
					p.ToggleLog()
				}
				Press(p.(Keyed), v, k)
			default:
				m := []tea.MouseMsg{tea.MouseClickMsg{Button: tea.MouseLeft}, tea.MouseMotionMsg{}, tea.MouseReleaseMsg{},
					tea.MouseWheelMsg{Button: tea.MouseWheelUp}, tea.MouseWheelMsg{Button: tea.MouseWheelDown}}[r.IntN(5)]
				p.(Moused).HandleMouse(v, m, r.IntN(160)-5, r.IntN(50)-3)
			}
			zoomedBody(t, v, p, w, h, "")
		}
	}
}

// BenchmarkChart draws two curves as the zoomed pane does, with all that a user can add.
func BenchmarkChart(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		r := rand.New(rand.NewPCG(1, 1))
		v := viewOf()
		v.H.Run = &event.RunEvent{}
		for i := range n {
			at := chart.Position{float64(i), float64(i) / 9, float64(i) * 3}
			v.H.Curves.Loss.Append(at, math.Exp(-float64(i)/float64(n))+0.1*r.Float64())
			v.H.Curves.TestLoss.Append(at, math.Exp(-float64(i)/float64(n))+0.2*r.Float64())
		}
		for _, c := range []struct{ name, keys string }{{"plain", ""}, {"all", "left m m c"}} {
			b.Run(fmt.Sprintf("%s-%d", c.name, n), func(b *testing.B) {
				p := &Loss{}
				p.Body(v, 200, 57, true)
				for _, k := range strings.Fields(c.keys) {
					Press(p, v, k)
				}
				b.ReportAllocs()
				for b.Loop() {
					p.Body(v, 200, 57, true)
				}
			})
		}
	}
}

// TestNewestEpochIsLabelled: with every scale of x the newest epoch has its number, and the label at the right the unit.
func TestNewestEpochIsLabelled(t *testing.T) {
	for _, c := range []struct {
		epochs, limit int
		keys          string
		latest, right string
	}{
		{5, 0, "", " 5 ", " 10 epochs"}, {7, 0, "X", " 7 ", " 10 epochs"}, {1000, 0, "X", " 1,000 ", " 1,000 epochs"},
		{4, 10, "", " 4 ", " 10 epochs"}, {10, 10, "", " 10 ", " 10 epochs"}, {60, 0, "X", " 60 ", " 60 epochs"},
	} {
		t.Run(fmt.Sprint(c.epochs, c.limit, c.keys), func(t *testing.T) {
			v := viewOf()
			r := rand.New(rand.NewPCG(1, 2))
			d := feed.Delta{Run: tuitest.NewRun(tuitest.Script{})[0].Run, Status: event.Status{Epoch: c.epochs, EpochLimit: c.limit}}
			for e := range c.epochs + 1 {
				d.Epochs = append(d.Epochs, tuitest.Epoch(e, 1, r))
			}
			v.H.Apply(&d)
			rows := zoomedBody(t, v, &Loss{}, 80, 24, c.keys)
			axis := strings.TrimSpace(ansi.Strip(rows[len(rows)-2]))
			if !strings.HasSuffix(axis, c.right) || !strings.Contains(axis, c.latest) {
				t.Errorf("%q lacks %q or does not end with %q", axis, c.latest, c.right)
			}
		})
	}
}
