package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"newtop/models/internal/pass"
)

// register adds a loss for a test.
func register(t *testing.T, name string, at func(u, t float64) (value, slope, curvature float64)) LossFunction {
	t.Helper()
	before := pass.Losses
	t.Cleanup(func() { pass.Losses = before })
	return RegisterLoss(name, at)
}

// pseudoHuber is √(1 + r²) − 1 of the residual r.
func pseudoHuber(u, t float64) (value, slope, curvature float64) {
	r := u - t
	root := math.Sqrt(1 + r*r)
	return root - 1, r / root, 1 / (root * root * root)
}

func halfSquare(u, t float64) (value, slope, curvature float64) {
	return (u - t) * (u - t) / 2, u - t, 1
}

// measuredBy returns the problem with another loss.
func (p problem) measuredBy(tb testing.TB, loss LossFunction) problem {
	a := p.n.Architecture()
	a.Loss = loss
	p.n = mustNetwork(tb, a)
	return p
}

// TestRegisteredLoss: all that is computed with a loss of a program's own, behind every activation, is what the naive
// computation row by row gives.
func TestRegisteredLoss(t *testing.T) {
	loss := register(t, "pseudo-huber", pseudoHuber)
	for out := range Activation(len(activations)) {
		for seed := range uint64(8) {
			p := randomProblem(t, seed, 1+int(seed)*13, true)
			a := p.n.Architecture()
			a.Loss = loss
			last := &a.Layers[len(a.Layers)-1]
			if last.Activation = out; out == Softmax && last.Nodes == 1 {
				continue
			}
			p = randomData(t, a, rand.New(rand.NewPCG(seed, 3)), 1+int(seed)*13)
			t.Run(fmt.Sprintf("%d %s", seed, describe(p.n)), func(t *testing.T) {
				checkProducts(t, p)
				checkRows(t, p)
			})
		}
	}
}

// TestRegisteredSquaredError: squared error as a loss of a program's own gives what the built-in one does, in mixtures, in
// float32 and with drawn targets too.
func TestRegisteredSquaredError(t *testing.T) {
	own := register(t, "half-square", halfSquare)
	for seed := range uint64(60) {
		p := randomProblem(t, seed, 9, true)
		if seed >= 30 {
			p = randomMixture(t, seed, 9, false)
		}
		p = p.measuredBy(t, SquaredError)
		q := p.measuredBy(t, own)
		for precision, tolerance := range map[Precision]float64{Double: 1e-13, Single: 2e-5} {
			p.n, q.n = p.n.In(precision), q.n.In(precision)
			what := fmt.Sprintf("%d %s %v", seed, describe(p.n), precision)
			got, want := everything(q.n.Bind(p.x, p.t, Options{}), q), everything(p.n.Bind(p.x, p.t, Options{}), p)
			wantNear(t, what, got, want, tolerance)
			if p.n.Architecture().Mixture != nil {
				continue
			}
			sampled, ours := p.n.NewFactors(math.MaxInt), q.n.NewFactors(math.MaxInt)
			p.n.NewBatch(p.x, p.t, 9).FactorsTo(sampled, p.w, []int{1, 4, 8}, rand.New(rand.NewPCG(2, 2)))
			q.n.NewBatch(p.x, p.t, 9).FactorsTo(ours, p.w, []int{1, 4, 8}, rand.New(rand.NewPCG(2, 2)))
			wantFactors(t, what+": ", ours, sampled, tolerance)
		}
	}
}

// TestRegisterLoss: a loss is known by its name, and what can't be is refused.
func TestRegisterLoss(t *testing.T) {
	own := register(t, "own", halfSquare)
	if got, err := ParseLoss("own"); got != own || err != nil || own.String() != "own" {
		t.Errorf("own is read as %v, %v and called %v", got, err, own)
	}
	for name, want := range map[string]string{"own": `a loss "own" already`, "mse": `a loss "mse" already`, "": "expected a name"} {
		if got := panicOf(func() { RegisterLoss(name, halfSquare) }); !strings.Contains(got, want) {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
	bent := register(t, "bent", func(u, t float64) (value, slope, curvature float64) { return 0, 0, -1 })
	p := randomProblem(t, 1, 3, false).measuredBy(t, bent)
	if got := panicOf(func() { p.n.Linearize(p.w, p.x, p.t) }); !strings.Contains(got, "negative second derivative") {
		t.Errorf("a loss that is not convex: %q", got)
	}
}

// panicOf returns what a call panics with, as text.
func panicOf(call func()) (text string) {
	defer func() {
		if fault := recover(); fault != nil {
			text = fmt.Sprint(fault)
		}
	}()
	call()
	return ""
}
