package trainer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/nightly"
	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/workplace"
)

// TestAlgorithmsBAndC of [MD] are the same but for their price: for a dozen epochs the same steps, up to what rounding grows to.
func TestAlgorithmsBAndC(t *testing.T) {
	for _, c := range []config.Config{
		{Data: "spirals", Hidden: []int{8, 5}},
		{Data: "sine", Hidden: []int{7}, Skip: models.SkipAll},
		{Data: "spirals", Hidden: []int{8}, Out: "tanh"},
	} {
		p, err := workplace.Prepare(&c)
		if err != nil {
			t.Fatal(err)
		}
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

// TestHowBAndCPart: in exact arithmetic algorithms B and C take the same steps. Their first difference is rounding's; each epoch
// multiplies it, and when it is as large as the figures, they are two runs.
func TestHowBAndCPart(t *testing.T) {
	for _, base := range []config.Config{
		{Data: "spirals", Hidden: []int{8, 5}, Epochs: 40},
		{Data: "sine", Hidden: []int{7}, Epochs: 40},
		{Data: "parity", Hidden: []int{8}, Epochs: 40},
	} {
		for base.Seed = 1; base.Seed <= uint64(nightly.Of(3, 1)); base.Seed++ {
			losses := map[string][]event.EpochEvent{}
			for _, name := range []string{"tr-gn", "tr-rows"} {
				c := base
				c.Optimizer = name
				losses[name] = of[event.EpochEvent](train(t, c))
			}
			b, c := losses["tr-rows"], losses["tr-gn"]
			apart := func(i int) float64 { return math.Abs(float64(b[i].Loss-c[i].Loss)) / float64(c[i].Loss) }
			var way strings.Builder
			last := min(len(b), len(c)) - 1
			for i := 0; i <= last; i++ {
				if i <= 2 || i%5 == 0 || i == last {
					fmt.Fprintf(&way, "  %d: %.0e", i, apart(i))
				}
			}
			first := 1
			for first < last && apart(first) == 0 {
				first++
			}
			end := first
			for end < last && apart(end) < 1e-3 {
				end++
			}
			growth := math.Pow(apart(end)/apart(first), 1/float64(end-first))
			t.Logf("%s, seed %d, relative difference of the losses by epoch:%s; %.1f times an epoch from %d to %d", base.Data, base.Seed, way.String(), growth, first, end)
			if apart(0) != 0 || apart(1) > 1e-12 {
				t.Errorf("%s, seed %d: %g apart after the first epoch", base.Data, base.Seed, apart(1))
			}
		}
	}
}

// near reports whether two numbers agree to what twelve steps of CG leave of rounding.
func near(a, b event.Float) bool {
	return math.Abs(float64(a-b)) <= 1e-6*math.Abs(float64(b)) || math.IsNaN(float64(a)) && math.IsNaN(float64(b))
}

// TestFlopsOfInnerIterations compares those of [MD]'s algorithms B, C and E on its regression net.
func TestFlopsOfInnerIterations(t *testing.T) {
	const rows = 1000
	network, err := models.NewNetwork(models.Chain(16, []int{82}, 10, models.Tanh, models.Identity, models.SquaredError, models.SkipNone))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x, targets := mat.NewDense(rows, 16, nil), mat.NewDense(rows, 10, nil)
	w, g, s := make([]float64, network.Dim()), make([]float64, network.Dim()), make([]float64, network.Dim())
	for _, v := range [][]float64{x.RawMatrix().Data, targets.RawMatrix().Data, w} {
		for i := range v {
			v[i] = rng.NormFloat64() / 4
		}
	}
	o := objective.New(network, x, targets, models.Options{})
	o.GradientTo(g, w)
	cost := network.Cost()
	flops := func(h krylov.Operator, multiplications float64) float64 {
		const iterations = 3
		var cg krylov.CG
		solve, err := cg.SolveTo(s, h, g, krylov.TrustRegion{Limit: iterations, Tolerance: 1e-12})
		if err != nil || solve.Iterations != iterations {
			t.Fatalf("%v, %+v", err, solve)
		}
		each, product := solve.Flops/iterations, 2*multiplications*rows
		if vectors := (each - product) / float64(network.Dim()); vectors < 14 || vectors > 18 {
			t.Errorf("%g operations for each weight beside the product", vectors)
		}
		return each
	}
	b, c, e := flops(o.GaussNewtonRows(w), cost.Rows), flops(o.GaussNewton(w), cost.GaussNewton), flops(o.Hessian(w), cost.Hessian)
	// Form, row·v, α·row and the backward pass take 4·F n_B and 3·F C_A multiplications a row of data in B, against
	// 2·n_B and 4·F C_A in C and 2·n_B and 6·F C_A in E, biases left out. The paper measured 3.9 : 1 : 1.3; here
	// the passes at w are kept, which it recomputed, so that C and E have less to do beside.
	if rb, re := b/c, e/c; math.Abs(rb-7.07) > 0.02 || math.Abs(re-1.28) > 0.01 {
		t.Errorf("B : C : E = %.3f : 1 : %.3f", rb, re)
	}
}

// TestMatrixOfTheObjective: that of the products, whole and in parts, charged at its price.
func TestMatrixOfTheObjective(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{6}}
	p, err := workplace.Prepare(&c)
	if err != nil {
		t.Fatal(err)
	}
	n, cost := p.Network.Dim(), p.Network.Cost()
	w := make([]float64, n)
	p.Network.InitTo(w, p.Init, rand.New(rand.NewPCG(1, 2)))
	whole := objective.New(p.Network, p.Data.Train.Inputs, p.Data.Train.Targets, models.Options{Memory: 1})
	for _, o := range append(whole.Blocks(3), whole) {
		part := o.(*objective.Objective)
		part.Linearize(w)
		before := part.Spent.Equivalents
		m := mat.NewSymDense(n, nil)
		if err := part.GaussNewtonMatrixTo(m, w, nil); err != nil {
			t.Fatal(err)
		}
		want := part.Share * (cost.Matrix/cost.Gradient + float64(p.Network.Outputs()))
		if got := part.Spent.Equivalents - before; math.Abs(got-want) > 1e-9*want {
			t.Errorf("an assembly is charged %g gradient equivalents, expected %g", got, want)
		}
		column, e, rows := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			e[i] = 1
			part.GaussNewton(w).MulVecTo(column, e)
			part.GaussNewtonRows(w).MulVecTo(rows, e)
			e[i] = 0
			for j := range n {
				if d := math.Abs(column[j] - m.At(i, j)); d > 1e-12 || math.Abs(column[j]-rows[j]) > 1e-12 {
					t.Fatalf("entry (%d, %d): %g in the matrix, %g and %g by products", j, i, m.At(i, j), column[j], rows[j])
				}
			}
		}
	}
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
	s := mustNew(t, config.Config{Data: "letters", Hidden: []int{3}, Optimizer: "lm"})
	box := s.Subscribe()
	defer box.Close()
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context()) }()
	do(t, s, event.Pause{On: true})
	follow(t, box, func(d *feed.Delta) bool { return d.Status.Phase == event.Paused && d.Run != nil })
	for part := 1; part <= 3; part++ {
		do(t, s, event.StepInner{})
		status := follow(t, box, func(d *feed.Delta) bool { return d.Status.Phase == event.Paused }).Status
		if status.Unit != part || status.Units <= 3 || status.Epoch != 0 || status.Equivalents < 1 {
			t.Errorf("part %d of %d instead of %d: %+v", status.Unit, status.Units, part, status)
		}
	}
	do(t, s, event.Stop{})
	if err := <-done; err != nil {
		t.Error(err)
	}
	if d := follow(t, box, func(d *feed.Delta) bool { return d.Done != nil }).Done; d.Reason != event.ReasonStopped || d.Epochs != 0 {
		t.Errorf("%+v", d)
	}
}
