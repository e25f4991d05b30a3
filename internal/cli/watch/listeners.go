package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/routine"
	"newtop/internal/version"
	"newtop/trainer"
	"newtop/trainer/alert"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/stream"
	"newtop/tui/screen"
)

// listeners are who hears of a source's events: the condition of --until, those of --alert, the record of --save.
type listeners struct {
	until  *untilMet
	saver  *saver
	alerts *caller
	rings  chan screen.RingMsg // what calls on the screen; nil without one
}

// listen has the flags' listeners hear of a source. The source is never nil.
func listen(w *watcher, cmd *cobra.Command, source stream.Source, onScreen bool) (stream.Source, *listeners, error) {
	l := &listeners{}
	if onScreen && w.alerts.wanted() {
		l.rings = make(chan screen.RingMsg, 4)
	}
	if w.until != "" {
		until, err := alert.ParseUntil(w.until)
		if err != nil {
			return source, nil, err
		}
		l.until = &untilMet{until: until, once: w.once, met: make(chan struct{})}
		source = stream.Tap(source, l.until)
	}
	if w.save != "" {
		s, err := newSaver(cmd, w.store, w.save)
		if err != nil {
			return source, nil, err
		}
		l.saver = s
		source = stream.Tap(source, s)
	}
	if w.alerts.wanted() {
		c, err := w.alerts.caller(cmd, l.rings)
		if err != nil {
			return source, nil, cmp.Or(err, l.close(cmd))
		}
		l.alerts = c
		source = stream.Tap(source, c)
	}
	return source, l, nil
}

// context ends when the condition of --until is met.
func (l *listeners) context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if l.until != nil {
		routine.Go(func() {
			select {
			case <-l.until.met:
				cancel()
			case <-ctx.Done():
			}
		})
	}
	return ctx, cancel
}

// over returns what --until makes of an end.
func (l *listeners) over(cmd *cobra.Command, err error) error {
	switch {
	case l.until == nil:
		return err
	case l.until.isMet():
		fmt.Fprintln(cmd.ErrOrStderr(), "newtop:", print.Printable(l.until.text()))
		return nil
	case err == nil:
		return &print.ExitError{Code: print.ExitFailed, Err: errors.New(l.until.text())}
	}
	return err
}

// close ends the record and has the last alerts delivered.
func (l *listeners) close(cmd *cobra.Command) error {
	if l.alerts != nil {
		l.alerts.close()
	}
	if l.saver == nil {
		return nil
	}
	return l.saver.close(cmd)
}

// untilMet waits for a condition.
type untilMet struct {
	until *alert.Until
	once  bool          // the run may continue behind what is read
	met   chan struct{} // closed once it is
	mu    sync.Mutex
	run   event.RunEvent
	epoch int
	done  bool
}

func (u *untilMet) See(e event.Event, _ bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done {
		return
	}
	switch e := e.(type) {
	case event.RunEvent:
		u.run = e
	case event.EpochEvent:
		u.epoch = e.Epoch
	}
	if u.until.See(e) {
		u.done = true
		close(u.met)
	}
}

func (u *untilMet) Restart() {}

func (u *untilMet) isMet() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.done
}

// text say how it ended.
func (u *untilMet) text() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done {
		return fmt.Sprintf("%s at %s %d", u.until, u.run.Counted(), u.epoch)
	}
	words := fmt.Sprintf("the run ended at %s %d before %s", u.run.Counted(), u.epoch, u.until)
	if u.once {
		words = fmt.Sprintf("by %s %d not yet %s", u.run.Counted(), u.epoch, u.until)
	}
	if missing := u.until.Missing(); len(missing) > 0 {
		words += ", and never reported " + print.Names(missing)
	}
	return words
}

