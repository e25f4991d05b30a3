package tuitest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
)

// ExternalRun is a run that a program prints which knows losses and errors, test figures at every fifth epoch, and some
// numbers of its own.
func ExternalRun(epochs int, bare bool) []feed.Delta {
	r := event.Replay{Source: "train.jsonl", Live: true, Seekable: true, Last: epochs, Epoch: epochs, Speed: 1}
	s := event.Status{Phase: event.Running, Replay: &r}
	d := feed.Delta{Run: &event.RunEvent{Data: event.DataInfo{Name: "train.jsonl"}}, Status: s}
	for e := 1; e <= epochs; e++ {
		x := float64(e)
		ev := event.EpochEvent{Epoch: e, Loss: NaN, TestLoss: NaN, Error: NaN, TestError: NaN, RMSE: NaN, TestRMSE: NaN,
			GradientNorm:   NaN,
			ValidationLoss: NaN, ValidationError: NaN, ValidationRMSE: NaN,
			StepNorm: NaN, Radius: NaN, Rho: NaN, Rate: NaN, Gradients: NaN, Products: NaN, Losses: NaN,
			GradientEquivalents: NaN, Seconds: NaN, Elapsed: NaN}
		ev.Metrics = []event.Metric{{Key: "lr", Value: event.Float(0.1 / (1 + x/20))},
			{Key: "momentum", Value: event.Float(0.9 + x/1000)}}
		if e%3 == 0 {
			ev.Metrics = append(ev.Metrics, event.Metric{Key: "bleu", Value: event.Float(30 * (1 - math.Exp(-x/20)))})
		}
		if !bare {
			ev.Loss = event.Float(2.3*math.Exp(-x/9) + 0.1 + 0.02*math.Sin(3*x))
			ev.Elapsed = event.Float(0.7 * x)
			if e%5 == 0 {
				ev.TestLoss, ev.TestError = ev.Loss+0.05, event.Float(0.8*math.Exp(-x/8)+0.06)
			}
			r.At, r.Length = 0.7*x, 0.7*x
		}
		d.Epochs = append(d.Epochs, ev)
	}
	d.Status.Epoch, d.Status.Elapsed = epochs, r.At
	return []feed.Delta{d}
}

// EdgeRun is a made-up run of gradient descent with densities, whose curvature grows towards the edge.
func EdgeRun(rate string) []feed.Delta {
	deltas := NewRun(Script{Epochs: 33, Adam: true, Spectra: true})
	for i := range deltas {
		d := &deltas[i]
		d.Status.Optimizer = "sgd"
		d.Status.Settings = []event.Setting{{Key: "rate", Text: rate, Primary: true}, {Key: "batch", Text: "64"}}
		for j := range d.Spectra {
			s := &d.Spectra[j]
			s.Rows, s.Selection = 2048, "evenly spaced"
			s.Density, s.Trace = DensityAt(s.Epoch)
		}
	}
	return deltas
}

// DampedRun is a run of a method that has neither a radius nor a rate but figures of its own.
func DampedRun(epochs int) []feed.Delta {
	r := rand.New(rand.NewPCG(4, 2))
	st := event.Status{Phase: event.Running, Optimizer: "lm",
		Settings: []event.Setting{{Key: "mu", Text: "0.001", Primary: true}}}
	deltas := []feed.Delta{{Run: &event.RunEvent{Optimizer: "lm", Data: event.DataInfo{Name: "letters", Classes: 26},
		Model: event.ModelInfo{Layers: []int{16, 4, 26}}}, Status: st}}
	for e := range epochs {
		ev := Epoch(e, 1, r)
		ev.Optimizer, ev.Inner, ev.Radius, ev.Rho, ev.Rate = "lm", nil, NaN, NaN, NaN
		if e > 0 {
			ev.Metrics = []event.Metric{
				event.NewMetric("mu", "μ", "damping", event.Float(1e-3/float64(e))),
				event.NewMetric("gain", "gain", "actual over predicted reduction", 0.9),
				event.NewMetric("tries", "tries", "factorizations", 2),
			}
		}
		deltas = append(deltas, feed.Delta{Status: st, Epochs: []event.EpochEvent{ev}})
	}
	return deltas
}

// SolvesRun is a run of epochs with that many blocks whose solves come iteration by iteration and end for every
// reason in turn; the last solve is under way.
func SolvesRun(epochs, blocks int) []feed.Delta {
	r := rand.New(rand.NewPCG(3, 7))
	st := event.Status{Phase: event.Running, Optimizer: "tr-newton", Settings: []event.Setting{
		{Key: "radius", Text: "2", Primary: true}, {Key: "xi", Text: "0.01"}, {Key: "forcing", Text: "fixed"},
		{Key: "limit", Text: "100"},
		{Key: "blocks", Text: fmt.Sprint(blocks)}, {Key: "block-xi", Text: "0.05"},
	}}
	deltas := []feed.Delta{{Run: &event.RunEvent{Optimizer: "tr-newton",
		Data: event.DataInfo{Name: "letters", Classes: 26}, Model: event.ModelInfo{Layers: []int{16, 4, 26}}},
		Status: st}}
	for e := 1; e <= epochs; e++ {
		ev := Epoch(e, 2, r)
		ev.Inner = nil
		for b := range blocks {
			stop := krylov.Stop(1 + (e+b)%4)
			solve, told := SolveEvents(e, b, 9+(7*e+3*b)%20, stop)
			deltas = append(deltas, feed.Delta{Status: st, Inner: solve})
			ev.Inner = append(ev.Inner, told)
		}
		st.Epoch, st.Elapsed = e, float64(e)
		deltas = append(deltas, feed.Delta{Status: st, Epochs: []event.EpochEvent{ev}})
	}
	solve, _ := SolveEvents(epochs+1, 0, 14, krylov.Limit)
	deltas = append(deltas, feed.Delta{Status: st, Inner: solve[:12]})
	st.Elapsed++
	return append(deltas, feed.Delta{Status: st})
}

