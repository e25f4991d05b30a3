package mlflow

import (
	"context"
	"database/sql"
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

// schema is the part of MLflow's that is read here, as its migrations leave it (3.11).
const schema = `
CREATE TABLE experiments (experiment_id INTEGER NOT NULL, name VARCHAR(256) NOT NULL, lifecycle_stage VARCHAR(32),
	CONSTRAINT experiment_pk PRIMARY KEY (experiment_id), UNIQUE (name));
CREATE TABLE runs (run_uuid VARCHAR(32) NOT NULL, name VARCHAR(250), status VARCHAR(9), start_time BIGINT, end_time BIGINT,
	lifecycle_stage VARCHAR(20), experiment_id INTEGER, CONSTRAINT run_pk PRIMARY KEY (run_uuid));
CREATE TABLE metrics ("key" VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL, run_uuid VARCHAR(32) NOT NULL,
	step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL,
	CONSTRAINT metric_pk PRIMARY KEY ("key", timestamp, step, run_uuid, value, is_nan), CHECK (is_nan IN (0, 1)));
CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
CREATE INDEX index_metrics_run_uuid_key_step ON metrics (run_uuid, "key", step);
CREATE TABLE params ("key" VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL,
	CONSTRAINT param_pk PRIMARY KEY ("key", run_uuid));
CREATE TABLE tags ("key" VARCHAR(250) NOT NULL, value VARCHAR(8000), run_uuid VARCHAR(32) NOT NULL,
	CONSTRAINT tag_pk PRIMARY KEY ("key", run_uuid));
INSERT INTO experiments VALUES (0, 'Default', 'active')`

// writer is a program that writes a database.
type writer struct {
	t testing.TB
	*sql.DB
}

func create(t testing.TB, path string) writer {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(0)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return writer{t, db}
}

func newDB(t testing.TB) (writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mlflow.db")
	w := create(t, path)
	w.exec(schema)
	return w, path
}

func (w writer) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.Exec(query, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w writer) run(id, name string, began int64) {
	w.t.Helper()
	w.exec("INSERT INTO runs VALUES (?, ?, 'RUNNING', ?, NULL, 'active', 0)", id, name, began)
}

func (w writer) metric(run, key string, value float64, ms, step int64) {
	w.t.Helper()
	isNaN := math.IsNaN(value)
	if isNaN {
		value = 0
	} else if math.IsInf(value, 0) {
		value = math.Copysign(1.7976931348623157e308, value)
	}
	w.exec("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", key, value, ms, run, step, isNaN)
}

// sink writes down what it is given: rows as step@wall key=value.
type sink struct {
	got  []string
	info logs.Info
}

func (s *sink) Row(r *logs.Row) {
	text := fmt.Sprintf("%v@%v", r.Step, r.Wall)
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

func want(t *testing.T, r logs.Reader, rows ...string) {
	t.Helper()
	var s sink
	if err := drain(t, r, &s); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.got, rows) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(s.got, "\n"), strings.Join(rows, "\n"))
	}
}

func wantRestart(t *testing.T, r logs.Reader) {
	t.Helper()
	if err := drain(t, r, &sink{}); !errors.Is(err, logs.ErrRestart) {
		t.Errorf("%v: expected that it begins anew", err)
	}
}

