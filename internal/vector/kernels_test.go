package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"newtop/internal/alloctest"
	"newtop/internal/kernel"
)

// TestAgainstGo compares the assembly with the Go code, on slices at every alignment between guards.
func TestAgainstGo(t *testing.T) { inBoth(t, testAgainstGo[float64], testAgainstGo[float32]) }

func testAgainstGo[F Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	each(t, func(t *testing.T) {
		for _, f := range functions[F]() {
			for i, size := range f.sizes() {
				rows, cols := size[0], size[1]
				a := f.arguments(rng, rows, cols)
				want, sum := f.with(kernel.Generic, a, cols)
				got, check := guarded(a, i)
				v := f.run(got, cols)
				terms := 1.0
				if f.matrix() || sum != 0 {
					terms += float64(rows * cols)
				}
				bound := f.rounding * terms * half[F]()
				if !(math.Abs(v-sum) <= bound*max(1, sum)) {
					t.Errorf("%s of %d×%d returns %v, want %v", f.name, rows, cols, v, sum)
				}
				for k := range want {
					for j, w := range want[k] {
						d := math.Abs(float64(got[k][j] - w))
						if !(d <= bound*max(1, float64(w))) || !f.writes(k) && d != 0 {
							t.Fatalf("%s of %d×%d: slice %d has %v at %d, want %v", f.name, rows, cols, k, got[k][j], j, w)
						}
					}
				}
				if err := check(); err != nil {
					t.Fatalf("%s of %d×%d: %v", f.name, rows, cols, err)
				}
			}
		}
	})
}

// half is half a unit of the last place of 1.
func half[F Float]() float64 {
	if isSingle[F]() {
		return 0x1p-24
	}
	return 0x1p-53
}

// guarded copies slices to places of different alignment with numbers around them; check says whether these are
// still the same.
func guarded[F Float](a [][]F, seed int) (b [][]F, check func() error) {
	const guard = 1234.5
	const zone = 24
	var wholes [][]F
	for i, x := range a {
		whole := make([]F, len(x)+2*zone)
		for j := range whole {
			whole[j] = guard
		}
		at := zone - (seed+3*i)%8
		copy(whole[at:], x)
		wholes = append(wholes, whole)
		b = append(b, whole[at:at+len(x)])
	}
	return b, func() error {
		for i, whole := range wholes {
			at := zone - (seed+3*i)%8
			for j, v := range whole {
				if (j < at || j >= at+len(a[i])) && v != guard {
					return fmt.Errorf("slice %d: written at %d of %d", i, j-at, len(a[i]))
				}
			}
		}
		return nil
	}
}

// TestSameBits: AVX2 and AVX-512 agree, for all kinds of numbers.
func TestSameBits(t *testing.T) { inBoth(t, testSameBits[float64], testSameBits[float32]) }

func testSameBits[F Float](t *testing.T) {
	have := kernel.Available()
	if len(have) < 3 {
		t.Skip("this machine has no AVX-512")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, f := range functions[F]() {
		for _, size := range f.sizes() {
			rows, cols := size[0], size[1]
			a := f.arguments(rng, rows, cols)
			for _, x := range a {
				for i := range x {
					x[i] = F(odd(rng))
					if f.adaptive() && math.Abs(float64(x[i])) < 0x1p-400 {
						x[i] = 0
					}
				}
			}
			b, v := f.with(kernel.AVX2, a, cols)
			c, w := f.with(kernel.AVX512, a, cols)
			if !same(v, w) {
				t.Errorf("%s of %d×%d: AVX2 returns %v, AVX-512 %v", f.name, rows, cols, v, w)
			}
			for k := range b {
				for j := range b[k] {
					if !same(b[k][j], c[k][j]) {
						t.Fatalf("%s of %d×%d: slice %d at %d is %v with AVX2, %v with AVX-512", f.name, rows, cols, k, j, b[k][j], c[k][j])
					}
				}
			}
		}
	}
}

// odd is a number of any size, or a special one.
func odd(rng *rand.Rand) float64 {
	switch rng.IntN(4) {
	case 0:
		return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 0x1p-1074, math.MaxFloat64}[rng.IntN(9)]
	case 1:
		return math.Ldexp(2*rng.Float64()-1, rng.IntN(2098)-1074)
	}
	return 40 * (rng.Float64() - 0.5)
}

