package history

import (
	"math"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/internal/tuitest"
)

func historyOf(deltas ...feed.Delta) *History {
	h := &History{}
	for i := range deltas {
		h.Apply(&deltas[i])
	}
	return h
}

// TestFactors: condition numbers are told over the epochs, with gaps where a factor is singular, and follow the run back.
func TestFactors(t *testing.T) {
	deltas := tuitest.FactorRun("soap", 20, 784, 70, 10)
	h := historyOf(deltas...)
	f := &h.Factors
	if !f.Reported() || f.Epoch != 20 || len(f.Latest.Factors) != 4 || len(f.Conditions) != 3 {
		t.Fatalf("%d factors and %d curves after epoch %d", len(f.Latest.Factors), len(f.Conditions), f.Epoch)
	}
	if want := float64(f.Latest.Seconds) / float64(h.Latest.Seconds); f.Share != want {
		t.Errorf("refreshes took %g of the epoch, not %g", f.Share, want)
	}
	if s := &f.Conditions[0].Series; f.Conditions[0].At != 0 || s.Points != 20 || s.Last() != f.Latest.Factors[0].Condition() {
		t.Errorf("the first curve has %d points and ends at %g", s.Points, s.Last())
	}
	if s := &f.Conditions[1].Series; f.Conditions[1].At != 2 || !s.Empty() || s.Points != 20 {
		t.Errorf("a singular factor has a curve that ends at %g", s.Last())
	}
	h.Apply(&feed.Delta{Status: h.Status, Rewinds: []event.RewindEvent{{Epoch: 20, To: 12}}})
	if _, last, _ := f.Conditions[0].Series.Ends(); f.Latest != nil || !f.Reported() || last != 12 {
		t.Errorf("after a way back to 12 the curve ends at %g", last)
	}
	for _, e := range h.Log.Entries {
		if e.Stats.Preconditioner != nil {
			t.Fatal("the log keeps factors")
		}
	}
	h.Apply(&deltas[14])
	if f.Latest == nil || f.Conditions[0].Series.Last() != f.Latest.Factors[0].Condition() {
		t.Error("the factors do not go on after a way back")
	}
}

// TestFactorsOfAnotherMethod: they begin anew with the method, and go with it.
func TestFactorsOfAnotherMethod(t *testing.T) {
	h := historyOf(tuitest.FactorRun("soap", 9, 16, 70, 26)...)
	h.Apply(&feed.Delta{Status: h.Status, Switches: []event.SwitchEvent{{Epoch: 9, From: "soap", To: "shampoo"}}})
	if h.Factors.Reported() {
		t.Error("the old method's are still told after the switch")
	}
	e := event.UnknownEpoch(10)
	e.Optimizer, e.Preconditioner = "shampoo", tuitest.FactorsAt(10, []int{16, 70, 26}, 512, 1e-4)
	h.Apply(&feed.Delta{Status: h.Status, Epochs: []event.EpochEvent{e}})
	if len(h.Factors.Conditions) != 4 || h.Factors.Conditions[0].Series.Points != 1 {
		t.Error("shampoo's do not begin anew")
	}
	e = event.UnknownEpoch(11)
	e.Optimizer = "sgd"
	h.Apply(&feed.Delta{Status: h.Status, Epochs: []event.EpochEvent{e}})
	if h.Factors.Reported() {
		t.Error("sgd has factors")
	}
}

// TestFactorsAreBounded: a deep network has many.
func TestFactorsAreBounded(t *testing.T) {
	layers := make([]int, 500)
	for i := range layers {
		layers[i] = 2
	}
	h := historyOf(tuitest.FactorRun("soap", 3, layers...)...)
	if n := len(h.Factors.Conditions); n != maxFactors || len(h.Factors.Latest.Factors) != 998 {
		t.Errorf("%d curves of %d factors", n, len(h.Factors.Latest.Factors))
	}
}

// schedule is a status of sgd whose rate goes down along a line to a tenth.
func schedule(epochs int) event.Status {
	return event.Status{Optimizer: "sgd", EpochLimit: epochs, Settings: []event.Setting{{Key: "rate", Text: "0.1", Primary: true}, {Key: "batch", Text: "64"},
		{Key: "weight-decay", Text: "0"}, {Key: "schedule", Text: "linear"}, {Key: "horizon", Text: "0"}, {Key: "warmup", Text: "0"}, {Key: "end-rate", Text: "0.1"}}}
}

