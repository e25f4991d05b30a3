package tune

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"newtop/trainer"
	"newtop/trainer/event"
)

// synthetic is a space with trials that had values that a function of their places gives.
func synthetic(t testing.TB, n int, f func(method string, rate, batch, noise float64) float64) (*space, []*trial) {
	t.Helper()
	s, err := newSpace(trainer.Config{}, dimensions(t, "opt=adam,nag", "rate=1e-4..1:log", "nag.momentum=0..0.9", "batch=16..512:log:int"))
	if err != nil {
		t.Fatal(err)
	}
	var trials []*trial
	p, r := newSampler(s, "sobol", 3), rand.New(rand.NewPCG(3, 4))
	for i := range n {
		choices := s.at(p.draw())
		one := &trial{Trial: Trial{Number: i + 1, Choices: choices, State: Paused}}
		v := math.Exp(f(choices[0].Value, choiceOf(one, "rate").Number, choiceOf(one, "batch").Number, r.NormFloat64()))
		one.Best, one.scores = event.Float(v), []float64{v}
		trials = append(trials, one)
	}
	return s, trials
}

// Shares of the analysis of variance that follow from the function: a·x of a uniform x has the variance a²/12.
func TestImportanceOfKnownShares(t *testing.T) {
	space, trials := synthetic(t, 512, func(method string, rate, batch, noise float64) float64 {
		v := 3*rate + 1*batch + 0.5*noise
		if method == "nag" {
			v += 2
		}
		return v
	})
	within := 9./12 + 1./12 + 0.25 // beside the method, whose ±1 have the variance 1
	want := map[string]float64{"rate": 0.75 / within, "batch": 1. / 12 / within, "opt": 1 / (1 + within), "nag.momentum": 0}
	got := importances(space, trials)
	for _, m := range got {
		// Bins lose a little of a slope: of five, 1/25.
		if math.Abs(m.Share-want[m.Key]) > 0.06 || !(m.Spread > 0 && m.Spread < 0.1) {
			t.Errorf("%s explains %.3f ± %.3f, expected %.3f", m.Key, m.Share, m.Spread, want[m.Key])
		}
		switch trend := m.Trend; {
		case m.Key == "opt" && trend != "best: adam", m.Key == "rate" && trend != "best near 0.00025", m.Key == "nag.momentum" && trend != "no clear trend":
			t.Errorf("%s: %s", m.Key, trend)
		}
	}
	if len(got) != 4 || got[0].Key != "rate" {
		t.Errorf("%+v", got)
	}
	if a, b := importances(space, trials), importances(space, trials); a[0] != b[0] {
		t.Errorf("%+v and %+v of the same trials", a[0], b[0])
	}
}

// A trend is of trials of the same method, where a better method has other values too.
func TestTrendWithinMethods(t *testing.T) {
	space, trials := synthetic(t, 256, func(method string, _, batch, noise float64) float64 {
		v := 3*batch + 0.1*noise
		if method == "adam" {
			v += 6
		}
		return v
	})
	trials = slices.DeleteFunc(trials, func(t *trial) bool {
		position := choiceOf(t, "batch").Number
		if t.Choices[0].Value == "adam" {
			return position > 0.8
		}
		return position < 0.5
	})
	for _, m := range importances(space, trials) {
		if value, ok := strings.CutPrefix(m.Trend, "best near "); m.Key == "batch" {
			if v, err := strconv.ParseFloat(value, 64); !ok || err != nil || v > 32 {
				t.Errorf("%+v, expected the least batches", m)
			}
		}
	}
}

func TestImportanceOfLittle(t *testing.T) {
	flat := func(string, float64, float64, float64) float64 { return 0 }
	if got := importances(synthetic(t, 7, flat)); got != nil {
		t.Errorf("of seven trials: %+v", got)
	}
	for _, m := range importances(synthetic(t, 30, flat)) {
		if m.Share != 0 || m.Trend != "no clear trend" {
			t.Errorf("of equal trials: %+v", m)
		}
	}
	space, trials := synthetic(t, 30, func(_ string, rate, _, _ float64) float64 { return rate })
	for i := range trials {
		switch i % 3 {
		case 0: // diverged: no better than the worst
			trials[i].State, trials[i].scores = Diverged, []float64{math.Inf(1)}
		case 1:
			trials[i].scores = nil
		}
	}
	for _, m := range importances(space, trials) {
		if math.IsNaN(m.Share) || m.Share < 0 || m.Share > 1 || math.IsNaN(m.Spread) || strings.Contains(m.Trend, "NaN") {
			t.Errorf("%+v", m)
		}
	}
}

func TestOrder(t *testing.T) {
	nan := event.Float(math.NaN())
	make := func(target float64, trials ...Trial) *ranking {
		q := &ranking{config: &Config{Base: trainer.Config{TargetError: target}}}
		for i := range trials {
			one := trials[i]
			one.Number = i + 1
			if one.Setting == 0 {
				one.Setting = one.Number
			}
			if one.TargetSeconds == 0 {
				one.TargetSeconds, one.TargetEquivalents = nan, nan
			}
			one.TargetEquivalents = one.TargetSeconds
			q.trials = append(q.trials, &trial{Trial: one, curve: boundedCurve{count: 1}})
		}
		return q
	}
	for _, c := range []struct {
		name string
		s    *ranking
		want []int
	}{
		{"measures", make(0, Trial{State: Pruned, Best: 0.3}, Trial{State: Failed, Best: nan}, Trial{State: Diverged, Best: 0.1}, Trial{State: Done, Best: 0.2}), []int{3, 0, 2, 1}},
		{"finals first, by the mean of a setting", make(0, Trial{State: Done, Best: 0.1}, Trial{State: Done, Best: 0.2},
			Trial{State: Done, Best: 0.3, Final: true, Setting: 1}, Trial{State: Done, Best: 0.15, Final: true, Setting: 2},
			Trial{State: Done, Best: 0.1, Final: true, Setting: 1}, Trial{State: Done, Best: 0.21, Final: true, Setting: 2}), []int{3, 5, 4, 2, 0, 1}},
		{"a target, by the median", make(0.05, Trial{State: Reached, Best: 0.05, TargetSeconds: 1}, Trial{State: Reached, Best: 0.05, TargetSeconds: 2}, Trial{State: Pruned, Best: 0.06},
			Trial{State: Reached, Best: 0.05, TargetSeconds: 9, Final: true, Setting: 1}, Trial{State: Reached, Best: 0.05, TargetSeconds: 3, Final: true, Setting: 1},
			Trial{State: Reached, Best: 0.05, TargetSeconds: 4, Final: true, Setting: 1}, Trial{State: Reached, Best: 0.05, TargetSeconds: 3.5, Final: true, Setting: 2}), []int{6, 4, 5, 3, 0, 1, 2}},
		{"a final that did not come there", make(0.05, Trial{State: Reached, Best: 0.05, TargetSeconds: 1}, Trial{State: Done, Best: 0.06, Final: true, Setting: 1}), []int{0, 1}},
		{"none", make(0), []int{}},
	} {
		got := c.s.order()
		if len(got) != len(c.want) {
			t.Fatalf("%s: %v", c.name, got)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, expected %v", c.name, got, c.want)
				break
			}
		}
	}
}
