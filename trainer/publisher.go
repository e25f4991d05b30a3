package trainer

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// publisher sends events and the status to everyone: to viewers by the broadcaster, to each recorder by a queue of its
// own.
type publisher struct {
	ctx        context.Context
	viewers    *feed.Broadcaster
	recordings []*recording
	status     func() event.Status
	shown      pulse // since the status was last published
}

// publish sends an event, or the status alone, to everyone.
func (p *publisher) publish(e event.Event) {
	p.shown.restart(statusInterval)
	if e != nil {
		for _, rec := range p.recordings {
			rec.put(p.ctx, entry{event: e})
		}
	}
	p.viewers.Publish(e, p.status())
}

// failed returns the first error of a recorder that is known.
func (p *publisher) failed() error {
	for _, rec := range p.recordings {
		if err := rec.failure(); err != nil {
			return err
		}
	}
	return nil
}

// finish waits for the recorders after the last event. It returns how the run ended: by err, or by a recorder's error
// where that says more.
func (p *publisher) finish(err error) error {
	for _, rec := range p.recordings {
		if failed := rec.finish(p.ctx); failed != nil && (err == nil || errors.Is(err, context.Canceled)) {
			err = failed
		}
	}
	return err
}

// statusInterval is the least time between two status snapshots of a method that goes through batches:
// often enough for an eye, too seldom to cost anything.
const statusInterval = 50 * time.Millisecond

// pulse tells when some time has passed without looking at a clock, which takes as long as a row of a small net.
// One goroutine restarts and stops it.
type pulse struct {
	over  atomic.Bool
	timer *time.Timer
}

func (p *pulse) restart(after time.Duration) {
	p.over.Store(false)
	if p.timer == nil {
		p.timer = time.AfterFunc(after, func() { p.over.Store(true) })
		return
	}
	p.timer.Reset(after)
}

func (p *pulse) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
