package tune

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"newtop/trainer"
	"newtop/trainer/optim"
)

func TestParseDimension(t *testing.T) {
	for text, want := range map[string]Dimension{
		"opt=tr-gn,adam":             {Key: "opt", Choices: []string{"tr-gn", "adam"}},
		"rate=1e-4..1e-1:log":        {Key: "rate", Low: 1e-4, High: 0.1, Log: true},
		"batch=16..512:log:int":      {Key: "batch", Low: 16, High: 512, Log: true, Whole: true},
		" batch = 16 .. 512 :int ":   {Key: "batch", Low: 16, High: 512, Whole: true},
		"net=70-50,100,50-50-50":     {Key: "net", Choices: []string{"70-50", "100", "50-50-50"}},
		"adam.rate=0.001":            {Key: "adam.rate", Choices: []string{"0.001"}},
		"momentum=-1..1":             {Key: "momentum", Low: -1, High: 1},
		"init=uniform:0.2,normal:.1": {Key: "init", Choices: []string{"uniform:0.2", "normal:.1"}},
	} {
		got, err := ParseDimension(text)
		if err != nil || got.Key != want.Key || !slices.Equal(got.Choices, want.Choices) ||
			got.Low != want.Low || got.High != want.High || got.Log != want.Log || got.Whole != want.Whole {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                     "KEY=A,B,C or KEY=LOW..HIGH",
		"rate":                 "KEY=A,B,C or KEY=LOW..HIGH",
		"=1,2":                 "KEY=A,B,C or KEY=LOW..HIGH",
		"rate=":                "KEY=A,B,C or KEY=LOW..HIGH",
		"rate=1,,2":            "a value between the commas",
		"rate=1,2,1":           "each value once; 1 is there twice",
		"rate=1..":             "two numbers",
		"rate=a..b":            "two numbers",
		"rate=2..1":            "the lower one first",
		"rate=1..1":            "the lower one first",
		"rate=NaN..1":          "the lower one first",
		"rate=0..Inf":          "the lower one first",
		"rate=0..1:log":        "numbers > 0",
		"batch=1.5..4:int":     "whole numbers",
		"rate=1..2:ln":         "nothing but :log and :int",
		"a b=1..2":             "a key",
		"x=" + listOf(1001):    "at most 1000 values",
		"rate=1e-4..1e-1:log2": "nothing but :log and :int",
	} {
		_, err := ParseDimension(text)
		var config *trainer.ConfigError
		if !errors.As(err, &config) || config.Field != "Over" || config.Value != text || !strings.Contains(config.Expected, want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func listOf(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strconv.Itoa(i)
	}
	return strings.Join(parts, ",")
}

func FuzzParseDimension(f *testing.F) {
	for _, text := range []string{
		"opt=tr-gn,adam", "rate=1e-4..1e-1:log", "batch=16..512:log:int", "adam.rate=1e-300..1e300:log", "x=-5..-4:int", "x=1,2", "x=..", "=", "x=0..9007199254740992:int",
	} {
		f.Add(text, 0.5)
	}
	f.Fuzz(func(t *testing.T, text string, u float64) {
		d, err := ParseDimension(text)
		if err != nil {
			return
		}
		again, err := ParseDimension(d.String())
		if err != nil || again.String() != d.String() {
			t.Fatalf("%q reads as %q, and that as %q: %v", text, d.String(), again.String(), err)
		}
		if !(u >= 0 && u < 1) {
			u = 0
		}
		c := d.at(u)
		if d.Choices != nil {
			if !slices.Contains(d.Choices, c.Value) {
				t.Fatalf("%s at %g: %+v", d.String(), u, c)
			}
			return
		}
		v, err := strconv.ParseFloat(c.Value, 64)
		if err != nil || v < d.Low || v > d.High || !(c.Number >= 0 && c.Number <= 1) || d.Whole && v != math.Trunc(v) {
			t.Fatalf("%s at %g: %+v", d.String(), u, c)
		}
	})
}

// Every whole number of a range gets its share, the ends as well.
func TestWholeNumbers(t *testing.T) {
	const n = 20000
	for _, c := range []struct {
		d     Dimension
		share func(v float64) float64
	}{
		{Dimension{Key: "k", Low: 1, High: 4, Whole: true}, func(float64) float64 { return 0.25 }},
		{Dimension{Key: "k", Low: 1, High: 4, Whole: true, Log: true}, func(v float64) float64 {
			return math.Log((v+0.5)/(v-0.5)) / math.Log(9)
		}},
	} {
		counts := map[string]int{}
		for i := range n {
			counts[c.d.at((float64(i)+0.5)/n).Value]++
		}
		for v := 1.; v <= 4; v++ {
			if got, want := float64(counts[optim.Format(v)])/n, c.share(v); math.Abs(got-want) > 1e-3 {
				t.Errorf("%s: %g has the share %.4f, expected %.4f", c.d.String(), v, got, want)
			}
		}
	}
	d := Dimension{Key: "rate", Low: 1e-4, High: 1e-2, Log: true}
	for u, want := range map[float64]string{0: "0.0001", 0.5: "0.001", 0.25: "0.0003162"} {
		if c := d.at(u); c.Value != want || math.Abs(c.Number-u) > 1e-4 {
			t.Errorf("rate at %g: %+v, expected %s", u, c, want)
		}
	}
}

func TestSpaceErrors(t *testing.T) {
	for _, c := range []struct {
		over []string
		base trainer.Config
		want string
	}{
		{over: []string{"opt=adm"}, want: `unknown optimizer "adm"`},
		{over: []string{"opt=1..2"}, want: "a list of optimizers"},
		{over: []string{"rat=1..2"}, want: "Over rat=1..2: expected one of opt, net,"},
		{over: []string{"opt=adam,lbfgs", "radius=1..2"}, want: "or a hyperparameter of adam, lbfgs: rate, beta1"},
		{over: []string{"opt=adam", "nag.rate=1..2"}, want: "a method that is searched before the point: adam"},
		{over: []string{"opt=adam", "adam.rat=1..2"}, want: "a hyperparameter of adam: rate, beta1"},
		{over: []string{"opt=adam", "rate=0..1"}, want: "Over rate=0..1: expected a number > 0"},
		{over: []string{"opt=adam", "rate=1,x"}, want: "Over rate=1,x: expected a number > 0"},
		{over: []string{"opt=adam", "rate=1,2", "rate=3,4"}, want: "each key once"},
		{over: []string{"opt=adam", "batch=0..8"}, want: "expected whole numbers ≥ 1"},
		{over: []string{"opt=adam", "batch=1.5..8"}, want: "whole numbers for a range with :int"},
		{over: []string{"act=tanh,rilu"}, want: "Over act=tanh,rilu: expected"},
		{over: []string{"act=1..2"}, want: "a list of values"},
		{over: []string{"net=70-x"}, want: "sizes of hidden layers"},
		{over: []string{"skip=some"}, want: "none, direct or all"},
		{over: []string{"opt=tr-gn", "rule=0..1"}, want: "a list of tuned or textbook"},
		{over: []string{"opt=tr-gn", "limit=1.5..3"}, want: "whole numbers"},
		{over: []string{"opt=adam"}, base: trainer.Config{Set: []string{"radius=1"}}, want: "Set radius=1: expected a hyperparameter of a method that is searched"},
		{over: []string{"opt=adam"}, base: trainer.Config{Set: []string{"rate=-1"}}, want: "Set rate=-1"},
		{base: trainer.Config{Epochs: -1}, want: "Epochs -1"},
	} {
		_, err := newSpace(c.base, dimensions(t, c.over...))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, expected %q in it", c.over, err, c.want)
		}
	}
}

func dimensions(t testing.TB, texts ...string) (out []Dimension) {
	t.Helper()
	for _, text := range texts {
		d, err := ParseDimension(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// What a method does not have is left out of its trials.
func TestConditionalSpace(t *testing.T) {
	over := dimensions(t, "rate=0.1..0.2", "adam.rate=0.01..0.02", "radius=1..2", "batch=16..64:int", "opt=adam,nag,tr-gn,lbfgs", "act=tanh,relu")
	s, err := newSpace(trainer.Config{Set: []string{"rate=7", "xi=0.1"}}, over)
	if err != nil {
		t.Fatal(err)
	}
	point := []float64{0, 0, 0, 0, 0, 0}
	for i, want := range []struct{ choices, set string }{
		{"opt=adam adam.rate=0.01 batch=16 act=tanh ", "rate=0.01"},
		{"opt=nag rate=0.1 batch=16 act=tanh ", "rate=0.1"},
		{"opt=tr-gn radius=1 act=tanh ", "xi=0.1 radius=1"},
		{"opt=lbfgs act=tanh ", ""},
	} {
		point[0] = float64(i) / 4
		choices := s.at(point)
		if got := text(choices); got != want.choices {
			t.Errorf("%q, expected %q", got, want.choices)
		}
		c, err := s.config(choices)
		if err == nil {
			err = c.Check()
		}
		if got := strings.Join(c.Set, " "); got != want.set || err != nil || c.Act != "tanh" {
			t.Errorf("%s: --set %q, expected %q; %v", want.choices, got, want.set, err)
		}
	}
	if n := s.size(); n != 0 {
		t.Errorf("size %d of a space with ranges", n)
	}
	s, err = newSpace(trainer.Config{}, dimensions(t, "opt=adam,lbfgs", "batch=16..19:int", "act=tanh,relu", "net=70-50,none"))
	if err != nil {
		t.Fatal(err)
	}
	if n := s.size(); n != 4*2*2+2*2 {
		t.Errorf("size %d, expected 20", n)
	}
}

// The default space fits every data set, and every trial of it can be trained.
func TestUsual(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range 300 {
		text.WriteString(strconv.Itoa(i*i%301) + "," + strconv.Itoa(i) + ".5\n")
	}
	table := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(table, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []trainer.Config{
		{Data: "spirals"}, {Data: "bpls-linear"}, {Data: "sine"}, {Data: "parity", Optimizer: "adam"},
		{Data: "spirals", Optimizer: "scg"}, {Data: "spirals", Batch: 32, Blocks: 2, Set: []string{"rate=0.1"}}, {Data: "nowhere.csv"},
		{Data: table}, {Data: table, Optimizer: "bpls"}, {Data: table, Optimizer: "lbfgs", Hidden: []int{3}, Act: "relu", L2: 0.1},
	} {
		over, rows := DefaultSpace(c)
		if (rows == 240) != (c.Data == table) {
			t.Errorf("%s: a table of %d training rows", c.Data, rows)
		}
		s, err := newSpace(c, over)
		if err != nil {
			t.Errorf("%s: %v", c.Data, err)
			continue
		}
		p := newSampler(s, "", 1)
		for range 64 {
			config, err := s.config(s.at(p.draw()))
			if err == nil {
				err = config.Check()
			}
			if err != nil {
				t.Errorf("%s: %v", c.Data, err)
			}
		}
	}
}

// The first trials of a search over what is usual are the methods at their defaults.
func TestMethodsAtTheirDefaults(t *testing.T) {
	s, err := newSpace(trainer.Config{}, dimensions(t, "opt=soap,adam", "soap.rate=1e-3..0.5:log", "adam.rate=1e-5..1e-4:log",
		"batch=16..512:log:int", "schedule=linear", "horizon=5..80:log:int"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"opt=soap soap.rate=0.02 batch=128 schedule=linear horizon=19 ",
		"opt=adam adam.rate=3.162e-05 batch=64 schedule=linear horizon=19 "} {
		if got := text(s.usual(i)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if _, err := s.config(s.usual(i)); err != nil {
			t.Error(err)
		}
	}
}
