package trainer

import (
	"math"
	"slices"
)

// Bounds of what is kept for a viewer that is behind, and of the history for one that joins late.
const (
	maxEpochs  = 8192 // thinned to half when full
	maxSpectra = 1024
	maxInner   = 1024 // oldest dropped first
	maxMarks   = 1024 // switches and settings, oldest dropped first
	maxLooks   = 4    // slices, weights, errors
	maxLaps    = 8192
)

// backlog gathers events into a Delta of bounded size. What was added in any order of calls comes out
// in that order, kind by kind.
type backlog struct {
	delta Delta
	some  bool // whether delta holds anything
}

// add takes a copy of the event, and the status that goes with it.
func (b *backlog) add(e Event) {
	d := &b.delta
	b.some = true
	switch e := e.(type) {
	case RunEvent:
		d.Run = &e
	case InnerEvent:
		d.Inner = appendBounded(d.Inner, e, maxInner)
	case EpochEvent:
		d.Epochs = append(d.Epochs, e)
		if len(d.Epochs) > maxEpochs {
			before := len(d.Epochs)
			d.Epochs = thin(d.Epochs, epochFigures)
			d.Thinned += before - len(d.Epochs)
		}
	case SpectrumEvent:
		d.Spectra = append(d.Spectra, e)
		if len(d.Spectra) > maxSpectra {
			d.Spectra = thin(d.Spectra, spectrumFigures)
		}
	case SwitchEvent:
		d.Switches = appendBounded(d.Switches, e, maxMarks)
	case SettingEvent:
		d.Settings = appendBounded(d.Settings, e, maxMarks)
	case RewindEvent:
		d.Rewinds = appendBounded(d.Rewinds, e, maxMarks)
	case RaceEvent:
		d.Races = appendBounded(d.Races, e, maxMarks)
	case LapEvent:
		d.Laps = appendBounded(d.Laps, e, maxLaps)
	case SliceEvent:
		d.Slices = appendBounded(d.Slices, e, maxLooks)
	case WeightsEvent:
		d.Weights = appendBounded(d.Weights, e, maxLooks)
	case ErrorsEvent:
		d.Errors = appendBounded(d.Errors, e, maxLooks)
	case DivergedEvent:
		d.Diverged = &e
	case DoneEvent:
		d.Done = &e
	}
}

func (b *backlog) status(s Status) {
	b.delta.Status = s
	b.some = true
}

// take returns what was gathered and starts anew, keeping the status.
func (b *backlog) take() Delta {
	d := b.delta
	b.delta, b.some = Delta{Status: d.Status}, false
	return d
}

// history returns a copy of what was gathered, for a viewer that joins now.
func (b *backlog) history() *backlog {
	d := b.delta
	d.Epochs = slices.Clone(d.Epochs)
	d.Inner = slices.Clone(d.Inner)
	d.Spectra = slices.Clone(d.Spectra)
	d.Switches = slices.Clone(d.Switches)
	d.Settings = slices.Clone(d.Settings)
	d.Rewinds = slices.Clone(d.Rewinds)
	d.Races = slices.Clone(d.Races)
	d.Laps = slices.Clone(d.Laps)
	d.Slices = slices.Clone(d.Slices)
	d.Weights = slices.Clone(d.Weights)
	d.Errors = slices.Clone(d.Errors)
	return &backlog{delta: d, some: b.some}
}

func appendBounded[T any](s []T, v T, bound int) []T {
	if len(s) >= bound {
		// Dropping a quarter at a time keeps the cost of an append constant.
		s = slices.Delete(s, 0, bound/4)
	}
	return append(s, v)
}

func epochFigures(e *EpochEvent) []Float {
	return []Float{e.Loss, e.TestLoss, e.Error, e.TestError}
}

func spectrumFigures(e *SpectrumEvent) []Float {
	if n := len(e.Eigenvalues); n > 0 {
		return []Float{e.Eigenvalues[0], e.Eigenvalues[n-1]}
	}
	return nil
}

// thin keeps at most half of the points: of every 16 in a row those that hold the minimum or the
// maximum of a figure, so that no extreme is lost. A figure that is no number counts as an extreme.
// The newest point stays.
func thin[T any](points []T, figures func(*T) []Float) []T {
	const group = 16
	out := points[:0]
	for start := 0; start < len(points); start += group {
		part := points[start:min(start+group, len(points))]
		keep := extremes(part, figures)
		for i := range part {
			if keep[i] || start+i == len(points)-1 {
				out = append(out, part[i])
			}
		}
	}
	clear(points[len(out):])
	return out
}

// extremes marks the points of a group that hold an extreme of a figure: at most two a figure, the
// first one that is not a number standing for the maximum.
func extremes[T any](part []T, figures func(*T) []Float) []bool {
	keep := make([]bool, len(part))
	if len(part) == 0 {
		return keep
	}
	for f := range figures(&part[0]) {
		low, high, bad := -1, -1, -1
		value := func(i int) float64 { return float64(figures(&part[i])[f]) }
		for i := range part {
			switch v := value(i); {
			case math.IsNaN(v) && bad < 0:
				bad = i
			case math.IsNaN(v):
			default:
				if low < 0 || v < value(low) {
					low = i
				}
				if high < 0 || v > value(high) {
					high = i
				}
			}
		}
		// A figure that the run does not have is NaN everywhere and marks nothing.
		if bad >= 0 && high >= 0 {
			high = bad
		}
		for _, i := range []int{low, high} {
			if i >= 0 {
				keep[i] = true
			}
		}
	}
	return keep
}
