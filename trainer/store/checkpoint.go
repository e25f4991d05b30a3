package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"newtop/trainer"
	"newtop/trainer/event"
)

// checkpoints returns the numbers of a run's checkpoints, each that of the last event before it, newest first.
func (r *runReader) checkpoints() (seqs []int64, err error) {
	err = r.rows("seq", "checkpoints", "true ORDER BY seq DESC LIMIT ?", []any{keepNewest}, func(rows *sql.Rows) (seq int64, err error) {
		err = rows.Scan(&seq)
		seqs = append(seqs, seq)
		return seq, err
	})
	return seqs, err
}

func (r *runReader) checkpoint(seq int64) (*trainer.Checkpoint, error) {
	text, err := r.checkpointBytes(seq)
	if err != nil {
		return nil, err
	}
	c := new(trainer.Checkpoint)
	if err := c.UnmarshalBinary(text); err != nil {
		return nil, r.rowError("checkpoints", seq, err)
	}
	return c, nil
}

// checkpointBytes puts the parts of a checkpoint together.
func (r *runReader) checkpointBytes(seq int64) (text []byte, err error) {
	var size, parts, there sql.NullInt64
	err = r.tx.QueryRowContext(r.ctx, `SELECT size, (SELECT count(*) FROM parts p WHERE p.run = c.run AND p.seq = c.seq),
		(SELECT sum(length(data)) FROM parts p WHERE p.run = c.run AND p.seq = c.seq)
		FROM checkpoints c WHERE run = ? AND seq = ?`, r.run, seq).Scan(&size, &parts, &there)
	if err != nil {
		return nil, err
	}
	if there.Int64 != size.Int64 || size.Int64 <= 0 {
		return nil, r.rowError("checkpoints", seq, fmt.Errorf("%d bytes in %d parts: expected %d", there.Int64, parts.Int64, size.Int64))
	}
	// The sum is of what the rows say of themselves, so that a damaged file makes at most that much be read.
	err = r.rows("part, data", "parts", "seq = ? ORDER BY part", []any{seq}, func(rows *sql.Rows) (int64, error) {
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
		err = r.rowError("checkpoints", seq, fmt.Errorf("%d bytes: expected %d", len(text), size.Int64))
	}
	return text, err
}

// Rest is what trainer.Resume takes, and what there was besides.
type Rest struct {
	Config  trainer.Config      // what the run began with, or was gone on with last
	From    *trainer.Checkpoint // the newest that can be read; nil where there is none
	History []event.Event       // what was recorded up to the checkpoint, thinned where it is long
	Passed  error               // why a newer checkpoint than From was passed over; nil: it is the newest
}

// Resumable returns what a recorder of Continue's goes on from. It comes before the first event.
func (r *Recorder) Resumable(ctx context.Context) (rest Rest, err error) {
	s, id := r.store, r.id
	from := int64(0)
	var events []numbered
	err = s.viewRun(ctx, id, func(r *runReader) error {
		err := r.eachRun("WHERE r.run = ?", r.run, func(r *Run) bool {
			rest.Config = r.Config
			return false
		})
		if err != nil {
			return err
		}
		if from, rest.From, rest.Passed, err = r.newestSound(); err != nil {
			return err
		}
		r.newest = max(min(r.newest, from), 1)
		_, err = r.readWhole()
		events = r.events
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

// newestSound returns a run's newest checkpoint that can be read, with its number, and what is wrong with one that is
// newer; zeros where there is none. Where none can be read the newest one's error is returned.
func (r *runReader) newestSound() (seq int64, c *trainer.Checkpoint, passed, err error) {
	seqs, err := r.checkpoints()
	if err != nil {
		return 0, nil, nil, err
	}
	for _, seq := range seqs {
		c, err := r.checkpoint(seq)
		if err == nil {
			return seq, c, passed, nil
		}
		if r.ctx.Err() != nil {
			return 0, nil, nil, err
		}
		passed = cmp.Or(passed, r.store.wrap(r.ctx, err))
	}
	return 0, nil, nil, passed
}
