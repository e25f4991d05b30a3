package store

import (
	"cmp"
	"context"
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
	events     int64 // number of the newest
	epochs     int64
	inner      int64
	done       bool
	owner      owner
	sums       int64 // of the checksums of its rows
	thinned    int64 // epochs that were taken out
}

// runReader reads one run's events in one transaction.
type runReader struct {
	tx *sql.Tx
	id string
	head
	version int // of the tables
	damage  damage
	again   bool // rows are read that were read before
	sealers map[string]*sealer
}

// newRunReader returns the reader of the run of an ID, or a *NotFoundError.
func newRunReader(ctx context.Context, tx *sql.Tx, id string) (*runReader, error) {
	r := &runReader{tx: tx, id: id}
	var row ownerRow
	var claimed bool
	err := tx.QueryRowContext(
		ctx, "SELECT run, generation, events, epochs, inner, done IS NOT NULL, claimed, "+ownerColumns+
			" FROM runs WHERE id = ?", id).
		Scan(row.dests(&r.run, &r.generation, &r.events, &r.epochs, &r.inner, &r.done, &claimed)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, &NotFoundError{Name: id}
	}
	if err != nil {
		return nil, err
	}
	r.owner = row.owner()
	r.done = r.done && !(claimed && r.owner.alive(time.Now()))
	if r.version, err = versionNow(ctx, tx); err == nil && r.version >= checksums {
		err = tx.QueryRowContext(ctx, "SELECT sums, thinned FROM runs WHERE run = ?", r.run).Scan(&r.sums, &r.thinned)
	}
	return r, err
}

// window returns the next events after a number, up to r.events, and up to which number it has read. It returns none
// only at the end.
func (r *runReader) window(ctx context.Context, after int64) (out []numbered, reached int64, err error) {
	for after < r.events {
		to := min(after+window, r.events)
		if err := r.between(ctx, after, to, &out); err != nil {
			return nil, after, err
		}
		if len(out) > 0 {
			return out, to, nil
		}
		// Numbers are left out where events were lost or taken out; there may be many.
		next, err := r.nextSeq(ctx, to)
		if err != nil {
			return nil, after, err
		}
		if next == 0 {
			break
		}
		after = next - 1
	}
	return nil, max(after, r.events), nil
}

// nextSeq returns the least number of an event after one, or 0.
func (r *runReader) nextSeq(ctx context.Context, after int64) (int64, error) {
	var next sql.NullInt64
	err := r.tx.QueryRowContext(ctx, `SELECT min(n) FROM (
		SELECT min(seq) AS n FROM epochs WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM solves WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM spectra WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM marks WHERE run = ?1 AND seq > ?2)`, r.run, after).Scan(&next)
	return next.Int64, err
}

// between appends the events of after < seq ≤ to in order.
func (r *runReader) between(ctx context.Context, after, to int64, out *[]numbered) error {
	begin := len(*out)
	if after < 1 && to >= 1 {
		if err := r.readOpening(ctx, out); err != nil {
			return err
		}
	}
	for _, read := range []func(context.Context, *[]numbered, string, ...any) error{
		r.readEpochs, r.readSolves, r.readSpectra, r.readMarks,
	} {
		// A row of solves may begin before the first of the events.
		if err := read(ctx, out, "seq > ? AND seq <= ?", after, to); err != nil {
			return err
		}
	}
	if err := r.readCut(ctx, after, to, out); err != nil {
		return err
	}
	sortEvents((*out)[begin:])
	// Rows of solves reach beyond the last number.
	*out = slices.DeleteFunc(*out, func(n numbered) bool { return n.seq > to })
	return nil
}

// readCut appends the inner iterations after a number of the row of solves that the number cuts in two.
func (r *runReader) readCut(ctx context.Context, after, to int64, out *[]numbered) error {
	var cut []numbered
	r.again = true
	defer func() { r.again = false }()
	err := r.readSolves(ctx, &cut, "seq > ? AND seq <= ? ORDER BY seq DESC LIMIT 1", after-maxSteps, after)
	for _, n := range cut {
		if n.seq > after {
			*out = append(*out, n)
		}
	}
	return err
}

