package objective

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/krylov"
)

// decaying are networks with weights in every kind of place.
func decaying() map[string]models.Architecture {
	sparse := models.Chain(4, []int{3}, 2, models.Tanh, models.Softmax, models.CrossEntropy, models.SkipNone)
	sparse.Connections[0].Sources = models.WindowSources(3, 4, 2)
	return map[string]models.Architecture{
		"chain":  models.Chain(3, []int{4, 3}, 2, models.Tanh, models.Softmax, models.CrossEntropy, models.SkipAll),
		"sparse": sparse,
		"mixture": models.Experts(2, []int{3}, 2, 2, models.Tanh, models.Identity, models.SquaredError,
			models.Mixture{Gates: []models.Gate{{Width: 1, Slope: 1}, {Width: 1, Slope: 1, Center: 1}}}),
	}
}

// withL2 is another objective's with a penalty, so many threads, and passes of few rows kept.
func withL2(o *Objective, lambda float64, threads int) *Objective {
	p := *o.problem
	p.L2 = lambda
	return Bind(&p, &p, Rows{}, &Work{}, models.Options{Pool: reduce.NewPool(threads), Memory: 1})
}

// decays is 1 where a number is neither a bias nor of a gate.
func decays(n *models.Network) []float64 {
	out := make([]float64, n.Dim())
	offset, _ := n.Gates()
	for i := range offset {
		out[i] = 1
	}
	for _, b := range n.Biases() {
		clear(out[b.Offset:][:b.Nodes])
	}
	return out
}

// Loss and gradient, all products and the matrix are those without the penalty plus ½λΣw², λw and λv over the weights alone, and
// the gradient is the loss's slope. So they are over blocks and batches of the rows, and of the experts of a mixture.
func TestPenaltyIsInEveryPass(t *testing.T) {
	const lambda, rows = 0.3, 41
	for name, a := range decaying() {
		t.Run(name, func(t *testing.T) {
			plain, w := bound(t, a, rows)
			targets := plain.problem.Train.Targets
			targets.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, targets)
			mask := decays(plain.problem.Network)
			v := slices.Clone(w)
			slices.Reverse(v)
			want := sumsOf(plain, w, v)
			want.add(lambda, mask, w, v)
			for _, threads := range []int{1, 3} {
				got := sumsOf(withL2(plain, lambda, threads), w, v)
				got.equal(t, fmt.Sprint(threads, " threads"), &want)
			}
			o := withL2(plain, lambda, 1)
			slope(t, o, w)
			parts := sums{vectors: map[string][]float64{}}
			for _, part := range o.Blocks(3) {
				share := float64(part.(*Objective).Rows()) / rows
				parts.accumulate(share, sumsOf(part.(*Objective), w, v))
			}
			parts.equal(t, "blocks", &want)
			some := []int{3, 8, 13, 18, 23, 28, 33, 38} // the fourth of five parts
			g, gradient := make([]float64, len(w)), make([]float64, len(w))
			batch, loss := o.BatchGradientTo(g, w, some), o.Blocks(5)[3].GradientTo(gradient, w)
			if !near(batch, loss) || !floats.EqualApprox(g, gradient, 1e-13) {
				t.Errorf("a batch's loss %v, expected %v", batch, loss)
			}
			fixed := FixGates(o)
			n := fixed.Dim()
			fixed.Gates = w[n:]
			loss = fixed.GradientTo(g[:n], w[:n])
			if !near(loss, want.loss) || !near(fixed.Loss(w[:n]), want.loss) || !floats.EqualApprox(g[:n], want.vectors["gradient"][:n], 1e-13) {
				t.Errorf("with fixed gates %v, expected %v", loss, want.loss)
			}
			if e := o.Evaluate(w); e.Loss != plain.Evaluate(w).Loss || !near(o.Loss(w), e.Loss+o.Penalty(w)) {
				t.Errorf("the evaluation %v is not the data's", e.Loss)
			}
		})
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-14*math.Abs(b) }

// sums are what an objective says at w and of v.
type sums struct {
	loss    float64
	vectors map[string][]float64
}

func sumsOf(o *Objective, w, v []float64) sums {
	s := sums{vectors: map[string][]float64{}}
	n := len(w)
	room := func(name string) []float64 { s.vectors[name] = make([]float64, n); return s.vectors[name] }
	s.loss = o.GradientTo(room("gradient"), w)
	for name, h := range map[string]krylov.Operator{"Hv": o.Hessian(w), "GNv": o.GaussNewton(w), "rows": o.GaussNewtonRows(w)} {
		h.MulVecTo(room(name), v)
	}
	o.GaussNewtonDiagTo(room("diagonal"), w)
	m := mat.NewSymDense(n, nil)
	if err := o.GaussNewtonMatrixTo(m, w, nil); err != nil {
		panic(err)
	}
	s.vectors["matrix"] = mat.DenseCopyOf(m).RawMatrix().Data
	return s
}

