package kronecker

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// newtonSchulz is five steps X ← aX + b(XXᵀ)X + c(XXᵀ)²X from X/‖X‖, for a matrix of any shape as it stands.
func newtonSchulz(x *mat.Dense) *mat.Dense {
	x = combined(1/mat.Norm(x, 2), x, 0, x)
	for range 5 {
		a := mul(x, x.T())
		next := combined(3.4445, x, -4.7750, mul(a, x))
		x = combined(1, next, 2.0315, mul(a, a, x))
	}
	return x
}

var shapes = [][2]int{{1, 1}, {1, 7}, {7, 1}, {3, 3}, {4, 9}, {9, 4}, {20, 30}, {30, 20}}

// TestNewtonSchulz holds the iteration against its formula, wide or tall, and its result's singular values to what five steps do.
func TestNewtonSchulz(t *testing.T) {
	for _, shape := range shapes {
		m, n := shape[0], shape[1]
		w := newSchulz(m, n) // what it holds from the call before is nothing to the next one
		for seed := range uint64(4) {
			x := normal(newRand(seed), m, n)
			copy(w.y, combined(1/mat.Norm(x, 2), x, 0, x).RawMatrix().Data)
			got := mat.NewDense(m, n, slices.Clone(w.orthogonal(m, n)))
			if far := distance(got, newtonSchulz(x)); !(far <= 1e-12) {
				t.Fatalf("%d × %d: %.1e off", m, n, far)
			}
			var svd mat.SVD
			if !svd.Factorize(x, mat.SVDNone) {
				t.Fatal("no singular values")
			}
			if before := svd.Values(nil); before[len(before)-1] < 0.02*mat.Norm(x, 2) {
				continue
			}
			if !svd.Factorize(got, mat.SVDNone) {
				t.Fatal("no singular values")
			}
			for _, v := range svd.Values(nil) {
				if !(v > 0.6 && v < 1.3) {
					t.Errorf("%d × %d: a singular value of %g", m, n, v)
				}
			}
		}
	}
}

// TestMuonAgainstItsFormulas: V ← μV + G, W ← W − η√max(1, m/n)·NS(G + μV) for matrices without biases; Adam at the bias rate, under
// the same schedule, for all other numbers.
func TestMuonAgainstItsFormulas(t *testing.T) {
	const mu, epochs = 0.9, 40
	matrices, n := several()
	o := &given{n: n, matrices: matrices, gradients: gradientsOf(n, epochs, 31)}
	m, settings := method(t, "muon", "batch", "0", "momentum", fmt.Sprint(mu), "rate", "0.02", "bias-rate", "0.005", "schedule", "linear", "warmup", "5")
	s := &optim.State{Objective: o, W: normals(newRand(2), n), Settings: settings, Epochs: epochs}
	want, speed := slices.Clone(s.W), make([]float64, n)
	first, second := make([]float64, n), make([]float64, n)
	for k, g := range o.gradients {
		share := 1 - float64(k-5)/float64(epochs-5) // of the rates
		if k < 4 {
			share = float64(k+1) / 5
		}
		share = min(share, 1)
		step(t, m, s)
		in := make([]bool, n)
		for _, b := range matrices {
			b.Biased = false
			for i := range b.Rows * b.Cols {
				at := b.Offset + i
				speed[at], in[at] = mu*speed[at]+g[at], true
			}
			o := newtonSchulz(combined(1, blockIn(b, g), mu, blockIn(b, speed)))
			scale := math.Sqrt(max(1, float64(b.Rows)/float64(b.Cols)))
			put(b, want, combined(1, blockIn(b, want), -0.02*share*scale, o))
		}
		for i := range want {
			if in[i] {
				continue
			}
			first[i] = 0.9*first[i] + 0.1*g[i]
			second[i] = 0.999*second[i] + 0.001*g[i]*g[i]
			want[i] -= 0.005 * share * first[i] / (1 - math.Pow(0.9, float64(k+1))) / (math.Sqrt(second[i]/(1-math.Pow(0.999, float64(k+1)))) + 1e-8)
		}
		if far := apart(s.W, want); !(far <= 1e-11) {
			t.Fatalf("update %d: weights are %.1e off", k+1, far)
		}
	}
}

// TestMuonOfNoGradient: a block without gradient or speed stays where it is, and so does one whose numbers are too small to be
// divided by; with speed it goes on.
func TestMuonOfNoGradient(t *testing.T) {
	matrices := []optim.Matrix{{To: 1, Rows: 2, Cols: 3}, {To: 2, From: 1, Rows: 2, Cols: 2, Offset: 6}}
	zero, one := make([]float64, 10), slices.Repeat([]float64{1}, 10)
	first := slices.Clone(one)
	clear(first[:6])
	tiny := slices.Clone(first)
	for i := range 6 {
		tiny[i] = 1e-310
	}
	o := &given{n: 10, matrices: matrices, gradients: [][]float64{first, tiny, one, zero}}
	m, settings := method(t, "muon", "batch", "0")
	s := &optim.State{Objective: o, W: slices.Clone(one), Settings: settings}
	for k := range o.gradients {
		before := slices.Clone(s.W)
		step(t, m, s)
		if moved := !slices.Equal(before[:6], s.W[:6]); moved != (k >= 2) {
			t.Errorf("update %d: the first block moved: %v", k+1, moved)
		}
		if slices.Equal(before[6:], s.W[6:]) {
			t.Errorf("update %d: the second block did not move", k+1)
		}
	}
}

// TestWithoutMatrices: where all connections are sparse the methods are Adam.
func TestWithoutMatrices(t *testing.T) {
	const n = 5
	gradients := gradientsOf(n, 12, 3)
	for _, c := range []struct {
		name  string
		set   []string
		first int // of the gradients that move weights
		rates rates
	}{
		{"soap", []string{"rate", "0.01"}, 1, rates{eta: 0.01, beta1: 0.95, beta2: 0.95, epsilon: 1e-8}},
		{"shampoo", []string{"rate", "0.01"}, 0, rates{eta: 0.01, beta1: 0.95, beta2: 0.99, epsilon: 1e-8}},
		{"muon", []string{"bias-rate", "0.01"}, 0, rates{eta: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8}},
	} {
		m, settings := method(t, c.name, append([]string{"batch", "0"}, c.set...)...)
		s := &optim.State{Objective: &given{n: n, gradients: gradients}, W: make([]float64, n), Settings: settings}
		want := newAdamOracle(s.W)
		for k, g := range gradients {
			step(t, m, s)
			if k >= c.first {
				want.update(g, k+1-c.first, &c.rates)
			}
			if far := apart(s.W, want.w); !(far <= 1e-14) {
				t.Fatalf("%s, update %d: %.1e from Adam", c.name, k+1, far)
			}
		}
	}
}

// TestMuonHasNothingToTell: no factors, and the numbers that every method of batches has.
func TestMuonHasNothingToTell(t *testing.T) {
	m, settings := method(t, "muon", "batch", "0", "rate", "0.02")
	s := &optim.State{Objective: &given{n: 3, gradients: [][]float64{{1, 2, 2}}}, W: make([]float64, 3), Settings: settings}
	if r := step(t, m, s); r.Preconditioner != nil || r.Diagnostics != nil || r.GradientNorm != 3 || r.Rate != 0.02 {
		t.Errorf("%+v", r)
	}
	if _, ok := m.(*minibatch.Method).Update.(minibatch.Whole); !ok {
		t.Error("not an update of all weights")
	}
}
