package trust

import (
	"context"
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

// split is the mean of objectives that are its blocks.
type split struct {
	*optimtest.Smooth
	parts []*optimtest.Smooth
}

func (o *split) Rows() int { return len(o.parts) }

func (o *split) Blocks(count int) []optim.Objective {
	if count != len(o.parts) {
		panic("another number of blocks")
	}
	blocks := make([]optim.Objective, count)
	for i, p := range o.parts {
		blocks[i] = p
	}
	return blocks
}

func mean(parts ...*optimtest.Smooth) *split {
	n, share := parts[0].N, 1/float64(len(parts))
	add := make([]float64, n)
	return &split{parts: parts, Smooth: &optimtest.Smooth{
		N: n,
		F: func(x []float64) float64 {
			sum := 0.0
			for _, p := range parts {
				sum += share * p.F(x)
			}
			return sum
		},
		Df: func(dst, x []float64) {
			clear(dst)
			for _, p := range parts {
				p.Df(add, x)
				floats.AddScaled(dst, share, add)
			}
		},
	}}
}

// well is ½Σ k_i (w_i − at_i)².
func well(at []float64, k ...float64) *optimtest.Smooth {
	return &optimtest.Smooth{
		N: len(k),
		F: func(x []float64) float64 {
			sum := 0.0
			for i, v := range x {
				sum += k[i] * (v - at[i]) * (v - at[i]) / 2
			}
			return sum
		},
		Df: func(dst, x []float64) {
			for i, v := range x {
				dst[i] = k[i] * (v - at[i])
			}
		},
		Hess: func(dst *mat.SymDense, _ []float64) {
			for i, v := range k {
				dst.SetSym(i, i, v)
			}
		},
	}
}

// TestIdenticalBlocks: an epoch over blocks of the same rows is as many epochs of batch mode, to the bit.
func TestIdenticalBlocks(t *testing.T) {
	for _, name := range []string{"tr-newton", "tr-gn", "tr-gn-jacobi"} {
		start := []float64{700, -300, 200}
		m, settings := method(t, name, "blocks", "4", "block-xi", "0.01", "limit", "100")
		s := &optim.State{Objective: mean(bowl(1, 5, 9), bowl(1, 5, 9), bowl(1, 5, 9), bowl(1, 5, 9)), W: slices.Clone(start), Settings: settings}
		one, alone := method(t, name, "blocks", "1", "limit", "100")
		b := &optim.State{Objective: bowl(1, 5, 9), W: slices.Clone(start), Settings: alone}
		for epoch := range 2 {
			r, err := m.Step(context.Background(), s)
			if err != nil || !r.Accepted || len(r.Inner) != 4 || r.Loss != s.Loss {
				t.Fatalf("%s, epoch %d: %v, %+v", name, epoch, err, r)
			}
			for i := range 4 {
				if _, err := one.Step(context.Background(), b); err != nil {
					t.Fatal(err)
				}
				if r.Inner[i].Block != i || r.Inner[i].Radius > alone.Get("radius-max") {
					t.Errorf("%s, epoch %d: solve %d is %+v", name, epoch, i, r.Inner[i])
				}
			}
			if !slices.Equal(s.W, b.W) || settings.Get("radius") != alone.Get("radius") {
				t.Errorf("%s, epoch %d: %v with radius %g, in batches %v, %g",
					name, epoch, s.W, settings.Get("radius"), b.W, alone.Get("radius"))
			}
		}
	}
}

// TestDisagreeingBlocks: blocks that pull apart never raise E over an epoch, and come near its minimum where the
// rule with E over all rows in each ρ has lost its radius.
func TestDisagreeingBlocks(t *testing.T) {
	left, right := []float64{-1, 3}, []float64{1, -3}
	build := func() *split { return mean(well(left, 1, 0.2), well(right, 0.2, 1)) }
	o, start := build(), []float64{6, 5}
	// E's minimum, of the mean of two diagonal quadratics.
	best := o.F([]float64{(-1 + 0.2) / 1.2, (0.6 - 3) / 1.2})

	plain := wholeRatio(build(), slices.Clone(start), 60)
	m, settings := method(t, "tr-newton", "blocks", "2", "block-xi", "1e-6")
	s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings}
	before, undone := o.F(start), 0
	pause, rest := 0, 0
	for epoch := range 200 {
		w := slices.Clone(s.W)
		r, err := m.Step(context.Background(), s)
		if errors.Is(err, optim.ErrStalled) {
			break
		}
		after := o.F(s.W)
		if err != nil || after > before || r.Accepted == slices.Equal(w, s.W) || r.Loss != after || s.Evaluated {
			t.Fatalf("epoch %d: %v, E from %.17g to %.17g, %+v", epoch, err, before, after, r)
		}
		switch {
		case rest > 0: // an epoch of batch mode
			rest--
			if len(r.Inner) != 1 {
				t.Errorf("epoch %d: %d solves in a pause", epoch, len(r.Inner))
			}
		case len(r.Inner) != 2:
			t.Errorf("epoch %d: %d solves for two blocks", epoch, len(r.Inner))
		case r.Accepted:
			pause = 0
		default:
			undone++
			pause = max(1, 2*pause)
			rest = pause
			if next := settings.Get("radius"); next != r.Radius {
				t.Errorf("epoch %d: undone, and R goes from %g to %g", epoch, r.Radius, next)
			}
		}
		before = after
	}
	if before-best > 1e-3*(o.F(start)-best) || undone < 2 {
		t.Errorf("E = %g with %d epochs undone, its minimum is %g", before, undone, best)
	}
	if !(plain.radius < 1e-6) || !(plain.loss-best > 10*(before-best)) {
		t.Errorf("the plain rule ends at %g with R = %g, ours at %g of %g", plain.loss, plain.radius, before, best)
	}
}

