// Package tuitest has made-up runs and a made-up feed, so that pictures of them are the same every time. Tests import
// it.
package tuitest

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
)

var NaN = event.Float(math.NaN())

// Script is a made-up run of the letter net.
type Script struct {
	Epochs     int
	Regression bool
	Skips      bool
	SwitchAt   int // epoch after which adam takes over; 0 never
	Adam       bool
	Spectra    bool
	Fate       string // "running", "done", "nan"
}

// opening is the beginning of the run of a script.
func opening(s Script) *event.RunEvent {
	run := &event.RunEvent{
		Version: 1, ID: "x", Optimizer: "tr-newton", Seed: 1, Epochs: 60,
		Data: event.DataInfo{Name: "letters", TrainRows: 16000, TestRows: 4000, Inputs: 16, Outputs: 26, Classes: 26},
		Model: event.ModelInfo{
			Layers: []int{16, 70, 50, 26}, Activations: []string{"tanh", "tanh", "softmax"}, Loss: "xent",
			Parameters: 6066,
			Connections: []event.ConnectionInfo{{To: 1, From: 0, Weights: 1120}, {To: 2, From: 1, Weights: 3500},
				{To: 3, From: 2, Weights: 1300}},
		},
	}
	if s.Regression {
		run.Data = event.DataInfo{Name: "sine", TrainRows: 400, TestRows: 100, Inputs: 1, Outputs: 1}
		run.Model.Loss = "mse"
	}
	if s.Skips {
		run.Model.Connections = append(run.Model.Connections,
			event.ConnectionInfo{To: 2, From: 0, Weights: 800}, event.ConnectionInfo{To: 3, From: 0, Weights: 416})
	}
	return run
}

// ending is the last that a run says: its fate, or how far the solve under way is.
func ending(s Script, st event.Status, radius float64) []feed.Delta {
	switch s.Fate {
	case "done":
		return []feed.Delta{Ended(st, event.ReasonTarget)}
	case "nan", "dead":
		d := Ended(st, event.ReasonDiverged)
		d.Diverged = &event.DivergedEvent{Epoch: s.Epochs, Reason: "the loss is not finite"}
		d.Done.Loss = event.NotFinite
		return []feed.Delta{d}
	default:
		if st.Optimizer == "tr-newton" {
			return []feed.Delta{{Status: st, Inner: []event.InnerEvent{InnerIteration(s.Epochs+1, 1, radius),
				InnerIteration(s.Epochs+1, 7, radius), InnerIteration(s.Epochs+1, 12, radius)}}}
		}
	}
	return nil
}

func NewRun(s Script) []feed.Delta {
	r := rand.New(rand.NewPCG(1, 2))
	run := opening(s)
	st := event.Status{Phase: event.Running, EpochLimit: 60, Optimizer: "tr-newton",
		Settings: []event.Setting{{Key: "radius", Text: "1", Primary: true}, {Key: "xi", Text: "0.1"},
			{Key: "limit", Text: "120"}}}
	adam := []event.Setting{{Key: "rate", Text: "0.001", Primary: true}, {Key: "beta1", Text: "0.9"}}
	if s.Adam {
		st.Optimizer, st.Settings, run.Optimizer = "adam", adam, "adam"
	}
	deltas := []feed.Delta{{Run: run, Status: st}}
	radius, equivalents := 1.0, 0.0
	first := Epoch(0, 0, r)
	first.Epoch, first.Inner, first.Seconds = 0, nil, 0
	first.Radius, first.Rho, first.Rate, first.StepNorm = 1, NaN, NaN, NaN
	if s.Adam {
		first.Radius, first.Rate = NaN, 0.001
	}
	deltas = append(deltas, feed.Delta{Status: st, Epochs: []event.EpochEvent{first}})
	for e := 1; e <= s.Epochs; e++ {
		ev := Epoch(e, radius, r)
		if s.Adam || s.SwitchAt > 0 && e > s.SwitchAt {
			ev.Inner, ev.Radius, ev.Rho, ev.Rate, ev.Optimizer = nil, NaN, NaN, 0.001, "adam"
			st.Units, st.Unit = 250, 90
		} else {
			for k := 1; k <= ev.Inner[0].Iterations; k += 9 {
				deltas = append(deltas, feed.Delta{Status: st, Inner: []event.InnerEvent{InnerIteration(e, k, radius)}})
			}
		}
		switch rho := float64(ev.Rho); {
		case rho < 0.25:
			radius /= 4
		case rho > 0.75:
			radius *= 2
		}
		radius = math.Min(radius, 40)
		if st.Optimizer == "tr-newton" {
			st.Settings = slices.Clone(st.Settings)
			st.Settings[0].Text = strconv.FormatFloat(radius, 'g', -1, 64)
		}
		equivalents += 60
		ev.GradientEquivalents = event.Float(equivalents)
		if s.Fate == "nan" && e == s.Epochs {
			ev.Loss, ev.TestLoss, ev.GradientNorm = event.NotFinite, event.NotFinite, event.NotFinite
		}
		st.Epoch, st.Elapsed, st.Equivalents = e, float64(ev.Elapsed), equivalents
		d := feed.Delta{Status: st, Epochs: []event.EpochEvent{ev}}
		if s.Spectra && e%4 == 0 {
			d.Spectra = []event.SpectrumEvent{SpectrumAt(e)}
		}
		deltas = append(deltas, d)
		if e == s.SwitchAt {
			st.Optimizer, st.Settings = "adam", adam
			deltas = append(deltas, feed.Delta{Status: st, Switches: []event.SwitchEvent{{Epoch: e, From: "tr-newton",
				To: "adam"}}})
		}
	}
	return append(deltas, ending(s, st, radius)...)
}

