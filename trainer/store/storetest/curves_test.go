package storetest

import (
	"math"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/store/recorder"
)

// A curve has the first and the newest epoch and no more than were asked for, of a short record and of a long one.
func TestCurves(t *testing.T) {
	s := temporary(t)
	for id, n := range map[string]int{"none": 0, "one": 1, "short": 30, "long": 900} {
		r := recorder.New(s, recorder.About{})
		record(t, r, opening(id))
		for i := range n {
			e := epoch(i, 1/float64(i+1))
			if i == 3 {
				e.TestError = event.Absent
			}
			record(t, r, e, inner(i+1, 0, 1), inner(i+1, 0, 2))
		}
		flush(t, r)
	}
	curves, err := s.Curves(t.Context(), []string{"none", "one", "short", "long", "unknown"}, 20)
	if err != nil {
		t.Fatal(err)
	}
	for id, n := range map[string]int{"none": 0, "one": 1, "short": 30, "long": 900, "unknown": 0} {
		c := curves[id]
		if len(c) != min(n, 20) {
			t.Errorf("%s: %d epochs", id, len(c))
			continue
		}
		for i, e := range c {
			want := epoch(e.Epoch, 1/float64(e.Epoch+1))
			if e.Loss != want.Loss || !e.RMSE.NonFinite() || !e.Error.Absent() || e.Epoch != 3 && e.TestError != want.TestError && !math.IsNaN(float64(want.TestError)) {
				t.Errorf("%s: %+v", id, e)
			}
			if i > 0 && e.Epoch <= c[i-1].Epoch {
				t.Errorf("%s: epoch %d after %d", id, e.Epoch, c[i-1].Epoch)
			}
		}
		if n > 0 && (c[0].Epoch != 0 || c[len(c)-1].Epoch != n-1) {
			t.Errorf("%s: from %d to %d", id, c[0].Epoch, c[len(c)-1].Epoch)
		}
	}
}

func TestStamp(t *testing.T) {
	s := temporary(t)
	written(t, s, recorder.About{}, opening("a"))
	before := s.Stamp()
	find(t, s, "a")
	if s.Stamp() != before {
		t.Error("reading changes the stamp")
	}
	time.Sleep(10 * time.Millisecond) // file systems count in ticks
	if err := s.Rename(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	if s.Stamp() == before {
		t.Error("writing does not change the stamp")
	}
}
