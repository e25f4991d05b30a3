package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sort"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// A run's events are numbered from 1 over all tables. Number 1 is its RunEvent.

// Window is how many numbers are read at a time: no transaction is open while a caller thinks, and memory is bounded.
const Window = 4096

// Numbered is an event with its number.
type Numbered struct {
	Seq   int64
	Event event.Event
}

// Position is where a run's record stands.
type Position struct {
	Run        int64
	generation int64 // changes when events were forgotten
	Events     int64 // number of the newest
	Epochs     int64
	Inner      int64
	done       bool
	owner      sqlfile.Owner
	sums       int64 // of the checksums of its rows
	thinned    int64 // epochs that were taken out
}

// RunReader reads one run's events in one transaction.
type RunReader struct {
	Tx *sql.Tx
	ID string
	Position
	version      int // of the tables
	Damage       damage
	again        bool // rows are read that were read before
	checksummers map[string]*rowcode.Checksummer
}

// NewRunReader returns the reader of the run of an ID, or a *NotFoundError.
func NewRunReader(ctx context.Context, tx *sql.Tx, id string) (*RunReader, error) {
	r := &RunReader{Tx: tx, ID: id}
	var row sqlfile.OwnerRow
	var claimed bool
	err := tx.QueryRowContext(
		ctx, "SELECT run, generation, events, epochs, inner, done IS NOT NULL, claimed, "+sqlfile.OwnerColumns+
			" FROM runs WHERE id = ?", id).
		Scan(row.Dests(&r.Run, &r.generation, &r.Events, &r.Epochs, &r.Inner, &r.done, &claimed)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, &sqlfile.NotFoundError{Name: id}
	}
	if err != nil {
		return nil, err
	}
	r.owner = row.Owner()
	r.done = r.done && !(claimed && r.owner.Alive(time.Now()))
	if r.version, err = rowcode.VersionNow(ctx, tx); err == nil && r.version >= rowcode.Checksums {
		err = tx.QueryRowContext(ctx, "SELECT sums, thinned FROM runs WHERE run = ?", r.Run).Scan(&r.sums, &r.thinned)
	}
	return r, err
}

