package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"newtop/internal/alloctest"
	"newtop/internal/kernel"
	"newtop/internal/nightly"
)

// problem is a call of Sum, with slices that end where their last element does.
type problem[F Float] struct {
	c            []F
	m, n, stride int
	start        Start
	bias         []F
	terms        []Term[F]
}

// naive is Sum by the definition; fused says whether a product is rounded before it is added.
func (q *problem[F]) naive(fused bool) []F {
	c := append([]F(nil), q.c...)
	for i := range q.m {
		for j := range q.n {
			x := F(0)
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
						x = fma(a, b, x)
					} else {
						x += F(a * b)
					}
				}
			}
			c[i*q.stride+j] = x
		}
	}
	return c
}

// fma is ab + x, rounded once.
func fma[F Float](a, b, x F) F {
	if sizeOf[F]() == 8 {
		return F(math.FMA(float64(a), float64(b), float64(x)))
	}
	// The product is exact. What rounding takes from the sum is seen in its last bit (Boldo & Melquiond 2008).
	p, y := float64(a)*float64(b), float64(x)
	sum := p + y
	part := sum - p
	rest := (p - (sum - part)) + (y - part)
	if bits := math.Float64bits(sum); bits&1 == 0 && rest != 0 && !math.IsInf(sum, 0) && sum == sum {
		if (rest > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
		sum = math.Float64frombits(bits)
	}
	return F(sum)
}

func (q *problem[F]) String() string {
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
	shift int // of all slices, in numbers from the beginning of an allocation
}

func random[F Float](rng *rand.Rand, s shape) *problem[F] {
	matrix := func(rows, cols int) []F {
		length := 0
		if rows > 0 && cols > 0 {
			length = (rows-1)*(cols+s.gap) + cols
		}
		x := make([]F, s.shift+length)[s.shift:]
		for i := range x {
			x[i] = F(math.NaN())
			if i%(cols+s.gap) < cols {
				x[i] = F(rng.NormFloat64())
			}
		}
		return x
	}
	q := &problem[F]{c: matrix(s.m, s.n), m: s.m, n: s.n, stride: s.n + s.gap, start: s.start}
	if s.start == Bias {
		q.bias = matrix(1, s.m)
	}
	if s.start != Add {
		for i := range q.c {
			q.c[i] = F(math.NaN())
		}
	}
	for i, k := range s.ks {
		t := Term[F]{B: matrix(k, s.n), Stride: s.n + s.gap, K: k}
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
func (q *problem[F]) verify(k kernel.Kernel) error {
	want := q.naive(k != kernel.Generic)
	const guard = 16
	room := make([]F, len(q.c)+2*guard)
	for i := range room {
		room[i] = -123.5
	}
	c := room[guard : guard+len(q.c)]
	copy(c, q.c)
	sum(k, c[:len(c):len(c)], q.m, q.n, q.stride, q.start, q.bias, q.terms)
	for i, x := range room {
		if (i < guard || i >= guard+len(c)) && x != -123.5 {
			return fmt.Errorf("%v: %v: wrote outside c, at %d", k, q, i-guard)
		}
	}
	for i, x := range c {
		if i%q.stride >= q.n {
			if math.Float64bits(float64(x)) != math.Float64bits(float64(q.c[i])) {
				return fmt.Errorf("%v: %v: wrote between the rows of c, at %d", k, q, i)
			}
			continue
		}
		same := x == want[i] || x != x && want[i] != want[i] ||
			k == kernel.Generic && math.Abs(float64(x-want[i])) <= q.rounding(i/q.stride, i%q.stride)
		if !same {
			return fmt.Errorf("%v: %v: element %d,%d is %v, want %v", k, q, i/q.stride, i%q.stride, x, want[i])
		}
	}
	return nil
}

// rounding bounds the difference of two sums of the same products in any order: 2·K·ε·Σ|a||b|.
func (q *problem[F]) rounding(i, j int) float64 {
	total, count := 0.0, 1
	switch q.start {
	case Add:
		total = math.Abs(float64(q.c[i*q.stride+j]))
	case Bias:
		total = math.Abs(float64(q.bias[i]))
	}
	for _, t := range q.terms {
		count += t.K
		for p := range t.K {
			total += math.Abs(float64(t.A[i*t.RowStride+p*t.ColStride] * t.B[p*t.Stride+j]))
		}
	}
	epsilon := 0x1p-52
	if sizeOf[F]() == 4 {
		epsilon = 0x1p-23
	}
	return 2 * float64(count) * epsilon * total
}

// inBoth runs the test for both precisions.
func inBoth(t *testing.T, double, single func(t *testing.T)) {
	t.Run("float64", double)
	t.Run("float32", single)
}

func eachKernel(t *testing.T, f func(t *testing.T, k kernel.Kernel)) {
	for _, k := range kernel.Available() {
		t.Run(k.String(), func(t *testing.T) { f(t, k) })
	}
}

func TestSumIsTheDefinition(t *testing.T) {
	inBoth(t, testSumIsTheDefinition[float64], testSumIsTheDefinition[float32])
}

func testSumIsTheDefinition[F Float](t *testing.T) {
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
					if err := random[F](rng, s).verify(k); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// The shapes of nets, and those that go through the other ways: one column, deep ones, ones copied in blocks. By day each begins in
// one of the ways that a sum can.
func TestSumOfOtherShapes(t *testing.T) {
	inBoth(t, testSumOfOtherShapes[float64], testSumOfOtherShapes[float32])
}

func testSumOfOtherShapes[F Float](t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(3, 4))
		for i, c := range []struct {
			m, n int
			ks   []int
		}{
			{70, 96, []int{16}}, {50, 96, []int{70, 70}}, {26, 96, []int{50}}, {50, 16, []int{96}},
			{50, 1, []int{70}}, {1, 1, []int{70}}, {67, 1, []int{201, 3}}, {67, 1, []int{0}}, {67, 1, []int{5, 6, 7}},
			{1, 200, []int{500}},
			{3, 130, []int{193}}, {9, 50, []int{300, 1, 200}}, {20, 10, nil}, {70, 3, []int{300}},
			{64, 331, []int{200}}, {65, 253, []int{260, 1}}, {72, 264, []int{513}}, {67, 500, []int{0, 300}},
			{9, 50, []int{0, 1100}}, {130, 70, []int{240, 3}},
		} {
			for start := Zero; start <= Bias; start++ {
				if int(start) != i%int(Bias+1) && !nightly.On() {
					continue
				}
				s := shape{m: c.m, n: c.n, ks: c.ks, start: start, gap: rng.IntN(3)}
				if c.n == 1 {
					s.gap = 0
				}
				for i := range c.ks {
					s.trans = append(s.trans, (int(start)+i)%2 == 1)
				}
				if err := random[F](rng, s).verify(k); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// fuzzed makes a problem of numbers that say little by themselves.
func fuzzed[F Float](seed uint64, m, n, depth, mode uint16) *problem[F] {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := shape{m: 1 + int(m%90), n: 1 + int(n%260), start: Start(mode % 3), gap: int(mode / 3 % 4), shift: int(mode / 12 % 8)}
	for range mode / 96 % 4 {
		s.ks = append(s.ks, rng.IntN(1+int(depth%400)))
		s.trans = append(s.trans, rng.IntN(2) == 0)
	}
	return random[F](rng, s)
}

func FuzzSum(f *testing.F) {
	f.Add(uint64(1), uint16(0), uint16(0), uint16(0), uint16(0))
	f.Add(uint64(2), uint16(69), uint16(95), uint16(16), uint16(98))
	f.Add(uint64(3), uint16(49), uint16(0), uint16(70), uint16(193))
	f.Add(uint64(4), uint16(89), uint16(129), uint16(399), uint16(300))
	f.Fuzz(func(t *testing.T, seed uint64, m, n, depth, mode uint16) {
		for _, k := range kernel.Available() {
			if err := fuzzed[float64](seed, m, n, depth, mode).verify(k); err != nil {
				t.Fatal(err)
			}
			if err := fuzzed[float32](seed, m, n, depth, mode).verify(k); err != nil {
				t.Fatal("float32: ", err)
			}
		}
	})
}

// A NaN or infinity in row i of A is in row i of c and nowhere else; one in column j of B in column j.
func TestSumSpreadsWhatIsNotFinite(t *testing.T) {
	inBoth(t, testSumSpreadsWhatIsNotFinite[float64], testSumSpreadsWhatIsNotFinite[float32])
}

func testSumSpreadsWhatIsNotFinite[F Float](t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, trans := range []bool{false, true} {
				for _, size := range [][3]int{{13, 29, 5}, {1, 9, 3}, {33, 1, 6}, {64, 330, 200}} {
					m, n, depth := size[0], size[1], size[2]
					q := random[F](rng, shape{m: m, n: n, ks: []int{depth}, trans: []bool{trans}, start: Zero})
					i, j, p := rng.IntN(m), rng.IntN(n), rng.IntN(depth)
					a, b := &q.terms[0].A[i*q.terms[0].RowStride+p*q.terms[0].ColStride], &q.terms[0].B[p*n+j]
					for _, at := range []*F{a, b} {
						old := *at
						*at = F(bad)
						sum(k, q.c, m, n, n, Zero, nil, q.terms)
						for e, x := range q.c {
							hit := at == a && e/n == i || at == b && e%n == j
							if finite := x-x == 0; finite == hit {
								t.Fatalf("%v: %v at A %d,%d or B %d,%d: element %d,%d is %v", q, bad, i, p, p, j, e/n, e%n, x)
							}
						}
						*at = old
					}
				}
			}
		}
	})
}

// Where c or A is one row, or A one column, its stride is of no consequence.
func TestSumOfOneRow(t *testing.T) { inBoth(t, testSumOfOneRow[float64], testSumOfOneRow[float32]) }

func testSumOfOneRow[F Float](t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		a, b := []F{2, 3}, []F{5, 7}
		for _, stride := range []int{-9, 0, 1, 1 << 62} {
			for _, term := range []Term[F]{
				{A: a, RowStride: stride, ColStride: 1, B: b, Stride: 1, K: 2},
				{A: a, RowStride: 1, ColStride: 1, B: b, Stride: 1, K: 2},
			} {
				c := []F{100}
				sum(k, c, 1, 1, stride, Add, nil, []Term[F]{term})
				if c[0] != 131 {
					t.Errorf("strides %d: %v", stride, c)
				}
			}
			c := make([]F, 4)
			sum(k, c, 2, 2, 2, Zero, nil, []Term[F]{{A: a, RowStride: 1, ColStride: stride, B: b, Stride: stride, K: 1}})
			if want := []F{10, 14, 15, 21}; !slices.Equal(c, want) {
				t.Errorf("strides %d: %v, want %v", stride, c, want)
			}
		}
	})
}

func TestSumOfNothing(t *testing.T) { inBoth(t, testSumOfNothing[float64], testSumOfNothing[float32]) }

func testSumOfNothing[F Float](t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		sum[F](k, nil, 0, 5, 5, Bias, nil, nil)
		sum[F](k, nil, 5, 0, 0, Add, nil, nil)
		transpose[F](k, nil, 0, nil, 0, 0, 5)
	})
}

