package objective

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/alloctest"
	"newtop/models"
	"newtop/trainer/optim"
)

// eachBatch checks what methods see of each of the decaying networks: all numbers, or with fixed gates the experts' weights.
func eachBatch(t *testing.T, rows int, check func(t *testing.T, whole *Objective, o optim.Objective, w []float64)) {
	for name, a := range decaying() {
		t.Run(name, func(t *testing.T) {
			plain, w := bound(t, a, rows)
			targets := plain.problem.Train.Targets
			targets.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, targets)
			const lambda = 0.3
			o := withL2(plain, lambda, 2)
			check(t, o, o, w)
			fixed := FixGates(o)
			fixed.Gates = w[fixed.Dim():]
			check(t, o, fixed, w[:fixed.Dim()])
		})
	}
}

// The squares are those of each row's own gradient without the penalty, which gradient and loss have; and they are charged as what
// they cost more than a gradient.
func TestBatchGradientSquares(t *testing.T) {
	some := []int{3, 8, 8, 0, 17}
	eachBatch(t, 20, func(t *testing.T, whole *Objective, o optim.Objective, w []float64) {
		s := o.(optim.SquaresObjective)
		n := len(w)
		want, wanted, g := make([]float64, n), make([]float64, n), make([]float64, n)
		loss := s.BatchGradientTo(want, w, some)
		mask := decays(whole.problem.Network)[:n]
		for _, row := range some {
			s.BatchGradientTo(g, w, []int{row})
			for i := range g {
				own := g[i] - whole.problem.L2*mask[i]*w[i]
				wanted[i] += own * own / float64(len(some))
			}
		}
		before := *whole.Spent
		got, squares := make([]float64, n), make([]float64, n)
		if l := s.BatchGradientSquaresTo(got, squares, w, some); l != loss || !slices.Equal(got, want) {
			t.Errorf("loss %v, expected %v, or another gradient", l, loss)
		}
		if !floats.EqualApprox(squares, wanted, 1e-12*(1+floats.Norm(wanted, math.Inf(1)))) {
			t.Errorf("squares %v, expected %v", squares, wanted)
		}
		cost := whole.problem.Network.Cost()
		charged(t, whole, &before, Work{Gradients: 5. / 20, Equivalents: 5. / 20 * cost.Squares / cost.Gradient})
	})
}

// charged holds what was spent since before against what it should be.
func charged(t *testing.T, o *Objective, before *Work, want Work) {
	t.Helper()
	got := Work{o.Spent.Gradients - before.Gradients, o.Spent.Products - before.Products, o.Spent.Losses - before.Losses, o.Spent.Equivalents - before.Equivalents}
	for i, v := range [][2]float64{{got.Gradients, want.Gradients}, {got.Products, want.Products}, {got.Losses, want.Losses}, {got.Equivalents, want.Equivalents}} {
		if math.Abs(v[0]-v[1]) > 1e-12 {
			t.Errorf("number %d: charged %+v, expected %+v", i, got, want)
			return
		}
	}
}

// The factors are those of the network's own batch of the rows, for the same random numbers, and are charged by what they cost.
func TestBatchFactors(t *testing.T) {
	some := []int{3, 8, 8, 0, 17}
	eachBatch(t, 20, func(t *testing.T, whole *Objective, o optim.Objective, w []float64) {
		f := o.(optim.FactorObjective)
		if err := optim.Offers(o, optim.NeedsFactors|optim.NeedsSquares|optim.NeedsSample); err != nil {
			t.Fatal(err)
		}
		network := whole.problem.Network
		full := w
		if len(w) < network.Dim() {
			full = slices.Concat(w, o.(*FixedGates).Gates)
		}
		want := network.NewFactors(math.MaxInt)
		network.NewBatch(whole.problem.Train.X, whole.problem.Train.T, 5).FactorsTo(want, full, some, rand.New(rand.NewPCG(1, 2)))
		var got []optim.Factors
		for _, m := range f.Matrices() {
			k := m.Cols
			if m.Biased {
				k++
			}
			got = append(got, optim.Factors{Inputs: make([]float64, k*k), Outputs: make([]float64, m.Rows*m.Rows)})
		}
		before := *whole.Spent
		f.BatchFactorsTo(got, w, some, rand.New(rand.NewPCG(1, 2)))
		for i := range want {
			if !slices.Equal(got[i].Inputs, want[i].Inputs) || !slices.Equal(got[i].Outputs, want[i].Outputs) {
				t.Errorf("other factors of matrix %d", i)
			}
		}
		charged(t, whole, &before, Work{Equivalents: 5. / 20 * network.NewBatch(whole.problem.Train.X, whole.problem.Train.T, 5).FactorCost(want) / network.Cost().Gradient})
		rng := rand.New(rand.NewPCG(1, 2))
		if count := alloctest.PerRun(2, func() { f.BatchFactorsTo(got, w, some, rng) }); count != 0 {
			t.Errorf("%g allocations", count)
		}
	})
}

// away binds the rows as if some of them were another process's.
type away struct{ *Problem }

// Chosen rows can't be had where other processes have some, nor factors without a dense block. The reason is one line.
func TestWhatObjectivesLack(t *testing.T) {
	a := models.Chain(3, nil, 2, models.Tanh, models.Identity, models.SquaredError, models.SkipNone)
	here, _ := bound(t, a, 5)
	external := Bind(here.problem, away{here.problem}, Rows{}, &Work{}, models.Options{})
	a.Connections[0].Sources = models.WindowSources(2, 3, 2)
	sparse, _ := bound(t, a, 5)
	for _, c := range []struct {
		o    *Objective
		need optim.Capability
		want string
	}{
		{here, optim.NeedsFactors | optim.NeedsSquares | optim.NeedsSample | optim.NeedsHessian, ""},
		{external, optim.NeedsFactors, "several processes'"},
		{external, optim.NeedsSquares, "several processes'"},
		{external, optim.NeedsSample, "several processes'"},
		{external, optim.NeedsHessian | optim.NeedsGaussNewton, ""},
		{sparse, optim.NeedsFactors, "sparse"},
		{sparse, optim.NeedsSquares | optim.NeedsSample, ""},
	} {
		for _, o := range []optim.Objective{c.o, FixGates(c.o)} {
			err := optim.Offers(o, c.need)
			if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%T, %b: %v, expected %q", o, c.need, err, c.want)
			}
		}
	}
}
