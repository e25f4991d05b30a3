package storetest

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// raw returns a connection that checks nothing.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := raw(t, path)
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	db.Close()
}

// What newtop wrote with version 1 of the tables is read for good.
func TestVersion1(t *testing.T) {
	want := everyKind("20261121-120000-a1b2c3", 30)
	begun := want[0].(event.RunEvent)
	begun.Data.TestRows, begun.Data.Classes = 0, 0 // as the run of the fixture had it
	want[0] = begun
	s := open(t, version1(t))
	for i := range want {
		switch e := want[i].(type) {
		case event.EpochEvent:
			for _, q := range rowcode.WithoutColumn {
				*q.Of(&e) = event.Absent // the fixture is older
			}
			older(&e)
			want[i] = e
		case event.LapEvent:
			for _, q := range rowcode.WithoutColumn {
				*q.Of(&e.Lap) = event.Absent
			}
			older(&e.Lap)
			want[i] = e
		case event.DoneEvent:
			e.ValidationLoss, e.ValidationError, e.ValidationRMSE = event.Absent, event.Absent, event.Absent
			want[i] = e
		}
	}
	equal(t, events(t, s, want[0].(event.RunEvent).ID), want)
	run := find(t, s, "old")
	if run.State != "diverged" || run.Epochs != 4 || run.Inner != 180 || run.Checkpoint != 3 || run.Config.Epochs != 3 || run.Version != "0.6" {
		t.Errorf("%+v", run)
	}
	if _, text := kept(t, s, run.ID); string(text) != strings.Repeat("\x03", 10) {
		t.Errorf("checkpoint %q", text)
	}
}

// older makes an epoch what an older newtop kept of it: of what is not finite nothing, and of solves no Lanczos steps.
func older(e *event.EpochEvent) {
	e.Inner = slices.Clone(e.Inner)
	for i := range e.Inner {
		e.Inner[i].LanczosSteps, e.Inner[i].Multiplier, e.Inner[i].SteihaugShare = 0, event.Absent, event.Absent
	}
	for q := range event.QuantityCount {
		if f := q.Of(e); f.NonFinite() {
			*f = event.Absent
		}
	}
}

// version1 makes a store that newtop wrote with version 1 of the tables.
func version1(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/version1.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.db")
	execute(t, path, string(text))
	return path
}

