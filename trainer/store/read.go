package store

import (
	"cmp"
	"database/sql"
	"errors"
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
	newest     int64 // number of the newest event
	epochs     int64
	inner      int64
	done       bool
	owner      owner
}

// runReader reads a run in one read transaction. What it reads is appended to events.
type runReader struct {
	*reader
	id string
	head
	events []numbered
}

func (r *runReader) readHead() error {
	h := &r.head
	var token sql.NullString
	var beaten string
	var claimed bool
	err := r.tx.QueryRowContext(r.ctx, `SELECT run, generation, events, epochs, inner, done IS NOT NULL, claimed,
		owner, host, process, identity, heartbeat FROM runs WHERE id = ?`, r.id).
		Scan(&h.run, &h.generation, &h.newest, &h.epochs, &h.inner, &h.done, &claimed,
			&token, &h.owner.host, &h.owner.process, &h.owner.identity, &beaten)
	if errors.Is(err, sql.ErrNoRows) {
		return &NotFoundError{Name: r.id}
	}
	if err != nil {
		return err
	}
	h.owner.token = token.String
	if h.owner.beaten, err = parseTime(beaten); err != nil {
		return r.rowError("runs", 0, err)
	}
	h.done = h.done && !(claimed && h.owner.alive(time.Now()))
	return nil
}

// rowError says what is wrong with a row.
func (r *runReader) rowError(table string, seq int64, err error) error {
	return &RowError{File: r.store.path, Table: table, Run: r.id, Seq: seq, Err: err}
}

// errChanged says that events were forgotten between two windows.
var errChanged = errors.New("the run was resumed by another process while it was read: expected to be read anew")

// readWindow reads the next events after a number. It reads none only at the end.
func (r *runReader) readWindow(after int64) error {
	begin := len(r.events)
	for after < r.newest {
		to := min(after+window, r.newest)
		if err := r.readBetween(after, to); err != nil || len(r.events) > begin {
			return err
		}
		// Numbers are left out where events were lost; there may be many.
		next, err := r.nextSeq(to)
		if err != nil || next == 0 {
			return err
		}
		after = next - 1
	}
	return nil
}

// nextSeq returns the least number of an event after one, or 0.
func (r *runReader) nextSeq(after int64) (int64, error) {
	var next sql.NullInt64
	err := r.tx.QueryRowContext(r.ctx, `SELECT min(n) FROM (
		SELECT min(seq) AS n FROM epochs WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM solves WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM spectra WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM marks WHERE run = ?1 AND seq > ?2)`, r.run, after).Scan(&next)
	return next.Int64, err
}

// readBetween reads the events of after < seq ≤ to in order.
func (r *runReader) readBetween(after, to int64) error {
	begin := len(r.events)
	if after < 1 && to >= 1 {
		if err := r.readOpening(); err != nil {
			return err
		}
	}
	for _, read := range []func(where string, args ...any) error{r.readEpochs, r.readSolves, r.readSpectra, r.readMarks} {
		if err := read("seq > ? AND seq <= ?", after, to); err != nil {
			return err
		}
	}
	// A row of solves may begin before the first of the events, and reach beyond the last.
	cut := len(r.events)
	if err := r.readSolves("seq > ? AND seq <= ? ORDER BY seq DESC LIMIT 1", after-maxSteps, after); err != nil {
		return err
	}
	r.drop(cut, func(n numbered) bool { return n.seq <= after })
	sortEvents(r.events[begin:])
	r.drop(begin, func(n numbered) bool { return n.seq > to })
	return nil
}

// drop takes events out again, from a place on.
func (r *runReader) drop(from int, unwanted func(numbered) bool) {
	left := slices.DeleteFunc(r.events[from:], unwanted)
	r.events = r.events[:from+len(left)]
}

func sortEvents(events []numbered) {
	slices.SortStableFunc(events, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
}

func (r *runReader) add(seq int64, e event.Event) { r.events = append(r.events, numbered{seq, e}) }

func (r *runReader) readOpening() error {
	var text []byte
	if err := r.tx.QueryRowContext(r.ctx, "SELECT opening FROM runs WHERE run = ?", r.run).Scan(&text); err != nil {
		return err
	}
	e, err := decodeMark(text, "run")
	if err != nil {
		return r.rowError("runs", 1, err)
	}
	if e != nil {
		r.add(1, e)
	}
	return nil
}

// rows calls f with the given columns of each row of a table that is the run's and fulfils a condition; f scans it and
// returns the event's number and what is wrong.
func (r *runReader) rows(columns, table, where string, args []any, f func(*sql.Rows) (int64, error)) error {
	query := "SELECT " + columns + " FROM " + table + " WHERE run = ? AND " + where
	rows, err := r.tx.QueryContext(r.ctx, query, append([]any{r.run}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if seq, err := f(rows); err != nil {
			return r.rowError(table, seq, err)
		}
	}
	return rows.Err()
}

// The methods below read a table's events where a condition holds.

func (r *runReader) readEpochs(where string, args ...any) error {
	var row epochRow
	var seq int64
	return r.rows("seq, "+epochColumns, "epochs", where, args, func(rows *sql.Rows) (int64, error) {
		if err := rows.Scan(row.dests(&seq)...); err != nil {
			return seq, err
		}
		e, err := row.event()
		r.add(seq, e)
		return seq, err
	})
}

func (r *runReader) readSolves(where string, args ...any) error {
	return r.rows("seq, epoch, block, member, steps", "solves", where, args, func(rows *sql.Rows) (int64, error) {
		var seq int64
		var epoch, block, member int
		var text sql.RawBytes
		if err := rows.Scan(&seq, &epoch, &block, &member, &text); err != nil {
			return seq, err
		}
		steps, err := readSteps(epoch, block, member, text)
		for i, e := range steps {
			r.add(seq+int64(i), e)
		}
		return seq, err
	})
}

func (r *runReader) readSpectra(where string, args ...any) error {
	return r.readJSON("spectra", where, args, "spectrum")
}

func (r *runReader) readMarks(where string, args ...any) error {
	return r.readJSON("marks", where, args)
}

// readJSON reads events that are kept whole. Those of types that this program does not know are passed over.
func (r *runReader) readJSON(table, where string, args []any, types ...string) error {
	return r.rows("seq, json", table, where, args, func(rows *sql.Rows) (int64, error) {
		var seq int64
		var text sql.RawBytes
		if err := rows.Scan(&seq, &text); err != nil {
			return seq, err
		}
		e, err := decodeMark(text, types...)
		if e != nil {
			r.add(seq, e)
		}
		return seq, err
	})
}
