package tuitest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
)

// FactorsAt are made-up factors of a network after an epoch: the spectra of later layers decay faster, and ever faster
// while the run continues. The side of the last outputs is singular, and sides longer than most have none.
func FactorsAt(epoch int, layers []int, most int, damping float64) *event.PreconditionerMetrics {
	p := &event.PreconditionerMetrics{Refreshes: 3, Seconds: 0.012 + 0.001*event.Float(epoch%4)}
	for to := 1; to < len(layers); to++ {
		for k, size := range []int{layers[to], layers[to-1] + 1} {
			f := event.FactorMetrics{To: to, From: to - 1, Side: []string{event.SideOutputs, event.SideInputs}[k],
				Size: size, Damping: event.Absent}
			if size <= most {
				f.Eigenvalues = factorValues(epoch, to, k, size)
				if k == 0 && to == len(layers)-1 {
					f.Eigenvalues[len(f.Eigenvalues)-1] = 3e-20
				}
				if damping > 0 {
					f.Damping = event.Float(damping) * f.Eigenvalues[0]
				}
			}
			p.Factors = append(p.Factors, f)
		}
	}
	return p
}

// factorValues are at most 16 of a factor's eigenvalues.
func factorValues(epoch, to, side, size int) (list []event.Float) {
	to = 1 + (to-1)%4
	decades := (1 + 0.6*float64(to) + 0.4*float64(side)) * (1 + float64(epoch)/40)
	n := min(size, 16)
	for i := range n {
		rank := float64(i) / float64(max(n-1, 1))
		list = append(list, event.Float(0.02*math.Pow(0.3, float64(to-1))*math.Pow(10, -decades*math.Pow(rank, 0.7))))
	}
	return list
}

// FactorRun is a made-up run of soap, or of another method with factors, on a network of such layers, with a linear
// schedule over all of its 60 epochs. Of kfac's larger factors the ends alone are reported.
func FactorRun(method string, epochs int, layers ...int) []feed.Delta {
	r := rand.New(rand.NewPCG(5, 3))
	st := event.Status{Phase: event.Running, EpochLimit: 60, Optimizer: method, Units: 63, Unit: 21,
		Settings: []event.Setting{
			{Key: "rate", Text: "0.01", Primary: true}, {Key: "every", Text: "20"}, {Key: "side", Text: "512"},
			{Key: "batch", Text: "256"},
			{Key: "weight-decay", Text: "0"}, {Key: "schedule", Text: "linear"}, {Key: "horizon", Text: "0"},
			{Key: "warmup", Text: "0"}, {Key: "end-rate", Text: "0"},
		}}
	run := opening(Script{})
	run.Optimizer, run.Model.Layers, run.Model.Connections, run.Model.Activations = method, layers, nil, nil
	for to := 1; to < len(layers); to++ {
		run.Model.Connections = append(run.Model.Connections,
			event.ConnectionInfo{To: to, From: to - 1, Weights: layers[to] * layers[to-1]})
		run.Model.Activations = append(run.Model.Activations, "tanh")
	}
	damping := 0.0
	if method != "soap" {
		damping = 1e-4
	}
	deltas := []feed.Delta{{Run: run, Status: st}}
	for e := range epochs + 1 {
		ev := Epoch(e, 1, r)
		ev.Optimizer, ev.Inner, ev.Radius, ev.Rho, ev.StepNorm = method, nil, NaN, NaN, event.Float(
			12*math.Exp(-float64(e)/12))
		ev.Rate = event.Float(0.01 * (1 - (float64(e)-1.0/63)/60))
		ev.GradientEquivalents = event.Float(1.4 * float64(e))
		if e > 0 {
			ev.Preconditioner = FactorsAt(e, layers, 512, damping)
			for i := range ev.Preconditioner.Factors {
				f := &ev.Preconditioner.Factors[i]
				f.Ends = method == "kfac" && f.Size > 32
			}
		}
		st.Epoch, st.Elapsed, st.Equivalents = e, float64(ev.Elapsed), float64(ev.GradientEquivalents)
		deltas = append(deltas, feed.Delta{Status: st, Epochs: []event.EpochEvent{ev}})
	}
	return deltas
}

// SampledRun is a made-up run of a Hessian-free method: each epoch has that many steps, each of an inner solve on a
// sample of the rows, which grows while the run continues.
func SampledRun(epochs, steps int) []feed.Delta {
	r := rand.New(rand.NewPCG(6, 3))
	st := event.Status{Phase: event.Running, EpochLimit: 60, Optimizer: "hessian-free",
		Settings: []event.Setting{{Key: "lambda", Text: "1", Primary: true}, {Key: "limit", Text: "100"}}}
	run := opening(Script{})
	run.Optimizer = "hessian-free"
	deltas := []feed.Delta{{Run: run, Status: st}}
	for e := range epochs + 1 {
		ev := Epoch(e, 1, r)
		ev.Optimizer, ev.Inner, ev.Radius, ev.Rate = "hessian-free", nil, NaN, NaN
		lambda := math.Exp(-float64(e) / 15)
		for k := 0; k < steps && e > 0; k++ {
			solve, told := SolveEvents(e, k, 6+(5*e+3*k)%24, []krylov.Stop{krylov.Residual, krylov.Residual,
				krylov.Limit}[(e+k)%3])
			for i := range solve {
				solve[i].Radius = event.Float(math.Inf(1))
			}
			deltas = append(deltas, feed.Delta{Status: st, Inner: solve})
			ev.Inner = append(ev.Inner, told)
		}
		if e > 0 {
			ev.Metrics = []event.Metric{
				event.NewMetric("lambda", "λ", "damping", event.Float(lambda)),
				event.NewMetric("gradient_rows", "gradient rows", "rows of a step's gradient",
					event.Float(min(16000, 2000+500*e))),
				event.NewMetric("curvature_rows", "curvature rows", "rows of a step's products",
					event.Float(min(4000, 500+125*e))),
			}
		}
		st.Epoch, st.Elapsed, st.Equivalents = e, float64(ev.Elapsed), 60*float64(e)
		ev.GradientEquivalents = event.Float(st.Equivalents)
		st.Settings = []event.Setting{{Key: "lambda", Text: fmt.Sprint(event.Float(lambda)), Primary: true},
			st.Settings[1]}
		deltas = append(deltas, feed.Delta{Status: st, Epochs: []event.EpochEvent{ev}})
	}
	solve, _ := SolveEvents(epochs+1, steps/2, 14, krylov.Limit)
	return append(deltas, feed.Delta{Status: st, Inner: solve[:12]})
}
