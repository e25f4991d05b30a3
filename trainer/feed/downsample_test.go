package feed

import (
	"math"
	"slices"
	"testing"

	"newtop/trainer/event"
)

// However long a run is, every part of it keeps its share of points.
func TestThinningIsEven(t *testing.T) {
	const n = 1_000_000
	var b deltaBuffer
	for i := range n {
		e := event.UnknownEpoch(i)
		e.Loss = event.Float(2*math.Exp(-float64(i)/2e5) + 0.1*math.Pow(math.Sin(float64(i)/3e4), 2))
		b.add(e)
	}
	d := b.drain()
	if len(d.Epochs)+d.Thinned != n || len(d.Epochs) > MaxEpochs {
		t.Errorf("%d epochs, %d left out of %d", len(d.Epochs), d.Thinned, n)
	}
	parts := make([]int, 100)
	for _, e := range d.Epochs {
		parts[e.Epoch*len(parts)/n]++
	}
	if least := slices.Min(parts); least < 20 {
		t.Errorf("one hundredth of the run has %d points left: %v", least, parts)
	}
}

// A run of which nothing is known but its epochs keeps some of them, and one with figures of its own their extremes.
func TestThinningOfUnknownFigures(t *testing.T) {
	const n, spike = 100_000, 43_210
	var bare, own deltaBuffer
	for i := range n {
		bare.add(event.UnknownEpoch(i))
		e := event.UnknownEpoch(i)
		e.Metrics = []event.Metric{{Key: "lr", Value: 1}, {Key: "a", Value: event.Float(i % 7)}}
		if i == spike {
			e.Metrics[1].Value = 99
		}
		own.add(e)
	}
	if d := bare.drain(); len(d.Epochs) < 500 {
		t.Errorf("%d epochs are left", len(d.Epochs))
	}
	if d := own.drain(); !slices.ContainsFunc(d.Epochs, func(e event.EpochEvent) bool { return e.Epoch == spike }) {
		t.Error("a figure's greatest value is lost")
	}
}

func TestThinningOfSpectra(t *testing.T) {
	var b deltaBuffer
	for i := range 10 * maxSpectra {
		e := event.SpectrumEvent{Epoch: i}
		if i%3 > 0 { // some have none, as a product was not finite
			e.Eigenvalues = []event.Float{event.Float(i % 11), -1}
		}
		b.add(e)
	}
	if d := b.drain(); len(d.Spectra) > maxSpectra || d.Spectra[len(d.Spectra)-1].Epoch != 10*maxSpectra-1 {
		t.Errorf("%d spectra are left", len(d.Spectra))
	}
}
