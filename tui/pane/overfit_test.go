package pane

import (
	"math"
	"math/rand/v2"
	"testing"

	"newtop/tui/chart"
)

func TestOverfits(t *testing.T) {
	falling := func(x float64) float64 { return math.Exp(-x / 20) }
	turning := func(at, slope float64) func(float64) float64 {
		return func(x float64) float64 { return 0.2 + math.Exp(-x/8) + slope*max(0, x-at) }
	}
	for _, c := range []struct {
		name        string
		train, test func(float64) float64
		epochs      int
		noise       float64
		since       float64 // 0: it does not overfit
	}{
		{"rises since 34", falling, turning(34, 0.004), 80, 0, 34},
		{"rises under noise", falling, turning(34, 0.004), 100, 0.01, 34},
		{"flat under noise", falling, turning(1e9, 0), 200, 0.02, 0},
		{"falls", falling, falling, 60, 0, 0},
		{"both rise: no overfitting", turning(34, 0.004), turning(34, 0.004), 80, 0, 0},
		{"too early to say", falling, turning(4, 0.02), 8, 0, 0},
		{"rises by a little", falling, turning(34, 0.0001), 80, 0, 0},
		{"only the end is higher", falling, func(x float64) float64 { return falling(x) + max(0, x-197) }, 200, 0, 0},
		{"long", falling, turning(3000, 0.0001), 20000, 0.02, 3000},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		var train, test chart.Series
		for i := range c.epochs {
			x := float64(i)
			train.Add(x, c.train(x))
			test.Add(x, c.test(x)+c.noise*r.NormFloat64())
		}
		since, ok := overfits(&train, &test)
		if ok != (c.since > 0) || ok && math.Abs(float64(since)-c.since) > float64(c.epochs)/15 {
			t.Errorf("%s: since %d (%v), want %v", c.name, since, ok, c.since)
		}
	}
	if _, ok := overfits(&chart.Series{}, &chart.Series{}); ok {
		t.Error("a run without epochs overfits")
	}
}
