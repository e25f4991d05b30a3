package tuitest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
)

// RandomFloat draws a number of any size, of any sign, none, or one that is not finite.
func RandomFloat(r *rand.Rand) event.Float {
	switch r.IntN(9) {
	case 0:
		return [...]event.Float{event.Absent, event.NotFinite}[r.IntN(2)]
	case 1:
		return event.Float(math.Inf(1 - 2*r.IntN(2)))
	case 2:
		return 0
	case 3:
		return event.Float(-math.Exp(600 * r.NormFloat64()))
	case 4:
		return event.Float(math.Exp(300 * r.NormFloat64()))
	}
	return event.Float(r.NormFloat64())
}

// RandomText draws a text, with control and wide characters among them.
func RandomText(r *rand.Rand) string {
	return []string{"", "tr-gn", "a\x1b[2Jb\r\n", strings.Repeat("long ", 80), "数据集", "👩\u200d💻",
		"x\u202e\u0301"}[r.IntN(7)]
}

// RandomDelta draws everything that a Delta can carry, in ways that make no sense either.
func RandomDelta(r *rand.Rand) feed.Delta {
	f := func() event.Float { return RandomFloat(r) }
	n := r.IntN(2000)
	d := feed.Delta{Status: event.Status{
		Phase: event.Phase(r.IntN(4)), Epoch: n, EpochLimit: r.IntN(3) * 700, Optimizer: RandomText(r), Unit: r.IntN(9),
		Units:   r.IntN(9),
		Elapsed: float64(f()), Equivalents: float64(f()),
		Settings: []event.Setting{{Key: RandomText(r), Text: RandomText(r), Primary: r.IntN(2) == 0},
			{Key: "rate", Text: fmt.Sprint(f()), Primary: r.IntN(2) == 0}},
	}}
	if r.IntN(3) == 0 {
		d.Status.Optimizer = []string{"sgd", "momentum", "lbfgs"}[r.IntN(3)]
	}
	if r.IntN(5) == 0 {
		d.Status.Computing = "spectrum"
	}
	for e := range r.IntN(40) {
		d.Status.RewindEpochs = append(d.Status.RewindEpochs, e*(1+r.IntN(2)))
	}
	randomLooks(r, &d, n)
	randomRace(r, &d, n)
	randomRecord(r, &d, n)
	if r.IntN(4) == 0 {
		d.Run = RandomRun(r)
	}
	for range r.IntN(4) {
		e := event.EpochEvent{Epoch: n, Loss: f(), TestLoss: f(), Error: f(), TestError: f(), RMSE: f(), TestRMSE: f(),
			ValidationLoss: f(), ValidationError: f(), ValidationRMSE: f(), GradientNorm: f(), StepNorm: f(),
			Radius: f(), Rho: f(), Rate: f(), Accepted: r.IntN(2) == 0, Gradients: f(), Products: f(), Losses: f(),
			GradientEquivalents: f(), Seconds: f(), Elapsed: f()}
		for b := range r.IntN(5) {
			e.Inner = append(e.Inner, event.InnerSummary{Block: b, Member: r.IntN(4), Iterations: r.IntN(90),
				Stop: krylov.Stop(r.IntN(9)), Residual: f(), Curvature: f(), Ritz: []event.Float{f(), f()}})
			e.Blocks = append(e.Blocks, event.BlockNorms{To: b + 1, From: r.IntN(9) - 1, Weight: f(), Gradient: f(),
				Step: f()})
		}
		randomFigures(r, &e)
		randomFactors(r, &e)
		d.Epochs = append(d.Epochs, e)
		d.Inner = append(d.Inner, event.InnerEvent{Epoch: n + r.IntN(2), Block: r.IntN(3), Member: r.IntN(3),
			Iteration: r.IntN(50), Residual: f(), StepNorm: f(), Radius: f(), Curvature: f(), Model: f()})
		d.Spectra = append(d.Spectra, randomSpectrum(r, n))
		d.Switches = append(d.Switches, event.SwitchEvent{Epoch: n, From: RandomText(r), To: RandomText(r)})
		d.Settings = append(d.Settings, event.SettingEvent{Epoch: n, Key: RandomText(r),
			Value: []any{nil, 2.5, "jacobi", RandomText(r)}[r.IntN(4)]})
	}
	if r.IntN(60) == 0 {
		d.Diverged = &event.DivergedEvent{Epoch: n, Reason: RandomText(r)}
	}
	if r.IntN(300) == 0 {
		d.Done = &event.DoneEvent{Reason: event.Reason(RandomText(r)), Message: RandomText(r), Loss: f(), Elapsed: f()}
	}
	return d
}

