// Package tuitest has made-up runs and a made-up feed, so that pictures of them are the same every time. Tests import it.
package tuitest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/charmbracelet/colorprofile"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/tui/style"
)

// Feed replays a made-up run: a Delta at a time, at a pace or as fast as it is asked.
type Feed struct {
	Mu       sync.Mutex
	Deltas   []feed.Delta
	At       int
	Pace     time.Duration
	paused   bool
	Commands []event.Command
	refuse   error
}

func (f *Feed) Wait(ctx context.Context) (feed.Delta, error) {
	for {
		f.Mu.Lock()
		if f.At < len(f.Deltas) && !f.paused {
			d := f.Deltas[f.At]
			f.At++
			slow := f.Pace > 0 && f.At > 40
			f.Mu.Unlock()
			if slow {
				select {
				case <-time.After(f.Pace):
				case <-ctx.Done():
				}
			}
			return d, ctx.Err()
		}
		f.Mu.Unlock()
		select {
		case <-ctx.Done():
			return feed.Delta{}, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (f *Feed) Do(_ context.Context, c event.Command) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Commands = append(f.Commands, c)
	switch c := c.(type) {
	case event.Pause:
		f.pause(c.On)
	case event.Scale:
		return &event.CommandError{Reason: "radius = -1: expected a number > 0"}
	case event.Stop:
		var s event.Status
		if f.At > 0 {
			s = f.Deltas[f.At-1].Status
		}
		f.Deltas = append(f.Deltas[:f.At:f.At], Ended(s, event.ReasonStopped))
		f.paused = false
	}
	return f.refuse
}

// pause slips a Delta with the new phase in before what comes next.
func (f *Feed) pause(on bool) {
	f.paused = on
	if f.At > 0 && on {
		s := f.Deltas[f.At-1].Status
		s.Phase = event.Paused
		f.At--
		f.Deltas[f.At] = feed.Delta{Status: s}
		f.paused = false
		go func() {
			time.Sleep(100 * time.Millisecond)
			f.Mu.Lock()
			f.paused = f.At > 0 && f.Deltas[f.At-1].Status.Phase == event.Paused
			f.Mu.Unlock()
		}()
	}
}

func (f *Feed) Close() {}

func Ended(s event.Status, r event.Reason) feed.Delta {
	s.Phase = event.Ended
	return feed.Delta{Status: s, Done: &event.DoneEvent{
		Reason: r, Epochs: s.Epoch, Loss: 0.0123, Error: 0.006, TestError: 0.0471, BestTestError: 0.0462, BestEpoch: 31, Elapsed: event.Float(s.Elapsed),
	}}
}

var NaN = event.Float(math.NaN())

// Methods stand in for the registry, so that pictures do not depend on it.
func Methods() []*optim.Info {
	radius := optim.Hyperparameter{Key: "radius", Meaning: "R₀, the first trust-region radius", Default: 1, Max: math.Inf(1), Open: true}
	rate := optim.Hyperparameter{Key: "rate", Meaning: "η, the learning rate", Default: 0.01, Max: math.Inf(1), Open: true}
	mk := func(name, title, paper, summary, cost, primary string, p ...optim.Hyperparameter) *optim.Info {
		return &optim.Info{Name: name, Title: title, Paper: paper, Equations: "Algorithm 1", Summary: summary, Cost: cost, Primary: primary, Parameters: p}
	}
	xi := optim.Hyperparameter{Key: "xi", Meaning: "ξ, the relative residual that ends a solve", Default: 0.1, Max: 1}
	return []*optim.Info{
		mk("tr-newton", "trust region, exact Hessian", "Mizutani & Demmel 2003", "Truncated CG on the exact Hessian in a trust region; leaves saddles along negative curvature.", "1 + 2 per inner iteration", "radius", radius, xi),
		mk("tr-gn", "trust region, Gauss–Newton", "Mizutani & Demmel 2003", "The same with the Gauss–Newton matrix, which is never indefinite.", "1 + 1.5 per inner iteration", "radius", radius, xi),
		mk("tr-gn-jacobi", "the same, Jacobi preconditioned", "Mizutani & Demmel 2003", "Scales the directions by the diagonal.", "2 + 1.5 per inner iteration", "radius", radius, xi),
		mk("sgd", "stochastic gradient descent", "Robbins & Monro 1951", "One small step a batch.", "1", "rate", rate),
		mk("momentum", "gradient descent with momentum", "Polyak 1964", "Keeps a velocity.", "1", "rate", rate),
		mk("adam", "adaptive moments", "Kingma & Ba 2015", "Steps scaled by running moments of the gradient.", "1", "rate", rate),
	}
}

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

func NewRun(s Script) []feed.Delta {
	r := rand.New(rand.NewPCG(1, 2))
	run := &event.RunEvent{
		Version: 1, ID: "x", Optimizer: "tr-newton", Seed: 1, Epochs: 60,
		Data: event.DataInfo{Name: "letters", TrainRows: 16000, TestRows: 4000, Inputs: 16, Outputs: 26, Classes: 26},
		Model: event.ModelInfo{
			Layers: []int{16, 70, 50, 26}, Activations: []string{"tanh", "tanh", "softmax"}, Loss: "xent", Parameters: 6066,
			Connections: []event.ConnectionInfo{{To: 1, From: 0, Weights: 1120}, {To: 2, From: 1, Weights: 3500}, {To: 3, From: 2, Weights: 1300}},
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
	st := event.Status{Phase: event.Running, EpochLimit: 60, Optimizer: "tr-newton",
		Settings: []event.Setting{{Key: "radius", Text: "1", Primary: true}, {Key: "xi", Text: "0.1"}, {Key: "limit", Text: "120"}}}
	adam := []event.Setting{{Key: "rate", Text: "0.001", Primary: true}, {Key: "beta1", Text: "0.9"}}
	if s.Adam {
		st.Optimizer, st.Settings, run.Optimizer = "adam", adam, "adam"
	}
	deltas := []feed.Delta{{Run: run, Status: st}}
	radius, equivalents := 1.0, 0.0
	first := Epoch(0, 0, r)
	first.Epoch, first.Inner, first.Radius, first.Rho, first.Rate, first.StepNorm, first.Seconds = 0, nil, 1, NaN, NaN, NaN, 0
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
			ev.Loss, ev.TestLoss, ev.GradientNorm = NaN, NaN, NaN
		}
		st.Epoch, st.Elapsed, st.Equivalents = e, float64(ev.Elapsed), equivalents
		d := feed.Delta{Status: st, Epochs: []event.EpochEvent{ev}}
		if s.Spectra && e%4 == 0 {
			d.Spectra = []event.SpectrumEvent{SpectrumAt(e)}
		}
		deltas = append(deltas, d)
		if e == s.SwitchAt {
			st.Optimizer, st.Settings = "adam", adam
			deltas = append(deltas, feed.Delta{Status: st, Switches: []event.SwitchEvent{{Epoch: e, From: "tr-newton", To: "adam"}}})
		}
	}
	switch s.Fate {
	case "done":
		deltas = append(deltas, Ended(st, event.ReasonTarget))
	case "nan", "dead":
		d := Ended(st, event.ReasonDiverged)
		d.Diverged = &event.DivergedEvent{Epoch: s.Epochs, Reason: "the loss is not finite"}
		d.Done.Loss = NaN
		deltas = append(deltas, d)
	default:
		if st.Optimizer == "tr-newton" {
			deltas = append(deltas, feed.Delta{Status: st, Inner: []event.InnerEvent{InnerIteration(s.Epochs+1, 1, radius), InnerIteration(s.Epochs+1, 7, radius), InnerIteration(s.Epochs+1, 12, radius)}})
		}
	}
	return deltas
}

func Epoch(e int, radius float64, r *rand.Rand) event.EpochEvent {
	x := float64(e)
	loss := 3.2*math.Exp(-x/6) + 0.02*math.Exp(-x/60)*(1+0.15*r.Float64())
	test := loss + 0.04 + 0.0006*x + 0.01*r.Float64()
	stop := []krylov.Stop{krylov.Boundary, krylov.Residual, krylov.NegativeCurvature, krylov.Boundary, krylov.Limit}[r.IntN(5)]
	rho := 0.9 - 0.8*math.Pow(r.Float64(), 4)
	if e%9 == 8 {
		rho = -0.4
	}
	f := func(x float64) event.Float { return event.Float(x) }
	ev := event.EpochEvent{
		Epoch: e, Optimizer: "tr-newton", Loss: f(loss), TestLoss: f(test),
		Error: f(0.9*math.Exp(-x/5) + 0.004), TestError: f(0.9*math.Exp(-x/5) + 0.045 + 0.004*r.Float64()),
		RMSE: f(math.Sqrt(loss)), TestRMSE: f(math.Sqrt(test)),
		GradientNorm: f(0.8 * math.Exp(-x/9)), StepNorm: f(radius * 0.9), Radius: f(radius), Rho: f(rho), Rate: NaN,
		Accepted:  rho > 0,
		Gradients: f(x + 1), Products: f(23 * x), Losses: f(x + 1), Seconds: f(0.4 + 0.2*r.Float64()), Elapsed: f(0.5 * x),
	}
	n := 4 + int(40*(1-math.Exp(-x/10))) + r.IntN(14)
	ev.Inner = []event.InnerSummary{{Iterations: n, Stop: stop, Residual: f(0.08), TrueResidual: NaN, StepNorm: ev.StepNorm, Curvature: f(0.02),
		Ritz: event.Floats([]float64{-0.02, 0.001, 0.013, 0.08, 0.9, 4.1, 11.3})}}
	for i, w := range []float64{3.1, 5.2, 4.4} {
		ev.Blocks = append(ev.Blocks, event.BlockNorms{To: i + 1, From: i, Weight: f(w + x/20), Gradient: f(0.3 * math.Exp(-x/9)), Step: f(0.1 * w)})
	}
	return ev
}

func InnerIteration(e, k int, radius float64) event.InnerEvent {
	x := float64(k)
	return event.InnerEvent{Epoch: e, Iteration: k, Residual: event.Float(0.3 * math.Exp(-x/12)), StepNorm: event.Float(radius * (1 - math.Exp(-x/9))),
		Radius: event.Float(radius), Curvature: event.Float(0.4 / x), Model: event.Float(-0.02 * x)}
}

func SpectrumAt(e int) event.SpectrumEvent {
	x := float64(e)
	s := event.SpectrumEvent{Epoch: e, Method: "lanczos", Operator: "hessian", Rows: 16000, Products: 40}
	for i, v := range []float64{-0.31 * math.Exp(-x/30), -0.082, -0.0021, 0.4, 0.72, 1.3, 2.2, 8.4 + x/4} {
		s.Eigenvalues = append(s.Eigenvalues, event.Float(v))
		s.Residuals = append(s.Residuals, event.Float(3e-6*float64(i+1)))
	}
	return s
}

// DeltaOf is a Delta of events, with a status.
func DeltaOf(s event.Status, events ...event.Event) *feed.Delta {
	d := feed.Delta{Status: s}
	for _, e := range events {
		switch e := e.(type) {
		case event.EpochEvent:
			d.Epochs = append(d.Epochs, e)
		case event.InnerEvent:
			d.Inner = append(d.Inner, e)
		case event.SpectrumEvent:
			d.Spectra = append(d.Spectra, e)
		case event.WeightsEvent:
			d.Weights = append(d.Weights, e)
		case event.ErrorsEvent:
			d.Errors = append(d.Errors, e)
		case event.RaceEvent:
			d.Races = append(d.Races, e)
		}
	}
	return &d
}

// ExternalRun is a run that a program prints which knows losses and errors, test figures at every fifth epoch, and some
// numbers of its own.
func ExternalRun(epochs int, bare bool) []feed.Delta {
	r := event.Replay{Source: "train.jsonl", Live: true, Seekable: true, Last: epochs, Epoch: epochs, Speed: 1}
	s := event.Status{Phase: event.Running, Replay: &r}
	d := feed.Delta{Run: &event.RunEvent{Data: event.DataInfo{Name: "train.jsonl"}}, Status: s}
	for e := 1; e <= epochs; e++ {
		x := float64(e)
		ev := event.EpochEvent{Epoch: e, Loss: NaN, TestLoss: NaN, Error: NaN, TestError: NaN, RMSE: NaN, TestRMSE: NaN, GradientNorm: NaN,
			StepNorm: NaN, Radius: NaN, Rho: NaN, Rate: NaN, Gradients: NaN, Products: NaN, Losses: NaN, GradientEquivalents: NaN, Seconds: NaN, Elapsed: NaN}
		ev.Figures = []event.Figure{{Key: "lr", Value: event.Float(0.1 / (1 + x/20))}, {Key: "momentum", Value: event.Float(0.9 + x/1000)}}
		if e%3 == 0 {
			ev.Figures = append(ev.Figures, event.Figure{Key: "bleu", Value: event.Float(30 * (1 - math.Exp(-x/20)))})
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

// EventsOf lists what Deltas have in the order of a run.
func EventsOf(deltas []feed.Delta) (out []event.Event) {
	for _, d := range deltas {
		if d.Run != nil {
			out = append(out, *d.Run)
		}
		for _, e := range d.Inner {
			out = append(out, e)
		}
		for _, e := range d.Epochs {
			out = append(out, e)
		}
		for _, e := range d.Spectra {
			out = append(out, e)
		}
		for _, e := range d.Switches {
			out = append(out, e)
		}
		if d.Done != nil {
			out = append(out, *d.Done)
		}
	}
	return out
}

// ErrorsAt are made-up errors of a net with so many classes; of none, of regression.
func ErrorsAt(epoch, classes, side int) event.ErrorsEvent {
	r := rand.New(rand.NewPCG(3, uint64(classes)))
	e := event.ErrorsEvent{Epoch: epoch}
	for i := range classes {
		e.Classes = append(e.Classes, string(rune('A'+i%26)))
		row := make([]int, classes)
		for j := range row {
			if row[j] = r.IntN(40) / 36 * r.IntN(20); i == j {
				row[j] = 100 + r.IntN(80)
			}
		}
		e.Confusion = append(e.Confusion, row)
	}
	if classes == 0 {
		e.Residuals = [][]event.Float{nil, nil}
		for range 500 {
			e.Residuals[0] = append(e.Residuals[0], event.Float(r.NormFloat64()))
			e.Residuals[1] = append(e.Residuals[1], event.Float(10*r.ExpFloat64()))
		}
	}
	for i := range 16 {
		w := event.WorstRow{Row: 17 * i, Loss: event.Float(9.3 - float64(i)/3), Target: -1, Output: -1, Height: side, Width: side}
		if classes > 0 {
			w.Target, w.Output = i%classes, (3*i+1)%classes
		} else {
			w.Targets, w.Outputs = []event.Float{0.5, 20}, []event.Float{0.25, 14}
		}
		for k := range max(side*side, 16) {
			w.Inputs = append(w.Inputs, event.Float((k*(i+1))%16))
		}
		e.Worst = append(e.Worst, w)
	}
	return e
}

// WeightsAt are made-up weights of a block; side is that of an image, 0 for none.
func WeightsAt(to, from, rows, cols, side int) event.WeightsEvent {
	e := event.WeightsEvent{Epoch: 3, To: to, From: from, Rows: rows, Cols: cols, Height: side, Width: side}
	for i := range rows * cols {
		e.Values = append(e.Values, event.Float(math.Sin(float64(i%cols)/3+float64(i/cols))))
	}
	return e
}

// DensityAt is a bulk around zero with a few eigenvalues apart from it.
func DensityAt(e int) (*event.Density, *event.Trace) {
	const sigma = 0.1
	d := &event.Density{Sigma: sigma, Probes: 10, Steps: 80}
	top := 8.4 + float64(e)/4
	bell := func(x, at, width float64) float64 {
		z := (x - at) / width
		return math.Exp(-z*z/2) / (width * math.Sqrt(2*math.Pi))
	}
	for x := -1.0; x < top+0.5; x += sigma / 2 {
		v := 0.9*bell(x, 0, sigma) + 0.09*bell(x, 0.4, 0.4)
		for i, at := range []float64{1.3, 2.2, 4.7, top} {
			v += float64(4-i) / 6066 * bell(x, at, sigma)
		}
		d.Grid = append(d.Grid, event.Float(x))
		d.Values = append(d.Values, event.Float(v))
		d.Errors = append(d.Errors, event.Float(v/5))
	}
	return d, &event.Trace{Value: 143.2, Error: 6.31, Probes: 10}
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
	st := event.Status{Phase: event.Running, Optimizer: "lm", Settings: []event.Setting{{Key: "mu", Text: "0.001", Primary: true}}}
	deltas := []feed.Delta{{Run: &event.RunEvent{Optimizer: "lm", Data: event.DataInfo{Name: "letters", Classes: 26}, Model: event.ModelInfo{Layers: []int{16, 4, 26}}}, Status: st}}
	for e := range epochs {
		ev := Epoch(e, 1, r)
		ev.Optimizer, ev.Inner, ev.Radius, ev.Rho, ev.Rate = "lm", nil, NaN, NaN, NaN
		if e > 0 {
			ev.Figures = []event.Figure{
				{Key: "mu", Symbol: "μ", Meaning: "damping", Value: event.Float(1e-3 / float64(e))},
				{Key: "gain", Symbol: "gain", Meaning: "actual over predicted reduction", Value: 0.9},
				{Key: "tries", Symbol: "tries", Meaning: "factorizations", Value: 2},
			}
		}
		deltas = append(deltas, feed.Delta{Status: st, Epochs: []event.EpochEvent{ev}})
	}
	return deltas
}

// SolvesRun is a run of epochs with so many blocks whose solves come iteration by iteration and end for every
// reason in turn; the last solve is under way.
func SolvesRun(epochs, blocks int) []feed.Delta {
	r := rand.New(rand.NewPCG(3, 7))
	st := event.Status{Phase: event.Running, Optimizer: "tr-newton", Settings: []event.Setting{
		{Key: "radius", Text: "2", Primary: true}, {Key: "xi", Text: "0.01"}, {Key: "forcing", Text: "fixed"}, {Key: "limit", Text: "100"},
		{Key: "blocks", Text: fmt.Sprint(blocks)}, {Key: "block-xi", Text: "0.05"},
	}}
	deltas := []feed.Delta{{Run: &event.RunEvent{Optimizer: "tr-newton", Data: event.DataInfo{Name: "letters", Classes: 26}, Model: event.ModelInfo{Layers: []int{16, 4, 26}}}, Status: st}}
	for e := 1; e <= epochs; e++ {
		ev := Epoch(e, 2, r)
		ev.Inner = nil
		for b := range blocks {
			stop := krylov.Stops()[(e+b)%4]
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
		e := event.InnerEvent{Epoch: epoch, Block: block, Iteration: k, Radius: 2, Residual: f(math.Exp(-x/4) * (1 + 0.3*math.Sin(x))),
			StepNorm: f(1.6 * (1 - math.Exp(-x/8))), Curvature: f(3 / (1 + x*x/4)), Model: f(-0.12 * (1 - math.Exp(-x/5)))}
		if k == n && (stop == krylov.NegativeCurvature || stop == krylov.Boundary) {
			e.StepNorm = 2
		}
		if k == n && stop == krylov.NegativeCurvature {
			e.Curvature = -0.031
		}
		out = append(out, e)
	}
	last := out[n-1]
	told := event.InnerSummary{Block: block, Iterations: n, Stop: stop, Residual: last.Residual, TrueResidual: last.Residual * 1.4, StepNorm: last.StepNorm,
		Curvature: last.Curvature, Ritz: event.Floats([]float64{0.0021, 0.013, 0.08, 0.9, 1.1, 4.1, 11.3})}
	if stop == krylov.NegativeCurvature {
		told.Ritz = append(event.Floats([]float64{-0.31}), told.Ritz...)
		told.TrueResidual = NaN
	}
	return out, told
}

// SliceAlong is a made-up look along a step: the loss follows its quadratic model and bends away from it.
func SliceAlong(optimizer string, bend float64) event.SliceEvent {
	e := event.SliceEvent{Epoch: 6, Optimizer: optimizer, StepNorm: 2, Accepted: true}
	for k := -4; k <= 16; k++ {
		t := float64(k) / 8
		q := -0.24*t + 0.12*t*t
		e.At = append(e.At, event.Float(t))
		e.Quadratic = append(e.Quadratic, event.Float(q))
		e.GaussNewton = append(e.GaussNewton, event.Float(q+0.05*t*t))
		e.Loss = append(e.Loss, event.Float(q+bend*t*t*t))
	}
	e.Rho = event.Float((-0.12 + bend) / -0.12)
	return e
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
			e.Loss, e.TestLoss = 4000, NaN
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
		Weights: []event.WeightsEvent{WeightsAt(1, 0, 70, 17, 0)}, Errors: []event.ErrorsEvent{ErrorsAt(30, classes, 0)}}
	if !over {
		return append(deltas, looks)
	}
	end := len(deltas) - 1
	return append(deltas[:end:end], looks, deltas[end])
}

// RaceDelta is a made-up race of n racers in which each has gone so many laps.
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
				l.Ended, l.Lap.Loss = "diverged: the loss is not finite", NaN
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

// Pen draws in braille and without colours.
func Pen() style.Pen {
	return style.Pen{Palette: style.ThemeAuto.Palette(true, colorprofile.ASCII, true), Glyphs: style.GlyphsBraille.Set(nil)}
}
