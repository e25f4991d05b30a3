package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/logs/files"
)

// script is a source that gives what a test puts in.
type script struct {
	mu     sync.Mutex
	events []event.Event // nil: a restart
	at     int
	end    error // after the events; nil: ErrNone
	stale  string
	wake   chan struct{}
	closed bool
}

func newScript(events ...event.Event) *script {
	return &script{events: events, wake: make(chan struct{}, 1)}
}

func (s *script) put(end error, events ...event.Event) {
	s.mu.Lock()
	s.events = append(s.events, events...)
	s.end = end
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *script) Next(context.Context) (event.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at < len(s.events) {
		s.at++
		if e := s.events[s.at-1]; e != nil {
			return e, nil
		}
		return nil, ErrRestart
	}
	if s.end != nil {
		return nil, s.end
	}
	return nil, ErrNone
}

func (s *script) Wait(ctx context.Context) error {
	select {
	case <-s.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *script) Read() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(s.at) / float64(len(s.events))
}
func (s *script) Name() string  { return "script" }
func (s *script) Stale() string { s.mu.Lock(); defer s.mu.Unlock(); return s.stale }
func (s *script) Close() error  { s.mu.Lock(); defer s.mu.Unlock(); s.closed = true; return nil }

// run makes a run of so many epochs, each of so many seconds with three inner iterations, without an end.
func run(n int, seconds float64) []event.Event {
	events := []event.Event{event.RunEvent{ID: "r", Optimizer: "adam"}}
	for i := 1; i <= n; i++ {
		for k := 1; k <= 3; k++ {
			events = append(events, event.InnerEvent{Epoch: i, Iteration: k})
		}
		e := event.UnknownEpoch(i)
		e.Loss, e.Elapsed = event.Float(1/float64(i)), event.Float(float64(i)*seconds)
		events = append(events, e)
	}
	return events
}

func done(n int) event.Event { return event.DoneEvent{Reason: event.ReasonEpochs, Epochs: n} }

// viewer gathers what a feed gives.
type viewer struct {
	t *testing.T
	feed.Feed
	ctx      context.Context
	status   event.Status
	epochs   []int
	inner    int
	spectra  int
	restarts int
	done     bool
	run      *event.RunEvent
}

// watch runs a player of the source and returns a viewer of it, and what ends it and returns its error.
func watch(t *testing.T, s Source, o Options) (*viewer, func() error) {
	t.Helper()
	p := NewPlayer(s, o)
	ctx, cancel := context.WithCancel(limit(t))
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	stop := sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { stop() })
	v := &viewer{t: t, Feed: p.Feed(), ctx: limit(t)}
	t.Cleanup(v.Close)
	return v, stop
}

// until takes what comes until the condition holds.
func (v *viewer) until(what string, ok func() bool) {
	v.t.Helper()
	for !ok() {
		d, err := v.Wait(v.ctx)
		if err != nil {
			v.t.Fatalf("%s: %v; saw %+v, replay %+v", what, err, *v, v.status.Replay)
		}
		if d.Restart {
			v.restarts++
			v.epochs, v.inner, v.spectra, v.done, v.run = nil, 0, 0, false, nil
		}
		v.status = d.Status
		for i := range d.Epochs {
			v.epochs = append(v.epochs, d.Epochs[i].Epoch)
		}
		v.inner += len(d.Inner)
		v.spectra += len(d.Spectra)
		v.done = v.done || d.Done != nil
		if d.Run != nil {
			v.run = d.Run
		}
	}
}

func (v *viewer) do(c event.Command) {
	v.t.Helper()
	if err := v.Do(v.ctx, c); err != nil {
		v.t.Fatalf("%T: %v", c, err)
	}
}

func (v *viewer) last() int {
	if len(v.epochs) == 0 {
		return 0
	}
	return v.epochs[len(v.epochs)-1]
}

func (v *viewer) at(n int) func() bool {
	return func() bool { return v.last() == n && v.status.Replay != nil && v.status.Replay.Epoch == n }
}

