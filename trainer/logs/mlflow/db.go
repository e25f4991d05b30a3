package mlflow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/internal/sqlitelog"
)

// Wrote reports whether a database is one of MLflow's, by the names of its tables.
func Wrote(tables map[string]bool) bool {
	return tables["metrics"] && tables["runs"] && tables["experiments"]
}

// ListDB returns the runs in a database that were not deleted, the one that began last first.
func ListDB(path files.Path) (runs []logs.Run, err error) {
	err = sqlitelog.List(path, func(ctx context.Context, db *sqlitelog.DB) (err error) {
		runs, err = runsIn(ctx, db, "")
		return err
	})
	return runs, err
}

// What runsIn is asked for, beside all runs.
const (
	theRun = "AND r.run_uuid = ?"
	latest = "AND r.run_uuid = (SELECT run_uuid FROM runs WHERE lifecycle_stage = 'active' ORDER BY start_time DESC, " +
		"rowid DESC LIMIT 1)"
)

// runsIn returns the runs that were not deleted, and for which a condition holds.
func runsIn(ctx context.Context, db *sqlitelog.DB, condition string, args ...any) (runs []logs.Run, err error) {
	query := `SELECT r.run_uuid, coalesce(nullif(r.name, ''), t.value), r.status, r.start_time, r.end_time,
		(SELECT m.timestamp FROM metrics m WHERE m.run_uuid = r.run_uuid ORDER BY m.rowid DESC LIMIT 1)
		FROM runs r LEFT JOIN tags t ON t.run_uuid = r.run_uuid AND t.key = 'mlflow.runName'
		WHERE r.lifecycle_stage = 'active' ` + condition + ` ORDER BY r.start_time DESC, r.rowid DESC`
	err = db.Each(ctx, query, args, func(row []driver.Value) error {
		id := sqlitelog.Text(row[0])
		began := sqlitelog.Int(row[3])
		runs = append(runs, logs.Run{
			ID: id, Name: nameOf(sqlitelog.Text(row[1]), id), Status: sqlitelog.Text(row[2]), Began: timeOf(began),
			Written: timeOf(max(began, sqlitelog.Int(row[4]), sqlitelog.Int(row[5]))),
		})
		return nil
	})
	return runs, err
}

// dbReader reads a run of a database.
type dbReader struct {
	db        *sqlitelog.DB
	path      files.Path
	requested string // "": the newest
	id        string // of the run; empty: none yet
	tables    bool   // they are there
	rows      sqlitelog.Rows
	total     int64 // metrics when the first of them was read
	warning   string
	giver
}

// OpenDB returns a reader of a run in a database of MLflow's: of the one with this ID, this name, or this unique
// beginning of one; or, for "", of the newest that was not deleted, and of a newer one once that begins. A database
// without runs is one that waits for its first.
func OpenDB(path files.Path, run string) (logs.Reader, error) {
	db, err := sqlitelog.Open(path)
	if err != nil {
		return nil, err
	}
	r := newDBReader(db, path, run)
	_, err = db.Poll(context.Background(), func(ctx context.Context) (bool, error) {
		_, err := r.find(ctx)
		return true, err
	})
	if err != nil && !errors.Is(err, logs.ErrRestart) {
		db.Close()
		return nil, err
	}
	return r, nil
}

func newDBReader(db *sqlitelog.DB, path files.Path, run string) *dbReader {
	return &dbReader{db: db, path: path, requested: run, rows: sqlitelog.Rows{Table: "metrics", Number: "rowid"}}
}

// Read implements logs.Reader.
func (r *dbReader) Read(ctx context.Context, to logs.Sink) (bool, error) {
	more, err := r.db.Poll(ctx, func(ctx context.Context) (bool, error) { return r.read(ctx, to) })
	if errors.Is(err, logs.ErrRestart) {
		*r = *newDBReader(r.db, r.path, r.requested)
	}
	return more, err
}

