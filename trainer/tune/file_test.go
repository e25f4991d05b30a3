package tune

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestReadSpace(t *testing.T) {
	const text = `data = "spirals"
budget = "60s"

[over]
rate = {low = 1e-4, high = 1e-1, log = true}
opt = ["adam", "tr-gn"]
net = "70-50,100"
batch = "16..512:log:int"
"adam.beta1" = [0.8, 0.9]
committee = 3
over.opt = "x"
[over.tr-gn]
blocks = {low = 1, high = 8, int = true, log = false}

[over.radius]
low = 1
high = 2
`
	got, err := ReadSpace("space.toml", []byte(strings.ReplaceAll(text, "over.opt = \"x\"\n", "")))
	if err != nil {
		t.Fatal(err)
	}
	want := []Dimension{
		{Key: "rate", Low: 1e-4, High: 0.1, Log: true},
		{Key: "opt", Choices: []string{"adam", "tr-gn"}},
		{Key: "net", Choices: []string{"70-50", "100"}},
		{Key: "batch", Low: 16, High: 512, Log: true, Whole: true},
		{Key: "adam.beta1", Choices: []string{"0.8", "0.9"}},
		{Key: "committee", Choices: []string{"3"}},
		{Key: "tr-gn.blocks", Low: 1, High: 8, Whole: true},
		{Key: "radius", Low: 1, High: 2},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nexpected %+v", got, want)
	}
	if got, err := ReadSpace("f", []byte("data = \"sine\"\n")); got != nil || err != nil {
		t.Errorf("a file without a space is %+v, %v", got, err)
	}
	for _, dotted := range []string{"over.opt = [\"adam\"]\n", "over = {opt = [\"adam\"]}\n"} {
		if got, err := ReadSpace("f", []byte(dotted)); err != nil || len(got) != 1 || got[0].Key != "opt" {
			t.Errorf("%s is %+v, %v", dotted, got, err)
		}
	}
}

func TestReadSpaceErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a = \n":                     "f:1:",
		"over = 3\n":                 "f:1:1: over: expected a table",
		"[over]\nrate = {low = 1}\n": "f:2:1: rate: no number for high",
		"[over]\nrate = {low = \"1\", high = 2}\n":                   "f:2:1: rate: no number for low",
		"[over]\n\n  rate = {low = 2, high = 1}\n":                   "f:3:3: rate=2..1: expected two numbers, the lower one first",
		"[over]\nrate = {low = 0, high = 1, log = true}\n":           "f:2:1: rate=0..1:log: expected numbers > 0",
		"[over]\nrate = {low = 1, high = 2, base = 3}\n":             "f:2:28: rate: unknown key \"base\"",
		"[over]\nrate = {low = 1, high = 2, log = 1}\n":              "f:2:28: rate: log = 1: expected true or false",
		"[over]\nopt = []\n":                                         "f:2:1: opt=: expected",
		"[over]\nopt = [\"a,b\"]\n":                                  "f:2:1: opt: element 1 is a,b",
		"[over]\nopt = [true]\n":                                     "f:2:1: opt: element 1 is true",
		"[over]\nopt = true\n":                                       "f:2:1: opt = true: expected a list",
		"[over]\nday = 2026-11-22\n":                                 "f:2:1: day = 2026-11-22: expected a list",
		"[over.adam]\nbeta1 = [0.1, 0.1]\n":                          "f:2:1: adam.beta1=0.1,0.1: expected each value once",
		"[[over]]\nopt = [\"adam\"]\n":                               "f:1:3: over: expected a table",
		"[over]\nopt = [\"adam\"]\nopt = [\"sgd\"]\n":                "f:3:",
		"[over]\nrate = {low = nan, high = 1}\n":                     "f:2:1: rate=NaN..1: expected",
		"[over]\n[over.adam.deep]\nx = 1\n":                          "f:2:2: adam.deep: no number for low",
		"[over.adam]\n\"tr-gn\" = {low = 1, high = 2, int = true}\n": "",
	} {
		dims, err := ReadSpace("f", []byte(text))
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		var bad *SpaceError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v, expected %s", text, dims, err, want)
		}
	}
}

// FuzzReadSpace wants an error with a place in the file, or dimensions that their own text gives back.
func FuzzReadSpace(f *testing.F) {
	for _, text := range []string{
		"[over]\nrate = {low = 1e-4, high = 1e-1, log = true}\nopt = [\"adam\", \"tr-gn\"]\n",
		"[over.adam]\nbeta1 = [0.8, 0.9]\n[over.radius]\nlow = 1\nhigh = 2.5\n",
		"over.net = \"70-50,100\"\nover = {opt = [\"adam\"]}\n", "over = {x = {low = 1, high = 3, int = true}}", "[[over]]\n", "[over]\n\"a b\" = 1\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dims, err := ReadSpace("f", []byte(text))
		if err != nil {
			var bad *SpaceError
			if !errors.As(err, &bad) || dims != nil {
				t.Fatalf("%+v, %#v", dims, err)
			}
			if lines := strings.Count(text, "\n") + 1; bad.Line < 0 || bad.Line > lines {
				t.Fatalf("line %d of %d", bad.Line, lines)
			}
			return
		}
		for _, d := range dims {
			again, err := ParseDimension(d.String())
			if err != nil || !reflect.DeepEqual(again, d) {
				t.Fatalf("%q gives %+v, again %+v, %v", text, d, again, err)
			}
		}
	})
}
