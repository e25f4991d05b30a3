package format

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		f    func(float64) string
		x    float64
		want string
	}{
		{Number, 0, "0"}, {Number, 0.03124, "0.0312"}, {Number, 3.14159, "3.142"}, {Number, 31.4159, "31.42"}, {Number, -312.57, "-312.6"},
		{Number, 53300, "53.3k"}, {Number, 999.96, "1000.0"}, {Number, 1e6, "1.00M"}, {Number, 1.23456e-5, "1.23e-5"}, {Number, nan, "–"}, {Number, inf, "inf"},
		{Number, -inf, "-inf"}, {Number, 4e20, "4.00e20"}, {Number, 123456, "123k"},
		{Tick, 53300, "53.3k"}, {Tick, 0.05, "0.05"}, {Tick, 1e-5, "1e-5"}, {Tick, 2e6, "2M"}, {Tick, 1000, "1k"}, {Tick, 0, "0"}, {Tick, -20, "-20"}, {Tick, 1e20, "1e20"},
		{Percent, 0.0471, "4.71 %"}, {Percent, 0.123, "12.3 %"}, {Percent, 1, "100 %"}, {Percent, 0.09996, "10.0 %"}, {Percent, nan, "–"},
		{Span, 31e-6, "31 µs"}, {Span, 0.0042, "4.2 ms"}, {Span, 0.42, "0.42 s"}, {Span, 12.34, "12.3 s"}, {Span, 185, "3:05"}, {Span, 7384, "2:03:04"}, {Span, nan, "–"},
		{Clock, 5, "0:05"}, {Clock, -1, "–"}, {Work, 1234, "1,234"}, {Work, 1872.1, "1,872"}, {Work, 81.00001, "81"}, {Work, 51.25, "51.3"}, {Work, 2.5e6, "2.50M"}, {Work, nan, "–"},
	} {
		if got := c.f(c.x); got != c.want {
			t.Errorf("%v: %q, want %q", c.x, got, c.want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 16000: "16,000", -100: "-100"} {
		if got := Count(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestCountWithin(t *testing.T) {
	for _, c := range []struct {
		v       float64
		columns int
		want    string
	}{{0, 4, "0"}, {20, 4, "20"}, {1480, 4, "1.5k"}, {40243, 6, "40,243"}, {1_234_567, 6, "1.23M"}, {math.NaN(), 4, Number(math.NaN())}} {
		if got := CountWithin(c.v, c.columns); got != c.want {
			t.Errorf("%v in %d columns: %q, want %q", c.v, c.columns, got, c.want)
		}
	}
}
