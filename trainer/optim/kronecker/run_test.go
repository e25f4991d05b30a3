package kronecker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// variants are the methods with settings in which they differ in what they do.
var variants = [][]string{
	{"soap", "every", "3"},
	{"soap", "every", "1", "side", "4"},
	{"shampoo", "every", "3"},
	{"shampoo", "every", "2", "side", "3"},
	{"muon"},
	{"kfac", "every", "4", "clip", "0.1"},
	{"kfac", "every", "4", "side", "3", "momentum", "0"},
	{"kfac", "step", "model", "adapt", "2", "every", "4", "product-share", "0.5"},
}

// told is all that a report says, but for how long something took.
func told(r optim.Report) string {
	p := optim.Preconditioner{}
	if r.Preconditioner != nil {
		p = *r.Preconditioner
		p.Time, r.Preconditioner = 0, nil
	}
	return fmt.Sprintf("%+v %+v", r, p)
}

// TestResume: a method that was carried through an archive, at any epoch, goes on to the same bits, reports and charges.
func TestResume(t *testing.T) {
	const epochs = 6
	for _, v := range variants {
		for saved := range 4 {
			source := rand.NewPCG(1, 2)
			net, w := optimtest.NewNet(4, 5, 3, 22, 7)
			set := append([]string{"batch", "5", "schedule", "linear", "weight-decay", "0.01"}, v[1:]...)
			m, settings := method(t, v[0], set...)
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
			other, _ := method(t, v[0])
			copied := &optim.State{
				Objective: otherNet, W: slices.Clone(s.W), Settings: settings.Clone(), Rand: rand.New(otherSource), Epoch: s.Epoch, Epochs: epochs,
			}
			back := optim.OpenArchive(a.Content())
			if back.Method(other, copied); back.Err() != nil {
				t.Fatalf("%v after %d epochs: %v", v, saved, back.Err())
			}
			spent := net.Charged
			for s.Epoch < epochs {
				want, got := told(step(t, m, s)), told(step(t, other, copied))
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

// TestResumeOfOthers: what belongs to other matrices, or is not whole, is refused in words.
func TestResumeOfOthers(t *testing.T) {
	for _, name := range []string{"soap", "shampoo", "kfac"} {
		net, w := optimtest.NewNet(4, 5, 3, 22, 7)
		m, settings := method(t, name, "batch", "5")
		s := &optim.State{Objective: net, W: slices.Clone(w), Settings: settings, Rand: newRand(1)}
		step(t, m, s)
		a := optim.NewArchive()
		a.Method(m, s)
		vectors, numbers, texts := a.Content()
		restore := func(o optim.Objective, vectors map[string][]float64) error {
			other, _ := method(t, name)
			back := optim.OpenArchive(vectors, numbers, texts)
			back.Method(other, &optim.State{Objective: o, W: s.W, Settings: settings, Rand: newRand(1)})
			return back.Err()
		}
		if err := restore(net, vectors); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// As many weights in other matrices: 5 × 5 and 3 × 6 are 3 × 5 and 5 × 4 and 8 more.
		for what, o := range map[string]optim.Objective{
			"fewer blocks": &given{n: len(w), matrices: net.Matrices()[:1]},
			"other sizes":  &given{n: len(w), matrices: []optim.Matrix{{Rows: 3, Cols: 5}, {Rows: 5, Cols: 4, Offset: 15}}},
		} {
			if err := restore(o, vectors); err == nil || !strings.HasPrefix(err.Error(), "method: factors of") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		for key := range vectors {
			short := map[string][]float64{}
			for k, v := range vectors {
				short[k] = v
			}
			delete(short, key)
			if err := restore(net, short); len(vectors[key]) > 0 && err == nil {
				t.Errorf("%s: nothing is amiss without %s", name, key)
			}
		}
	}
}

// TestSettingsChangedOnTheWay: batches, schedules, decays, dampings and the interval of refreshes may change from epoch to epoch; what is
// carried stays finite, and the weights move.
func TestSettingsChangedOnTheWay(t *testing.T) {
	changes := [][]string{
		{"batch", "7"}, {"every", "1"}, {"batch", "0"}, {"schedule", "linear"}, {"factor-decay", "0.5"}, {"damping", "0.5"}, {"side", "3"},
		{"beta1", "0"}, {"beta2", "0.5"}, {"side", "0"}, {"batch", "3"}, {"side", "512"}, {"momentum", "0"}, {"clip", "1e-9"}, {"step", "model"},
		{"adapt", "1"}, {"every", "1000"}, {"factor-share", "1"}, {"product-share", "0.1"}, {"step", "rate"}, {"weight-decay", "0.1"},
	}
	for _, name := range []string{"soap", "shampoo", "muon", "kfac"} {
		net, w := optimtest.NewNet(4, 5, 3, 22, 7)
		m, settings := method(t, name, "batch", "5")
		s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1), Epochs: 100, Run: inAnyOrder}
		for _, c := range changes {
			if !settings.Has(c[0]) {
				continue
			}
			if err := settings.PutText(c[0], c[1]); err != nil {
				t.Fatal(err)
			}
			before := slices.Clone(s.W)
			r := step(t, m, s)
			if prepared := name == "soap" && c[0] == "side"; slices.Equal(before, s.W) && !(prepared && r.StepNorm == 0) {
				t.Errorf("%s with %v: nothing moved", name, c)
			}
			a := optim.NewArchive()
			a.Method(m, s)
			vectors, numbers, _ := a.Content()
			for key, v := range vectors {
				if !vector.Finite(vector.Norm(v)) {
					t.Fatalf("%s with %v: %s is not finite", name, c, key)
				}
			}
			for key, v := range numbers {
				if !vector.Finite(v) {
					t.Fatalf("%s with %v: %s is %g", name, c, key, v)
				}
			}
		}
	}
}

// TestAnotherBoundOnSides is a beginning: weights go on as those of a new method would.
func TestAnotherBoundOnSides(t *testing.T) {
	for _, name := range []string{"soap", "shampoo", "kfac"} {
		net, w := optimtest.NewNet(4, 5, 3, 22, 7)
		m, settings := method(t, name, "batch", "5", "every", "2")
		s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
		step(t, m, s)
		settings.Put("side", 4)
		fresh, _ := method(t, name)
		other := &optim.State{Objective: net, W: slices.Clone(s.W), Settings: settings, Rand: newRand(5)}
		s.Rand = newRand(5)
		for range 3 {
			if a, b := told(step(t, m, s)), told(step(t, fresh, other)); a != b || !slices.Equal(s.W, other.W) {
				t.Fatalf("%s: %s, of a new one %s", name, a, b)
			}
		}
	}
}

// bad is a net one of whose batches has a gradient with a number that is not one, or a factor.
type bad struct {
	*optimtest.Net
	gradient, factor float64
	batch, asked     int
}

func (o *bad) BatchGradientTo(dst, w []float64, rows []int) float64 {
	loss := o.Net.BatchGradientTo(dst, w, rows)
	if o.asked++; o.asked == o.batch && o.gradient != 0 {
		dst[len(dst)/2] = o.gradient
	}
	return loss
}

func (o *bad) BatchFactorsTo(factors []optim.Factors, w []float64, rows []int, rng *rand.Rand) {
	o.Net.BatchFactorsTo(factors, w, rows, rng)
	if o.asked == o.batch && o.factor != 0 {
		factors[0].Inputs[0] = o.factor
	}
}

// TestBadGradientsAreForgotten: weights go back to where the epoch began, what is carried stays as finite as it was, and the method
// goes on.
func TestBadGradientsAreForgotten(t *testing.T) {
	for _, v := range variants {
		for _, gradient := range []float64{math.NaN(), math.Inf(1)} {
			for _, batch := range []int{1, 2, 5, 8} {
				net, w := optimtest.NewNet(4, 5, 3, 22, 7)
				o := &bad{Net: net, gradient: gradient, batch: batch}
				m, settings := method(t, v[0], append([]string{"batch", "5"}, v[1:]...)...)
				s := &optim.State{Objective: o, W: w, Settings: settings, Rand: newRand(1)}
				failed := 0
				for range 4 {
					before := slices.Clone(s.W)
					_, err := m.Step(context.Background(), s)
					var broken *optim.NotFiniteError
					switch {
					case errors.As(err, &broken) && broken.What == "gradient" && slices.Equal(before, s.W):
						failed++
					case err != nil:
						t.Fatalf("%v, %g in batch %d: %v", v, gradient, batch, err)
					}
					if slices.Equal(before, s.W) != (err != nil) || !vector.Finite(vector.Norm(s.W)) {
						t.Fatalf("%v, %g in batch %d: %v, weights to %v", v, gradient, batch, err, s.W)
					}
				}
				a := optim.NewArchive()
				a.Method(m, s)
				vectors, _, _ := a.Content()
				for key, x := range vectors {
					if !vector.Finite(vector.Norm(x)) {
						t.Errorf("%v, %g in batch %d: %s is not finite", v, gradient, batch, key)
					}
				}
				if failed != 1 {
					t.Errorf("%v, %g in batch %d: %d epochs failed", v, gradient, batch, failed)
				}
			}
		}
	}
}

// TestHugeGradients: where squares of a gradient overflow the method fails or goes on, and weights stay finite.
func TestHugeGradients(t *testing.T) {
	for _, v := range variants {
		for _, gradient := range []float64{1e160, 1e305, math.MaxFloat64} {
			net, w := optimtest.NewNet(4, 5, 3, 22, 7)
			o := &bad{Net: net, gradient: gradient, batch: 7}
			m, settings := method(t, v[0], append([]string{"batch", "5"}, v[1:]...)...)
			s := &optim.State{Objective: o, W: w, Settings: settings, Rand: newRand(1)}
			var err error
			for i := 0; i < 6 && err == nil; i++ {
				_, err = m.Step(context.Background(), s)
			}
			var broken *optim.NotFiniteError
			if err != nil && !errors.As(err, &broken) || !vector.Finite(vector.Norm(s.W)) {
				t.Errorf("%v, a gradient of %g: %v, weights to %g", v, gradient, err, largest(s.W))
			}
		}
	}
}

// TestUpdatesAllocateNothing: whatever an epoch allocates it does not do so once an update.
func TestUpdatesAllocateNothing(t *testing.T) {
	matrices, n := several()
	rng := newRand(1)
	o := &quiet{given{n: n, matrices: matrices, gradients: gradientsOf(n, 7, 3), factors: [][]optim.Factors{factorsOf(matrices, rng)}}}
	for _, v := range variants {
		if slices.Contains(v, "model") {
			continue
		}
		counts := make([]float64, 2)
		for i, rows := range []int{10, 210} {
			o.rows = rows
			m, settings := method(t, v[0], append([]string{"batch", "1"}, v[1:]...)...)
			s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings, Rand: newRand(2)}
			counts[i] = testing.AllocsPerRun(3, func() {
				if _, err := m.Step(context.Background(), s); err != nil {
					t.Fatal(err)
				}
			})
		}
		if counts[1] > counts[0]+10 { // the runtime's own are counted, too
			t.Errorf("%v: an epoch of 10 updates allocates %v times, one of 210 updates %v times", v, counts[0], counts[1])
		}
	}
}

// quiet is given without a memory of what it was asked.
type quiet struct{ given }

func (o *quiet) BatchGradientTo(dst, w []float64, _ []int) float64 { return o.GradientTo(dst, w) }

func (o *quiet) BatchFactorsTo(factors []optim.Factors, _ []float64, _ []int, _ *rand.Rand) {
	for i, f := range o.factors[0] {
		optimtest.StoreFactor(factors[i].Inputs, f.Inputs)
		optimtest.StoreFactor(factors[i].Outputs, f.Outputs)
	}
}
