package models

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/models/reduce"
)

// TestRowsAndMatrix holds products through rows, and the assembled matrix, of graphs and mixtures against hyper-dual
// numbers and against Pearlmutter's way.
func TestRowsAndMatrix(t *testing.T) {
	for seed := range uint64(60) {
		rows := 1 + int(seed*seed%90)
		p := randomProblem(t, seed, rows, true)
		t.Run(fmt.Sprintf("%d %s", seed, describe(p.n)), func(t *testing.T) { checkRows(t, p) })
	}
	for seed := range uint64(40) {
		p := randomMixture(t, seed, []int{1, 3, 9}[seed%3], false)
		t.Run(fmt.Sprintf("mixture %d %s", seed, describe(p.n)), func(t *testing.T) { checkRows(t, p) })
	}
	t.Run("mixed", func(t *testing.T) { checkRows(t, mixedProblem(t, 10)) })
}

func checkRows(t *testing.T, p problem) {
	n := p.n.Dim()
	g := hyperAll(p).g
	l := p.n.Linearize(p.w, p.x, p.t)
	got, want := make([]float64, n), make([]float64, n)
	l.GaussNewtonTo(want, p.d)
	l.GaussNewtonRowsTo(got, p.d)
	wantNear(t, "Gd by rows against Pearlmutter's", got, want, 1e-12)
	wantNear(t, "Gd by rows", got, times(g, p.d), 1e-11)

	m := spoiled(n)
	assembleTo(t, l, m)
	wantNear(t, "matrix", upper(m), upper(g), 1e-11)
	l.GaussNewtonDiagTo(want)
	wantNear(t, "its diagonal", diagonal(m), want, 1e-12)
	wantNear(t, "its product", times(m, p.d), got, 1e-12)
	if n < 100 {
		wantSemidefinite(t, m)
	}
}

func assembleTo(tb testing.TB, l *Linearization, dst *mat.SymDense) {
	if err := l.GaussNewtonMatrixTo(dst, nil); err != nil {
		tb.Fatal(err)
	}
}

// TestAssemblyIsWatched: after every part, and given up when the watcher says so.
func TestAssemblyIsWatched(t *testing.T) {
	for _, outputs := range []int{1, 3} {
		checkWatched(t, randomData(t, Chain(3, []int{20}, outputs, Tanh, Sigmoid, SquaredError, SkipAll), rand.New(rand.NewPCG(5, 2)), 8*reduce.BlockRows+20))
	}
}

func checkWatched(t *testing.T, p problem) { // of 9 blocks
	t.Helper()
	l, enough := p.n.Linearize(p.w, p.x, p.t), errors.New("enough")
	l.matrix = newAssembly(l)
	holdBlocks(l.matrix, 2)
	for stop := 1; stop <= 6; stop++ {
		calls := 0
		err := l.GaussNewtonMatrixTo(mat.NewSymDense(p.n.Dim(), nil), func(part, parts int) error {
			if calls++; part != calls || parts != 5 {
				t.Errorf("part %d of %d after call %d", part, parts, calls)
			}
			if part == stop {
				return enough
			}
			return nil
		})
		if calls != min(stop, 5) || (err == enough) != (stop <= 5) {
			t.Errorf("%v after %d calls, expected %d", err, calls, stop)
		}
		if l.matrix.dst.Data != nil {
			t.Error("the caller's matrix is held on to")
		}
	}
}

// holdBlocks makes as many blocks a part of the assembly, each of which is told.
func holdBlocks(a *assembly, count int) {
	a.units = count
	if a.nodes != nil {
		a.nodes.units, a.nodes.each = a.nodes.units[:min(count, len(a.nodes.units))], 1
	}
}

// spoiled returns a matrix of NaN, to be overwritten.
func spoiled(n int) *mat.SymDense {
	m := make([]float64, n*n)
	for i := range m {
		m[i] = math.NaN()
	}
	return mat.NewSymDense(n, m)
}

// upper returns the numbers on and above the diagonal.
func upper(m *mat.SymDense) []float64 {
	var all []float64
	raw := m.RawSymmetric()
	for i := range raw.N {
		all = append(all, raw.Data[i*raw.Stride:][i:raw.N]...)
	}
	return all
}

