package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// MissingError says that a run is over and not recorded as a whole.
type MissingError struct {
	Events, Of int    // those that are not there; none: the last checkpoint is not
	Cause      string // in words; empty: not known
}

func (e *MissingError) Error() string {
	text := "the run is not recorded"
	switch {
	case e.Events == 0:
		text = "the last checkpoint is not recorded"
	case e.Events < e.Of:
		text = fmt.Sprintf("%d of the run's %d events are not recorded", e.Events, e.Of)
	}
	if e.Cause != "" {
		text += ": " + e.Cause
	}
	return text
}

// Missing looks, after Flush, whether all that was handed over is in the store. It returns a *MissingError where it is
// not, and nil for a run that ended because it must not be recorded.
func (r *Recorder) Missing(ctx context.Context) error {
	r.mu.Lock()
	id, seq, lost, cause, expected := r.id, r.seq, r.queue.lost, r.cause, r.opened && r.refused == nil
	unkept := r.checkpoint.busy
	r.mu.Unlock()
	if !expected {
		return nil
	}
	missing := &MissingError{Events: int(seq), Of: int(seq), Cause: cause}
	if err := r.store.same(); err != nil {
		missing.Cause = err.Error()
		return missing
	}
	var there int64
	err := r.store.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT events FROM runs WHERE id = ?", id).Scan(&there)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		missing.Cause = err.Error()
	case there < seq || lost > 0:
		missing.Events = max(int(seq-there), lost)
	case unkept:
		missing.Events = 0
	default:
		return nil
	}
	return missing
}

// same returns an error unless the file is the one that was opened: SQLite writes on to one that was removed or
// replaced, for nobody to find.
func (s *File) same() error {
	info, err := os.Stat(s.Path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New(s.Path() + ": the file is gone")
	case err != nil:
		return err
	case !os.SameFile(info, s.info):
		return &FormatError{File: s.Path(), Found: "another file than when the run began",
			Expected: "it to be moved back"}
	}
	return nil
}