// Window returns the next events after a number, up to r.events, and up to which number it has read. It returns none
// only at the end.
func (r *RunReader) Window(ctx context.Context, after int64) (out []Numbered, reached int64, err error) {
	for after < r.Events {
		to := min(after+Window, r.Events)
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
	return nil, max(after, r.Events), nil
}

// Whole returns the run's events up to r.Events in order, all of them if they are not too many. It reports whether some
// are left out.
func (r *RunReader) Whole(ctx context.Context) (out []Numbered, downsampled bool, err error) {
	if r.Epochs > rowcode.ManyEpochs || r.Inner > rowcode.ManyInner {
		out, err = sampler{r}.read(ctx)
		return out, true, err
	}
	for after := int64(0); ; {
		batch, reached, err := r.Window(ctx, after)
		if err != nil || len(batch) == 0 {
			return out, false, err
		}
		out, after = append(out, batch...), reached
	}
}

// nextSeq returns the least number of an event after one, or 0.
func (r *RunReader) nextSeq(ctx context.Context, after int64) (int64, error) {
	var next sql.NullInt64
	err := r.Tx.QueryRowContext(ctx, `SELECT min(n) FROM (
		SELECT min(seq) AS n FROM epochs WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM solves WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM spectra WHERE run = ?1 AND seq > ?2 UNION ALL
		SELECT min(seq) FROM marks WHERE run = ?1 AND seq > ?2)`, r.Run, after).Scan(&next)
	return next.Int64, err
}

// between appends the events of after < seq ≤ to in order.
func (r *RunReader) between(ctx context.Context, after, to int64, out *[]Numbered) error {
	start := len(*out)
	if after < 1 && to >= 1 {
		if err := r.readOpening(ctx, out); err != nil {
			return err
		}
	}
	for _, read := range []func(context.Context, *[]Numbered, string, ...any) error{
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
	sortEvents((*out)[start:])
	// Rows of solves reach beyond the last number.
	*out = slices.DeleteFunc(*out, func(n Numbered) bool { return n.Seq > to })
	return nil
}

// readCut appends the inner iterations after a number of the row of solves that the number cuts in two.
func (r *RunReader) readCut(ctx context.Context, after, to int64, out *[]Numbered) error {
	var cut []Numbered
	r.again = true
	defer func() { r.again = false }()
	err := r.readSolves(ctx, &cut, "seq > ? AND seq <= ? ORDER BY seq DESC LIMIT 1", after-rowcode.MaxSteps, after)
	for _, n := range cut {
		if n.Seq > after {
			*out = append(*out, n)
		}
	}
	return err
}

func sortEvents(events []Numbered) {
	sort.SliceStable(events, func(i, j int) bool { return events[i].Seq < events[j].Seq })
}

func (r *RunReader) readOpening(ctx context.Context, out *[]Numbered) error {
	var text []byte
	if err := r.Tx.QueryRowContext(ctx, "SELECT opening FROM runs WHERE run = ?", r.Run).Scan(&text); err != nil {
		return err
	}
	e, err := rowcode.DecodeEvent(text, "run")
	switch {
	case err != nil:
		r.Damage.leaveOut(&sqlfile.RowError{Table: "runs", Run: r.ID, Seq: 1, Err: err})
	case e != nil:
		*out = append(*out, Numbered{1, e})
	}
	return nil
}

// rows calls f with each row of a query on a table, whose first argument is the run; f scans it and returns the event's
// number and what is wrong.
func (r *RunReader) rows(ctx context.Context, table, query string, args []any, f func(*sql.Rows) (int64, error)) error {
	return sqlfile.EachRow(ctx, r.Tx, query, slices.Insert(args, 0, any(r.Run)), func(rows *sql.Rows) error {
		if seq, err := f(rows); err != nil {
			return &sqlfile.RowError{Table: table, Run: r.ID, Seq: seq, Err: err}
		}
		return nil
	})
}

// The readers below append a table's events of the run where a condition holds, but for damaged ones.

func (r *RunReader) readEpochs(ctx context.Context, out *[]Numbered, where string, args ...any) error {
	var row rowcode.EpochRow
	check := r.checksummerOf("epochs")
	query := "SELECT " + rowcode.EpochsOf(r.version, "") + " FROM epochs WHERE run = ? AND " + where
	return r.eventRows(ctx, "epochs", query, args, func(rows *sql.Rows) (int64, sql.NullInt64, error) {
		if err := rows.Scan(row.Dests()...); err != nil {
			return row.Seq.Int64, row.CRC, err
		}
		e, err := row.Event(check)
		if err == nil {
			*out = append(*out, Numbered{row.Seq.Int64, e})
		}
		return row.Seq.Int64, row.CRC, err
	})
}

func (r *RunReader) readSolves(ctx context.Context, out *[]Numbered, where string, args ...any) error {
	check := r.checksummerOf("solves")
	query := "SELECT seq, epoch, block, member, steps, " + r.crc() + " FROM solves WHERE run = ? AND " + where
	return r.eventRows(ctx, "solves", query, args, func(rows *sql.Rows) (int64, sql.NullInt64, error) {
		var seq int64
		var epoch, block, member int
		var text sql.RawBytes
		var crc sql.NullInt64
		if err := rows.Scan(&seq, &epoch, &block, &member, &text, &crc); err != nil {
			return seq, crc, err
		}
		if err := check.Verify(crc, seq, epoch, block, member, []byte(text)); err != nil {
			return seq, crc, err
		}
		steps, err := rowcode.ReadSteps(epoch, block, member, text)
		for i, e := range steps {
			*out = append(*out, Numbered{seq + int64(i), e})
		}
		return seq, crc, err
	})
}

func (r *RunReader) readSpectra(ctx context.Context, out *[]Numbered, where string, args ...any) error {
	return r.readJSON(ctx, out, "spectra", "spectrum", where, args)
}

func (r *RunReader) readMarks(ctx context.Context, out *[]Numbered, where string, args ...any) error {
	return r.readJSON(ctx, out, "marks", "", where, args)
}

// readJSON reads events that are stored whole, all of one type unless that is empty. Those of types that this program
// does not know are passed over.
func (r *RunReader) readJSON(ctx context.Context, out *[]Numbered, table, kind, where string, args []any) error {
	check := r.checksummerOf(table)
	query := "SELECT seq, json, " + r.crc() + " FROM " + table + " WHERE run = ? AND " + where
	return r.eventRows(ctx, table, query, args, func(rows *sql.Rows) (int64, sql.NullInt64, error) {
		var seq int64
		var text sql.RawBytes
		var crc sql.NullInt64
		if err := rows.Scan(&seq, &text, &crc); err != nil {
			return seq, crc, err
		}
		if err := check.Verify(crc, seq, []byte(text)); err != nil {
			return seq, crc, err
		}
		e, err := rowcode.DecodeEvent(text, kind)
		if e != nil {
			*out = append(*out, Numbered{seq, e})
		}
		return seq, crc, err
	})
}
