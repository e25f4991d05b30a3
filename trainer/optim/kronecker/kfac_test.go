package kronecker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
	"newtop/trainer/optim/minibatch"
)

// TestKFACByTheRate: δ = μδ₀ + η·min(1, √(κ/(−η₀²gᵀΔ)))Δ with the dense damped inverse, which is made anew in the first three updates
// and then every T₃, from factors of all updates.
func TestKFACByTheRate(t *testing.T) {
	const epochs, gamma = 24, 0.05
	for _, clip := range []string{"1e-3", "0.1", "1e9"} {
		for _, side := range []int{3, 512} {
			matrices, n := several()
			o := &given{n: n, matrices: matrices, gradients: gradientsOf(n, epochs, 41)}
			rng := newRand(5)
			for range epochs {
				o.factors = append(o.factors, factorsOf(matrices, rng))
			}
			m, settings := method(t, "kfac", "batch", "0", "clip", clip, "side", fmt.Sprint(side), "damping", fmt.Sprint(gamma), "every", "5",
				"rate", "0.5", "momentum", "0.8", "schedule", "cosine")
			kappa := Clip.Of(settings)
			s := &optim.State{Objective: o, W: normals(newRand(1), n), Settings: settings, Epochs: epochs}
			want, last := slices.Clone(s.W), make([]float64, n)
			curvature, cut := newCurvatureOracle(matrices, side), 0
			for k, g := range o.gradients {
				r := step(t, m, s)
				curvature.update(o.factors[k], 0.95)
				if k < 3 || (k+1)%5 == 0 {
					curvature.invert(gamma)
				}
				delta := curvature.solve(g)
				floats.Scale(-1, delta)
				eta := 0.5 * (1 + math.Cos(math.Pi*float64(k)/epochs)) / 2
				nu := 1.0
				if change := -0.25 * floats.Dot(g, delta); change > kappa {
					nu = math.Sqrt(kappa / change)
					cut++
				}
				if k == 0 { // without momentum and at the whole rate: the change is κ, or less where nothing is cut
					first := make([]float64, n)
					floats.SubTo(first, s.W, want)
					change := -floats.Dot(g, first) * 0.5 * nu
					if cut == 1 && math.Abs(change-kappa) > 1e-10*kappa || cut == 0 && change > kappa {
						t.Errorf("κ = %g: a step that changes outputs by %g", kappa, change)
					}
				}
				floats.Scale(0.8, last)
				floats.AddScaled(last, eta*nu, delta)
				floats.Add(want, last)
				if far := apart(s.W, want); !(far <= 1e-10*max(1, largest(want))) {
					t.Fatalf("κ = %s, sides to %d, update %d: weights are %.1e off", clip, side, k+1, far)
				}
				if math.Abs(r.StepNorm-floats.Norm(last, 2)) > 1e-10*r.StepNorm || !math.IsNaN(r.Rho) || optimtest.Diagnostic(t, r, "damping") != gamma {
					t.Errorf("update %d: %+v", k+1, r)
				}
			}
			if clip == "1e-3" && cut < epochs || clip == "1e9" && cut > 0 {
				t.Errorf("κ = %s: %d of %d steps are cut", clip, cut, epochs)
			}
		}
	}
}

// TestKFACFactorRows: factors come from the first rows of each batch, a share of them and one at least, before weights move.
func TestKFACFactorRows(t *testing.T) {
	for _, c := range []struct {
		batch, share string
		want         []int // rows to a batch
	}{{"10", "0.25", []int{2, 2, 1}}, {"10", "1", []int{10, 10, 5}}, {"3", "0.1", []int{1, 1, 1, 1, 1, 1, 1, 1, 1}}} {
		matrices, n := squares()
		o := &given{n: n, matrices: matrices, rows: 25, gradients: gradientsOf(n, 3, 1), factors: [][]optim.Factors{factorsOf(matrices, newRand(1))}}
		m, settings := method(t, "kfac", "batch", c.batch, "factor-share", c.share)
		step(t, m, &optim.State{Objective: o, W: make([]float64, n), Settings: settings, Rand: newRand(3)})
		var counts []int
		for i, rows := range o.factorRows {
			counts = append(counts, len(rows))
			if !slices.Equal(rows, o.batches[i][:len(rows)]) {
				t.Errorf("factors of rows %v, a gradient of %v", rows, o.batches[i])
			}
		}
		if !slices.Equal(counts, c.want) {
			t.Errorf("batches of %s, %s of them: factors of %v rows, want %v", c.batch, c.share, counts, c.want)
		}
	}
}