func TestPlayerFollows(t *testing.T) {
	s := newScript(run(5, 1)...)
	v, stop := watch(t, s, Options{})
	v.until("the newest", v.at(5))
	r := v.status.Replay
	if v.status.Phase != event.Running || !r.Live || !r.Seekable || r.Last != 5 || r.At != 5 || r.Length != 5 || r.Source != "script" || r.Loading != 1 {
		t.Errorf("%v %+v", v.status.Phase, r)
	}
	if v.status.Optimizer != "adam" || v.status.Elapsed != 5 || v.status.Epoch != 5 {
		t.Errorf("status %+v", v.status)
	}
	s.put(nil, run(6, 1)[21:]...)
	v.until("one more", v.at(6))
	s.put(nil, done(6))
	v.until("the end", func() bool { return v.done && v.status.Phase == event.Ended })
	if v.status.Replay.Live || v.restarts > 0 || v.inner != 18 {
		t.Errorf("restarts %d, inner %d, %+v", v.restarts, v.inner, v.status.Replay)
	}
	if err := stop(); !errors.Is(err, context.Canceled) || !s.closed {
		t.Errorf("ended with %v, source closed: %v", err, s.closed)
	}
	if err := v.Do(v.ctx, event.Pause{}); !errors.Is(err, feed.ErrEnded) {
		t.Errorf("a command after the end gave %v", err)
	}
}

