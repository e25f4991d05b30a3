package blas

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"newtop/internal/kernel"
)

// TestOuterIsSum: x·yᵀ has the bits of Sum with yᵀ as it lies there, whose bits are the definition's, and touches nothing outside.
func TestOuterIsSum(t *testing.T) { inBoth(t, testOuterIsSum[float64], testOuterIsSum[float32]) }

func testOuterIsSum[F Float](t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(8, 9))
		for _, c := range [][3]int{{1, 1, 1}, {7, 23, 5}, {8, 24, 96}, {10, 250, 96}, {33, 49, 300}, {65, 8, 1}, {4, 100, 257}, {12, 26, 8}} {
			m, n, depth := c[0], c[1], c[2]
			for _, start := range []Start{Zero, Add} {
				q := random[F](rng, shape{m: m, n: n, ks: []int{depth}, trans: []bool{false}, start: start, gap: rng.IntN(3)})
				term := &q.terms[0]
				y := make([]F, (n-1)*(depth+2)+depth)
				transposeGeneric(y, depth+2, term.B, term.Stride, depth, n)
				got := slices.Clone(q.c)
				outer(k, got, m, n, q.stride, start, term.A, term.RowStride, y, depth+2, depth)
				sum(k, q.c, m, n, q.stride, start, nil, q.terms)
				for i, x := range got {
					if i%q.stride < n && x != q.c[i] {
						t.Fatalf("%v: element %d,%d is %v, Sum's %v", q, i/q.stride, i%q.stride, x, q.c[i])
					}
				}
			}
		}
	})
}

func TestOuterRefuses(t *testing.T) {
	x := make([]float64, 12)
	for name, f := range map[string]func(){
		"nothing": func() { Outer(x, 0, 3, 3, Zero, x, 3, x, 3, 3) },
		"short c": func() { Outer(x[:8], 3, 3, 3, Zero, x, 3, x, 3, 3) },
		"short x": func() { Outer(x, 3, 3, 3, Zero, x[:8], 3, x, 3, 3) },
		"short y": func() { Outer(x, 3, 3, 3, Zero, x, 3, x[:8], 3, 3) },
		"biases":  func() { Outer(x, 3, 3, 3, Bias, x, 3, x, 3, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "blas: ") {
					t.Errorf("panic %q", text)
				}
			}()
			f()
		})
	}
}
