package kronecker

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
)

// TestBlocks: blocks are the matrices with their biases as the last column, and the rest is what is in none.
func TestBlocks(t *testing.T) {
	matrices, n := several()
	all, rest := matricesOf(&given{n: n, matrices: matrices}, n)
	flat := normals(newRand(1), n)
	in := inBlocks(matrices, n)
	at := 0
	for i, b := range all {
		want := blockIn(matrices[i], flat)
		if rows, cols := want.Dims(); b.m != rows || b.n != cols || b.at != at {
			t.Errorf("block %d is %d × %d from %d, want %d × %d from %d", i, b.m, b.n, b.at, rows, cols, at)
		}
		at += b.m * b.n
		got := make([]float64, b.size())
		if b.gather(got, flat); distance(mat.NewDense(b.m, b.n, got), want) != 0 {
			t.Errorf("block %d: gathered %v, want %v", i, got, want.RawMatrix().Data)
		}
	}
	outside := make([]bool, n)
	last := 0
	for _, r := range rest {
		if r.First < last || r.Last <= r.First {
			t.Errorf("the rest %v", rest)
		}
		for k := r.First; k < r.Last; k++ {
			outside[k] = true
		}
		last = r.Last
	}
	for k := range n {
		if in[k] == outside[k] {
			t.Errorf("number %d: in a block %v, in the rest %v", k, in[k], outside[k])
		}
	}
	if _, rest := matricesOf(&given{n: 3}, 3); !slices.Equal(rest, []optim.Span{{First: 0, Last: 3}}) {
		t.Errorf("without matrices the rest is %v", rest)
	}
}

// TestAdd: rows of a block are added where they belong, whatever strips they come in.
func TestAdd(t *testing.T) {
	matrices, n := several()
	all, _ := matricesOf(&given{n: n, matrices: matrices}, n)
	rng := newRand(2)
	for i, b := range all {
		x, flat := normal(rng, b.m, b.n), normals(rng, n)
		want := slices.Clone(flat)
		put(matrices[i], want, combined(1, blockIn(matrices[i], flat), -0.5, x))
		for from := 0; from < b.m; from += 2 {
			b.add(flat, -0.5, x.RawMatrix().Data, from, min(from+2, b.m))
		}
		if far := apart(flat, want); !(far <= 1e-15) {
			t.Errorf("block %d is %.1e off", i, far)
		}
	}
}

// TestProductsOfStrips holds the products of any strip of rows against the whole ones.
func TestProductsOfStrips(t *testing.T) {
	rng := newRand(3)
	for _, size := range [][2]int{{1, 1}, {1, 6}, {6, 1}, {5, 7}, {9, 4}} {
		b := block{m: size[0], n: size[1]}
		x, left, right := normal(rng, b.m, b.n), normal(rng, b.m, b.m), normal(rng, b.n, b.n)
		for from := range b.m {
			for to := from + 1; to <= b.m; to++ {
				for name, c := range map[string]struct {
					do   func(dst []float64)
					want *mat.Dense
				}{
					"AX":  {func(dst []float64) { b.leftTo(dst, blas.NoTrans, left.RawMatrix().Data, x.RawMatrix().Data, from, to) }, mul(left, x)},
					"AᵀX": {func(dst []float64) { b.leftTo(dst, blas.Trans, left.RawMatrix().Data, x.RawMatrix().Data, from, to) }, mul(left.T(), x)},
					"XB":  {func(dst []float64) { b.rightTo(dst, x.RawMatrix().Data, right.RawMatrix().Data, from, to) }, mul(x, right)},
				} {
					dst := make([]float64, b.m*b.n)
					for i := range dst {
						dst[i] = math.NaN()
					}
					c.do(dst)
					for i := range b.m {
						for j := range b.n {
							switch v := dst[i*b.n+j]; {
							case i < from || i >= to:
								if !math.IsNaN(v) {
									t.Fatalf("%s %v, rows %d to %d: row %d is touched", name, size, from, to, i)
								}
							case !(math.Abs(v-c.want.At(i, j)) <= 1e-14):
								t.Fatalf("%s %v, rows %d to %d: entry %d, %d is %g, want %g", name, size, from, to, i, j, v, c.want.At(i, j))
							}
						}
					}
				}
			}
		}
	}
}

// TestFactorsTakeGradientsIn: F becomes βF + GGᵀ or βF + GᵀG, on and above the diagonal, in one strip or in several, for the
// multiplications that the strips take.
func TestFactorsTakeGradientsIn(t *testing.T) {
	rng := newRand(4)
	for _, size := range [][2]int{{1, 3}, {5, 7}, {40, 900}, {900, 40}} {
		b := block{m: size[0], n: size[1]}
		g, beta := normal(rng, b.m, b.n), 0.75
		gt := mat.DenseCopyOf(g.T())
		for _, outputs := range []bool{true, false} {
			d, side := b.n, mul(g.T(), g)
			if outputs {
				d, side = b.m, mul(g, g.T())
			}
			if d > 100 {
				continue
			}
			old := spd(rng, d)
			f := factorOf(old, identity(d))
			var work tasks
			var price float64
			if outputs {
				price = f.addOutputs(&work, &b, &beta, g.RawMatrix().Data, gt.RawMatrix().Data)
			} else {
				price = f.addInputs(&work, &b, &beta, g.RawMatrix().Data)
			}
			work.do(&optim.State{Run: inAnyOrder})
			if far := distance(upperOf(f.F, d), combined(beta, old, 1, side)); !(far <= 1e-13*float64(b.m*b.n)) {
				t.Errorf("%v, outputs %v: off by %.1e", size, outputs, far)
			}
			long, cost := float64(b.m*b.n/d), 0.0
			strips(d, b.m*b.n, func(from, to int) { cost += float64(to-from) * float64(d-from) * long })
			if price != cost {
				t.Errorf("%v, outputs %v: %g multiplications are charged, %g done", size, outputs, price, cost)
			}
		}
	}
}

// TestTasks are done once each, by one thread or several.
func TestTasks(t *testing.T) {
	for _, run := range []func(int, func(worker, i int)){nil, inAnyOrder} {
		done := make([]int, 5)
		var work tasks
		for i := range done {
			work.add(func() { done[i]++ })
		}
		for range 2 {
			work.do(&optim.State{Run: run})
		}
		if !slices.Equal(done, []int{2, 2, 2, 2, 2}) {
			t.Errorf("done %v times", done)
		}
	}
}
