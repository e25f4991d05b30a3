package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"

	"newtop/internal/kernel"
)

func BenchmarkSum(b *testing.B) {
	b.Run("float64", benchmarkSum[float64])
	b.Run("float32", benchmarkSum[float32])
}

func benchmarkSum[F Float](b *testing.B) {
	for _, c := range []struct {
		name    string
		m, n, k int
		trans   bool
		start   Start
	}{
		{"forward", 70, 96, 16, false, Bias},
		{"forward", 50, 96, 70, false, Bias},
		{"forward", 50, 96, 784, false, Bias},
		{"backward", 70, 96, 50, true, Zero},
		{"backward", 784, 96, 50, true, Zero},
		{"outer", 70, 16, 96, false, Add},
		{"outer", 50, 784, 96, false, Add},
		{"large", 512, 512, 512, false, Zero},
		{"large", 500, 500, 500, true, Zero},
		{"wide", 1024, 96, 1024, false, Bias},
		{"wide", 1024, 96, 1024, true, Zero},
		{"wide", 1024, 1024, 96, false, Add},
		{"batch", 50, 1, 784, false, Bias},
		{"batch", 50, 2, 70, false, Bias},
		{"batch", 50, 8, 70, false, Bias},
		{"batch", 50, 32, 70, false, Bias},
		{"batch", 70, 8, 50, true, Bias},
		{"online", 50, 784, 1, false, Zero},
		{"one", 1, 96, 50, false, Bias},
		{"two", 2, 96, 50, false, Bias},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		q := random[F](rng, shape{m: c.m, n: c.n, ks: []int{c.k}, trans: []bool{c.trans}, start: c.start})
		for _, k := range kernel.Available() {
			b.Run(fmt.Sprintf("%s_%dx%dx%d_%v/%v", c.name, c.m, c.n, c.k, c.trans, k), func(b *testing.B) {
				measure(b, 2*float64(c.m*c.n*c.k), func() {
					sum(k, q.c, q.m, q.n, q.stride, q.start, q.bias, q.terms)
				})
			})
		}
	}
}

// measure times f, which does that many operations, in runs of some 20 µs, and reports the best one.
func measure(b *testing.B, operations float64, f func()) {
	calls := max(1, int(1e6/operations))
	best := math.Inf(1)
	for b.Loop() {
		start := time.Now()
		for range calls {
			f()
		}
		best = min(best, time.Since(start).Seconds()/float64(calls))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(1e9*best, "best-ns")
	b.ReportMetric(1e-9*operations/best, "GFLOP/s")
}

func BenchmarkTranspose(b *testing.B) {
	b.Run("float64", benchmarkTranspose[float64])
	b.Run("float32", benchmarkTranspose[float32])
}

func benchmarkTranspose[F Float](b *testing.B) {
	for _, c := range [][2]int{{70, 96}, {16, 96}, {512, 512}} {
		rows, cols := c[0], c[1]
		src, dst := make([]F, rows*cols), make([]F, rows*cols)
		for _, k := range kernel.Available() {
			b.Run(fmt.Sprintf("%dx%d/%v", rows, cols, k), func(b *testing.B) {
				measure(b, float64(rows*cols), func() { transpose(k, dst, rows, src, cols, rows, cols) })
			})
		}
	}
}

func BenchmarkImplementation(b *testing.B) {
	const n = 512
	rng := rand.New(rand.NewPCG(1, 2))
	a, x, y := noise(rng, n*n), noise(rng, n*n), noise(rng, n*n)
	for i := range n {
		a[i*n+i] += n
	}
	for _, k := range kernel.Available() {
		lib := Implementation{kernel: k}
		for _, c := range []struct {
			name       string
			operations float64
			f          func()
		}{
			{"Dgemm_NN", 2 * n * n * n, func() { lib.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, x, n, 0, y, n) }},
			{"Dgemm_NT", 2 * n * n * n, func() { lib.Dgemm(blas.NoTrans, blas.Trans, n, n, n, -1, a, n, x, n, 0, y, n) }},
			{"Dsyrk", n * n * n, func() { lib.Dsyrk(blas.Upper, blas.Trans, n, n, -1, a, n, 0, y, n) }},
			{"Dtrsm", n * n * n, func() {
				lib.Dtrsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, n, n, 1, a, n, x, n)
			}},
			{"Dgemv_N", 2 * n * n, func() { lib.Dgemv(blas.NoTrans, n, n, 1, a, n, x, 1, 0, y, 1) }},
			{"Dgemv_T", 2 * n * n, func() { lib.Dgemv(blas.Trans, n, n, 1, a, n, x, 1, 0, y, 1) }},
			{"Dger", 2 * n * n, func() { lib.Dger(n, n, 1e-9, x, 1, x, 1, y, n) }},
		} {
			b.Run(c.name+"/"+k.String(), func(b *testing.B) { measure(b, c.operations, c.f) })
		}
	}
}
