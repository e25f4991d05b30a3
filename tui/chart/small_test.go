package chart

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCoarse looks at a series of any length while it grows and goes back: each coarse bucket stands for the points of those that it
// was merged of.
func TestCoarse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for _, most := range []int{0, 600, 1024} {
		s := Series{Capacity: most}
		for i := range 3 * MaxBuckets {
			y := r.NormFloat64()
			if r.IntN(50) == 0 {
				y = math.NaN()
			}
			s.Add(float64(i), y)
			if r.IntN(3000) == 0 {
				s.Cut(float64(i - r.IntN(i+1)))
			}
			if r.IntN(100) > 0 {
				continue
			}
			coarse := s.Coarse()
			if len(coarse) > fewBuckets {
				t.Fatalf("%d coarse buckets", len(coarse))
			}
			at := 0
			for k, c := range coarse {
				n, low, high, last := int32(0), math.NaN(), math.NaN(), math.NaN()
				for ; at < len(s.Buckets) && s.Buckets[at].X1[Epochs] <= c.X1[Epochs]; at++ {
					b := &s.Buckets[at]
					n, low, high = n+b.N, Lesser(low, b.Min), -Lesser(-high, -b.Max)
					if b.N > 0 {
						last = b.Last
					}
				}
				if n != c.N || n > 0 && (low != c.Min || high != c.Max || last != c.Last) {
					t.Fatalf("point %d: coarse bucket %d is %+v, not of %d points from %v to %v, the last %v", i, k, c, n, low, high, last)
				}
			}
			if at != len(s.Buckets) {
				t.Fatalf("%d of %d buckets", at, len(s.Buckets))
			}
		}
	}
}

func TestAt(t *testing.T) {
	var s Series
	if v := s.At(Epochs, 3); v == v {
		t.Error(v)
	}
	for i := range 3 * MaxBuckets {
		y := float64(i)
		if i%5 == 4 {
			y = math.NaN()
		}
		s.Append(Position{float64(i), 2 * float64(i)}, y)
	}
	last := float64(3*MaxBuckets - 1)
	for x, want := range map[float64]float64{last: last, last + 9: last, last - 3: last - 4, last - 1.5: last - 2, -1: math.NaN()} {
		if got := s.At(Epochs, x); got != want && (got == got || want == want) {
			t.Errorf("at %v: %v, not %v", x, got, want)
		}
		if got := s.At(Seconds, 2*x); got != want && (got == got || want == want) {
			t.Errorf("at %v s: %v, not %v", 2*x, got, want)
		}
	}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		of   func(x float64) float64
		want float64
	}{{func(float64) float64 { return 3 }, 0}, {func(float64) float64 { return 0 }, 0}, {func(x float64) float64 { return x }, 0.1}, {func(x float64) float64 { return -1 / x }, 0.1}} {
		var s Series
		if s.Change() != 0 {
			t.Error("nothing has changed")
		}
		for x := 1.0; x <= 1001; x++ {
			s.Add(x, c.of(x))
		}
		if got := s.Change(); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%v, not %v", got, c.want)
		}
	}
}
