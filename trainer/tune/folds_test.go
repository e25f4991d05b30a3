package tune

import (
	"context"
	"math"
	"testing"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
)

// crossed is a cross-validation of a fraction of a second.
func crossed() Config {
	return Config{
		Base:     trainer.Config{Data: "spirals", Hidden: []int{6}, Seed: 4, Folds: 5, Epochs: 12, Patience: 4, Optimizer: "tr-gn"},
		Parallel: 2, Threads: 2,
	}
}

// alone trains a fold by itself and returns the end of its run.
func alone(t *testing.T, c trainer.Config, s *store.Store) *event.DoneEvent {
	t.Helper()
	recorder := recorder.New(s, recorder.About{Config: c})
	session, err := trainer.New(c, recorder)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return endOf(session, nil)
}

// TestFoldsAreRuns: each fold has the figures of a run of that fold by itself, to the bit, with the best weights and with the last.
func TestFoldsAreRuns(t *testing.T) {
	s := temporary(t)
	for _, weights := range []string{"", "last"} {
		c := crossed()
		c.Base.Weights = weights
		b := searched(t, c, s, nil)
		if len(b.Trials) != 5 || b.Folds != 5 || b.Measure != "validation error" || b.Test != "test error" {
			t.Fatalf("%d trials of %d folds, by %s and %s", len(b.Trials), b.Folds, b.Measure, b.Test)
		}
		var values []float64
		for i := range b.Trials {
			trial := &b.Trials[i]
			own := c.Base
			own.Fold = i + 1
			done := alone(t, own, s)
			if trial.State != Done || trial.Epochs != done.Epochs || trial.Test != done.TestError {
				t.Errorf("fold %d is %+v, alone %+v", i+1, trial, done)
			}
			if weights == "" && (trial.Best != done.ValidationError || trial.BestEpoch != done.BestEpoch) {
				t.Errorf("fold %d has %v in epoch %d, alone %v in %d", i+1, trial.Best, trial.BestEpoch, done.ValidationError, done.BestEpoch)
			}
			if weights == "last" && trial.BestEpoch != done.Epochs {
				t.Errorf("fold %d is judged by epoch %d of %d", i+1, trial.BestEpoch, done.Epochs)
			}
			values = append(values, float64(trial.Best))
		}
		if got, _ := b.Crossed(); got != SpreadOf(values) || got.N != 5 {
			t.Errorf("the folds come to %+v", got)
		}
	}
}

// TestFoldsGoOn: a cross-validation that was stopped goes on to the same figures.
func TestFoldsGoOn(t *testing.T) {
	s := temporary(t)
	want := told(searched(t, crossed(), s, nil))
	c := crossed()
	c.Name, c.Parallel = "cut", 1
	q, err := New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for seen := q.Leaderboard(); ; {
			b, err := q.Wait(ctx, seen)
			if err != nil {
				return
			}
			if seen = b; len(b.Trials) >= 3 {
				q.Stop()
				return
			}
		}
	}()
	err = q.Run(t.Context())
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	if q, err = Resume(t.Context(), s, "cut", nil); err == nil {
		err = q.Run(t.Context())
	}
	if _, done := err.(*ExhaustedError); done {
		t.Skip("it was done before it could be stopped")
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := told(q.Leaderboard()); got != want {
		t.Errorf("gone on:\n%s\nexpected\n%s", got, want)
	}
}

// TestSpread has the figures of numpy: np.mean, np.std(ddof=1) and that over √n of [0.275, 0.315, 0.37, 0.2675].
func TestSpread(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b) }
	nan := math.NaN()
	for _, c := range []struct {
		of   []float64
		want Spread
	}{
		{[]float64{0.275, 0.315, 0.37, 0.2675}, Spread{4, 0.306875, 0.046965191010648145, 0.023482595505324073}},
		{[]float64{2, nan, 4}, Spread{2, 3, math.Sqrt2, 1}},
		{[]float64{7}, Spread{1, 7, nan, nan}},
		{nil, Spread{0, nan, nan, nan}},
	} {
		got := SpreadOf(c.of)
		if got.N != c.want.N || !near(got.Mean, c.want.Mean) || !near(got.Deviation, c.want.Deviation) || !near(got.Error, c.want.Error) {
			t.Errorf("%v: %+v, expected %+v", c.of, got, c.want)
		}
	}
}

// TestSearchDecidesByValidationRows: and the test figure that is told is that of the run's best epoch by them.
func TestSearchDecidesByValidationRows(t *testing.T) {
	s := temporary(t)
	c := small(t)
	c.Trials, c.Base.Validation = 3, ""
	b := searched(t, c, s, nil)
	if b.Measure != "validation error" || b.Test != "test error" {
		t.Fatalf("judged by %s, beside %s", b.Measure, b.Test)
	}
	for i := range b.Trials {
		trial := &b.Trials[i]
		run, err := s.Find(t.Context(), trial.Run)
		if err != nil || run.Config.Validation != trainer.DefaultValidation {
			t.Fatalf("%q: %v", run.Config.Validation, err)
		}
		var best event.EpochEvent
		if _, err := s.Events(t.Context(), trial.Run, 0, func(e event.Event) bool {
			p, ok := e.(event.EpochEvent)
			lower := best.Epoch == 0 || p.ValidationError < best.ValidationError || p.ValidationError == best.ValidationError && p.ValidationLoss < best.ValidationLoss
			if ok && p.Epoch > 0 && p.Epoch <= trial.Epochs && lower {
				best = p
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if best.Epoch != trial.BestEpoch || best.TestError != trial.Test || best.ValidationError != trial.Best {
			t.Errorf("trial %d has %v in epoch %d, its run %v in %d", trial.Number, trial.Test, trial.BestEpoch, best.TestError, best.Epoch)
		}
	}
	if got := b.BestTest(); got != float64(b.Trials[b.Order[0]].Test) {
		t.Errorf("the best has a test error of %v", got)
	}
}
