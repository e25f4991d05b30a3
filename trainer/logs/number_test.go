package logs

import (
	"math"
	"math/rand/v2"
	"newtop/internal/alloctest"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestNumbersAsProgramsPrintThem(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for text, want := range map[string]float64{
		"0": 0, "12": 12, "-0.5": -0.5, ".5": 0.5, "5.": 5, "+2": 2, "1e-3": 1e-3, "7.5E+03": 7500, " 0.25\t": 0.25, "93%": 93, "1,234": 1234, "-1,234,567.5": -1234567.5,
		"0.30000000000000004": 0.30000000000000004, "4.9970059880239524e-05": 4.9970059880239524e-05, "1e22": 1e22, "1e23": 1e23, "5e-324": 5e-324,
		"nan": nan, "NaN": nan, "-nan": nan, "inf": inf, "Infinity": inf, "-inf": -inf, "-Infinity": -inf, "+INF": inf, "1e999": inf, "-1e999": -inf,
	} {
		v, ok := ParseNumber([]byte(text))
		if !ok || math.Float64bits(v) != math.Float64bits(want) && !(v != v && want != want) {
			t.Errorf("%q: %v, %v", text, v, ok)
		}
	}
	for _, text := range []string{"", " ", "NA", "N/A", "-", "%", ".", "e5", "1e", "1e+", "0x10", "1_0", "1,23", ",123", "1234,567", "in", "infin", "nano", "1.2.3", "5s", "1-2", "00:02", "'0.5'", "1 2"} {
		if v, ok := ParseNumber([]byte(text)); ok {
			t.Errorf("%q is taken for %v", text, v)
		}
	}
	long := []byte("0.30000000000000004")
	if n := alloctest.PerRun(100, func() { ParseNumber(long) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLongNumbers compares numbers of as many digits as Python prints with strconv's.
func TestLongNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		v := math.Float64frombits(random.Uint64N(0x7ff << 52))
		if random.IntN(4) > 0 {
			v = random.NormFloat64() * math.Pow(10, float64(random.IntN(20)-10))
		}
		text := strconv.FormatFloat(v, "fge"[random.IntN(3)], random.IntN(20)-1, 64)
		got, ok := ParseNumber([]byte(text))
		if want, _ := strconv.ParseFloat(text, 64); !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: %v", text, got)
		}
	}
}

func TestMissing(t *testing.T) {
	for _, text := range []string{"", "  ", "NA", "N/A", "null", "None", "-", "--"} {
		if !Missing([]byte(text)) {
			t.Errorf("%q is not missing", text)
		}
	}
	for _, text := range []string{"nan", "0", "na", "noon"} {
		if Missing([]byte(text)) {
			t.Errorf("%q is missing", text)
		}
	}
}

func TestTimes(t *testing.T) {
	zone := time.FixedZone("", 3600)
	for text, want := range map[string]float64{
		"1970-01-01 01:00:10": 10, "1970-01-01T01:00:10.5": 10.5, "1970-01-01T00:00:10Z": 10, "1970-01-01T00:00:10.250000+00:00": 10.25, "1970-01-01 02:00:10+02:00": 10,
	} {
		if v, ok := ParseTime([]byte(text), zone); !ok || v != want {
			t.Errorf("%q: %v, %v", text, v, ok)
		}
	}
	for _, text := range []string{"", "1970-01-01", "1970-01-01 25:00:00", "1970-01-01 01:00:10 or so"} {
		if _, ok := ParseTime([]byte(text), zone); ok {
			t.Errorf("%q is a time", text)
		}
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"47\b\b48é\b": "48",
		"plain é":     "plain é", " 1%\r 2%\r": " 2%", "\x1b[1m422/422\x1b[0m \x1b]0;title\aok": "422/422 ok", "a\tb\x00\x7fc\xff\n": "a bc", "\x1b[31": "",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func FuzzParseNumber(f *testing.F) {
	for _, s := range []string{"0.5", "-1e-3", "123456789012345678", "1,234", "93%", "nan", "1e22", "0.1e22", "9007199254740993"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := ParseNumber([]byte(s))
		plain := strings.Trim(s, "0123456789+-.eE") == ""
		want, err := strconv.ParseFloat(s, 64)
		if plain && ok != (err == nil || math.IsInf(want, 0)) || plain && ok && math.Float64bits(v) != math.Float64bits(want) {
			t.Errorf("%q: %v, %v; strconv: %v, %v", s, v, ok, want, err)
		}
		Clean(s)
		ParseTime([]byte(s), time.UTC)
	})
}
