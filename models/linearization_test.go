package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/alloctest"
	"newtop/models/reduce"
)

// mixedProblem has every kind of layer and connection, layers wider than a tile of the matrix product,
// and a number of rows that leaves a last block which is not full.
func mixedProblem(tb testing.TB, rows int) problem {
	a := Architecture{
		Inputs: 7,
		Layers: []Layer{{Nodes: 70, Activation: Tanh}, {Nodes: 5, Activation: Softmax},
			{Nodes: 9, Activation: Softplus}, {Nodes: 3, Activation: ReLU}, {Nodes: 4, Activation: Softmax}},
		Connections: append(joins(1, 0, 2, 0, 3, 1, 4, 2, 4, 3, 5, 4), Connection{To: 2, From: 1, Sources: WindowSources(5, 70, 20)},
			Connection{To: 5, Sources: RandomSources(4, 7, 3, rand.New(rand.NewPCG(1, 1)))}),
		Loss: CrossEntropy,
	}
	return randomData(tb, a, rand.New(rand.NewPCG(8, 9)), rows)
}

// mixtureProblem has the five experts of [MD, §3] with gates on a feature that is no input.
func mixtureProblem(tb testing.TB, rows int) problem {
	rng := rand.New(rand.NewPCG(6, 5))
	hues := make([]float64, 50)
	for i := range hues {
		hues[i] = rng.NormFloat64()
	}
	a := Experts(16, []int{16}, 10, 5, Tanh, Softmax, CrossEntropy, Mixture{Feature: 17, Gates: DefaultGates(hues, 5, 0)})
	return randomData(tb, a, rng, rows)
}

// joins returns dense connections from pairs of numbers, to and from.
func joins(pairs ...int) []Connection {
	var all []Connection
	for ; len(pairs) > 0; pairs = pairs[2:] {
		all = append(all, Connection{To: pairs[0], From: pairs[1]})
	}
	return all
}

// everything returns all numbers that a Linearization computes.
func everything(l *Linearization, p problem) []float64 {
	n := p.n.Dim()
	l.Update(p.w)
	e, other := l.Evaluation(), l.EvaluateAt(p.d)
	all := []float64{e.Loss, e.SquaredError, float64(e.Misclassified), other.Loss, other.SquaredError, float64(other.Misclassified)}
	dst := make([]float64, n)
	for _, f := range []func(){
		func() { l.GradientTo(dst) }, func() { l.HessianTo(dst, p.d) },
		func() { l.GaussNewtonTo(dst, p.d) }, func() { l.GaussNewtonDiagTo(dst) },
	} {
		f()
		all = append(all, dst...)
	}
	return all
}

func wantSameBits(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, expected %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s: number %d is %.17g, expected the bits of %.17g", what, i, got[i], want[i])
		}
	}
}

// TestSameBits: neither threads, nor GOMAXPROCS, nor how much is kept changes a bit.
func TestSameBits(t *testing.T) {
	for _, p := range []problem{mixedProblem(t, 1), mixedProblem(t, 63), mixedProblem(t, 64), mixedProblem(t, 65),
		mixedProblem(t, 64*35+13), mixtureProblem(t, 3), mixtureProblem(t, 64*9+13)} {
		rows := p.t.RawMatrix().Rows
		want := everything(p.n.Bind(p.x, p.t, Options{}), p)
		row := int64(8 * p.n.net.TapeSize())
		check := func(threads int, memory int64) {
			pool := reduce.NewPool(threads)
			defer pool.Close()
			l := p.n.Bind(p.x, p.t, Options{Pool: pool, Memory: memory})
			what := fmt.Sprintf("%d rows, %d threads, %d bytes", rows, threads, memory)
			wantSameBits(t, what, everything(l, p), want)
		}
		for _, memory := range []int64{0, 1, 64*row - 1, 64 * row, int64(rows) * row} {
			check(3, memory)
		}
		for _, threads := range []int{1, 2, 3, 8} {
			check(threads, reduce.BlockRows*20*row)
		}
		for _, procs := range []int{1, 4} {
			before := runtime.GOMAXPROCS(procs)
			pool := reduce.NewPool(0)
			if pool.Threads() != procs {
				t.Errorf("%d threads, expected %d", pool.Threads(), procs)
			}
			wantSameBits(t, fmt.Sprintf("GOMAXPROCS %d", procs), everything(p.n.Bind(p.x, p.t, Options{Pool: pool}), p), want)
			pool.Close()
			runtime.GOMAXPROCS(before)
		}
	}
}

