package dashboard

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	host "newtop/internal/machine"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
)

// newMachineTest returns an App that has taken in a run and some samples of the machine.
func newMachineTest(deltas []feed.Delta, w, h int) *desk.App {
	list := tuitest.MachineSamples(200, 1)
	o := screen.Options{NoColor: true, Environ: []string{"LANG=C.UTF-8"}, Machine: func(context.Context) (host.Sample, error) { return list[0], nil }}
	a := newApp(&tuitest.Feed{}, o, tuitest.Methods())
	a.Clock = func() time.Time { return time.Unix(0, 0) }
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	for _, d := range deltas {
		a.Update(came(d))
	}
	for i := range list {
		a.Update(desk.MachineMsg{Sample: &list[i]})
	}
	return a
}

// TestMachine draws the machine's row and its pane, beside others and zoomed.
func TestMachine(t *testing.T) {
	add := tuitest.Archive(t)
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}} {
		a := newMachineTest(replayScene("live"), size[0], size[1])
		rows := strings.SplitAfter(frameText(t, a), "\n")
		add(fmt.Sprintf("%dx%d, header", size[0], size[1]), strings.Join(rows[:5], ""))
		press(a, "shift+tab", "shift+tab")
		if a.Focus != layout.Machine {
			t.Fatalf("shift+tab went to pane %d", a.Focus)
		}
		add(fmt.Sprintf("%dx%d, focused", size[0], size[1]), frameText(t, a))
		press(a, "z", "[")
		add(fmt.Sprintf("%dx%d, zoomed", size[0], size[1]), frameText(t, a))
	}
}

// TestMachineRow has the row on high screens of watched runs alone, and nothing about the machine where that is not
// told.
func TestMachineRow(t *testing.T) {
	for _, c := range []struct {
		a    *desk.App
		want bool
	}{
		{newMachineTest(replayScene("live"), 80, 30), true}, {newMachineTest(replayScene("foreign"), 80, 30), true},
		{newMachineTest(replayScene("live"), 80, 29), false}, {newMachineTest(tuitest.NewRun(tuitest.Script{Epochs: 9}), 120, 40), false},
		{newWatch(replayScene("live"), 80, 40), false},
	} {
		if got := strings.Contains(frameText(t, c.a), "│ python 1.8 cores"); got != c.want {
			t.Errorf("%d rows, watched %v: row %v", c.a.Height, c.a.H.Watched(), got)
		}
	}
	a := newWatch(replayScene("live"), 80, 24)
	for range layout.Panes {
		if press(a, "tab"); a.Focus == layout.Machine {
			t.Error("a pane that has nothing to tell was focused")
		}
	}
	press(a, ":")
	if strings.Contains(frameText(t, a), "machine") {
		t.Error("a pane that has nothing to tell can be chosen")
	}
}
