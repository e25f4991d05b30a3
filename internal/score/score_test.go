package score

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"newtop/trainer/event"
)

// agree fails unless two figures agree.
func agree(t *testing.T, what string, got event.Float, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 1e-12*max(1, math.Abs(want)) || !got.Finite() {
		t.Errorf("%s is %v, expected %v", what, got, want)
	}
}

// coded returns the targets of a class.
func coded(class, classes int) []float64 {
	t := make([]float64, classes)
	t[class] = 1
	return t
}

// names returns so many names of classes.
func names(classes int) (list []string) {
	for k := range classes {
		list = append(list, fmt.Sprint("class ", k))
	}
	return list
}

// Against the figures of scikit-learn; testdata/scores.py says how they were made.
func TestScoresAgainstScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/scores.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Classes []struct {
			Targets     []int
			Outputs     [][]float64
			Error       float64
			Log         float64 `json:"log_loss"`
			AUC, F1     float64
			Positive    int
			Calibration float64 `json:"calibration_error"`
			Confusion   [][]int
		}
		Values []struct {
			Targets, Outputs    [][]float64
			Unit, MAE, RMSE, R2 float64
		}
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, w := range want.Classes {
		classes := len(w.Outputs[0])
		g := Gather(Kind{Classes: names(classes), Probabilities: true}, classes, 0, func(_, _ []float64) float64 { return 0 })
		for i, class := range w.Targets {
			g.Add(i, nil, coded(class, classes), w.Outputs[i])
		}
		got := g.Scores("test")
		agree(t, "error", got.Error, w.Error)
		agree(t, "log loss", got.Log, w.Log)
		agree(t, "AUC", got.AUC, w.AUC)
		agree(t, "F1", got.F1, w.F1)
		agree(t, "calibration error", got.Calibration, w.Calibration)
		positive := ""
		if w.Positive >= 0 {
			positive = fmt.Sprint("class ", w.Positive)
		}
		if got.Positive != positive || got.Rows != len(w.Targets) || got.Split != "test" || !reflect.DeepEqual(g.Confusion, w.Confusion) {
			t.Errorf("%+v, %v", got, g.Confusion)
		}
		if !got.RMSE.Absent() || !got.MAE.Absent() || !got.R2.Absent() {
			t.Errorf("classes with figures of values: %+v", got)
		}
	}
	for _, w := range want.Values {
		outputs := len(w.Outputs[0])
		units := make([]float64, outputs)
		for k := range units {
			units[k] = w.Unit
		}
		s := NewScorer(Kind{Units: units}, outputs)
		for i := range w.Targets {
			s.Add(w.Targets[i], w.Outputs[i])
		}
		got := s.Scores("")
		agree(t, "MAE", got.MAE, w.MAE)
		agree(t, "RMSE", got.RMSE, w.RMSE)
		agree(t, "R²", got.R2, w.R2)
		if got.Standardized || !got.Error.Absent() || !got.AUC.Absent() {
			t.Errorf("%+v", got)
		}
	}
}

// By hand: of the pairs of a row of the class and another, those in the right order count 1 and equal ones ½.
func TestAreaByHand(t *testing.T) {
	for _, c := range []struct {
		positive, negative []float64
		want               float64
	}{
		{[]float64{0.9, 0.8}, []float64{0.1, 0.2}, 1},
		{[]float64{0.1}, []float64{0.2, 0.3}, 0},
		{[]float64{0.5, 0.5}, []float64{0.5, 0.5, 0.5}, 0.5},
		{[]float64{0.5, 0.8}, []float64{0.5, 0.5, 0.9}, (0.5 + 0.5 + 0 + 1 + 1 + 0) / 6},
		{[]float64{1, math.Inf(1)}, []float64{math.Inf(-1), 1}, (1 + 0.5 + 1 + 1) / 4},
		{nil, []float64{1}, math.NaN()},
		{[]float64{1}, nil, math.NaN()},
	} {
		r := newRanking(2)
		for _, u := range c.positive {
			r.add(1, []float64{0, u})
		}
		for _, u := range c.negative {
			r.add(0, []float64{0, u})
		}
		if got, within := r.area(1); within != 0 || got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v above %v: %v, expected %v", c.positive, c.negative, got, c.want)
		}
	}
}

