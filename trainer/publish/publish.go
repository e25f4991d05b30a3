// Package publish sends the events and the status of a run to viewers and recorders.
package publish

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/checkpoint"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// Publisher sends events and the status to everyone: to viewers by the broadcaster, to each recorder by a queue of its
// own.
type Publisher struct {
	Ctx         context.Context
	Viewers     *feed.Broadcaster
	Recordings  []*checkpoint.Recording
	Status      func() event.Status
	StatusPulse pulse // since the status was last published
}

// Publish sends an event, or the status alone, to everyone.
func (p *Publisher) Publish(e event.Event) {
	p.StatusPulse.restart(statusInterval)
	if e != nil {
		for _, rec := range p.Recordings {
			rec.Enqueue(p.Ctx, checkpoint.Entry{Event: e})
		}
	}
	p.Viewers.Publish(e, p.Status())
}

// FirstError returns the first error of a recorder that is known.
func (p *Publisher) FirstError() error {
	for _, rec := range p.Recordings {
		if err := rec.FirstError(); err != nil {
			return err
		}
	}
	return nil
}

// Finish waits for the recorders after the last event. It returns how the run ended: by err, or by a recorder's error
// where that says more.
func (p *Publisher) Finish(err error) error {
	for _, rec := range p.Recordings {
		if failed := rec.Finish(p.Ctx); failed != nil && (err == nil || errors.Is(err, context.Canceled)) {
			err = failed
		}
	}
	return err
}

// statusInterval is the least time between two status snapshots of a method that goes through batches:
// often enough for an eye, too seldom to cost anything.
const statusInterval = 50 * time.Millisecond

// pulse reports when some time has passed without looking at a clock, which takes as long as a row of a small net.
// One goroutine restarts and stops it.
type pulse struct {
	Expired atomic.Bool
	timer   *time.Timer
}

func (p *pulse) restart(after time.Duration) {
	p.Expired.Store(false)
	if p.timer == nil {
		p.timer = time.AfterFunc(after, routine.Guard(func() { p.Expired.Store(true) }))
		return
	}
	p.timer.Reset(after)
}

func (p *pulse) Stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
