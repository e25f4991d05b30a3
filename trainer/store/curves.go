package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"newtop/trainer/event"
	"newtop/trainer/store/rowcode"
)

// Curves returns at most n epochs of each of some runs, spread evenly over its record, the first and the newest among
// them, for small pictures: of each the number and what a run can be judged by, and of nothing whether it is damaged.
func (s *Store) Curves(ctx context.Context, ids []string, n int) (map[string][]event.EpochEvent, error) {
	out := make(map[string][]event.EpochEvent, len(ids))
	err := s.View(ctx, func(tx *sql.Tx) error {
		c, err := newCurveReader(ctx, tx)
		if err != nil {
			return err
		}
		defer c.Close()
		for _, id := range ids {
			if out[id], err = c.read(ctx, id, n); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// curveReader reads curves in one transaction.
type curveReader struct{ runs, all, next *sql.Stmt }

func newCurveReader(ctx context.Context, tx *sql.Tx) (c *curveReader, err error) {
	columns := "seq, epoch, CASE WHEN instr(rest, '\"not_finite\"') THEN json_extract(rest, '$.not_finite') END"
	for _, q := range event.Judging {
		columns += ", " + rowcode.Expression(q)
	}
	c = &curveReader{}
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&c.runs, "SELECT run, epochs, first, last FROM runs WHERE id = ? AND first IS NOT NULL AND last IS NOT NULL"},
		{&c.all, "SELECT " + columns + " FROM epochs WHERE run = ? ORDER BY seq"},
		{&c.next, "SELECT " + columns + " FROM epochs WHERE run = ? AND seq >= ? ORDER BY seq LIMIT 1"},
	} {
		if *p.to, err = tx.PrepareContext(ctx, p.text); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// Close closes the statements.
func (c *curveReader) Close() {
	for _, s := range []*sql.Stmt{c.runs, c.all, c.next} {
		if s != nil {
			s.Close()
		}
	}
}

// read returns the epochs of a run. A short record is read whole; in a long one the epochs are looked up.
func (c *curveReader) read(ctx context.Context, id string, n int) (out []event.EpochEvent, err error) {
	const lookup = 8 // rows that are read while one is looked up
	var run, epochs, first, last int64
	err = c.runs.QueryRowContext(ctx, id).Scan(&run, &epochs, &first, &last)
	if errors.Is(err, sql.ErrNoRows) || n < 2 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if epochs <= lookup*int64(n) {
		rows, err := c.all.QueryContext(ctx, run)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			_, e, err := scanCurve(rows)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return spread(out, n), rows.Err()
	}
	at := int64(-1)
	for i := range int64(n) {
		seq := first + i*(last-first)/int64(n-1)
		if seq <= at {
			continue
		}
		var e event.EpochEvent
		at, e, err = scanCurve(c.next.QueryRowContext(ctx, run, seq))
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// spread keeps n of some epochs.
func spread(all []event.EpochEvent, n int) []event.EpochEvent {
	if len(all) <= n {
		return all
	}
	for i := range n {
		all[i] = all[i*(len(all)-1)/(n-1)]
	}
	return all[:n]
}

func scanCurve(row interface{ Scan(...any) error }) (seq int64, e event.EpochEvent, err error) {
	e = event.UnknownEpoch(0)
	values := make([]any, len(event.Judging))
	var flaws []byte
	to := []any{&seq, &e.Epoch, &flaws}
	for i := range values {
		to = append(to, &values[i])
	}
	if err := row.Scan(to...); err != nil {
		return 0, e, err
	}
	for i, v := range values {
		switch v := v.(type) {
		case float64:
			*event.Judging[i].Of(&e) = event.Float(v)
		case int64: // as JSON has whole ones
			*event.Judging[i].Of(&e) = event.Float(v)
		case string:
			*event.Judging[i].Of(&e) = event.NotFinite
		}
	}
	if flaws == nil {
		return seq, e, nil
	}
	var broken map[string]event.Float
	if err := json.Unmarshal(flaws, &broken); err != nil {
		return seq, e, nil // the store's check tells of a row that is damaged
	}
	for _, q := range event.Judging {
		if v, ok := broken[q.Info().Column]; ok {
			*q.Of(&e) = v
		}
	}
	return seq, e, nil
}
