package kronecker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"newtop/internal/alloctest"
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

// TestAnotherBoundOnSides is a beginning: weights go on as those of a new method would.
func TestAnotherBoundOnSides(t *testing.T) {
	for _, name := range []string{"soap", "shampoo", "kfac"} {
		net, w := optimtest.NewNet(4, 5, 3, 22, 7)
		m, settings := method(t, name, "batch", "5", "every", "2")
		s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
		step(t, m, s)
		settings.Set("side", 4)
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
			counts[i] = alloctest.PerRun(3, func() {
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
