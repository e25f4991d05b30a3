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

// randomProblem returns a random graph with skips, missing neighbours, softmax layers anywhere, and
// every loss and activation, ReLU only where kinks are allowed.
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
	joined := map[Connection]bool{}
	for l := 1; l <= layers; l++ {
		joined[Connection{l, rng.IntN(l)}] = true
		for r := range l {
			if rng.IntN(3) == 0 {
				joined[Connection{l, r}] = true
			}
		}
	}
	for r := 1; r < layers; r++ {
		joined[Connection{r + 1 + rng.IntN(layers-r), r}] = true
	}
	for c := range joined {
		a.Connections = append(a.Connections, c)
	}
	return randomData(tb, a, rng, rows)
}

func randomData(tb testing.TB, a Architecture, rng *rand.Rand, rows int) problem {
	n := mustNetwork(tb, a)
	p := problem{n, make([]float64, n.Dim()), make([]float64, n.Dim()),
		mat.NewDense(rows, n.Inputs(), nil), mat.NewDense(rows, n.Outputs(), nil)}
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
