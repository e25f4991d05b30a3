package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"newtop/trainer"
	"newtop/trainer/event"
)

// Checkpoint returns the newest checkpoint of a run, or nil if there is none.
func (s *Store) Checkpoint(ctx context.Context, id string) (c *trainer.Checkpoint, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		h, err := s.headOf(ctx, tx, id)
		if err != nil {
			return err
		}
		seqs, err := s.checkpoints(ctx, tx, h.run)
		if err != nil || len(seqs) == 0 {
			return err
		}
		c, err = s.readCheckpoint(ctx, tx, id, h.run, seqs[0])
		return err
	})
	return c, err
}

// checkpoints returns the numbers of a run's checkpoints, each that of the last event before it, newest first.
func (s *Store) checkpoints(ctx context.Context, tx *sql.Tx, run int64) (seqs []int64, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT seq FROM checkpoints WHERE run = ? ORDER BY seq DESC LIMIT ?", run, keepNewest)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			return nil, err
		}
		seqs = append(seqs, seq)
	}
	return seqs, rows.Err()
}

func (s *Store) readCheckpoint(ctx context.Context, tx *sql.Tx, id string, run, seq int64) (*trainer.Checkpoint, error) {
	text, err := s.checkpointBytes(ctx, tx, id, run, seq)
	if err != nil {
		return nil, err
	}
	c := new(trainer.Checkpoint)
	if err := c.UnmarshalBinary(text); err != nil {
		return nil, &RowError{File: s.path, Table: "checkpoints", Run: id, Seq: seq, Err: err}
	}
	return c, nil
}

// checkpointBytes puts the parts of a checkpoint together.
func (s *Store) checkpointBytes(ctx context.Context, tx *sql.Tx, id string, run, seq int64) (text []byte, err error) {
	var size, parts, there sql.NullInt64
	err = tx.QueryRowContext(ctx, `SELECT size, (SELECT count(*) FROM parts p WHERE p.run = c.run AND p.seq = c.seq),
		(SELECT sum(length(data)) FROM parts p WHERE p.run = c.run AND p.seq = c.seq)
		FROM checkpoints c WHERE run = ? AND seq = ?`, run, seq).Scan(&size, &parts, &there)
	if err != nil {
		return nil, err
	}
	bad := func(err error) error {
		return &RowError{File: s.path, Table: "checkpoints", Run: id, Seq: seq, Err: err}
	}
	if there.Int64 != size.Int64 || size.Int64 <= 0 {
		return nil, bad(fmt.Errorf("%d bytes in %d parts: expected %d", there.Int64, parts.Int64, size.Int64))
	}
	// The sum is of what the rows say of themselves, so that a damaged file makes at most that much be read.
	err = s.rows(ctx, tx, id, "parts", "SELECT part, data FROM parts WHERE run = ? AND seq = ? ORDER BY part",
		[]any{run, seq}, func(rows *sql.Rows) (int64, error) {
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
	History []event.Event       // what was recorded up to the checkpoint, thinned where it is long
	Passed  error               // why a newer checkpoint than From was passed over; nil: it is the newest
}

// Resumable returns what a recorder of Continue's goes on from. It comes before the first event.
func (r *Recorder) Resumable(ctx context.Context) (rest Rest, err error) {
	s, id := r.store, r.id
	from := int64(0)
	var events []numbered
	err = s.view(ctx, func(tx *sql.Tx) error {
		h, err := s.headOf(ctx, tx, id)
		if err != nil {
			return err
		}
		err = s.eachRun(ctx, tx, "WHERE r.run = ?", []any{h.run}, func(r *Run) bool {
			rest.Config = r.Config
			return false
		})
		if err != nil {
			return err
		}
		if from, rest.From, rest.Passed, err = s.newestSound(ctx, tx, id, h.run); err != nil {
			return err
		}
		h.events = max(min(h.events, from), 1)
		events, _, err = s.whole(ctx, tx, id, h)
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
func (s *Store) newestSound(ctx context.Context, tx *sql.Tx, id string, run int64) (seq int64, c *trainer.Checkpoint, passed, err error) {
	seqs, err := s.checkpoints(ctx, tx, run)
	if err != nil {
		return 0, nil, nil, err
	}
	for _, seq := range seqs {
		c, err := s.readCheckpoint(ctx, tx, id, run, seq)
		if err == nil {
			return seq, c, passed, nil
		}
		if ctx.Err() != nil {
			return 0, nil, nil, err
		}
		passed = cmp.Or(passed, s.wrap(ctx, err))
	}
	return 0, nil, nil, passed
}
