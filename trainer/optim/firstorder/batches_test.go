package firstorder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"newtop/internal/alloctest"
	"newtop/internal/vector"
	"newtop/trainer/optim"
)

var firstOrder = []string{"sgd", "momentum", "adam", "nag", "adagrad", "rmsprop", "online-bp"}

// TestBetaChangedOnTheWay: Adam's corrections are the products of the decays that were used.
func TestBetaChangedOnTheWay(t *testing.T) {
	m, settings := method(t, "adam", "rate", "0.1", "batch", "0", "epsilon", "1e-300")
	s := &optim.State{Objective: &rows{n: 1, k: []float64{1}, targets: [][]float64{{0}}}, W: []float64{1}, Settings: settings}
	m.Step(context.Background(), s) // g = 1, m = 0.1, v = 0.001, w = 0.9
	settings.Set("beta1", 0.5)
	settings.Set("beta2", 0.5)
	m.Step(context.Background(), s)
	// g = 0.9, m = 0.05 + 0.45, v = 0.0005 + 0.405; β₁ᵗ = 0.45, β₂ᵗ = 0.4995
	want := 0.9 - 0.1*(0.5/0.55)/math.Sqrt(0.4055/0.5005)
	if math.Abs(s.W[0]-want) > 1e-15 {
		t.Errorf("%.17g, want %.17g", s.W[0], want)
	}
}

func five() *rows {
	return &rows{n: 2, k: []float64{1, 1, 1, 1, 1}, targets: [][]float64{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}}}
}

