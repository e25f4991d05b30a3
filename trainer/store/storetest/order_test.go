package storetest

import (
	"slices"
	"testing"
	"time"

	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/search"
)

// begunAt records a run whose clock said t.
func begunAt(t *testing.T, s *store.Store, id string, at time.Time) {
	t.Helper()
	e := opening(id)
	e.Time = at
	written(t, s, recorder.About{}, e, epoch(0, 1))
}

func ids(t *testing.T, s *store.Store) (out []string) {
	t.Helper()
	runs, err := s.Runs(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}

// The newest run is the one that was begun last, whatever clocks said.
func TestOrderWhereTheClockJumps(t *testing.T) {
	s := temporary(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	begunAt(t, s, "first", now)
	begunAt(t, s, "ahead", now.AddDate(1, 0, 0))
	begunAt(t, s, "back", now.AddDate(-50, 0, 0))
	begunAt(t, s, "last-one", now)
	if got, want := ids(t, s), []string{"last-one", "back", "ahead", "first"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	for name, want := range map[string]string{"last": "last-one", "last~1": "back", "last~2": "ahead"} {
		if got := find(t, s, name).ID; got != want {
			t.Errorf("%s is %s, expected %s", name, got, want)
		}
	}
}

// Runs and searches that are merged come after those that were there, in their own order; one that takes the place of
// another has its place in the order as well.
func TestOrderOfMerged(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	source, into := temporary(t), temporary(t)
	for i, id := range []string{"20261121-120000-aaaaaa", "20261121-120001-bbbbbb"} {
		begunAt(t, source, id, now.Add(time.Duration(-i)*time.Hour))
	}
	searching(t, source, "one")
	searching(t, source, "two")
	merged(t, into, source.Path())
	begunAt(t, into, "20261121-120002-cccccc", now)
	searching(t, into, "three")
	execAll(t, source.DB, `UPDATE runs SET changed = strftime('%Y-%m-%dT%H:%M:%fZ', changed, '+1 hour'), crc = NULL`,
		`UPDATE searches SET changed = strftime('%Y-%m-%dT%H:%M:%fZ', changed, '+1 hour'), spent = 7, crc = NULL`)
	if m := merged(t, into, source.Path()); m.Runs.Updated != 2 || m.Searches.Updated != 2 {
		t.Errorf("%+v", m)
	}
	if got, want := ids(t, into), []string{"20261121-120002-cccccc", "20261121-120001-bbbbbb", "20261121-120000-aaaaaa"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	searches, err := search.All(t.Context(), into)
	if err != nil || len(searches) != 3 || searches[0].Name != "three" || searches[2].Name != "one" {
		t.Errorf("%+v: %v", searches, err)
	}
}
