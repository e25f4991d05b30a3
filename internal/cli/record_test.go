package cli

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/internal/version"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// database returns a run store of the test's own.
func database(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "runs.db")
}

// recordedRun records a run and returns its ID.
func recordedRun(t *testing.T, db string, args ...string) (id string) {
	t.Helper()
	_, errs, code := newtop(append([]string{"train", "--record", db}, args...)...)
	if code != 0 {
		t.Fatalf("train %v: exit %d\n%s", args, code, errs)
	}
	last := lines(errs)[strings.Count(errs, "\n")-1]
	said := regexp.MustCompile(`^recorded as (\S+): newtop runs show \S+ --record \S+$`).FindStringSubmatch(last)
	if said == nil {
		t.Fatalf("train %v: the last line does not say where the run is:\n%s", args, errs)
	}
	inStore(t, db, func(s *store.Store) {
		r, err := s.Find(t.Context(), said[1])
		if err != nil {
			t.Fatal(err)
		}
		id = r.ID
	})
	return id
}

// inSQL has a database carry out a statement that checks nothing.
func inSQL(t *testing.T, db, statement string, args ...any) {
	t.Helper()
	s, err := sql.Open("sqlite", db+"?_busy_timeout=60000")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Exec(statement, args...)
	if err := cmp.Or(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// inStore calls f with an open store.
func inStore(t *testing.T, db string, f func(*store.Store)) {
	t.Helper()
	s, err := store.Open(db, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f(s)
}

// recordedEvents returns what a store has of a run, as JSON lines.
func recordedEvents(t *testing.T, db, id string) string {
	t.Helper()
	var out bytes.Buffer
	inStore(t, db, func(s *store.Store) {
		lines := trainer.NewJSONLines(&out)
		if _, err := s.Events(context.Background(), id, 0, func(e event.Event) bool { return lines.Record(e) == nil }); err != nil {
			t.Fatal(err)
		}
	})
	return out.String()
}

// TestTrainRecords reads a run back: what was printed is what was recorded.
func TestTrainRecords(t *testing.T) {
	db := database(t)
	out, errs, code := newtop("train", "--record", db, "--name", "first", "--data", "spirals", "--opt", "tr-gn", "--epochs", "3", "--format", "jsonl")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	inStore(t, db, func(s *store.Store) {
		r, err := s.Find(t.Context(), "first")
		if err != nil {
			t.Fatal(err)
		}
		if r.State != "epochs" || r.Last.Epoch != 3 || r.Config.Data != "spirals" || r.Version != version.Program() ||
			r.Command != "newtop train --record "+format.Quote(db)+" --name first --data spirals --opt tr-gn --epochs 3 --format jsonl" {
			t.Errorf("recorded %+v", r)
		}
		if got := recordedEvents(t, db, r.ID); got != out {
			t.Errorf("recorded\n%s\nprinted\n%s", got, out)
		}
	})
}

// A run that is not to be recorded leaves nothing behind.
func TestRecordOff(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("NEWTOP_STATE_DIR", dir)
	_, errs, code := newtop("train", "--record", "off", "--data", "spirals", "--epochs", "1")
	if files, err := os.ReadDir(dir); code != 0 || strings.Contains(errs, "recorded") || err != nil || len(files) > 0 {
		t.Errorf("exit %d, left %v (%v)\n%s", code, files, err, errs)
	}
	config := write(t, "run.toml", "record = \"off\"\nepochs = 1\ndata = \"spirals\"\n")
	if _, errs, code := newtop("train", "--config", config); code != 0 || strings.Contains(errs, "recorded") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}

// What is wrong at the default place is said, and the run goes on; at a place that was asked for it is an error.
func TestStoreThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("NEWTOP_STATE_DIR", dir)
	foreign := filepath.Join(dir, "runs.db")
	inSQL(t, foreign, "CREATE TABLE songs (title TEXT)")
	out, errs, code := newtop("train", "--data", "spirals", "--epochs", "1")
	if code != print.ExitUnrecorded || !strings.Contains(out, "spirals: ") || !strings.HasPrefix(errs, "newtop: warning: this run is not recorded: "+foreign) || strings.Contains(errs, "recorded as") {
		t.Errorf("exit %d\n%s%s", code, errs, out)
	}
	for _, args := range []string{"train --data spirals --epochs 1", "runs", "runs show last", "watch last", "resume last"} {
		out, errs, code := newtop(append(strings.Fields(args), "--record", foreign)...)
		if code != print.ExitFailed || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "expected") {
			t.Errorf("%s: exit %d, %q, %q", args, code, out, errs)
		}
	}
}

// A diverged run says where it is recorded as well; one that could not begin is not recorded.
func TestRunsThatFail(t *testing.T) {
	db := database(t)
	_, errs, code := newtop("train", "--record", db, "--data", "spirals", "--opt", "sgd", "--set", "rate=1e6", "--epochs", "30")
	if code != print.ExitDiverged || !strings.Contains(errs, "\nrecorded as ") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	_, errs, code = newtop("train", "--record", db, "--data", "letter", "--data-dir", t.TempDir())
	if code != print.ExitFailed || strings.Contains(errs, "recorded as") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}
