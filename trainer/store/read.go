package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"newtop/trainer/event"
)

// A run's events are numbered from 1 over all tables. Number 1 is its RunEvent.

// window is how many numbers are read at a time: no transaction is open while a caller thinks, and memory is bounded.
const window = 4096

// numbered is an event with its number.
type numbered struct {
	seq   int64
	event event.Event
}

// head is where a run's record stands.
type head struct {
	run        int64
	generation int64 // changes when events were forgotten
	events     int64 // number of the newest
	epochs     int64
	inner      int64
	done       bool
	owner      owner
}

func (s *Store) headOf(ctx context.Context, tx *sql.Tx, id string) (h head, err error) {
	var token sql.NullString
	var beaten string
	var claimed bool
	err = tx.QueryRowContext(ctx, `SELECT run, generation, events, epochs, inner, done IS NOT NULL, claimed,
		owner, host, process, identity, heartbeat FROM runs WHERE id = ?`, id).
		Scan(&h.run, &h.generation, &h.events, &h.epochs, &h.inner, &h.done, &claimed,
			&token, &h.owner.host, &h.owner.process, &h.owner.identity, &beaten)
	if errors.Is(err, sql.ErrNoRows) {
		return h, &NotFoundError{Name: id}
	}
	if err != nil {
		return h, err
	}
	h.owner.token = token.String
	if h.owner.beaten, err = parseTime(beaten); err != nil {
		return h, &RowError{File: s.path, Table: "runs", Run: id, Err: err}
	}
	h.done = h.done && !(claimed && h.owner.alive(time.Now()))
	return h, nil
}

// errChanged says that events were forgotten between two windows.
var errChanged = errors.New("the run was resumed by another process while it was read: expected to be read anew")

// Events calls yield with every event of a run in order, those after the position alone, until it returns false. It
// returns the position of the last one, and an error if events before it were forgotten meanwhile, as the run was
// resumed.
func (s *Store) Events(ctx context.Context, id string, after int64, yield func(event.Event) bool) (int64, error) {
	generation := int64(-1)
	for {
		var batch []numbered
		var h head
		err := s.view(ctx, func(tx *sql.Tx) (err error) {
			if h, err = s.headOf(ctx, tx, id); err != nil {
				return err
			}
			if generation >= 0 && generation != h.generation {
				return fmt.Errorf("%s: run %s: %w", s.path, id, errChanged)
			}
			generation = h.generation
			batch, err = s.window(ctx, tx, id, h, after, h.events)
			return err
		})
		if err != nil {
			return after, err
		}
		for _, n := range batch {
			after = n.seq
			if !yield(n.event) {
				return after, nil
			}
		}
		if len(batch) == 0 {
			return after, nil
		}
	}
}

// window returns the next events after a number, those to the last alone. It returns none only at the end.
func (s *Store) window(ctx context.Context, tx *sql.Tx, id string, h head, after, last int64) ([]numbered, error) {
	for after < last {
		to := min(after+window, last)
		var out []numbered
		if err := s.between(ctx, tx, id, h.run, after, to, &out); err != nil {
			return nil, err
		}
		if len(out) > 0 {
			return out, nil
		}
		// Numbers are left out where events were lost; there may be many.
		next, err := nextSeq(ctx, tx, h.run, to)
		if err != nil || next == 0 {
			return nil, err
		}
		after = next - 1
	}
	return nil, nil
}

// nextSeq returns the least number of an event after one, or 0.
func nextSeq(ctx context.Context, tx *sql.Tx, run, after int64) (int64, error) {
	var next sql.NullInt64
	err := tx.QueryRowContext(ctx, `SELECT min(n) FROM (
		SELECT min(seq) AS n FROM epochs WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM solves WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM spectra WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM marks WHERE run = ?1 AND seq > ?2)`, run, after).Scan(&next)
	return next.Int64, err
}

// between appends the events of after < seq ≤ to in order.
func (s *Store) between(ctx context.Context, tx *sql.Tx, id string, run, after, to int64, out *[]numbered) error {
	begin := len(*out)
	if after < 1 && to >= 1 {
		if err := s.readOpening(ctx, tx, id, run, out); err != nil {
			return err
		}
	}
	for _, read := range []func(context.Context, *sql.Tx, string, string, []any, *[]numbered) error{
		s.readEpochs, s.readSolves, s.readSpectra, s.readMarks,
	} {
		// A row of solves may begin before the first of the events.
		if err := read(ctx, tx, id, "seq > ? AND seq <= ?", []any{run, after, to}, out); err != nil {
			return err
		}
	}
	if err := s.readCut(ctx, tx, id, run, after, to, out); err != nil {
		return err
	}
	sortEvents((*out)[begin:])
	// Rows of solves reach beyond the last number.
	*out = slices.DeleteFunc(*out, func(n numbered) bool { return n.seq > to })
	return nil
}

