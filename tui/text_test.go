package tui

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
)

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
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLineNeverOverflows(t *testing.T) {
	v := Pen{ThemeAuto.Palette(true, colorprofile.ASCII, true), GlyphsBraille.Set(nil)}
	for room := range 12 {
		l := v.Line(room)
		l.Put(Train, "abc").Put(Text, "数据数据").To(9).Put(Bad, "xyz")
		if got := ansi.StringWidth(l.Full()); got != room {
			t.Errorf("room %d: %d wide: %q", room, got, l.Full())
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
			got[i] = format.Round(got[i], 12)
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
		if got := GlyphsAuto.Set(c.env).ASCII; got != c.ascii {
			t.Errorf("%v: ascii %v", c.env, got)
		}
	}
}