// TestBlocksAsPrinted: with block-error=all and the textbook's rule block mode is that of the paper, which loses its radius.
func TestBlocksAsPrinted(t *testing.T) {
	build := func() *split { return mean(well([]float64{-1, 3}, 1, 0.2), well([]float64{1, -3}, 0.2, 1)) }
	start := []float64{6, 5}
	for _, epochs := range []int{1, 3, 8} {
		want := wholeRatio(build(), slices.Clone(start), epochs)
		m, settings := method(t, "tr-newton", "blocks", "2", "block-xi", "1e-6", "block-error", "all", "rule", "textbook", "boundary", "segment")
		o := build()
		s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings}
		before := o.F(start)
		for epoch := range epochs {
			r, err := m.Step(context.Background(), s)
			if err != nil || len(r.Inner) != 2 || r.Loss > before || r.Loss != o.F(s.W) {
				t.Fatalf("epoch %d: %v, %+v", epoch, err, r)
			}
			before = r.Loss
		}
		if r := settings.Get("radius"); math.Abs(s.Loss-want.loss) > 1e-9*want.loss || math.Abs(r-want.radius) > 1e-9*want.radius {
			t.Errorf("after %d epochs E = %.12g with R = %g, want %.12g with %g", epochs, s.Loss, r, want.loss, want.radius)
		}
	}
}

// wholeRatio is block mode to the letter of [MD, §3] with the radius rule of the textbook: the step and what it
// promises are the block's, and E in ρ is that of all rows.
func wholeRatio(o *split, w []float64, epochs int) (end struct{ loss, radius float64 }) {
	end.loss, end.radius = o.F(w), 1
	g, s := make([]float64, len(w)), make([]float64, len(w))
	for range epochs {
		for _, p := range o.parts {
			p.Df(g, w)
			solve, _ := new(krylov.CG).SolveTo(s, p.Hessian(w), g, krylov.TrustRegion{Radius: end.radius, Tolerance: 1e-6})
			floats.Add(s, w)
			loss := o.F(s)
			rho := (end.loss - loss) / solve.Predicted
			switch {
			case !(rho >= 0.25):
				end.radius = min(end.radius, solve.StepNorm/4)
			case rho > 0.75 && solve.Stop == krylov.Boundary:
				end.radius *= 2
			}
			if rho > 1e-4 {
				copy(w, s)
				end.loss = loss
			}
		}
	}
	return end
}

// TestBlockWork: an epoch takes one gradient of each block, and E over all rows where it begins and where it ends.
func TestBlockWork(t *testing.T) {
	o := mean(bowl(1, 2), bowl(2, 1), bowl(1, 1))
	m, settings := method(t, "tr-newton", "blocks", "3")
	s := &optim.State{Objective: o, W: []float64{3000, 4000}, Settings: settings}
	var blocks []int
	s.Monitor = func(in optim.Inner) error { blocks = append(blocks, in.Block); return nil }
	for epoch := range 3 {
		if r, err := m.Step(context.Background(), s); err != nil || !r.Accepted {
			t.Fatalf("%v, %+v", err, r)
		}
		if o.Losses != 2*(epoch+1) || o.Gradients != 0 || o.parts[2].Gradients != epoch+1 || o.parts[2].Losses != epoch+1 {
			t.Errorf("epoch %d: %d losses, %d gradients of all; of a block %d, %d", epoch, o.Losses, o.Gradients, o.parts[2].Losses, o.parts[2].Gradients)
		}
	}
	if !slices.IsSorted(blocks[:3]) || slices.Max(blocks) != 2 {
		t.Errorf("monitored in the blocks %v", blocks)
	}
}

