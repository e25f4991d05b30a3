package stream

import (
	"context"
	"errors"
	"time"

	"newtop/trainer/event"
)

// Listener is told of a source's events. Its methods are called by the goroutine that reads the source.
type Listener interface {
	// See takes the next event; live says that it came after all that was there had been read, or from a pipe. The
	// first one is a RunEvent.
	See(e event.Event, live bool)
	// Restart says that what was seen is void and comes again.
	Restart()
}

// asking is how long a listener that is told of nothing waits to be called.
const asking = time.Second

// Tap returns the source with a listener, which sees every event that Next returns. If it has a method Idle(), that is
// called about once a second while no events come, by the same goroutine.
func Tap(s Source, l Listener) Source {
	return &tap{Source: s, listener: l, live: told(s, fresh.Live)}
}

type tap struct {
	Source
	listener Listener
	started  bool
	live     bool
}

func (t *tap) Next(ctx context.Context) (event.Event, error) {
	e, err := t.Source.Next(ctx)
	switch {
	case errors.Is(err, ErrRestart):
		t.started = false
		t.listener.Restart()
	case errors.Is(err, ErrNone):
		t.live = true
		if l, ok := t.listener.(interface{ Idle() }); ok {
			l.Idle()
		}
	case err == nil:
		if _, is := e.(event.RunEvent); !is && !t.started {
			t.listener.See(event.RunEvent{Version: 1, Data: event.DataInfo{Name: NameOf(t.Name())}}, t.live)
		}
		t.started = true
		t.listener.See(e, t.live)
	}
	return e, err
}

// Wait returns after a while, though nothing may have come, if the listener is to be asked.
func (t *tap) Wait(ctx context.Context) error {
	if _, ok := t.listener.(interface{ Idle() }); !ok {
		return t.Source.Wait(ctx)
	}
	short, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	if err := t.Source.Wait(short); ctx.Err() != nil || short.Err() == nil {
		return err
	}
	return nil
}

// Warning is the listener's, which may have one, or else the source's.
func (t *tap) Warning() string {
	l, ok := t.listener.(warner)
	if ok && l.Warning() != "" {
		return l.Warning()
	}
	return Warning(t.Source)
}

// Unwrap is the source itself.
func (t *tap) Unwrap() Source { return t.Source }
