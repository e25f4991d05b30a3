package models

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// problem is a network with weights, data and a direction.
type problem struct {
	n    *Network
	w, d []float64
	x, t *mat.Dense
}

// randomProblem returns a random graph with skips, missing neighbours, sparse connections, softmax layers
// anywhere, and every loss and activation, ReLU only where kinks are allowed.
func randomProblem(tb testing.TB, seed uint64, rows int, kinks bool) problem {
	rng := rand.New(rand.NewPCG(seed, 7))
	pick := func() Activation {
		for {
			if a := Activation(rng.IntN(len(activations))); a != ReLU || kinks {
				return a
			}
		}
	}
	a := Architecture{Inputs: 1 + rng.IntN(4)}
	layers := 1 + rng.IntN(4)
	for range layers {
		layer := Layer{Nodes: 1 + rng.IntN(5), Activation: pick()}
		if layer.Activation == Softmax {
			layer.Nodes++
		}
		a.Layers = append(a.Layers, layer)
	}
	if out := a.Layers[layers-1].Activation; (out == Softmax || out == Sigmoid) && rng.IntN(3) > 0 {
		a.Loss = CrossEntropy
	}
	joined := map[[2]int]bool{}
	for l := 1; l <= layers; l++ {
		joined[[2]int{l, rng.IntN(l)}] = true
		for r := range l {
			if rng.IntN(3) == 0 {
				joined[[2]int{l, r}] = true
			}
		}
	}
	for r := 1; r < layers; r++ {
		joined[[2]int{r + 1 + rng.IntN(layers-r), r}] = true
	}
	for l := 1; l <= layers; l++ {
		for r := range l {
			if joined[[2]int{l, r}] {
				a.Connections = append(a.Connections, Connection{To: l, From: r, Sources: randomSources(&a, l, r, rng)})
			}
		}
	}
	return randomData(tb, a, rng, rows)
}

// randomSources makes one connection in three sparse. Each node has from one source to all.
func randomSources(a *Architecture, to, from int, rng *rand.Rand) *Sources {
	if rng.IntN(3) > 0 {
		return nil
	}
	lists := make([][]int, a.nodes(to))
	for i := range lists {
		lists[i] = rng.Perm(a.nodes(from))[:1+rng.IntN(a.nodes(from))]
	}
	return NewSources(lists)
}

// randomMixture returns a mixture of one to four experts of random depth and activations, some on top of a
// layer they share, with sparse connections, features behind the inputs, periods, and every loss.
// Where smooth is true, all derivatives of the gates are of moderate size.
func randomMixture(tb testing.TB, seed uint64, rows int, smooth bool) problem {
	rng := rand.New(rand.NewPCG(seed, 11))
	pick := func() Activation { return Activation(rng.IntN(int(ReLU))) } // all but relu and softmax
	a := Architecture{Inputs: 1 + rng.IntN(4), Features: rng.IntN(3), Mixture: &Mixture{}}
	layer := func(nodes int, f Activation, from int) int {
		a.Layers = append(a.Layers, Layer{Nodes: nodes, Activation: f})
		to := len(a.Layers)
		a.Connections = append(a.Connections, Connection{To: to, From: from, Sources: randomSources(&a, to, from, rng)})
		return to
	}
	outputs, base := 1+rng.IntN(4), 0
	if rng.IntN(2) == 0 {
		base = layer(1+rng.IntN(4), pick(), 0)
	}
	var experts []int
	for i := range 1 + rng.IntN(4) {
		top := base
		for range rng.IntN(3) {
			top = layer(2+rng.IntN(4), []Activation{pick(), Softmax}[rng.IntN(2)], top)
		}
		if i > 0 && rng.IntN(4) == 0 && top != base { // an expert may also look at the one before
			a.Connections = append(a.Connections, Connection{To: top, From: experts[i-1]})
		}
		act := pick()
		if outputs > 1 && rng.IntN(4) == 0 {
			act = Softmax
		}
		experts = append(experts, layer(outputs, act, top))
		gate := Gate{Width: 0.3 + rng.Float64(), Slope: 0.4 + 2*rng.Float64(), Center: rng.NormFloat64()}
		if smooth {
			gate.Slope += 2
		}
		a.Mixture.Gates = append(a.Mixture.Gates, gate)
	}
	a.Mixture.Feature = rng.IntN(a.Inputs + a.Features)
	if !smooth && rng.IntN(3) == 0 {
		a.Mixture.Period = 2.5
	}
	out := Layer{Nodes: outputs, Activation: pick()}
	if rng.IntN(3) == 0 && outputs > 1 {
		out.Activation = Softmax
	}
	if (out.Activation == Softmax || out.Activation == Sigmoid) && rng.IntN(3) > 0 {
		a.Loss = CrossEntropy
	}
	a.Layers = append(a.Layers, out)
	for _, i := range rng.Perm(len(experts)) {
		a.Connections = append(a.Connections, Connection{To: len(a.Layers), From: experts[i], Gate: i + 1})
	}
	return randomData(tb, a, rng, rows)
}

func randomData(tb testing.TB, a Architecture, rng *rand.Rand, rows int) problem {
	n := mustNetwork(tb, a)
	p := problem{n, make([]float64, n.Dim()), make([]float64, n.Dim()),
		mat.NewDense(rows, n.Columns(), nil), mat.NewDense(rows, n.Outputs(), nil)}
	for _, s := range [][]float64{p.w, p.d, p.x.RawMatrix().Data} {
		for i := range s {
			s[i] = rng.NormFloat64()
		}
	}
	for i := range p.w {
		p.w[i] *= 0.6 // keeps u and 1 − u away from 0, where naive's unfused losses lose digits
	}
	for row := range rows {
		t := p.t.RawRowView(row)
		for k := range t {
			t[k] = rng.NormFloat64()
		}
		if a.Loss == CrossEntropy {
			probabilities(t, a.Layers[len(a.Layers)-1].Activation, rng)
		}
	}
	return p
}

// probabilities fills t with targets for cross-entropy, half of them certain. Behind softmax they add up
// to one in two rows of three, as probabilities do, and to the weight of the row in the third.
func probabilities(t []float64, out Activation, rng *rand.Rand) {
	sum, certain := 0.0, rng.IntN(2) == 0
	hit := rng.IntN(len(t))
	for k := range t {
		t[k] = rng.Float64()
		if certain {
			t[k] = kronecker(k, hit)
		}
		sum += t[k]
	}
	if out != Softmax {
		return
	}
	weight := 1.0
	if rng.IntN(3) == 0 {
		weight = 3 * rng.Float64()
	}
	for k := range t {
		t[k] *= weight / sum
	}
}

// letterProblem returns the net and rows of the shape of [MD]'s letter problem: 16-70-50-26, tanh,
// squared error, targets ±1.
func letterProblem(tb testing.TB, rows int) (n *Network, w []float64, x, t *mat.Dense) {
	n = mustNetwork(tb, Chain(16, []int{70, 50}, 26, Tanh, Tanh, SquaredError, SkipNone))
	rng := rand.New(rand.NewPCG(1, 2))
	w = make([]float64, n.Dim())
	init, err := ParseInit("uniform:0.2")
	if err != nil {
		tb.Fatal(err)
	}
	n.InitTo(w, init, rng)
	x, t = mat.NewDense(rows, 16, nil), mat.NewDense(rows, 26, nil)
	for p := range rows {
		for i := range 16 {
			x.Set(p, i, rng.NormFloat64())
		}
		for k := range 26 {
			t.Set(p, k, -1)
		}
		t.Set(p, rng.IntN(26), 1)
	}
	return n, w, x, t
}
