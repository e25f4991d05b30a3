package tui

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		f    func(float64) string
		x    float64
		want string
	}{
		{number, 0, "0"}, {number, 0.03124, "0.0312"}, {number, 3.14159, "3.142"}, {number, 31.4159, "31.42"}, {number, -312.57, "-312.6"},
		{number, 53300, "53.3k"}, {number, 999.96, "1000.0"}, {number, 1e6, "1.00M"}, {number, 1.23456e-5, "1.23e-5"}, {number, nan, "–"}, {number, inf, "inf"},
		{number, -inf, "-inf"}, {number, 4e20, "4.00e+20"}, {number, 123456, "123k"},
		{tick, 53300, "53.3k"}, {tick, 0.05, "0.05"}, {tick, 1e-5, "1e-5"}, {tick, 2e6, "2M"}, {tick, 1000, "1k"}, {tick, 0, "0"}, {tick, -20, "-20"}, {tick, 1e20, "1e+20"},
		{percent, 0.0471, "4.71%"}, {percent, 0.123, "12.3%"}, {percent, 1, "100%"}, {percent, 0.09996, "10.0%"}, {percent, nan, "–"},
		{span, 31e-6, "31 µs"}, {span, 0.0042, "4.2 ms"}, {span, 0.42, "0.42 s"}, {span, 12.34, "12.3 s"}, {span, 185, "3:05"}, {span, 7384, "2:03:04"}, {span, nan, "–"},
		{clock, 5, "0:05"}, {clock, -1, "–"}, {work, 1234, "1,234"}, {work, 1872.1, "1,872"}, {work, 81.00001, "81"}, {work, 51.25, "51.3"}, {work, 2.5e6, "2.50M"}, {work, nan, "–"},
	} {
		if got := c.f(c.x); got != c.want {
			t.Errorf("%v: %q, want %q", c.x, got, c.want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 16000: "16,000", -100: "-100"} {
		if got := count(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"letters":                     "letters",
		"a\x1b[31mb\x07\x00c":         "a[31mbc",
		"two\nlines\tand":             "two lines and",
		"👩\u200d💻x":                   "??x",
		"a\ufe0fb\u202ec\u0301d":      "abcd",
		"naïve – 数据":                  "naïve – 数据",
		"\xff\xfe":                    "??",
		"\u009b31m\u2028\u2066\u00ad": "31m\u2028",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLineNeverOverflows(t *testing.T) {
	v := testView()
	for room := range 12 {
		l := v.line(room)
		l.put(tokTrain, "abc").put(tokText, "数据数据").to(9).put(tokBad, "xyz")
		if got := ansi.StringWidth(l.full()); got != room {
			t.Errorf("room %d: %d wide: %q", room, got, l.full())
		}
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		want      []float64
	}{
		{0, 10, 5, []float64{0, 5, 10}},
		{0, 10, 6, []float64{0, 2, 4, 6, 8, 10}},
		{0, 0.93, 3, []float64{0, 0.5}},
		{-0.5, 1.5, 4, []float64{0, 1}},
		{3, 3, 4, nil},
		{0, math.Inf(1), 4, nil},
		{17, 231, 4, []float64{100, 200}},
	} {
		got := steps(c.low, c.high, c.n)
		if len(got) != len(c.want) {
			t.Errorf("%v…%v in %d: %v, want %v", c.low, c.high, c.n, got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%v…%v in %d: %v, want %v", c.low, c.high, c.n, got, c.want)
			}
		}
	}
}

func TestDecades(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		want      []float64
	}{
		{-2, 1, 4, []float64{0.01, 0.1, 1, 10}},
		{-1, 0, 4, []float64{0.1, 0.2, 0.5, 1}},
		{-9, 3, 4, []float64{1e-8, 1e-4, 1}},
		{-2, 0, 2, []float64{0.01, 1}},
		{-1.3, -0.8, 4, []float64{0.1, 0.15}},
		{0.05, 0.2, 3, []float64{1.2, 1.4}},
		{-0.1, 0.55, 2, []float64{1, 3}},
		{-0.3, 1.1, 3, []float64{1, 3, 10}},
		{-1, 0.6, 2, []float64{0.1, 1}},
	} {
		got := decades(c.low, c.high, c.n)
		for i := range got {
			got[i] = round(got[i], 12)
		}
		if !reflect.DeepEqual(got, c.want) && !slices.Equal(got, c.want) {
			t.Errorf("10^%v…10^%v in %d: %v, want %v", c.low, c.high, c.n, got, c.want)
		}
	}
}

func TestGlyphsByLocale(t *testing.T) {
	for _, c := range []struct {
		env   []string
		ascii bool
	}{
		{nil, false}, {[]string{"LANG=de_DE.UTF-8"}, false}, {[]string{"LANG=de_DE.UTF-8", "LC_ALL=de_DE.ISO-8859-1"}, true},
		{[]string{"LC_CTYPE=en_US.utf8", "LANG=ru_RU.KOI8-R"}, false},
		{[]string{"LANG=C"}, true}, {[]string{"LANG=en_US.UTF-8", "LC_ALL=POSIX"}, true}, {[]string{"LANG=C.UTF-8"}, false}, {[]string{"LC_ALL=", "LANG="}, false},
	} {
		if got := GlyphsAuto.set(c.env).ascii; got != c.ascii {
			t.Errorf("%v: ascii %v", c.env, got)
		}
	}
}
