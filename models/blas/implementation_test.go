package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/blas/testblas"

	"newtop/internal/alloctest"
	"newtop/internal/kernel"
)

// gonum's own tests: values, strides, what panics and with what words.
func TestImplementationPassesGonumsTests(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		b := Implementation{kernel: k}
		testblas.DdotTest(t, b)
		testblas.DaxpyTest(t, b)
		testblas.DscalTest(t, b)
		testblas.DgerTest(t, b)
		testblas.DgemvTest(t, b)
		testblas.TestDgemm(t, b)
		testblas.DsyrkTest(t, b)
		testblas.DtrsmTest(t, b)
	})
}

var (
	transposes = []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}
	uplos      = []blas.Uplo{blas.Upper, blas.Lower}
	factors    = []float64{0, 1, -1, 0.3}
)

func noise(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// near compares what two implementations left in the same slice of sums of some count of products of numbers
// below about 5; NaN must be where the other's are.
func near(got, want []float64, count int) error {
	for i, w := range want {
		if math.Abs(got[i]-w) <= 0x1p-46*float64(count+1) || math.IsNaN(got[i]) && math.IsNaN(w) {
			continue
		}
		return fmt.Errorf("number %d is %v, want %v", i, got[i], w)
	}
	return nil
}

func dgemmAgrees(rng *rand.Rand, k kernel.Kernel, tA, tB blas.Transpose, m, n, depth, gap int, alpha, beta float64) error {
	matrix := func(t blas.Transpose, rows, cols int) ([]float64, int) {
		if t != blas.NoTrans {
			rows, cols = cols, rows
		}
		return noise(rng, rows*(cols+gap)), cols + gap
	}
	a, lda := matrix(tA, m, depth)
	b, ldb := matrix(tB, depth, n)
	c, ldc := matrix(blas.NoTrans, m, n)
	if beta == 0 {
		c[0] = math.NaN()
	}
	want := slices.Clone(c)
	gonum.Implementation{}.Dgemm(tA, tB, m, n, depth, alpha, a, lda, b, ldb, beta, want, ldc)
	Implementation{kernel: k}.Dgemm(tA, tB, m, n, depth, alpha, a, lda, b, ldb, beta, c, ldc)
	if err := near(c, want, depth); err != nil {
		return fmt.Errorf("%v: Dgemm %c%c %d×%d×%d α %v β %v: %w", k, tA, tB, m, n, depth, alpha, beta, err)
	}
	return nil
}

func TestDgemmAgreesWithGonum(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(3, 4))
		sizes := [][3]int{{1, 1, 1}, {1, 40, 30}, {40, 1, 30}, {2, 3, 300}, {17, 33, 65}, {100, 30, 130}, {600, 110, 140},
			{70, 200, 140}, {90, 130, 600}}
		for _, size := range sizes {
			for _, tA := range transposes {
				for _, tB := range transposes {
					alpha, beta := factors[rng.IntN(4)], factors[rng.IntN(4)]
					if err := dgemmAgrees(rng, k, tA, tB, size[0], size[1], size[2], rng.IntN(3), alpha, beta); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
}

func FuzzDgemm(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint16(5), uint16(7), uint16(9), uint8(0))
	f.Add(uint64(2), uint8(7), uint16(100), uint16(50), uint16(200), uint8(1))
	f.Add(uint64(3), uint8(77), uint16(1), uint16(1), uint16(600), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, mode uint8, m, n, depth uint16, gap uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		rows, cols, inner := int(m%160), int(n%160), int(depth%300)
		tA, tB := transposes[mode%3], transposes[mode/3%3]
		alpha, beta := factors[mode/9%4], factors[mode/36%4]
		if rows == 0 || cols == 0 {
			return
		}
		for _, k := range kernel.Available() {
			if err := dgemmAgrees(rng, k, tA, tB, rows, cols, inner, int(gap%9)+1, alpha, beta); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestDsyrkAgreesWithGonum(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, size := range [][2]int{{1, 1}, {5, 9}, {96, 10}, {97, 200}, {250, 150}} {
			n, depth := size[0], size[1]
			for _, ul := range uplos {
				for _, tA := range transposes {
					for _, beta := range factors {
						alpha, lda := factors[rng.IntN(4)], max(n, depth)+2
						a, got := noise(rng, lda*lda), noise(rng, n*(n+3))
						if beta == 0 && (ul == blas.Upper || tA == blas.NoTrans) { // else gonum multiplies by 0
							for i := range n {
								got[i*(n+3)+i] = math.NaN()
							}
						}
						want := slices.Clone(got)
						gonum.Implementation{}.Dsyrk(ul, tA, n, depth, alpha, a, lda, beta, want, n+3)
						Implementation{kernel: k}.Dsyrk(ul, tA, n, depth, alpha, a, lda, beta, got, n+3)
						if err := near(got, want, depth); err != nil {
							t.Errorf("Dsyrk %c%c %d×%d α %v β %v: %v", ul, tA, n, depth, alpha, beta, err)
						}
					}
				}
			}
		}
	})
}

func TestDtrsmAgreesWithGonum(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(7, 8))
		m, n := 75, 130
		lda := n + 1
		a := noise(rng, n*lda)
		for i := range a {
			a[i] /= float64(n)
		}
		for i := range n {
			a[i*lda+i]++
		}
		for _, side := range []blas.Side{blas.Left, blas.Right} {
			for _, ul := range uplos {
				for _, tA := range transposes {
					for _, d := range []blas.Diag{blas.Unit, blas.NonUnit} {
						for _, alpha := range factors {
							got := noise(rng, m*(n+2))
							want := slices.Clone(got)
							gonum.Implementation{}.Dtrsm(side, ul, tA, d, m, n, alpha, a, lda, want, n+2)
							Implementation{kernel: k}.Dtrsm(side, ul, tA, d, m, n, alpha, a, lda, got, n+2)
							if err := near(got, want, n); err != nil {
								t.Errorf("Dtrsm %c%c%c%c α %v: %v", side, ul, tA, d, alpha, err)
							}
						}
					}
				}
			}
		}
	})
}