// saver records what is watched. Where a source begins again, what comes again is passed over, and what differs is
// recorded behind a way back to the last epoch that they have in common.
type saver struct {
	store  *store.Store
	about  recorder.About
	id     string // the watched run's own
	out    *recorder.Recorder
	seed   maphash.Seed
	given  []uint64 // hashes of the events that were recorded
	same   int      // how many of them came again since the source began again
	latest int      // the epoch that was recorded last
	common int      // the last epoch among those that came again
	// the run's beginning until something happened in it, as it may be reported again with more
	opening *event.RunEvent
	pending *event.EpochEvent // the newest epoch, of which more may be reported
	err     error
}

func newSaver(cmd *cobra.Command, a job.StoreFlags, name string) (*saver, error) {
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	s, err := a.Open(store.Options{})
	if err != nil {
		return nil, err
	}
	return &saver{store: s, seed: maphash.MakeSeed(), about: recorder.About{Name: name, Version: version.Program(),
		Command: cmd.Root().Annotations[flags.CommandLine]}}, nil
}

// See records an event.
func (s *saver) See(e event.Event, _ bool) {
	run, begins := e.(event.RunEvent)
	if _, console := e.(event.ConsoleEvent); console || s.err != nil {
		return
	}
	text, err := event.EncodeEvent(e)
	if err != nil {
		s.err = err
		return
	}
	hash := maphash.Bytes(s.seed, text)
	epoch, isEpoch := e.(event.EpochEvent)
	if s.same < len(s.given) {
		if s.given[s.same] == hash {
			s.same++
			if isEpoch {
				s.common = epoch.Epoch
			}
			return
		}
		s.given = s.given[:s.same]
		if s.common < s.latest && !begins {
			s.record(event.RewindEvent{Epoch: s.latest, To: s.common})
		}
	}
	s.given = append(s.given, hash)
	s.same++
	if isEpoch {
		s.latest, s.common = epoch.Epoch, epoch.Epoch
	}
	switch {
	case begins && s.out != nil && run.ID == s.id: // it says more of itself, which a record says once
		if s.opening != nil {
			run.ID, run.Time = s.opening.ID, s.opening.Time
			s.opening = &run
		}
	case begins:
		s.start(run)
	default:
		s.record(e)
	}
}

// start begins a record, and ends the one before. A run in which nothing happened has none.
func (s *saver) start(run event.RunEvent) {
	s.opening = nil
	s.finish()
	s.id = run.ID
	if run.Time.IsZero() {
		run.Time = time.Now().UTC().Truncate(time.Millisecond)
	}
	run.ID = trainer.NewID(time.Now())
	s.out = recorder.New(s.store, s.about)
	s.opening = &run
}

// maxPending is how many figures an epoch that is held has at most: it may get many that were told late.
const maxPending = 4096

// record records an event. An epoch is held until the next event, as what is told of it later belongs to it.
func (s *saver) record(e event.Event) {
	epoch, is := e.(event.EpochEvent)
	if is && s.pending != nil && s.pending.Epoch == epoch.Epoch && len(s.pending.Metrics) < maxPending {
		*s.pending = s.pending.With(&epoch)
		return
	}
	s.release()
	s.open()
	if is {
		s.pending = &epoch
		return
	}
	s.append(e)
}

// open records the run's beginning.
func (s *saver) open() {
	if s.opening != nil {
		s.append(*s.opening)
		s.opening = nil
	}
}

// release records the epoch that is held.
func (s *saver) release() {
	if s.pending != nil {
		s.append(*s.pending)
		s.pending = nil
	}
}

func (s *saver) append(e event.Event) {
	if s.out != nil && s.err == nil {
		s.err = s.out.Record(e)
	}
}

func (s *saver) finish() {
	s.release()
	s.open()
	if s.out != nil {
		s.err = cmp.Or(s.err, s.out.Flush())
	}
}

// Restart begins the comparison with what was recorded.
func (s *saver) Restart() { s.same, s.common = 0, 0 }

// close ends the record and says where it is.
func (s *saver) close(cmd *cobra.Command) error {
	s.finish()
	if s.out != nil && s.err == nil {
		name := s.out.Recording().Run
		fmt.Fprintf(cmd.ErrOrStderr(), "recorded as %s: newtop runs show %s\n", name, name)
	}
	return cmp.Or(s.err, s.store.Close())
}