// The next version's change is made of what is there, as a whole or not at all.
func TestMigration(t *testing.T) {
	s := temporary(t)
	written(t, s, recorder.About{}, opening("a"), epoch(0, 1))
	version := func() (n int) {
		if err := s.DB.QueryRow("PRAGMA user_version").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	bad := append(append([]string(nil), sqlfile.Migrations...), "ALTER TABLE runs ADD COLUMN remark TEXT; INSERT INTO nowhere VALUES (1)")
	if err := sqlfile.Prepare(t.Context(), s.File, bad); err == nil {
		t.Fatal("a migration that fails is no error")
	}
	if n := version(); n != len(sqlfile.Migrations) {
		t.Errorf("version %d after a migration that failed", n)
	}
	if _, err := s.DB.Exec("SELECT remark FROM runs"); err == nil {
		t.Error("half a migration is there")
	}
	good := append(append([]string(nil), sqlfile.Migrations...), "ALTER TABLE runs ADD COLUMN remark TEXT", "UPDATE runs SET remark = id || '!'")
	if err := sqlfile.Prepare(t.Context(), s.File, good); err != nil {
		t.Fatal(err)
	}
	var remark string
	if err := s.DB.QueryRow("SELECT remark FROM runs").Scan(&remark); err != nil || remark != "a!" || version() != len(good) {
		t.Errorf("%q, version %d: %v", remark, version(), err)
	}
	if err := sqlfile.Prepare(t.Context(), s.File, good); err != nil {
		t.Error(err)
	}
	var format *sqlfile.FormatError
	if _, err := store.Open(s.Path(), sqlfile.Options{}); !errors.As(err, &format) || !strings.HasSuffix(err.Error(), ": a run store of version 6: expected version 4 at most: a newer newtop made it") {
		t.Errorf("a later version: %v", err)
	}
	s.ReadOnly = true
	if err := sqlfile.Prepare(t.Context(), s.File, append(good, "SELECT 1")); err != nil || version() != len(good) {
		t.Errorf("an older version, to be read only: version %d, %v", version(), err)
	}
}

func TestNotAStore(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(dir, "foreign.db")
	execute(t, foreign, "CREATE TABLE runs (x)", "PRAGMA user_version=1")
	other := filepath.Join(dir, "other.db")
	execute(t, other, "PRAGMA application_id=7")
	good := filepath.Join(dir, "good.db")
	open(t, good).Close()
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ path, want string }{
		{dir, "a directory: expected a run store"},
		{os.DevNull, "no regular file: expected a run store"},
		{write("text.db", []byte(strings.Repeat("no database\n", 100))), "no SQLite database: expected a run store"},
		{foreign, "an SQLite database of another program: expected a run store"},
		{other, "an SQLite database of another program: expected a run store"},
		{write("short.db", whole[:2000]), "database"},
		{write("half.db", whole[:len(whole)/2]), "a damaged SQLite database: expected a run store: newtop runs salvage -o NEW.db writes what can be read into a new one"},
	}
	tables, err := raw(t, good).Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
	if err != nil {
		t.Fatal(err)
	}
	for tables.Next() { // one that has no end in the place of each
		var name string
		if err := tables.Scan(&name); err != nil {
			t.Fatal(err)
		}
		path := write(name+".db", whole)
		execute(t, path, "DROP TABLE "+name, "CREATE VIEW "+name+" AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c")
		cases = append(cases, struct{ path, want string }{path, "a view called " + name + ": expected a table"})
	}
	for _, c := range cases {
		for _, o := range []sqlfile.Options{{}, {ReadOnly: true}} {
			s, err := store.Open(c.path, o)
			var format *sqlfile.FormatError
			if !errors.As(err, &format) || !strings.HasPrefix(err.Error(), c.path+": ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %s", c.path, err, c.want)
			}
			if err == nil {
				s.Close()
			}
		}
	}
	for _, path := range []string{foreign, other} { // and it was left alone
		var mode string
		if err := raw(t, path).QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "delete" {
			t.Errorf("%s: journal mode %s: %v", path, mode, err)
		}
	}
	none := filepath.Join(dir, "deep", "none.db")
	if _, err := store.Open(none, sqlfile.Options{Existing: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := store.Open(none, sqlfile.Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), none) {
		t.Errorf("no file: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(none)); err == nil {
		t.Error("reading made a directory")
	}
}

// A row that no recorder writes, or whose values are others than when it was written, is left out; all others are read.
// One that is gone, or was moved to another run, is missed.
func TestBadRows(t *testing.T) {
	s := temporary(t)
	written(t, s, recorder.About{}, everything("a")...)
	whole := closed(t, s)
	for _, c := range []struct{ change, want string }{
		{"UPDATE epochs SET rest = '{' WHERE seq = 2", "epochs of run a, event 2: its checksum is another"},
		{"UPDATE epochs SET loss = loss * (1 + 1e-16 * 4) WHERE seq = 2", "epochs of run a, event 2: its checksum is another"},
		{"UPDATE epochs SET test_loss = NULL WHERE seq = 2", "epochs of run a, event 2: its checksum is another"},
		{"UPDATE epochs SET rest = '{', crc = NULL WHERE seq = 2", "epochs of run a, event 2: expected a JSON object in rest: unexpected end of JSON input"},
		{"UPDATE epochs SET rest = '[1]', crc = NULL WHERE seq = 2", "epochs of run a, event 2: expected a JSON object"},
		{"UPDATE solves SET steps = '[[1,2]]', crc = NULL", "solves of run a, event 3: 2 numbers in iteration 0 of steps: expected 6"},
		{"UPDATE solves SET steps = '7', crc = NULL", "solves of run a, event 3: expected a JSON array of arrays in steps"},
		{"UPDATE solves SET steps = '[[null,1,1,1,1,1]]', crc = NULL", "solves of run a, event 3: iteration 0 of steps has no number"},
		{"UPDATE spectra SET json = '{}', crc = NULL", "spectra of run a, event 1806: expected a JSON object with a type"},
		{`UPDATE spectra SET json = '{"type":"done"}', crc = NULL`, "spectra of run a, event 1806: a done event: expected spectrum"},
		{`UPDATE marks SET json = '{"type":"switch","epoch":"x"}', crc = NULL WHERE seq = 1807`, "marks of run a, event 1807: a switch event: "},
		{"UPDATE runs SET opening = '{\"type\":\"run\",\"version\":{}}'", "runs of run a, event 1: a run event: "},
		{"DELETE FROM epochs WHERE seq = 2", ""},
		{"DELETE FROM marks WHERE seq = 1807", ""},
		{"PRAGMA foreign_keys=0; UPDATE epochs SET run = 7 WHERE seq = 2", ""},
	} {
		s, read, missing := stored(t, whole, c.change), 0, c.want == ""
		_, err := s.Events(t.Context(), "a", 0, func(event.Event) bool { read++; return true })
		left, ok := errors.AsType[*store.DamageError](err)
		if !ok || left.Missing != missing || (left.Events == 0) != missing || !missing && !strings.HasPrefix(left.First.Error(), s.Path()+": "+c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n got %v\nwant %s", c.change, err, c.want)
		} else if read == 0 || left.Events <= 1 && read != len(everything("a"))-1 {
			t.Errorf("%s: %d events were read", c.change, read)
		}
	}
}

// A run whose row can't be read is listed and can be removed, and the others are as they were.
func TestBadRun(t *testing.T) {
	s := temporary(t)
	for _, id := range []string{"a", "b"} {
		written(t, s, recorder.About{Command: "newtop"}, everyKind(id, 5)...)
	}
	whole := closed(t, s)
	for _, change := range []string{"config = '{'", "opening = '[1]'", "opening = '7'", "changed = 'x'", "heartbeat = 'x'", "command = 'x'", "epochs = 7"} {
		s := stored(t, whole, "UPDATE runs SET "+change+" WHERE id = 'a'")
		runs, err := s.Runs(t.Context(), store.Filter{})
		if err != nil || len(runs) != 2 {
			t.Fatalf("%s: %d runs, %v", change, len(runs), err)
		}
		for _, r := range runs {
			if bad := r.ID == "a" && change != "heartbeat = 'x'"; (r.Damage != nil) != bad || bad && !strings.HasPrefix(r.Damage.Error(), s.Path()+": runs of run a: ") {
				t.Errorf("%s: run %s: %v", change, r.ID, r.Damage)
			}
		}
		_, err = s.Find(t.Context(), "a")
		if refused := strings.Contains(change, "config") || strings.Contains(change, "opening"); refused != (err != nil) {
			t.Errorf("%s: found: %v", change, err)
		}
		equal(t, events(t, s, "b"), everyKind("b", 5))
		if err := s.Remove(t.Context(), "a"); err != nil {
			t.Errorf("%s: %v", change, err)
		}
		if runs, err = s.Runs(t.Context(), store.Filter{}); err != nil || len(runs) != 1 || runs[0].Damage != nil {
			t.Errorf("%s: afterwards %+v, %v", change, runs, err)
		}
	}
}

// A run whose history has a bad row goes on from its checkpoint.
func TestContinueWithABadRow(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"), epoch(0, 3), inner(1, 0, 1), epoch(1, 2), epoch(2, 1))
	r.EnqueueCheckpoint(held(2))
	record(t, r, epoch(3, 1))
	flush(t, r)
	execute(t, s.Path(), "UPDATE epochs SET rest = '{' WHERE epoch = 1", "UPDATE solves SET steps = '{'")
	r, err := recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	rest, err := recorder.Resumable(t.Context(), r)
	var left *store.DamageError
	if err != nil || !errors.As(rest.Damage, &left) || left.Events != 2 || rest.From == nil || rest.From.Epoch != 2 || len(rest.History) != 3 {
		t.Fatalf("%+v, %v", rest, err)
	}
	record(t, r, opening("a"), epoch(3, 0.5), event.DoneEvent{})
	flush(t, r)
	if run := find(t, s, "a"); run.Damage != nil || run.Best == nil || run.Best.Epoch != 3 || run.Epochs != 4 {
		t.Errorf("%+v", run)
	}
}

func TestBadCheckpoint(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"))
	r.EnqueueCheckpoint(blob(1, recorder.PartSize+10))
	flush(t, r)
	whole := closed(t, s)
	for _, c := range []struct{ change, want string }{
		{"DELETE FROM parts WHERE part = 1", "checkpoints of run a, event 1: 2097152 bytes in 1 parts: expected 2097162"},
		{"UPDATE checkpoints SET size = 1 << 40", "checkpoints of run a, event 1: 2097162 bytes in 2 parts: expected 1099511627776"},
		{"UPDATE checkpoints SET size = -1", "checkpoints of run a, event 1: 2097162 bytes in 2 parts: expected -1"},
		{"SELECT 1", "checkpoints of run a, event 1: checkpoint: offset "},
	} {
		s := stored(t, whole, c.change)
		if _, _, err := s.Checkpoint(t.Context(), "a"); err == nil || !strings.HasPrefix(err.Error(), s.Path()+": "+c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.change, err, c.want)
		}
	}
}

