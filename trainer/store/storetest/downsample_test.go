package storetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/rowcode"
)

// The peaks of merged stretches are those of all their epochs, looked through one by one.
func TestPeaksOfMergedStretches(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		n := 1 + random.IntN(40)
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(random.IntN(8)) // with ties
			switch random.IntN(20) {
			case 0:
				values[i] = float64(event.NotFinite)
			case 1:
				values[i] = math.Inf(1)
			case 2, 3:
				values[i] = math.NaN() // absent
			}
			switch {
			case trial%50 == 0:
				values[i] = math.NaN()
			case trial%50 == 25:
				values[i] = math.Inf(-1)
			}
		}
		var merged rowcode.Peak
		for i := 0; i < n; {
			var part rowcode.Peak
			for range 1 + random.IntN(9) {
				if i < n {
					part.Add(event.Float(values[i]), int64(i+1))
					i++
				}
			}
			text, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			var back rowcode.Peak
			if err := json.Unmarshal(text, &back); err != nil || back != part {
				t.Fatalf("%s: %+v, want %+v: %v", text, back, part, err)
			}
			merged.Merge(&back)
		}
		got := merged.Seqs(nil)
		slices.Sort(got)
		if want := naivePeaks(values); !slices.Equal(slices.Compact(got), want) {
			t.Fatalf("%v: %v, want %v", values, got, want)
		}
	}
}

// naivePeaks returns the places, from 1, of the first least and greatest numbers; the first that is not finite stands
// for the greatest.
func naivePeaks(values []float64) []int64 {
	low, high, bad := 0, 0, 0
	for i, v := range values {
		switch at := i + 1; {
		case event.Float(v).Absent():
		case math.IsNaN(v) || math.IsInf(v, 0):
			if bad == 0 {
				bad = at
			}
		case low == 0:
			low, high = at, at
		default:
			if v < values[low-1] {
				low = at
			}
			if v > values[high-1] {
				high = at
			}
		}
	}
	if bad != 0 {
		high = bad
	}
	out := slices.DeleteFunc([]int64{int64(low), int64(high)}, func(at int64) bool { return at == 0 })
	slices.Sort(out)
	return slices.Compact(out)
}

// A long run is read thinned: its least and greatest figures, its first and newest epochs and everything after the
// last stretch are there, in order and as they were recorded.
func TestLongRunIsThinned(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	noise := rand.New(rand.NewPCG(1, 1))
	record(t, r, opening("a"))
	const n = 20*rowcode.PeakStretch + 50
	var all []event.EpochEvent
	for i := range n {
		e := plain(i, noise)
		if i%700 == 11 {
			e.Loss = event.NotFinite
		}
		all = append(all, e)
	}
	half := n/2 + 5
	for i, e := range all[:half] {
		record(t, r, e)
		if i == half/2 {
			record(t, r, event.SettingEvent{Epoch: i, Key: "rate", Value: 1.0})
		}
	}
	r.EnqueueCheckpoint(blob(half-1, 10))
	wait(r)
	record(t, r, plain(7, noise)) // forgotten
	flush(t, r)
	r, err := recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	record(t, r, opening("a"), event.ResumeEvent{Epoch: half - 1})
	for i, e := range all[half:] {
		record(t, r, e)
		for k := range 20 {
			if i > half-400 {
				record(t, r, inner(e.Epoch+1, 0, k+1))
			}
		}
	}
	flush(t, r)

	var epochs []event.EpochEvent
	inners, marks := 0, 0
	last := int64(0)
	for _, e := range thinned(t, s, "a") {
		if e.Seq <= last {
			t.Fatalf("event %d after %d", e.Seq, last)
		}
		last = e.Seq
		switch e := e.Event.(type) {
		case event.EpochEvent:
			epochs = append(epochs, e)
		case event.InnerEvent:
			inners++
		case event.SettingEvent, event.ResumeEvent:
			marks++
		}
	}
	if len(epochs) > n/3 || marks != 2 || inners < rowcode.LatestInner || inners > rowcode.LatestInner+20 {
		t.Errorf("%d epochs, %d marks, %d inner iterations", len(epochs), marks, inners)
	}
	given := map[int]string{}
	for _, e := range epochs {
		given[e.Epoch] = text(t, e)
	}
	must := []int{0, n - 1}
	for i := n - 20; i < n; i++ { // after the last stretch
		must = append(must, i)
	}
	for _, q := range event.Extremes {
		values := make([]float64, n)
		for i := range all {
			values[i] = float64(*q.Of(&all[i]))
		}
		for _, at := range naivePeaks(values) {
			must = append(must, int(at-1))
		}
	}
	for _, i := range must {
		if given[i] != text(t, all[i]) {
			t.Errorf("epoch %d: %s", i, given[i])
		}
	}
}

// thinned returns what a watcher is given of a run's past if it is long.
func thinned(t *testing.T, s *store.Store, id string) (out []store.Numbered) {
	t.Helper()
	err := s.View(t.Context(), func(tx *sql.Tx) error {
		h, err := store.NewRunReader(t.Context(), tx, id)
		if err != nil {
			return err
		}
		var some bool
		h.Epochs, h.Inner = rowcode.ManyEpochs+1, rowcode.ManyInner+1
		if out, some, err = h.Whole(t.Context()); !some {
			return fmt.Errorf("nothing is left out")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// However many stretches there are, few enough epochs are picked, and those that hold extremes are among them.
func TestPicksOfManyStretches(t *testing.T) {
	noise := rand.New(rand.NewPCG(3, 4))
	const n = 5*rowcode.MaxStretches + 1
	stretches := make([]rowcode.Stretch, n)
	values := make([][]float64, len(event.Extremes))
	for i := range n * 2 {
		e := plain(i, noise)
		stretches[i/2].Add(&e, int64(i+1))
		for f, q := range event.Extremes {
			v := *q.Of(&e)
			values[f] = append(values[f], float64(v))
		}
	}
	got := store.Picks(stretches)
	if len(got) > 2*4*rowcode.MaxStretches+1 || !slices.IsSorted(got) {
		t.Errorf("%d epochs", len(got))
	}
	for f := range values {
		for _, at := range naivePeaks(values[f]) {
			if !slices.Contains(got, at) {
				t.Errorf("figure %d: epoch %d is left out", f, at)
			}
		}
	}
}
