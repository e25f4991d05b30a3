package blas

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"

	"newtop/internal/kernel"
)

// products computes with everything that takes workspaces.
func products(k kernel.Kernel, seed uint64) []float64 {
	const n = 130
	rng := rand.New(rand.NewPCG(seed, 1))
	a, b, x := noise(rng, n*n), noise(rng, n*n), noise(rng, n)
	for i := range n {
		a[i*n+i] += n
	}
	lib := Implementation{kernel: k}
	c := make([]float64, 4*n*n)
	lib.Dgemm(blas.Trans, blas.Trans, n, n, n, 0.7, a, n, b, n, 0, c, n)
	lib.Dsyrk(blas.Upper, blas.Trans, n, n, -1, a, n, 0.5, c[n*n:], n)
	copy(c[2*n*n:], b)
	lib.Dtrsm(blas.Left, blas.Lower, blas.Trans, blas.NonUnit, n, n, 2, a, n, c[2*n*n:], n)
	lib.Dgemv(blas.Trans, n, n, 0.3, a, n, x, 1, 0, c[3*n*n:], 1)
	q := random[float64](rng, shape{m: 70, n: 340, ks: []int{200}, trans: []bool{seed%2 == 0}, start: Bias})
	sum(k, q.c, q.m, q.n, q.stride, q.start, q.bias, q.terms)
	return append(c, q.c...)
}

// What a workspace held before must not reach results.
func TestWorkspacesMayHoldAnything(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		want := products(k, 1)
		for i := range idleDouble {
			w := new(workspace[float64])
			for _, x := range [][]float64{w.a[:], w.b[:], w.c[:]} {
				for j := range x {
					x[j] = math.NaN()
				}
			}
			idleDouble[i].Store(w)
		}
		if !slices.Equal(products(k, 1), want) {
			t.Error("other numbers with NaN in the workspaces")
		}
		for i := range idleDouble {
			idleDouble[i].Store(nil)
		}
	})
}

// Calls at the same time do not disturb one another, also when there are more of them than idle workspaces.
func TestProductsAtTheSameTime(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		if k == kernel.Generic {
			t.Skip("the generic kernel has no workspaces")
		}
		want := [2][]float64{products(k, 0), products(k, 1)}
		var done sync.WaitGroup
		for i := range len(idleDouble) + 4 {
			done.Go(func() {
				if !slices.Equal(products(k, uint64(i%2)), want[i%2]) {
					t.Error("other numbers")
				}
			})
		}
		done.Wait()
	})
}
