package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// trial is a Trial with what runs it. The search's goroutine alone touches it.
type trial struct {
	Trial
	config trainer.Config
	scores []float64 // what it had on each rung it came to
	barred bool      // given up for good, however long the search goes on
	parent *trial    // of a final, the trial that it repeats

	session  *trainer.Session // nil: it has none
	recorder *store.Recorder  // of a new run; nil where the run is in the store, or nothing more will come of it
	seated   bool             // it holds a place: its session trains, or is about to end
	pausing  bool             // it will pause at the end of the epoch under way
	heard    int              // the newest epoch that the search has heard of in this session
	pausedAt int              // the epoch after which it has paused; −1: it has not yet
	leaving  bool             // it is paused, and its session ends to make room
	ended    *event.DoneEvent
	queue    []figure // epochs that nobody has looked at
	room     int64    // bytes that its session takes, roughly
	curve    thinned
}

// figure is what a search sees of an epoch.
type figure struct {
	epoch                int
	value, loss          float64
	equivalents, seconds float64
}

// report is what the goroutines of a trial's session tell the search's.
type report struct {
	trial   *trial
	opening *event.RunEvent
	figure  *figure
	paused  bool
	epoch   int // after which it has paused
	ended   *event.DoneEvent
}

// tap is the Recorder that lets the search see a session's events. It waits for the search; the trainer does not wait
// for it.
type tap struct {
	search *Search
	trial  *trial
}

func (p *tap) Record(e event.Event) error {
	switch e := e.(type) {
	case event.RunEvent:
		p.search.reports <- report{trial: p.trial, opening: &e}
	case event.EpochEvent:
		f := p.search.figureOf(&e)
		p.search.reports <- report{trial: p.trial, figure: &f}
	}
	return nil
}

func (p *tap) Flush() error { return nil }

// figureOf returns an epoch's figures; the value is the one that trials are judged by.
func (s *Search) figureOf(e *event.EpochEvent) figure {
	f := figure{
		epoch: e.Epoch, loss: float64(e.Loss), value: float64(e.Loss),
		equivalents: float64(e.GradientEquivalents), seconds: float64(e.Elapsed),
	}
	switch s.measure {
	case measureError:
		f.value = float64(e.TestError)
	case measureRMSE:
		f.value = float64(e.TestRMSE)
	}
	return f
}

// start gives a trial a session: a new one, or one that goes on with its run.
func (s *Search) start(ctx context.Context, t *trial) {
	t.heard = -1
	session, err := s.open(ctx, t)
	if err != nil {
		t.ended = &event.DoneEvent{Reason: event.ReasonFailed, Message: oneLine(err)}
		s.look(ctx, t)
		return
	}
	t.session = session
	s.seat(t, true)
	s.sessions++
	go func() {
		err := session.Run(context.WithoutCancel(ctx)) // which a Stop ends in order
		s.reports <- report{trial: t, ended: endOf(session, err)}
	}()
	s.look(ctx, t)
}

// open returns the session of a trial.
func (s *Search) open(ctx context.Context, t *trial) (*trainer.Session, error) {
	watcher := &tap{search: s, trial: t}
	if t.Run != "" && !t.Final {
		session, err := s.goOn(ctx, t, watcher)
		var gone *store.NotFoundError
		if !errors.As(err, &gone) {
			return session, err
		}
	}
	recorder := s.store.Record(store.About{
		Config: t.config, Command: s.command(&t.config), Name: fmt.Sprintf("%s.%d", s.config.Name, t.Number), Version: s.config.Version,
	})
	session, err := trainer.New(t.config, recorder, watcher)
	if err != nil {
		recorder.Flush()
		return nil, err
	}
	t.recorder = recorder
	return session, nil
}

