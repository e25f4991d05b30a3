package trackio

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/internal/sqlitelog"
)

// The part of trackio's tables that is read here: those of 0.36, and those before runs had IDs.
const (
	schema = `
CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
	step INTEGER NOT NULL, metrics TEXT NOT NULL, log_id TEXT, space_id TEXT);
CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, run_name TEXT NOT NULL, config TEXT NOT NULL,
	created_at TEXT NOT NULL, UNIQUE(run_id));
CREATE TABLE system_metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
	metrics TEXT NOT NULL);
CREATE TABLE alerts (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
	title TEXT NOT NULL, text TEXT, level TEXT NOT NULL DEFAULT 'warn', step INTEGER, alert_id TEXT);
CREATE INDEX idx_metrics_run_step ON metrics(run_id, step);
CREATE INDEX idx_metrics_run_timestamp ON metrics(run_id, timestamp)`
	oldSchema = `
CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, project_name TEXT NOT NULL, run_name TEXT NOT NULL,
	step INTEGER NOT NULL, metrics TEXT NOT NULL);
CREATE INDEX idx_metrics_proj_run_step ON metrics(project_name, run_name, step)`
)

// writer is a program that writes a database.
type writer struct {
	t testing.TB
	*sql.DB
}

func newDB(t testing.TB, schema string) (writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "project.db")
	return create(t, path, schema), path
}

func create(t testing.TB, path, schema string) writer {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(0)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	w := writer{t, db}
	w.exec("PRAGMA journal_mode=WAL")
	w.exec(schema)
	return w
}

func (w writer) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.Exec(query, args...); err != nil {
		w.t.Fatal(err)
	}
}

// stamp is a time so many seconds after a moment, which is at, as trackio writes it.
func stamp(second int) string { return fmt.Sprintf("2026-08-21T09:12:%02d.500000+00:00", second) }

const at = 1787303520.5

// log writes a row, as bytes, which is what trackio's writer of JSON gives it.
func (w writer) log(run string, second, step int, metrics string) {
	w.t.Helper()
	w.exec("INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", "id-"+run, stamp(second), run, step, []byte(metrics))
}

// sink writes down what it is given: rows as step@seconds key=value.
type sink struct {
	got  []string
	info logs.Info
}

func (s *sink) Row(r *logs.Row) {
	text := fmt.Sprintf("%v@%v", r.Step, r.Wall-at)
	for _, v := range r.Values {
		text += fmt.Sprintf(" %s=%v", v.Key, v.V)
	}
	s.got = append(s.got, text)
}
func (s *sink) Info(i logs.Info) { s.info = i }
func (s *sink) Line(text []byte) { s.got = append(s.got, string(text)) }
func (s *sink) End(state logs.State, why string) {
	s.got = append(s.got, fmt.Sprint("end ", state, why))
}

// drain reads all that there is.
func drain(t testing.TB, r logs.Reader, to logs.Sink) error {
	t.Helper()
	for range 10_000 {
		more, err := r.Read(t.Context(), to)
		if err != nil || !more {
			return err
		}
	}
	t.Fatal("there is always more")
	return nil
}

func want(t *testing.T, r logs.Reader, rows ...string) logs.Info {
	t.Helper()
	var s sink
	if err := drain(t, r, &s); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.got, rows) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(s.got, "\n"), strings.Join(rows, "\n"))
	}
	return s.info
}

func wantRestart(t *testing.T, r logs.Reader) {
	t.Helper()
	if err := drain(t, r, &sink{}); !errors.Is(err, logs.ErrRestart) {
		t.Errorf("%v: expected that it begins anew", err)
	}
}