func TestKeptBlocks(t *testing.T) {
	p := mixedProblem(t, reduce.BlockRows*3+10)
	row := int64(8 * p.n.net.TapeSize())
	for _, c := range []struct {
		memory int64
		kept   int
	}{
		{0, 4}, {1, 0}, {reduce.BlockRows*row - 1, 0}, {reduce.BlockRows * row, 1},
		{(3*reduce.BlockRows + 9) * row, 3}, {(3*reduce.BlockRows+10)*row - 1, 3}, {(3*reduce.BlockRows + 10) * row, 4},
	} {
		l := p.n.Bind(p.x, p.t, Options{Memory: c.memory})
		if l.kept != c.kept {
			t.Errorf("memory %d: %d blocks kept, expected %d", c.memory, l.kept, c.kept)
		}
		used := int64(0)
		l.allocate()
		for _, tape := range l.computation.(*tapes[float64]).saved {
			used += int64(tape.Rows) * row
		}
		if c.memory > 0 && used > c.memory {
			t.Errorf("memory %d: %d bytes used", c.memory, used)
		}
	}
}

// TestMemoryOfPasses holds what passes take to the formula of docs/cluster.md.
func TestMemoryOfPasses(t *testing.T) {
	for _, c := range []struct {
		inputs, outputs int
		hidden          []int
		act, out        Activation
		loss            LossFunction
		numbers         int
	}{
		{16, 26, []int{70, 50}, Tanh, Softmax, CrossEntropy, 309},
		{16, 26, []int{978, 978}, Tanh, Softmax, CrossEntropy, 3981},
		{784, 10, []int{1000, 1000}, Tanh, Softmax, CrossEntropy, 4805},
		{3, 1, []int{5, 4}, Softplus, Identity, SquaredError, 3 + 2*10 + 9},
	} {
		n, err := NewNetwork(Chain(c.inputs, c.hidden, c.outputs, c.act, c.out, c.loss, SkipNone))
		if err != nil {
			t.Fatal(err)
		}
		if got := n.net.TapeSize(); got != c.numbers {
			t.Errorf("%d-%v-%d: %d numbers a row, expected %d", c.inputs, c.hidden, c.outputs, got, c.numbers)
		}
	}
}

// TestPassesAreRetaken: a Linearization that was asked for no product after an Update keeps no passes in the next, and
// its products have the same bits all the same.
func TestPassesAreRetaken(t *testing.T) {
	p := mixedProblem(t, 3*reduce.BlockRows+13)
	n, other := p.n.Dim(), make([]float64, len(p.w))
	want, got := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	wanted, dst := make([]float64, n), make([]float64, n)
	for _, memory := range []int64{0, 1, 200 * int64(8*p.n.net.TapeSize())} {
		l := p.n.Bind(p.x, p.t, Options{Memory: memory})
		l.Update(p.w)
		l.HessianTo(wanted, p.d)
		assembleTo(t, l, want)
		for _, product := range []func(){
			func() { l.HessianTo(dst, p.d) },
			func() { assembleTo(t, l, got) },
		} {
			l.Update(other)
			l.Update(p.w) // after an Update without products
			if l.current {
				t.Error("passes are kept that nobody asked for")
			}
			product()
			l.Update(p.w)
			if !l.current {
				t.Error("passes are not kept though products were asked for")
			}
		}
		wantSameBits(t, fmt.Sprintf("memory %d, product", memory), dst, wanted)
		wantSameBits(t, fmt.Sprintf("memory %d, matrix", memory), got.RawSymmetric().Data, want.RawSymmetric().Data)
	}
}

// TestEvaluateAt: the same numbers as Update's, and what Update kept stays.
func TestEvaluateAt(t *testing.T) {
	for i, memory := range []int64{0, 1, 0, 1} {
		p := []problem{mixedProblem(t, 300), mixtureProblem(t, 300)}[i/2]
		l, other := p.n.Bind(p.x, p.t, Options{Memory: memory}), p.n.Linearize(p.d, p.x, p.t)
		l.Update(p.w)
		before, after := make([]float64, p.n.Dim()), make([]float64, p.n.Dim())
		l.HessianTo(before, p.d)
		if got, want := l.EvaluateAt(p.d), other.Evaluation(); got != want {
			t.Errorf("EvaluateAt: %+v, expected %+v", got, want)
		}
		l.HessianTo(after, p.d)
		wantSameBits(t, "Hd after EvaluateAt", after, before)
		if l.Evaluation() != l.EvaluateAt(p.w) {
			t.Errorf("Evaluation: %+v, EvaluateAt: %+v", l.Evaluation(), l.EvaluateAt(p.w))
		}
	}
}

