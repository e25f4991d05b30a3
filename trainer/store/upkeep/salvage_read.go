package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"

	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// mostProbes bounds how often a table is asked for parts of what can't be read.
const mostProbes = 4096

// ranges reads a table in ranges of its key.
type ranges struct {
	Finding  // what is said of rows that can't be read
	v        *salvage
	key      string
	where    string
	args     []any
	of       int64 // how many rows there should be; 0: not known
	columns  []string
	each     func(context.Context, rowFields) error
	rows     int64 // that were read
	prepared map[string]statement
	failed   error // the last one of the source's
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

// read reads all; most is where keys end if SQLite can't say so. Ranges are halved in turn, so that a large one that
// can't be read does not use up all probes.
func (r *ranges) read(ctx context.Context, most int64) error {
	type span struct{ low, high int64 } // low < key < high
	todo := []span{{math.MinInt64, math.MaxInt64}}
	for probes := 0; len(todo) > 0 && probes < mostProbes; probes++ {
		low, high := todo[0].low, todo[0].high
		todo = todo[1:]
		for _, direction := range []string{"ASC", "DESC"} {
			last, err := r.part(ctx, low, high, direction)
			if stop, ok := errors.AsType[errStop](err); ok {
				return stop.error
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil { // it was read to the end
				high = low
				break
			}
			r.failed = err
			if direction == "ASC" {
				low = last
			} else {
				high = last
			}
		}
		low, high = max(low, -1), min(high, most+1)
		if high-low > 2 {
			middle := low + (high-low)/2
			todo = append(todo, span{low, middle + 1}, span{middle, high})
		}
	}
	return nil
}

// part reads a range in one direction and returns the last key that could be read.
func (r *ranges) part(ctx context.Context, low, high int64, direction string) (last int64, err error) {
	last = low
	if direction == "DESC" {
		last = high
	}
	s, ok := r.prepared[direction]
	if !ok {
		query := fmt.Sprintf(
			"SELECT %[1]s, %[2]s FROM %[3]s WHERE %[4]s AND %[1]s > ? AND %[1]s < ? ORDER BY %[1]s %[5]s",
			r.key, strings.Join(r.columns, ", "), r.Table, r.where, direction)
		if s.Stmt, err = r.v.tx.PrepareContext(ctx, query); err != nil {
			return last, err
		}
		r.prepared[direction] = s
	}
	err = sqlfile.EachRow(ctx, s, "", append(append([]any{}, r.args...), low, high), func(rows *sql.Rows) error {
		values := make([]any, len(r.columns))
		var key int64
		if err := rows.Scan(rowcode.DestsOf(values, &key)...); err != nil {
			return err
		}
		row := rowFields{}
		for i, c := range r.columns {
			row[c] = values[i]
		}
		last = key
		r.rows++
		if err := r.each(ctx, row); err != nil {
			return errStop{err}
		}
		return nil
	})
	return last, err
}
