package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"newtop/trainer/event"
	"newtop/trainer/stream"
)

// poll is how often a Source looks by itself: where the file system reports nothing of what others write, and for a
// process that has died, of which no file reports.
const poll = time.Second

// stableAfter is how long a Source waits after the first sign of a change, as one transaction makes several.
const stableAfter = 2 * time.Millisecond

// source follows a run. One goroutine uses it, but for Read.
type source struct {
	store   *Store
	id      string
	watcher *fsnotify.Watcher // nil: poll alone
	header  Position
	given   int64 // number of the last event that Next returned
	reached int64 // up to which number the run was read
	lost    damage
	warning string
	ready   []Numbered
	started bool // the past was read
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
	w.given = n.Seq
	if w.header.Events > 0 {
		w.read.Store(uint64(float64(n.Seq) / float64(w.header.Events) * readUnits))
	}
	return n.Event, nil
}

// fill reads what is new.
func (w *source) fill(ctx context.Context) error {
	return w.store.View(ctx, func(tx *sql.Tx) error {
		before := w.header
		r, err := NewRunReader(ctx, tx, w.id)
		if err != nil {
			return err
		}
		w.header = r.Position
		w.stale = ""
		if !r.done && !r.owner.Alive(time.Now()) {
			w.stale = fmt.Sprintf("interrupted: %s is gone", r.owner.String())
		}
		switch {
		case r.generation != before.generation && w.started:
			w.started, w.reached, w.lost, w.warning = false, 0, damage{}, ""
			return stream.ErrRestart
		case !w.started:
			w.started = true
			var downsampled bool
			w.ready, downsampled, err = r.Whole(ctx)
			w.reached = r.Events
			w.Note(r, !downsampled)
			return err
		case r.Events > w.reached:
			r.Damage = w.lost
			w.ready, w.reached, err = r.Window(ctx, w.reached)
			w.Note(r, false)
			return err
		}
		return nil
	})
}

// Note keeps what was left out.
func (w *source) Note(r *RunReader, whole bool) {
	w.lost = r.Damage
	if e, ok := errors.AsType[*DamageError](r.Lost(w.store.Path(), whole)); ok {
		w.warning = "run " + w.id + ": " + e.text()
	}
}

// Warning says that damaged events were left out.
func (w *source) Warning() string { return w.warning }

// Wait implements stream.Source.
func (w *source) Wait(ctx context.Context) error {
	var changes chan fsnotify.Event
	var errs chan error
	if w.watcher != nil {
		changes, errs = w.watcher.Events, w.watcher.Errors
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	for settling := false; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case <-errs: // too many changes at once, which is a change
			return nil
		case e, ok := <-changes:
			switch {
			case !ok && settling:
				return nil
			case !ok:
				changes = nil
			case !settling && (e.Name == w.store.Path() || e.Name == w.store.Path()+"-wal"):
				settling = true
				timer.Reset(stableAfter)
			}
		}
	}
}

// Stale says that the process which records the run is gone without an end.
func (w *source) Stale() string { return w.stale }

// Read implements stream.Source.
func (w *source) Read() float64 { return float64(w.read.Load()) / readUnits }

// Name implements stream.Source.
func (w *source) Name() string { return w.id + " in " + w.store.Path() }

// Close implements stream.Source.
func (w *source) Close() error {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Close()
}