func TestSumPanicsRatherThanReadingOutside(t *testing.T) {
	whole := make([]float64, 12)
	a := Term[float64]{A: whole, RowStride: 4, ColStride: 1, B: whole, Stride: 3, K: 4}
	for name, f := range map[string]func(){
		"negative m":      func() { Sum(whole, -1, 3, 3, Zero, nil, nil) },
		"short c":         func() { Sum(whole[:8], 3, 3, 3, Zero, nil, nil) },
		"rows of c meet":  func() { Sum(whole, 3, 3, 2, Zero, nil, nil) },
		"short bias":      func() { Sum(whole, 3, 3, 3, Bias, whole[:2], nil) },
		"unknown start":   func() { Sum(whole, 3, 3, 3, 3, nil, nil) },
		"negative K":      func() { Sum(whole, 3, 3, 3, Zero, nil, []Term[float64]{{K: -1}}) },
		"short A":         func() { s := a; s.A = whole[:11]; Sum(whole, 3, 3, 3, Zero, nil, []Term[float64]{s}) },
		"short B":         func() { s := a; s.B = whole[:11]; Sum(whole, 3, 3, 3, Zero, nil, []Term[float64]{a, s}) },
		"A without a 1":   func() { s := a; s.ColStride = 2; Sum(whole, 1, 1, 1, Zero, nil, []Term[float64]{s}) },
		"negative stride": func() { s := a; s.RowStride = -4; Sum(whole, 3, 3, 3, Zero, nil, []Term[float64]{s}) },
		"huge stride":     func() { Sum(whole, 3, 3, 1<<62, Zero, nil, nil) },
		"huge stride, A":  func() { s := a; s.RowStride = 1 << 62; Sum(whole, 3, 3, 3, Zero, nil, []Term[float64]{s}) },
		"short dst":       func() { Transpose(whole[:11], 3, whole, 4, 3, 4) },
		"short src":       func() { Transpose(whole, 3, whole[:11], 4, 3, 4) },
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

func TestNothingIsAllocated(t *testing.T) {
	inBoth(t, testNothingIsAllocated[float64], testNothingIsAllocated[float32])
}

func testNothingIsAllocated[F Float](t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, s := range []shape{
			{m: 50, n: 96, ks: []int{70, 16}, trans: []bool{false, true}, start: Bias},
			{m: 50, n: 1, ks: []int{70}, trans: []bool{false}, start: Bias},
			{m: 50, n: 1, ks: []int{70}, trans: []bool{true}},
			{m: 70, n: 300, ks: []int{300}, trans: []bool{true}},
		} {
			q := random[F](rng, s)
			if n := alloctest.PerRun(5, func() {
				sum(k, q.c, q.m, q.n, q.stride, q.start, q.bias, q.terms)
			}); n != 0 {
				t.Errorf("%v: Sum allocates %v times", q, n)
			}
		}
		src, dst := make([]F, 70*96), make([]F, 70*96)
		if n := alloctest.PerRun(5, func() { transpose(k, dst, 70, src, 96, 70, 96) }); n != 0 {
			t.Errorf("Transpose allocates %v times", n)
		}
	})
}