func Epoch(e int, radius float64, r *rand.Rand) event.EpochEvent {
	x := float64(e)
	loss := 3.2*math.Exp(-x/6) + 0.02*math.Exp(-x/60)*(1+0.15*r.Float64())
	test := loss + 0.04 + 0.0006*x + 0.01*r.Float64()
	stop := []krylov.Stop{krylov.Boundary, krylov.Residual, krylov.NegativeCurvature, krylov.Boundary,
		krylov.Limit}[r.IntN(5)]
	rho := 0.9 - 0.8*math.Pow(r.Float64(), 4)
	if e%9 == 8 {
		rho = -0.4
	}
	f := func(x float64) event.Float { return event.Float(x) }
	ev := event.EpochEvent{
		Epoch: e, Optimizer: "tr-newton", Loss: f(loss), TestLoss: f(test),
		Error: f(0.9*math.Exp(-x/5) + 0.004), TestError: f(0.9*math.Exp(-x/5) + 0.045 + 0.004*r.Float64()),
		RMSE: f(math.Sqrt(loss)), TestRMSE: f(math.Sqrt(test)),
		ValidationLoss: event.Absent, ValidationError: event.Absent, ValidationRMSE: event.Absent,
		GradientNorm: f(0.8 * math.Exp(-x/9)), StepNorm: f(radius * 0.9), Radius: f(radius), Rho: f(rho), Rate: NaN,
		Accepted:  rho > 0,
		Gradients: f(x + 1), Products: f(23 * x), Losses: f(x + 1), Seconds: f(0.4 + 0.2*r.Float64()),
		Elapsed: f(0.5 * x),
	}
	n := 4 + int(40*(1-math.Exp(-x/10))) + r.IntN(14)
	ev.Inner = []event.InnerSummary{{Iterations: n, Stop: stop, Residual: f(0.08), TrueResidual: NaN,
		StepNorm: ev.StepNorm, Curvature: f(0.02),
		Ritz: event.Floats([]float64{-0.02, 0.001, 0.013, 0.08, 0.9, 4.1, 11.3})}}
	for i, w := range []float64{3.1, 5.2, 4.4} {
		ev.Blocks = append(ev.Blocks, event.BlockNorms{To: i + 1, From: i, Weight: f(w + x/20),
			Gradient: f(0.3 * math.Exp(-x/9)), Step: f(0.1 * w)})
	}
	return ev
}

func InnerIteration(e, k int, radius float64) event.InnerEvent {
	x := float64(k)
	return event.InnerEvent{Epoch: e, Iteration: k, Residual: event.Float(0.3 * math.Exp(-x/12)),
		StepNorm: event.Float(radius * (1 - math.Exp(-x/9))),
		Radius:   event.Float(radius), Curvature: event.Float(0.4 / x), Model: event.Float(-0.02 * x)}
}
