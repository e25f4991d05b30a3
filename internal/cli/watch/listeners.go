package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/routine"
	"newtop/internal/version"
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
		c.gone = func() string { return stream.Stale(source) }
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
	if l.until != nil {
		l.until.end(l.saver)
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
	over  bool // the run has said its end
}

func (u *untilMet) See(e event.Event, _ bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ends := e.(event.DoneEvent)
	if u.over = u.over || ends; u.done {
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

// end gives the record of a run that the condition ended its end, which the run has not said.
func (u *untilMet) end(s *saver) {
	u.mu.Lock()
	defer u.mu.Unlock()
	done := event.UnknownDone()
	done.Epochs = u.epoch
	if done.Reason, done.Message = u.until.Reached(); u.done && !u.over {
		s.See(done, false)
	}
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

// saver records what is watched in a store of its own.
type saver struct {
	*recorder.Watched
	store *store.Store
}

func newSaver(cmd *cobra.Command, a job.StoreFlags, name string) (*saver, error) {
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	s, err := a.Open(store.Options{})
	if err != nil {
		return nil, err
	}
	return &saver{recorder.NewWatched(s, recorder.About{Name: name, Version: version.Program(),
		Command: cmd.Root().Annotations[flags.CommandLine]}), s}, nil
}

// close ends the record and says where it is.
func (s *saver) close(cmd *cobra.Command) error {
	r, err := s.Finish()
	if r != nil && err == nil {
		if err = job.Missing(cmd.Context(), r); err == nil {
			name := r.Recording().Run
			fmt.Fprintf(cmd.ErrOrStderr(), "recorded as %s: newtop runs show %s\n", name, name)
		}
	}
	return cmp.Or(err, s.store.Close())
}

// Warning says what is wrong with the record.
func (s *saver) Warning() string {
	_, r := s.Recording()
	if r == nil {
		return ""
	}
	return r.Recording().Warning
}