func TestPlayerSeeks(t *testing.T) {
	events := run(10, 0.001)
	for i, e := range events { // a spectrum right after epoch 4, a switch after that
		if e, ok := e.(event.EpochEvent); ok && e.Epoch == 4 {
			events = append(events[:i+1:i+1], append([]event.Event{event.SpectrumEvent{Epoch: 4}, event.SwitchEvent{Epoch: 4, From: "adam", To: "sgd"}}, events[i+1:]...)...)
			break
		}
	}
	s := newScript(append(events, done(10))...)
	v, _ := watch(t, s, Options{})
	v.until("the end", func() bool { return v.done })
	v.do(event.Seek{Epoch: 4})
	v.until("epoch 4", v.at(4))
	if v.restarts != 1 || v.inner != 12 || v.spectra != 1 || v.done || v.status.Phase != event.Paused || v.status.Optimizer != "adam" || v.run == nil {
		t.Errorf("after a seek: %+v, %v", *v, v.status)
	}
	v.do(event.Seek{Epoch: 7}) // forwards nothing begins anew
	v.until("epoch 7", v.at(7))
	if v.restarts != 1 || v.status.Optimizer != "sgd" || v.status.Phase != event.Paused || !reflect.DeepEqual(v.epochs, []int{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("after a seek forwards: %+v, %v", *v, v.status)
	}
	v.do(event.StepEpoch{})
	v.until("epoch 8", v.at(8))
	if v.status.Phase != event.Paused {
		t.Errorf("after a step: %v", v.status.Phase)
	}
	v.do(event.Seek{Epoch: -3})
	v.until("the beginning", func() bool { return v.restarts == 2 })
	if len(v.epochs) > 0 || v.run == nil || v.status.Replay.At != 0 {
		t.Errorf("at the beginning: %+v", *v)
	}
	v.do(event.Pause{}) // and on to the end
	v.until("the end", func() bool { return v.done && v.status.Phase == event.Ended && len(v.epochs) == 10 })
	if err := v.Do(v.ctx, event.Pause{On: true}); !errors.Is(err, feed.ErrEnded) {
		t.Errorf("a pause at the end gave %v", err)
	}
	var refused *event.CommandError
	if err := v.Do(v.ctx, event.StepEpoch{}); !errors.As(err, &refused) {
		t.Errorf("a step at the end gave %v", err)
	}
	v.do(event.Seek{Epoch: 99})
	v.do(event.Pause{}) // at the end: from the beginning
	v.until("the beginning", func() bool { return v.restarts == 3 })
	v.until("the end again", func() bool { return v.done && len(v.epochs) == 10 })
}

func TestPlayerIsReadOnly(t *testing.T) {
	v, _ := watch(t, newScript(run(2, 1)...), Options{})
	v.until("the newest", v.at(2))
	for _, c := range []event.Command{
		event.StepInner{}, event.Switch{Optimizer: "sgd"}, event.Set{}, event.Scale{Factor: 2}, event.Spectrum{}, event.Slice{}, event.ShowWeights{},
		event.ShowErrors{}, event.Rewind{}, event.Race{}, event.Pick{}, event.Save{File: "x"}, event.Stop{},
	} {
		if err := v.Do(v.ctx, c); !errors.Is(err, feed.ErrReadOnly) {
			t.Errorf("%T gave %v", c, err)
		}
	}
	for _, factor := range []float64{0, -1, math.NaN(), math.Inf(1), 5000, 0.001} {
		var refused *event.CommandError
		if err := v.Do(v.ctx, event.Speed{Factor: factor}); !errors.As(err, &refused) {
			t.Errorf("a speed of %g gave %v", factor, err)
		}
	}
	v.do(event.Speed{Factor: MaxSpeed})
	v.until("the speed", func() bool { return v.status.Replay.Speed == MaxSpeed })
}

func TestForeignRunGetsABeginning(t *testing.T) {
	v, stop := watch(t, Lines(strings.NewReader(lineOf(1)+"\n"+lineOf(2)+"\n"), "dir/pytorch.log"), Options{})
	v.until("the end of the stream", func() bool { return v.status.Phase == event.Ended })
	if v.run == nil || v.run.Data.Name != "pytorch.log" || v.last() != 2 || v.status.Replay.Stale != "the stream has ended, without an end of the run" {
		t.Errorf("run %+v, epochs %v, %+v", v.run, v.epochs, v.status.Replay)
	}
	if v.status.Replay.Length != 0 {
		t.Errorf("a run without times is said to have taken %v s", v.status.Replay.Length)
	}
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

func TestSourceThatFails(t *testing.T) {
	broken := errors.New("x:7: broken")
	s := newScript()
	s.end = broken
	p := NewPlayer(s, Options{})
	if err := p.Run(limit(t)); !errors.Is(err, broken) {
		t.Errorf("a source without events ended with %v", err)
	}
	s = newScript(run(2, 1)...)
	s.end = broken
	v, stop := watch(t, s, Options{})
	v.until("the error", func() bool { return v.status.Replay != nil && v.status.Replay.Stale == broken.Error() })
	if v.last() != 2 {
		t.Errorf("what came before is not shown: %v", v.epochs)
	}
	v.do(event.Seek{Epoch: 1}) // it can still be looked at
	v.until("epoch 1", v.at(1))
	if err := stop(); !errors.Is(err, broken) {
		t.Errorf("ended with %v", err)
	}
}

func TestSourceThatBeginsAnew(t *testing.T) {
	s := newScript(run(5, 1)...)
	v, _ := watch(t, s, Options{})
	v.until("the newest", v.at(5))
	s.put(nil, append([]event.Event{nil}, run(3, 1)...)...)
	v.until("the restart", func() bool { return v.restarts == 1 && v.last() == 3 && v.status.Replay.Last == 3 })
	// A second run in the stream takes the place of the first.
	s.put(nil, event.RunEvent{ID: "other"}, event.EpochEvent{Epoch: 1})
	v.until("the second run", func() bool { return v.restarts == 2 && v.run.ID == "other" && v.last() == 1 })
	// The same run again goes on, as one does that was resumed.
	s.put(nil, event.RunEvent{ID: "other"}, event.ResumeEvent{Epoch: 1}, event.EpochEvent{Epoch: 2})
	v.until("the rest", func() bool { return v.last() == 2 })
	// One who looks at an earlier epoch stays there.
	v.do(event.Pause{On: true})
	v.do(event.Seek{Epoch: 1})
	s.put(nil, append([]event.Event{nil}, run(9, 1)...)...)
	v.until("the restart", func() bool { return v.status.Replay.Last == 9 })
	v.until("epoch 1", v.at(1))
	if v.status.Phase != event.Paused {
		t.Errorf("%v after a restart", v.status.Phase)
	}
}

func TestSourceWhoseWriterIsGone(t *testing.T) {
	s := newScript(run(2, 1)...)
	s.stale = "its process is gone"
	v, _ := watch(t, s, Options{})
	v.until("that it is gone", func() bool { return v.status.Replay != nil && v.status.Replay.Stale != "" && v.last() == 2 })
	v.until("its end", func() bool { return v.status.Phase == event.Ended && !v.status.Replay.Live })
	s.mu.Lock()
	s.stale = ""
	s.mu.Unlock()
	s.put(nil, run(3, 1)[9:]...)
	v.until("that it is back", func() bool { return v.last() == 3 && v.status.Replay.Live && v.status.Phase == event.Running })
}

// TestDoneIsNotStale: a file that is not written any more because its run is over is as it should be.
func TestDoneIsNotStale(t *testing.T) {
	s := newScript(append(run(2, 1), done(2))...)
	s.stale = "not written since 12:00"
	v, _ := watch(t, s, Options{})
	v.until("its end", func() bool { return v.done && v.status.Phase == event.Ended })
	v.do(event.Seek{Epoch: 1})
	v.until("epoch 1", v.at(1))
	if stale := v.status.Replay.Stale; stale != "" {
		t.Errorf("%q", stale)
	}
}

// Everything ends, whatever the source waits for.
func TestPlayerEndsAtOnce(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	_, stop := watch(t, Lines(r, "-"), Options{})
	time.Sleep(2 * time.Millisecond)
	stop()
}

// TestQuiet: a log that nothing was written to for a minute is quiet, and not live; what does not say it is live.
func TestQuiet(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		last time.Time
		want time.Time
	}{
		{time.Time{}, time.Time{}}, {now.Add(-30 * time.Second), time.Time{}}, {now.Add(-2 * time.Minute), now.Add(-2 * time.Minute)},
	} {
		if got := quietSince(c.last); got != c.want {
			t.Errorf("%v: %v, expected %v", c.last, got, c.want)
		}
	}
}

// TestComplete: a quiet log that has reached the length that it names has ended, for one viewer and for many, until
// more comes; one that has not is quiet.
func TestComplete(t *testing.T) {
	for _, c := range []struct {
		first, last, length int
		want                event.Phase
	}{
		{1, 30, 30, event.Ended}, {0, 29, 30, event.Ended}, {0, 30, 30, event.Ended},
		{1, 29, 30, event.Running}, {1, 30, 0, event.Running},
	} {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		write := func(last int, age time.Duration) {
			lines := ""
			for i := c.first; i <= last; i++ {
				lines += fmt.Sprintf(`{"epoch":%d,"epochs":%d,"loss":1}`+"\n", i, c.length)
			}
			then := time.Now().Add(-age)
			if err := cmp.Or(os.WriteFile(path, []byte(lines), 0o600), os.Chtimes(path, then, then)); err != nil {
				t.Fatal(err)
			}
		}
		write(c.last, 2*time.Minute)
		source, err := File(files.Here(path))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := watch(t, source, Options{})
		v.until("the end", func() bool {
			return v.status.Replay != nil && !v.status.Replay.Quiet.IsZero() && v.status.Phase == c.want
		})
		f, closed := Skim(func() (Source, error) { return File(files.Here(path)) })
		d := skimmed(t, f)
		for d.Status.Replay.Loading < 1 {
			d = skimmed(t, f)
		}
		if got := d.Status; got.Phase != c.want || got.Replay.Live != (c.want == event.Running) {
			t.Errorf("%+v: %v, live %v", c, got.Phase, got.Replay.Live)
		}
		_ = closed()
		write(c.last+1, 0)
		v.until("the rest", func() bool { return v.last() == c.last+1 && v.status.Phase == event.Running })
	}
}
