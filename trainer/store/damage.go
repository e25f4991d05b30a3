package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// DamageError says that a run was read without some of its events. All others were given.
type DamageError struct {
	File, Run string
	Events    int   // rows that are damaged
	Missing   bool  // rows are not there, or are of another run
	First     error // about the first of Events
}

func (e *DamageError) Unwrap() error { return e.First }

func (e *DamageError) Error() string { return e.File + ": run " + e.Run + ": " + e.text() }

func (e *DamageError) text() string {
	what := "some events are missing"
	switch {
	case e.Events == 1:
		what = "1 damaged event was left out"
	case e.Events > 1:
		what = fmt.Sprintf("%d damaged events were left out", e.Events)
	}
	return what + ": newtop runs check " + e.Run + " tells which"
}

// damage is what a reader of events has left out so far.
type damage struct {
	events int
	first  error
	read   int64                   // sum of the checksums of the rows that were read
	Report func(*sqlfile.RowError) // hears of each; may be nil
}

// leaveOut notes a row that is not read.
func (d *damage) leaveOut(err *sqlfile.RowError) {
	d.events++
	if d.first == nil {
		d.first = err
	}
	if d.Report != nil {
		d.Report(err)
	}
}

// Lost returns the error of a run that was read; whole says that all its rows were to be there.
func (r *RunReader) Lost(file string, whole bool) error {
	missing := whole && r.Damage.events == 0 && r.Damage.read != r.sums
	if r.Damage.events == 0 && !missing {
		return nil
	}
	if row, ok := r.Damage.first.(*sqlfile.RowError); ok {
		row.File = file
	}
	return &DamageError{File: file, Run: r.ID, Events: r.Damage.events, Missing: missing, First: r.Damage.first}
}

// eventRows is rows for tables of events: f also returns the row's checksum, and a row that is damaged is left out.
func (r *RunReader) eventRows(ctx context.Context, table, query string, args []any,
	f func(*sql.Rows) (seq int64, crc sql.NullInt64, err error)) error {
	return sqlfile.EachRow(ctx, r.Tx, query, slices.Insert(args, 0, any(r.Run)), func(rows *sql.Rows) error {
		seq, crc, err := f(rows)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case r.again: // it was counted before
		case err != nil:
			r.Damage.leaveOut(&sqlfile.RowError{Table: table, Run: r.ID, Seq: seq, Err: err})
		default:
			r.Damage.read += crc.Int64
		}
		return nil
	})
}

// checksummerOf returns the checksummer of a table's rows.
func (r *RunReader) checksummerOf(table string) *rowcode.Checksummer {
	if r.checksummers[table] == nil {
		if r.checksummers == nil {
			r.checksummers = map[string]*rowcode.Checksummer{}
		}
		r.checksummers[table] = rowcode.NewChecksummer(table)
	}
	return r.checksummers[table]
}

// crc names the column of a table's checksums.
func (r *RunReader) crc() string { return rowcode.CRCColumn(r.version, "") }
