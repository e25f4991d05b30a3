package storetest

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"newtop/internal/nightly"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/search"
	"newtop/trainer/store/upkeep"
)

// A merge that is killed at any moment has brought in all of a source or nothing, and the next one brings in what is
// missing.
func TestMergeKilled(t *testing.T) {
	ids := map[string]string{"adam": "20261121-115959-aaaaaa"}
	for i := range 9 {
		ids[fmt.Sprintf("run%d", i)] = fmt.Sprintf("20261121-1200%02d-aaaaaa", i)
	}
	source := recorded(t, ids)
	searching(t, source, "mine", ids["run0"], ids["run1"])
	want := allRows(t, source)
	half := time.Duration(0)
	whole, none := 0, 0
	attempts := nightly.Of(6, 3)
	for attempt := range attempts {
		path := filepath.Join(t.TempDir(), "runs.db")
		open(t, path).Close()
		p := child{Path: path, From: source.Path()}.start(t)
		if line := <-p.lines; line != "merging" {
			t.Fatalf("%q: %s", line, p.errors.String())
		}
		begin := time.Now()
		if attempt == 0 { // how long it takes
			for range p.lines {
			}
			half = time.Since(begin) / 2
		} else {
			time.Sleep(half * time.Duration(attempt) / 3)
			p.command.Process.Kill()
		}
		p.command.Wait()
		s := open(t, path)
		switch got := allRows(t, s); got {
		case want:
			whole++
		case "":
			none++
		default:
			t.Fatalf("killed after %v of %v, there is half of the source", time.Since(begin), 2*half)
		}
		if m, err := upkeep.Merge(t.Context(), s, source.Path()); err != nil || m.Runs.All() != len(ids) || allRows(t, s) != want {
			t.Errorf("merged again: %+v, %v", m, err)
		}
		var check string
		if err := s.DB.QueryRow("PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
			t.Errorf("%s, %v", check, err)
		}
		s.Close()
	}
	if none == 0 || whole == 0 {
		t.Logf("%d merges were done and %d undone", whole, none)
	}
}

// Merges into one store at the same time wait for one another.
func TestMergeManyAtOnce(t *testing.T) {
	into := temporary(t)
	errs := make(chan error)
	const stores = 4
	for i := range stores {
		s := recorded(t, map[string]string{"adam": fmt.Sprintf("20261121-12000%d-aaaaaa", i)})
		searching(t, s, "mine")
		s.Close()
		go func() {
			_, err := upkeep.Merge(t.Context(), into, s.Path())
			errs <- err
		}()
	}
	for range stores {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	runs, err := into.Runs(t.Context(), store.Filter{})
	names := map[string]bool{}
	for i := range runs {
		names[runs[i].Name] = true
	}
	searches, err2 := search.All(t.Context(), into)
	if err != nil || err2 != nil || len(runs) != stores || len(names) != stores || len(searches) != stores {
		t.Errorf("%v, %d searches: %v, %v", names, len(searches), err, err2)
	}
}

// A source is merged while others record into the same store.
func TestMergeBesideARecorder(t *testing.T) {
	source := recorded(t, map[string]string{"adam": "20261121-120000-aaaaaa"})
	into := temporary(t)
	r := recorder.New(into, recorder.About{Name: "live"})
	all := everyKind("20261121-120000-999999", 300)
	record(t, r, all[:len(all)/2]...)
	if m, err := upkeep.Merge(t.Context(), into, source.Path()); err != nil || m.Runs.Added != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	record(t, r, all[len(all)/2:]...)
	flush(t, r)
	equal(t, events(t, into, "20261121-120000-999999"), all)
	if find(t, into, "adam").ID != "20261121-120000-aaaaaa" {
		t.Error("another run has the name")
	}
}