func open(t testing.TB, path, run string) logs.Reader {
	t.Helper()
	r, err := OpenDB(files.Here(path), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestFollow(t *testing.T) {
	for _, mode := range []string{"DELETE", "WAL"} {
		t.Run(mode, func(t *testing.T) {
			w, path := newDB(t)
			w.exec("PRAGMA journal_mode=" + mode)
			w.run("aaa", "bold-fox", 1_700_000_000_000)
			w.exec("INSERT INTO params VALUES ('lr', '0.1', 'aaa'), ('net', 'mlp', 'aaa'), ('amp', 'True', 'aaa')")
			w.metric("aaa", "loss", 2, 1000, 1)
			w.metric("aaa", "acc", 0.5, 1000, 1)
			w.metric("aaa", "loss", math.NaN(), 2000, 2)
			w.metric("aaa", "loss", math.Inf(1), 3000, 3)
			w.metric("aaa", "loss", math.Inf(-1), 4000, 4)
			w.metric("aaa", "system/cpu_utilization_percentage", 7, 4500, 0)
			w.metric("bbb", "loss", 99, 1000, 1) // of another run
			r := open(t, path, "")
			var s sink
			if err := drain(t, r, &s); err != nil {
				t.Fatal(err)
			}
			if got := []string{"1@1 loss=2 acc=0.5", "2@2 loss=NaN", "3@3 loss=+Inf", "4@4 loss=-Inf", "0@4.5 system/cpu_utilization_percentage=7"}; !slices.Equal(s.got, got) {
				t.Errorf("%q", s.got)
			}
			if want := (map[string]any{"lr": 0.1, "net": "mlp", "amp": true}); s.info.Name != "bold-fox" || s.info.Program != "MLflow" ||
				s.info.Began.Unix() != 1_700_000_000 || !reflect.DeepEqual(s.info.Config, want) {
				t.Errorf("%+v", s.info)
			}
			want(t, r)
			w.metric("aaa", "loss", 1, 5000, 5)
			want(t, r, "5@5 loss=1")
			w.exec("UPDATE runs SET status = 'FAILED'")
			w.metric("aaa", "loss", 0.5, 6000, 6)
			want(t, r, "6@6 loss=0.5", "end 2FAILED")
			want(t, r)
			if r.Progress() != 1 || r.Warning() != "" {
				t.Error(r.Progress(), r.Warning())
			}
			w.exec("UPDATE runs SET status = 'RUNNING'") // it is resumed
			wantRestart(t, r)
			if err := drain(t, r, &s); err != nil || len(s.got) < 8 {
				t.Error(err, s.got)
			}
		})
	}
}

// A program that tells no steps has all its metrics at step 0: they come in the order of time.
func TestUntoldSteps(t *testing.T) {
	w, path := newDB(t)
	w.run("aaa", "a", 1)
	for i := range int64(3) {
		w.metric("aaa", "loss", float64(i), 1000+i, 0)
	}
	want(t, open(t, path, "aaa"), "0@1 loss=0", "0@1.001 loss=1", "0@1.002 loss=2")
}

// Metrics that are written one after the other are put together by their steps; those that only count otherwise are
// not.
func TestOrder(t *testing.T) {
	w, path := newDB(t)
	w.run("history", "", 1)
	for k, key := range []string{"loss", "acc"} {
		for i := range int64(3) {
			w.metric("history", key, float64(i), int64(k+1)*1000, i+1)
		}
	}
	want(t, open(t, path, "history"), "1@1 loss=0", "1@2 acc=0", "2@1 loss=1", "2@2 acc=1", "3@1 loss=2", "3@2 acc=2")
	w.run("batches", "", 1)
	for i := range int64(6) {
		w.metric("batches", "loss", float64(i), 1000*(i+1), 100*i)
		if i%2 == 1 {
			w.metric("batches", "val_loss", float64(i), 1000*(i+1)+500, i/2)
		}
	}
	want(t, open(t, path, "batches"), "0@1 loss=0", "100@2 loss=1", "0@2.5 val_loss=1", "200@3 loss=2", "300@4 loss=3", "1@4.5 val_loss=3",
		"400@5 loss=4", "500@6 loss=5", "2@6.5 val_loss=5")
}

func TestWhichRun(t *testing.T) {
	w, path := newDB(t)
	r := open(t, path, "")
	want(t, r)
	if !strings.Contains(r.Warning(), "no run") {
		t.Errorf("%q", r.Warning())
	}
	w.run("abc1", "first", 1000)
	w.metric("abc1", "loss", 1, 1000, 1)
	want(t, r, "1@1 loss=1")
	w.run("abd2", "", 2000)
	w.exec("INSERT INTO tags VALUES ('mlflow.runName', 'second', 'abd2')")
	w.metric("abd2", "loss", 2, 1000, 1)
	wantRestart(t, r)
	want(t, r, "1@1 loss=2")
	w.run("zzz", "first", 3000)
	w.exec("UPDATE runs SET lifecycle_stage = 'deleted' WHERE run_uuid = 'zzz'")
	want(t, r)
	for _, c := range []struct{ asked, want string }{
		{"first", "1@1 loss=1"}, {"second", "1@1 loss=2"}, {"abc", "1@1 loss=1"}, {"sec", "1@1 loss=2"}, {"abd2", "1@1 loss=2"},
	} {
		want(t, open(t, path, c.asked), c.want)
	}
	for _, asked := range []string{"ab", "third", "secnd"} {
		_, err := OpenDB(files.Here(path), asked)
		if err == nil || !strings.Contains(err.Error(), "expected") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", asked, err)
		}
	}
	runs, err := ListDB(files.Here(path))
	if err != nil || len(runs) != 2 || runs[0].Name != "second" || runs[1].Status != "RUNNING" {
		t.Errorf("%+v, %v", runs, err)
	}
	named := open(t, path, "second")
	want(t, named, "1@1 loss=2")
	w.exec("DELETE FROM metrics WHERE run_uuid = 'abd2'")
	w.exec("DELETE FROM runs WHERE run_uuid = 'abd2'")
	if err := drain(t, named, &sink{}); err == nil || !strings.Contains(err.Error(), "deleted") {
		t.Error(err)
	}
	wantRestart(t, r)
	want(t, r, "1@1 loss=1")
}

func TestLocked(t *testing.T) {
	w, path := newDB(t)
	w.run("aaa", "a", 1)
	w.metric("aaa", "loss", 1, 1000, 1)
	w.exec("BEGIN EXCLUSIVE")
	r := open(t, path, "aaa")
	want(t, r)
	if !strings.Contains(r.Warning(), "locked") {
		t.Errorf("%q", r.Warning())
	}
	w.exec("COMMIT")
	want(t, r, "1@1 loss=1")
	if r.Warning() != "" {
		t.Errorf("%q", r.Warning())
	}
}

func TestReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open stays there")
	}
	w, path := newDB(t)
	w.run("aaa", "a", 1)
	w.metric("aaa", "loss", 1, 1000, 1)
	r := open(t, path, "")
	want(t, r, "1@1 loss=1")
	w.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want(t, r)
	if !strings.Contains(r.Warning(), "deleted") {
		t.Errorf("%q", r.Warning())
	}
	next := create(t, path)
	next.exec(schema)
	next.run("bbb", "b", 1)
	next.metric("bbb", "loss", 5, 1000, 1)
	wantRestart(t, r)
	want(t, r, "1@1 loss=5")
}

