package storetest

import (
	"bytes"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"newtop/trainer"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/search"
	"newtop/trainer/store/sqlfile"
	"newtop/trainer/store/upkeep"
)

// emptyFiles makes what a kill, a full disk or a power cut may leave of a store in its first moments: nothing, a
// database without tables, and one whose tables were in its log alone.
func emptyFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"0 bytes": "zero.db", "a header": "header.db", "no log": "copy.db"}
	for what, name := range files {
		files[what] = filepath.Join(dir, name)
	}
	if err := os.WriteFile(files["0 bytes"], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlfile.OpenDB(files["a header"], "rwc", sqlfile.ReadPatience)
	if err != nil {
		t.Fatal(err)
	}
	execAll(t, db, "PRAGMA journal_mode=WAL")
	db.Close()
	s := open(t, filepath.Join(dir, "whole.db"))
	text, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files["no log"], text, 0o600); err != nil {
		t.Fatal(err)
	}
	return files
}

func execAll(t *testing.T, db *sql.DB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
}

// An empty database is no run yet: readers find none and leave it as it is, a writer makes the tables.
func TestEmptyDatabase(t *testing.T) {
	into := temporary(t)
	for what, path := range emptyFiles(t) {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(path, sqlfile.Options{ReadOnly: true})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		runs, err := s.Runs(t.Context(), store.Filter{Alone: true})
		searches, err2 := search.All(t.Context(), s)
		if len(runs) > 0 || len(searches) > 0 || err != nil || err2 != nil {
			t.Errorf("%s: %d runs, %d searches: %v, %v", what, len(runs), len(searches), err, err2)
		}
		var none *sqlfile.NotFoundError
		if _, err := s.Find(t.Context(), "last"); !errors.As(err, &none) {
			t.Errorf("%s: last: %v", what, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if m, err := upkeep.Merge(t.Context(), into, path); err != nil || m.Runs.All() > 0 {
			t.Errorf("%s: merged %+v: %v", what, m, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s: reading changed the file: %v", what, err)
		}
		s = open(t, path)
		written(t, s, recorder.About{}, opening("a"))
		find(t, s, "a")
	}
}

// A database has all its tables or none, whichever version made it.
func TestTablesAreOneTransaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	db, err := sqlfile.OpenDB(path, "rwc", sqlfile.ReadPatience)
	if err != nil {
		t.Fatal(err)
	}
	s := &sqlfile.File{FilePath: path, DB: db}
	defer s.Close()
	bad := append(append([]string(nil), sqlfile.Migrations...), "INSERT INTO nowhere VALUES (1)")
	if err := sqlfile.Prepare(t.Context(), s, bad); err == nil {
		t.Fatal("a migration that fails is no error")
	}
	var tables, version int
	if err := db.QueryRow("SELECT count(*), (SELECT user_version FROM pragma_user_version) FROM sqlite_schema").Scan(&tables, &version); err != nil || tables != 0 || version != 0 {
		t.Errorf("%d tables, version %d after a migration that failed: %v", tables, version, err)
	}
}

// A run that is killed in its first moments can be begun again by the same line.
func TestKillAtOnce(t *testing.T) {
	config := trainer.Config{Data: "spirals", Hidden: []int{4}, Optimizer: "adam", Epochs: 2}
	random := rand.New(rand.NewPCG(7, 6))
	for i := range max(6, *kills/2) {
		path := filepath.Join(t.TempDir(), "runs.db")
		p := child{Path: path, Config: config}.start(t)
		wait := 4*time.Millisecond + time.Duration(random.IntN(56_000))*time.Microsecond
		time.Sleep(wait)
		if err := p.command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.wait()
		if _, err := os.Stat(path); err == nil {
			s, err := store.Open(path, sqlfile.Options{ReadOnly: true})
			if err != nil {
				t.Fatalf("kill %d, after %v: %v", i, wait, err)
			}
			if _, err := s.Runs(t.Context(), store.Filter{}); err != nil {
				t.Fatalf("kill %d, after %v: %v", i, wait, err)
			}
			s.Close()
		}
		p = child{Path: path, Config: config}.start(t)
		if lines, err := p.wait(); err != nil || lines[len(lines)-1] != "end" {
			t.Fatalf("kill %d, after %v: %v: %s", i, wait, err, p.errors.String())
		}
	}
}