// add adds a penalty by its definition.
func (s *sums) add(lambda float64, mask, w, v []float64) {
	for i, one := range mask {
		s.loss += lambda / 2 * one * w[i] * w[i]
		s.vectors["gradient"][i] += lambda * one * w[i]
		for _, name := range []string{"Hv", "GNv", "rows"} {
			s.vectors[name][i] += lambda * one * v[i]
		}
		s.vectors["diagonal"][i] += lambda * one
		s.vectors["matrix"][i*len(mask)+i] += lambda * one
	}
}

func (s *sums) accumulate(share float64, other sums) {
	s.loss += share * other.loss
	for name, v := range other.vectors {
		if s.vectors[name] == nil {
			s.vectors[name] = make([]float64, len(v))
		}
		floats.AddScaled(s.vectors[name], share, v)
	}
}

func (s *sums) equal(t *testing.T, where string, want *sums) {
	t.Helper()
	if !near(s.loss, want.loss) {
		t.Errorf("%s: loss %v, expected %v", where, s.loss, want.loss)
	}
	for name, v := range want.vectors {
		if got := s.vectors[name]; !floats.EqualApprox(got, v, 1e-13*(1+floats.Norm(v, math.Inf(1)))) {
			t.Errorf("%s: %s is off by %.2g", where, name, floats.Distance(got, v, 2))
		}
	}
}

// slope holds the gradient against central differences of the loss.
func slope(t *testing.T, o *Objective, w []float64) {
	t.Helper()
	g, at := make([]float64, len(w)), slices.Clone(w)
	o.GradientTo(g, w)
	const h = 1e-5
	for i := range w {
		at[i] = w[i] + h
		up := o.Loss(at)
		at[i] = w[i] - h
		down := o.Loss(at)
		at[i] = w[i]
		if d := (up - down) / (2 * h); math.Abs(d-g[i]) > 1e-6*(1+math.Abs(d)) {
			t.Errorf("gradient %d is %v, by differences %v", i, g[i], d)
		}
	}
}

// A batch with noise is the batch of rows that have it: the same generator tells which. What gates alone look at has none.
func TestNoiseIsOnTheInputs(t *testing.T) {
	const rows, sigma = 23, 0.2
	for _, precision := range []models.Precision{models.Double, models.Single} {
		plain, w := bound(t, models.Chain(3, []int{4}, 2, models.Tanh, models.Identity, models.SquaredError, models.SkipNone), rows)
		p := *plain.problem
		p.Noise, p.L2 = sigma, 0.1
		x, targets := p.Train.Inputs, p.Train.Targets
		p.Network = p.Network.In(precision)
		if precision == models.Single {
			p.Train = newSplit(p.Train.Split, precision)
			x, targets = models.Doubles(p.Train.X, 0, rows), models.Doubles(p.Train.T, 0, rows)
		}
		o := Bind(&p, &p, Rows{}, &Work{}, models.Options{})
		drawn := rand.New(rand.NewPCG(4, 2))
		given := rand.New(rand.NewPCG(4, 2))
		for _, batch := range [][]int{{5}, {7, 0, 22, 7}, {1, 2}} {
			noisy, t2 := mat.NewDense(len(batch), 3, nil), mat.NewDense(len(batch), 2, nil)
			for i, row := range batch {
				for j := range 3 {
					noisy.Set(i, j, x.At(row, j)+sigma*drawn.NormFloat64())
				}
				t2.SetRow(i, targets.RawRowView(row))
			}
			g, want := make([]float64, len(w)), make([]float64, len(w))
			oracle := New(plain.problem.Network, noisy, t2, models.Options{})
			loss := withL2(oracle, 0.1, 1).GradientTo(want, w)
			got := o.NoisyGradientTo(g, w, batch, given)
			tolerance := 1e-13
			if precision == models.Single {
				tolerance = 3e-6
			}
			if math.Abs(got-loss) > tolerance*(1+loss) || !floats.EqualApprox(g, want, tolerance*(1+floats.Norm(want, 2))) {
				t.Errorf("%v: rows %v: loss %v, expected %v\n%v\n%v", precision, batch, got, loss, g, want)
			}
		}
	}
}
