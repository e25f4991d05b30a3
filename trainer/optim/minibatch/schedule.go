package minibatch

import (
	"math"

	"newtop/trainer/optim"
)

// The schedule of the rate, over epochs since the method took over.
var (
	Schedule = &optim.Choice{
		Key: "schedule", Meaning: "the rate as it is, or down to end-rate along a line or half a cosine wave",
		Choices: []string{Constant, scheduleLinear, scheduleCosine}, Source: "cosine: Loshchilov & Hutter 2017, eq. 5",
		Late: true,
	}
	Horizon = &optim.Count{
		Key: "horizon", Meaning: "epochs until the schedule is over; 0: as many as the run has", Max: 1e9, Late: true,
	}
	Warmup = &optim.Number{
		Key: "warmup", Meaning: "epochs, or a part of one, in which the rate grows from 0", Max: 1e9, Late: true,
	}
	EndRate = &optim.Number{
		Key: "end-rate", Meaning: "the rate at the end of the schedule, as a share of rate", Max: 1, Late: true,
	}
	WeightDecay = &optim.Number{
		Key: "weight-decay", Meaning: "each update takes rate·decay of every weight, biases left out", Max: optim.Inf,
		OpenMax: true,
		Source:  "Loshchilov & Hutter 2019, algorithms 1 and 2", Late: true,
	}
)

// Choices of Schedule.
const (
	Constant       = "constant"
	scheduleLinear = "linear"
	scheduleCosine = "cosine"
)

// rateAt returns the rate of batch i of total in the epoch that begins.
func rateAt(s *optim.State, i, total int) float64 {
	before, after := float64(s.Epoch)+float64(i)/float64(total), float64(s.Epoch)+float64(i+1)/float64(total)
	return rateBetween(s.Settings, before, after, s.Epochs)
}

// Planned is rateAt for batches that are short, as optim.Info's Planned.
func Planned(set *optim.Settings, done float64, epochs int) float64 {
	return rateBetween(set, done, done, epochs)
}

// rateBetween returns the rate of a batch:
//
//	p, p′  epochs that the method has done before the batch, and after it
//	u      epochs of warm-up, H the horizon, φ the floor
//	x      = (p − u)/(H − u), within 0 and 1
//
// the rate times 1 − (1 − φ)x, or φ + (1 − φ)(1 + cos πx)/2, and while it warms up times p′/u. Without a horizon, where
// a run has no end, the rate stays as it is.
func rateBetween(set *optim.Settings, before, after float64, epochs int) float64 {
	rate, warmup := Rate.Of(set), Warmup.Of(set)
	if after < warmup {
		return rate * after / warmup
	}
	kind, horizon := Schedule.Of(set), float64(Horizon.Of(set))
	if horizon == 0 {
		horizon = float64(epochs)
	}
	if kind != scheduleLinear && kind != scheduleCosine || horizon == 0 {
		return rate
	}
	x, floor := 1.0, EndRate.Of(set)
	if before < horizon {
		x = max(0, (before-warmup)/(horizon-warmup))
	}
	left := 1 - x
	if kind == scheduleCosine {
		left = (1 + math.Cos(math.Pi*x)) / 2
	}
	return rate * (floor + (1-floor)*left)
}

// beginDecay settles how much of which weights an update takes.
func (b *Method) beginDecay(s *optim.State) {
	d := &b.decays
	d.left = 1 - b.rate*WeightDecay.Of(s.Settings)
	if d.spans = nil; d.left == 1 {
		return
	}
	if o, ok := s.Objective.(optim.WeightedObjective); ok {
		d.spans = o.Weights()
	} else {
		d.whole[0] = optim.Span{Last: len(s.W)}
		d.spans = d.whole[:]
	}
}