// TestRowsInAnyMemory: the same bits for any number of threads, with nothing kept, and however many units a
// panel holds; into a view of a larger matrix too.
func TestRowsInAnyMemory(t *testing.T) {
	for _, out := range []Activation{Softmax, Sigmoid} {
		p := wideProblem(t, out, 130)
		n := p.n.Dim()
		l := p.n.Linearize(p.w, p.x, p.t)
		product, matrix := make([]float64, n), spoiled(n)
		l.GaussNewtonRowsTo(product, p.d)
		assembleTo(t, l, matrix)
		for _, c := range []struct {
			threads int
			memory  int64
			units   int // 0: as many as there is room for
		}{{1, 1, 2}, {3, 0, 2}, {3, 0, 1}, {3, 1, 0}} {
			before := runtime.GOMAXPROCS(c.threads)
			pool := reduce.NewPool(c.threads)
			l := p.n.Bind(p.x, p.t, Options{Pool: pool, Memory: c.memory})
			l.Update(p.w)
			if c.units > 0 {
				l.matrix = newAssembly(l)
				holdBlocks(l.matrix, c.units)
			}
			got, view := make([]float64, n), spoiled(n+3).SliceSym(2, n+2).(*mat.SymDense)
			for range 2 {
				l.GaussNewtonRowsTo(got, p.d)
			}
			assembleTo(t, l, view)
			what := fmt.Sprintf("%v, %+v", out, c)
			wantSameBits(t, what+": product", got, product)
			wantSameBits(t, what+": matrix", upper(view), upper(matrix))
			pool.Close()
			runtime.GOMAXPROCS(before)
		}
	}
}

// TestMatrixOfManyOutputs: a block of data is taken in pieces where the nodes are so many.
func TestMatrixOfManyOutputs(t *testing.T) {
	for _, out := range []Activation{Softmax, Sigmoid} {
		p := randomData(t, Chain(2, []int{1}, 300, Tanh, out, SquaredError, SkipNone), rand.New(rand.NewPCG(7, 2)), 45)
		l, m := p.n.Linearize(p.w, p.x, p.t), spoiled(p.n.Dim())
		assembleTo(t, l, m)
		if l.matrix.nodes.perBlock() < 2 {
			t.Fatal("a block is one piece")
		}
		want := make([]float64, p.n.Dim())
		l.GaussNewtonTo(want, p.d)
		wantNear(t, out.String()+": its product", times(m, p.d), want, 1e-12)
	}
}

// wideProblem has outputs of dense and sparse sources, whose rows are block-angular unless they are softmax's,
// a layer wider than a tile of the matrix product, and more weights below the outputs than such a tile is wide.
func wideProblem(tb testing.TB, out Activation, rows int) problem {
	a := Chain(3, []int{100}, 3, Tanh, out, SquaredError, SkipAll)
	a.Connections[1].Sources = WindowSources(3, 3, 2)
	return randomData(tb, a, rand.New(rand.NewPCG(5, 2)), rows)
}

func TestRowsWhereThereIsLittle(t *testing.T) {
	for _, c := range []struct {
		a    Architecture
		rows int
	}{
		{Chain(3, nil, 4, Identity, Identity, SquaredError, SkipNone), 1},
		{Chain(3, nil, 4, Identity, Softmax, CrossEntropy, SkipNone), 65},
		{Chain(1, []int{1}, 1, Tanh, Identity, SquaredError, SkipNone), 1},
		{Chain(2, []int{70}, 1, Tanh, Sigmoid, CrossEntropy, SkipDirect), 3},
	} {
		checkRows(t, randomData(t, c.a, rand.New(rand.NewPCG(3, 2)), c.rows))
	}
}

// TestRowCost counts the multiplications of matrix products; those that form rows, and those of row·v and α·row, are
// none. The assembly does what it needs and the lower triangles of the squares on the diagonal.
func TestRowCost(t *testing.T) {
	const rows = 138
	for seed := range uint64(60) {
		p := randomProblem(t, seed, rows, true)
		if seed >= 40 {
			p = randomMixture(t, seed, rows, false)
		}
		n, cost := p.n, p.n.Cost()
		outputs := float64(n.Outputs())
		product, matrix := 0.0, 0.0 // outside of matrix products
		for _, b := range n.Blocks() {
			weights := float64(b.Size())
			if b.To < n.net.Last() {
				product += 3 * outputs * weights
			}
			if n.Outputs() == 1 {
				matrix += weights
			}
		}
		l := n.Linearize(p.w, p.x, p.t)
		dst, m := make([]float64, n.Dim()), mat.NewSymDense(n.Dim(), nil)
		triangle := func(n int) float64 { return float64(n * (n - 1) / 2) }
		if n.Outputs() == 1 {
			for i := 0; i < n.Dim(); i += assemblyRows {
				matrix -= triangle(min(assemblyRows, n.Dim()-i))
			}
		} else {
			matrix += float64(n.net.NodeCount() * n.Dim()) // the columns that are formed
			for _, b := range n.net.Blocks {
				for node := range b.Rows {
					from, to := b.RowSpan(node)
					matrix -= triangle(to - from)
				}
			}
		}
		for _, c := range []struct {
			what string
			run  func()
			want float64
		}{
			{"product", func() { l.GaussNewtonRowsTo(dst, p.d) }, cost.Rows - product},
			{"matrix", func() { assembleTo(t, l, m) }, cost.Matrix - matrix},
		} {
			if got := multiplications(l, c.run) / rows; math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%s: the %s takes %g multiplications a row, Cost says %g", describe(n), c.what, got, c.want)
			}
		}
	}
}
