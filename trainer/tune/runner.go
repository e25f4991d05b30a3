package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"newtop/internal/routine"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
)

// runner gives trials their sessions, and has these pause and end. What they do comes back as reports.
type runner struct {
	config   *Config
	space    *space
	metric   *metric // of programs
	places   []bool  // whether a trial has it
	store    *store.Store
	measure  measure        // what trials are judged by
	live     map[int]*trial // with a session, or paused
	sessions int            // that have not reported their end
	claimed  int            // places
	parked   int            // sessions that are kept while they pause
	reports  chan report
	requests sync.WaitGroup // goroutines that give commands
}

// judges names what trials are judged by; empty: nobody knows yet.
func (r *runner) judges() string {
	if r.metric != nil {
		return r.metric.name()
	}
	return r.measure.named("validation")
}

// report is what the goroutines of a trial's session tell the search's.
type report struct {
	trial   *trial
	opening *event.RunEvent
	metrics *epochMetrics
	paused  bool
	epoch   int // after which it has paused
	ended   *event.DoneEvent
}

// tap is the Recorder that lets the search see a session's events. It waits for the search; the trainer does not wait
// for it.
type tap struct {
	runner *runner
	trial  *trial
}

func (p *tap) Record(e event.Event) error {
	switch e := e.(type) {
	case event.RunEvent:
		p.runner.reports <- report{trial: p.trial, opening: &e}
	case event.EpochEvent:
		f := metricsOf(&e, p.runner.measure)
		p.runner.reports <- report{trial: p.trial, metrics: &f}
	}
	return nil
}

func (p *tap) Flush() error { return nil }

// start gives a trial a session: a new one, or one that continues with its run.
func (r *runner) start(ctx context.Context, t *trial) error {
	t.received = -1
	r.seat(t, true)
	session, err := r.open(ctx, t)
	if err != nil {
		r.seat(t, false)
		return err
	}
	t.session = session
	r.sessions++
	routine.Go(func() {
		done := session.Run(context.WithoutCancel(ctx)) // which a Stop ends in order
		r.reports <- report{trial: t, ended: done}
	})
	return nil
}

// network is the session of a net of newtop's.
type network struct{ *trainer.Session }

func (n network) Run(ctx context.Context) *event.DoneEvent {
	return endOf(n.Session, n.Session.Run(ctx))
}

// seat gives a trial a place, or takes it away.
func (r *runner) seat(t *trial, on bool) {
	switch {
	case t.seated == on:
	case on:
		r.claimed++
		if t.place = slices.Index(r.places, false); t.place < 0 {
			t.place, r.places = len(r.places), append(r.places, false)
		}
		r.places[t.place] = true
	default:
		r.claimed--
		r.places[t.place] = false
	}
	t.seated = on
}

// open returns the session of a trial.
func (r *runner) open(ctx context.Context, t *trial) (session, error) {
	if r.config.Program != nil {
		return r.launch(ctx, t)
	}
	watcher := &tap{r, t}
	if t.Run != "" {
		session, err := r.goOn(ctx, t, watcher)
		var gone *store.NotFoundError
		if !errors.As(err, &gone) {
			return network{session}, err
		}
	}
	rec := recorder.New(r.store, recorder.About{
		Config: t.config, Command: r.config.command(&t.config), Name: fmt.Sprintf("%s.%d", r.config.Name, t.Number),
		Version: r.config.Version,
	})
	session, err := trainer.New(t.config, rec, watcher)
	if err != nil {
		rec.Flush()
		return nil, err
	}
	t.recorder = rec
	return network{session}, nil
}

// goOn returns a session that continues with a trial's run. Epochs that the search has not seen yet wait in the trial's
// queue.
func (r *runner) goOn(ctx context.Context, t *trial, watcher *tap) (session *trainer.Session, err error) {
	rec, err := recorder.Continue(ctx, r.store, t.Run)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			rec.Flush()
		}
	}()
	rest, err := recorder.Resumable(ctx, rec)
	if err != nil {
		return nil, err
	}
	if session, err = trainer.Resume(t.config, rest.From, rest.History, rec, watcher); err != nil {
		return nil, err
	}
	if rest.From != nil {
		t.received = rest.From.Epoch
	}
	for _, e := range rest.History {
		if e, ok := e.(event.EpochEvent); ok && (rest.From == nil || e.Epoch <= rest.From.Epoch) {
			t.queue = append(t.queue, metricsOf(&e, r.measure))
		}
	}
	return session, nil
}

// endOf returns a session's last event, with the words of an error that it ended with.
func endOf(session *trainer.Session, err error) *event.DoneEvent {
	box := session.Subscribe()
	defer box.Close()
	done := &event.DoneEvent{Reason: event.ReasonFailed}
	// a run that is over is never waited for
	if d, failed := box.Wait(context.Background()); failed == nil && d.Done != nil {
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
func (r *runner) pause(ctx context.Context, t *trial) {
	t.pausing, t.pausedAt = true, -1
	session := t.session.(network) // programs do not pause
	r.requests.Go(routine.Guard(func() {
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
				r.reports <- report{trial: t, paused: true, epoch: d.Status.Epoch}
				return
			}
		}
	}))
}

// decided frees the place of a trial that has paused, once all that it did before has been heard of: what came later
// could be mistaken for what it does when it continues. It reports whether it did.
func (r *runner) decided(t *trial) bool {
	if !t.pausing || t.pausedAt < 0 || t.received < t.pausedAt {
		return false
	}
	t.pausing = false
	r.seat(t, false)
	return true
}

// send gives a trial's session a command without waiting for it.
func (r *runner) send(ctx context.Context, t *trial, c event.Command) {
	if session := t.session; session != nil {
		r.requests.Go(routine.Guard(func() { _ = session.Do(ctx, c) })) // which fails where it has ended
	}
}

// Bounds of the sessions that are kept while they pause.
const (
	maxParked = 64
	parkRoom  = 512 << 20 // bytes
)

// makeRoom ends sessions of paused trials, the hindmost first, until the others take no more room than they may. A
// trial resumes from its checkpoint if it is taken up again.
func (r *runner) makeRoom(ctx context.Context) {
	var parked []*trial
	room := int64(0)
	for _, t := range r.live {
		if t.State == Paused && t.session != nil && !t.pausing && !t.leaving {
			parked = append(parked, t)
			room += t.room
		}
	}
	sign := event.Float(r.config.sign())
	slices.SortFunc(parked, func(a, b *trial) int {
		return cmp.Or(cmp.Compare(sign*a.Best, sign*b.Best), cmp.Compare(a.Number, b.Number))
	})
	for len(parked) > 0 && (room > parkRoom || len(parked) > r.parked) {
		t := parked[len(parked)-1]
		parked = parked[:len(parked)-1]
		room -= t.room
		t.leaving = true
		r.send(ctx, t, event.Stop{})
	}
}

// roomOf estimates the bytes of a session: its data, and what its passes keep of every row.
func roomOf(e *event.RunEvent) int64 {
	nodes := 0
	for _, n := range e.Model.Layers {
		nodes += n
	}
	rows := e.Data.TrainRows + e.Data.TestRows
	return 8 * (int64(rows)*int64(e.Data.Inputs+e.Data.Outputs+4*nodes) + 16*int64(e.Model.Parameters))
}

// drain waits for the goroutines that give commands, one of which may still tell of a session that is over.
func (r *runner) drain() {
	done := make(chan struct{})
	routine.Go(func() {
		r.requests.Wait()
		close(done)
	})
	for {
		select {
		case <-r.reports:
		case <-done:
			return
		}
	}
}
