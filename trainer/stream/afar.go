package stream

import (
	"context"
	"errors"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/logs/shape"
)

// Elsewhere is another host, as far as it matters whether it can be asked.
type Elsewhere interface {
	// Away says in a line why the host can't be asked for now; empty: it can be.
	Away() string
	// Changed returns a channel that is closed when Away may say something else.
	Changed() <-chan struct{}
}

// Afar returns a source of a log on another host, which open opens when it is first asked. Its files wait while the
// host is away: it has a goroutine of its own read them, and says that nothing is there yet, and why.
func Afar(name string, host Elsewhere, open func() (Source, error)) Source {
	s := &afar{host: host, open: open, now: flown{name: name}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// afar has at most one flight, a goroutine to which the source beneath belongs from its start until what it brought was
// received.
type afar struct {
	host    Elsewhere
	open    func() (Source, error)
	options shape.Options
	final   bool
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc

	source Source
	flight chan flown // nil: there is none
	now    flown      // what the last one brought
	away   string
}

// flown is what a flight brings.
type flown struct {
	source                  Source
	events                  []event.Event
	err                     error
	name                    string
	read                    float64
	written                 time.Time
	stale, warning, waiting string
}

// Configure and Final of a source that may not be open yet.
func (s *afar) configure(o shape.Options) { s.options = o }
func (s *afar) Final()                    { s.final = true }

// lend lends nothing: a flight would give epochs before the events that wait for their turn.
func (s *afar) lend(func(*event.EpochEvent)) {}

// start starts a flight, which waits for news first or not.
func (s *afar) start(waits bool) {
	flight := make(chan flown, 1)
	source, final, name := s.source, s.final, s.now.name
	s.flight = flight
	routine.Go(func() { flight <- s.fly(source, name, waits, final) })
}

func (s *afar) fly(source Source, name string, waits, final bool) (f flown) {
	f = flown{source: source, name: name}
	switch {
	case source == nil:
		if source, f.err = s.open(); f.err != nil {
			return f
		}
		f.source = source
		Configure(source, s.options)
	case waits:
		if f.err = source.Wait(s.ctx); f.err != nil {
			return f
		}
	}
	if final {
		Final(source)
	}
	for f.err == nil && len(f.events) < batchEvents {
		e, err := source.Next(s.ctx)
		if f.err = err; err == nil && e != nil {
			f.events = append(f.events, e)
		}
	}
	f.name, f.read = source.Name(), source.Read()
	if f.err != nil {
		f.written, f.stale, f.warning, f.waiting = Written(source), Stale(source), Warning(source), Waiting(source)
	}
	return f
}

func (s *afar) land(f flown) { s.flight, s.source, s.now, s.away = nil, f.source, f, "" }

func (s *afar) Next(ctx context.Context) (event.Event, error) {
	for {
		if len(s.now.events) > 0 {
			e := s.now.events[0]
			s.now.events = s.now.events[1:]
			return e, nil
		}
		switch err := s.now.err; {
		case errors.Is(err, ErrNone), errors.Is(err, ErrRestart):
			s.now.err = nil
			return nil, err
		case err != nil:
			return nil, err
		}
		if s.flight == nil {
			s.start(false)
		}
		changed := s.host.Changed()
		away := s.host.Away()
		if away != "" {
			select {
			case f := <-s.flight:
				s.land(f)
				continue
			default:
			}
			if s.away = away; s.final {
				return nil, errors.New(away)
			}
			return nil, ErrNone
		}
		select {
		case f := <-s.flight:
			s.land(f)
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *afar) Wait(ctx context.Context) error {
	if s.flight == nil {
		s.start(true)
	}
	changed := s.host.Changed()
	if s.host.Away() != s.away {
		return nil
	}
	select {
	case f := <-s.flight:
		s.land(f)
	case <-changed:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func (s *afar) Read() float64 { return s.now.read }

func (s *afar) Name() string { return s.now.name }

// Written, Stale, Waiting and Warning are as of the last flight, but for a host that is away.
func (s *afar) Written() time.Time { return s.now.written }

func (s *afar) Stale() string {
	if s.away != "" {
		return ""
	}
	return s.now.stale
}

func (s *afar) Waiting() string {
	if s.away != "" {
		return s.away
	}
	return s.now.waiting
}

func (s *afar) Warning() string {
	if s.away != "" {
		return s.away
	}
	return s.now.warning
}

// Unwrap is the source beneath while it is not being read.
func (s *afar) Unwrap() Source {
	if s.flight != nil {
		return nil
	}
	return s.source
}

// Close closes the source beneath when that returns, for which nobody waits long.
func (s *afar) Close() error {
	s.cancel()
	closed := make(chan error, 1)
	source, flight := s.source, s.flight
	routine.Go(func() {
		if flight != nil {
			source = (<-flight).source
		}
		var err error
		if source != nil {
			err = source.Close()
		}
		closed <- err
	})
	timer := time.NewTimer(Moment)
	defer timer.Stop()
	select {
	case err := <-closed:
		return err
	case <-timer.C:
		return nil
	}
}