// TestNoAllocation also has layers so wide that gonum's Dgemm would start goroutines, were it given them
// whole.
func TestNoAllocation(t *testing.T) {
	wide := Chain(300, []int{280}, 3, Tanh, Softmax, CrossEntropy, SkipNone)
	for _, p := range []problem{mixedProblem(t, 100), mixtureProblem(t, 100), randomData(t, wide, rand.New(rand.NewPCG(1, 3)), 70),
		wideProblem(t, Softmax, 70), wideProblem(t, Sigmoid, 70)} {
		checkNoAllocation(t, p)
	}
}

func checkNoAllocation(t *testing.T, p problem) {
	for _, threads := range []int{1, 3} {
		pool := reduce.NewPool(threads)
		defer pool.Close()
		dst := make([]float64, p.n.Dim())
		for _, memory := range []int64{0, 1} {
			l := p.n.Bind(p.x, p.t, Options{Pool: pool, Memory: memory})
			l.Update(p.w)
			products := map[string]func(){
				"Update":            func() { l.Update(p.w) },
				"EvaluateAt":        func() { l.EvaluateAt(p.d) },
				"GradientTo":        func() { l.GradientTo(dst) },
				"HessianTo":         func() { l.HessianTo(dst, p.d) },
				"GaussNewtonTo":     func() { l.GaussNewtonTo(dst, p.d) },
				"GaussNewtonDiagTo": func() { l.GaussNewtonDiagTo(dst) },
			}
			if p.n.Dim() < 2000 {
				m := mat.NewSymDense(p.n.Dim(), nil)
				products["GaussNewtonRowsTo"] = func() { l.GaussNewtonRowsTo(dst, p.d) }
				products["GaussNewtonMatrixTo"] = func() { assembleTo(t, l, m) }
			}
			for name, f := range products {
				if count := alloctest.PerRun(2, f); count != 0 {
					t.Errorf("%s on %d threads, memory %d: %g allocations", name, threads, memory, count)
				}
			}
		}
	}
}

// TestInputsStay: nothing a caller passes in is modified, nor kept when that matters.
func TestInputsStay(t *testing.T) {
	p := mixedProblem(t, 200)
	w, d := append([]float64(nil), p.w...), append([]float64(nil), p.d...)
	x, targets := mat.DenseCopyOf(p.x), mat.DenseCopyOf(p.t)
	l := p.n.Bind(p.x, p.t, Options{})
	want := everything(l, p)
	wantSameBits(t, "w", p.w, w)
	wantSameBits(t, "d", p.d, d)
	wantSameBits(t, "x", p.x.RawMatrix().Data, x.RawMatrix().Data)
	wantSameBits(t, "t", p.t.RawMatrix().Data, targets.RawMatrix().Data)
	before, after := make([]float64, p.n.Dim()), make([]float64, p.n.Dim())
	l.HessianTo(before, p.d)
	for i := range p.w {
		p.w[i] = math.NaN()
	}
	l.HessianTo(after, p.d)
	wantSameBits(t, "Hd after w changed", after, before)
	copy(p.w, w)
	wantSameBits(t, "used twice", everything(l, p), want)
}

// TestViews: x and t may be views of larger matrices.
func TestViews(t *testing.T) {
	view := func(m *mat.Dense) *mat.Dense {
		r, c := m.Dims()
		large := mat.NewDense(r+3, c+4, nil)
		v := large.Slice(1, r+1, 2, c+2).(*mat.Dense)
		v.Copy(m)
		return v
	}
	for _, p := range []problem{mixedProblem(t, 100), mixtureProblem(t, 100)} {
		want := everything(p.n.Bind(p.x, p.t, Options{}), p)
		wantSameBits(t, "views", everything(p.n.Bind(view(p.x), view(p.t), Options{Memory: 1}), p), want)
		wantSameBits(t, "the gradient asked for late", everything(p.n.Bind(p.x, p.t, Options{Products: true}), p), want)
	}
}

