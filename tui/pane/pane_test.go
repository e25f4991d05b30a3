package pane

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/history"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
)

// TestMethodWithFiguresOfItsOwn looks at the pane that else shows a radius or a rate.
func TestMethodWithFiguresOfItsOwn(t *testing.T) {
	v := viewOf(tuitest.DampedRun(9)...)
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
}

// TestFiguresOfAnotherMethodBeginAnew switches between two methods with figures, and to one without.
func TestFiguresOfAnotherMethodBeginAnew(t *testing.T) {
	deltas := tuitest.DampedRun(4)
	e := deltas[4].Epochs[0]
	v := viewOf(deltas...)
	e.Epoch, e.Optimizer, e.Metrics = 4, "scg", []event.Metric{{Key: "lambda", Value: 1}}
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	if got := fmt.Sprint(len(v.H.Curves.Metrics), " ", v.H.Curves.Metrics[0].Symbol, " ", v.H.Curves.Metrics[0].Series.Points); got != "1 lambda 1" {
		t.Error(got)
	}
	e.Epoch, e.Optimizer, e.Metrics = 5, "adam", nil
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	if len(v.H.Curves.Metrics) != 0 {
		t.Errorf("%d figures left", len(v.H.Curves.Metrics))
	}
}

// TestCommitteeShowsItsMembers looks for the range of the members' errors.
func TestCommitteeShowsItsMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	v := viewOf()
	for epoch := range 5 {
		e := tuitest.Epoch(epoch, 1, r)
		e.Members = []event.MemberMetrics{{TestError: 0.07}, {TestError: 0.064}, {TestError: 0.071}}
		v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	}
	l := v.Line(100)
	new(Accuracy).Header(v, l)
	if text := ansi.Strip(l.Full()); !strings.Contains(text, "members 6.40 % to 7.10 %") {
		t.Error(text)
	}
}

// TestCountsStayWhole: what counts something is written without decimals, until it does not.
func TestCountsStayWhole(t *testing.T) {
	v := viewOf()
	e := tuitest.Epoch(1, 1, rand.New(rand.NewPCG(1, 2)))
	for i, c := range []struct {
		value event.Float
		want  string
	}{{2, "2"}, {tuitest.NaN, "–"}, {12345, "12,345"}, {3e6, "3.00M"}, {0.5, "0.5000"}, {2, "2.000"}} {
		e.Epoch, e.Metrics = i+1, []event.Metric{{Key: "tries", Value: c.value}}
		v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
		if got := v.H.Curves.Metrics[0].Format(float64(c.value)); got != c.want {
			t.Errorf("after %d epochs %v is %q: expected %q", i+1, c.value, got, c.want)
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

// The radius that the header has as the setting, that of the next step, stands beside that of the last one however narrow
// the pane is.
func TestRegionShowsBothRadii(t *testing.T) {
	v := viewOf()
	v.H.Latest = event.EpochEvent{Epoch: 3, Radius: 1, Rho: 0.9, Accepted: true}
	v.H.Epochs = 3
	v.H.Status = event.Status{Phase: event.Running, Settings: []event.Setting{{Key: "radius", Text: "2", Primary: true}}}
	l := v.Line(26)
	NewRegion().Header(v, l)
	if text := ansi.Strip(l.Full()); !strings.Contains(text, "R 1.000 → 2.000") {
		t.Errorf("%q", text)
	}
}

// TestSampledMethod: of a Hessian-free method the damping, ρ and how many rows its samples have are told, with their symbols, and drawn.
func TestSampledMethod(t *testing.T) {
	add := tuitest.Archive(t)
	v := viewOf(tuitest.SampledRun(25, 8)...)
	p := NewRegion()
	for _, size := range [][2]int{{40, 7}, {60, 12}, {120, 14}} {
		add(fmt.Sprintf("%dx%d", size[0], size[1]), ansi.Strip(strings.Join(frame(p, v, layout.Rect{W: size[0], H: size[1]}, CacheKey{}), "\n")))
	}
	add("zoomed, the samples", ansi.Strip(strings.Join(zoomedBody(t, v, p, 80, 20, "v"), "\n")))
	l := v.Line(80)
	p.Header(v, l)
	if header := ansi.Strip(l.Full()); !strings.HasPrefix(header, "gradient rows 14,500  ρ ") {
		t.Errorf("beside the samples' charts stands %q", header)
	}
	e := v.H.Latest
	e.Metrics, e.Epoch = nil, 26
	v.H.Apply(&feed.Delta{Status: v.H.Status, Epochs: []event.EpochEvent{e}})
	v.H.Curves.Metrics = nil
	p = NewRegion()
	for _, key := range []CacheKey{{}, {Zoomed: true}} {
		if text := strings.Join(frame(p, v, layout.Rect{W: 60, H: 20}, key), "\n"); !strings.Contains(text, "actual over predicted") {
			t.Errorf("of a method that has ρ alone it shows\n%s", text)
		}
	}
}
