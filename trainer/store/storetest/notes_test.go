package storetest

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/sqlfile"
	"newtop/trainer/store/upkeep"
)

// What the user says of a run is there again, also after the run was resumed, renamed and merged, and damages nothing.
func TestAnnotate(t *testing.T) {
	s := temporary(t)
	written(t, s, recorder.About{Name: "base"}, opening("a"), epoch(0, 1))
	if err := s.Annotate(t.Context(), "a", "learns slowly", []string{"paper", "wide"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Rename(t.Context(), "a", "other"); err != nil {
		t.Fatal(err)
	}
	said := func(s *store.Store, note string, tags ...string) {
		t.Helper()
		run := find(t, s, "a")
		if run.Note != note || !slices.Equal(run.Tags, tags) || run.Damage != nil {
			t.Errorf("%q, %q: %v", run.Note, run.Tags, run.Damage)
		}
	}
	said(s, "learns slowly", "paper", "wide")
	for _, bad := range []struct {
		note string
		tags []string
	}{{"two\nlines", nil}, {strings.Repeat("n", store.MaxNote+1), nil}, {"", []string{"two words"}}, {"", []string{""}}, {"", []string{"\x1b[m"}}} {
		var wrong *store.NoteError
		if err := s.Annotate(t.Context(), "a", bad.note, bad.tags); !errors.As(err, &wrong) {
			t.Errorf("%q, %q: %v", bad.note, bad.tags, err)
		}
	}
	var none *sqlfile.NotFoundError
	if err := s.Annotate(t.Context(), "nothing", "", nil); !errors.As(err, &none) {
		t.Error(err)
	}
	into := open(t, filepath.Join(t.TempDir(), "into.DB"))
	if _, err := upkeep.Merge(t.Context(), into, s.Path()); err != nil {
		t.Fatal(err)
	}
	said(into, "learns slowly", "paper", "wide")
	again, err := recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	record(t, again, epoch(1, 0.5))
	flush(t, again)
	said(s, "learns slowly", "paper", "wide")
	if err := s.Annotate(t.Context(), "a", "", nil); err != nil {
		t.Fatal(err)
	}
	said(s, "")
}

// A store of before notes is read as it is.
func TestNotesOfAnOlderStore(t *testing.T) {
	path := version1(t)
	s := reading(t, path)
	runs, err := s.Runs(t.Context(), store.Filter{})
	if err != nil || len(runs) != 1 || runs[0].Note != "" || len(runs[0].Tags) != 0 {
		t.Fatalf("%+v: %v", runs, err)
	}
	if none, err := s.Runs(t.Context(), store.Filter{Search: "any"}); err != nil || len(none) != 0 {
		t.Errorf("%d trials: %v", len(none), err)
	}
	curves, err := s.Curves(t.Context(), []string{runs[0].ID}, 3)
	if err != nil || len(curves[runs[0].ID]) != 3 {
		t.Errorf("%+v: %v", curves, err)
	}
	if err := s.Annotate(t.Context(), runs[0].ID, "note", nil); err == nil {
		t.Error("a store that is only read was written")
	}
}
