package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// mostProbes bounds how often a table is asked for parts of what can't be read.
const mostProbes = 4096

// ranges reads a table in ranges of its key.
type ranges struct {
	v         *salvage
	name, key string
	where     string
	args      []any
	columns   []string
	each      func(context.Context, fields) error
	left      int // probes
	prepared  map[string]statement
	failed    error // the last one of the source's
}

// statement is a querier that has one query.
type statement struct{ *sql.Stmt }

func (s statement) QueryContext(ctx context.Context, _ string, args ...any) (*sql.Rows, error) {
	return s.Stmt.QueryContext(ctx, args...)
}

func (r *ranges) close() {
	for _, s := range r.prepared {
		s.Close()
	}
}

// errStop wraps an error of each's, which is none of the source's.
type errStop struct{ error }

// read reads low < key < high; most is where keys end if SQLite can't say so.
func (r *ranges) read(ctx context.Context, low, high, most int64) error {
	if r.left--; r.left < 0 {
		return nil
	}
	from, err := r.part(ctx, low, high, "ASC")
	if err == nil {
		return nil
	}
	if stop, ok := errors.AsType[errStop](err); ok {
		return stop.error
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.failed = err
	low = max(from, low)
	to, err := r.part(ctx, low, high, "DESC")
	if stop, ok := errors.AsType[errStop](err); ok {
		return stop.error
	}
	if err == nil { // which was read from above to the end
		return nil
	}
	low, high = max(low, -1), min(to, high, most+1)
	if high-low < 2 {
		return nil
	}
	middle := low + (high-low)/2
	if err := r.read(ctx, low, middle+1, most); err != nil {
		return err
	}
	return r.read(ctx, middle, high, most)
}

// part reads a range in one direction and returns the last key that could be read.
func (r *ranges) part(ctx context.Context, low, high int64, direction string) (last int64, err error) {
	last = low
	if direction == "DESC" {
		last = high
	}
	s, ok := r.prepared[direction]
	if !ok {
		query := fmt.Sprintf("SELECT %[1]s, %[2]s FROM %[3]s WHERE %[4]s AND %[1]s > ? AND %[1]s < ? ORDER BY %[1]s %[5]s",
			r.key, strings.Join(r.columns, ", "), r.name, r.where, direction)
		if s.Stmt, err = r.v.tx.PrepareContext(ctx, query); err != nil {
			return last, err
		}
		r.prepared[direction] = s
	}
	err = eachRow(ctx, s, "", append(append([]any{}, r.args...), low, high), func(rows *sql.Rows) error {
		values := make([]any, len(r.columns))
		var key int64
		if err := rows.Scan(destsOf(values, &key)...); err != nil {
			return err
		}
		row := fields{}
		for i, c := range r.columns {
			row[c] = values[i]
		}
		last = key
		if err := r.each(ctx, row); err != nil {
			return errStop{err}
		}
		return nil
	})
	return last, err
}
