package papers

import (
	"math"
	"testing"
)

func TestIntervalIsStudents(t *testing.T) {
	// Two-sided 95 % points of Student's t, as tables print them.
	for n, point := range map[int]float64{2: 12.706, 3: 4.303, 4: 3.182, 10: 2.262, 20: 2.093} {
		v := make([]float64, n) // one 1 and zeros: mean 1/n, variance 1/n
		v[0] = 1
		mean, margin := interval(v)
		if want := point / float64(n); math.Abs(margin-want) > 1e-3*want || math.Abs(mean-1/float64(n)) > 1e-15 {
			t.Errorf("%d numbers: %v ± %v, want ± %v", n, mean, margin, want)
		}
	}
}

func TestVerdictsHeedTheSpread(t *testing.T) {
	for _, c := range []struct {
		name          string
		v             []float64
		bound         float64
		atMost, least Verdict
	}{
		{"nothing measured", nil, 1, Open, Open},
		{"one number tells no spread", []float64{0}, 1, Open, Open},
		{"far below", []float64{1, 1.1, 0.9}, 2, Holds, Fails},
		{"far above", []float64{3, 3.1, 2.9}, 2, Fails, Holds},
		{"just below, within the spread", []float64{1, 3, 1.9}, 2, Open, Open},
		{"two equal values tell no spread", []float64{1, 1}, 2, Open, Open},
		{"ten equal values, at the bound", []float64{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, 2, Holds, Holds},
	} {
		if got := atMost(c.v, c.bound); got != c.atMost {
			t.Errorf("%s: at most is %v, want %v", c.name, got, c.atMost)
		}
		if got := atLeast(c.v, c.bound); got != c.least {
			t.Errorf("%s: at least is %v, want %v", c.name, got, c.least)
		}
	}
}

// Binomial margins, by hand: of 100 rows 10 missed, 12 of 104 with those added, 1.96 √(0.1154·0.8846/104) = 0.0614.
func TestRowsHaveAMargin(t *testing.T) {
	if m := sampled(0.1, 100); math.Abs(m-0.0614) > 5e-5 {
		t.Errorf("± %v", m)
	}
	if m := sampled(0, 4000); !(m > 0 && m < 0.001) {
		t.Errorf("no misses: ± %v", m)
	}
	if mean, margin := shareInterval([]float64{0.04, 0.05, 0.06}, 100); math.Abs(mean-0.05) > 1e-15 || margin < sampled(0.05, 100) {
		t.Errorf("%v ± %v", mean, margin)
	}
	// Both sides miss the same rows but one in a hundred: paired, the other rows say nothing.
	a, b := make([]float64, 1000), make([]float64, 1000)
	for p := range a {
		a[p] = float64(p % 2)
		b[p] = a[p]
		if p%100 == 1 {
			b[p] = 0
		}
	}
	_, margin := pairedInterval([]float64{-0.0101, -0.0099, -0.01}, rowDifferences(a, b))
	if want := 1.96 * math.Sqrt(0.01*0.99/1000); math.Abs(margin-want) > 0.01*want {
		t.Errorf("paired ± %v, want %v", margin, want)
	}
}

func TestOpenSaysWhy(t *testing.T) {
	s := Statement{Holds: Fails}.open("a reason")
	if s.Holds != Open || s.Why != "would fail; a reason" {
		t.Errorf("%+v", s)
	}
	if again := s.open("another"); again != s {
		t.Errorf("%+v", again)
	}
	for want, load := range map[Verdict]float64{Holds: quiet, Open: quiet + 0.01} {
		if got := (Statement{Holds: Holds}).timedBy([]float64{0, load}); got.Holds != want {
			t.Errorf("a load of %v: %+v", load, got)
		}
	}
	if got := (Statement{Holds: Holds}).timedBy([]float64{math.NaN()}); got.Holds != Open {
		t.Errorf("an unknown load: %+v", got)
	}
}

func TestRatioHeedsBothSpreads(t *testing.T) {
	tight, wide := []float64{10, 10.1, 9.9}, []float64{1, 19, 10}
	one := []float64{1, 1.01, 0.99}
	for _, c := range []struct {
		a, b   []float64
		factor float64
		want   Verdict
	}{
		{tight, one, 9, Holds},
		{tight, one, 11, Fails},
		{tight, one, 10, Open},
		{wide, one, 9, Open},
		{tight, []float64{1}, 9, Open},
		{nil, one, 9, Open},
	} {
		if got := ratioAtLeast(c.a, c.b, c.factor); got != c.want {
			t.Errorf("%v over %v at least %v: %v, want %v", c.a, c.b, c.factor, got, c.want)
		}
	}
}

func TestJoin(t *testing.T) {
	for want, list := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := join(list); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
