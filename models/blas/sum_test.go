package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"newtop/internal/kernel"
)

// problem is a call of Sum, with slices that end where their last element does.
type problem struct {
	c            []float64
	m, n, stride int
	start        Start
	bias         []float64
	terms        []Term
}

// naive is Sum by the definition; fused says whether a product is rounded before it is added.
func (q *problem) naive(fused bool) []float64 {
	c := append([]float64(nil), q.c...)
	for i := range q.m {
		for j := range q.n {
			x := 0.0
			switch q.start {
			case Add:
				x = c[i*q.stride+j]
			case Bias:
				x = q.bias[i]
			}
			for _, t := range q.terms {
				for p := range t.K {
					a, b := t.A[i*t.RowStride+p*t.ColStride], t.B[p*t.Stride+j]
					if fused {
						x = math.FMA(a, b, x)
					} else {
						x += float64(a * b)
					}
				}
			}
			c[i*q.stride+j] = x
		}
	}
	return c
}

func (q *problem) String() string {
	s := fmt.Sprintf("c %d×%d stride %d start %d", q.m, q.n, q.stride, q.start)
	for _, t := range q.terms {
		s += fmt.Sprintf(" + [K %d A %d,%d B %d]", t.K, t.RowStride, t.ColStride, t.Stride)
	}
	return s
}

// shape says what random makes.
type shape struct {
	m, n  int
	ks    []int
	trans []bool
	start Start
	gap   int // between rows of all matrices
	shift int // of all slices, in doubles from the beginning of an allocation
}

func random(rng *rand.Rand, s shape) *problem {
	matrix := func(rows, cols int) []float64 {
		length := 0
		if rows > 0 && cols > 0 {
			length = (rows-1)*(cols+s.gap) + cols
		}
		x := make([]float64, s.shift+length)[s.shift:]
		for i := range x {
			x[i] = math.NaN()
			if i%(cols+s.gap) < cols {
				x[i] = rng.NormFloat64()
			}
		}
		return x
	}
	q := &problem{c: matrix(s.m, s.n), m: s.m, n: s.n, stride: s.n + s.gap, start: s.start}
	if s.start == Bias {
		q.bias = matrix(1, s.m)
	}
	if s.start != Add {
		for i := range q.c {
			q.c[i] = math.NaN()
		}
	}
	for i, k := range s.ks {
		t := Term{B: matrix(k, s.n), Stride: s.n + s.gap, K: k}
		if s.trans[i] {
			t.A, t.RowStride, t.ColStride = matrix(k, s.m), 1, s.m+s.gap
		} else {
			t.A, t.RowStride, t.ColStride = matrix(s.m, k), k+s.gap, 1
		}
		q.terms = append(q.terms, t)
	}
	return q
}

// verify compares Sum with the definition: bit for bit where products are fused, and otherwise within what
// rounding can do.
func (q *problem) verify(k kernel.Kernel) error {
	want := q.naive(k != kernel.Generic)
	const guard = 16
	room := make([]float64, len(q.c)+2*guard)
	for i := range room {
		room[i] = math.Float64frombits(0x7ff8_0000_dead_beef)
	}
	c := room[guard : guard+len(q.c)]
	copy(c, q.c)
	sum(k, c[:len(c):len(c)], q.m, q.n, q.stride, q.start, q.bias, q.terms)
	for i, x := range room {
		if (i < guard || i >= guard+len(c)) && math.Float64bits(x) != 0x7ff8_0000_dead_beef {
			return fmt.Errorf("%v: %v: wrote outside c, at %d", k, q, i-guard)
		}
	}
	for i, x := range c {
		if i%q.stride >= q.n {
			if math.Float64bits(x) != math.Float64bits(q.c[i]) {
				return fmt.Errorf("%v: %v: wrote between the rows of c, at %d", k, q, i)
			}
			continue
		}
		if k == kernel.Generic && math.Abs(x-want[i]) <= q.rounding(i/q.stride, i%q.stride) {
			continue
		}
		if x != want[i] && !(math.IsNaN(x) && math.IsNaN(want[i])) {
			return fmt.Errorf("%v: %v: element %d,%d is %v, want %v", k, q, i/q.stride, i%q.stride, x, want[i])
		}
	}
	return nil
}

// rounding bounds the difference of two sums of the same products in any order: 2·K·ε·Σ|a||b|.
func (q *problem) rounding(i, j int) float64 {
	total, count := 0.0, 1
	switch q.start {
	case Add:
		total = math.Abs(q.c[i*q.stride+j])
	case Bias:
		total = math.Abs(q.bias[i])
	}
	for _, t := range q.terms {
		count += t.K
		for p := range t.K {
			total += math.Abs(t.A[i*t.RowStride+p*t.ColStride] * t.B[p*t.Stride+j])
		}
	}
	return 2 * float64(count) * 0x1p-52 * total
}

func eachKernel(t *testing.T, f func(t *testing.T, k kernel.Kernel)) {
	for _, k := range kernel.Available() {
		t.Run(k.String(), func(t *testing.T) { f(t, k) })
	}
}

func TestSumIsTheDefinition(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(1, 2))
		for m := 1; m <= 20; m++ {
			for n := 1; n <= 50; n++ {
				for _, inner := range []int{0, 1, 2, 3, 7, 20} {
					s := shape{m: m, n: n, start: Start(rng.IntN(3)), gap: rng.IntN(4), shift: rng.IntN(8)}
					for range 1 + rng.IntN(3) {
						s.ks = append(s.ks, inner)
						s.trans = append(s.trans, rng.IntN(2) == 1)
						inner = rng.IntN(5)
					}
					if err := random(rng, s).verify(k); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}
