package cholesky

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

func noise(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// definite returns the upper triangle of XᵀX for a random X, in rows of n + gap numbers; everything else is NaN.
func definite(rng *rand.Rand, n, gap int) (blas64.Symmetric, *mat.SymDense) {
	var full mat.SymDense
	full.SymOuterK(1/float64(n), mat.NewDense(n, n+20, noise(rng, n*(n+20))))
	a := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n + gap, Data: make([]float64, n*(n+gap)-gap)}
	for i := range a.Data {
		a.Data[i] = math.NaN()
	}
	for i := range n {
		for j := i; j < n; j++ {
			a.Data[i*a.Stride+j] = full.At(i, j)
		}
	}
	return a, &full
}

// TestAgreesWithGonum: factor, solution and condition number, with A itself left as it is.
func TestAgreesWithGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	var c Factor
	for _, n := range []int{1, 2, 5, 23, 24, 25, 100, 239, 240, 241, 500, 745} {
		a, full := definite(rng, n, rng.IntN(3))
		before := slices.Clone(a.Data)
		const mu = 0.01
		if ok, err := c.Factorize(a, mu, nil); !ok || err != nil {
			t.Fatalf("n = %d: %v, %v", n, ok, err)
		}
		for i := range n {
			full.SetSym(i, i, full.At(i, i)+mu)
		}
		var want mat.Cholesky
		if !want.Factorize(full) {
			t.Fatal("gonum's factor is indefinite")
		}
		var l mat.TriDense
		want.LTo(&l)
		for i := range n {
			for j := range n {
				got, expected := a.Data[i*a.Stride+j], before[i*a.Stride+j]
				if j < i {
					expected = l.At(i, j)
				}
				if math.Abs(got-expected) > 1e-12 {
					t.Fatalf("n = %d: element %d,%d is %g, expected %g", n, i, j, got, expected)
				}
			}
			if math.Abs(c.diagonal[i]-l.At(i, i)) > 1e-12 {
				t.Fatalf("n = %d: diagonal %d is %g, expected %g", n, i, c.diagonal[i], l.At(i, i))
			}
		}
		b, x := noise(rng, n), make([]float64, n)
		c.SolveTo(x, b)
		var solution mat.VecDense
		if err := want.SolveVecTo(&solution, mat.NewVecDense(n, b)); err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if math.Abs(x[i]-solution.AtVec(i)) > 1e-9*(1+math.Abs(solution.AtVec(i))) {
				t.Fatalf("n = %d: x[%d] = %g, expected %g", n, i, x[i], solution.AtVec(i))
			}
		}
		if got, err := c.Condition(nil); err != nil || math.Abs(got/want.Cond()-1) > 1e-8 {
			t.Errorf("n = %d: condition %g, %v, expected %g", n, got, err, want.Cond())
		}
	}
}

// The numbers of elements are those of one processor, whatever there are.
func TestDoesNotDependOnProcessors(t *testing.T) {
	var want []float64
	for _, processors := range []int{1, 2, 3, 7} {
		a, _ := definite(rand.New(rand.NewPCG(19, 20)), 700, 0)
		for i := range a.Data {
			if i%a.Stride < i/a.Stride {
				a.Data[i] = 0
			}
		}
		old := runtime.GOMAXPROCS(processors)
		var c Factor
		ok, err := c.Factorize(a, 0, nil)
		runtime.GOMAXPROCS(old)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if want == nil {
			want = a.Data
		}
		if !slices.Equal(a.Data, want) {
			t.Errorf("%d processors: other numbers", processors)
		}
	}
}

// TestIndefinite: at the first tile, at a later one, and at the last number.
func TestIndefinite(t *testing.T) {
	for _, at := range []int{0, 10, 250, 599} {
		for _, value := range []float64{-1, 0, math.NaN()} {
			a, _ := definite(rand.New(rand.NewPCG(21, 22)), 600, 0)
			for j := range at {
				a.Data[j*a.Stride+at] = 0
			}
			for j := at; j < a.N; j++ {
				a.Data[at*a.Stride+j] = 0
			}
			a.Data[at*a.Stride+at] = value
			var c Factor
			if ok, err := c.Factorize(a, 0, nil); ok || err != nil {
				t.Errorf("%g at %d: %v, %v", value, at, ok, err)
			}
			if ok, err := c.Factorize(a, 2, nil); !math.IsNaN(value) && !ok || err != nil {
				t.Errorf("%g at %d and 2: %v, %v", value, at, ok, err)
			}
		}
	}
}

// TestIsWatched: by the caller's goroutine, after every part, and given up when the watcher says so.
func TestIsWatched(t *testing.T) {
	const n = 2100
	a := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: make([]float64, n*n)}
	for i := range n {
		a.Data[i*n+i] = 1
	}
	enough := errors.New("enough")
	for stop := range 3 {
		var c Factor
		calls := 0
		ok, err := c.Factorize(a, 0, func(part, parts int) error {
			if calls++; part != calls || parts != 2 {
				t.Errorf("part %d of %d after call %d", part, parts, calls)
			}
			if part == stop {
				return enough
			}
			return nil
		})
		if want := stop != 1; ok != want || (err == nil) != want || calls != 1 {
			t.Errorf("stop at %d: %v, %v after %d calls", stop, ok, err, calls)
		}
		if stop == 1 {
			continue
		}
		if _, err := c.Condition(func() error { return enough }); !errors.Is(err, enough) {
			t.Errorf("condition: %v", err)
		}
	}
}

func BenchmarkFactor(b *testing.B) {
	for _, n := range []int{1000, 3000, 6066} {
		a := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: make([]float64, n*n)}
		x := make([]float64, n)
		for i := range n {
			for j := i; j < n; j++ {
				a.Data[i*n+j] = math.Sin(float64(i*j)) / float64(n)
			}
			a.Data[i*n+i] += 4
			x[i] = 1
		}
		var c Factor
		for name, run := range map[string]func(){
			"factorize": func() {
				if ok, err := c.Factorize(a, 0, nil); !ok || err != nil {
					b.Fatal(ok, err)
				}
			},
			"solve":     func() { c.SolveTo(x, x) },
			"condition": func() { _, _ = c.Condition(nil) },
		} {
			_, _ = c.Factorize(a, 0, nil)
			b.Run(fmt.Sprintf("n=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
			})
		}
	}
}