func TestVectorFunctionsAgreeWithGonum(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(9, 10))
		b, g := Implementation{kernel: k}, gonum.Implementation{}
		for _, m := range []int{1, 7, 16, 40, 450} {
			for _, n := range []int{1, 15, 16, 33, 260} {
				for _, inc := range [][2]int{{1, 1}, {2, 1}, {1, 3}, {-1, 1}, {1, -2}} {
					alpha, beta, lda := factors[rng.IntN(4)], factors[rng.IntN(4)], n+rng.IntN(3)
					a, x, y := noise(rng, m*lda), noise(rng, 3*max(m, n)), noise(rng, 3*max(m, n))
					compare := func(name string, f func(b blas.Float64, a, y []float64)) {
						ours, theirs := [2][]float64{slices.Clone(a), slices.Clone(y)}, [2][]float64{slices.Clone(a), slices.Clone(y)}
						f(b, ours[0], ours[1])
						f(g, theirs[0], theirs[1])
						for i := range ours {
							if err := near(ours[i], theirs[i], m+n); err != nil {
								t.Errorf("%s %d×%d increments %v α %v β %v: %v", name, m, n, inc, alpha, beta, err)
							}
						}
					}
					if inc[0] > 0 && inc[1] > 0 { // else gonum's results are not always the same
						compare("Dger", func(b blas.Float64, a, y []float64) { b.Dger(m, n, alpha, x, inc[0], y, inc[1], a, lda) })
					}
					for _, tA := range transposes {
						compare("Dgemv", func(b blas.Float64, a, y []float64) {
							b.Dgemv(tA, m, n, alpha, a, lda, x, inc[0], beta, y, inc[1])
						})
					}
					compare("Daxpy", func(b blas.Float64, _, y []float64) { b.Daxpy(n, alpha, x, inc[0], y, inc[1]) })
					compare("Dscal", func(b blas.Float64, _, y []float64) { b.Dscal(n, alpha, y, inc[1]) })
					compare("Ddot", func(b blas.Float64, _, y []float64) { y[0] = b.Ddot(n, x, inc[0], y, inc[1]) })
				}
			}
		}
	})
}

// The parts of a product that goroutines compute are the same numbers, however many there are.
func TestProductsDoNotDependOnProcessors(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 230
	a, b := noise(rng, n*n), noise(rng, n*n)
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		if k == kernel.Generic {
			t.Skip("the generic kernel is gonum itself")
		}
		var want []float64
		for _, processors := range []int{1, 2, 3, 7} {
			old := runtime.GOMAXPROCS(processors)
			c := make([]float64, 2*n*n)
			Implementation{kernel: k}.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 0.7, a, n, b, n, 0, c, n)
			Implementation{kernel: k}.Dsyrk(blas.Lower, blas.NoTrans, n, n, -1, a, n, 0, c[n*n:], n)
			runtime.GOMAXPROCS(old)
			if want == nil {
				want = c
			}
			if !slices.Equal(c, want) {
				t.Errorf("%d processors: other numbers", processors)
			}
		}
	})
}

// TestSmallProductsAllocateNothing: of methods that multiply small matrices all the time.
func TestSmallProductsAllocateNothing(t *testing.T) {
	b := Implementation{kernel: kernel.Selected()}
	if b.kernel == kernel.Generic {
		t.Skip("products are gonum's")
	}
	const n = 70
	x, c := make([]float64, n*n), make([]float64, n*n)
	for _, ways := range [][2]blas.Transpose{{blas.NoTrans, blas.NoTrans}, {blas.Trans, blas.NoTrans}, {blas.NoTrans, blas.Trans}} {
		for _, alpha := range []float64{1, -1} {
			if count := alloctest.PerRun(20, func() { b.Dgemm(ways[0], ways[1], n, n, n, alpha, x, n, x, n, 0.5, c, n) }); count != 0 {
				t.Errorf("%c%c, α = %g: %v allocations", ways[0], ways[1], alpha, count)
			}
		}
	}
}
