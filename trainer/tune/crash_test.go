package tune

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"newtop/trainer/store"
)

// childStore is the environment variable with the store of a search that this test binary runs to be killed.
const childStore = "NEWTOP_TEST_TUNE_STORE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childStore); path != "" {
		if err := searchForEver(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// doomed is a search that takes long.
func doomed(t testing.TB) Config {
	c := small(t)
	c.Name, c.Trials, c.Most, c.Base.Hidden = "doomed", 0, 1e9, []int{10}
	return c
}

func searchForEver(path string) error {
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	q, err := New(doomed(&testing.B{}), s)
	if err != nil {
		return err
	}
	return q.Run(context.Background())
}

// A search that was killed goes on: trials that were over stand as they were, those under way go on or begin again.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := openStore(t, path)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childStore+"="+path)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var before *Leaderboard
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatal("the search does not come to seven trials")
		}
		if b, err := Load(t.Context(), s, "doomed", nil); err == nil && len(b.Trials) >= 7 {
			break
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	before, err := Load(t.Context(), s, "doomed", nil)
	if err != nil || before.Phase != phaseStopped {
		t.Fatalf("%+v: %v", before, err)
	}
	q, err := Resume(t.Context(), s, "doomed", func(c *Config) { c.Trials, c.Most = len(before.Trials)+3, 0 })
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := q.Leaderboard()
	if len(after.Trials) != len(before.Trials)+3 || after.Phase != phaseDone {
		t.Fatalf("%d trials after %d, %s", len(after.Trials), len(before.Trials), after.Phase)
	}
	// What the whole search decides is what one decides that was never killed, as the digits are the same.
	c := doomed(t)
	c.Name, c.Trials, c.Most = "unharmed", len(after.Trials), 0
	whole := searched(t, c, s, nil)
	for i := range after.Trials {
		a, b, w := before.Trials[min(i, len(before.Trials)-1)], after.Trials[i], whole.Trials[i]
		if b.State == Running || b.State == Waiting || b.Epochs == 0 {
			t.Errorf("%+v", b)
		}
		if i < len(before.Trials) && (text(a.Choices) != text(b.Choices) || a.Epochs > b.Epochs || a.State == Diverged && b.State != Diverged) {
			t.Errorf("%+v became %+v", a, b)
		}
		if text(b.Choices) != text(w.Choices) || b.Epochs == w.Epochs && (b.Best != w.Best || b.Equivalents != w.Equivalents) {
			t.Errorf("%+v, of the search that was not killed %+v", b, w)
		}
		if _, err := s.Find(t.Context(), b.Run); err != nil {
			t.Errorf("trial %d: %v", b.Number, err)
		}
	}
}
