package models

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

func TestParseInit(t *testing.T) {
	for _, text := range []string{"uniform:0.2", "normal:1.5", "xavier", "he", "lecun"} {
		i, err := ParseInit(text)
		if err != nil || i.String() != text {
			t.Errorf("%q is read as %v, %v", text, i, err)
		}
	}
	if got := (Init{}).String(); got != "xavier" {
		t.Errorf("the zero value is %q, expected xavier", got)
	}
	for _, text := range []string{"", "uniform", "uniform:", "uniform:x", "uniform:-1", "uniform:0", "uniform:NaN", "uniform:Inf", "he:2", ":", "xavier:"} {
		var bad *NameError
		if i, err := ParseInit(text); !errors.As(err, &bad) {
			t.Errorf("%q is read as %v, %v", text, i, err)
		}
	}
}

// TestInit checks spread and biases of every rule. Fan-in counts skips, so that layer 2 of the net has
// one of 300 + 100.
func TestInit(t *testing.T) {
	const inputs, hidden, outputs = 300, 100, 50
	n := mustNetwork(t, Chain(inputs, []int{hidden}, outputs, Tanh, Identity, SquaredError, SkipAll))
	first, second := n.Blocks()[0], n.Blocks()[1]
	for _, c := range []struct {
		text          string
		first, second float64 // standard deviations
		bounded       bool
		biases        bool
	}{
		{"uniform:0.2", 0.2 / math.Sqrt(3), 0.2 / math.Sqrt(3), true, true},
		{"normal:0.1", 0.1, 0.1, false, true},
		{"xavier", math.Sqrt(2. / (inputs + hidden)), math.Sqrt(2. / (inputs + hidden + outputs)), true, false},
		{"he", math.Sqrt(2. / inputs), math.Sqrt(2. / (inputs + hidden)), false, false},
		{"lecun", math.Sqrt(1. / inputs), math.Sqrt(1. / (inputs + hidden)), false, false},
	} {
		init, err := ParseInit(c.text)
		if err != nil {
			t.Fatal(err)
		}
		w, again := make([]float64, n.Dim()), make([]float64, n.Dim())
		w[n.Dim()-1] = math.NaN()
		n.InitTo(w, init, rand.New(rand.NewPCG(1, 2)))
		n.InitTo(again, init, rand.New(rand.NewPCG(1, 2)))
		wantSameBits(t, c.text, again, w)
		for _, b := range []struct {
			block Block
			sigma float64
		}{{first, c.first}, {second, c.second}} {
			x := w[b.block.Offset:][:b.block.Size()]
			mean, sigma := stat.MeanStdDev(x, nil)
			if math.Abs(sigma/b.sigma-1) > 0.02 || math.Abs(mean) > 0.03*b.sigma {
				t.Errorf("%s: mean %g, standard deviation %g, expected 0 and %g", c.text, mean, sigma, b.sigma)
			}
			if maxRows := floats.Norm(x, math.Inf(1)); c.bounded != (maxRows <= math.Sqrt(3)*b.sigma) {
				t.Errorf("%s: largest weight %g", c.text, maxRows)
			}
		}
		for _, b := range n.Biases() {
			if got := floats.Norm(w[b.Offset:][:b.Nodes], 1) > 0; got != c.biases {
				t.Errorf("%s: biases drawn: %v, expected %v", c.text, got, c.biases)
			}
		}
	}
}