// goOn returns a session that goes on with a trial's run. Epochs that the search has not seen yet wait in the trial's
// queue.
func (s *Search) goOn(ctx context.Context, t *trial, watcher *tap) (*trainer.Session, error) {
	recorder, err := s.store.Continue(ctx, t.Run)
	if err != nil {
		return nil, err
	}
	rest, err := recorder.Resumable(ctx)
	if err != nil {
		recorder.Flush()
		return nil, err
	}
	session, err := trainer.Resume(t.config, rest.From, rest.History, recorder, watcher)
	if err != nil {
		recorder.Flush()
		return nil, err
	}
	if rest.From != nil {
		t.heard = rest.From.Epoch
	}
	for _, e := range rest.History {
		if e, ok := e.(event.EpochEvent); ok && (rest.From == nil || e.Epoch <= rest.From.Epoch) {
			t.queue = append(t.queue, s.figureOf(&e))
		}
	}
	return session, nil
}

// endOf returns a session's last event, with the words of an error that it ended with.
func endOf(session *trainer.Session, err error) *event.DoneEvent {
	box := session.Subscribe()
	defer box.Close()
	done := &event.DoneEvent{Reason: event.ReasonFailed}
	if d, failed := box.Wait(context.Background()); failed == nil && d.Done != nil { // a run that is over is never waited for
		end := *d.Done
		done = &end
		if d.Diverged != nil {
			done.Message = d.Diverged.Reason
		}
	}
	if done.Reason == event.ReasonFailed && err != nil {
		done.Message = oneLine(err)
	}
	return done
}

// pause has a trial's session stop at the end of the epoch under way and keep its place until then.
func (s *Search) pause(ctx context.Context, t *trial) {
	t.pausing, t.pausedAt = true, -1
	session := t.session
	s.asks.Go(func() {
		err := session.Do(ctx, event.StepEpoch{})
		var early *event.CommandError // it has its data prepared still, and may pause before its first epoch
		if errors.As(err, &early) {
			err = session.Do(ctx, event.Pause{On: true})
		}
		if err != nil {
			return // it has ended, as its own report tells
		}
		box := session.Subscribe()
		defer box.Close()
		for {
			d, err := box.Wait(ctx)
			if err != nil || d.Status.Phase == event.Ended {
				return
			}
			if d.Status.Phase == event.Paused {
				s.reports <- report{trial: t, paused: true, epoch: d.Status.Epoch}
				return
			}
		}
	})
}

// tell gives a trial's session a command without waiting for it.
func (s *Search) tell(ctx context.Context, t *trial, c event.Command) {
	if session := t.session; session != nil {
		s.asks.Go(func() { _ = session.Do(ctx, c) }) // which fails where it has ended
	}
}

// oneLine writes an error in one line.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// mostPoints bounds a trial's curve.
const mostPoints = 64

// thinned is a curve of bounded length. What it has given out is never changed.
type thinned struct {
	points []Point
	every  int // epochs between two points
	count  int
}

// add appends a point unless the curve leaves it out.
func (c *thinned) add(p Point) {
	if c.every == 0 {
		c.every = 1
	}
	if c.count++; (c.count-1)%c.every != 0 {
		return
	}
	if len(c.points) >= mostPoints {
		var half []Point
		for i := 0; i < len(c.points); i += 2 {
			half = append(half, c.points[i])
		}
		c.points, c.every = half, 2*c.every
		if (c.count-1)%c.every != 0 {
			return
		}
	}
	c.points = append(c.points, p)
}

// account adds an epoch to what is known of a trial.
func (t *trial) account(f *figure) {
	t.Epochs, t.Seconds, t.Equivalents = f.epoch, f.seconds, f.equivalents
	t.Last, t.Loss = event.Float(f.value), event.Float(f.loss)
	if f.epoch > 0 && !math.IsNaN(f.value) && !(float64(t.Best) <= f.value) { // the starting weights are nobody's work
		t.Best, t.BestEpoch = event.Float(f.value), f.epoch
	}
	t.curve.add(Point{Seconds: f.seconds, Equivalents: f.equivalents, Value: event.Float(f.value)})
	t.Curve = t.curve.points
}