// randomRecord has the run watched, sought through or recorded, in ways that make no sense either.
func randomRecord(r *rand.Rand, d *feed.Delta, epoch int) {
	d.Restart = r.IntN(12) == 0
	if r.IntN(3) > 0 {
		d.Status.Replay = &event.Replay{Source: RandomText(r), Loading: float64(RandomFloat(r)), Live: r.IntN(2) == 0,
			Seekable: r.IntN(3) > 0,
			Epoch:    epoch - r.IntN(3), Last: r.IntN(3) * r.IntN(1e6), At: float64(RandomFloat(r)),
			Length: float64(RandomFloat(r)), Speed: float64(RandomFloat(r))}
		if r.IntN(9) == 0 {
			d.Status.Replay.Stale, d.Status.Replay.Warning = RandomText(r), RandomText(r)
		}
	}
	if r.IntN(4) == 0 {
		d.Status.Recording = event.Recording{Run: RandomText(r), Backlog: r.IntN(3) * r.IntN(1e6),
			Lost: r.IntN(2) * r.IntN(1e6), Warning: RandomText(r)}
	}
	if r.IntN(8) == 0 {
		d.Resumes = append(d.Resumes, event.ResumeEvent{Epoch: epoch - r.IntN(9)})
		d.Saved = append(d.Saved, event.SavedEvent{Epoch: epoch, File: RandomText(r), Bytes: r.Int64()})
	}
}

func randomFloats(r *rand.Rand, n int) (list []event.Float) {
	for range n {
		list = append(list, RandomFloat(r))
	}
	return list
}

// randomLooks adds answers to what a viewer asks for, in no order.
func randomLooks(r *rand.Rand, d *feed.Delta, epoch int) {
	if r.IntN(8) == 0 {
		d.Rewinds = append(d.Rewinds, event.RewindEvent{Epoch: epoch, To: r.IntN(2000) - 1})
	}
	if r.IntN(8) == 0 {
		n := r.IntN(40)
		e := event.SliceEvent{Epoch: epoch, Member: r.IntN(3), Optimizer: RandomText(r), StepNorm: RandomFloat(r),
			Rho: RandomFloat(r), Accepted: r.IntN(2) == 0}
		e.At, e.Loss = randomFloats(r, n), randomFloats(r, n)
		e.GaussNewton, e.Quadratic = randomFloats(r, n), randomFloats(r, n)
		d.Slices = append(d.Slices, e)
	}
	if r.IntN(8) == 0 {
		rows, cols, side := r.IntN(90), r.IntN(90), r.IntN(12)
		d.Weights = append(d.Weights, event.WeightsEvent{Epoch: epoch, To: r.IntN(5), From: r.IntN(4), Rows: rows,
			Cols:   cols,
			Values: randomFloats(r, rows*cols), Height: side, Width: side})
	}
	if r.IntN(8) > 0 {
		return
	}
	e := ErrorsAt(epoch, r.IntN(3)*r.IntN(20), r.IntN(3)*r.IntN(9))
	e.Train = r.IntN(2) == 0
	for i := range e.Classes {
		e.Classes[i] = RandomText(r)
	}
	for i := range e.Worst {
		w := &e.Worst[i]
		w.Loss, w.Row, w.Target, w.Output = RandomFloat(r), r.IntN(1e6), r.IntN(40)-1, r.IntN(40)-1
		w.Inputs, w.Targets, w.Outputs = randomFloats(r, r.IntN(100)), randomFloats(r, r.IntN(3)), randomFloats(
			r, r.IntN(3))
	}
	for i := range e.Residuals {
		e.Residuals[i] = randomFloats(r, r.IntN(300))
	}
	d.Errors = append(d.Errors, e)
}

// randomRace adds races and laps that make no sense.
func randomRace(r *rand.Rand, d *feed.Delta, epoch int) {
	d.Status.Racing = r.IntN(5) == 0
	if r.IntN(8) == 0 {
		e := event.RaceEvent{Epoch: epoch, State: []string{"begun", "over", "picked", "abandoned", "?"}[r.IntN(5)],
			Picked:      r.IntN(12) - 2,
			Equivalents: RandomFloat(r), Seconds: RandomFloat(r)}
		for range r.IntN(12) {
			e.Racers = append(e.Racers, event.Racer{Name: RandomText(r), Optimizer: RandomText(r),
				Set: []string{RandomText(r)}})
		}
		d.Races = append(d.Races, e)
	}
	for range r.IntN(6) {
		d.Laps = append(d.Laps, event.LapEvent{Racer: r.IntN(14) - 1,
			Ended: []string{"", "budget", RandomText(r)}[r.IntN(3)], Lap: event.EpochEvent{
				Epoch: r.IntN(9), Loss: RandomFloat(r), Error: RandomFloat(r), TestError: RandomFloat(r),
				TestRMSE:            RandomFloat(r),
				GradientEquivalents: RandomFloat(r), Elapsed: RandomFloat(r)}})
	}
}