func (r *dbReader) read(ctx context.Context, to logs.Sink) (bool, error) {
	if r.giving {
		r.give(to)
		return true, nil // there may be more by now
	}
	run, err := r.find(ctx)
	if err != nil || r.id == "" {
		return false, err
	}
	params, err := r.params(ctx)
	if err != nil {
		return false, err
	}
	if err := r.report(to, run, params); err != nil {
		return false, err
	}
	more, err := r.collect(ctx)
	return r.collected(more, err, to)
}

// find returns the run to read, which it chooses first. It returns ErrRestart when a newer one has begun.
func (r *dbReader) find(ctx context.Context) (logs.Run, error) {
	if !r.tables {
		has, err := r.db.Schema(ctx)
		r.tables = Wrote(has)
		switch {
		case err != nil:
			return logs.Run{}, err
		case !r.tables && len(has) > 0:
			return logs.Run{}, fmt.Errorf("%s: an SQLite database of another program: expected one of MLflow's", r.path)
		case !r.tables:
			r.warning = absent(r.path)
			return logs.Run{}, nil
		}
	}
	if r.id != "" && r.requested != "" {
		runs, err := runsIn(ctx, r.db, theRun, r.id)
		if err == nil && len(runs) == 0 {
			err = fmt.Errorf("%s: run %s was deleted", r.path, r.requested)
		}
		if err != nil {
			return logs.Run{}, err
		}
		return runs[0], nil
	}
	return r.choose(ctx)
}

func (r *dbReader) choose(ctx context.Context) (logs.Run, error) {
	condition := latest
	if r.requested != "" {
		condition = ""
	}
	runs, err := runsIn(ctx, r.db, condition)
	if err != nil {
		return logs.Run{}, err
	}
	at := 0
	if r.requested != "" {
		if at, err = choose(r.path, r.requested, runs); err != nil {
			return logs.Run{}, err
		}
	}
	switch {
	case len(runs) == 0 && r.id != "":
		return logs.Run{}, logs.ErrRestart
	case len(runs) == 0:
		r.warning = absent(r.path)
		return logs.Run{}, nil
	case r.id != "" && r.id != runs[at].ID:
		return logs.Run{}, logs.ErrRestart
	}
	r.id, r.warning = runs[at].ID, ""
	return runs[at], nil
}

func (r *dbReader) params(ctx context.Context) (map[string]string, error) {
	params := map[string]string{}
	err := r.db.Each(ctx, "SELECT key, value FROM params WHERE run_uuid = ?", []any{r.id},
		func(row []driver.Value) error {
			params[sqlitelog.Text(row[0])] = sqlitelog.Text(row[1])
			return nil
		})
	return params, err
}

// collect reads the next metrics, and reports whether there are more.
func (r *dbReader) collect(ctx context.Context) (more bool, err error) {
	if r.total == 0 {
		if r.total, err = r.db.Int(ctx, "SELECT count(*) FROM metrics WHERE run_uuid = ?", r.id); err != nil {
			return false, err
		}
		r.Grow(int(r.total))
	}
	return r.db.Next(ctx, &r.rows, "key, value, timestamp, step, is_nan", "run_uuid = ?", r.id,
		func(row []driver.Value) {
			value := number(sqlitelog.Float(row[1]), sqlitelog.Int(row[4]) != 0)
			r.Add(r.ID(sqlitelog.Text(row[0])), value, sqlitelog.Int(row[2]), sqlitelog.Int(row[3]))
		})
}

// Watch implements logs.Reader.
func (r *dbReader) Watch() []files.Path { return r.db.Watch() }

// Progress implements logs.Reader.
func (r *dbReader) Progress() float64 {
	switch {
	case r.whole && !r.giving:
		return 1
	case r.total == 0:
		return 0
	}
	held := r.Len()
	return min(1, float64(held+r.Given())/float64(2*max(r.total, int64(held))))
}

// Warning implements logs.Reader.
func (r *dbReader) Warning() string {
	if w := r.db.Warning(); w != "" {
		return w
	}
	return r.warning
}

// Close implements logs.Reader.
func (r *dbReader) Close() error { return r.db.Close() }