// ratedEpoch is one that tells a rate.
func ratedEpoch(epoch int, optimizer string, rate float64) event.EpochEvent {
	e := event.UnknownEpoch(epoch)
	e.Optimizer, e.Rate = optimizer, event.Float(rate)
	return e
}

// TestPlan: the schedule counts from where its method took over, and a way back behind that takes it along.
func TestPlan(t *testing.T) {
	near := func(h *History, epoch, want float64) {
		t.Helper()
		plan, ok := h.Plan()
		if got := plan.Rate(epoch); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("epoch %g: %g, want %g", epoch, got, want)
		}
	}
	s := schedule(40)
	h := historyOf(feed.Delta{Status: s, Epochs: []event.EpochEvent{ratedEpoch(1, "sgd", 0.1)}})
	near(h, 0, 0.1)
	near(h, 20, 0.055)
	near(h, 40, 0.01)
	for e := 2; e <= 20; e++ {
		h.Apply(&feed.Delta{Status: s, Epochs: []event.EpochEvent{ratedEpoch(e, "tr-gn", math.NaN())}})
	}
	h.Apply(&feed.Delta{Status: s, Switches: []event.SwitchEvent{{Epoch: 20, From: "tr-gn", To: "sgd"}}})
	near(h, 20, 0.1)
	near(h, 30, 0.055)
	h.Apply(&feed.Delta{Status: s, Rewinds: []event.RewindEvent{{Epoch: 20, To: 10}}})
	near(h, 10, 0.1)
	near(h, 25, 0.055)
	h.Apply(&feed.Delta{Status: s, Epochs: []event.EpochEvent{ratedEpoch(11, "sgd", 0.1), ratedEpoch(12, "sgd", 0.1)}})
	h.Apply(&feed.Delta{Status: s, Races: []event.RaceEvent{{Epoch: 12, State: "begun", Racers: make([]event.Racer, 2)}}})
	near(h, 25, 0.055)
	h.Apply(&feed.Delta{Status: s, Races: []event.RaceEvent{{Epoch: 12, State: "picked", Picked: 1, Racers: make([]event.Racer, 2)}}})
	near(h, 26, 0.055)
	for _, s := range []event.Status{{Optimizer: "tr-newton"}, {Optimizer: "sgd"}, {Optimizer: "theirs"}} {
		if _, ok := historyOf(feed.Delta{Status: s}).Plan(); ok {
			t.Errorf("%s with settings %v has a plan", s.Optimizer, s.Settings)
		}
	}
}

// TestEdgeOfSchedule: the edge of stability is that of the newest epoch's rate where a schedule moves it, and of the setting where
// none does.
func TestEdgeOfSchedule(t *testing.T) {
	s := schedule(40)
	h := historyOf(feed.Delta{Status: s})
	edge := func(want float64) {
		t.Helper()
		if got, _, ok := h.StabilityEdge(); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("epoch %d: the edge is %g, want %g", h.Latest.Epoch, got, want)
		}
	}
	edge(20)
	if h.StabilityEdges() != nil {
		t.Error("edges before the first epoch")
	}
	for e, rate := range []float64{1: 0.1, 0.09, 0.05} {
		if e > 0 {
			h.Apply(&feed.Delta{Status: s, Epochs: []event.EpochEvent{ratedEpoch(e, "sgd", rate)}})
		}
	}
	edge(40)
	if s := h.StabilityEdges(); s == nil || s.Points != 3 || s.Buckets[0].Last != 20 || s.Buckets[2].X1[chart.Epochs] != 3 {
		t.Error("the edges are not those of the rates")
	}
	s.Settings[3].Text = "constant"
	h.Apply(&feed.Delta{Status: s})
	edge(20)
	if h.StabilityEdges() != nil {
		t.Error("edges without a schedule")
	}
}

// TestPart: a method that goes through blocks of rows has a setting for them.
func TestPart(t *testing.T) {
	some := []event.Setting{{Key: "lambda", Text: "1"}}
	for _, c := range []struct {
		optimizer string
		settings  []event.Setting
		want      string
	}{{"tr-newton", nil, "block"}, {"sgd", nil, "step"}, {"theirs", nil, "block"}, {"theirs", some, "step"}, {"theirs", append(some, event.Setting{Key: "blocks", Text: "4"}), "block"}} {
		if got := historyOf(feed.Delta{Status: event.Status{Optimizer: c.optimizer, Settings: c.settings}}).Part(); got != c.want {
			t.Errorf("%s with %v solves for a %s", c.optimizer, c.settings, got)
		}
	}
}