// randomFigures gives an epoch what only some runs have: a method's own figures, a committee's members, a
// mixture's gates.
func randomFigures(r *rand.Rand, e *event.EpochEvent) {
	f := func() event.Float { return RandomFloat(r) }
	for range r.IntN(8) {
		v := f()
		if r.IntN(2) == 0 {
			v = event.Float(r.IntN(1e7))
		}
		e.Metrics = append(e.Metrics, event.NewMetric(RandomText(r), RandomText(r), RandomText(r), v))
	}
	for range r.IntN(4) * r.IntN(4) {
		e.Members = append(e.Members, event.MemberMetrics{Loss: f(), TestLoss: f(), Error: f(), TestError: f(),
			RMSE: f(), TestRMSE: f(),
			ValidationLoss: f(), ValidationError: f(), ValidationRMSE: f()})
	}
	for range r.IntN(4) * r.IntN(9) {
		e.Gates = append(e.Gates, event.GateMetrics{Center: f(), Width: f(), Slope: f(), Share: f()})
	}
}

// randomFactors gives an epoch factors that belong to no network.
func randomFactors(r *rand.Rand, e *event.EpochEvent) {
	if r.IntN(3) > 0 {
		return
	}
	p := &event.PreconditionerMetrics{Refreshes: r.IntN(3) * r.IntN(1e6), Seconds: RandomFloat(r)}
	same := r.IntN(2) == 0
	for i := range r.IntN(4) * r.IntN(30) {
		f := event.FactorMetrics{To: i/2 + 1, From: i / 2, Side: []string{event.SideOutputs, event.SideInputs}[i%2],
			Size: 1 + i*i, Damping: RandomFloat(r)}
		if !same {
			f.To, f.From, f.Size = r.IntN(30)-3, r.IntN(30)-3, r.IntN(1e5)-9
		}
		if r.IntN(9) == 0 {
			f.Side = RandomText(r)
		}
		f.Eigenvalues, f.Ends = randomFloats(r, r.IntN(3)*r.IntN(17)), r.IntN(3) == 0
		p.Factors = append(p.Factors, f)
	}
	e.Preconditioner, e.Inner = p, nil
}

func randomSpectrum(r *rand.Rand, epoch int) event.SpectrumEvent {
	f := func() event.Float { return RandomFloat(r) }
	several := func() (list []event.Float) {
		for range r.IntN(9) * r.IntN(40) {
			list = append(list, f())
		}
		return list
	}
	e := event.SpectrumEvent{Epoch: epoch, Method: RandomText(r), Operator: RandomText(r),
		Rows: r.IntN(3) * r.IntN(1e6), Selection: RandomText(r),
		Eigenvalues: []event.Float{f(), f(), f()}, Residuals: []event.Float{f()}}
	if r.IntN(2) == 0 {
		e.Operator, e.Method = []string{"hessian", "gauss-newton"}[r.IntN(2)], "power"
	}
	if r.IntN(2) == 0 {
		e.Density = &event.Density{Grid: several(), Values: several(), Errors: several(), Sigma: f(),
			Probes: r.IntN(2000), Steps: r.IntN(2000)}
	}
	if r.IntN(2) == 0 {
		e.Trace = &event.Trace{Value: f(), Error: f(), Probes: r.IntN(2000)}
	}
	return e
}

// RandomRun draws what a run tells of itself.
func RandomRun(r *rand.Rand) *event.RunEvent {
	run := &event.RunEvent{Optimizer: RandomText(r), Data: event.DataInfo{Name: RandomText(r), TrainRows: r.IntN(1e6),
		Classes: r.IntN(3)}}
	run.Model.Parameters, run.Committee = r.IntN(1e7), r.IntN(12)
	if r.IntN(2) == 0 {
		run.Model.Experts = r.IntN(30)
	}
	if r.IntN(3) == 0 {
		return run // another program's
	}
	for range r.IntN(40) {
		run.Model.Layers = append(run.Model.Layers, r.IntN(1+r.IntN(5000)))
		run.Model.Activations = append(run.Model.Activations, RandomText(r))
		to := r.IntN(42) - 1
		run.Model.Connections = append(run.Model.Connections,
			event.ConnectionInfo{To: to, From: to - 1 - r.IntN(3), Weights: r.IntN(1e7)})
	}
	return run
}
