package format

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestAxisLabels(t *testing.T) {
	for _, c := range []struct {
		ticks []float64
		unit  string
		want  string
	}{
		{[]float64{0, 4.9999999999999996e-6, 1e-5}, "", "0 5e-6 1e-5"},
		{[]float64{1e11, 1.0000000000000001e22, 1.0000000000000001e33}, "", "1e11 1e22 1e33"},
		{[]float64{1e-8, 1e-4, 1, 1e4}, "", "1e-8 1e-4 1 1e4"},
		{[]float64{0, 0.30000000000000004, 0.6000000000000001}, "", "0 0.3 0.6"},
		{[]float64{500, 1000, 1500}, "", "500 1k 1.5k"},
		{[]float64{1230, 1235, 1240}, "", "1.23k 1.235k 1.24k"},
		{[]float64{-1e6, 0, 1e6}, "", "-1M 0 1M"},
		{[]float64{999.9996}, "", "1k"},
		{[]float64{0, 0.02, 0.04}, PercentUnit, "0 %|2 %|4 %"},
		{[]float64{0.0445, 0.051}, PercentUnit, "4.45 %|5.1 %"},
		{[]float64{0, 0.5, 1}, SecondsUnit, "0 s|0.5 s|1 s"},
		{[]float64{60, 120, 180}, SecondsUnit, "1:00 2:00 3:00"},
		{[]float64{0.1, 10, 1000}, SecondsUnit, "0.1 s|10 s|1k s"},
	} {
		sep := " "
		if strings.Contains(c.want, "|") {
			sep = "|"
		}
		if got := AxisLabels(c.ticks, c.unit).All(c.ticks); !reflect.DeepEqual(got, strings.Split(c.want, sep)) {
			t.Errorf("%v: %q, want %q", c.ticks, got, c.want)
		}
	}
}

// Every magnitude has labels of three digits.
func TestTickIsShort(t *testing.T) {
	for e := -12; e <= 30; e++ {
		for _, m := range []float64{1, 1.1, 2, 3.3, 4.9999999999999996, 7, 9.996} {
			v := m * math.Pow(10, float64(e))
			s := Tick(v)
			digits := strings.TrimLeft(strings.Replace(strings.TrimRight(strings.Split(s, "e")[0], "kMGT"), ".", "", 1), "0")
			if digits = strings.TrimRight(digits, "0"); len(digits) > 3 || len(s) > 8 {
				t.Errorf("%g is written as %s", v, s)
			}
		}
	}
}

func TestTarget(t *testing.T) {
	for _, c := range []struct {
		v     float64
		share bool
		want  string
	}{{0.05, true, "5 %"}, {0.012345, true, "1.2345 %"}, {0.07, true, "7 %"}, {0.1, false, "0.1"}, {1e-7, false, "1e-7"}} {
		if got := Target(c.v, c.share); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}

func TestSetting(t *testing.T) {
	for in, want := range map[string]string{
		"4.656612873077393e-10": "4.657e-10", "3.9999999999999987": "4", "1": "1", "0.0312": "0.0312", "1e-05": "1e-5", "100000": "100000", "1024": "1024",
		"auto": "auto", "": "", "NaN": "NaN", "0.333333333333": "0.3333", "123456.789": "1.235e5", "16384": "16384",
	} {
		if got := Setting(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