// TestInterruptedSweep: an epoch that is given up leaves weights and radius as they were.
func TestInterruptedSweep(t *testing.T) {
	m, settings := method(t, "tr-newton", "blocks", "2")
	s := &optim.State{Objective: mean(bowl(1, 2), bowl(2, 1)), W: []float64{30, 40}, Settings: settings}
	s.Monitor = func(in optim.Inner) error {
		if in.Block == 1 {
			return optim.ErrInterrupted
		}
		return nil
	}
	if r, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrInterrupted) || len(r.Inner) != 2 {
		t.Errorf("%v, %+v", err, r)
	}
	if !slices.Equal(s.W, []float64{30, 40}) || settings.Get("radius") != 1 {
		t.Errorf("weights %v, radius %g", s.W, settings.Get("radius"))
	}
}

func TestBlocksThatCannotGoOn(t *testing.T) {
	nan := math.NaN()
	broken := func() *optimtest.Smooth {
		return &optimtest.Smooth{N: 1, F: func([]float64) float64 { return nan }, Df: func(dst, _ []float64) { dst[0] = nan }, Hess: bowl(1).Hess}
	}
	cliff := bowl(1) // whose loss is lost beyond 5
	cliff.F = func(x []float64) float64 {
		if x[0] > 5 {
			return nan
		}
		return 0
	}
	cliff.Df = func(dst, x []float64) { dst[0] = 0 * cliff.F(x) }
	for _, test := range []struct {
		what string
		o    optim.Objective
		w    float64
		want error
	}{
		{"one solved already", mean(bowl(1), well([]float64{2}, 1)), 1, nil},
		{"all solved", mean(bowl(1), bowl(3)), 1, &optim.StalledError{Reason: "the gradient of every block is zero"}},
		{"no blocks", bowl(1), 3, &optim.CapabilityError{Reason: "the objective has no rows to split into blocks"}},
		{"loss", mean(bowl(1), broken()), 3, &optim.NotFiniteError{What: "loss"}},
		{"weights", mean(bowl(1), bowl(1)), nan, &optim.NotFiniteError{What: "weights"}},
		{"lost on the way", mean(well([]float64{6}, 1), cliff), 4.5, nil},
	} {
		m, settings := method(t, "tr-newton", "blocks", "2", "radius", "1")
		s := &optim.State{Objective: test.o, W: []float64{test.w}, Settings: settings}
		r, err := m.Step(context.Background(), s)
		switch {
		case test.want == nil && err != nil, test.want != nil && (err == nil || err.Error() != test.want.Error()):
			t.Errorf("%s: %v, want %v", test.what, err, test.want)
		case test.what == "lost on the way" && (r.Accepted || s.W[0] != 4.5 || settings.Get("radius") != 1):
			t.Errorf("%s: %+v, at %g, next radius %g", test.what, r, s.W[0], settings.Get("radius"))
		}
	}
	// One row cannot be split: that is batch mode.
	m, settings := method(t, "tr-newton", "blocks", "2")
	s := &optim.State{Objective: mean(bowl(1)), W: []float64{3}, Settings: settings}
	if r, err := m.Step(context.Background(), s); err != nil || len(r.Inner) != 1 || !r.Accepted {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestPreconditionerOfBlocks: at one place every block has a diagonal of its own.
func TestPreconditionerOfBlocks(t *testing.T) {
	w, j := []float64{0}, new(jacobi)
	for i, d := range []float64{4, 9} {
		if got := j.of(given{diagonal: []float64{d}}, part{i, 2}, w, 0.01); got[0] != d {
			t.Errorf("block %d: %v, want %g", i, got, d)
		}
	}
	if got := j.of(given{diagonal: []float64{5}}, part{1, 3}, w, 0.01); got[0] != 5 {
		t.Errorf("after the number of blocks was changed: %v", got)
	}
}
