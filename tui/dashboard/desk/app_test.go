package desk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	host "newtop/internal/machine"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// noBar is the bar of a screen without one.
type noBar struct{}

func (noBar) Line(a *App, w int, _ bool) string            { return style.Spaces(w) }
func (noBar) Hide()                                        {}
func (noBar) Click(*App, int, int) (cmd tea.Cmd, hit bool) { return }
func (noBar) Delta(*App, *feed.Delta) tea.Cmd              { return nil }

// newTest returns an App without anything above it that has taken in a run, with a clock that stands still.
func newTest(o screen.Options, deltas []feed.Delta) *App {
	o.Environ = append(o.Environ, "LANG=C.UTF-8")
	a := NewApp(&tuitest.Feed{}, &o, nil, Above{Bar: noBar{}, Other: func(a *App, msg tea.Msg) tea.Cmd { return a.Handle(msg) }})
	a.Clock = func() time.Time { return time.Unix(0, 0) }
	a.Restyle()
	a.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for _, d := range deltas {
		a.Update(DeltaMsg{Delta: d})
	}
	return a
}

// TestUnchangedPanesAreKept compares pictures by identity: an inner iteration redraws no chart.
func TestUnchangedPanesAreKept(t *testing.T) {
	a := newTest(screen.Options{}, tuitest.NewRun(tuitest.Script{Epochs: 33}))
	a.View()
	before := slices.Clone(a.cached)
	a.Update(DeltaMsg{Delta: feed.Delta{Status: a.H.Status, Inner: []event.InnerEvent{tuitest.InnerIteration(34, 13, 1)}}})
	a.View()
	for id := range layout.Panes {
		if before[id].Rows == nil {
			continue // without a place on this screen
		}
		if same := &before[id].Rows[0] == &a.cached[id].Rows[0]; same != (id != layout.Inner) {
			t.Errorf("pane %d: kept %v", id, same)
		}
	}
}

// undrawable is a pane that breaks.
type undrawable struct{ pane.Pane }

func (undrawable) Body(*pane.View, int, int, bool) []string { panic("broken") }

// TestCommonFrame: viewers who see the same share what was drawn, and what broke in the middle is drawn again.
func TestCommonFrame(t *testing.T) {
	c := NewCommon(func() feed.Feed { return newTimedFeed() }, nil)
	f := c.Feed()
	defer f.Close()
	for _, d := range tuitest.NewRun(tuitest.Script{Epochs: 8}) {
		c.Apply(c.h, &d, nil)
	}
	var viewers [2]*App
	for i := range viewers {
		viewers[i] = newTest(screen.Options{Viewer: &screen.Viewer{Name: "lou"}}, nil)
		viewers[i].Join(c)
	}
	rows := Frame(viewers[0]).Rows
	if want := fmt.Sprint(rows); fmt.Sprint(Frame(viewers[1]).Rows) != want || len(c.frames) != 1 || len(c.panes) == 0 {
		t.Fatalf("%d screens and %d panes were drawn", len(c.frames), len(c.panes))
	}
	for _, p := range c.panes {
		if p.cache.Key.W > 0 {
			p.pane, p.cache.Key.Version = undrawable{p.pane}, 0
		}
	}
	c.version++
	func() {
		defer func() { _ = recover() }()
		Frame(viewers[0])
		t.Fatal("nothing broke")
	}()
	c.Forget()
	if got := Frame(viewers[1]).Rows; fmt.Sprint(got) != fmt.Sprint(rows) {
		t.Errorf("later\n%s\nexpected\n%s", got, rows)
	}
	if f.Close(); c.h != nil || c.frames != nil {
		t.Error("the history stays when nobody looks")
	}
}

// TestMachineIsSampled follows the commands from one sample to the next, and ends them with the screen.
func TestMachineIsSampled(t *testing.T) {
	samples := tuitest.MachineSamples(1, 1)
	a := newTest(screen.Options{Machine: func(context.Context) (host.Sample, error) { return samples[0], nil }}, nil)
	msg, ok := sampleMachine(a)().(MachineMsg)
	if !ok || msg.Sample == nil {
		t.Fatalf("brought %v", msg)
	}
	if _, wait := a.Update(msg); wait == nil {
		t.Fatal("the next sample is not waited for")
	}
	if _, read := a.Update(MachineMsg{}); read == nil {
		t.Fatal("no sample is read after the wait")
	}
	a.Close()
	if got := applySample(a, msg)(); got != nil {
		t.Errorf("the screen has ended, and brought %v", got)
	}
	a.Machine = func(context.Context) (host.Sample, error) { return host.Sample{}, context.Canceled }
	if got := sampleMachine(a)(); got != nil {
		t.Errorf("a sampler that was closed brought %v", got)
	}
}