func TestOutputTo(t *testing.T) {
	for seed := range uint64(40) {
		p := randomProblem(t, seed, 70, true)
		if seed >= 30 {
			p = randomMixture(t, seed, 70, false)
		}
		got := mat.NewDense(70, p.n.Outputs(), nil)
		p.n.OutputTo(got, p.w, p.x)
		for row := range 70 {
			outputs := outputsOf(p, row)
			wantNear(t, describe(p.n), got.RawRowView(row), outputs[len(outputs)-1], 1e-12)
		}
	}
}

// TestOutputs: threads and other precisions of the rows change no bit, and passes in float32 differ by rounding.
func TestOutputs(t *testing.T) {
	pool := reduce.NewPool(2)
	defer pool.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	wide := randomData(t, Chain(5, []int{512, 512}, 3, Tanh, Softmax, CrossEntropy, SkipNone), rng, 600)
	for _, p := range []problem{mixedProblem(t, 500).inSingle(), mixtureProblem(t, 300).inSingle(), wide.inSingle()} {
		rows, _ := p.x.Dims()
		outputs := func(of *Network, pool *reduce.Pool, x Matrix) []float64 {
			u := mat.NewDense(rows, of.Outputs(), nil)
			o := of.NewOutputs(p.w, pool)
			o.To(u.Slice(0, 1, 0, of.Outputs()).(*mat.Dense), Every(x, 0, 1, 1)) // a smaller block first
			o.To(u, x)
			return u.RawMatrix().Data
		}
		want := outputs(p.n, nil, p.x)
		for _, n := range []*Network{p.n, p.n.In(Single)} {
			alone := outputs(n, nil, p.x)
			wantNear(t, describe(n), alone, want, 2e-5)
			for _, got := range [][]float64{outputs(n, pool, p.x), outputs(n, pool, ToSingle(p.x))} {
				wantSameBits(t, describe(n), got, alone)
			}
		}
	}
}

