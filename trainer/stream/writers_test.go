package stream

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

// TestWriters reads what today's writers wrote, and compares each point with what they were told. .ci/writers/run --keep
// makes testdata/writers anew.
func TestWriters(t *testing.T) {
	folders, err := filepath.Glob("testdata/writers/*/truth.json")
	if err != nil || len(folders) == 0 {
		t.Fatal("no writers", err)
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var kept struct {
				Truth map[string][][3]any
			}
			if err := json.Unmarshal(text, &kept); err != nil {
				t.Fatal(err)
			}
			for target, truth := range kept.Truth {
				if strings.Contains(target, "#") {
					continue
				}
				path := filepath.Join(folder, target)
				if target == "console" {
					path += ".txt"
				}
				checkTruth(t, target, truth, seriesOf(t, path))
			}
		})
	}
}

// seriesOf returns the points of all runs at a path, by the metric and x.
func seriesOf(t *testing.T, path string) map[string]map[int]float64 {
	t.Helper()
	out := map[string]map[int]float64{}
	read := func(s Source, err error) {
		if err := eachRun(s, err, func(told []*event.Series) {
			for _, series := range told {
				if out[series.Key] == nil {
					out[series.Key] = map[int]float64{}
				}
				for p := range series.All() {
					out[series.Key][p.X] = float64(p.V)
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	here := files.Here(path)
	if !here.IsDir() {
		read(Open(here, ""))
	}
	for _, c := range Find(here) {
		read(OpenFound(c, here))
	}
	return out
}

// checkTruth compares points with what a writer was told: names do not count, and an accuracy may be an error.
func checkTruth(t *testing.T, target string, truth [][3]any, read map[string]map[int]float64) {
	t.Helper()
	told := map[string]map[int]float64{}
	for _, p := range truth {
		name, x, v := p[0].(string), int(p[1].(float64)), math.NaN()
		switch value := p[2].(type) {
		case float64:
			v = value
		case string:
			v = math.Inf(map[bool]int{true: -1, false: 1}[value[0] == '-'])
		}
		if told[name] == nil {
			told[name] = map[int]float64{}
		}
		told[name][x] = v
	}
	for name, points := range told {
		if strings.HasSuffix(name, "time_elapsed") { // is no metric, but when its epoch was
			continue
		}
		most, as := -1, ""
		for key, got := range read {
			for _, form := range []func(v float64) float64{
				func(v float64) float64 { return v }, func(v float64) float64 { return 1 - v },
				func(v float64) float64 { return v / 100 }, func(v float64) float64 { return 1 - v/100 }} {
				n := 0
				for x, v := range points {
					if r, has := got[x]; has && (printedAs(r, form(v)) || r != r && v != v) {
						n++
					}
				}
				if n > most {
					most, as = n, key
				}
			}
		}
		if most < len(points) {
			t.Errorf("%s: %s: %d of %d points, as %s: told %v, read %v", target, name, most, len(points), as, points, read[as])
		}
	}
}

// printedAs reports whether one number is the other to the digits that programs print.
func printedAs(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 6e-3*max(math.Abs(a), math.Abs(b))+6e-5
}