func openRun(t testing.TB, path, run string) logs.Reader {
	t.Helper()
	r, err := Open(files.Here(path), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestFollow(t *testing.T) {
	w, path := newDB(t, schema)
	w.log("other", 0, 0, `{"loss":99}`)
	w.log("fox", 1, 0, `{"loss":2.5,"train/acc":0.5,"epoch":1}`)
	w.log("other", 1, 1, `{"loss":99}`)
	w.log("fox", 3, 1, `{"loss":"NaN","grad":"Infinity","low":"-Infinity","note":"text","table":{"_type":"trackio.table","_value":[{"a":1}]},"nested":{"a":1,"b":{"c":2}}}`)
	w.log("fox", 4, 2, `{"table":{"n":3,"_type":"trackio.table","m":4}}`)
	w.exec("INSERT INTO configs (run_id, run_name, config, created_at) VALUES ('id-fox', 'fox', ?, ?)",
		`{"lr":0.1,"opt":{"name":"adam"},"amp":true,"_Username":"me","_Created":"2026"}`, stamp(0))
	w.exec("INSERT INTO system_metrics (run_id, timestamp, run_name, metrics) VALUES ('id-fox', ?, 'fox', '{\"gpu/0/utilization\":70}')", stamp(2))
	w.exec("INSERT INTO alerts (run_id, timestamp, run_name, title, text, level, step) VALUES ('id-fox', ?, 'fox', 'Spike', 'loss rose', 'warn', 1)", stamp(3))
	r := openRun(t, path, "")
	info := want(t, r, "0@1 loss=2.5 train/acc=0.5", "NaN@2 system/gpu/0/utilization=70", "WARN: Spike: loss rose (step 1)",
		"1@3 loss=NaN grad=+Inf low=-Inf nested/a=1 nested/b/c=2")
	if want := (map[string]any{"lr": 0.1, "opt/name": "adam", "amp": true}); info.Name != "fox" || info.Program != "trackio" || !reflect.DeepEqual(info.Config, want) ||
		float64(info.Began.UnixMicro())/1e6 != at+1 {
		t.Errorf("%+v", info)
	}
	want(t, r)
	w.log("other", 5, 2, `{"loss":99}`) // it began before
	want(t, r)
	w.log("fox", 6, 3, `{"loss":1}`)
	w.log("fox", 7, 4, `no object`)
	want(t, r, "3@6 loss=1")
	if r.Progress() != 1 || !strings.Contains(r.Warning(), "1 rows") {
		t.Error(r.Progress(), r.Warning())
	}
	w.log("newer", 8, 0, `{"loss":7}`)
	wantRestart(t, r)
	if info := want(t, r, "0@8 loss=7"); info.Name != "newer" {
		t.Errorf("%+v", info)
	}
}

func TestOldFile(t *testing.T) {
	w, path := newDB(t, oldSchema)
	for i := range 2 {
		w.exec("INSERT INTO metrics (timestamp, project_name, run_name, step, metrics) VALUES (?, 'p', 'fox', ?, ?)", stamp(i), i, `{"loss": 1.5, "bad": NaN}`)
	}
	want(t, openRun(t, path, "fox"), "0@0 loss=1.5 bad=NaN", "1@1 loss=1.5 bad=NaN")
	if !known(path) {
		t.Error("an old database is not known")
	}
}

func TestWhichRun(t *testing.T) {
	w, path := newDB(t, schema)
	r := openRun(t, path, "")
	want(t, r)
	if !strings.Contains(r.Warning(), "no run") {
		t.Errorf("%q", r.Warning())
	}
	w.log("one", 1, 0, `{"loss":1}`)
	w.log("two", 2, 0, `{"loss":2}`)
	want(t, r, "0@2 loss=2")
	for _, asked := range []string{"one", "id-one", "on", "id-o"} {
		want(t, openRun(t, path, asked), "0@1 loss=1")
	}
	if _, err := Open(files.Here(path), "id-"); err == nil || !strings.Contains(err.Error(), "2 runs") {
		t.Error(err)
	}
	runs, err := List(files.Here(path))
	if err != nil || len(runs) != 2 || runs[0].Name != "two" || runs[1].ID != "id-one" || runs[1].Began.Second() != 1 {
		t.Errorf("%+v, %v", runs, err)
	}
	named := openRun(t, path, "two")
	want(t, named, "0@2 loss=2")
	w.exec("DELETE FROM metrics WHERE run_name = 'two'")
	wantRestart(t, named)
	if err := drain(t, named, &sink{}); err == nil || !strings.Contains(err.Error(), "expected") {
		t.Error(err)
	}
}

func TestNoDatabase(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.db")
	create(t, other, "CREATE TABLE metrics (run_uuid)")
	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(files.Here(other), ""); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Error(err)
	}
	if known(other) || known(empty) || known("/absent") {
		t.Error("what is no database of trackio's is taken for one")
	}
	r := openRun(t, empty, "")
	want(t, r)
	if runs, err := List(files.Here(empty)); err != nil || len(runs) != 0 || r.Warning() == "" {
		t.Error(runs, err, r.Warning())
	}
}

func TestReplacedAndLocked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open stays there")
	}
	w, path := newDB(t, schema)
	w.log("one", 1, 0, `{"loss":1}`)
	r := openRun(t, path, "")
	want(t, r, "0@1 loss=1")
	w.Close()
	next, other := newDB(t, schema)
	next.log("two", 1, 0, `{"loss":2}`)
	next.exec("PRAGMA journal_mode=DELETE")
	for _, end := range []string{"-wal", "-shm"} { // of the one before
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	wantRestart(t, r)
	next.exec("BEGIN EXCLUSIVE")
	want(t, r)
	if !strings.Contains(r.Warning(), "locked") {
		t.Errorf("%q", r.Warning())
	}
	next.exec("COMMIT")
	want(t, r, "0@1 loss=2")
}

