package trainer

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/workplace"
)

// ready returns a run on one thread that has done some outer iterations and can do more, without a goroutine.
func ready(t *testing.T, c config.Config, epochs int) (*loop, *memory) {
	t.Helper()
	m := &memory{}
	l := newLoop(context.Background(), mustNew(t, c))
	l.out.Recordings = []*checkpoint.Recording{checkpoint.StartRecording(m)}
	var err error
	if l.work.Problem, err = workplace.Prepare(l.work.Config); err != nil {
		t.Fatal(err)
	}
	if err := l.bind(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.out.Recordings[0].Finish(l.ctx)
		l.work.Pool.Close()
		l.out.StatusPulse.Stop()
	})
	l.control.phase = event.Running
	l.nets.EvaluateStart()
	for range epochs {
		if err := l.outer(); err != nil {
			t.Fatal(err)
		}
	}
	return l, m
}

// obeyed gives a command to a run between two outer iterations and returns the events that came of it.
func handled[E event.Event](t *testing.T, l *loop, m *memory, c event.Command) E {
	t.Helper()
	if err := l.control.handle(c); err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	if err := l.control.safepoint(); err != nil {
		t.Fatal(err)
	}
	if err := l.out.Recordings[0].Finish(l.ctx); err != nil {
		t.Fatal(err)
	}
	l.out.Recordings[0] = checkpoint.StartRecording(m)
	found := of[E](m)
	if len(found) == 0 {
		t.Fatalf("nothing came of %+v", c)
	}
	return found[len(found)-1]
}

// TestLooksLeaveTheRunAlone: with looks of all kinds between its inner units a run has the digits that it has without.
func TestLooksLeaveTheRunAlone(t *testing.T) {
	for name, c := range map[string]config.Config{
		"newton":    {Data: "spirals", Hidden: []int{5}, Optimizer: "tr-newton"},
		"jacobi":    {Data: "sine", Hidden: []int{4}, Optimizer: "tr-gn-jacobi"},
		"blocks":    {Data: "spirals", Hidden: []int{5}, Optimizer: "tr-gn", Blocks: 3},
		"scg":       {Data: "spirals", Hidden: []int{5}, Optimizer: "scg", Epochs: 8}, // of one unit each, for four looks
		"lm":        {Data: "sine", Hidden: []int{4}, Optimizer: "lm"},
		"dogleg":    {Data: "sine", Hidden: []int{4}, Optimizer: "dogleg"},
		"batches":   {Data: "spirals", Hidden: []int{5}, Optimizer: "adam", Batch: 100},
		"committee": {Data: "spirals", Hidden: []int{5}, Optimizer: "tr-newton", Committee: 2},
		"mixture":   {Data: "sine", Experts: 2, ExpertHidden: []int{3}, Gate: "x", Optimizer: "tr-newton"},
	} {
		t.Run(name, func(t *testing.T) {
			c.Epochs, c.Threads = max(c.Epochs, 3), 1
			seldom := 5 // steps between two looks
			if testing.Short() {
				c.Epochs, seldom = max(c.Epochs-1, 2), 50
			}
			want := of[event.EpochEvent](train(t, c))
			m := &memory{}
			s := mustNew(t, c, m)
			ask := []event.Command{event.ShowErrors{Train: true, Worst: 3}, event.ShowWeights{To: 1}, event.Slice{}, event.Spectrum{}}
			ended := begun(t, s, event.Pause{On: true})
			insist(s, event.StepInner{})
			for k := 0; ; k++ {
				if k < 9 || k%seldom == 0 {
					taken(t, s, ask[k%len(ask)])
				}
				if !taken(t, s, event.StepInner{}) {
					break
				}
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			got := of[event.EpochEvent](m)
			if len(got) != len(want) {
				t.Fatalf("%d epochs, want %d", len(got), len(want))
			}
			for i := range want {
				if a, b := timeless(want[i]), timeless(got[i]); a != b {
					t.Fatalf("epoch %d:\n%s, without looks\n%s", i, b, a)
				}
			}
			if n := [3]int{len(of[event.ErrorsEvent](m)), len(of[event.WeightsEvent](m)), len(of[event.SpectrumEvent](m))}; slices.Min(n[:]) == 0 {
				t.Errorf("%v looks at errors, weights and spectra", n)
			}
		})
	}
}

// timeless writes all of an epoch but how long it took.
func timeless(e event.EpochEvent) string {
	e.Seconds, e.Elapsed = 0, 0
	line, err := event.EncodeEvent(e)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

func TestLooksThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		config config.Config
		epochs int
		ask    event.Command
		want   string
	}{
		{config.Config{Data: "sine"}, 0, event.Slice{}, "has proposed no step yet"},
		{config.Config{Data: "sine", Optimizer: "adam"}, 0, event.Slice{}, "adam proposes no step by a model of the loss: expected one of tr-newton,"},
		{config.Config{Data: "sine", Optimizer: "adam"}, 1, event.Slice{}, "adam proposes no step"},
		{config.Config{Data: "sine"}, 0, event.ShowWeights{To: 1, From: 1}, "no weights from layer 1 to layer 1"},
		{config.Config{Data: "sine"}, 0, event.ShowWeights{To: 9}, "no weights from layer 0 to layer 9"},
		{config.Config{Data: "sine"}, 0, event.ShowErrors{}, "no test rows"},
	} {
		l, _ := ready(t, c.config, c.epochs)
		l.work.Test = nil
		var refused *event.CommandError
		if err := l.control.handle(c.ask); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v: expected a refusal with %q", c.ask, err, c.want)
		}
		if len(l.analyst.Requested) != 0 {
			t.Errorf("%+v was noted all the same", c.ask)
		}
	}
}

