package recorder

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	r.Mu.Lock()
	id, seq, lost, cause, expected := r.id, r.seq, r.Queue.lost, r.cause, r.opened && r.refused == nil
	unkept := r.Checkpoint.Busy
	r.Mu.Unlock()
	if !expected {
		return nil
	}
	missing := &MissingError{Events: int(seq), Of: int(seq), Cause: cause}
	if err := r.store.CheckSame(); err != nil {
		missing.Cause = err.Error()
		return missing
	}
	var there int64
	err := r.store.View(ctx, func(tx *sql.Tx) error {
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
