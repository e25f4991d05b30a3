package inner

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
)

// TestInnerPaneBlocks draws the pane of epochs with several solves, which get bars of their own where three epochs
// fit, and of epochs with one.
func TestInnerPaneBlocks(t *testing.T) {
	add := tuitest.Archive(t)
	for _, w := range []int{40, 80, 120} {
		for _, blocks := range []int{1, 4, 16} {
			rows := new(pane.Cache).Draw(&Pane{}, withSolves(30, blocks), layout.Rect{X: 0, Y: 0, W: w, H: 12}, pane.CacheKey{})
			for i, r := range rows {
				if n := ansi.StringWidth(r); n != w {
					t.Errorf("%d blocks in %d columns: row %d has %d", blocks, w, i, n)
				}
			}
			add(fmt.Sprintf("%d blocks, %d columns", blocks, w), ansi.Strip(strings.Join(rows, "\n")))
		}
	}
}

// TestGroupsShowTheNewest: the last solve has a bar however many there are, and the one on the stage has its mark.
func TestGroupsShowTheNewest(t *testing.T) {
	for epochs := 1; epochs < 60; epochs++ {
		v := withSolves(epochs, 3)
		p := &Pane{}
		p.marked = markedSolve{max(1, epochs-40), 0, 1}
		columns, _ := p.groups(v, 60, 9)
		if len(columns) == 0 {
			t.Fatalf("%d epochs: no bars", epochs)
		}
		marks, latest := 0, 0
		for _, c := range columns {
			latest = max(latest, c.Epoch)
			if c.marked {
				marks++
			}
		}
		if marks != 1 {
			t.Errorf("%d epochs: %d marks", epochs, marks)
		}
		p.marked.epoch = -1
		columns, _ = p.groups(v, 60, 9)
		if last := columns[len(columns)-1]; last.Epoch != epochs || last.x+last.w > 60 {
			t.Errorf("%d epochs: the last bar is of %d and ends at %d", epochs, last.Epoch, last.x+last.w)
		}
	}
}

func TestNoSolvesIsSaid(t *testing.T) {
	v := panetest.View(tuitest.DampedRun(9)...)
	if text := ansi.Strip(strings.Join(new(Pane).Body(v, 60, 3, false), "\n")); !strings.Contains(text, "no inner solves") {
		t.Errorf("the inner pane says %q", text)
	}
}

func TestClauses(t *testing.T) {
	const s = "one two; three four; five"
	for _, c := range []struct {
		w, n int
		want []string
	}{
		{40, 1, []string{s}},
		{20, 1, []string{"one two; three four"}},
		{20, 2, []string{"one two; three four;", "five"}},
		{10, 1, []string{"one two"}},
		{8, 2, []string{"one two"}},
	} {
		if got := clauses(s, c.w, c.n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d × %d: %q, want %q", c.w, c.n, got, c.want)
		}
	}
	if got := clauses("alpha beta gamma", 10, 1); !reflect.DeepEqual(got, []string{"alpha beta"}) {
		t.Errorf("%q", got)
	}
}

// TestInnerPaneNamesNetsAndBlocks reads of whom the solves of an epoch were, and the one under way.
func TestInnerPaneNamesNetsAndBlocks(t *testing.T) {
	for _, c := range []struct {
		nets, blocks int
		header, now  string
	}{
		{1, 1, "", "▸ it"},
		{1, 4, "in 4 blocks", "▸ block 4 it"},
		{5, 1, "in 5 nets", "▸ net 5 it"},
		{3, 2, "in 3 nets × 2 blocks", "▸ net 3 block 2 it"},
	} {
		v := panetest.View()
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
		p := &Pane{}
		p.Header(v, l)
		header, now := ansi.Strip(l.Full()), ansi.Strip(p.now(v, 60))
		if !strings.Contains(header, c.header) || c.header == "" && strings.Contains(header, " in ") || !strings.HasPrefix(now, c.now) {
			t.Errorf("%d nets, %d blocks: %q and %q", c.nets, c.blocks, header, now)
		}
	}
}

// TestSwitchEndsTheSolve: the solve under way goes with its method.
func TestSwitchEndsTheSolve(t *testing.T) {
	v := panetest.View()
	in := tuitest.InnerIteration(2, 3, 1)
	v.H.Apply(tuitest.DeltaOf(v.H.Status, in))
	v.H.Apply(&feed.Delta{Switches: []event.SwitchEvent{{Epoch: 1, From: "tr-gn", To: "sgd"}}})
	if now := ansi.Strip(new(Pane).now(v, 60)); strings.Contains(now, "▸") {
		t.Errorf("after the switch: %q", now)
	}
}

// TestInnerScale has so many iterations that their labels are wide: none may be cut.
func TestInnerScale(t *testing.T) {
	for _, n := range []int{3, 9, 40, 999, 1500, 12_500, 99_000} {
		v := panetest.View()
		e := tuitest.Epoch(1, 1, rand.New(rand.NewPCG(1, 1)))
		e.Inner[0].Iterations = n
		v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
		for _, h := range []int{2, 3, 9, 30} {
			labels := 0
			for _, row := range new(Pane).draw(v, 40, h, false) {
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

// However many epochs there were, the bars are of all of them, each of as many.
func TestBarsOfAllEpochs(t *testing.T) {
	for _, epochs := range []int{1, 30, 70, 71, 500, 2049, 9000} {
		v := panetest.View()
		for e := range epochs {
			v.H.Apply(tuitest.DeltaOf(v.H.Status, event.EpochEvent{Epoch: e + 1, Inner: []event.InnerSummary{{Iterations: 10, Stop: krylov.Limit}}}))
		}
		p := &Pane{}
		p.marked.epoch = -1
		columns, gutter := p.epochs(v, 74, false)
		next := 1
		for i, c := range columns {
			if c.Epoch != next || c.Mean() != 10 || i+1 < len(columns) && c.Epochs != columns[0].Epochs {
				t.Errorf("%d epochs: bar %d is of %d, %d to %d, %g iterations", epochs, i, c.Epochs, c.Epoch, c.Last, c.Mean())
			}
			next = c.Last + 1
		}
		if last := columns[len(columns)-1]; next != epochs+1 || last.x+last.w > 74 || len(columns) < min(epochs, (74-gutter)/2) {
			t.Errorf("%d epochs: %d bars to epoch %d and column %d", epochs, len(columns), next-1, last.x+last.w)
		}
		axis := ansi.Strip(p.draw(v, 74, 9, false)[8])
		if !strings.Contains(axis, " 1 ") && epochs > 1 || !strings.Contains(axis, " epochs") {
			t.Errorf("%d epochs: the axis is %q", epochs, axis)
		}
	}
}