// readCut appends the inner iterations after a number of the row of solves that the number cuts in two.
func (s *Store) readCut(ctx context.Context, tx *sql.Tx, id string, run, after, to int64, out *[]numbered) error {
	var cut []numbered
	err := s.readSolves(ctx, tx, id, "seq > ? AND seq <= ? ORDER BY seq DESC LIMIT 1", []any{run, after - maxSteps, after}, &cut)
	for _, n := range cut {
		if n.seq > after {
			*out = append(*out, n)
		}
	}
	return err
}

func sortEvents(events []numbered) {
	slices.SortStableFunc(events, func(a, b numbered) int {
		switch {
		case a.seq < b.seq:
			return -1
		case a.seq > b.seq:
			return 1
		}
		return 0
	})
}

func (s *Store) readOpening(ctx context.Context, tx *sql.Tx, id string, run int64, out *[]numbered) error {
	var text []byte
	if err := tx.QueryRowContext(ctx, "SELECT opening FROM runs WHERE run = ?", run).Scan(&text); err != nil {
		return err
	}
	e, err := decodeMark(text, "run")
	if err != nil {
		return &RowError{File: s.path, Table: "runs", Run: id, Seq: 1, Err: err}
	}
	if e != nil {
		*out = append(*out, numbered{1, e})
	}
	return nil
}

// rows calls f with each row of a query on a table; f scans it and returns the event's number and what is wrong.
func (s *Store) rows(ctx context.Context, tx *sql.Tx, id, table, query string, args []any, f func(*sql.Rows) (int64, error)) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if seq, err := f(rows); err != nil {
			return &RowError{File: s.path, Table: table, Run: id, Seq: seq, Err: err}
		}
	}
	return rows.Err()
}

// The readers below append a table's events of a run where a condition holds; the first argument is the run.

func (s *Store) readEpochs(ctx context.Context, tx *sql.Tx, id, where string, args []any, out *[]numbered) error {
	var row epochRow
	var seq int64
	query := "SELECT seq, " + epochColumns + " FROM epochs WHERE run = ? AND " + where
	return s.rows(ctx, tx, id, "epochs", query, args, func(rows *sql.Rows) (int64, error) {
		if err := rows.Scan(row.dests(&seq)...); err != nil {
			return seq, err
		}
		e, err := row.event()
		*out = append(*out, numbered{seq, e})
		return seq, err
	})
}

func (s *Store) readSolves(ctx context.Context, tx *sql.Tx, id, where string, args []any, out *[]numbered) error {
	query := "SELECT seq, epoch, block, member, steps FROM solves WHERE run = ? AND " + where
	return s.rows(ctx, tx, id, "solves", query, args, func(rows *sql.Rows) (int64, error) {
		var seq int64
		var epoch, block, member int
		var text sql.RawBytes
		if err := rows.Scan(&seq, &epoch, &block, &member, &text); err != nil {
			return seq, err
		}
		steps, err := readSteps(epoch, block, member, text)
		for i, e := range steps {
			*out = append(*out, numbered{seq + int64(i), e})
		}
		return seq, err
	})
}

func (s *Store) readSpectra(ctx context.Context, tx *sql.Tx, id, where string, args []any, out *[]numbered) error {
	return s.readJSON(ctx, tx, id, "spectra", where, args, out, "spectrum")
}

func (s *Store) readMarks(ctx context.Context, tx *sql.Tx, id, where string, args []any, out *[]numbered) error {
	return s.readJSON(ctx, tx, id, "marks", where, args, out)
}

// readJSON reads events that are kept whole. Those of types that this program does not know are passed over.
func (s *Store) readJSON(ctx context.Context, tx *sql.Tx, id, table, where string, args []any, out *[]numbered, types ...string) error {
	query := "SELECT seq, json FROM " + table + " WHERE run = ? AND " + where
	return s.rows(ctx, tx, id, table, query, args, func(rows *sql.Rows) (int64, error) {
		var seq int64
		var text sql.RawBytes
		if err := rows.Scan(&seq, &text); err != nil {
			return seq, err
		}
		e, err := decodeMark(text, types...)
		if e != nil {
			*out = append(*out, numbered{seq, e})
		}
		return seq, err
	})
}