// TestBatches: every row once an epoch in a new order, the short batch averaged over its own rows.
func TestBatches(t *testing.T) {
	o := five()
	m, settings := method(t, "sgd", "batch", "2", "rate", "0.5")
	s := &optim.State{Objective: o, W: []float64{0, 3}, Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
	var units []string
	s.Monitor = func(in optim.Inner) error {
		units = append(units, fmt.Sprintf("%d/%d %v", in.Iteration.Number, in.Total, vector.Finite(in.Loss)))
		return nil
	}
	want := []float64{0, 3}
	for epoch := range 3 {
		o.seen, units = nil, nil
		r, err := m.Step(context.Background(), s)
		if err != nil || !slices.Equal(units, []string{"1/3 true", "2/3 true", "3/3 true"}) {
			t.Errorf("%v, units %q", err, units)
		}
		var all []int
		squares, before := 0.0, slices.Clone(want)
		for i, batch := range o.seen {
			if len(batch) != []int{2, 2, 1}[i] {
				t.Errorf("epoch %d: batch %d has %d rows", epoch, i, len(batch))
			}
			mean := 0.0
			for _, p := range batch {
				mean += float64(p+1) / float64(len(batch))
			}
			squares += (want[0]-mean)*(want[0]-mean) + want[1]*want[1]
			want[0], want[1] = (want[0]+mean)/2, want[1]/2
			all = append(all, batch...)
		}
		if slices.Equal(all, []int{0, 1, 2, 3, 4}) {
			t.Errorf("epoch %d: not shuffled", epoch)
		}
		if slices.Sort(all); !slices.Equal(all, []int{0, 1, 2, 3, 4}) {
			t.Errorf("epoch %d: rows %v", epoch, all)
		}
		for i := range want {
			if math.Abs(s.W[i]-want[i]) > 1e-14 {
				t.Errorf("epoch %d: weights %v, want %v", epoch, s.W, want)
			}
		}
		if math.Abs(r.GradientNorm-math.Sqrt(squares/3)) > 1e-14 ||
			math.Abs(r.StepNorm-math.Hypot(want[0]-before[0], want[1]-before[1])) > 1e-14 || !math.IsNaN(r.Loss) {
			t.Errorf("epoch %d: %+v", epoch, r)
		}
	}
}

// TestOnline: online-bp is the heavy ball over single rows, in the order in which it took them.
func TestOnline(t *testing.T) {
	o := five()
	m, settings := method(t, "online-bp", "rate", "0.1")
	s := &optim.State{Objective: o, W: []float64{0, 3}, Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
	want, v := []float64{0, 3}, []float64{0, 0}
	for epoch := range 3 {
		o.seen = nil
		if _, err := m.Step(context.Background(), s); err != nil || len(o.seen) != 5 {
			t.Fatalf("epoch %d: %v, batches %v", epoch, err, o.seen)
		}
		for _, batch := range o.seen {
			if len(batch) != 1 {
				t.Errorf("epoch %d: an update after rows %v", epoch, batch)
			}
			g := []float64{want[0] - float64(batch[0]+1), want[1]}
			for i := range want {
				v[i] = 0.8*v[i] - 0.1*g[i]
				want[i] += v[i]
			}
		}
		if !slices.EqualFunc(s.W, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-14 }) {
			t.Errorf("epoch %d: %v, want %v", epoch, s.W, want)
		}
	}
}

// scored is an objective of one row given by its gradient.
type scored struct {
	n  int
	df func(dst, x []float64)
}

func (o *scored) Dim() int                                             { return o.n }
func (o *scored) Rows() int                                            { return 1 }
func (o *scored) Loss([]float64) float64                               { return 0 }
func (o *scored) GradientTo(dst, w []float64) float64                  { o.df(dst, w); return 0 }
func (o *scored) BatchGradientTo(dst, w []float64, rows []int) float64 { return o.GradientTo(dst, w) }

// Weights are moved a tile at a time, and by threads some tiles at a time.
const tile, span = 1024, 12

// TestTiles: every weight is moved by its own gradient and memory, whichever tile it is in, and the norm is that of
// all of them.
func TestTiles(t *testing.T) {
	const rate, n = 0.5, 2*tile + 7
	heavy := func(mu float64) func(w, g float64, step int, m *[2]float64) float64 {
		return func(w, g float64, _ int, m *[2]float64) float64 {
			m[0] = mu*m[0] - rate*g
			return w + m[0]
		}
	}
	for name, move := range map[string]func(w, g float64, step int, m *[2]float64) float64{
		"sgd":       func(w, g float64, _ int, _ *[2]float64) float64 { return w - rate*g },
		"momentum":  heavy(0.9),
		"nag":       heavy(0.9),
		"online-bp": heavy(0.8),
		"adagrad": func(w, g float64, _ int, m *[2]float64) float64 {
			m[0] += g * g
			return w - rate*g/(1e-8+math.Sqrt(m[0]))
		},
		"rmsprop": func(w, g float64, _ int, m *[2]float64) float64 {
			m[0] = 0.9*m[0] + 0.1*g*g
			return w - rate*g/(math.Sqrt(m[0])+1e-8)
		},
		"adam": func(w, g float64, step int, m *[2]float64) float64 {
			m[0] = 0.9*m[0] + 0.1*g
			m[1] = 0.999*m[1] + 0.001*g*g
			first, second := m[0]/(1-math.Pow(0.9, float64(step))), m[1]/(1-math.Pow(0.999, float64(step)))
			return w - rate*first/(math.Sqrt(second)+1e-8)
		},
	} {
		method, settings := method(t, name, "rate", "0.5", "batch", "0")
		gradient := func(i int, x float64) float64 { return float64(i%5) + x }
		o := &scored{n: n, df: func(dst, x []float64) {
			for i := range dst {
				dst[i] = gradient(i, x[i])
			}
		}}
		s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings}
		w, memory := make([]float64, n), make([][2]float64, n)
		for step := 1; step <= 3; step++ {
			r, err := method.Step(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			squares := 0.0
			for i := range w {
				at := w[i]
				if name == "nag" {
					at += 0.9 * memory[i][0]
				}
				g := gradient(i, at)
				squares += g * g
				w[i] = move(w[i], g, step, &memory[i])
				if math.Abs(s.W[i]-w[i]) > 1e-12 {
					t.Fatalf("%s: weight %d is %.17g after step %d, want %.17g", name, i, s.W[i], step, w[i])
				}
			}
			if math.Abs(r.GradientNorm-math.Sqrt(squares)) > 1e-12*math.Sqrt(squares) {
				t.Errorf("%s: ‖g‖ = %g, want %g", name, r.GradientNorm, math.Sqrt(squares))
			}
		}
	}
}

// TestBadGradientsAreForgotten: the weights go back to where the epoch began, and what a method remembers stays finite,
// also where only the last tile is bad.
func TestBadGradientsAreForgotten(t *testing.T) {
	const n = 2*tile + 7
	for _, name := range firstOrder {
		for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
			value := 1.0
			o := &scored{n: n, df: func(dst, _ []float64) {
				for i := range dst {
					dst[i] = 1
				}
				dst[n-1] = value
			}}
			m, settings := method(t, name, "batch", "0")
			s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings}
			for step, v := range []float64{1, bad, 1} {
				value = v
				before := slices.Clone(s.W)
				_, err := m.Step(context.Background(), s)
				var broken *optim.NotFiniteError
				if vector.Finite(v) != (err == nil) || err != nil && (!errors.As(err, &broken) || broken.What != "gradient") {
					t.Errorf("%s: step %d: %v", name, step, err)
				}
				if kept := slices.Equal(before, s.W); kept == vector.Finite(v) || !vector.Finite(vector.Norm(s.W)) {
					t.Errorf("%s: step %d after a gradient with %g: weights from %g to %g", name, step, v, before[n-1], s.W[n-1])
				}
			}
		}
	}
}

