// Package trackio reads the runs of trackio, which keeps those of a project in one SQLite database.
package trackio

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/internal/sqlitelog"
)

// maxBeside is how many rows of the tables beside metrics are held.
const maxBeside = 4096

// Wrote reports whether a database is one of trackio's, by the names of its tables and of their columns.
func Wrote(names map[string]bool) bool { return keyOf(names, "metrics") != "" }

// List returns the runs in a database, the one that began last first. Those of an old file have no IDs but their names.
func List(path files.Path) (runs []logs.Run, err error) {
	err = sqlitelog.List(path, func(ctx context.Context, db *sqlitelog.DB) error {
		r := &reader{db: db, path: path}
		if err := r.prepare(ctx); err != nil || r.key == "" {
			return err
		}
		runs, err = r.runs(ctx)
		return err
	})
	return runs, err
}

// keyOf returns the column that says of which run a row of a table is, which old files have no IDs for; empty where
// there is no such table of trackio's.
func keyOf(has map[string]bool, table string) string {
	switch {
	case !has[table+".id"] || !has[table+".run_name"],
		table == "metrics" && !(has["metrics.metrics"] && has["metrics.timestamp"]):
		return ""
	case has[table+".run_id"]:
		return "run_id"
	}
	return "run_name"
}

// reader reads a run.
type reader struct {
	db        *sqlitelog.DB
	path      files.Path
	requested string // "": the newest
	key       string // keyOf metrics; empty: the tables are not there yet
	run       logs.Run
	first     int64 // the number of its first row
	found     bool
	tables    map[string]*table
	beside    []aside // what is not metrics, in the order of its time
	reported  bool
	info      logs.Info
	row       logs.Row
	bad       int // rows
	warning   string
}

// Open returns a reader of a run in a database of trackio's: of the one with this ID, this name, or this unique
// beginning of one; or, for "", of the one that began last, and of a newer one once that begins. A database without
// runs is one that waits for its first. trackio does not say that a run has ended, and neither does the reader.
func Open(path files.Path, run string) (logs.Reader, error) {
	db, err := sqlitelog.Open(path)
	if err != nil {
		return nil, err
	}
	r := &reader{db: db, path: path, requested: run}
	_, err = db.Poll(context.Background(), func(ctx context.Context) (bool, error) { return true, r.find(ctx) })
	if err != nil && !errors.Is(err, logs.ErrRestart) {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Read implements logs.Reader.
func (r *reader) Read(ctx context.Context, to logs.Sink) (bool, error) {
	more, err := r.db.Poll(ctx, func(ctx context.Context) (bool, error) { return r.read(ctx, to) })
	if errors.Is(err, logs.ErrRestart) {
		*r = reader{db: r.db, path: r.path, requested: r.requested}
	}
	return more, err
}

func (r *reader) read(ctx context.Context, to logs.Sink) (bool, error) {
	if err := r.find(ctx); err != nil || !r.found {
		return false, err
	}
	if err := r.reportInfo(ctx, to); err != nil {
		return false, err
	}
	asides, err := r.fill(ctx)
	if err != nil {
		return false, err
	}
	metrics := r.tables["metrics"]
	from := metrics.After
	more, err := r.next(ctx, metrics, "timestamp, step, metrics", func(row []driver.Value) { r.give(to, row) })
	if err != nil || more {
		return more, err
	}
	for _, a := range r.beside {
		r.giveAside(to, a)
	}
	r.beside = nil
	return asides, r.follow(ctx, from, metrics.After)
}

// give gives a row of metrics, and before it what came before it.
func (r *reader) give(to logs.Sink, row []driver.Value) {
	wall := wallOf(sqlitelog.Text(row[0]))
	for len(r.beside) > 0 && r.beside[0].wall <= wall {
		r.giveAside(to, r.beside[0])
		r.beside = r.beside[1:]
	}
	r.row.Clear()
	r.row.Wall = wall
	if step := sqlitelog.Float(row[1]); step >= 0 {
		r.row.Step = step
	}
	r.giveRow(to, sqlitelog.Text(row[2]), "")
}

func (r *reader) giveRow(to logs.Sink, text, prefix string) {
	switch ok := putNumbers(&r.row, text, prefix); {
	case !ok:
		r.bad++
	case len(r.row.Values) > 0:
		to.Row(&r.row)
	}
}

// reportInfo tells the run's name and settings, once and when they change.
func (r *reader) reportInfo(ctx context.Context, to logs.Sink) error {
	var settings map[string]any
	if t := r.tables["configs"]; t.key != "" {
		err := r.db.Each(ctx, "SELECT config FROM configs WHERE "+t.key+" = ? ORDER BY id", []any{t.run},
			func(row []driver.Value) error {
				settings = config(sqlitelog.Text(row[0]))
				return nil
			})
		if err != nil {
			return err
		}
	}
	if !r.reported || !maps.Equal(settings, r.info.Config) {
		r.reported = true
		r.info = logs.Info{Name: r.run.Name, Began: r.run.Began, Config: settings, Program: "trackio"}
		to.Info(r.info)
	}
	return nil
}

// wallOf returns a time as trackio writes it, in seconds since 1970: in UTC, or without a zone, as old versions did, in
// that of the program. NaN: it is none.
func wallOf(text string) float64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.ParseInLocation("2006-01-02T15:04:05", text, time.Local)
	}
	if err != nil {
		return math.NaN()
	}
	return float64(at.UnixMicro()) / 1e6
}

func timeOf(text string) time.Time {
	wall := wallOf(text)
	if math.IsNaN(wall) {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(wall * 1e6))).UTC()
}

// Watch implements logs.Reader.
func (r *reader) Watch() []files.Path { return r.db.Watch() }

// Progress implements logs.Reader.
func (r *reader) Progress() float64 {
	if !r.found {
		return 0
	}
	t := r.tables["metrics"]
	if t.After >= t.Last {
		return 1
	}
	return float64(t.After-r.first+1) / float64(t.Last-r.first+1)
}

// Warning implements logs.Reader.
func (r *reader) Warning() string {
	if w := r.db.Warning(); w != "" {
		return w
	}
	if r.bad > 0 {
		return fmt.Sprintf("%s: %d rows of metrics can't be read: expected JSON objects", r.path.Base(), r.bad)
	}
	return r.warning
}

// Close implements logs.Reader.
func (r *reader) Close() error { return r.db.Close() }