// TestSpecialNumbers: what is infinite or no number with the Go code is so with the assembly.
func TestSpecialNumbers(t *testing.T) {
	inBoth(t, testSpecialNumbers[float64], testSpecialNumbers[float32])
}

func testSpecialNumbers[F Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	values := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 0.5, 3}
	each(t, func(t *testing.T) {
		for _, f := range functions[F]() {
			for range 40 {
				a := f.arguments(rng, 3, 37)
				for _, x := range a {
					for i := range x {
						x[i] = F(values[rng.IntN(len(values))])
					}
				}
				want, sum := f.with(kernel.Generic, a, 37)
				got, v := f.with(active, a, 37)
				if f.name == "ColumnSoftmax" { // of a top that is no maximum
					continue
				}
				if !alike(v, sum) {
					t.Fatalf("%s returns %v, want %v", f.name, v, sum)
				}
				for k := range want {
					for j, w := range want[k] {
						if !alike(float64(got[k][j]), float64(w)) {
							t.Fatalf("%s: slice %d has %v at %d, want %v", f.name, k, got[k][j], j, w)
						}
					}
				}
			}
		}
	})
}

func alike(a, b float64) bool {
	if math.IsInf(a, 0) || math.IsInf(b, 0) || a != a || b != b {
		return same(a, b)
	}
	return math.Signbit(a) == math.Signbit(b) || math.Abs(a-b) < 1e-12
}

// TestPlace: an element's value depends on the element alone.
func TestPlace(t *testing.T) { inBoth(t, testPlace[float64], testPlace[float32]) }

func testPlace[F Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	each(t, func(t *testing.T) {
		for _, f := range functions[F]() {
			if f.matrix() || !f.writes(0) {
				continue
			}
			const n = 45
			a := f.arguments(rng, 1, n)
			got, _ := f.with(active, a, n)
			for i := range n {
				var single [][]F
				for _, x := range a {
					single = append(single, x[i:i+1])
				}
				want, _ := f.with(active, single, 1)
				for k := range want {
					if !same(got[k][i], want[k][0]) {
						t.Fatalf("%s: %v at %d of %d, %v alone", f.name, got[k][i], i, n, want[k][0])
					}
				}
			}
		}
	})
}

// TestColumnsAndRowsAlone: a matrix's column, or row, has the bits that it has alone.
func TestColumnsAndRowsAlone(t *testing.T) {
	inBoth(t, testColumnsAndRowsAlone[float64], testColumnsAndRowsAlone[float32])
}

func testColumnsAndRowsAlone[F Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	each(t, func(t *testing.T) {
		for _, f := range functions[F]() {
			for _, size := range [][2]int{{1, 3}, {26, 2}, {9, 7}, {33, 12}, {70, 13}} {
				if !f.matrix() {
					continue
				}
				rows, cols := size[0], size[1]
				byRow := f.shape[0] == 'R'
				count := cols
				if byRow {
					count = rows
				}
				a := f.arguments(rng, rows, cols)
				got, _ := f.with(active, a, cols)
				for i := range count {
					part := func(x []F) (alone []F) {
						for e, v := range x {
							if byRow && e*rows/len(x) == i || !byRow && e%cols == i {
								alone = append(alone, v)
							}
						}
						return alone
					}
					var single [][]F
					for _, x := range a {
						single = append(single, part(x))
					}
					width := 1
					if byRow {
						width = cols
					}
					want, _ := f.with(active, single, width)
					for k := range want {
						if !slices.EqualFunc(part(got[k]), want[k], same[F]) {
							t.Fatalf("%s of %d×%d: other numbers in slice %d than for %d alone", f.name, rows, cols, k, i)
						}
					}
				}
			}
		}
	})
}

