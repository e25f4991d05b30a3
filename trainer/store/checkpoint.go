package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"newtop/trainer"
	"newtop/trainer/event"
)

// checkpoints returns the numbers of the run's checkpoints, each that of the last event before it, newest first.
func (r *runReader) checkpoints(ctx context.Context) ([]int64, error) {
	return column[int64](ctx, r.tx, "SELECT seq FROM checkpoints WHERE run = ? ORDER BY seq DESC LIMIT ?", r.run,
		checkpointsOfRun)
}

func (r *runReader) checkpoint(ctx context.Context, seq int64) (*trainer.Checkpoint, error) {
	text, err := r.checkpointBytes(ctx, seq)
	if err != nil {
		return nil, err
	}
	c := new(trainer.Checkpoint)
	if err := c.UnmarshalBinary(text); err != nil {
		return nil, &RowError{Table: "checkpoints", Run: r.id, Seq: seq, Err: err}
	}
	return c, nil
}

// checkpointBytes puts the parts of a checkpoint together.
func (r *runReader) checkpointBytes(ctx context.Context, seq int64) (text []byte, err error) {
	var size, parts, there sql.NullInt64
	err = r.tx.QueryRowContext(ctx, `SELECT size, (SELECT count(*) FROM parts p WHERE p.run = c.run AND p.seq = c.seq),
		(SELECT sum(length(data)) FROM parts p WHERE p.run = c.run AND p.seq = c.seq)
		FROM checkpoints c WHERE run = ? AND seq = ?`, r.run, seq).Scan(&size, &parts, &there)
	if err != nil {
		return nil, err
	}
	bad := func(err error) error {
		return &RowError{Table: "checkpoints", Run: r.id, Seq: seq, Err: err}
	}
	if there.Int64 != size.Int64 || size.Int64 <= 0 {
		return nil, bad(fmt.Errorf("%d bytes in %d parts: expected %d", there.Int64, parts.Int64, size.Int64))
	}
	// The sum is of what the rows say of themselves, so that a damaged file makes at most that much be read.
	err = r.rows(ctx, "parts", "SELECT part, data FROM parts WHERE run = ? AND seq = ? ORDER BY part",
		[]any{seq}, func(rows *sql.Rows) (int64, error) {
			var part int64
			var data sql.RawBytes
			if err := rows.Scan(&part, &data); err != nil {
				return seq, err
			}
			if text == nil {
				text = make([]byte, 0, max(int64(len(data)), min(size.Int64, parts.Int64*int64(len(data)))))
			}
			text = append(text, data...)
			return seq, nil
		})
	if err == nil && int64(len(text)) != size.Int64 {
		err = bad(fmt.Errorf("%d bytes: expected %d", len(text), size.Int64))
	}
	return text, err
}

// Rest is what trainer.Resume takes, and what there was besides.
type Rest struct {
	Config  trainer.Config      // what the run began with, or was gone on with last
	From    *trainer.Checkpoint // the newest that can be read; nil where there is none
	History []event.Event       // what was recorded up to the checkpoint, downsampled where it is long
	Passed  error               // why a newer checkpoint than From was passed over; nil: it is the newest
	Damage  error               // what of History is missing; nil: nothing
}

// Resumable returns what a recorder of Continue's goes on from. It comes before the first event.
func Resumable(ctx context.Context, r *Recorder) (rest Rest, err error) {
	from := int64(0)
	var events []numbered
	err = r.store.view(ctx, func(tx *sql.Tx) error {
		run, err := newRunReader(ctx, tx, r.id)
		if err != nil {
			return err
		}
		var unreadable error
		err = eachRun(ctx, tx, "WHERE r.run = ?", []any{run.run}, func(r *Run) bool {
			rest.Config, unreadable = r.Config, r.Readable()
			return false
		})
		if err = cmp.Or(err, unreadable); err != nil {
			return err
		}
		if from, rest.From, rest.Passed, err = run.newestSound(ctx); err != nil {
			return err
		}
		rest.Passed = r.store.wrap(ctx, rest.Passed)
		run.events = max(min(run.events, from), 1)
		events, _, err = run.whole(ctx)
		rest.Damage = run.lost(r.store.Path(), false)
		return err
	})
	if err != nil {
		return Rest{}, err
	}
	for _, n := range events {
		if _, over := n.event.(event.DoneEvent); !over {
			rest.History = append(rest.History, n.event)
		}
	}
	r.goOnFrom(from)
	return rest, nil
}

// newestSound returns the run's newest checkpoint that can be read, with its number, and what is wrong with one that is
// newer; zeros where there is none. Where none can be read the newest one's error is returned.
func (r *runReader) newestSound(ctx context.Context) (seq int64, c *trainer.Checkpoint, passed, err error) {
	seqs, err := r.checkpoints(ctx)
	if err != nil {
		return 0, nil, nil, err
	}
	for _, seq := range seqs {
		c, err := r.checkpoint(ctx, seq)
		if err == nil {
			return seq, c, passed, nil
		}
		if ctx.Err() != nil {
			return 0, nil, nil, err
		}
		passed = cmp.Or(passed, err)
	}
	return 0, nil, nil, passed
}