// SolveEvents are the iterations of a solve that ends for a reason, and its report.
func SolveEvents(epoch, block, n int, stop krylov.Stop) ([]event.InnerEvent, event.InnerSummary) {
	f := func(x float64) event.Float { return event.Float(x) }
	var out []event.InnerEvent
	for k := 1; k <= n; k++ {
		x := float64(k)
		e := event.InnerEvent{Epoch: epoch, Block: block, Iteration: k, Radius: 2,
			Residual: f(math.Exp(-x/4) * (1 + 0.3*math.Sin(x))),
			StepNorm: f(1.6 * (1 - math.Exp(-x/8))), Curvature: f(3 / (1 + x*x/4)),
			Model: f(-0.12 * (1 - math.Exp(-x/5)))}
		if k == n && (stop == krylov.NegativeCurvature || stop == krylov.Boundary) {
			e.StepNorm = 2
		}
		if k == n && stop == krylov.NegativeCurvature {
			e.Curvature = -0.031
		}
		out = append(out, e)
	}
	last := out[n-1]
	told := event.InnerSummary{Block: block, Iterations: n, Stop: stop, Residual: last.Residual,
		TrueResidual: last.Residual * 1.4, StepNorm: last.StepNorm,
		Curvature: last.Curvature, Ritz: event.Floats([]float64{0.0021, 0.013, 0.08, 0.9, 1.1, 4.1, 11.3})}
	if stop == krylov.NegativeCurvature {
		told.Ritz = append(event.Floats([]float64{-0.31}), told.Ritz...)
		told.TrueResidual = NaN
	}
	return out, told
}

// RichRun is a made-up run in which everything has happened that a pane can show: solves iteration by iteration,
// densities, a look along a step, weights, errors, a setting, a switch, a race that was picked from, a way back,
// values that are no numbers, and at the end divergence.
func RichRun(regression, over bool) []feed.Delta {
	s := Script{Epochs: 30, Spectra: true, Skips: true, Regression: regression, Fate: "running"}
	if over {
		s.Fate = "nan"
	}
	deltas := NewRun(s)
	st := deltas[0].Status
	for i := range deltas {
		d := &deltas[i]
		st = d.Status
		for j := range d.Spectra {
			p := &d.Spectra[j]
			p.Rows, p.Selection = 2048, "evenly spaced"
			p.Density, p.Trace = DensityAt(p.Epoch)
		}
		if len(d.Epochs) != 1 {
			continue
		}
		switch e := &d.Epochs[0]; e.Epoch {
		case 7:
			e.Loss, e.TestLoss = 4000, event.NotFinite
		case 13:
			d.Settings = []event.SettingEvent{{Epoch: 13, Key: "radius", Value: 2.5}}
		case 18:
			race := RaceDelta(st, 3, 9, "picked")
			for j := range race.Races {
				race.Races[j].Epoch, race.Races[j].Picked = 18, 0
			}
			d.Races, d.Laps = race.Races, race.Laps
		case 25:
			d.Rewinds = []event.RewindEvent{{Epoch: 25, To: 21}}
		}
	}
	classes := 26
	if regression {
		classes = 0
	}
	solve, _ := SolveEvents(31, 0, 14, krylov.NegativeCurvature)
	looks := feed.Delta{Status: st, Inner: solve, Slices: []event.SliceEvent{SliceAlong("tr-newton", 0.1)},
		Weights: []event.WeightsEvent{WeightsAt(1, 0, 70, 17, 0)},
		Errors:  []event.ErrorsEvent{ErrorsAt(30, classes, 0)}}
	if !over {
		return append(deltas, looks)
	}
	end := len(deltas) - 1
	return append(deltas[:end:end], looks, deltas[end])
}

// RaceDelta is a made-up race of n racers in which each has gone that many laps.
func RaceDelta(s event.Status, n, laps int, state string) feed.Delta {
	s.Racing = true
	e := event.RaceEvent{Epoch: 12, State: "begun", Equivalents: 240, Picked: -1}
	for i := range n {
		m := []string{"tr-newton", "adam", "sgd", "momentum", "tr-gn", "lm"}[i%6]
		e.Racers = append(e.Racers, event.Racer{Name: m + " rate=0.00" + fmt.Sprint(i+1), Optimizer: m})
	}
	d := feed.Delta{Status: s, Races: []event.RaceEvent{e}}
	r := rand.New(rand.NewPCG(3, 4))
	for lap := range laps + 1 {
		for i := range n {
			x := float64(lap)
			ev := Epoch(lap, 1, r)
			ev.Loss = event.Float(0.9*math.Exp(-x/float64(4+3*i)) + 0.01*float64(i+1))
			ev.TestError = event.Float(0.4*math.Exp(-x/float64(5+3*i)) + 0.03 + 0.004*float64(i))
			ev.GradientEquivalents, ev.Elapsed = event.Float(12*x), event.Float(0.3*x*float64(i+1))
			l := event.LapEvent{Racer: i, Lap: ev}
			switch {
			case i == 3 && lap == laps && laps > 0:
				l.Ended, l.Lap.Loss = "diverged: the loss is not finite", event.NotFinite
			case state == "over" && lap == laps:
				l.Ended = "budget"
			}
			d.Laps = append(d.Laps, l)
		}
	}
	if state != "begun" {
		e.State = state
		d.Races = append(d.Races, e)
		d.Status.Racing = state == "over"
	}
	return d
}
