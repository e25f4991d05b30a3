package trackio

import (
	"context"
	"database/sql/driver"
	"fmt"
	"sort"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/internal/sqlitelog"
)

// prepare sees which tables there are.
func (r *reader) prepare(ctx context.Context) error {
	if r.key != "" {
		return nil
	}
	has, err := r.db.Schema(ctx)
	key := keyOf(has, "metrics")
	switch {
	case err != nil:
		return err
	case key == "" && len(has) > 0:
		return fmt.Errorf("%s: an SQLite database of another program: expected one of trackio's", r.path)
	case key == "":
		r.warning = r.waiting()
		return nil
	}
	r.tables = map[string]*table{}
	for _, name := range []string{"metrics", "configs", "system_metrics", "alerts"} {
		r.tables[name] = &table{Rows: sqlitelog.Rows{Table: name, Number: "id"}, key: keyOf(has, name)}
	}
	r.key = key
	return nil
}

func (r *reader) waiting() string {
	return r.path.Base() + ": no run of trackio yet: waiting for one"
}

// runs returns all runs, the one that began last first.
func (r *reader) runs(ctx context.Context) (runs []logs.Run, err error) {
	query := fmt.Sprintf(`SELECT g.run, f.run_name, f.timestamp, l.timestamp
		FROM (SELECT %[1]s AS run, min(id) AS first, max(id) AS last FROM metrics GROUP BY %[1]s) g
		JOIN metrics f ON f.id = g.first JOIN metrics l ON l.id = g.last ORDER BY g.first DESC`, r.key)
	err = r.db.Each(ctx, query, nil, func(row []driver.Value) error {
		runs = append(runs, logs.Run{
			ID: sqlitelog.Text(row[0]), Name: sqlitelog.Text(row[1]),
			Began: timeOf(sqlitelog.Text(row[2])), Written: timeOf(sqlitelog.Text(row[3])),
		})
		return nil
	})
	return runs, err
}

// find chooses the run to read, if there is one.
func (r *reader) find(ctx context.Context) error {
	if r.found {
		return nil
	}
	if err := r.prepare(ctx); err != nil || r.key == "" {
		return err
	}
	runs, err := r.runs(ctx)
	if err != nil {
		return err
	}
	at := 0
	if r.requested != "" {
		if at, err = sqlitelog.Choose(r.requested, runs); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
	}
	if len(runs) == 0 {
		r.warning = r.waiting()
		return nil
	}
	r.run, r.found, r.warning = runs[at], true, ""
	r.first, err = r.db.Int(ctx, "SELECT min(id) FROM metrics WHERE "+r.key+" = ?", r.run.ID)
	for _, t := range r.tables {
		if t.run = r.run.ID; t.key == "run_name" {
			t.run = r.run.Name
		}
	}
	r.tables["metrics"].After = r.first - 1
	return err
}

// follow returns ErrRestart if the newest run is wanted and a newer one has begun in the rows after one, up to the
// last.
func (r *reader) follow(ctx context.Context, after, last int64) error {
	if r.requested != "" || last == after {
		return nil
	}
	newer := false
	err := r.db.Each(ctx, fmt.Sprintf(`SELECT min(id) FROM metrics WHERE %[1]s IN
		(SELECT DISTINCT +%[1]s FROM metrics WHERE id > ? AND id <= ? AND +%[1]s <> ?) GROUP BY %[1]s`, r.key),
		[]any{after, last, r.run.ID}, func(row []driver.Value) error {
			newer = newer || sqlitelog.Int(row[0]) > r.first
			return nil
		})
	if err == nil && newer {
		return logs.ErrRestart
	}
	return err
}

// table is how far a table has been read.
type table struct {
	sqlitelog.Rows
	key string // keyOf it; empty: there is no such table
	run string // what the run is called in it
}

// next calls f with the columns of the next rows of the run, and reports whether there are more. The plus keeps SQLite
// from sorting all that the index on the run has.
func (r *reader) next(ctx context.Context, t *table, columns string, f func(row []driver.Value)) (more bool,
	err error) {
	return r.db.Next(ctx, &t.Rows, columns, "+"+t.key+" = ?", t.run, f)
}

// aside is a row of a table beside metrics.
type aside struct {
	wall    float64
	metrics string // of the machine, as JSON
	line    string // an alert
}

// fill reads the next rows of the tables beside metrics, and reports whether there are more.
func (r *reader) fill(ctx context.Context) (more bool, err error) {
	if len(r.beside) >= maxBeside {
		return true, nil
	}
	add := func(a aside) { r.beside = append(r.beside, a) }
	for _, part := range []struct {
		table, columns string
		read           func(row []driver.Value)
	}{
		{"system_metrics", "timestamp, metrics", func(row []driver.Value) {
			add(aside{wall: wallOf(sqlitelog.Text(row[0])), metrics: sqlitelog.Text(row[1])})
		}},
		{"alerts", "timestamp, title, text, level, step", func(row []driver.Value) {
			add(aside{wall: wallOf(sqlitelog.Text(row[0])), line: alert(row[1:])})
		}},
	} {
		t := r.tables[part.table]
		if t.key == "" {
			continue
		}
		some, err := r.next(ctx, t, part.columns, part.read)
		if err != nil {
			return false, err
		}
		more = more || some
	}
	sort.SliceStable(r.beside, func(i, j int) bool { return r.beside[i].wall < r.beside[j].wall })
	return more, nil
}

// alert writes an alert's title, text, level and step as a line.
func alert(row []driver.Value) string {
	line := strings.ToUpper(sqlitelog.Text(row[2])) + ": " + sqlitelog.Text(row[0])
	if text := sqlitelog.Text(row[1]); text != "" {
		line += ": " + text
	}
	if step := sqlitelog.Text(row[3]); step != "" {
		line += " (step " + step + ")"
	}
	return line
}

func (r *reader) giveAside(to logs.Sink, a aside) {
	if a.line != "" {
		to.Line([]byte(a.line))
		return
	}
	r.row.Clear()
	r.row.Wall = a.wall
	r.giveRow(to, a.metrics, "system/")
}
