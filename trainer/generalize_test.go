package trainer

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/event"
)

// A run tells the loss of the rows, and beside it the penalty: ½λ times the squares of the weights, biases left out.
func TestPenaltyIsTold(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{5}, Epochs: 1, L2: 0.05, Seed: 2}
	plain := c
	plain.L2 = 0
	with, without := train(t, c), train(t, plain)
	p := mustPrepare(t, c)
	w := make([]float64, p.Dim())
	drawWeights(p, w, c.Seed)
	first, unpenalized := of[event.EpochEvent](with)[0], of[event.EpochEvent](without)[0]
	if d := penaltyOf(&first) - 0.025*squares(p.Network, w); math.Abs(d) > 1e-14 {
		t.Errorf("figures %+v: off by %v", first.Metrics, d)
	}
	if first.Loss != unpenalized.Loss || unpenalized.Metrics != nil {
		t.Errorf("loss %v, without a penalty %v and %v", first.Loss, unpenalized.Loss, unpenalized.Metrics)
	}
}

func penaltyOf(e *event.EpochEvent) float64 {
	at := slices.IndexFunc(e.Metrics, func(f event.Metric) bool { return f.Key == "penalty" })
	if at < 0 {
		return math.NaN()
	}
	return float64(e.Metrics[at].Value)
}

func squares(n *models.Network, w []float64) (sum float64) {
	w = slices.Clone(w)
	for _, b := range n.Biases() {
		clear(w[b.Offset:][:b.Nodes])
	}
	return floats.Dot(w, w)
}

// The spectrum of a run with a penalty is that of the minimized loss: of the dense matrix with λ on the weights' diagonal.
func TestSpectraHaveThePenalty(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{5}, Epochs: 3, L2: 0.05, Seed: 2, SpectrumEvery: 3, SpectrumRows: -1, SpectrumOf: "gauss-newton"}
	run := keepAll(t, c)
	spectrum := of[event.SpectrumEvent](&run.memory)[0]
	p := mustPrepare(t, c)
	weights, err := run.last(t).Weights(p.Dim())
	if err != nil {
		t.Fatal(err)
	}
	decays := slices.Repeat([]float64{c.L2}, p.Dim())
	for _, b := range p.Network.Biases() {
		clear(decays[b.Offset:][:b.Nodes])
	}
	l := p.Network.Linearize(weights[0], p.Train.X, p.Train.T)
	all := eigenvaluesOf(t, assemble(p.Dim(), func(dst, v []float64) {
		l.GaussNewtonTo(dst, v)
		for i := range v {
			dst[i] += decays[i] * v[i]
		}
	}))
	for i, v := range spectrum.Eigenvalues {
		nearest := math.Inf(1)
		for _, want := range all {
			nearest = min(nearest, math.Abs(float64(v)-want))
		}
		if nearest > float64(spectrum.Residuals[i])+1e-12 || i < 3 && math.Abs(float64(v)-all[i]) > 1e-6*all[0] {
			t.Errorf("eigenvalue %d is %v, ± %v of one is expected, %v", i, v, spectrum.Residuals[i], all[:3])
		}
	}
}

// A slice shows what the step did to loss and penalty together, and its quadratic model has the curvature of both.
func TestSlicesHaveThePenalty(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{4}, L2: 0.05}
	m := &memory{}
	d := takeWheel(t, mustNew(t, c, m), m)
	d.times(3, event.StepEpoch{})
	d.look(event.Slice{})
	d.refused(event.Switch{Optimizer: "bpls"}, "L2 0.05: expected 0 with bpls")
	d.refused(event.Race{Racers: []event.Racer{{Optimizer: "bpls"}, {Optimizer: "tr-gn"}}}, "L2 0.05: expected 0 with bpls")
	d.stop()
	epochs, slice := of[event.EpochEvent](m), of[event.SliceEvent](m)[0]
	last, previous := &epochs[3], &epochs[2]
	want := float64(last.Loss-previous.Loss) + penaltyOf(last) - penaltyOf(previous)
	if !slice.Accepted || math.Abs(float64(slice.Loss[10])-want) > 1e-12 {
		t.Errorf("the loss changes by %v, expected %v", slice.Loss[10], want)
	}
	// The model's error is of third order in t: an eighth for half of t.
	e1, e2 := float64(slice.Loss[1]-slice.Quadratic[1]), float64(slice.Loss[2]-slice.Quadratic[2])
	if r := e2 / e1; !(r > 6 && r < 10.5) {
		t.Errorf("the errors of the quadratic model grow by %v, expected about 8", r)
	}
}
