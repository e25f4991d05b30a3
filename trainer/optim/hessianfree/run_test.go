package hessianfree

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/internal/alloctest"
	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// TestBatches: batches grow from epoch to epoch, products come from the first rows of each, a share of them, losses from all of
// them, and every step has its solve.
func TestBatches(t *testing.T) {
	for _, c := range []struct {
		growth string
		want   [][]int // rows of gradients by epoch
	}{
		{"1", [][]int{{5, 5, 5, 5, 4}, {5, 5, 5, 5, 4}}},
		{"1.5", [][]int{{5, 5, 5, 5, 4}, {7, 7, 7, 3}, {11, 11, 2}, {16, 8}, {24}, {24}}},
		{"1000", [][]int{{5, 5, 5, 5, 4}, {24}, {24}}},
	} {
		net, w := optimtest.NewNet(4, 3, 3, 24, 2)
		m, settings := method(t, "batch", "5", "growth", c.growth, "curvature-share", "0.3", "iterations", "4", "xi", "1e-3")
		s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
		for epoch, want := range c.want {
			net.Batches, net.Sampled = nil, nil
			r := step(t, m, s)
			var sizes []int
			for i, batch := range net.Batches {
				sizes = append(sizes, len(batch))
				some := net.Sampled[0][i]
				if len(some) != max(1, int(0.3*float64(len(batch)))) || !slices.Equal(some, batch[:len(some)]) || !slices.Equal(net.Sampled[1][i], batch) {
					t.Errorf("growth %s, epoch %d: a gradient of rows %v, products of %v, losses of %v", c.growth, epoch, batch, some, net.Sampled[1][i])
				}
				in := r.Inner[i]
				if in.Block != i || in.Iterations < 1 || in.Iterations > 4 || in.Stop != krylov.Limit && in.Stop != krylov.Residual || in.Preconditioned {
					t.Errorf("growth %s, epoch %d: solve %d is %+v", c.growth, epoch, i, in)
				}
			}
			if !slices.Equal(sizes, want) || len(r.Inner) != len(want) {
				t.Errorf("growth %s, epoch %d: gradients of %v rows, want %v, %d solves", c.growth, epoch, sizes, want, len(r.Inner))
			}
			if (r.Proposal.From != nil) != (len(want) > 1) {
				t.Errorf("growth %s, epoch %d: the last of %d steps starts from %v", c.growth, epoch, len(want), r.Proposal.From)
			}
			last := want[len(want)-1]
			if optimtest.Diagnostic(t, r, "gradient_rows") != float64(last) || optimtest.Diagnostic(t, r, "curvature_rows") != float64(max(1, int(0.3*float64(last)))) {
				t.Errorf("growth %s, epoch %d: %+v", c.growth, epoch, r.Diagnostics)
			}
		}
	}
}

// TestIterationsAreWatched: the monitor sees every iteration of a solve and then its batch.
func TestIterationsAreWatched(t *testing.T) {
	net, w := optimtest.NewNet(4, 3, 3, 24, 2)
	m, settings := method(t, "batch", "12", "iterations", "3", "xi", "1e-9")
	s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
	var seen []string
	s.Monitor = func(in optim.Inner) error {
		seen = append(seen, fmt.Sprintf("%d:%d %v", in.Block, in.Iteration.Number, vector.Finite(in.Loss)))
		return nil
	}
	step(t, m, s)
	if want := []string{"0:1 false", "0:2 false", "0:3 false", "0:1 true", "1:1 false", "1:2 false", "1:3 false", "0:2 true"}; !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
}

// TestInterruptedSolve leaves the weights and the memory of the step before, and nothing of it is told of the next epoch.
func TestInterruptedSolve(t *testing.T) {
	for _, batch := range []int{0, 1} {
		net, w := optimtest.NewNet(4, 3, 3, 24, 2)
		m, settings := method(t, "batch", "12", "iterations", "3", "xi", "1e-9")
		s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
		step(t, m, s)
		var before []float64
		s.Monitor = func(in optim.Inner) error {
			if before == nil || !vector.Finite(in.Loss) && in.Block == batch && in.Iteration.Number == 1 {
				before = slices.Clone(s.W)
			}
			if !vector.Finite(in.Loss) && in.Block == batch && in.Iteration.Number == 2 {
				return optim.ErrInterrupted
			}
			return nil
		}
		last := slices.Clone(of(m).memory.Moves.Step)
		if _, err := m.Step(t.Context(), s); !errors.Is(err, optim.ErrInterrupted) || !slices.Equal(s.W, before) {
			t.Errorf("batch %d: %v, weights moved: %v", batch, err, !slices.Equal(s.W, before))
		}
		if kept := slices.Equal(last, of(m).memory.Moves.Step); kept != (batch == 0) {
			t.Errorf("batch %d: the last solution is kept: %v", batch, kept)
		}
		s.Monitor = nil
		if r := step(t, m, s); len(r.Inner) != 2 || refused(t, r) > 2 || r.Inner[0].Stop == krylov.Interrupted {
			t.Errorf("batch %d: then an epoch of 2 steps has solves %+v", batch, r.Inner)
		}
	}
}

