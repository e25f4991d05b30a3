package tui

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer"
	"newtop/trainer/krylov"
)

// TestFuzz throws random keys, sizes, clicks and Deltas at the model. No frame may overflow.
func TestFuzz(t *testing.T) {
	keys := []string{"1", "6", "9", "o", "?", "z", "esc", "tab", "shift+tab", "left", "right", "up", "down", "y", "space", "s", "i", "+", "-", "k", "enter",
		"a", "d", "backspace", "Z", "é", "数", "x"}
	steps := 500
	if testing.Short() {
		steps = 100
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		a := newApp(&fakeFeed{}, Options{Glyphs: Glyphs(seed % 4), NoColor: seed%2 == 0}, fakeMethods())
		frameText(t, a)
		for range steps {
			switch r.IntN(4) {
			case 0:
				w, h := r.IntN(220), r.IntN(70)
				if r.IntN(6) == 0 {
					w, h = r.IntN(3), r.IntN(3)
				}
				a.Update(tea.WindowSizeMsg{Width: w, Height: h})
			case 1:
				a.Update(typed(keys[r.IntN(len(keys))]))
			case 2:
				a.Update(tea.MouseClickMsg{X: r.IntN(220), Y: r.IntN(70)})
			default:
				a.Update(came(randomDelta(r)))
			}
			frameText(t, a)
		}
	}
}

func randomFloat(r *rand.Rand) trainer.Float {
	switch r.IntN(9) {
	case 0:
		return trainer.Float(math.NaN())
	case 1:
		return trainer.Float(math.Inf(1 - 2*r.IntN(2)))
	case 2:
		return 0
	case 3:
		return trainer.Float(-math.Exp(600 * r.NormFloat64()))
	case 4:
		return trainer.Float(math.Exp(300 * r.NormFloat64()))
	}
	return trainer.Float(r.NormFloat64())
}

func randomText(r *rand.Rand) string {
	return []string{"", "tr-gn", "a\x1b[2Jb\r\n", strings.Repeat("long ", 80), "数据集", "👩\u200d💻", "x\u202e\u0301"}[r.IntN(7)]
}

func randomDelta(r *rand.Rand) trainer.Delta {
	f := func() trainer.Float { return randomFloat(r) }
	n := r.IntN(2000)
	d := trainer.Delta{Status: trainer.Status{
		Phase: trainer.Phase(r.IntN(4)), Epoch: n, EpochLimit: r.IntN(3) * 700, Optimizer: randomText(r), Unit: r.IntN(9), Units: r.IntN(9),
		Elapsed: float64(f()), Equivalents: float64(f()),
		Settings: []trainer.Setting{{Key: randomText(r), Text: randomText(r), Primary: r.IntN(2) == 0}, {Key: "rate", Text: fmt.Sprint(f()), Primary: r.IntN(2) == 0}},
	}}
	if r.IntN(3) == 0 {
		d.Status.Optimizer = []string{"sgd", "momentum", "lbfgs"}[r.IntN(3)]
	}
	if r.IntN(5) == 0 {
		d.Status.Computing = "spectrum"
	}
	if r.IntN(4) == 0 {
		d.Run = randomRun(r)
	}
	for range r.IntN(4) {
		e := trainer.EpochEvent{Epoch: n, Loss: f(), TestLoss: f(), Error: f(), TestError: f(), RMSE: f(), TestRMSE: f(), GradientNorm: f(), StepNorm: f(),
			Radius: f(), Rho: f(), Rate: f(), Accepted: r.IntN(2) == 0, Gradients: f(), Products: f(), Losses: f(), GradientEquivalents: f(), Seconds: f(), Elapsed: f()}
		for b := range r.IntN(5) {
			e.Inner = append(e.Inner, trainer.InnerSummary{Block: b, Member: r.IntN(4), Iterations: r.IntN(90), Stop: krylov.Stop(r.IntN(9)), Residual: f(), Curvature: f(), Ritz: []trainer.Float{f(), f()}})
			e.Blocks = append(e.Blocks, trainer.BlockNorms{To: b + 1, From: r.IntN(9) - 1, Weight: f(), Gradient: f(), Step: f()})
		}
		randomFigures(r, &e)
		d.Epochs = append(d.Epochs, e)
		d.Inner = append(d.Inner, trainer.InnerEvent{Epoch: n + r.IntN(2), Block: r.IntN(3), Member: r.IntN(3), Iteration: r.IntN(50), Residual: f(), StepNorm: f(), Radius: f(), Curvature: f(), Model: f()})
		d.Spectra = append(d.Spectra, randomSpectrum(r, n))
		d.Switches = append(d.Switches, trainer.SwitchEvent{Epoch: n, From: randomText(r), To: randomText(r)})
		d.Settings = append(d.Settings, trainer.SettingEvent{Epoch: n, Key: randomText(r), Value: []any{nil, 2.5, "jacobi", randomText(r)}[r.IntN(4)]})
	}
	if r.IntN(60) == 0 {
		d.Diverged = &trainer.DivergedEvent{Epoch: n, Reason: randomText(r)}
	}
	if r.IntN(60) == 0 {
		d.Done = &trainer.DoneEvent{Reason: trainer.Reason(randomText(r)), Message: randomText(r), Loss: f(), Elapsed: f()}
	}
	return d
}