func sortEvents(events []numbered) {
	slices.SortStableFunc(events, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
}

func (r *runReader) readOpening(ctx context.Context, out *[]numbered) error {
	var text []byte
	if err := r.tx.QueryRowContext(ctx, "SELECT opening FROM runs WHERE run = ?", r.run).Scan(&text); err != nil {
		return err
	}
	e, err := decodeEvent(text, "run")
	switch {
	case err != nil:
		r.damage.leaveOut(&RowError{Table: "runs", Run: r.id, Seq: 1, Err: err})
	case e != nil:
		*out = append(*out, numbered{1, e})
	}
	return nil
}

// rows calls f with each row of a query on a table, whose first argument is the run; f scans it and returns the event's
// number and what is wrong.
func (r *runReader) rows(ctx context.Context, table, query string, args []any, f func(*sql.Rows) (int64, error)) error {
	return eachRow(ctx, r.tx, query, slices.Insert(args, 0, any(r.run)), func(rows *sql.Rows) error {
		if seq, err := f(rows); err != nil {
			return &RowError{Table: table, Run: r.id, Seq: seq, Err: err}
		}
		return nil
	})
}

// The readers below append a table's events of the run where a condition holds, but for damaged ones.

func (r *runReader) readEpochs(ctx context.Context, out *[]numbered, where string, args ...any) error {
	var row epochRow
	check := r.sealerOf("epochs")
	query := "SELECT " + epochsOf(r.version, "") + " FROM epochs WHERE run = ? AND " + where
	return r.eventRows(ctx, "epochs", query, args, func(rows *sql.Rows) (int64, sql.NullInt64, error) {
		if err := rows.Scan(row.dests()...); err != nil {
			return row.seq.Int64, row.crc, err
		}
		e, err := row.event(check)
		if err == nil {
			*out = append(*out, numbered{row.seq.Int64, e})
		}
		return row.seq.Int64, row.crc, err
	})
}

func (r *runReader) readSolves(ctx context.Context, out *[]numbered, where string, args ...any) error {
	check := r.sealerOf("solves")
	query := "SELECT seq, epoch, block, member, steps, " + r.crc() + " FROM solves WHERE run = ? AND " + where
	return r.eventRows(ctx, "solves", query, args, func(rows *sql.Rows) (int64, sql.NullInt64, error) {
		var seq int64
		var epoch, block, member int
		var text sql.RawBytes
		var crc sql.NullInt64
		if err := rows.Scan(&seq, &epoch, &block, &member, &text, &crc); err != nil {
			return seq, crc, err
		}
		if err := check.verify(crc, seq, epoch, block, member, []byte(text)); err != nil {
			return seq, crc, err
		}
		steps, err := readSteps(epoch, block, member, text)
		for i, e := range steps {
			*out = append(*out, numbered{seq + int64(i), e})
		}
		return seq, crc, err
	})
}

func (r *runReader) readSpectra(ctx context.Context, out *[]numbered, where string, args ...any) error {
	return r.readJSON(ctx, out, "spectra", "spectrum", where, args)
}

func (r *runReader) readMarks(ctx context.Context, out *[]numbered, where string, args ...any) error {
	return r.readJSON(ctx, out, "marks", "", where, args)
}

// readJSON reads events that are stored whole, all of one type unless that is empty. Those of types that this program
// does not know are passed over.
func (r *runReader) readJSON(ctx context.Context, out *[]numbered, table, kind, where string, args []any) error {
	check := r.sealerOf(table)
	query := "SELECT seq, json, " + r.crc() + " FROM " + table + " WHERE run = ? AND " + where
	return r.eventRows(ctx, table, query, args, func(rows *sql.Rows) (int64, sql.NullInt64, error) {
		var seq int64
		var text sql.RawBytes
		var crc sql.NullInt64
		if err := rows.Scan(&seq, &text, &crc); err != nil {
			return seq, crc, err
		}
		if err := check.verify(crc, seq, []byte(text)); err != nil {
			return seq, crc, err
		}
		e, err := decodeEvent(text, kind)
		if e != nil {
			*out = append(*out, numbered{seq, e})
		}
		return seq, crc, err
	})
}
