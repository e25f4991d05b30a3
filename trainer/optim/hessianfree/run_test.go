package hessianfree

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

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

// variants are settings in which steps differ in what they do.
var variants = [][]string{
	{"warm-start", "0.9"},
	{"preconditioner", "diagonal"},
	{"preconditioner", "kfac"},
	{"growth", "1.5", "damping", "1e-6", "iterations", "20", "xi", "1e-6"},
	{"weight-decay", "0.1", "schedule", "cosine", "warmup", "1"},
}

// saidOf is all that a report says, but for how long something took.
func saidOf(r optim.Report) string {
	p := optim.Preconditioner{}
	if r.Preconditioner != nil {
		p = *r.Preconditioner
		p.Time, r.Preconditioner = 0, nil
	}
	return fmt.Sprintf("%+v %+v", r, p)
}

// TestResume: a method that was carried through an archive, at any epoch, goes on to the same bits, reports and charges, with
// threads or without.
func TestResume(t *testing.T) {
	const epochs = 6
	for _, v := range variants {
		for _, saved := range []int{0, 1, 3} {
			source := rand.NewPCG(1, 2)
			net, w := optimtest.NewNet(4, 5, 3, 22, 7)
			m, settings := method(t, append([]string{"batch", "6"}, v...)...)
			s := &optim.State{Objective: net, W: slices.Clone(w), Settings: settings, Rand: rand.New(source), Epochs: epochs}
			for range saved {
				step(t, m, s)
			}
			a := optim.NewArchive()
			a.Method(m, s)
			drawn, err := source.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			otherSource := new(rand.PCG)
			if err := otherSource.UnmarshalBinary(drawn); err != nil {
				t.Fatal(err)
			}
			otherNet, _ := optimtest.NewNet(4, 5, 3, 22, 7)
			other, _ := method(t)
			copied := &optim.State{
				Objective: otherNet, W: slices.Clone(s.W), Settings: settings.Clone(), Rand: rand.New(otherSource), Epoch: s.Epoch, Epochs: epochs, Run: inAnyOrder,
			}
			back := optim.OpenArchive(a.Content())
			if back.Method(other, copied); back.Err() != nil {
				t.Fatalf("%v after %d epochs: %v", v, saved, back.Err())
			}
			spent := net.Charged
			for s.Epoch < epochs {
				want, got := saidOf(step(t, m, s)), saidOf(step(t, other, copied))
				if got != want {
					t.Fatalf("%v, saved after %d epochs, epoch %d:\n%s, want\n%s", v, saved, s.Epoch, got, want)
				}
				if !slices.Equal(s.W, copied.W) || net.Charged-spent != otherNet.Charged {
					t.Fatalf("%v, saved after %d epochs, epoch %d: other weights, or %g charged for %g", v, saved, s.Epoch, otherNet.Charged, net.Charged-spent)
				}
			}
		}
	}
}

// inAnyOrder does tasks by several threads, the last one first.
func inAnyOrder(count int, task func(worker, i int)) {
	var done sync.WaitGroup
	for i := range count {
		done.Go(func() { task(i%2, count-1-i) })
	}
	done.Wait()
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

// bad is a net one of whose batches has a number in its gradient that is not one, or products with such a number.
type bad struct {
	*optimtest.Net
	gradient, product float64
	batch, asked      int
}

func (o *bad) BatchGradientTo(dst, w []float64, rows []int) float64 {
	loss := o.Net.BatchGradientTo(dst, w, rows)
	if o.asked++; o.asked == o.batch && o.gradient != 0 {
		dst[len(dst)/2] = o.gradient
	}
	return loss
}

func (o *bad) Sample(slot int, rows []int) optim.Objective {
	return &badSample{o.Net.Sample(slot, rows).(*optimtest.Net), o}
}

type badSample struct {
	*optimtest.Net
	of *bad
}

func (o *badSample) GaussNewton(w []float64) krylov.Operator {
	g := o.Net.GaussNewton(w)
	if o.of.asked != o.of.batch || o.of.product == 0 {
		return g
	}
	return optimtest.Product{N: len(w), Mul: func(dst, v []float64) {
		g.MulVecTo(dst, v)
		dst[1] = o.of.product
	}}
}

// TestBadNumbersAreForgotten: weights stay finite, and where a gradient is not they go back to where the epoch began; what is carried
// stays finite, and the method goes on.
func TestBadNumbersAreForgotten(t *testing.T) {
	for _, v := range variants {
		for _, value := range []float64{math.NaN(), math.Inf(1), 1e200} {
			for _, inProducts := range []bool{true, false} {
				net, w := optimtest.NewNet(4, 5, 3, 22, 7)
				o := &bad{Net: net, batch: 6, gradient: value}
				if inProducts {
					o.gradient, o.product = 0, value
				}
				m, settings := method(t, append([]string{"batch", "6"}, v...)...)
				s := &optim.State{Objective: o, W: w, Settings: settings, Rand: newRand(1), Epochs: 10}
				for epoch := range 4 {
					before := slices.Clone(s.W)
					_, err := m.Step(context.Background(), s)
					var broken *optim.NotFiniteError
					if err != nil && !errors.As(err, &broken) && !errors.Is(err, optim.ErrStalled) {
						t.Errorf("%v, %g, epoch %d: %v", v, value, epoch, err)
					}
					if !inProducts && !vector.Finite(value) && epoch == 1 && (err == nil || !slices.Equal(before, s.W)) {
						t.Errorf("%v, a gradient with %g: %v", v, value, err)
					}
					if !vector.Finite(vector.Norm(s.W)) || epoch > 1 && err != nil {
						t.Errorf("%v, %g in products: %v, epoch %d: weights to %v, %v", v, value, inProducts, epoch, s.W, err)
					}
					s.Epoch++
				}
				a := optim.NewArchive()
				a.Method(m, s)
				vectors, numbers, _ := a.Content()
				for key, x := range vectors {
					if !vector.Finite(vector.Norm(x)) {
						t.Errorf("%v, %g in products: %v: %s is not finite", v, value, inProducts, key)
					}
				}
				for key, x := range numbers {
					if !vector.Finite(x) {
						t.Errorf("%v, %g in products: %v: %s is %g", v, value, inProducts, key, x)
					}
				}
			}
		}
	}
}

// TestSettingsChangedOnTheWay: whatever changes from epoch to epoch, steps go on and what is carried is finite. λ that is set anew
// takes the place of what it was adapted to.
func TestSettingsChangedOnTheWay(t *testing.T) {
	net, w := optimtest.NewNet(4, 5, 3, 24, 7)
	m, settings := method(t, "batch", "6")
	s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1), Epochs: 100}
	for _, c := range [][]string{
		{"batch", "9"}, {"preconditioner", "kfac"}, {"preconditioner", "diagonal"}, {"batch", "0"}, {"warm-start", "1"}, {"curvature-share", "1"},
		{"schedule", "linear"}, {"preconditioner", "none"}, {"growth", "2"}, {"adapt", "no"}, {"preconditioner", "kfac"}, {"weight-decay", "0.01"}, {"iterations", "1"},
	} {
		if err := settings.PutText(c[0], c[1]); err != nil {
			t.Fatal(err)
		}
		r := step(t, m, s)
		if !vector.Finite(vector.Norm(s.W)) || !vector.Finite(vector.Norm(of(m).memory.Moves.Step)) {
			t.Errorf("%v: %+v", c, r)
		}
	}
	settings.Put("damping", 7)
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
			counts = append(counts, testing.AllocsPerRun(3, func() { step(t, m, s) }))
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
