package methods

import (
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

// ofBatches are the methods that update by batches, with settings in which they differ in what they do and carry.
var ofBatches = [][]string{
	{"sgd"}, {"momentum"}, {"nag"}, {"adagrad"}, {"rmsprop"}, {"adam"},
	{"soap", "every", "3"},
	{"soap", "every", "1", "side", "4"},
	{"shampoo", "every", "3"},
	{"shampoo", "every", "2", "side", "3"},
	{"muon"},
	{"kfac", "every", "4", "clip", "0.1"},
	{"kfac", "every", "4", "side", "3", "momentum", "0"},
	{"kfac", "step", "model", "adapt", "2", "every", "4", "product-share", "0.5"},
	{"hessian-free", "preconditioner", "none", "warm-start", "0.9"},
	{"hessian-free", "preconditioner", "diagonal", "iterations", "6", "damping", "0.03"},
	{"hessian-free", "preconditioner", "kfac", "iterations", "6"},
	{"hessian-free", "preconditioner", "none", "growth", "1.5", "damping", "1e-6", "iterations", "20", "xi", "1e-6"},
	{"hessian-free", "iterations", "6", "schedule", "cosine", "warmup", "1"},
}

// inAnyOrder does tasks by several threads, the last one first.
func inAnyOrder(count int, task func(worker, i int)) {
	var done sync.WaitGroup
	for i := range count {
		done.Go(func() { task(i%2, count-1-i) })
	}
	done.Wait()
}

// epoch does one and returns all that is reported of it, but for how long something took.
func epoch(t *testing.T, m optim.Method, s *optim.State) string {
	t.Helper()
	r, err := m.Step(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Epoch++
	p := optim.Preconditioner{}
	if r.Preconditioner != nil {
		p = *r.Preconditioner
		p.Time, r.Preconditioner = 0, nil
	}
	return fmt.Sprintf("%+v %+v", r, p)
}

// TestResumedBatches: a method that was carried through an archive, at any epoch, resumes to the same bits, reports and
// charges, with threads or without.
func TestResumedBatches(t *testing.T) {
	const epochs = 6
	for _, v := range ofBatches {
		for saved := range 4 {
			source, otherSource := rand.NewPCG(1, 2), new(rand.PCG)
			net, w := optimtest.NewNet(4, 5, 3, 22, 7)
			m, settings := method(t, v[0], append([]string{"batch", "5", "schedule", "linear", "weight-decay", "0.01"}, v[1:]...)...)
			s := &optim.State{Objective: net, W: slices.Clone(w), Settings: settings, Rand: rand.New(source), Epochs: epochs}
			for range saved {
				epoch(t, m, s)
			}
			a := optim.NewArchive()
			a.Method(m, s)
			drawn, err := source.MarshalBinary()
			if err := errors.Join(err, otherSource.UnmarshalBinary(drawn)); err != nil {
				t.Fatal(err)
			}
			otherNet, _ := optimtest.NewNet(4, 5, 3, 22, 7)
			other, _ := method(t, v[0])
			copied := &optim.State{Objective: otherNet, W: slices.Clone(s.W), Settings: settings.Clone(), Rand: rand.New(otherSource),
				Epoch: s.Epoch, Epochs: epochs, Run: inAnyOrder}
			back := optim.OpenArchive(a.Content())
			if back.Method(other, copied); back.Err() != nil {
				t.Fatalf("%v after %d epochs: %v", v, saved, back.Err())
			}
			spent := net.Charged
			for s.Epoch < epochs {
				if want, got := epoch(t, m, s), epoch(t, other, copied); got != want {
					t.Fatalf("%v, saved after %d epochs, epoch %d:\n%s, want\n%s", v, saved, s.Epoch, got, want)
				}
				if !slices.Equal(s.W, copied.W) || net.Charged-spent != otherNet.Charged {
					t.Fatalf("%v, saved after %d epochs, epoch %d: other weights, or %g charged for %g", v, saved, s.Epoch,
						otherNet.Charged, net.Charged-spent)
				}
			}
		}
	}
}

// wantFinite fails where weights, or what a method carries, are not finite.
func wantFinite(t *testing.T, what string, m optim.Method, s *optim.State) {
	t.Helper()
	a := optim.NewArchive()
	a.Method(m, s)
	vectors, numbers, _ := a.Content()
	for key, v := range numbers {
		vectors[key] = append(vectors[key], v)
	}
	vectors["weights"] = s.W
	for key, v := range vectors {
		if !vector.Finite(vector.Norm(v)) {
			t.Fatalf("%s: %s is not finite: %v", what, key, v)
		}
	}
}

// TestSettingsChangedOnTheWay: whatever changes from epoch to epoch, what is carried stays finite, and the weights move.
func TestSettingsChangedOnTheWay(t *testing.T) {
	changes := [][]string{
		{"batch", "7"}, {"every", "1"}, {"preconditioner", "kfac"}, {"batch", "0"}, {"schedule", "linear"}, {"preconditioner", "diagonal"},
		{"factor-decay", "0.5"}, {"warm-start", "1"}, {"damping", "0.5"}, {"side", "3"}, {"curvature-share", "1"}, {"beta1", "0"},
		{"beta2", "0.5"}, {"preconditioner", "none"}, {"side", "0"}, {"batch", "3"}, {"growth", "2"}, {"side", "512"}, {"momentum", "0"},
		{"clip", "1e-9"}, {"step", "model"}, {"preconditioner", "kfac"}, {"every", "1000"}, {"factor-share", "1"},
		{"product-share", "0.1"}, {"step", "rate"}, {"weight-decay", "0.1"}, {"iterations", "1"},
	}
	for _, name := range []string{"soap", "shampoo", "muon", "kfac", "hessian-free"} {
		net, w := optimtest.NewNet(4, 5, 3, 22, 7)
		m, settings := method(t, name, "batch", "5")
		s := &optim.State{Objective: net, W: w, Settings: settings, Rand: rand.New(rand.NewPCG(1, 1)), Epochs: 100, Run: inAnyOrder}
		for _, c := range changes {
			if !settings.Has(c[0]) {
				continue
			}
			if err := settings.SetText(c[0], c[1]); err != nil {
				t.Fatal(err)
			}
			before := slices.Clone(s.W)
			epoch(t, m, s)
			if soapBegins := name == "soap" && c[0] == "side"; slices.Equal(before, s.W) && !soapBegins {
				t.Errorf("%s with %v: nothing moved", name, c)
			}
			wantFinite(t, fmt.Sprintf("%s with %v", name, c), m, s)
		}
	}
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

// TestBadNumbersAreForgotten: where a gradient is not finite, weights return to where the epoch began; what is carried stays
// finite, and the method goes on. Where only its squares or products overflow, weights stay finite.
func TestBadNumbersAreForgotten(t *testing.T) {
	for _, v := range ofBatches {
		for _, value := range []float64{math.NaN(), math.Inf(1), 1e160, 1e305} {
			for _, batch := range []int{1, 2, 8} {
				for _, inProducts := range []bool{true, false} {
					net, w := optimtest.NewNet(4, 5, 3, 22, 7)
					o := &bad{Net: net, batch: batch, gradient: value}
					if inProducts {
						if v[0] != "hessian-free" && !slices.Contains(v, "model") {
							continue
						}
						o.gradient, o.product = 0, value
					}
					m, settings := method(t, v[0], append([]string{"batch", "5"}, v[1:]...)...)
					s := &optim.State{Objective: o, W: w, Settings: settings, Rand: rand.New(rand.NewPCG(1, 1)), Epochs: 10}
					what := fmt.Sprintf("%v, %g in batch %d, in products: %v", v, value, batch, inProducts)
					failed := 0
					for range 4 {
						before := slices.Clone(s.W)
						_, err := m.Step(t.Context(), s)
						var broken *optim.NotFiniteError
						switch isBroken := errors.As(err, &broken); {
						case err != nil && !isBroken && !errors.Is(err, optim.ErrStalled):
							t.Errorf("%s: %v", what, err)
						case isBroken:
							failed++
						}
						stood, mayStand := slices.Equal(before, s.W), v[0] == "hessian-free" && err == nil // its step is refused
						if !inProducts && !vector.Finite(value) && stood != (err != nil) && !mayStand {
							t.Errorf("%s: %v, weights moved: %v", what, err, !stood)
						}
						s.Epoch++
					}
					if !inProducts && !vector.Finite(value) && failed != 1 {
						t.Errorf("%s: %d epochs failed", what, failed)
					}
					if !vector.Finite(vector.Norm(s.W)) {
						t.Errorf("%s: weights to %v", what, s.W)
					}
					if inProducts || !vector.Finite(value) {
						wantFinite(t, what, m, s)
					}
				}
			}
		}
	}
}
