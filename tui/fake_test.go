package tui

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/tui/screen"
)

// fakeFeed replays a made-up run: a Delta at a time, at a pace or as fast as it is asked.
type fakeFeed struct {
	mu       sync.Mutex
	deltas   []feed.Delta
	at       int
	pace     time.Duration
	paused   bool
	commands []event.Command
	refuse   error
}

func (f *fakeFeed) Wait(ctx context.Context) (feed.Delta, error) {
	for {
		f.mu.Lock()
		if f.at < len(f.deltas) && !f.paused {
			d := f.deltas[f.at]
			f.at++
			slow := f.pace > 0 && f.at > 40
			f.mu.Unlock()
			if slow {
				select {
				case <-time.After(f.pace):
				case <-ctx.Done():
				}
			}
			return d, ctx.Err()
		}
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return feed.Delta{}, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (f *fakeFeed) Do(_ context.Context, c event.Command) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commands = append(f.commands, c)
	switch c := c.(type) {
	case event.Pause:
		f.pause(c.On)
	case event.Scale:
		return &event.CommandError{Reason: "radius = -1: expected a number > 0"}
	case event.Stop:
		var s event.Status
		if f.at > 0 {
			s = f.deltas[f.at-1].Status
		}
		f.deltas = append(f.deltas[:f.at:f.at], ended(s, event.ReasonStopped))
		f.paused = false
	}
	return f.refuse
}

// pause slips a Delta with the new phase in before what comes next.
func (f *fakeFeed) pause(on bool) {
	f.paused = on
	if f.at > 0 && on {
		s := f.deltas[f.at-1].Status
		s.Phase = event.Paused
		f.at--
		f.deltas[f.at] = feed.Delta{Status: s}
		f.paused = false
		go func() {
			time.Sleep(100 * time.Millisecond)
			f.mu.Lock()
			f.paused = f.at > 0 && f.deltas[f.at-1].Status.Phase == event.Paused
			f.mu.Unlock()
		}()
	}
}

func (f *fakeFeed) Close() {}

func ended(s event.Status, r event.Reason) feed.Delta {
	s.Phase = event.Ended
	return feed.Delta{Status: s, Done: &event.DoneEvent{
		Reason: r, Epochs: s.Epoch, Loss: 0.0123, Error: 0.006, TestError: 0.0471, BestTestError: 0.0462, BestEpoch: 31, Elapsed: event.Float(s.Elapsed),
	}}
}

var nan = event.Float(math.NaN())

// fakeMethods stand in for the registry, so that pictures do not depend on it.
func fakeMethods() []*optim.Info {
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

// script is a made-up run of the letter net.
type script struct {
	epochs     int
	regression bool
	skips      bool
	switchAt   int // epoch after which adam takes over; 0 never
	adam       bool
	spectra    bool
	fate       string // "running", "done", "nan"
}

func fakeRun(s script) []feed.Delta {
	r := rand.New(rand.NewPCG(1, 2))
	run := &event.RunEvent{
		Version: 1, ID: "x", Optimizer: "tr-newton", Seed: 1, Epochs: 60,
		Data: event.DataInfo{Name: "letters", TrainRows: 16000, TestRows: 4000, Inputs: 16, Outputs: 26, Classes: 26},
		Model: event.ModelInfo{
			Layers: []int{16, 70, 50, 26}, Activations: []string{"tanh", "tanh", "softmax"}, Loss: "xent", Parameters: 6066,
			Connections: []event.ConnectionInfo{{To: 1, From: 0, Weights: 1120}, {To: 2, From: 1, Weights: 3500}, {To: 3, From: 2, Weights: 1300}},
		},
	}
	if s.regression {
		run.Data = event.DataInfo{Name: "sine", TrainRows: 400, TestRows: 100, Inputs: 1, Outputs: 1}
		run.Model.Loss = "mse"
	}
	if s.skips {
		run.Model.Connections = append(run.Model.Connections,
			event.ConnectionInfo{To: 2, From: 0, Weights: 800}, event.ConnectionInfo{To: 3, From: 0, Weights: 416})
	}
	st := event.Status{Phase: event.Running, EpochLimit: 60, Optimizer: "tr-newton",
		Settings: []event.Setting{{Key: "radius", Text: "1", Primary: true}, {Key: "xi", Text: "0.1"}, {Key: "limit", Text: "120"}}}
	adam := []event.Setting{{Key: "rate", Text: "0.001", Primary: true}, {Key: "beta1", Text: "0.9"}}
	if s.adam {
		st.Optimizer, st.Settings, run.Optimizer = "adam", adam, "adam"
	}
	deltas := []feed.Delta{{Run: run, Status: st}}
	radius, equivalents := 1.0, 0.0
	first := fakeEpoch(0, 0, r)
	first.Epoch, first.Inner, first.Radius, first.Rho, first.Rate, first.StepNorm, first.Seconds = 0, nil, 1, nan, nan, nan, 0
	if s.adam {
		first.Radius, first.Rate = nan, 0.001
	}
	deltas = append(deltas, feed.Delta{Status: st, Epochs: []event.EpochEvent{first}})
	for e := 1; e <= s.epochs; e++ {
		ev := fakeEpoch(e, radius, r)
		if s.adam || s.switchAt > 0 && e > s.switchAt {
			ev.Inner, ev.Radius, ev.Rho, ev.Rate, ev.Optimizer = nil, nan, nan, 0.001, "adam"
			st.Units, st.Unit = 250, 90
		} else {
			for k := 1; k <= ev.Inner[0].Iterations; k += 9 {
				deltas = append(deltas, feed.Delta{Status: st, Inner: []event.InnerEvent{fakeInner(e, k, radius)}})
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
		if s.fate == "nan" && e == s.epochs {
			ev.Loss, ev.TestLoss, ev.GradientNorm = nan, nan, nan
		}
		st.Epoch, st.Elapsed, st.Equivalents = e, float64(ev.Elapsed), equivalents
		d := feed.Delta{Status: st, Epochs: []event.EpochEvent{ev}}
		if s.spectra && e%4 == 0 {
			d.Spectra = []event.SpectrumEvent{fakeSpectrum(e)}
		}
		deltas = append(deltas, d)
		if e == s.switchAt {
			st.Optimizer, st.Settings = "adam", adam
			deltas = append(deltas, feed.Delta{Status: st, Switches: []event.SwitchEvent{{Epoch: e, From: "tr-newton", To: "adam"}}})
		}
	}
	switch s.fate {
	case "done":
		deltas = append(deltas, ended(st, event.ReasonTarget))
	case "nan", "dead":
		d := ended(st, event.ReasonDiverged)
		d.Diverged = &event.DivergedEvent{Epoch: s.epochs, Reason: "the loss is not finite"}
		d.Done.Loss = nan
		deltas = append(deltas, d)
	default:
		if st.Optimizer == "tr-newton" {
			deltas = append(deltas, feed.Delta{Status: st, Inner: []event.InnerEvent{fakeInner(s.epochs+1, 1, radius), fakeInner(s.epochs+1, 7, radius), fakeInner(s.epochs+1, 12, radius)}})
		}
	}
	return deltas
}

func fakeEpoch(e int, radius float64, r *rand.Rand) event.EpochEvent {
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
		GradientNorm: f(0.8 * math.Exp(-x/9)), StepNorm: f(radius * 0.9), Radius: f(radius), Rho: f(rho), Rate: nan,
		Accepted:  rho > 0,
		Gradients: f(x + 1), Products: f(23 * x), Losses: f(x + 1), Seconds: f(0.4 + 0.2*r.Float64()), Elapsed: f(0.5 * x),
	}
	n := 4 + int(40*(1-math.Exp(-x/10))) + r.IntN(14)
	ev.Inner = []event.InnerSummary{{Iterations: n, Stop: stop, Residual: f(0.08), TrueResidual: nan, StepNorm: ev.StepNorm, Curvature: f(0.02),
		Ritz: event.Floats([]float64{-0.02, 0.001, 0.013, 0.08, 0.9, 4.1, 11.3})}}
	for i, w := range []float64{3.1, 5.2, 4.4} {
		ev.Blocks = append(ev.Blocks, event.BlockNorms{To: i + 1, From: i, Weight: f(w + x/20), Gradient: f(0.3 * math.Exp(-x/9)), Step: f(0.1 * w)})
	}
	return ev
}

func fakeInner(e, k int, radius float64) event.InnerEvent {
	x := float64(k)
	return event.InnerEvent{Epoch: e, Iteration: k, Residual: event.Float(0.3 * math.Exp(-x/12)), StepNorm: event.Float(radius * (1 - math.Exp(-x/9))),
		Radius: event.Float(radius), Curvature: event.Float(0.4 / x), Model: event.Float(-0.02 * x)}
}

func fakeSpectrum(e int) event.SpectrumEvent {
	x := float64(e)
	s := event.SpectrumEvent{Epoch: e, Method: "lanczos", Operator: "hessian", Rows: 16000, Products: 40}
	for i, v := range []float64{-0.31 * math.Exp(-x/30), -0.082, -0.0021, 0.4, 0.72, 1.3, 2.2, 8.4 + x/4} {
		s.Eigenvalues = append(s.Eigenvalues, event.Float(v))
		s.Residuals = append(s.Residuals, event.Float(3e-6*float64(i+1)))
	}
	return s
}

// TestMain runs the UI on a made-up run instead of the tests when NEWTOP_TUI_DEMO names one, so that it
// can be looked at: NEWTOP_TUI_DEMO=running,40 go test ./tui
func TestMain(m *testing.M) {
	demo := os.Getenv("NEWTOP_TUI_DEMO")
	if demo == "" {
		os.Exit(m.Run())
	}
	if name, ok := strings.CutPrefix(demo, "watch-"); ok {
		if err := runReplayDemo(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	epochs := 40
	if n, err := strconv.Atoi(os.Getenv("NEWTOP_TUI_EPOCHS")); err == nil {
		epochs = n
	}
	s := script{epochs: epochs, fate: demo, spectra: true, skips: os.Getenv("NEWTOP_TUI_SKIPS") != ""}
	if n, err := strconv.Atoi(os.Getenv("NEWTOP_TUI_SWITCH")); err == nil {
		s.switchAt = n
	}
	s.regression = os.Getenv("NEWTOP_TUI_REGRESSION") != ""
	f := &fakeFeed{deltas: fakeRun(s)}
	if demo == "edge" {
		f.deltas = edgeRun("0.11")
	}
	if os.Getenv("NEWTOP_TUI_PACE") != "" {
		f.pace = 40 * time.Millisecond
	}
	if err := Run(context.Background(), f, screen.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