// TestLooksAskedForTwice are computed once, and those that a Stop overtakes not at all.
func TestLooksAskedForTwice(t *testing.T) {
	l, m := ready(t, config.Config{Data: "spirals", Hidden: []int{4}}, 1)
	for _, c := range []event.Command{event.Slice{}, event.ShowErrors{Worst: 2}, event.Slice{}, event.ShowErrors{Worst: 2}} {
		if err := l.control.handle(c); err != nil {
			t.Fatal(err)
		}
	}
	handled[event.SliceEvent](t, l, m, event.Slice{})
	if n := [2]int{len(of[event.SliceEvent](m)), len(of[event.ErrorsEvent](m))}; n != [2]int{1, 1} {
		t.Errorf("%d slices and errors", n)
	}
	if l.analyst.Computing != "" || l.clocks.Training.Running {
		t.Errorf("computing %q, the clock runs: %v", l.analyst.Computing, l.clocks.Training.Running)
	}
	l.analyst.Request(event.Slice{})
	l.control.handle(event.Stop{})
	if err := l.control.safepoint(); err == nil || len(l.analyst.Requested) != 1 {
		t.Errorf("after a stop: %v, %d looks to come", err, len(l.analyst.Requested))
	}
}

// begun runs a session that finds a command when it starts, and returns what will tell how it ended.
func begun(t *testing.T, s *Session, c event.Command) <-chan error {
	t.Helper()
	answer, ended := asked(context.Background(), s, c), make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
	return ended
}

// taken asks for a command and reports whether it was taken. It may have been refused, or come too late.
func taken(t *testing.T, s *Session, c event.Command) bool {
	t.Helper()
	var refused *event.CommandError
	err := s.Do(t.Context(), c)
	if err != nil && !errors.As(err, &refused) && !errors.Is(err, feed.ErrEnded) {
		t.Fatal(err)
	}
	return err == nil
}

// insist asks until a command is taken: steps once the data are there, slices after the first step.
func insist(s *Session, c event.Command) {
	var refused *event.CommandError
	for errors.As(s.Do(context.Background(), c), &refused) {
		time.Sleep(time.Millisecond)
	}
}

// TestLooksAtTheEnd: who watches a run until its end gets the errors of its last weights, and a slice if there was one
// before. Nobody else does, nor one who stops it.
func TestLooksAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		config         config.Config
		watch, slice   bool
		stop           bool
		errors, slices int
	}{
		"unwatched":     {config: config.Config{Epochs: 3}},
		"watched":       {config: config.Config{Epochs: 3}, watch: true, errors: 1},
		"sliced":        {config: config.Config{Epochs: 3}, watch: true, slice: true, errors: 1, slices: 2},
		"at its target": {config: config.Config{TargetLoss: 10}, watch: true, errors: 1},
		"out of time":   {config: config.Config{TimeLimit: 1}, watch: true, errors: 1},
		"stopped":       {config: config.Config{Epochs: 1e9}, watch: true, slice: true, stop: true, slices: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memory{}
			c.config.Data, c.config.Hidden = "spirals", []int{4}
			s := mustNew(t, c.config, m)
			var box *feed.Mailbox
			if c.watch {
				box = s.Subscribe()
				defer box.Close()
			}
			ended := begun(t, s, event.Pause{On: c.slice})
			if c.slice {
				insist(s, event.StepEpoch{})
				insist(s, event.Slice{})
				for len(nextDelta(t, box).Slices) == 0 {
				}
				do(t, s, event.Pause{})
			}
			if c.stop {
				do(t, s, event.Stop{})
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			found, slices := of[event.ErrorsEvent](m), of[event.SliceEvent](m)
			if len(found) != c.errors || len(slices) != c.slices {
				t.Errorf("%d errors, %d slices", len(found), len(slices))
			}
			end := of[event.DoneEvent](m)[0]
			for _, e := range found {
				if e.Epoch != end.Epochs || len(e.Worst) != 16 {
					t.Errorf("errors after epoch %d of %d, %d rows", e.Epoch, end.Epochs, len(e.Worst))
				}
			}
		})
	}
}

func TestWeightsThatAreShown(t *testing.T) {
	l, m := ready(t, config.Config{Data: "spirals", Hidden: []int{3}, Skip: models.SkipAll}, 2)
	l.work.Problem.Data.Image = &datasets.Image{Width: 2, Height: 1}
	for _, b := range l.work.Problem.Network.Blocks() {
		e := handled[event.WeightsEvent](t, l, m, event.ShowWeights{To: b.To, From: b.From})
		want := event.WeightsEvent{Epoch: 2, To: b.To, From: b.From, Rows: b.Rows, Cols: b.Cols,
			Values: event.Floats(l.nets.Members[0].Weights[b.Offset : b.Offset+b.Rows*b.Cols])}
		if b.From == 0 {
			want.Height, want.Width = 1, 2
		}
		if !reflect.DeepEqual(e, want) {
			t.Errorf("%d from %d: %+v, want %+v", b.To, b.From, e, want)
		}
		l.nets.Members[0].Weights[b.Offset]++
		if e.Values[0] != want.Values[0] {
			t.Error("what is shown changes with the weights")
		}
	}
}
