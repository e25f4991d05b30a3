package stream

import (
	"context"
	"errors"
	"io"
	"sync"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// Skim returns a feed of a source for one viewer, who remembers what it is given: nothing of the run is kept here,
// and nothing is read but while the viewer waits. The source is opened then, and closed by closed, which returns why it
// could not be read, and ends the feed.
func Skim(open func() (Source, error)) (f feed.Feed, closed func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &skim{open: open, relay: feed.NewPassing(), ctx: ctx, cancel: cancel, first: -1}
	s.Feed = s.relay.Feed()
	return s, s.end
}

// skim reads a source on its viewer's goroutine.
type skim struct {
	feed.Feed // of the relay
	relay     *feed.Relay
	open      func() (Source, error)
	ctx       context.Context // ends with the feed
	cancel    context.CancelFunc

	mu     sync.Mutex // held while the viewer waits, or the feed is closed; guards what follows
	source Source
	over   error           // why no more will come
	run    *event.RunEvent // nil: none was given
	first  int             // its first epoch, −1 before it
	last   int             // its latest epoch
	done   bool            // it has ended
	read   bool            // all that was there was given
	void   bool            // what was given is, once there is something else
	shown  event.Replay    // the newest
}

// Wait reads what is new.
func (s *skim) Wait(ctx context.Context) (feed.Delta, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, routine.Guard(cancel))()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.source == nil && s.over == nil && s.ctx.Err() == nil {
		s.source, s.over = s.open()
	}
	for s.over == nil && s.ctx.Err() == nil && ctx.Err() == nil {
		if b := gather(ctx, s.source); ctx.Err() != nil || s.take(&b) {
			break
		} else if !errors.Is(b.err, ErrNone) {
			continue
		}
		if err := s.source.Wait(ctx); err != nil && ctx.Err() == nil {
			s.over = err
		}
	}
	switch {
	case s.ctx.Err() != nil:
		return feed.Delta{}, io.EOF
	case s.over != nil && s.run == nil:
		return feed.Delta{}, s.over
	}
	return s.Feed.Wait(ctx)
}

// take gives the viewer a batch, and reports whether there was something new.
func (s *skim) take(b *batch) bool {
	var events []event.Event
	for _, e := range b.events {
		if run, is := e.(event.RunEvent); is || s.run == nil {
			if s.run != nil && s.run.ID != "" && s.run.ID != run.ID { // another takes its place
				events, s.void, s.first = nil, true, -1
			}
			if run.Data.Name == "" {
				run.Data.Name = NameOf(b.name)
			}
			s.run, s.done = &run, false
			events = append(events, run)
			if is {
				continue
			}
		}
		switch e := e.(type) {
		case event.EpochEvent:
			if s.last = e.Epoch; s.first < 0 {
				s.first = e.Epoch
			}
		case event.DoneEvent:
			s.done = true
		case event.ResumeEvent:
			s.done = false
		}
		events = append(events, e)
	}
	switch {
	case errors.Is(b.err, ErrRestart):
		s.void, s.read, s.run, s.first = true, false, nil, -1
		return false
	case errors.Is(b.err, ErrNone):
		s.read = true
	case b.err != nil:
		s.read, s.over = true, b.err
	}
	before := s.shown
	s.shown = event.Replay{Source: b.name, Speed: 1, Loading: 1, Quiet: b.quiet, Warning: b.warning}
	switch {
	case !s.read:
		s.shown.Loading = min(max(b.read, 0.001), 0.999)
	case s.done:
	case errors.Is(s.over, io.EOF):
		s.shown.Stale = unended
	case s.over != nil:
		s.shown.Stale = s.over.Error()
	default:
		s.shown.Stale, s.shown.Live = b.stale, b.stale == "" && !complete(s.run, s.first, s.last, b.quiet)
	}
	if len(events) == 0 && s.shown == before {
		return false
	}
	show := s.relay.Show
	if s.void && len(events) > 0 {
		show, s.void = s.relay.Restart, false
	}
	show(events, s.status)
	return true
}

// status makes the status that of the run as it is shown.
func (s *skim) status(now *event.Status) {
	r := s.shown
	r.Epoch, r.Last = now.Epoch, now.Epoch
	switch now.Replay = &r; {
	case !s.read || s.run == nil:
		now.Phase = event.Preparing
	case !r.Live:
		now.Phase = event.Ended
	default:
		now.Phase = event.Running
	}
}

func (s *skim) end() error {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Feed.Close()
	if s.source != nil {
		s.over = errors.Join(s.over, s.source.Close())
		s.source = nil
	}
	if errors.Is(s.over, io.EOF) {
		return nil
	}
	return s.over
}