// use does all that can be done with a store that may be damaged.
func use(path string, readOnly bool) {
	s, err := store.Open(path, sqlfile.Options{ReadOnly: readOnly})
	if err != nil {
		return
	}
	defer s.Close()
	// A fuzzed call has ten seconds, and there are two of this in one.
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	ids := []string{"a", "b"}
	runs, _ := s.Runs(ctx, store.Filter{})
	for _, r := range runs {
		if !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	for _, id := range ids {
		_, _ = s.Find(ctx, id)
		_, _ = s.Events(ctx, id, 0, func(event.Event) bool { return true })
		_, _, _ = s.Checkpoint(ctx, id)
		_ = s.View(ctx, func(tx *sql.Tx) error { // as it would be read if it were long
			h, err := store.NewRunReader(ctx, tx, id)
			if err != nil {
				return err
			}
			h.Epochs, h.Inner = rowcode.ManyEpochs+1, rowcode.ManyInner+1
			_, _, err = h.Whole(ctx)
			return err
		})
		if readOnly {
			continue
		}
		if r, err := recorder.Continue(ctx, s, id); err == nil {
			r.Grace = 10 * time.Millisecond
			_, _ = recorder.Resumable(ctx, r)
			_ = r.Record(opening(id))
			_ = r.Record(epoch(2, 3))
			r.EnqueueCheckpoint(blob(1, 10))
			_ = r.Flush()
		}
		_ = s.Rename(ctx, id, "y")
		_ = s.Remove(ctx, id)
	}
}

// FuzzStore damages a database: each five bytes overwrite one at an offset. Nothing may panic or hang.
func FuzzStore(f *testing.F) {
	whole := heldStore(f)
	edit := func(at int, value byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(at)), value)
	}
	f.Add([]byte{}, uint32(0))
	f.Add([]byte{}, uint32(5000))
	for at := 100; at < len(whole); at += 8 * 4096 * slowness {
		f.Add(append(edit(at, 0xff), edit(at+3, 0x80)...), uint32(0))
		f.Add(edit(at+8, 0x7f), uint32(0))
	}
	f.Fuzz(func(t *testing.T, edits []byte, cut uint32) {
		file := append([]byte(nil), whole[:len(whole)-int(cut)%len(whole)]...)
		for ; len(edits) >= 5; edits = edits[5:] {
			file[int(binary.LittleEndian.Uint32(edits))%len(file)] = edits[4]
		}
		path := filepath.Join(t.TempDir(), "runs.db")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		use(path, true)
		use(path, false)
	})
}

