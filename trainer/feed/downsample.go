package feed

import (
	"slices"

	"newtop/trainer/event"
)

// Downsampler chooses which points of a list stay when a run gets long: of every stretch of the run, which are equally
// long from its beginning to its end, those that hold the least or the greatest value of a figure. The zero value is
// that of an empty list.
type Downsampler struct {
	arrived []int // for every point of the list, how many came before it
	count   int   // points that came
	span    int   // how many of them a stretch has
}

// group is how many points a stretch has at first.
const group = 16

// Add says that a point was appended to the list.
func (t *Downsampler) Add() {
	t.arrived = append(t.arrived, t.count)
	t.count++
}

// Downsample reports which points of the list stay, so that no more than limit of them are left: those that extremes
// marks in the stretch of points from one to before another, and the newest.
func (t *Downsampler) Downsample(limit int, extremes func(from, to int) []bool) []bool {
	retained := make([]bool, len(t.arrived))
	t.span = max(t.span, group)
	for t.mark(retained, extremes) > limit && t.span <= t.count {
		t.span *= 2
	}
	arrived := t.arrived[:0]
	for i, n := range t.arrived {
		if retained[i] {
			arrived = append(arrived, n)
		}
	}
	t.arrived = arrived
	return retained
}

// mark marks what stays of every stretch, and returns how many points that are.
func (t *Downsampler) mark(retained []bool, extremes func(from, to int) []bool) (left int) {
	n := len(t.arrived)
	for from := 0; from < n; {
		to := from + 1
		for to < n && t.arrived[to]/t.span == t.arrived[from]/t.span {
			to++
		}
		copy(retained[from:to], extremes(from, to))
		from = to
	}
	if n > 0 {
		retained[n-1] = true
	}
	for _, s := range retained {
		if s {
			left++
		}
	}
	return left
}

func (t *Downsampler) clone() Downsampler {
	return Downsampler{arrived: slices.Clone(t.arrived), count: t.count, span: t.span}
}

// downsample takes points out of a list that t has followed.
func downsample[T any](t *Downsampler, points []T, limit int, metricsOf func(*T) metrics) []T {
	retained := t.Downsample(limit, func(from, to int) []bool { return extremes(points[from:to], metricsOf) })
	out := points[:0]
	for i := range points {
		if retained[i] {
			out = append(out, points[i])
		}
	}
	clear(points[len(out):])
	return out
}

// metrics are the numbers of a point whose extremes are to stay; Absent where it has fewer.
type metrics [8]event.Float

func epochMetrics(e *event.EpochEvent) (f metrics) {
	f = noMetrics
	n := 0
	for _, q := range event.Extremes {
		f[n] = *q.Of(e)
		n++
	}
	for i := range min(len(e.Metrics), len(f)-n) {
		f[n+i] = e.Metrics[i].Value
	}
	return f
}

func spectrumMetrics(e *event.SpectrumEvent) (f metrics) {
	f = noMetrics
	if n := len(e.Eigenvalues); n > 0 {
		f[0], f[1] = e.Eigenvalues[0], e.Eigenvalues[n-1]
	}
	return f
}

var noMetrics = func() (f metrics) {
	for i := range f {
		f[i] = event.Absent
	}
	return f
}()

// Extremes marks which of a few epochs in a row hold the least or the greatest value of a figure, or the first that is
// not finite: those that stay where a long run is downsampled. At least one is marked.
func Extremes(epochs []event.EpochEvent) []bool { return extremes(epochs, epochMetrics) }

// extremes marks the points of a stretch that hold an extreme of a figure: at most three a figure, the least, the
// greatest and the first one that is not finite. What is absent is none of them. Where there is none the first point is
// marked.
func extremes[T any](part []T, of func(*T) metrics) []bool {
	keep := make([]bool, len(part))
	if len(part) == 0 {
		return keep
	}
	low, high, bad := [len(metrics{})]int{}, [len(metrics{})]int{}, [len(metrics{})]int{}
	var least, limit metrics
	for f := range low {
		low[f], high[f], bad[f] = -1, -1, -1
	}
	for i := range part {
		for f, v := range of(&part[i]) {
			switch {
			case v.Absent():
			case v.NonFinite():
				if bad[f] < 0 {
					bad[f] = i
				}
			default:
				if low[f] < 0 || v < least[f] {
					low[f], least[f] = i, v
				}
				if high[f] < 0 || v > limit[f] {
					high[f], limit[f] = i, v
				}
			}
		}
	}
	for f := range low {
		for _, i := range [...]int{low[f], high[f], bad[f]} {
			if i >= 0 {
				keep[i] = true
			}
		}
	}
	if !slices.Contains(keep, true) {
		keep[0] = true
	}
	return keep
}