// A program that is watched ends with the screen, so that q says so first. Once it is over, one q is enough.
func TestQuitOfAProgram(t *testing.T) {
	e := event.UnknownEpoch(3)
	e.Loss = 1
	a := newTest(screen.Options{Program: true}, []feed.Delta{{Run: &event.RunEvent{Data: event.DataInfo{Name: "train.py"}},
		Epochs: []event.EpochEvent{e}, Status: event.Status{Phase: event.Running, Epoch: 3, Replay: &event.Replay{Live: true}}}})
	if QuitWord(a) != "end the program" {
		t.Errorf("the footer says %q", QuitWord(a))
	}
	a.Quit()
	if !a.leaving || stateParts(a)[0].Text != "■ q again ends the program" {
		t.Errorf("after one q: %q", stateParts(a)[0].Text)
	}
	a.Update(stayMsg{})
	if a.leaving {
		t.Error("it is not taken back")
	}
	a.Quit()
	if !screentest.Quits(a.Quit()) {
		t.Error("the second q does not quit")
	}
	a.leaving = false
	a.H.Apply(&feed.Delta{Done: &event.DoneEvent{Reason: event.ReasonFinished, Epochs: 3},
		Status: event.Status{Phase: event.Ended, Epoch: 3, Replay: &event.Replay{}}})
	if !screentest.Quits(a.Quit()) {
		t.Error("one q does not quit after the end")
	}
}

// TestOneEpoch: a frame is of one epoch. While nobody types news come as rarely as charts may be drawn, and a viewer's
// frame stays whole or is drawn whole.
func TestOneEpoch(t *testing.T) {
	deltas := tuitest.NewRun(tuitest.Script{Epochs: 6})
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	a := newTest(screen.Options{}, deltas[:1])
	a.Clock = clock
	a.Throttle()
	pauses := func(want time.Duration, when string) {
		t.Helper()
		if a.Update(DeltaMsg{Delta: feed.Delta{Status: a.H.Status}}); a.pause != want {
			t.Errorf("%s: news after %v, expected %v", when, a.pause, want)
		}
	}
	pauses(interval, "at first")
	now = now.Add(2 * time.Second)
	pauses(chartHold, "nobody types")
	a.Touch()
	if len(a.wake) != 1 {
		t.Error("a key does not end the pause")
	}
	pauses(interval, "after a key")
	now = now.Add(2 * time.Second)
	a.Focus, a.Zoomed = layout.Inner, true
	pauses(interval, "an inner solve is followed")

	c := NewCommon(func() feed.Feed { return newTimedFeed() }, nil)
	f := c.Feed()
	defer f.Close()
	v := newTest(screen.Options{Viewer: &screen.Viewer{Name: "lou"}}, nil)
	v.Join(c)
	v.Clock = clock
	v.Throttle()
	now = now.Add(2 * time.Second)
	for _, d := range deltas {
		c.Apply(c.h, &d, nil)
	}
	v.Update(DeltaMsg{Delta: feed.Delta{Status: c.h.Status}})
	Frame(v)
	c.Apply(c.h, &feed.Delta{Status: c.h.Status, Epochs: []event.EpochEvent{tuitest.Epoch(7, 1, rand.New(rand.NewPCG(1, 2)))}}, nil)
	for _, msg := range []tea.Msg{DeltaMsg{}, TickMsg{}, DrawMsg{}} {
		if !Waits(v, msg) {
			t.Errorf("%T draws a part of the next epoch", msg)
		}
	}
	if Waits(v, tea.KeyPressMsg{}) {
		t.Error("a key's frame waits")
	}
	now = now.Add(remoteHold)
	if Waits(v, DrawMsg{}) {
		t.Error("the frame waits for ever")
	}
}