// A writer goes on while the reader follows: every row comes once.
func TestWriterGoesOn(t *testing.T) {
	w, path := newDB(t, schema)
	r := openRun(t, path, "")
	const n = 300
	done := make(chan error, 1)
	go func() {
		for i := range n {
			_, err := w.Exec("INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES ('a', ?, 'a', ?, '{\"loss\":1}')", stamp(0), i)
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	var s sink
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && len(s.got) < n; {
		if err := drain(t, r, &s); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for i, row := range s.got {
		if !strings.HasPrefix(row, fmt.Sprintf("%d@", i)) {
			t.Fatalf("row %d is %s", i, row)
		}
	}
	if len(s.got) != n {
		t.Errorf("%d rows: expected %d", len(s.got), n)
	}
}

// counter counts only.
type counter struct {
	logs.Nobody
	rows, values int
}

func (c *counter) Row(r *logs.Row) { c.rows++; c.values += len(r.Values) }

// BenchmarkOpen opens a run of a million steps of two metrics, and reports what the process then has from the system, MB-sys.
func BenchmarkOpen(b *testing.B) {
	w, path := newDB(b, schema)
	w.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999)
		INSERT INTO metrics (run_id, timestamp, run_name, step, metrics)
		SELECT 'a', '2026-08-21T09:12:24.123456+00:00', 'a', i, CAST('{"loss":0.123456789,"val_loss":' || (1.0 / (i + 1)) || '}' AS BLOB) FROM n`)
	w.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	b.ResetTimer()
	for b.Loop() {
		r := openRun(b, path, "")
		var c counter
		if err := drain(b, r, &c); err != nil || c.rows != 1_000_000 || c.values != 2_000_000 {
			b.Fatal(err, c)
		}
		r.Close()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys-m.HeapReleased)/1e6, "MB-sys")
}

// The scanner takes what encoding/json takes, and finds the same numbers in flat objects.
func FuzzMetrics(f *testing.F) {
	for _, text := range []string{
		`{"loss":0.5,"a":{"b":1}}`, `{"x":"NaN","y":[1,{"z":2}],"n":null,"t":true}`, `{"k\u00e9\"y":-1e-3}`, `{`, `{}`, `[]`, `{"a":}`,
		`{"a":{"_type":"x","v":1}}`, `{"a":1}x`, `{"a":NaN,"b":-Infinity}`, `{"a":01}`, strings.Repeat(`{"a":`, 100),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var row logs.Row
		row.Clear()
		ok := putNumbers(&row, text, "p/")
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil || object == nil {
			return
		}
		if !ok {
			t.Fatalf("%q is not read", text)
		}
		numbers := map[string]float64{}
		for _, v := range row.Values {
			numbers[v.Key] = v.V
		}
		for key, v := range object {
			if number, is := v.(float64); is && logs.Clean(key) == key && numbers["p/"+key] != number && !math.IsNaN(numbers["p/"+key]) && !twice(text, key) {
				t.Errorf("%q: %s is %v: expected %v", text, key, numbers["p/"+key], number)
			}
		}
	})
}

// twice reports whether a key may stand in the text more than once, or so that it has a slash.
func twice(text, key string) bool {
	return strings.Count(text, `"`) > 2 && (strings.Contains(key, "/") || strings.Contains(text, `\`) || strings.Count(text, `"`+key+`"`) != 1)
}

// known reports whether a file is taken for a database of the kind.
func known(path string) bool {
	_, has, _ := sqlitelog.Look(files.Here(path))
	return Wrote(has)
}
