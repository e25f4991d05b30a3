package stream

import (
	"math"
	"slices"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// kind sorts events by what bounds their number.
type kind uint8

const (
	anEpoch kind = iota
	anInner
	anAnalysis // large and asked for: slices, weights, errors
	aSpectrum
	aLine // of the program's console
	aSample
	aMark // switches, settings, laps and so on
	kinds
)

func kindOf(e event.Event) kind {
	switch e.(type) {
	case event.EpochEvent:
		return anEpoch
	case event.InnerEvent:
		return anInner
	case event.SliceEvent, event.WeightsEvent, event.ErrorsEvent:
		return anAnalysis
	case event.SpectrumEvent:
		return aSpectrum
	case event.ConsoleEvent:
		return aLine
	case event.MachineEvent:
		return aSample
	}
	return aMark
}

// limits is what is kept of each kind. A run beyond that is shown, sought and replayed downsampled: of its epochs those
// stay that hold the least or the greatest loss or error of a stretch, of everything else the newest.
var limits = [kinds]struct{ events, bytes int }{
	anEpoch:    {1 << 15, 48 << 20},
	anInner:    {1 << 16, math.MaxInt},
	anAnalysis: {64, 16 << 20},
	aSpectrum:  {1 << 12, 16 << 20},
	aLine:      {1 << 12, 1 << 20},
	aSample:    {1 << 13, 8 << 20},
	aMark:      {1 << 14, math.MaxInt},
}

// minKept is how many of a kind are kept however large they are.
const minKept = 16

// untimed is how many seconds an epoch takes in a replay if nothing reports how long it took.
const untimed = 0.1

// history is a run's events in order.
type history struct {
	events      []event.Event
	count       [kinds]int
	bytes       [kinds]int // estimated
	downsampler feed.Downsampler
	dropped     int     // epochs that came and are not kept
	firstEpoch  int     // the first epoch's number
	lastEpoch   int     // the latest epoch's
	length      float64 // training seconds so far
	timed       bool    // whether they are known, and not made up for a replay
	run         *event.RunEvent
	done        bool
}

// add appends an event.
func (h *history) add(e event.Event) {
	k := kindOf(e)
	h.count[k]++
	h.bytes[k] += event.Size(e)
	h.events = append(h.events, e)
	switch e := e.(type) {
	case event.EpochEvent:
		if h.downsampler.Add(); h.count[k] == 1 {
			h.firstEpoch = e.Epoch
		}
		h.lastEpoch = e.Epoch
		h.length = after(&e, h.length)
		h.timed = h.timed || e.Elapsed >= 0 || e.Seconds >= 0
	case event.RunEvent:
		h.run, h.done = &e, false
	case event.RewindEvent:
		h.lastEpoch = e.To
	case event.DoneEvent:
		h.done = true
	case event.ResumeEvent:
		h.done = false
	}
}

// exceeds reports whether there is too much of a kind.
func (h *history) exceeds(k kind) bool {
	return h.count[k] > limits[k].events || h.bytes[k] > limits[k].bytes && h.count[k] > minKept
}

// full reports whether it is time to downsample.
func (h *history) full() bool {
	for k := range kinds {
		if h.exceeds(k) {
			return true
		}
	}
	return false
}

// downsample halves the kinds of which there is too much. It returns how many of the first n events are left.
func (h *history) downsample(n int) int {
	drop := make([]bool, len(h.events))
	var excess [kinds]int // of each kind, how many go, the oldest
	for k := range kinds {
		if h.exceeds(k) {
			excess[k] = h.count[k] / 2
		}
	}
	if excess[anEpoch] > 0 {
		h.downsampleEpochs(drop)
	}
	for i, e := range h.events {
		if k := kindOf(e); k != anEpoch && excess[k] > 0 && i > 0 { // the first says which run it is
			drop[i] = true
			excess[k]--
		}
	}
	retained := *h
	retained.events, retained.count, retained.bytes = h.events[:0], [kinds]int{}, [kinds]int{}
	left := 0
	for i, e := range h.events {
		k := kindOf(e)
		if drop[i] {
			if k == anEpoch {
				retained.dropped++
			}
			continue
		}
		if i < n {
			left++
		}
		retained.events = append(retained.events, e)
		retained.count[k]++
		retained.bytes[k] += event.Size(e)
	}
	clear(h.events[len(retained.events):])
	_, retained.length = retained.position(len(retained.events))
	*h = retained
	return left
}

// downsampleEpochs marks epochs to drop: those without an extreme of their stretch of the run, but for the first and
// the newest.
func (h *history) downsampleEpochs(drop []bool) {
	at := make([]int, 0, h.count[anEpoch])
	for i, e := range h.events {
		if _, ok := e.(event.EpochEvent); ok {
			at = append(at, i)
		}
	}
	var part []event.EpochEvent
	stay := h.downsampler.Downsample(h.count[anEpoch]/2, func(from, to int) []bool {
		part = part[:0]
		for _, i := range at[from:to] {
			part = append(part, h.events[i].(event.EpochEvent))
		}
		keep := feed.Extremes(part)
		keep[0] = keep[0] || from == 0
		return keep
	})
	for n, i := range at {
		drop[i] = !stay[n]
	}
}

// after returns the training seconds after an epoch that began at some.
func after(e *event.EpochEvent, began float64) float64 {
	if v := float64(e.Elapsed); !math.IsNaN(v) {
		return v
	}
	if v := float64(e.Seconds); v >= 0 {
		return began + v
	}
	return began + untimed
}

// end returns how many events there are up to the end of an epoch: its newest occurrence, or else the one of the
// nearest epoch below. With them go the spectra and looks that were taken right after it. The last epoch's end is
// the end of all.
func (h *history) end(epoch int) int {
	if epoch >= h.lastEpoch {
		return len(h.events)
	}
	at, best := -1, math.MinInt
	for i, e := range slices.Backward(h.events) {
		if e, ok := e.(event.EpochEvent); ok && e.Epoch <= epoch && e.Epoch > best {
			at, best = i, e.Epoch
			if best == epoch {
				break
			}
		}
	}
	if at < 0 {
		return h.opening()
	}
	for at++; at < len(h.events); at++ {
		switch h.events[at].(type) {
		case event.SpectrumEvent, event.SliceEvent, event.WeightsEvent, event.ErrorsEvent:
		default:
			return at
		}
	}
	return at
}

// opening returns how many events there are before anything was trained.
func (h *history) opening() int {
	n := slices.IndexFunc(h.events, func(e event.Event) bool {
		_, run := e.(event.RunEvent)
		return !run
	})
	if n < 0 {
		return len(h.events)
	}
	return n
}

// epochEnd returns the position after the next epoch event at or after position n, or −1 if there is none.
func (h *history) epochEnd(n int) int {
	for i := n; i < len(h.events); i++ {
		if _, ok := h.events[i].(event.EpochEvent); ok {
			return i + 1
		}
	}
	return -1
}

// position returns the newest epoch's number and the training seconds after the first n events.
func (h *history) position(n int) (epoch int, at float64) {
	for _, e := range h.events[:n] {
		switch e := e.(type) {
		case event.EpochEvent:
			epoch, at = e.Epoch, after(&e, at)
		case event.RewindEvent:
			epoch = e.To
		}
	}
	return epoch, at
}
