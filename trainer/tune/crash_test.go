package tune

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"newtop/internal/nightly"
	"newtop/trainer/store"
)

// childStore is the environment variable with the store of a search that this test binary runs to be killed.
const childStore = "NEWTOP_TEST_TUNE_STORE"

// childBounded is set where that search is the bounded one.
const childBounded = "NEWTOP_TEST_TUNE_BOUNDED"

// childProgram is set, to a directory, where its trials are a program's.
const childProgram = "NEWTOP_TEST_TUNE_PROGRAM"

var kills = flag.Int("kills", nightly.Of(2, 1), "how often TestKillAnywhere kills a search")

func TestMain(m *testing.M) {
	if path := os.Getenv(childStore); path != "" {
		make := doomed
		if os.Getenv(childBounded) != "" {
			make = bounded
		}
		if dir := os.Getenv(childProgram); dir != "" {
			make = func(testing.TB) Config { return ofProgram(dir, "") }
		}
		if err := runSearch(path, make(&testing.B{})); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// doomed is a search that takes long.
func doomed(t testing.TB) Config {
	c := small(t)
	c.Name, c.Trials, c.MaxWork, c.Base.Hidden = "doomed", 0, 1e9, []int{10}
	return c
}

// bounded is a search that comes to an end, reevaluation included.
func bounded(t testing.TB) Config {
	c := small(t)
	c.Name, c.Trials, c.Finals, c.Seeds, c.Base.Hidden = "bounded", 6, 2, 2, []int{10, 10}
	return c
}

func runSearch(path string, c Config) error {
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	q, err := New(c, s)
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
		if b, err := Load(t.Context(), s, nil, "doomed"); err == nil && len(b.Trials) >= 7 {
			break
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	before, err := Load(t.Context(), s, nil, "doomed")
	if err != nil || before.Phase != phaseStopped {
		t.Fatalf("%+v: %v", before, err)
	}
	q, err := Resume(t.Context(), s, "doomed", func(c *Config) { c.Trials, c.MaxWork = len(before.Trials)+3, 0 })
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
	c.Name, c.Trials, c.MaxWork = "unharmed", len(after.Trials), 0
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

// TestKillAnywhere: a search that is killed at any time, also while it measures its best settings again, goes on to the
// trials, the work and the winner of one that never was.
func TestKillAnywhere(t *testing.T) {
	begin := time.Now()
	whole := searched(t, bounded(t), openStore(t, filepath.Join(t.TempDir(), "runs.db")), nil)
	took := time.Since(begin)
	for i := range *kills {
		path := filepath.Join(t.TempDir(), "runs.db")
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childStore+"="+path, childBounded+"=1")
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(2*i+1) / time.Duration(2**kills))
		child.Process.Kill()
		child.Wait()
		s := openStore(t, path)
		q, err := Resume(t.Context(), s, "bounded", nil)
		var over *ExhaustedError
		var none *store.SearchError
		switch {
		case errors.As(err, &over):
			continue
		case errors.As(err, &none):
			q, err = New(bounded(t), s)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := told(q.Leaderboard())
		if err := q.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := told(q.Leaderboard()), told(whole); got != want {
			t.Errorf("kill %d: a search that had come to\n%s\nended as\n%s\nand one that was never killed as\n%s", i, before, got, want)
		}
	}
}