func TestNoDatabase(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	create(t, other).exec("CREATE TABLE metrics (a)")
	for _, path := range []string{dir, text, other, filepath.Join(dir, "absent.db")} {
		if _, err := OpenDB(files.Here(path), ""); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", path, err)
		}
		if known(path) {
			t.Errorf("%s is taken for a database of MLflow's", path)
		}
	}
	_, path := newDB(t)
	if !known(path) {
		t.Error("a database of MLflow's is not known")
	}
	none := filepath.Join(dir, "new.db") // before its tables are there
	if err := os.WriteFile(none, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := open(t, none, "")
	want(t, r)
	if r.Warning() == "" {
		t.Error("nothing is said of a database without tables")
	}
	w := create(t, none)
	w.exec(schema)
	w.run("aaa", "a", 1)
	w.metric("aaa", "loss", 1, 1000, 1)
	want(t, r, "1@1 loss=1")
}

// A writer goes on while the reader follows: every metric comes once, and the writer is never refused.
func TestWriterGoesOn(t *testing.T) {
	w, path := newDB(t)
	w.exec("PRAGMA busy_timeout=5000")
	w.run("aaa", "a", 1)
	r := open(t, path, "aaa")
	const n = 300
	done := make(chan error, 1)
	go func() {
		for i := range n {
			if _, err := w.Exec("INSERT INTO metrics VALUES ('loss', ?, ?, 'aaa', ?, 0)", i, 1000*i, i); err != nil {
				done <- err
				return
			}
		}
		_, err := w.Exec("UPDATE runs SET status = 'FINISHED'")
		done <- err
	}()
	var s sink
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && !slices.Contains(s.got, "end 1"); {
		if err := drain(t, r, &s); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(s.got) != n+1 {
		t.Fatalf("%d rows: expected %d", len(s.got), n+1)
	}
	for i, row := range s.got[:n] {
		if !strings.HasPrefix(row, fmt.Sprintf("%d@", i)) {
			t.Fatalf("row %d is %s", i, row)
		}
	}
}

// counter counts rows only.
type counter struct {
	logs.Nobody
	rows, values int
}

func (c *counter) Row(r *logs.Row) { c.rows++; c.values += len(r.Values) }

// BenchmarkOpenDB opens a run of a million metrics, and reports what the process then has from the system, MB-sys.
func BenchmarkOpenDB(b *testing.B) {
	w, path := newDB(b)
	w.run("aaa", "a", 1)
	w.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499999)
		INSERT INTO metrics SELECT k, 1.0 / (i + 1), 1700000000000 + i, 'aaa', i, 0 FROM n, (SELECT 'loss' k UNION SELECT 'val_loss')`)
	b.ResetTimer()
	for b.Loop() {
		r := open(b, path, "")
		var c counter
		if err := drain(b, r, &c); err != nil || c.values != 1_000_000 {
			b.Fatal(err, c)
		}
		r.Close()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys-m.HeapReleased)/1e6, "MB-sys")
}

// BenchmarkIdle asks a reader for more when there is none.
func BenchmarkIdle(b *testing.B) {
	w, path := newDB(b)
	w.run("aaa", "a", 1)
	r := open(b, path, "")
	for b.Loop() {
		if _, err := r.Read(context.Background(), &counter{}); err != nil {
			b.Fatal(err)
		}
	}
}

// known reports whether a file is taken for a database of the kind.
func known(path string) bool {
	_, has, _ := sqlitelog.Look(files.Here(path))
	return Wrote(has)
}