// model is K-FAC's quadratic model M(δ) = gᵀδ + ½δᵀ(F + γI)δ, dense.
type model struct {
	g []float64
	b *mat.Dense // F + γI
}

func (m *model) at(delta []float64) float64 {
	var b mat.VecDense
	d := mat.NewVecDense(len(delta), delta)
	b.MulVec(m.b, d)
	return floats.Dot(m.g, delta) + mat.Dot(d, &b)/2
}

// slope returns the derivative of M at δ along a direction.
func (m *model) slope(delta, along []float64) float64 {
	var b mat.VecDense
	b.MulVec(m.b, mat.NewVecDense(len(delta), delta))
	return floats.Dot(m.g, along) + mat.Dot(&b, mat.NewVecDense(len(along), along))
}

// TestKFACByTheModel: the step is η times the point of the plane of Δ and the last step where M is least, γ follows ρ, and products
// are of a share of the batch's rows.
func TestKFACByTheModel(t *testing.T) {
	for _, c := range []struct {
		gamma, rate, share float64
		adapt              int
		grows              bool // γ, at first
	}{{1e-4, 1, 1, 1, true}, {10, 1, 0.5, 3, false}, {0.1, 0.6, 0.25, 2, false}, {1, 1, 1, 0, false}} {
		net, w := optimtest.NewNet(4, 3, 3, 24, 5)
		m, settings := method(t, "kfac", "step", "model", "batch", "0", "every", "4", "adapt", fmt.Sprint(c.adapt), "rate", fmt.Sprint(c.rate),
			"damping", fmt.Sprint(c.gamma), "product-share", fmt.Sprint(c.share), "factor-share", "0.5")
		s := &optim.State{Objective: net, W: slices.Clone(w), Settings: settings, Rand: newRand(9)}
		n, gamma, last := net.Dim(), c.gamma, make([]float64, net.Dim())
		curvature := newCurvatureOracle(net.Matrices(), 512)
		grown, shrunk := 0, 0
		for k := range 18 {
			from, g := slices.Clone(s.W), make([]float64, n)
			before := net.GradientTo(g, from)
			net.Sampled = nil
			r := step(t, m, s)
			curvature.update(net.FactorsOf(from, net.Factored[k], net.Targets[k]), 0.95)
			if k < 3 || (k+1)%4 == 0 {
				curvature.invert(gamma)
			}
			delta := curvature.solve(g)
			floats.Scale(-1, delta)
			rows := net.Sampled[0][0]
			if len(net.Factored[k]) != 12 || len(rows) != int(24*c.share) || rows[0] != 0 {
				t.Fatalf("factors of rows %v, products of %v", net.Factored[k], rows)
			}
			f := net.Sample(2, rows).(*optimtest.Net).Matrix(from)
			q := &model{g, combined(1, f, gamma, identity(n))}

			step := make([]float64, n)
			floats.SubTo(step, s.W, from)
			best := slices.Clone(step)
			floats.Scale(1/c.rate, best)
			for _, along := range [][]float64{delta, last} {
				if slope := q.slope(best, along); math.Abs(slope) > 1e-9*floats.Norm(g, 2)*floats.Norm(along, 2) {
					t.Fatalf("γ = %g, update %d: M still falls by %.1e along a direction of the plane", c.gamma, k+1, slope)
				}
			}
			if off := outside(best, delta, last); !(off <= 1e-9*floats.Norm(best, 2)) {
				t.Fatalf("γ = %g, update %d: %.1e of the step is outside of the plane", c.gamma, k+1, off/floats.Norm(best, 2))
			}
			for i := range 11 {
				for j := range 11 {
					other := slices.Clone(delta)
					floats.Scale(float64(i)/5, other)
					floats.AddScaled(other, float64(j-5)/5, last)
					if q.at(other) < q.at(best)-1e-12*math.Abs(q.at(best)) {
						t.Fatalf("γ = %g, update %d: M is %g at the step, and %g in its plane", c.gamma, k+1, q.at(best), q.at(other))
					}
				}
			}

			last = step
			if c.adapt > 0 && (k+1)%c.adapt == 0 {
				rho := (before - net.Loss(s.W)) / -q.at(step)
				if math.Abs(r.Rho-rho) > 1e-6*math.Abs(rho) {
					t.Errorf("γ = %g, update %d: ρ = %g, want %g", c.gamma, k+1, r.Rho, rho)
				}
				switch {
				case rho > 0.75:
					gamma *= math.Pow(0.95, float64(c.adapt))
					shrunk++
				case rho < 0.25:
					gamma /= math.Pow(0.95, float64(c.adapt))
					grown++
				}
			} else if !math.IsNaN(r.Rho) {
				t.Errorf("update %d: ρ = %g, which was not measured", k+1, r.Rho)
			}
			if got := optimtest.Diagnostic(t, r, "damping"); math.Abs(got-gamma) > 1e-12*gamma {
				t.Fatalf("update %d: γ = %g, want %g", k+1, got, gamma)
			}
			gamma = optimtest.Diagnostic(t, r, "damping")
		}
		if c.grows && grown == 0 || !c.grows && c.adapt > 0 && shrunk == 0 || c.adapt == 0 && gamma != c.gamma {
			t.Errorf("γ from %g to %g, grown %d times, shrunk %d times", c.gamma, gamma, grown, shrunk)
		}
	}
}

