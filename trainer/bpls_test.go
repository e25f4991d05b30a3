package trainer

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/event"
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
	return NewObjective(network, random(a.Inputs), random(network.Outputs()), models.Options{}), w
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
		o.network.OutputTo(want, w, chain.Inputs)
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

// A net that is no chain is refused before the run.
func TestBPLSRefusesOtherNets(t *testing.T) {
	s := mustNew(t, Config{Data: "sine", Hidden: []int{3}, Skip: models.SkipDirect, Optimizer: "bpls"})
	var refused *PrepareError
	if err := s.Run(context.Background()); !errors.As(err, &refused) || !strings.Contains(err.Error(), "bpls: layer 2 takes from layer 0") {
		t.Errorf("%v", err)
	}
}

// The two toy problems of [T, §III-A] without noise: two lines are found exactly from any random start, and two
// curves nearly so from most, as the hidden layer can't follow its targets to the last digit.
func TestToyProblemsOfBPLS(t *testing.T) {
	for _, target := range []string{"printed", "damped", "minimum-norm"} {
		var curves []float64
		for seed := range uint64(20) {
			c := Config{Data: "bpls-linear", Hidden: []int{3}, Act: "identity", Optimizer: "bpls", Set: []string{"target=" + target}, Seed: seed}
			done := of[event.DoneEvent](train(t, c))[0]
			if done.Reason != event.ReasonStalled || done.Epochs != 1 || !(done.TestRMSE < 1e-10) {
				t.Errorf("%s, seed %d: lines: %+v", target, seed, done)
			}
			c.Data, c.Act, c.Out = "bpls-sigmoid", "sigmoid", "sigmoid"
			epochs := of[event.EpochEvent](train(t, c))
			curves = append(curves, float64(epochs[len(epochs)-1].TestRMSE))
		}
		slices.Sort(curves)
		if middle, most := curves[10], curves[19]; middle > 0.03 || most > 0.15 {
			t.Errorf("%s: curves with a test RMSE of %.3g in the middle, %.3g at most", target, middle, most)
		}
	}
}

// Events say what the weights do, misses fall with every iteration, work is charged, and the threads make no
// difference.
func TestBPLSEvents(t *testing.T) {
	c := Config{Data: "parity", Hidden: []int{12}, Optimizer: "bpls", Seed: 3}
	var runs [][]event.EpochEvent
	for _, threads := range []int{1, 3} {
		c.Threads = threads
		runs = append(runs, of[event.EpochEvent](train(t, c)))
	}
	if len(runs[0]) < 2 || len(runs[0]) != len(runs[1]) {
		t.Fatalf("%d and %d epochs", len(runs[0]), len(runs[1]))
	}
	before := math.Inf(1)
	for i, e := range runs[0][1:] {
		var keys []string
		for _, f := range e.Figures {
			keys = append(keys, f.Key)
		}
		if !slices.Equal(keys, []string{"misses", "rank", "share", "residual"}) {
			t.Fatalf("figures %v", keys)
		}
		misses := float64(e.Figures[0].Value)
		if math.Abs(misses-256*float64(e.Error)) > 1e-9 || misses >= before {
			t.Errorf("epoch %d: %g misses after %g, an error of %v", e.Epoch, misses, before, e.Error)
		}
		before = misses
		if e.Loss != runs[1][i+1].Loss || !e.Accepted || !(e.StepNorm > 0) || e.GradientEquivalents <= runs[0][i].GradientEquivalents {
			t.Errorf("epoch %d: %+v, with other threads a loss of %v", e.Epoch, e, runs[1][i+1].Loss)
		}
	}
}

// What docs/bpls.md says of MNIST: the net is better than the linear model by plain least squares, on the rows it
// was not trained on more than on the others.
func TestBPLSOnMNIST(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, which has nothing to find in it")
	}
	dir := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(filepath.Join(dir, "t10k-images-idx3-ubyte.gz")); err != nil {
		t.Skip("no ../shared/data with MNIST")
	}
	test := func(hidden []int, epochs int, set ...string) event.EpochEvent {
		c := Config{Data: "mnist", DataDir: dir, Hidden: hidden, Optimizer: "bpls", Epochs: epochs, Seed: 1, Set: set}
		all := of[event.EpochEvent](train(t, c))
		return all[len(all)-1]
	}
	linear, net := test([]int{}, 1, "ridge-2=0"), test([]int{50}, 3)
	if e := linear.TestError; e < 0.11 || e > 0.14 {
		t.Errorf("the linear model's test error is %.3f", e)
	}
	if net.TestError > linear.TestError-0.01 || net.Error > linear.Error {
		t.Errorf("the net's errors are %.3f and %.3f, the linear model's %.3f and %.3f", net.Error, net.TestError, linear.Error, linear.TestError)
	}
}
