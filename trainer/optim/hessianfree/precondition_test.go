package hessianfree

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// badlyScaled returns a net whose inputs are of sizes from 1 to 1,000.
func badlyScaled() (net *optimtest.Net, w []float64) {
	net, w = optimtest.NewNet(6, 4, 3, 40, 3)
	for _, x := range net.X {
		for i := range x {
			x[i] *= math.Pow(10, 3*float64(i)/5)
		}
	}
	for i := range w[:24] {
		w[i] /= math.Pow(10, 3*float64(i%6)/5)
	}
	return net, w
}

// TestPreconditionersSaveIterations: where inputs are badly scaled a solve to the same residual takes fewer iterations with the
// diagonal than without, and with K-FAC's matrix fewest, and finds the same step.
func TestPreconditionersSaveIterations(t *testing.T) {
	iterations := map[string]int{}
	for _, name := range []string{"none", "diagonal", "kfac"} {
		net, w := badlyScaled()
		m, settings := method(t, "batch", "0", "iterations", "10000", "xi", "1e-9", "damping", "1e-2", "preconditioner", name, "curvature-share", "1")
		from := slices.Clone(w)
		s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
		r := step(t, m, s)
		want := newProblem(net, from, first(40), first(40), 1e-2).solution()
		if r.Rho >= 0.25 && !(far(r.Proposal.Step, want) <= 1e-5*floats.Norm(want, math.Inf(1))) {
			t.Errorf("%s: the step is %.1e off", name, far(r.Proposal.Step, want))
		}
		if in := r.Inner; len(in) != 1 || in[0].Stop != krylov.Residual || in[0].Preconditioned != (name != "none") || in[0].Residual > 1e-9*in[0].GradientNorm {
			t.Errorf("%s: %+v", name, in)
		}
		iterations[name] = r.Inner[0].Iterations
		if (r.Preconditioner != nil) != (name == "kfac") {
			t.Errorf("%s: told of factors: %+v", name, r.Preconditioner)
		}
	}
	if none, diagonal, kfac := iterations["none"], iterations["diagonal"], iterations["kfac"]; !(kfac < diagonal && diagonal < none) || none < 20 {
		t.Errorf("iterations %v", iterations)
	}
}

// TestDiagonal: M⁻¹ is the power −3/4 of the mean of squares of the rows' gradients and λ.
func TestDiagonal(t *testing.T) {
	net, w := optimtest.NewNet(3, 4, 3, 20, 6)
	m, settings := method(t, "damping", "0.2")
	h, rows := of(m), []int{3, 5, 8, 13}
	s := &optim.State{Objective: net, W: w, Settings: settings}
	h.Begin(s, 1)
	inverse, err := h.byDiagonal(s, rows)
	if err != nil {
		t.Fatal(err)
	}
	r := make([]float64, len(w))
	floats.AddConst(2, r)
	got, want, g := make([]float64, len(w)), make([]float64, len(w)), make([]float64, len(w))
	inverse(got, r)
	for _, row := range rows {
		net.BatchGradientTo(g, w, []int{row})
		for i, g := range g {
			want[i] += g * g / 4
		}
	}
	for i, v := range want {
		if want[i] = 2 / math.Pow(v+0.2, 0.75); math.Abs(got[i]-want[i]) > 1e-13*want[i] {
			t.Errorf("number %d is %g, want %g", i, got[i], want[i])
		}
	}
}

// TestFactorsForM: M⁻¹ is K-FAC's inverse with λ for its damping, of factors over half of the rows that products come from, and is
// made anew in the first three steps and every fifth.
func TestFactorsForM(t *testing.T) {
	net, w := optimtest.NewNet(3, 4, 3, 20, 6)
	m, settings := method(t, "damping", "0.2")
	h, rows := of(m), []int{3, 5, 8, 13, 1, 19}
	s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
	h.Begin(s, 1)
	var a, b []*mat.Dense
	var inverses []mat.Dense
	for k := range 12 {
		h.memory.Moves.Lambda = 0.2 * float64(k+1)
		inverse, err := h.byFactors(s, rows)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(net.Factored[k], rows[:3]) {
			t.Errorf("factors of rows %v", net.Factored[k])
		}
		keep := min(1-1/float64(k+1), 0.95)
		for i, f := range net.FactorsOf(w, rows[:3], net.Targets[k]) {
			m := net.Matrices()[i]
			inputs, outputs := mat.NewDense(m.Cols+1, m.Cols+1, f.Inputs), mat.NewDense(m.Rows, m.Rows, f.Outputs)
			if k == 0 {
				a, b, inverses = append(a, inputs), append(b, outputs), append(inverses, mat.Dense{})
				continue
			}
			a[i].Apply(func(r, c int, v float64) float64 { return keep*v + (1-keep)*inputs.At(r, c) }, a[i])
			b[i].Apply(func(r, c int, v float64) float64 { return keep*v + (1-keep)*outputs.At(r, c) }, b[i])
		}
		r, got := make([]float64, len(w)), make([]float64, len(w))
		for i := range r {
			r[i] = math.Sin(float64(i))
		}
		inverse(got, r)
		for i, m := range net.Matrices() {
			n, rows := m.Cols+1, m.Rows
			if k < 3 || (k+1)%5 == 0 {
				pi, root := math.Sqrt(mat.Trace(a[i])/float64(n)/(mat.Trace(b[i])/float64(rows))), math.Sqrt(h.memory.Moves.Lambda)
				var product mat.Dense
				product.Kronecker(shifted(b[i], root/pi), shifted(a[i], root*pi))
				if err := inverses[i].Inverse(&product); err != nil {
					t.Fatal(err)
				}
			}
			var x mat.VecDense
			x.MulVec(&inverses[i], mat.NewVecDense(rows*n, withBiases(m, r)))
			if y := withBiases(m, got); !(far(y, x.RawVector().Data) <= 1e-11*floats.Norm(y, 2)) {
				t.Fatalf("step %d, layer %d: %.1e off", k+1, i+1, far(y, x.RawVector().Data))
			}
		}
	}
}

func shifted(x *mat.Dense, by float64) *mat.Dense {
	out := mat.DenseCopyOf(x)
	for i := range out.RawMatrix().Rows {
		out.Set(i, i, out.At(i, i)+by)
	}
	return out
}

// withBiases returns the numbers of a matrix row by row, its bias behind each.
func withBiases(m optim.Matrix, flat []float64) (all []float64) {
	for i := range m.Rows {
		all = append(all, flat[m.Offset+i*m.Cols:][:m.Cols]...)
		all = append(all, flat[m.Offset+m.Rows*m.Cols+i])
	}
	return all
}

// plain hides what preconditioners need.
type plain struct{ optim.SampledObjective }

// TestPreconditionersNeedWhatTheyNeed: an objective that lacks it is an error in words, and weights stay.
func TestPreconditionersNeedWhatTheyNeed(t *testing.T) {
	for _, name := range []string{"diagonal", "kfac"} {
		net, w := optimtest.NewNet(3, 4, 3, 20, 6)
		m, settings := method(t, "batch", "0", "preconditioner", name)
		s := &optim.State{Objective: plain{net}, W: slices.Clone(w), Settings: settings, Rand: newRand(1)}
		var lacks *optim.CapabilityError
		if _, err := m.Step(t.Context(), s); !errors.As(err, &lacks) || !slices.Equal(s.W, w) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