// TestThreadsMoveAlike: weights and norms have the same bits whether one thread moves them or several, in any order.
func TestThreadsMoveAlike(t *testing.T) {
	const n = 3*span*tile + 5
	inAnyOrder := func(count int, task func(worker, i int)) {
		var done sync.WaitGroup
		for i := range count {
			done.Go(func() { task(i%2, count-1-i) })
		}
		done.Wait()
	}
	for _, name := range []string{"sgd", "momentum", "nag", "adagrad", "rmsprop", "adam"} {
		var first []float64
		for _, run := range []func(int, func(worker, i int)){nil, inAnyOrder} {
			rng := rand.New(rand.NewPCG(7, 7))
			o := &scored{n: n, df: func(dst, _ []float64) {
				for i := range dst {
					dst[i] = rng.NormFloat64()
				}
			}}
			m, settings := method(t, name, "batch", "0")
			s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings, Run: run}
			var all []float64
			for range 3 {
				report, err := m.Step(context.Background(), s)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, report.GradientNorm)
			}
			all = append(all, s.W...)
			if first == nil {
				first = all
			} else if !slices.Equal(first, all) {
				t.Errorf("%s: other bits with several threads", name)
			}
		}
	}
}

// TestOrderComesFromTheGenerator: two methods that were used differently before draw the same order from
// the same generator, so that a resumed run goes on with the same rows.
func TestOrderComesFromTheGenerator(t *testing.T) {
	var orders [][]int
	for _, earlier := range []int{0, 3} {
		o := five()
		m, settings := method(t, "sgd", "batch", "1")
		s := &optim.State{Objective: o, W: []float64{0, 3}, Settings: settings, Rand: rand.New(rand.NewPCG(9, 9))}
		for range earlier {
			m.Step(context.Background(), s)
		}
		o.seen, s.Rand = nil, rand.New(rand.NewPCG(5, 5))
		m.Step(context.Background(), s)
		orders = append(orders, slices.Concat(o.seen...))
	}
	if !slices.Equal(orders[0], orders[1]) {
		t.Errorf("%v and %v", orders[0], orders[1])
	}
}

func TestWholeBatchIsAGradient(t *testing.T) {
	for _, batch := range []string{"0", "5", "1000"} {
		o := five()
		m, settings := method(t, "sgd", "batch", batch)
		s := &optim.State{Objective: o, W: []float64{0, 3}, Settings: settings}
		if _, err := m.Step(context.Background(), s); err != nil || o.whole != 1 || o.seen != nil {
			t.Errorf("batch %s: %v, %d gradients, batches %v", batch, err, o.whole, o.seen)
		}
	}
}

