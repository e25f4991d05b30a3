package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"newtop/trainer/event"
	"newtop/trainer/stream"
)

// poll is how often a Source looks by itself: where the file system tells nothing of what others write, and for a
// process that has died, of which no file tells.
const poll = time.Second

// settle is how long a Source waits after the first sign of a change, as one transaction makes several.
const settle = 2 * time.Millisecond

// source follows a run. One goroutine uses it, but for Read.
type source struct {
	store   *Store
	id      string
	watcher *fsnotify.Watcher // nil: poll alone
	head    head
	given   int64 // number of the last event that was read
	ready   []numbered
	begun   bool // the past was read
	stale   string
	read    atomic.Uint64 // a fraction in units of 1/readUnits
}

const readUnits = 1 << 20

// Next implements stream.Source.
func (w *source) Next(ctx context.Context) (event.Event, error) {
	if len(w.ready) == 0 {
		if err := w.fill(ctx); err != nil {
			return nil, err
		}
	}
	if len(w.ready) == 0 {
		w.read.Store(readUnits)
		return nil, stream.ErrNone
	}
	n := w.ready[0]
	w.ready = w.ready[1:]
	w.given = n.seq
	if w.head.newest > 0 {
		w.read.Store(uint64(float64(n.seq) / float64(w.head.newest) * readUnits))
	}
	return n.event, nil
}

// fill reads what is new.
func (w *source) fill(ctx context.Context) error {
	return w.store.viewRun(ctx, w.id, func(r *runReader) (err error) {
		before := w.head
		w.head = r.head
		w.stale = ""
		if !r.done && !r.owner.alive(time.Now()) {
			w.stale = fmt.Sprintf("interrupted: %s is gone", r.owner.String())
		}
		switch {
		case r.generation != before.generation && w.begun:
			w.begun, w.given = false, 0
			return stream.ErrRestart
		case !w.begun:
			w.begun = true
			_, err = r.readWhole()
			w.given = r.newest
		case r.newest > w.given:
			if err = r.readWindow(w.given); len(r.events) == 0 {
				w.given = r.newest
			}
		}
		w.ready = r.events
		return err
	})
}

// Wait implements stream.Source.
func (w *source) Wait(ctx context.Context) error {
	var changes chan fsnotify.Event
	var errs chan error
	if w.watcher != nil {
		changes, errs = w.watcher.Events, w.watcher.Errors
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case <-errs: // too many changes at once, which is a change
			return nil
		case e, ok := <-changes:
			if !ok {
				changes = nil
				continue
			}
			if name := e.Name; name != w.store.path && name != w.store.path+"-wal" {
				continue
			}
			return w.settle(ctx, changes)
		}
	}
}

// settle takes the further signs of one change.
func (w *source) settle(ctx context.Context, changes <-chan fsnotify.Event) error {
	timer := time.NewTimer(settle)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case _, ok := <-changes:
			if !ok {
				return nil
			}
		}
	}
}

// Stale says that the process which records the run is gone without an end.
func (w *source) Stale() string { return w.stale }

// Read implements stream.Source.
func (w *source) Read() float64 { return float64(w.read.Load()) / readUnits }

// Name implements stream.Source.
func (w *source) Name() string { return w.id + " in " + w.store.path }

// Close implements stream.Source.
func (w *source) Close() error {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Close()
}
