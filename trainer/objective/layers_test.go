package objective

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/optim"
)

// bound returns the objective of a network on random rows.
func bound(t *testing.T, a models.Architecture, rows int) (*Objective, []float64) {
	t.Helper()
	network, err := models.NewNetwork(a)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 7))
	random := func(columns int) *mat.Dense {
		m := mat.NewDense(rows, columns, nil)
		m.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, m)
		return m
	}
	w := make([]float64, network.Dim())
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	return New(network, random(a.Inputs), random(network.Outputs()), models.Options{}), w
}

// The chain's layout and maps make the network's own outputs, and every inverse undoes its map.
func TestChainIsTheNetwork(t *testing.T) {
	for _, act := range []models.Activation{models.Identity, models.Sigmoid, models.Tanh, models.Softplus, models.Softmax} {
		o, w := bound(t, models.Chain(4, []int{5, 3}, 2, act, models.Identity, models.SquaredError, models.SkipNone), 9)
		chain, err := o.Chain()
		if err != nil {
			t.Fatal(err)
		}
		want := mat.NewDense(9, 2, nil)
		o.problem.Network.OutputTo(want, w, chain.Inputs)
		for p := range 9 {
			u := chain.Inputs.RawRowView(p)
			for _, l := range chain.Layers {
				v := make([]float64, l.Nodes)
				for j := range v {
					v[j] = w[l.Biases+j] + floats.Dot(w[l.Weights+j*l.Sources:][:l.Sources], u)
				}
				u = slices.Clone(v)
				l.Activation.Value(u)
				checkInverse(t, l.Activation, v, u)
			}
			if !floats.EqualApprox(u, want.RawRowView(p), 1e-12) {
				t.Errorf("%v: outputs %v, want %v", act, u, want.RawRowView(p))
			}
		}
		for i, l := range chain.Layers {
			if want := []string{act.String(), act.String(), "identity"}[i]; l.Activation.Name != want {
				t.Errorf("layer %d is %s, want %s", i+1, l.Activation.Name, want)
			}
		}
	}
}

func checkInverse(t *testing.T, f optim.Activation, v, u []float64) {
	t.Helper()
	back := slices.Clone(u)
	f.Inverse(back)
	if f.Name == "softmax" { // logits that add up to zero
		v = slices.Clone(v)
		floats.AddConst(-floats.Sum(v)/float64(len(v)), v)
	}
	if !floats.EqualApprox(back, v, 1e-9) {
		t.Errorf("%s: %v goes back to %v", f.Name, v, back)
	}
}

// Wanted outputs that no net input gives are moved to the nearest that one does, κ from the end; those within
// stay. Every clipped row has a finite inverse that leads back to it.
func TestWantedOutputsAreClipped(t *testing.T) {
	const kappa = 0.01
	for act, want := range map[models.Activation][]float64{
		models.Identity: {-3, 0.25, 7},
		models.Sigmoid:  {kappa, 0.25, 1 - kappa},
		models.Tanh:     {kappa - 1, 0.25, 1 - kappa},
		models.Softplus: {kappa, 0.25, 7},
		models.Softmax:  {kappa / 1.26, 0.25 / 1.26, 1 / 1.26},
	} {
		f := inverses[act]
		u := []float64{-3, 0.25, 7}
		f.Clip(u, kappa)
		if !floats.EqualApprox(u, want, 1e-15) {
			t.Errorf("%v: clipped to %v, want %v", act, u, want)
		}
		back := slices.Clone(u)
		f.Inverse(back)
		f.Value(back)
		if !floats.EqualApprox(back, u, 1e-14) {
			t.Errorf("%v: %v comes back as %v", act, u, back)
		}
	}
	share := []float64{0.2, 0.5, 0.3}
	inverses[models.Softmax].Clip(share, kappa)
	if !floats.EqualApprox(share, []float64{0.2, 0.5, 0.3}, 1e-15) {
		t.Errorf("probabilities were moved to %v", share)
	}
}

// A net that is no chain is refused in words.
func TestNetsThatAreNoChains(t *testing.T) {
	sparse := models.Chain(4, []int{3}, 2, models.Tanh, models.Identity, models.SquaredError, models.SkipNone)
	sparse.Connections[0].Sources = models.WindowSources(3, 4, 2)
	for want, a := range map[string]models.Architecture{
		"layer 2 takes from layer 0":                models.Chain(4, []int{3}, 2, models.Tanh, models.Identity, models.SquaredError, models.SkipDirect),
		"chosen nodes":                              sparse,
		`layer 1 ("hidden 1"): relu has no inverse`: models.Chain(4, []int{3}, 2, models.ReLU, models.Identity, models.SquaredError, models.SkipNone),
		"mixture of experts": models.Experts(4, []int{3}, 2, 1, models.Tanh, models.Identity, models.SquaredError,
			models.Mixture{Gates: []models.Gate{{Width: 1, Slope: 1}}}),
	} {
		o, _ := bound(t, a, 5)
		err := optim.Offers(o, optim.NeedsLayers)
		var lacks *optim.CapabilityError
		if !errors.As(err, &lacks) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTargetsOfClasses(t *testing.T) {
	for _, test := range []struct {
		rows [][]float64
		want bool
	}{
		{[][]float64{{0, 1, 0}, {1, 0, 0}}, true},
		{[][]float64{{-1, 1, -1}, {-1, -1, 1}}, true},
		{[][]float64{{1, 0}}, true},
		{[][]float64{{0, 1, 0}, {0, 0, 0}}, false},
		{[][]float64{{0, 1}, {1, 1}}, false},
		{[][]float64{{0, 1}, {-1, 1}}, false},
		{[][]float64{{0.5, 1}}, false},
		{[][]float64{{1}, {0}}, false},
		{[][]float64{{math.NaN(), 1}}, false},
	} {
		m := mat.NewDense(len(test.rows), len(test.rows[0]), slices.Concat(test.rows...))
		if coded(m) != test.want {
			t.Errorf("%v are classes: %v", test.rows, coded(m))
		}
	}
}
