package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"newtop/trainer"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// Checkpoints returns the numbers of the run's checkpoints, each that of the last event before it, newest first.
func (r *RunReader) Checkpoints(ctx context.Context) ([]int64, error) {
	return sqlfile.Column[int64](ctx, r.Tx, "SELECT seq FROM checkpoints WHERE run = ? ORDER BY seq DESC LIMIT ?",
		r.Run,
		rowcode.CheckpointsOfRun)
}

// Checkpoint returns the checkpoint that stands at a place in the run's order.
func (r *RunReader) Checkpoint(ctx context.Context, seq int64) (*trainer.Checkpoint, error) {
	text, err := r.CheckpointBytes(ctx, seq)
	if err != nil {
		return nil, err
	}
	c := new(trainer.Checkpoint)
	if err := c.UnmarshalBinary(text); err != nil {
		return nil, &sqlfile.RowError{Table: "checkpoints", Run: r.ID, Seq: seq, Err: err}
	}
	return c, nil
}

// CheckpointBytes puts the parts of a checkpoint together.
func (r *RunReader) CheckpointBytes(ctx context.Context, seq int64) (text []byte, err error) {
	var size, parts, there sql.NullInt64
	err = r.Tx.QueryRowContext(ctx, `SELECT size, (SELECT count(*) FROM parts p WHERE p.run = c.run AND p.seq = c.seq),
		(SELECT sum(length(data)) FROM parts p WHERE p.run = c.run AND p.seq = c.seq)
		FROM checkpoints c WHERE run = ? AND seq = ?`, r.Run, seq).Scan(&size, &parts, &there)
	if err != nil {
		return nil, err
	}
	bad := func(err error) error {
		return &sqlfile.RowError{Table: "checkpoints", Run: r.ID, Seq: seq, Err: err}
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

// LatestSound returns the run's newest checkpoint that can be read, with its number, and what is wrong with one that is
// newer; zeros where there is none. Where none can be read the newest one's error is returned.
func (r *RunReader) LatestSound(ctx context.Context) (seq int64, c *trainer.Checkpoint, skipped, err error) {
	seqs, err := r.Checkpoints(ctx)
	if err != nil {
		return 0, nil, nil, err
	}
	for _, seq := range seqs {
		c, err := r.Checkpoint(ctx, seq)
		if err == nil {
			return seq, c, skipped, nil
		}
		if ctx.Err() != nil {
			return 0, nil, nil, err
		}
		skipped = cmp.Or(skipped, err)
	}
	return 0, nil, nil, skipped
}
