package trainer

import (
	"errors"
	"math"
	"strings"
	"testing"

	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/optim"
)

// TestAlgorithmsBAndC of [MD] are the same but for their price: for a dozen epochs the same steps, up to what rounding grows to.
func TestAlgorithmsBAndC(t *testing.T) {
	for _, c := range []config.Config{
		{Data: "spirals", Hidden: []int{8, 5}},
		{Data: "sine", Hidden: []int{7}, Skip: models.SkipAll},
		{Data: "spirals", Hidden: []int{8}, Out: "tanh"},
	} {
		p := mustPrepare(t, c)
		cost := p.Network.Cost()
		c.Epochs, c.Seed = 12, 3
		c.Set = []string{"boundary=segment"} // a minimum in the Krylov space makes more of roundings
		c.Optimizer = "tr-gn"
		byPass := of[event.EpochEvent](train(t, c))
		c.Optimizer = "tr-rows"
		byRows := of[event.EpochEvent](train(t, c))
		for i, b := range byRows {
			c := byPass[i]
			if !near(b.Loss, c.Loss) || !near(b.StepNorm, c.StepNorm) || !near(b.Rho, c.Rho) || b.Accepted != c.Accepted || !near(b.Radius, c.Radius) {
				t.Fatalf("epoch %d: %+v by rows, %+v by the R-pass", i, b, c)
			}
			for k, in := range b.Inner {
				if other := c.Inner[k]; in.Iterations != other.Iterations || in.Stop != other.Stop || !near(in.StepNorm, other.StepNorm) {
					t.Fatalf("epoch %d: solve %+v by rows, %+v by the R-pass", i, in, other)
				}
			}
			want := float64(c.GradientEquivalents) + float64(c.Products)*(cost.Rows-cost.GaussNewton)/cost.Gradient
			if got := float64(b.GradientEquivalents); math.Abs(got-want) > 1e-9*want {
				t.Errorf("epoch %d: %g gradient equivalents, expected %g", i, got, want)
			}
		}
	}
}

// near reports whether two numbers agree to what twelve steps of CG leave of rounding.
func near(a, b event.Float) bool {
	return math.Abs(float64(a-b)) <= 1e-6*math.Abs(float64(b)) || math.IsNaN(float64(a)) && math.IsNaN(float64(b))
}

// TestDirectMethodsTrain: every epoch falls, the work is what the events say, and the figures come along.
func TestDirectMethodsTrain(t *testing.T) {
	for _, name := range []string{"lm", "dogleg"} {
		c := config.Config{Data: "sine", Hidden: []int{8}, Epochs: 25, Optimizer: name, Seed: 2}
		epochs := of[event.EpochEvent](train(t, c))
		last := epochs[len(epochs)-1]
		if last.Loss > epochs[0].Loss/10 {
			t.Errorf("%s: loss from %v to %v in %d epochs", name, epochs[0].Loss, last.Loss, last.Epoch)
		}
		for i, e := range epochs[1:] {
			if e.Loss > epochs[i].Loss || e.Accepted == (e.Loss == epochs[i].Loss) || len(e.Metrics) < 3 || len(e.Inner) > 0 {
				t.Errorf("%s, epoch %d: loss %v after %v, %+v", name, e.Epoch, e.Loss, epochs[i].Loss, e)
			}
		}
		again := of[event.EpochEvent](train(t, config.Config{Data: "sine", Hidden: []int{8}, Epochs: 25, Optimizer: name, Seed: 2, Threads: 3}))
		if end := again[len(again)-1]; end.Loss != last.Loss || end.GradientEquivalents != last.GradientEquivalents {
			t.Errorf("%s: loss %v on three threads, %v on all", name, end.Loss, last.Loss)
		}
	}
}

// TestLargeMatricesAreRefused before the run begins, in one line.
func TestLargeMatricesAreRefused(t *testing.T) {
	if optim.MaxMatrixDim != models.MaxMatrixDim {
		t.Errorf("optim allows %d weights, models %d", optim.MaxMatrixDim, models.MaxMatrixDim)
	}
	for _, name := range []string{"lm", "dogleg"} {
		m := &memory{}
		err := mustNew(t, config.Config{Data: "spirals", Hidden: []int{105, 105}, Optimizer: name}, m).Run(t.Context())
		var refused *PrepareError
		want := name + ": the matrix of 11657 weights is too large to factorize: expected at most 11000 weights"
		if !errors.As(err, &refused) || err.Error() != want || len(m.events) != 1 {
			t.Errorf("%v after %d events, expected %s", err, len(m.events), want)
		}
		s := mustNew(t, config.Config{Data: "spirals", Hidden: []int{105, 105}, Optimizer: "tr-gn"})
		box := s.Subscribe()
		defer box.Close()
		background(t, s)
		follow(t, box, func(d *feed.Delta) bool { return d.Status.Phase == event.Running })
		if err := s.Do(t.Context(), event.Switch{Optimizer: name}); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("the switch to %s: %v", name, err)
		}
	}
}

// TestPartsOfAnAssembly are inner units, after each of which a run can be paused and stopped.
func TestPartsOfAnAssembly(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, which has nothing to find in it")
	}
	d := steer(t, config.Config{Data: "letters", Hidden: []int{3}, Optimizer: "lm"})
	for part := 1; part <= 3; part++ {
		at := d.do(event.StepInner{})
		if at.Unit != part || at.Units <= 3 || at.Epoch != 0 || at.Equivalents < 1 {
			t.Errorf("part %d of %d instead of %d: %+v", at.Unit, at.Units, part, at)
		}
	}
	if end := of[event.DoneEvent](d.stop())[0]; end.Reason != event.ReasonStopped || end.Epochs != 0 {
		t.Errorf("%+v", end)
	}
}
