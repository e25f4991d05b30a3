package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/sqlfile"
)

func open(t testing.TB, path string) *store.Store {
	t.Helper()
	s, err := store.Open(path, sqlfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// reading opens a store to be read only.
func reading(t testing.TB, path string) *store.Store {
	t.Helper()
	s, err := store.Open(path, sqlfile.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func temporary(t testing.TB) *store.Store {
	return open(t, filepath.Join(t.TempDir(), "state", "runs.db"))
}

// closed closes a store and returns its file, which is whole then.
func closed(t testing.TB, s *store.Store) []byte {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// stored opens a store of its own with such a file, after some changes that check nothing.
func stored(t *testing.T, file []byte, changes ...string) *store.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, path, changes...)
	return open(t, path)
}

func opening(id string) event.RunEvent {
	return event.RunEvent{
		Version: 1, ID: id, Time: time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC),
		Data: event.DataInfo{Name: "letters", TrainRows: 10, TestRows: 5, Classes: 26}, Model: event.ModelInfo{Layers: []int{3, 2}, Parameters: 8},
		Optimizer: "tr-newton", Settings: map[string]any{"radius": 1.5, "path": "cg", "exact": true}, Seed: math.MaxUint64,
	}
}

func record(t testing.TB, r *recorder.Recorder, events ...event.Event) {
	t.Helper()
	for _, e := range events {
		if err := r.Record(e); err != nil {
			t.Fatal(err)
		}
	}
}

// written records a run that is over.
func written(t testing.TB, s *store.Store, about recorder.About, events ...event.Event) {
	t.Helper()
	r := recorder.New(s, about)
	record(t, r, events...)
	flush(t, r)
}

func flush(t testing.TB, r *recorder.Recorder) {
	t.Helper()
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	if now := r.Recording(); now.Warning != "" || now.Backlog != 0 || now.Lost != 0 {
		t.Fatalf("after the end: %+v", now)
	}
}

func events(t testing.TB, s *store.Store, id string) (out []event.Event) {
	t.Helper()
	_, err := s.Events(t.Context(), id, 0, func(e event.Event) bool {
		out = append(out, e)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// text is an event as programs read it.
func text(t testing.TB, e event.Event) string {
	t.Helper()
	line, err := event.EncodeEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// equal compares by what EncodeEvent writes, in which every bit of every number shows.
func equal(t testing.TB, got, want []event.Event) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if g, w := text(t, got[i]), text(t, want[i]); g != w {
			t.Fatalf("event %d:\n got %s\nwant %s", i+1, g, w)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
}

func epoch(n int, loss float64) event.EpochEvent {
	return event.EpochEvent{
		Epoch: n, Optimizer: "tr-newton", Loss: event.Float(loss), TestLoss: event.Float(loss + 0.1),
		Error: event.Float(math.NaN()), TestError: event.Float(loss / 2), RMSE: event.Float(math.Inf(1)),
		Rho: event.Float(math.Copysign(0, -1)), Radius: 0.1, Accepted: n%2 == 0, Gradients: event.Float(n),
		Seconds: 1e-3, Elapsed: event.Float(float64(n) * 1e-3),
		Inner: []event.InnerSummary{{
			Block: 1, Iterations: 7, Stop: krylov.Boundary, Ritz: []event.Float{1, 2}, LanczosSteps: 2, Multiplier: 0.5, SteihaugShare: 0.75,
		}},
	}
}

func inner(epoch, block, n int) event.InnerEvent {
	return event.InnerEvent{
		Epoch: epoch, Block: block, Iteration: n, Residual: event.Float(1 / float64(n)), StepNorm: 0.3,
		Radius: event.Absent, Curvature: event.Float(math.Copysign(0, -1)), Model: -1e-300,
	}
}

// everything is a run with every kind of event, with enough inner iterations to fill more than a row of them.
func everything(id string) []event.Event { return everyKind(id, 300) }

// everyKind is a run with every kind of event, with so many inner iterations a solve.
func everyKind(id string, iterations int) []event.Event {
	at := time.Date(2026, 11, 21, 12, 0, 1, 5, time.UTC)
	out := []event.Event{opening(id), epoch(0, 3)}
	for e := 1; e <= 3; e++ {
		for b := range 2 {
			for n := 1; n <= iterations; n++ {
				out = append(out, inner(e, b, n))
			}
		}
		out = append(out, epoch(e, 3/float64(e)))
	}
	return append(out,
		event.SpectrumEvent{Epoch: 3, Method: "lanczos", Eigenvalues: []event.Float{3, event.Float(math.NaN()), -1}, Stop: krylov.Limit},
		event.SwitchEvent{Epoch: 3, From: "tr-newton", To: "adam"},
		event.SettingEvent{Epoch: 3, Key: "radius", Value: 2.5},
		event.SettingEvent{Epoch: 3, Key: "path", Value: "dogleg"},
		event.SliceEvent{Epoch: 3, At: []event.Float{0, 1}, Loss: []event.Float{0, -1}},
		event.WeightsEvent{Epoch: 3, To: 1, Values: []event.Float{1, event.Float(math.NaN())}},
		event.ErrorsEvent{Epoch: 3, Classes: []string{"a", "b"}, Confusion: [][]int{{1, 2}, {3, 4}}},
		event.RewindEvent{Epoch: 3, To: 1},
		event.RaceEvent{Epoch: 1, State: "begun", Racers: []event.Racer{{Name: "x", Optimizer: "adam"}}, Picked: -1},
		event.LapEvent{Racer: 1, Lap: epoch(1, 0.5)},
		event.ResumeEvent{Epoch: 1, Time: at},
		event.SavedEvent{Epoch: 1, File: "x.onnx", Format: "onnx", Bytes: 12},
		event.DivergedEvent{Epoch: 2, Reason: "why"},
		event.DoneEvent{Reason: event.ReasonDiverged, Epochs: 3, Loss: event.Float(math.NaN()), BestEpoch: 2},
	)
}

// asJSON is what is left of events where they pass through JSON: ±Inf is NaN.
func asJSON(t *testing.T, events []event.Event) (out []event.Event) {
	for _, e := range events {
		back, err := event.DecodeEvent([]byte(text(t, e)))
		if err != nil || back == nil {
			t.Fatalf("%s: %v %v", e.EventType(), back, err)
		}
		out = append(out, back)
	}
	return out
}

func TestEventsComeBackAsRecorded(t *testing.T) {
	s := temporary(t)
	want := everything("a")
	written(t, s, recorder.About{Config: trainer.Config{Data: "letters", Epochs: 3, Set: []string{"radius=2"}}, Command: "newtop train", Name: "first", Version: "1.2"}, want...)
	got := events(t, s, "a")
	equal(t, got, want)
	if want := asJSON(t, want); !same(got, want) {
		t.Error("the events differ from those that pass through JSON")
	}

	runs, err := s.Runs(t.Context(), store.Filter{})
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	run := runs[0]
	if run.State != "diverged" || run.Name != "first" || run.Epochs != 4 || run.Inner != 1800 || run.Checkpoint != -1 ||
		run.First.Epoch != 0 || run.Last.Epoch != 3 || run.Best.Epoch != 3 || run.Done.BestEpoch != 2 ||
		run.Command != "newtop train" || run.Version != "1.2" || run.Process != os.Getpid() || run.Bytes < 1000 ||
		run.Config.Epochs != 3 || run.Opening.Seed != math.MaxUint64 {
		t.Errorf("%+v", run)
	}
}

// same compares deeply, NaN being equal to NaN: by the text that %#v writes, after pointers.
func same(a, b []event.Event) bool {
	return len(a) == len(b) && fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b)
}

// Reading may begin anywhere, in the middle of a row of inner iterations too.
func TestEventsAfterAPosition(t *testing.T) {
	s := temporary(t)
	want := everything("a")
	written(t, s, recorder.About{}, want...)
	for after := range len(want) + 2 {
		if after%173 != 0 && after > 2 && after < len(want)-2 {
			continue
		}
		var got []event.Event
		last, err := s.Events(t.Context(), "a", int64(after), func(e event.Event) bool {
			got = append(got, e)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, want[min(after, len(want)):])
		if last != int64(max(after, len(want))) {
			t.Errorf("after %d: last %d", after, last)
		}
	}
	n := 0
	last, err := s.Events(t.Context(), "a", 3, func(event.Event) bool { n++; return n < 5 })
	if n != 5 || last != 8 || err != nil {
		t.Errorf("stopped at %d after %d: %v", last, n, err)
	}
}

// Every field of an epoch is kept, those that will be added too.
func TestEveryFieldOfAnEpoch(t *testing.T) {
	var want event.EpochEvent
	fill(reflect.ValueOf(&want).Elem(), new(int))
	s := temporary(t)
	written(t, s, recorder.About{}, opening("a"), want)
	got := events(t, s, "a")[1]
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// fill gives every field another value.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Uint8: // a krylov.Stop, of which there are few
		v.SetUint(2)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic(v.Kind())
	}
}

// The columns and the queries of docs/runs.md, for people with SQL.
func TestPlainSQL(t *testing.T) {
	s := temporary(t)
	written(t, s, recorder.About{Name: "x"}, everything("a")...)
	for _, c := range []struct{ query, want string }{
		{"SELECT json_array(data, optimizer, parameters, seed) FROM runs", `["letters","tr-newton",8,18446744073709551615]`},
		{"SELECT json_group_array(loss) FROM epochs", "[3.0,3.0,1.5,1.0]"},
		{"SELECT count(*) FROM epochs WHERE rmse IS NULL AND error IS NULL AND test_error > 0", "4"},
		{"SELECT json_array(min(seq), max(seq), count(*), sum(iteration), count(radius), max(residual)) FROM iterations WHERE epoch = 2", "[604,1203,600,90300,0,1]"},
		{"SELECT json_array(epoch, method, largest, smallest) FROM spectra", `[3,"lanczos",3,-1]`},
		{"SELECT json_group_array(type) FROM marks", `["switch","setting","setting","slice","weights","errors","rewind","race","lap","resume","saved","diverged","done"]`},
	} {
		var got string
		if err := s.DB.QueryRow(c.query).Scan(&got); err != nil {
			t.Errorf("%s: %v", c.query, err)
		} else if got != c.want && !(strings.Contains(c.want, "18446744073709551615") && strings.HasPrefix(got, `["letters","tr-newton",8,1.8446744`)) {
			t.Errorf("%s:\n got %s\nwant %s", c.query, got, c.want)
		}
	}
}

// The queries that docs/runs.md shows work as they stand.
func TestQueriesOfTheDocs(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/runs.md")
	if err != nil {
		t.Fatal(err)
	}
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	e := opening("a")
	e.Data.Name = "letter"
	record(t, r, e, epoch(0, 1), epoch(1, 0.05))
	flush(t, r)
	blocks := strings.Split(string(doc), "```sql\n")[1:]
	if len(blocks) < 3 {
		t.Fatalf("%d queries", len(blocks))
	}
	for _, block := range blocks {
		query, _, _ := strings.Cut(block, "```")
		var rows int
		if err := s.DB.QueryRow("SELECT count(*) FROM (" + strings.TrimSuffix(strings.TrimSpace(query), ";") + ")").Scan(&rows); err != nil || rows == 0 {
			t.Errorf("%s: %d rows: %v", query, rows, err)
		}
	}
}

func TestFind(t *testing.T) {
	s := temporary(t)
	for i, id := range []string{"20261121-100000-aaaaaa", "20261121-110000-bbbbbb", "20261122-100000-aabbcc"} {
		r := recorder.New(s, recorder.About{Name: []string{"", "good", "good"}[i]})
		e := opening(id)
		e.Time = e.Time.Add(time.Duration(i) * time.Hour)
		record(t, r, e)
		flush(t, r)
		if got := r.Recording().Run; i == 2 && got != "good-2" {
			t.Errorf("a name that is taken became %q", got)
		}
	}
	for _, c := range []struct{ name, want, problem string }{
		{"last", "20261122-100000-aabbcc", ""},
		{"last~2", "20261121-100000-aaaaaa", ""},
		{"good", "20261121-110000-bbbbbb", ""},
		{"good-2", "20261122-100000-aabbcc", ""},
		{"20261122", "20261122-100000-aabbcc", ""},
		{"bbb", "20261121-110000-bbbbbb", ""},
		{"20261121-100000-aaaaaa", "20261121-100000-aaaaaa", ""},
		{"20261121", "", "run 20261121: expected one of 20261121-110000-bbbbbb, 20261121-100000-aaaaaa"},
		{"nothing", "", "run nothing: expected the ID or name of a run, a unique beginning or end of one, or last"},
		{"last~3", "", "run last~3: expected the ID or name of a run, a unique beginning or end of one, or last"},
	} {
		run, err := s.Find(t.Context(), c.name)
		switch {
		case c.problem != "":
			var missing *sqlfile.NotFoundError
			if !errors.As(err, &missing) || err.Error() != c.problem {
				t.Errorf("%s: %v, want %s", c.name, err, c.problem)
			}
		case err != nil || run.ID != c.want:
			t.Errorf("%s: %v %v", c.name, run, err)
		}
	}
}

func TestFilterRenameRemove(t *testing.T) {
	s := temporary(t)
	ctx := t.Context()
	for i := range 5 {
		r := recorder.New(s, recorder.About{Command: fmt.Sprintf("newtop train %d", i)})
		e := opening(fmt.Sprintf("run-%d", i))
		e.Time = e.Time.Add(time.Duration(i) * time.Hour)
		if i == 3 {
			e.Optimizer = "adam"
		}
		record(t, r, e, epoch(0, 1))
		if i != 4 {
			record(t, r, event.DoneEvent{Reason: event.ReasonEpochs})
		}
		flush(t, r)
	}
	for _, c := range []struct {
		f    store.Filter
		want string
	}{
		{store.Filter{}, "run-4 run-3 run-2 run-1 run-0"},
		{store.Filter{Limit: 2}, "run-4 run-3"},
		{store.Filter{Optimizer: "adam"}, "run-3"},
		{store.Filter{Data: "letters", Limit: 1}, "run-4"},
		{store.Filter{Data: "none"}, ""},
		{store.Filter{State: "epochs", Limit: 1}, "run-3"},
		{store.Filter{State: string(store.Interrupted)}, "run-4"},
		{store.Filter{Text: "TRAIN 2"}, "run-2"},
		{store.Filter{Since: opening("").Time.Add(150 * time.Minute)}, "run-4 run-3"},
	} {
		runs, err := s.Runs(ctx, c.f)
		var ids []string
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != c.want || err != nil {
			t.Errorf("%+v: %s, want %s: %v", c.f, got, c.want, err)
		}
	}

	if err := s.Rename(ctx, "run-1", "best"); err != nil {
		t.Fatal(err)
	}
	var taken *sqlfile.NameError
	if err := s.Rename(ctx, "run-2", "best"); !errors.As(err, &taken) || !strings.Contains(err.Error(), "run-1") {
		t.Errorf("a name that is taken: %v", err)
	}
	for _, bad := range []string{"last", "last~1", "a b", "a/b", "-x", "off", strings.Repeat("x", 100), "a\x00"} {
		if err := s.Rename(ctx, "run-2", bad); !errors.As(err, &taken) {
			t.Errorf("name %q: %v", bad, err)
		}
	}
	var missing *sqlfile.NotFoundError
	if err := s.Rename(ctx, "run-9", "new"); !errors.As(err, &missing) {
		t.Errorf("no run: %v", err)
	}
	if err := s.Rename(ctx, "run-1", ""); err != nil {
		t.Error(err)
	}
	if err := s.Remove(ctx, "run-0", "run-9"); !errors.As(err, &missing) {
		t.Errorf("no run: %v", err)
	}
	if runs, _ := s.Runs(ctx, store.Filter{}); len(runs) != 5 {
		t.Error("a removal that failed removed something")
	}
	if err := s.Remove(ctx, "run-0", "run-1", "run-2", "run-3", "run-4"); err != nil {
		t.Fatal(err)
	}
	var vacuum, free int
	if err := s.DB.QueryRow("SELECT auto_vacuum, freelist_count FROM pragma_auto_vacuum, pragma_freelist_count").Scan(&vacuum, &free); err != nil || vacuum != 2 || free != 0 {
		t.Errorf("auto_vacuum %d, %d pages are free: %v", vacuum, free, err)
	}
	for _, table := range []string{"runs", "epochs", "solves", "spectra", "marks", "peaks", "checkpoints", "parts"} {
		var n int
		if err := s.DB.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows are left in %s: %v", n, table, err)
		}
	}
}

// A run that could not begin leaves nothing, and a Recorder that gets nothing costs nothing.
func TestNothingBegan(t *testing.T) {
	s := temporary(t)
	written(t, s, recorder.About{}, event.DoneEvent{Reason: event.ReasonFailed})
	flush(t, recorder.New(s, recorder.About{}))
	if runs, err := s.Runs(t.Context(), store.Filter{}); len(runs) != 0 || err != nil {
		t.Error(runs, err)
	}
}

func TestDefaultPath(t *testing.T) {
	usual := map[string]string{"darwin": "/c/Library/Application Support/newtop/runs.db", "windows": "/l/newtop/runs.db"}[runtime.GOOS]
	usual = cmp.Or(usual, "/c/.local/state/newtop/runs.db")
	t.Setenv("LocalAppData", "/l")
	for _, c := range []struct{ ours, xdg, home, want string }{
		{"/a", "/b", "/c", "/a/runs.db"},
		{"", "/b", "/c", "/b/newtop/runs.db"},
		{"", "relative", "/c", usual},
		{"", "", "/c", usual},
	} {
		t.Setenv("NEWTOP_STATE_DIR", c.ours)
		t.Setenv("XDG_STATE_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		if got, err := store.DefaultPath(); filepath.ToSlash(got) != c.want || err != nil {
			t.Errorf("%+v: %s %v", c, got, err)
		}
	}
}

func TestReading(t *testing.T) {
	s := temporary(t)
	written(t, s, recorder.About{}, everything("a")...)
	s.Close()
	ro := reading(t, s.Path())
	equal(t, events(t, ro, "a"), everything("a"))
	if err := ro.Remove(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "can't be written") {
		t.Errorf("removing from a store that is only read: %v", err)
	}
	if _, err := ro.Events(t.Context(), "b", 0, nil); err == nil {
		t.Error("no run b, and no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ro.Runs(ctx, store.Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A store in a directory that nobody can write can be read.
func TestReadingInReadOnlyDirectory(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("permissions do not bind this user, or there are none here")
	}
	s := temporary(t)
	written(t, s, recorder.About{}, everyKind("a", 2)...)
	s.Close()
	dir := filepath.Dir(s.Path())
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	ro := reading(t, s.Path())
	equal(t, events(t, ro, "a"), everyKind("a", 2))
}
