// Package machine shows how the machine does that a run is trained on: as a pane of the dashboard, as one row, and for
// a screen of its own. What it shows it has gathered itself: it is no part of the run.
package machine

import (
	"math"
	"time"

	host "newtop/internal/machine"
	"newtop/tui/chart"
	"newtop/tui/history"
)

// Panel is what was heard of the machine, and how it is drawn. Its zero value has heard nothing.
type Panel struct {
	Latest host.Sample
	Logged *history.Machine // what the run's own log tells of its machine, which is drawn instead; nil: nothing
	added  uint64           // samples
	began  time.Time
	span   int // place in spans, counted from the usual one

	watched string // the name of the watched process, which stays when it has ended

	cpu, memory, read, written, in, out, process, resident chart.Series
	gpus                                                   []gpuCurves // by their numbers

	canvas  chart.Canvas
	blocks  chart.Blocks
	heights []float64
}

// gpuCurves are those of a GPU.
type gpuCurves struct{ busy, memory chart.Series }

// maxCurves is of how many GPUs curves are kept, those of the lowest numbers.
const maxCurves = 16

// spans are how many seconds the curves may show; 0: all.
var spans = [...]float64{60, 300, 1800, 3 * 3600, 24 * 3600, 0}

const usualSpan = 1

// Add adds a sample. One that is no newer than the last is left out.
func (b *Panel) Add(s host.Sample) {
	if b.added == 0 {
		b.began = s.At
	} else if !s.At.After(b.Latest.At) {
		return
	}
	b.Latest = s
	b.added++
	x := s.At.Sub(b.began).Seconds()
	add := func(to *chart.Series, y float64) {
		if !math.IsNaN(y) && !math.IsInf(y, 0) {
			to.Add(x, y)
		}
	}
	add(&b.cpu, s.CPU)
	add(&b.memory, shareOf(float64(s.MemoryUsed), float64(s.MemoryTotal)))
	add(&b.read, s.DiskRead)
	add(&b.written, s.DiskWrite)
	add(&b.in, s.NetIn)
	add(&b.out, s.NetOut)
	if p := s.Process; p != nil {
		b.watched = p.Name
		add(&b.process, p.CPU)
		add(&b.resident, float64(p.RSS))
	}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		if g.Index < 0 || g.Index >= maxCurves {
			continue
		}
		for g.Index >= len(b.gpus) {
			b.gpus = append(b.gpus, gpuCurves{})
		}
		add(&b.gpus[g.Index].busy, g.Busy)
		add(&b.gpus[g.Index].memory, shareOf(g.MemoryUsed, g.MemoryTotal))
	}
}

// Samples counts those that were taken.
func (b *Panel) Samples() uint64 { return b.added }

// shareOf is a part of a whole, NaN where that is not told.
func shareOf(part, whole float64) float64 {
	if !(whole > 0) {
		return math.NaN()
	}
	return part / whole
}

// usual is the place in spans that is shown first: of what was logged, all.
func (b *Panel) usual() int {
	if b.logged() {
		return len(spans) - 1
	}
	return usualSpan
}

// logged reports whether the run's own log tells of its machine.
func (b *Panel) logged() bool { return b.Logged != nil && len(b.Logged.Series) > 0 }

// at is the place in spans.
func (b *Panel) at() int { return max(0, min(b.usual()+b.span, len(spans)-1)) }

// Widen has the curves show more, or less with a negative number; it says how much in words.
func (b *Panel) Widen(by int) string {
	b.span = max(0, min(b.at()+by, len(spans)-1)) - b.usual()
	return b.Span()
}

// Span says in words how much of the past the curves show.
func (b *Panel) Span() string {
	return [...]string{"the last minute", "the last 5 min", "the last 30 min", "the last 3 h", "the last 24 h",
		"all that was seen"}[b.at()]
}

// elapsed is the x of the latest sample.
func (b *Panel) elapsed() float64 {
	if b.logged() {
		return b.Logged.Last
	}
	return b.Latest.At.Sub(b.began).Seconds()
}

// window is the part of x that the curves show: what is asked for, or what there is of it.
func (b *Panel) window() (left, right float64) {
	right = b.elapsed()
	if s := spans[b.at()]; s > 0 {
		left = max(0, right-s)
	}
	return left, max(right, left+10)
}