// Against all pairs, with many equal outputs.
func TestAreaAgainstAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n, levels := 2+rng.IntN(40), 1+rng.IntN(6)
		r, binned := newRanking(3), newRanking(3)
		binned.max = 30
		for range n {
			class, u := rng.IntN(3), []float64{float64(rng.IntN(levels)), rng.Float64(), float64(rng.IntN(2))}
			r.add(class, u)
			binned.add(class, u)
		}
		for k := range 3 {
			sum, pairs := 0.0, 0.0
			for i := range n {
				for j := range n {
					if int(r.class[i]) != k || int(r.class[j]) == k {
						continue
					}
					pairs++
					switch a, b := r.at(i, k), r.at(j, k); {
					case a > b:
						sum++
					case a == b:
						sum += 0.5
					}
				}
			}
			got, within := r.area(k)
			if math.Abs(got-sum/pairs) > 1e-12 || within != 0 || math.IsNaN(got) != (pairs == 0) {
				t.Fatalf("%v ± %v, by pairs %v", got, within, sum/pairs)
			}
			if got, within = binned.area(k); math.Abs(got-sum/pairs) > within+1e-12 {
				t.Fatalf("%v ± %v in bins, by pairs %v", got, within, sum/pairs)
			}
		}
	}
}

// By hand: three rows in the bin of 0.6, two of them right, and one at 1 that is wrong.
func TestCalibrationByHand(t *testing.T) {
	s := NewScorer(Kind{Classes: names(2), Probabilities: true}, 2)
	for _, row := range []struct {
		class int
		p     float64 // of class 1
	}{{1, 0.6}, {1, 0.6}, {0, 0.6}, {0, 1}} {
		s.Add(coded(row.class, 2), []float64{1 - row.p, row.p})
	}
	got := s.Scores("")
	agree(t, "calibration error", got.Calibration, math.Abs(2-1.8)/4+1.0/4)
	agree(t, "log loss", got.Log, -(2*math.Log(0.6)+math.Log(1-0.6)+math.Log(0x1p-52))/4)
	// Of equal numbers of rows the second class is the positive one: it is said four times, twice rightly.
	agree(t, "F1", got.F1, 2*2.0/(2+4))
	if got.Positive != "class 1" {
		t.Errorf("the positive class is %q", got.Positive)
	}
}

// More rows than are kept are counted in bins, also where later rows are unlike the first, and AUC has the digits that are
// known.
func TestAreaOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	all, few := NewScorer(Kind{Classes: names(2)}, 2), NewScorer(Kind{Classes: names(2)}, 2)
	few.ranked.max = 1 << 12
	for i := range 40_000 {
		class := rng.IntN(2)
		u := []float64{0, rng.NormFloat64() + float64(class) + float64(i)/20_000}
		all.Add(coded(class, 2), u)
		few.Add(coded(class, 2), u)
	}
	want, got := float64(all.Scores("").AUC), float64(few.Scores("").AUC)
	if got != math.Round(want*1000)/1000 || few.ranked.blocks != nil || len(few.ranked.bins[1].rows) > 1<<10+1 {
		t.Errorf("%v in %d bins, expected %v", got, len(few.ranked.bins[1].rows), want)
	}
	few.Add(coded(0, 2), []float64{0, math.NaN()})
	if !few.Scores("").AUC.Absent() {
		t.Errorf("an output that is no number has an AUC")
	}
}

func TestWhatHasNoValue(t *testing.T) {
	empty := NewScorer(Kind{Classes: names(3), Probabilities: true}, 3).Scores("test")
	if empty.Rows != 0 || !empty.Error.Absent() || !empty.AUC.Absent() {
		t.Errorf("no rows: %+v", empty)
	}
	s := NewScorer(Kind{Classes: names(3), Probabilities: true}, 3)
	s.Add(coded(1, 3), []float64{0.2, 0.7, 0.1})
	if e := s.Scores(""); !e.AUC.Absent() || e.Error != 0 || e.F1 != 1 {
		t.Errorf("one class alone: %+v", e)
	}
	s.Add(coded(0, 3), []float64{math.NaN(), 0.7, 0.1})
	if e := s.Scores(""); !e.AUC.Absent() || e.Error != 0.5 || !e.Log.NonFinite() {
		t.Errorf("outputs that are no numbers: %+v", e)
	}
	scores := NewScorer(Kind{Classes: names(2)}, 2)
	scores.Add(coded(1, 2), []float64{-3, 3})
	scores.Add(coded(0, 2), []float64{1, 0})
	if e := scores.Scores(""); !e.Log.Absent() || !e.Calibration.Absent() || e.AUC != 1 {
		t.Errorf("outputs that are no probabilities: %+v", e)
	}
	v := NewScorer(Kind{Units: []float64{2, 3}}, 2)
	v.Add([]float64{1, 5}, []float64{2, 5})
	v.Add([]float64{1, 7}, []float64{1, 7})
	if e := v.Scores(""); !e.R2.Absent() || !e.Standardized || e.MAE != 0.25 || e.RMSE != 0.5 {
		t.Errorf("a constant target, and two units: %+v", e)
	}
}