func TestMisuse(t *testing.T) {
	p := mixedProblem(t, 10)
	n := p.n
	l, bound := n.Linearize(p.w, p.x, p.t), n.Bind(p.x, p.t, Options{})
	batch := n.NewBatch(p.x, p.t, 4)
	dst, short := make([]float64, n.Dim()), make([]float64, 3)
	closed := reduce.NewPool(2)
	closed.Close()
	closed.Close()
	large := randomData(t, Chain(MaxMatrixDim, nil, 1, Identity, Identity, SquaredError, SkipNone), rand.New(rand.NewPCG(1, 2)), 1)
	parts, solo := mixedProblem(t, 3*reduce.BlockRows), &reduce.Part{Rows: 3 * reduce.BlockRows, Rank: 0, Size: 1, Joiner: deaf{}}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"models: Evaluation before Update", func() { bound.Loss() }},
		{"models: GradientTo before Update", func() { bound.GradientTo(dst) }},
		{"models: HessianTo before Update", func() { bound.HessianTo(dst, p.d) }},
		{"models: GaussNewtonDiagTo before Update", func() { bound.GaussNewtonDiagTo(dst) }},
		{"models: Update: w has 3 numbers, the network", func() { bound.Update(short) }},
		{"models: EvaluateAt: w has 3 numbers", func() { l.EvaluateAt(short) }},
		{"models: GradientTo: dst has 3 numbers", func() { l.GradientTo(short) }},
		{"models: HessianTo: v has 3 numbers", func() { l.HessianTo(dst, short) }},
		{"models: GaussNewtonTo: dst has 3 numbers", func() { l.GaussNewtonTo(short, p.d) }},
		{"models: Bind: no rows", func() { n.Bind(&mat.Dense{}, p.t, Options{}) }},
		{"models: Bind: x is 10 × 4, expected 10 × 7", func() { n.Bind(p.t, p.t, Options{}) }},
		{"models: Bind: t is 10 × 7, expected 10 × 4", func() { n.Bind(p.x, p.x, Options{}) }},
		{"models: Bind: memory of -1 bytes", func() { n.Bind(p.x, p.t, Options{Memory: -1}) }},
		{"reduce: use of a closed Pool", func() { n.Bind(p.x, p.t, Options{Pool: closed}) }},
		{"models: GatesAt: w has 3 numbers", func() { n.GatesAt(short) }},
		{"models: GateSharesTo: dst has 3 numbers, the network 0 gates", func() { n.GateSharesTo(short, p.w, p.x) }},
		{"models: RandomSources: 5 of 4 sources", func() { RandomSources(1, 4, 5, nil) }},
		{"models: WindowSources: windows of 5 of 4 sources", func() { WindowSources(1, 4, 5) }},
		{"models: Experts: 0 gates for 2 experts", func() { Experts(1, nil, 1, 2, Tanh, Tanh, SquaredError, Mixture{}) }},
		{"models: DefaultGates: 0 gates", func() { DefaultGates(nil, 0, 0) }},
		{"models: OutputTo: dst is 10 × 7", func() { n.OutputTo(p.x, p.w, p.x) }},
		{"models: InitTo: w has 3 numbers", func() { n.InitTo(short, Init{}, nil) }},
		{"models: NewBatch: batches of 0 rows", func() { n.NewBatch(p.x, p.t, 0) }},
		{"models: GradientTo: 0 rows, expected 1 to 4", func() { batch.GradientTo(dst, p.w, nil) }},
		{"models: GradientTo: 5 rows, expected 1 to 4", func() { batch.GradientTo(dst, p.w, make([]int, 5)) }},
		{"models: GradientTo: row 10 of 10", func() { batch.GradientTo(dst, p.w, []int{10}) }},
		{"models: GradientTo: row -1 of 10", func() { batch.GradientTo(dst, p.w, []int{-1}) }},
		{"models: GradientSquaresTo: squares has 3 numbers", func() { batch.GradientSquaresTo(dst, short, p.w, []int{1}) }},
		{"models: GradientSquaresTo: row 10 of 10", func() { batch.GradientSquaresTo(dst, dst, p.w, []int{10}) }},
		{"models: FactorsTo: 0 rows, expected 1 to 4", func() { batch.FactorsTo(n.NewFactors(math.MaxInt), p.w, nil, nil) }},
		{"models: FactorsTo: 2 factors of 6 matrices", func() { batch.FactorsTo(n.NewFactors(math.MaxInt)[:2], p.w, []int{1}, nil) }},
		{"models: FactorsTo: factors of 0 and 0 numbers, matrix 0 needs 8² and 70²", func() { batch.FactorsTo(make([]Factors, 6), p.w, []int{1}, nil) }},
		{"models: GaussNewtonRowsTo before Update", func() { bound.GaussNewtonRowsTo(dst, p.d) }},
		{"models: GaussNewtonMatrixTo before Update", func() { bound.GaussNewtonMatrixTo(mat.NewSymDense(n.Dim(), nil), nil) }},
		{"models: GaussNewtonRowsTo: v has 3 numbers", func() { l.GaussNewtonRowsTo(dst, short) }},
		{"models: GaussNewtonMatrixTo: dst is 3 × 3", func() { l.GaussNewtonMatrixTo(mat.NewSymDense(3, nil), nil) }},
		{"models: GaussNewtonMatrixTo: 11001 weights, expected at most 11000", func() {
			large.n.Linearize(large.w, large.x, large.t).GaussNewtonMatrixTo(mat.NewSymDense(1, nil), nil)
		}},
		{"models: Bind: a part without a Joiner", func() {
			n.Bind(parts.x, parts.t, Options{Part: &reduce.Part{Rows: 3 * reduce.BlockRows, Rank: 0, Size: 1}})
		}},
		{"models: Bind: 288 rows, process 1 of 2 has 192 of 288", func() {
			n.Bind(parts.x, parts.t, Options{Part: &reduce.Part{Rows: 3 * reduce.BlockRows, Rank: 1, Size: 2, Joiner: deaf{}}})
		}},
		{"models: Bind: 0 rows, process 0 of 1 has 288 of 288", func() { n.Bind(nil, nil, Options{Part: solo}) }},
		{"models: GaussNewtonMatrixTo: dst is a view", func() {
			l := n.Bind(parts.x, parts.t, Options{Part: solo})
			l.Update(p.w)
			l.GaussNewtonMatrixTo(mat.NewSymDense(n.Dim()+1, nil).SliceSym(0, n.Dim()).(*mat.SymDense), nil)
		}},
	} {
		if got := panicOf(c.f); !strings.HasPrefix(got, c.want) {
			t.Errorf("panicked with %q, expected %q", got, c.want)
		}
	}
}