// randomFigures gives an epoch what only some runs have: a method's own figures, a committee's members, a
// mixture's gates.
func randomFigures(r *rand.Rand, e *trainer.EpochEvent) {
	f := func() trainer.Float { return randomFloat(r) }
	for range r.IntN(8) {
		v := f()
		if r.IntN(2) == 0 {
			v = trainer.Float(r.IntN(1e7))
		}
		e.Figures = append(e.Figures, trainer.Figure{Key: randomText(r), Symbol: randomText(r), Meaning: randomText(r), Value: v})
	}
	for range r.IntN(4) * r.IntN(4) {
		e.Members = append(e.Members, trainer.MemberFigures{Loss: f(), TestLoss: f(), Error: f(), TestError: f(), RMSE: f(), TestRMSE: f()})
	}
	for range r.IntN(4) * r.IntN(9) {
		e.Gates = append(e.Gates, trainer.GateFigures{Center: f(), Width: f(), Slope: f(), Share: f()})
	}
}

func randomSpectrum(r *rand.Rand, epoch int) trainer.SpectrumEvent {
	f := func() trainer.Float { return randomFloat(r) }
	several := func() (list []trainer.Float) {
		for range r.IntN(9) * r.IntN(40) {
			list = append(list, f())
		}
		return list
	}
	e := trainer.SpectrumEvent{Epoch: epoch, Method: randomText(r), Operator: randomText(r), Rows: r.IntN(3) * r.IntN(1e6), Selection: randomText(r),
		Eigenvalues: []trainer.Float{f(), f(), f()}, Residuals: []trainer.Float{f()}}
	if r.IntN(2) == 0 {
		e.Operator, e.Method = []string{"hessian", "gauss-newton"}[r.IntN(2)], "power"
	}
	if r.IntN(2) == 0 {
		e.Density = &trainer.Density{Grid: several(), Values: several(), Errors: several(), Sigma: f(), Probes: r.IntN(2000), Steps: r.IntN(2000)}
	}
	if r.IntN(2) == 0 {
		e.Trace = &trainer.Trace{Value: f(), Error: f(), Probes: r.IntN(2000)}
	}
	return e
}

func randomRun(r *rand.Rand) *trainer.RunEvent {
	run := &trainer.RunEvent{Optimizer: randomText(r), Data: trainer.DataInfo{Name: randomText(r), TrainRows: r.IntN(1e6), Classes: r.IntN(3)}}
	run.Model.Parameters, run.Committee = r.IntN(1e7), r.IntN(12)
	if r.IntN(2) == 0 {
		run.Model.Experts = r.IntN(30)
	}
	for range r.IntN(40) {
		run.Model.Layers = append(run.Model.Layers, r.IntN(1+r.IntN(5000)))
		run.Model.Activations = append(run.Model.Activations, randomText(r))
		to := r.IntN(42) - 1
		run.Model.Connections = append(run.Model.Connections, trainer.ConnectionInfo{To: to, From: to - 1 - r.IntN(3), Weights: r.IntN(1e7)})
	}
	return run
}
