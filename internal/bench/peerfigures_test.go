package bench

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/trainer/event"
)

// TestCompared holds the ratios of two pairs against those by hand: like for like where newtop has the precision, else its best.
func TestCompared(t *testing.T) {
	type line = map[string]any
	tab := newTable("it", 2)
	for pair, lines := range [][]line{
		{{"peer": "torch", "dtype": "float64", "step_ms": 8.0}, {"peer": "torch", "dtype": "float32", "step_ms": 6.0}, {"peer": "torch", "dtype": "float64", "step_ms": 9.0},
			{"peer": "torch", "dtype": "bfloat16", "step_ms": 3.0}, {"peer": "newtop", "dtype": "float64", "step_ms": 2.0}, {"peer": "newtop", "dtype": "float32", "step_ms": 1.0}},
		{{"peer": "torch", "dtype": "float64", "step_ms": 6.0}, {"peer": "torch", "dtype": "float32", "step_ms": nil},
			{"peer": "newtop", "dtype": "float64", "step_ms": 3.0}, {"peer": "newtop", "dtype": "float32", "step_ms": 3.0}},
	} {
		for _, l := range lines {
			if !tab.add(pair, l) {
				t.Errorf("has no times: %v", l)
			}
		}
	}
	if tab.add(0, line{"peer": "torch", "batch": 4.0, "gradient_ms": 1.0}) && tab.add(0, line{"peer": "torch", "seconds": 3.0}) {
		t.Error("other seconds are a time")
	}
	list := tab.compared()
	if len(list) != 1 || list[0].What != "it: step_ms" {
		t.Fatalf("compared %+v", list)
	}
	inf := event.Float(math.Inf(1))
	want := map[string][]event.Float{ // pairs, median, least, most
		"newtop float64 beside torch float64":  {4, 2, 3, 2, 4},
		"newtop float32 beside torch float32":  {6, inf, inf, 6, inf},
		"newtop float32 beside torch bfloat16": {3, event.Absent, 3, 3, 3},
	}
	for _, r := range list[0].Ratios {
		got := append(slices.Clone(r.Pairs), r.Median, r.Least, r.Most)
		if name := r.Newtop + " beside " + r.Name; !slices.EqualFunc(got, want[name], func(a, b event.Float) bool { return a == b || a.Absent() && b.Absent() }) {
			t.Errorf("%s: %v, expected %v", name, got, want[name])
		}
	}
	if len(list[0].Ratios) != len(want) {
		t.Errorf("%d ratios", len(list[0].Ratios))
	}
}

// TestNobodyGotThere has no ratio, and no newtop no figure.
func TestNobodyGotThere(t *testing.T) {
	tab := newTable("it", 1)
	tab.add(0, map[string]any{"peer": "torch", "seconds_to_target": nil})
	if list := tab.compared(); len(list) != 0 {
		t.Errorf("compared %+v", list[0])
	}
	tab = newTable("it", 1)
	tab.add(0, map[string]any{"peer": "torch", "seconds_to_target": nil})
	tab.add(0, map[string]any{"peer": "newtop", "seconds_to_target": nil})
	if r := tab.compared()[0].Ratios[0]; !r.Median.Absent() || !r.Pairs[0].Absent() || !r.Most.Absent() {
		t.Errorf("compared %+v", r)
	}
}

func TestOutcomeOfARun(t *testing.T) {
	o := outcome{3, map[string]any{"seconds_to_target": nil}}
	nan := event.Float(math.NaN())
	for i, e := range []struct {
		elapsed, test event.Float
		ended         bool
	}{{0, 0.97, false}, {1, 0.051, false}, {1.5, 0.05, false}, {2, 0.04, false}, {3, nan, true}} {
		err := o.Record(event.EpochEvent{Epoch: i, Elapsed: e.elapsed, TestError: e.test})
		if (err == errBudget) != e.ended || (o.line["seconds_to_target"] != nil) != (i >= 2) {
			t.Errorf("epoch %d: %v, %v", i, err, o)
		}
	}
	if l := o.line; l["seconds_to_target"] != 1.5 || l["seconds"] != event.Float(3) || l["epochs"] != 4 {
		t.Errorf("came to %v", l)
	}
}

func TestWorks(t *testing.T) {
	o := PeerOptions{DataDir: "data", Budget: time.Second}
	deep := o.allWorks()[productsScript][2]
	if want := "--dims 784," + strings.Repeat("100,", 20) + "10 --rows 4000"; strings.Join(deep.args, " ") != want {
		t.Errorf("deep is %q", deep.args)
	}
	if wide := o.allWorks()[batchScript][2]; strings.Join(wide.args, " ") != "--dims 784,1024,1024,10 --batches 64,256" {
		t.Errorf("wide is %q", wide.args)
	}
}
