package storetest

import (
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/rowcode"
)

// TestBestByValidationRows: the epoch that a run's row names is the first with the least validation error and, of those, the least
// validation loss, also counted again by SQL; the curves have these figures, and what was recorded is read back.
func TestBestByValidationRows(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	begin := opening("valid")
	begin.Data.ValidationRows, begin.Data.Classes, begin.Model.Layers = 4, 2, []int{2, 2}
	record(t, r, begin)
	var want []event.EpochEvent
	for i, f := range [][2]event.Float{{0.5, 0.1}, {0.25, 0.75}, {0.25, 0.5}, {0.25, 0.5}, {event.NotFinite, event.NotFinite}, {1, 0.25}} {
		e := epoch(i, 1/float64(i+1))
		e.ValidationError, e.ValidationLoss, e.ValidationRMSE = f[0], f[1], event.Absent
		want = append(want, e)
		record(t, r, e)
	}
	flush(t, r)
	run := find(t, s, "valid")
	if run.Best == nil || run.Best.Epoch != 2 {
		t.Fatalf("the best is %+v", run.Best)
	}
	var again int
	if err := s.DB.QueryRow("SELECT epoch FROM epochs JOIN runs USING (run) WHERE id = 'valid' ORDER BY " + rowcode.BestFirst(run.Measure()) + "seq LIMIT 1").Scan(&again); err != nil || again != 2 {
		t.Errorf("counted again the best is %d: %v", again, err)
	}
	curves, err := s.Curves(t.Context(), []string{"valid"}, 20)
	if err != nil || len(curves["valid"]) != len(want) {
		t.Fatalf("%d epochs: %v", len(curves["valid"]), err)
	}
	for i, e := range curves["valid"] {
		if w := want[i]; e.ValidationError != w.ValidationError && !(e.ValidationError.NonFinite() && w.ValidationError.NonFinite()) || !e.ValidationRMSE.Absent() {
			t.Errorf("epoch %d: %v, expected %v", i, e.ValidationError, w.ValidationError)
		}
	}
	i := 0
	for _, e := range events(t, s, "valid") {
		if e, ok := e.(event.EpochEvent); ok {
			if w := want[i]; e.ValidationLoss != w.ValidationLoss && !(e.ValidationLoss.NonFinite() && w.ValidationLoss.NonFinite()) || !e.ValidationRMSE.Absent() {
				t.Errorf("epoch %d is read as %+v", i, e)
			}
			i++
		}
	}
}