// outside returns the length of what of x is outside of the plane of two vectors, the second of which may be 0.
func outside(x, u, v []float64) float64 {
	left := slices.Clone(x)
	var basis [][]float64
	for _, e := range [][]float64{u, v} {
		e = slices.Clone(e)
		length := floats.Norm(e, 2)
		for range 2 {
			for _, b := range basis {
				floats.AddScaled(e, -floats.Dot(e, b), b)
			}
		}
		if norm := floats.Norm(e, 2); norm > 1e-10*length {
			floats.Scale(1/norm, e)
			basis = append(basis, e)
		}
	}
	for _, b := range basis {
		floats.AddScaled(left, -floats.Dot(left, b), b)
	}
	return floats.Norm(left, 2)
}

// TestKFACOfNoGradient: a gradient that is 0 moves nothing, and ends a run.
func TestKFACOfNoGradient(t *testing.T) {
	net, w := optimtest.NewNet(3, 3, 2, 8, 4)
	for _, rule := range []string{"rate", "model"} {
		o := &flat{Net: net}
		m, settings := method(t, "kfac", "step", rule, "batch", "0")
		s := &optim.State{Objective: o, W: slices.Clone(w), Settings: settings, Rand: newRand(3)}
		if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrStalled) || !slices.Equal(s.W, w) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// flat is a net whose gradients are 0.
type flat struct{ *optimtest.Net }

func (o *flat) GradientTo(dst, w []float64) float64 { clear(dst); return 1 }

// TestDampingSetByHand: γ as it was adapted goes on, until it is set anew.
func TestDampingSetByHand(t *testing.T) {
	net, w := optimtest.NewNet(4, 3, 3, 24, 5)
	m, settings := method(t, "kfac", "step", "model", "batch", "0", "adapt", "1", "damping", "10")
	s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(9)}
	adapted := optimtest.Diagnostic(t, step(t, m, s), "damping")
	if adapted == 10 || Gamma.Of(settings) != 10 {
		t.Errorf("γ = %g, set to %g", adapted, Gamma.Of(settings))
	}
	settings.Set("damping", 2)
	if again := optimtest.Diagnostic(t, step(t, m, s), "damping"); again < 1.8 || again > 2.2 {
		t.Errorf("γ = %g after it was set to 2", again)
	}
	k := m.(*minibatch.Method).Update.(*kfac).Moves
	settings.Set("step", 0)
	before := k.Gamma
	if step(t, m, s); k.Gamma != before {
		t.Errorf("by the rate γ goes from %g to %g", before, k.Gamma)
	}
}