// TestInterruptedEpoch: the weights stay where the last batch left them.
func TestInterruptedEpoch(t *testing.T) {
	for _, name := range firstOrder {
		o := five()
		m, settings := method(t, name, "batch", "1", "rate", "0.5")
		s := &optim.State{Objective: o, W: []float64{0, 3}, Evaluated: true, Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
		var left []float64
		s.Monitor = func(in optim.Inner) error {
			if left = slices.Clone(s.W); in.Iteration.Number == 2 {
				return optim.ErrInterrupted
			}
			return nil
		}
		if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
		if len(o.seen) != 2 || !slices.Equal(s.W, left) || s.Evaluated {
			t.Errorf("%s: %d batches, weights %v of %v, evaluated %v", name, len(o.seen), s.W, left, s.Evaluated)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := m.Step(ctx, s); !errors.Is(err, context.Canceled) || !slices.Equal(s.W, left) {
			t.Errorf("%s: %v, weights %v of %v", name, err, s.W, left)
		}
	}
}

func TestDivergence(t *testing.T) {
	steep := &rows{n: 1, k: []float64{1, 1, 1}, targets: [][]float64{{0}, {0}, {0}}}
	for _, test := range []struct {
		name, rate, what string
		o                optim.Objective
		w                float64
	}{
		{"sgd", "1e300", "loss", steep, 2},
		{"momentum", "1e300", "loss", steep, 2},
		{"sgd", "1e308", "weights", steep, 1e10},
		{"sgd", "1", "loss", constant{math.NaN(), 1}, 1},
		{"adam", "1", "gradient", constant{1, math.Inf(1)}, 1},
		{"momentum", "1", "gradient", constant{1, math.NaN()}, 1},
		{"sgd", "1", "weights", steep, math.NaN()},
	} {
		m, settings := method(t, test.name, "batch", "1", "rate", test.rate)
		s := &optim.State{Objective: test.o, W: []float64{test.w}, Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
		var err error
		for i := 0; i < 20 && err == nil; i++ {
			_, err = m.Step(context.Background(), s)
		}
		var broken *optim.NotFiniteError
		if !errors.As(err, &broken) || broken.What != test.what || !strings.Contains(err.Error(), test.what) {
			t.Errorf("%+v: %v", test, err)
		}
		if vector.Finite(test.w) && !vector.Finite(s.W[0]) || test.what == "gradient" && s.W[0] != test.w {
			t.Errorf("%+v: left with %g", test, s.W[0])
		}
	}
}

// constant has the same loss and gradient everywhere and for every row.
type constant struct{ loss, gradient float64 }

func (constant) Dim() int                 { return 1 }
func (constant) Rows() int                { return 3 }
func (c constant) Loss([]float64) float64 { return c.loss }

func (c constant) GradientTo(dst, _ []float64) float64 { dst[0] = c.gradient; return c.loss }

func (c constant) BatchGradientTo(dst, w []float64, _ []int) float64 { return c.GradientTo(dst, w) }

func TestStandingStillIsStalling(t *testing.T) {
	for name, w := range map[string][]float64{"zero gradient": {3, 0}, "rate below rounding": {7, 1}} {
		m, settings := method(t, "sgd", "batch", "0")
		if name == "rate below rounding" {
			settings.Set("rate", 1e-30)
		}
		s := &optim.State{Objective: five(), W: slices.Clone(w), Settings: settings}
		if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrStalled) || !slices.Equal(s.W, w) {
			t.Errorf("%s: %v at %v", name, err, s.W)
		}
	}
}

// TestEpochAllocatesNothing: whatever an epoch allocates it does not do so once a batch.
func TestEpochAllocatesNothing(t *testing.T) {
	o := &quiet{rows: 500}
	for _, name := range firstOrder {
		m, settings := method(t, name, "batch", "1")
		s := &optim.State{Objective: o, W: make([]float64, 10), Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
		s.Monitor = func(optim.Inner) error { return nil }
		if n := alloctest.PerRun(3, func() { m.Step(context.Background(), s) }); n > 0 {
			t.Errorf("%s: %v allocations an epoch", name, n)
		}
	}
}

type quiet struct{ rows int }

func (q *quiet) Dim() int                            { return 10 }
func (q *quiet) Rows() int                           { return q.rows }
func (q *quiet) Loss([]float64) float64              { return 1 }
func (q *quiet) GradientTo(dst, _ []float64) float64 { dst[0] = 1; return 1 }
func (q *quiet) BatchGradientTo(dst, _ []float64, rows []int) float64 {
	dst[0] = float64(rows[0] + 1)
	return 1
}

// TestEdge: on ½λw², with all rows to an update, the error shrinks below the edge and grows above it.
func TestEdge(t *testing.T) {
	for _, i := range []*optim.Info{&SGD, &HeavyBall, &Adam, &NAG, &AdaGrad, &RMSProp, &OnlineBP} {
		if i.Edge == nil {
			continue
		}
		s := optim.NewSettings(i.Parameters)
		edge, formula := i.Edge(s)
		if formula == "" || !(edge > 0) {
			t.Errorf("%s: %q is %g", i.Name, formula, edge)
		}
		for _, times := range []float64{0.99, 1.01} {
			lambda := times * edge
			o := &rows{n: 1, k: []float64{lambda}, targets: [][]float64{{0}}}
			state := &optim.State{Objective: o, W: []float64{1}, Settings: s, Rand: rand.New(rand.NewPCG(1, 2))}
			m := i.New()
			for range 2000 {
				if _, err := m.Step(context.Background(), state); err != nil {
					break
				}
			}
			if grown := !(math.Abs(state.W[0]) < 1); grown != (times > 1) {
				t.Errorf("%s at %g of the edge: the weight goes to %g", i.Name, times, state.W[0])
			}
		}
		if edge, _ := i.Edge(optim.ReadSettings(i.Parameters, map[string]string{"momentum": "0.5"})); !math.IsNaN(edge) {
			t.Errorf("%s: without a rate the edge is %g", i.Name, edge)
		}
	}
	if edge, formula := HeavyBall.Edge(optim.ReadSettings(HeavyBall.Parameters, map[string]string{"rate": "0.1", "momentum": "0.5"})); edge != 30 || formula != "2(1+μ)/η" {
		t.Errorf("%s = %g", formula, edge)
	}
}

// narrowed is a scored objective of two rows whose passes are in single precision.
type narrowed struct{ scored }

func (*narrowed) Rows() int    { return 2 }
func (*narrowed) Single() bool { return true }

func (o *narrowed) SingleGradientTo(dst, w []float32, rows []int) float64 {
	g, at := make([]float64, o.n), make([]float64, o.n)
	vector.Widen(at, w)
	o.df(g, at)
	vector.Narrow(dst, g)
	return 0
}

// TestAdamInSinglePrecision: where passes are in float32, Adam's weights and moments are, to the bit of one that was
// carried in between; who watches finds the weights of the last batch, and the moments outlive another batch size.
func TestAdamInSinglePrecision(t *testing.T) {
	const n = 2*tile + 3
	o := &narrowed{scored{n, func(dst, w []float64) {
		for i := range dst {
			dst[i] = w[i] - 1 - float64(i%7)/3
		}
	}}}
	run := func(carried bool, batches ...string) []float64 {
		m, settings := method(t, "adam", "rate", "0.01")
		s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings, Rand: rand.New(rand.NewPCG(3, 3))}
		seen := 0.0
		s.Monitor = func(optim.Inner) error {
			if now := s.Settled()[0]; now <= seen {
				t.Errorf("the watcher finds %g after %g", now, seen)
			} else {
				seen = now
			}
			return nil
		}
		for _, batch := range batches {
			if err := settings.SetText("batch", batch); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Step(context.Background(), s); err != nil || s.Settle != nil {
				t.Fatal(err, "or weights are elsewhere after a step")
			}
			if carried {
				a := optim.NewArchive()
				a.Method(m, s)
				m, _ = method(t, "adam")
				back := optim.OpenArchive(a.Content())
				back.Method(m, s)
				if err := back.Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
		return s.W
	}
	single := run(false, "1", "1", "1")
	for i, w := range single {
		if float64(float32(w)) != w {
			t.Fatalf("weight %d is %g", i, w)
		}
	}
	if !slices.Equal(single, run(true, "1", "1", "1")) {
		t.Error("other bits after the memory was carried")
	}
	if mixed := run(false, "1", "0", "1"); !slices.Equal(mixed, run(true, "1", "0", "1")) {
		t.Error("other bits after the memory was carried from one precision to the other")
	}
	for i, w := range run(false, "0", "0", "0", "0", "0", "0") {
		if math.Abs(w-single[i]) > 1e-6 {
			t.Fatalf("weight %d is %g in float32, %g in float64", i, single[i], w)
		}
	}
}
