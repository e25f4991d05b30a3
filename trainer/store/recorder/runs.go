package recorder

import (
	"context"
	"time"

	"newtop/trainer/store"
)

// New returns the recorder of a new run.
func New(s *store.Store, a About) *Recorder {
	return newFrom(s, a, newWriter(s))
}

// Continue takes a run that is no longer trained and returns the recorder for the rest. With the first event that
// comes what was recorded after the newest checkpoint is forgotten; a recorder that is flushed without any leaves the
// run as it was. Continue returns a *BusyError where a process records the run.
func Continue(ctx context.Context, s *store.Store, id string) (*Recorder, error) {
	w := newWriter(s)
	if err := w.claim(ctx, id); err != nil {
		return nil, err
	}
	r := newFrom(s, About{}, w)
	r.id, r.name, r.seq, r.resumed = id, w.name, w.from, true
	r.Checkpoint.last = time.Now()
	r.start()
	return r, nil
}