// TestCharges: what the preconditioner kfac does by itself is charged: half of d³ for an inverse of d rows, and two products for
// every solve with it. All else is the objective's.
func TestCharges(t *testing.T) {
	for _, name := range []string{"none", "diagonal", "kfac"} {
		net, w := optimtest.NewNet(4, 5, 3, 24, 7)
		m, settings := method(t, "batch", "6", "preconditioner", name, "iterations", "3", "xi", "1e-12")
		s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
		updates := 0
		for range 3 {
			before, want := net.Charged, 0.0
			for _, in := range step(t, m, s).Inner {
				if updates++; name != "kfac" {
					continue
				}
				solve := float64(5*5*5+5*5*5) + float64(3*3*6+3*6*6)
				want += float64(in.Iterations) * solve // z is M⁻¹r once before each iteration
				if updates <= 3 || updates%5 == 0 {
					want += float64(5*5*5+5*5*5+3*3*3+6*6*6) / 2
				}
			}
			if got := net.Charged - before; got != want {
				t.Errorf("%s: %g are charged, want %g", name, got, want)
			}
		}
	}
}

// TestLossBeforeTheStep is that of the weights which the step starts from: where they decay first, or inputs have noise, it is not
// the batch's.
func TestLossBeforeTheStep(t *testing.T) {
	for _, c := range []struct {
		decay string
		noise float64
	}{{"0", 0}, {"0.5", 0}, {"0", 0.1}, {"0.5", 0.1}} {
		net, w := optimtest.NewNet(4, 3, 3, 24, 2)
		m, settings := method(t, "batch", "0", "damping", "1", "weight-decay", c.decay)
		s := &optim.State{Objective: &noisy{Net: net, noise: c.noise}, W: w, Settings: settings, Rand: newRand(1)}
		from := slices.Clone(w)
		r := step(t, m, s)
		if r.Proposal.From != nil {
			from = r.Proposal.From
		}
		if decays := c.decay != "0"; decays != (r.Proposal.From != nil) || !slices.Equal(s.W, added(from, r.Proposal.Step)) {
			t.Errorf("decay %s: a step %v from %v to %v", c.decay, r.Proposal.Step, from, s.W)
		}
		// −q(s) is what CG promised, as a first step begins with 0.
		rho := (net.Loss(from) - net.Loss(s.W)) / r.Inner[0].Predicted
		if !r.Accepted || !(math.Abs(rho-r.Rho) <= 1e-9*math.Abs(rho)) {
			t.Errorf("decay %s, noise %g: ρ = %g, want %g", c.decay, c.noise, r.Rho, rho)
		}
	}
}

// noisy is a net that tells of noise a loss which is none of its own.
type noisy struct {
	*optimtest.Net
	noise float64
}

func (o *noisy) Noise() float64 { return o.noise }

func (o *noisy) NoisyGradientTo(dst, w []float64, rows []int, _ *rand.Rand) float64 {
	return 3 + o.BatchGradientTo(dst, w, rows)
}

// TestDampingSetByHand: λ that is set anew takes the place of what it was adapted to.
func TestDampingSetByHand(t *testing.T) {
	net, w := optimtest.NewNet(4, 5, 3, 24, 7)
	m, settings := method(t, "batch", "6")
	s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
	step(t, m, s)
	settings.Set("damping", 7)
	settings.SetText("adapt", "no")
	if got := optimtest.Diagnostic(t, step(t, m, s), "damping"); got != 7 {
		t.Errorf("λ = %g, set to 7", got)
	}
}

// TestAllocations: a step allocates the damped operator, what watches its solve, and what it has to tell; its samples are the
// objective's.
func TestAllocations(t *testing.T) {
	const n = 6
	o := &still{n: n}
	for _, name := range []string{"none", "diagonal"} {
		var counts []float64
		for _, rows := range []int{16, 416} {
			o.rows = rows
			m, settings := method(t, "batch", "4", "preconditioner", name, "damping", "1e9", "adapt", "no")
			s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings, Rand: newRand(1)}
			counts = append(counts, alloctest.PerRun(3, func() { step(t, m, s) }))
		}
		if each := (counts[1] - counts[0]) / 100; each > 4.5 {
			t.Errorf("%s: %.2f allocations a step", name, each)
		}
	}
}

// still is a quadratic without rows of its own, which allocates nothing.
type still struct{ n, rows int }

func (o *still) Dim() int  { return o.n }
func (o *still) Rows() int { return o.rows }

func (o *still) Loss(w []float64) float64 {
	sum := 0.0
	for i, x := range w {
		sum += float64(i+1) * (x - 1) * (x - 1) / 2
	}
	return sum
}

func (o *still) GradientTo(dst, w []float64) float64 {
	for i, x := range w {
		dst[i] = float64(i+1) * (x - 1)
	}
	return o.Loss(w)
}

func (o *still) BatchGradientTo(dst, w []float64, _ []int) float64 { return o.GradientTo(dst, w) }

func (o *still) BatchGradientSquaresTo(dst, squares, w []float64, _ []int) float64 {
	loss := o.GradientTo(dst, w)
	for i, g := range dst {
		squares[i] = g * g
	}
	return loss
}

func (o *still) Sample(int, []int) optim.Objective { return o }

func (o *still) GaussNewton([]float64) krylov.Operator { return o }

func (o *still) MulVecTo(dst, v []float64) {
	for i, x := range v {
		dst[i] = float64(i+1) * x
	}
}

func (o *still) GaussNewtonDiagTo(dst, _ []float64) {
	for i := range dst {
		dst[i] = float64(i + 1)
	}
}
