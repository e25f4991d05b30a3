package feed

import (
	"slices"

	"newtop/trainer/event"
)

// Bounds of what is kept for a viewer that is behind, and of the history for one that joins late.
const (
	MaxEpochs   = 8192 // downsampled to half or less when full
	maxSpectra  = 1024 // likewise
	maxInner    = 8192 // oldest dropped first
	maxMarks    = 1024 // switches and settings, oldest dropped first
	maxAnalyses = 4    // slices, weights, errors
	maxLaps     = 8192
	maxConsole  = 2048 // lines, oldest dropped first
	maxMachine  = 4096 // oldest dropped first
)

// deltaBuffer gathers events into a Delta of bounded size. What was added in any order of calls comes out
// in that order, kind by kind.
type deltaBuffer struct {
	Delta   Delta
	filled  bool // whether delta holds anything
	epochs  Downsampler
	spectra Downsampler
	shared  *deltaBuffer // what it begins with, shared and never changed, as long as nothing was added; nil: itself
}

// add takes a copy of the event, and the status that goes with it.
func (b *deltaBuffer) add(e event.Event) {
	b.copyShared()
	d := &b.Delta
	b.filled = true
	switch e := e.(type) {
	case event.RunEvent:
		d.Run = &e
	case event.InnerEvent:
		d.Inner = appendBounded(d.Inner, e, maxInner)
	case event.EpochEvent:
		d.Epochs = append(d.Epochs, e)
		b.epochs.Add()
		if len(d.Epochs) > MaxEpochs {
			before := len(d.Epochs)
			d.Epochs = downsample(&b.epochs, d.Epochs, MaxEpochs/2, epochMetrics)
			d.Thinned += before - len(d.Epochs)
		}
	case event.SpectrumEvent:
		d.Spectra = append(d.Spectra, e)
		b.spectra.Add()
		if len(d.Spectra) > maxSpectra {
			d.Spectra = downsample(&b.spectra, d.Spectra, maxSpectra/2, spectrumMetrics)
		}
	case event.SwitchEvent:
		d.Switches = appendBounded(d.Switches, e, maxMarks)
	case event.SettingEvent:
		d.Settings = appendBounded(d.Settings, e, maxMarks)
	case event.RewindEvent:
		b.forgetAfter(e.To)
		d.Rewinds = appendBounded(d.Rewinds, e, maxMarks)
	case event.CutEvent:
		e.Cut(d.Epochs)
		if i := slices.IndexFunc(d.Cuts, func(o event.CutEvent) bool { return o.Metric == e.Metric }); i >= 0 {
			d.Cuts[i].From = min(d.Cuts[i].From, e.From)
		} else {
			d.Cuts = append(d.Cuts, e)
		}
	case event.RaceEvent:
		d.Races = appendBounded(d.Races, e, maxMarks)
	case event.LapEvent:
		d.Laps = appendBounded(d.Laps, e, maxLaps)
	case event.SliceEvent:
		d.Slices = appendBounded(d.Slices, e, maxAnalyses)
	case event.WeightsEvent:
		d.Weights = appendBounded(d.Weights, e, maxAnalyses)
	case event.ErrorsEvent:
		d.Errors = appendBounded(d.Errors, e, maxAnalyses)
	case event.ResumeEvent:
		d.Diverged, d.Done = nil, nil
		d.Resumes = appendBounded(d.Resumes, e, maxMarks)
	case event.SavedEvent:
		d.Saved = appendBounded(d.Saved, e, maxMarks)
	case event.ConsoleEvent:
		d.Console = appendBounded(d.Console, e, maxConsole)
	case event.MachineEvent:
		d.Machine = appendBounded(d.Machine, e, maxMachine)
	case event.DivergedEvent:
		d.Diverged = &e
	case event.DoneEvent:
		d.Done = &e
	}
}

// forgetAfter forgets the spectra and changes of epochs that the run has gone back behind: a Delta does not tell them
// from those that come after the rewind.
func (b *deltaBuffer) forgetAfter(to int) {
	d := &b.Delta
	if n := slices.IndexFunc(d.Spectra, func(e event.SpectrumEvent) bool { return e.Epoch > to }); n >= 0 {
		d.Spectra, b.spectra.arrived = d.Spectra[:n], b.spectra.arrived[:n]
	}
	d.Switches = slices.DeleteFunc(d.Switches, func(e event.SwitchEvent) bool { return e.Epoch > to })
	d.Settings = slices.DeleteFunc(d.Settings, func(e event.SettingEvent) bool { return e.Epoch > to })
}

func (b *deltaBuffer) status(s event.Status) {
	b.Delta.Status = s
	b.filled = true
}

// copyShared copies what it begins with.
func (b *deltaBuffer) copyShared() {
	if b.shared != nil {
		s := b.Delta.Status
		*b = *b.shared.clone()
		b.status(s)
	}
}

// drain returns what was gathered and starts again, keeping the status.
func (b *deltaBuffer) drain() Delta {
	b.copyShared()
	d := b.Delta
	*b = deltaBuffer{Delta: Delta{Status: d.Status}}
	return d
}

// clone returns a copy of what was gathered, for a viewer that joins now.
func (b *deltaBuffer) clone() *deltaBuffer {
	d := b.Delta
	d.Epochs = slices.Clone(d.Epochs)
	d.Inner = slices.Clone(d.Inner)
	d.Spectra = slices.Clone(d.Spectra)
	d.Switches = slices.Clone(d.Switches)
	d.Settings = slices.Clone(d.Settings)
	d.Rewinds = slices.Clone(d.Rewinds)
	d.Cuts = slices.Clone(d.Cuts)
	d.Races = slices.Clone(d.Races)
	d.Laps = slices.Clone(d.Laps)
	d.Resumes = slices.Clone(d.Resumes)
	d.Saved = slices.Clone(d.Saved)
	d.Console = slices.Clone(d.Console)
	d.Machine = slices.Clone(d.Machine)
	d.Slices = slices.Clone(d.Slices)
	d.Weights = slices.Clone(d.Weights)
	d.Errors = slices.Clone(d.Errors)
	return &deltaBuffer{Delta: d, filled: b.filled, epochs: b.epochs.clone(), spectra: b.spectra.clone()}
}

func appendBounded[T any](s []T, v T, bound int) []T {
	if len(s) >= bound {
		// Dropping a quarter at a time keeps the cost of an append constant.
		s = slices.Delete(s, 0, bound/4)
	}
	return append(s, v)
}

func (b *deltaBuffer) extend(events []event.Event, s event.Status) {
	epochs := 0
	for _, e := range events {
		if _, is := e.(event.EpochEvent); is {
			epochs++
		}
	}
	if b.shared == nil {
		b.Delta.Epochs = slices.Grow(b.Delta.Epochs, min(epochs, MaxEpochs+1))
	}
	for _, e := range events {
		b.add(e)
	}
	b.status(s)
}