// FuzzSteps compares the quick reading of inner iterations with encoding/json's.
func FuzzSteps(f *testing.F) {
	e := inner(1, 2, 3)
	one := rowcode.AppendStep(nil, &e)
	f.Add(one)
	f.Add(rowcode.AppendStep(rowcode.AppendStep(nil, &e), &e))
	for _, text := range []string{"", "[]", "[[]]", "[[1,2,3,4,5,6]]", "[[1,null,-0,1e-300,1E+5,6],[1,2,3,4,5]]", "[[null,2,3,4,5,6]]", "[[01,2,3,4,5,6]]", "[[1,+2,3,4,5,.6]]", "[[1,2,3,4,5,1e999]]", "[[1,2,3,4,5,6]] "} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		quick, ok := rowcode.ScanSteps(text)
		if !ok {
			return
		}
		slow, err := rowcode.ParseSteps(text)
		if err != nil || fmt.Sprint(quick) != fmt.Sprint(slow) {
			t.Errorf("%q: %v, want %v: %v", text, quick, slow, err)
		}
	})
}

// Whoever opens a store that is just being made finds a store.
func TestOpenWhileItIsMade(t *testing.T) {
	for range nightly.Of(60, 12) {
		path := filepath.Join(t.TempDir(), "runs.db")
		errs := make(chan error)
		const openers = 4
		for range openers {
			go func() {
				s, err := store.Open(path, sqlfile.Options{})
				if err == nil {
					err = s.Close()
				}
				errs <- err
			}()
		}
		for range openers {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
}

// TestColumnsAreTheQuantities: the table of epochs has a column for each quantity, in the order of the list.
func TestColumnsAreTheQuantities(t *testing.T) {
	rows, err := temporary(t).DB.Query("SELECT name FROM pragma_table_info('epochs')")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	var want []string
	for _, q := range event.Quantities {
		if q.Column == "" {
			continue // it stands in rest
		}
		want = append(want, q.Column)
	}
	if got := slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(want, name) }); !slices.Equal(got, want) {
		t.Errorf("columns %q: expected in this order %q", got, want)
	}
}