// TestLargeSteps: quotients that overflow, and those of numbers far out, are those of a division.
func TestLargeSteps(t *testing.T) {
	each(t, func(t *testing.T) {
		for _, c := range [][4]float64{ // m, v, rate, ε
			{0x1p1012, 0, 1, 1e-8}, {-0x1p1012, 0, 1, 1e-8}, {math.MaxFloat64 / 2, 1, 1, 0}, {0x1p1000, 0x1p-100, 1, 0},
			{1, 0, 1, 0}, {0, 0, 1, 0}, {1, math.Inf(1), 1, 0}, {1, 1, math.Inf(1), 0}, {1, 0, 1, 0x1p-1000},
			{1, 0, 1, math.SmallestNonzeroFloat64}, {0x1p-890, 0, 1, 0x1p-600}, {0x1.8p900, 0, 1, 0x1.2p600},
		} {
			w, m, v := []float64{0}, []float64{c[0]}, []float64{c[1]}
			Adam(w, m, v, []float64{0}, &AdamStep{c[2], 1, 1, c[3], 1, 1})
			if want := 0 - c[2]*c[0]/(math.Sqrt(c[1])+c[3]); !same(w[0], want) {
				t.Errorf("m %v, v %v, rate %v, ε %v: step to %v, want %v", c[0], c[1], c[2], c[3], w[0], want)
			}
		}
	})
}

// TestInPlace: a slice that is written may be one that is read.
func TestInPlace(t *testing.T) { inBoth(t, testInPlace[float64], testInPlace[float32]) }

func testInPlace[F Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	each(t, func(t *testing.T) {
		for _, f := range functions[F]() {
			for to := range f.shape {
				for from := range f.shape {
					if !f.writes(to) || f.shape[from] != f.shape[to]|0x20 {
						continue
					}
					for _, cols := range []int{1, 3, 11} {
						a := f.arguments(rng, 7, cols)
						a[from] = a[to]
						want, _ := f.with(active, a, cols)
						b := clone(a)
						b[from] = b[to]
						f.run(b, cols)
						for k := range want {
							if k != from && !slices.EqualFunc(b[k], want[k], same[F]) {
								t.Fatalf("%s, slice %d being %d: slice %d is %v, want %v", f.name, from, to, k, b[k], want[k])
							}
						}
					}
				}
			}
		}
	})
}

// TestShortSlices: each slice but the first may be too short, which panics before anything is written, also where
// the slice's array would go on.
func TestShortSlices(t *testing.T) { inBoth(t, testShortSlices[float64], testShortSlices[float32]) }

func testShortSlices[F Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	each(t, func(t *testing.T) {
		for _, f := range functions[F]() {
			for k := 1; k < len(f.shape); k++ {
				a := f.arguments(rng, 3, 11)
				want := clone(a)
				short := append([][]F(nil), a...)
				short[k] = short[k][:len(a[k])-1]
				func() {
					defer func() {
						if text, _ := recover().(string); !strings.HasPrefix(text, "vector: ") {
							t.Errorf("%s takes a slice %d that is too short: %q", f.name, k, text)
						}
					}()
					f.run(short, 11)
				}()
				for i := range a {
					for j := range a[i] {
						if !same(a[i][j], want[i][j]) {
							t.Fatalf("%s writes slice %d before it panics", f.name, i)
						}
					}
				}
			}
		}
	})
}

func TestImpossibleRowsPanic(t *testing.T) {
	x := make([]float64, 8)
	each(t, func(t *testing.T) {
		for name, f := range map[string]func(){
			"negative":    func() { AddRowSums(x[:2], x, -1) },
			"overflow":    func() { AddRowSums(x[:4], x, 1<<62) },
			"no multiple": func() { ColumnSums(x[:3], x) },
			"no columns":  func() { ColumnDots(nil, x, x) },
			"no rows":     func() { ColumnMax(x, nil) },
		} {
			func() {
				defer func() {
					if text, _ := recover().(string); !strings.HasPrefix(text, "vector: ") {
						t.Errorf("%s: %q", name, text)
					}
				}()
				f()
			}()
		}
	})
}

func TestNothingIsAllocated(t *testing.T) {
	inBoth(t, testNothingIsAllocated[float64], testNothingIsAllocated[float32])
}

func testNothingIsAllocated[F Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	each(t, func(t *testing.T) {
		for _, f := range functions[F]() {
			for _, cols := range []int{1, 3, 50} {
				a := f.arguments(rng, 3, cols)
				if n := alloctest.PerRun(10, func() { f.run(a, cols) }); n != 0 {
					t.Errorf("%s of %d columns allocates %v times", f.name, cols, n)
				}
			}
		}
	})
}
