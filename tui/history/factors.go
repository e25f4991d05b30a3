package history

import (
	"math"
	"slices"

	"newtop/trainer/event"
	"newtop/tui/chart"
)

// Bounds of the curves of factors: a deep network has hundreds of them, and nobody looks at each closely.
const (
	maxFactors    = 512
	factorBuckets = 512
)

// Factors are the matrices by which the current method scales gradients.
type Factors struct {
	Latest     *event.PreconditionerMetrics // nil: not told yet, or given up by going back
	Epoch      int                          // that it is of
	Share      float64                      // of that epoch's time that refreshes took, NaN where it is not known
	Conditions []FactorSeries               // of those that are not left out

	list []event.FactorMetrics // as they were reported last, given up or not
}

// FactorSeries is the condition number of a factor over the epochs. It has gaps where the factor was singular.
type FactorSeries struct {
	At     int // its place in the list of factors
	Series chart.Series
}

// Reported reports whether the method has factors.
func (f *Factors) Reported() bool { return len(f.list) > 0 }

// apply adds those of an epoch. Another method's begin again.
func (f *Factors) apply(e *event.EpochEvent, before string, most int) {
	p := e.Preconditioner
	if e.Optimizer != before || p != nil && !sameFactors(f.list, p.Factors) {
		*f = Factors{}
	}
	if p == nil {
		return
	}
	f.Latest, f.Epoch, f.list = p, e.Epoch, p.Factors
	f.Share = float64(p.Seconds) / float64(e.Seconds)
	if f.Conditions == nil {
		f.start(most)
	}
	for i := range f.Conditions {
		s := &f.Conditions[i]
		s.add(PositionOf(e), p.Factors[s.At].Condition())
	}
}

// sameFactors reports whether two lists are of the same factors, with the same ones left out.
func sameFactors(a, b []event.FactorMetrics) bool {
	return slices.EqualFunc(a, b, func(a, b event.FactorMetrics) bool {
		return a.To == b.To && a.From == b.From && a.Side == b.Side && a.Size == b.Size &&
			(len(a.Eigenvalues) == 0) == (len(b.Eigenvalues) == 0)
	})
}

// start makes the curves, of as many buckets as other curves of the run may have.
func (f *Factors) start(most int) {
	buckets := factorBuckets
	if most > 0 {
		buckets = min(buckets, most)
	}
	for i := range f.list {
		if len(f.list[i].Eigenvalues) > 0 && len(f.Conditions) < maxFactors {
			f.Conditions = append(f.Conditions, FactorSeries{At: i, Series: chart.Series{Capacity: buckets}})
		}
	}
}

func (s *FactorSeries) add(at chart.Position, condition float64) {
	if math.IsNaN(condition) || math.IsInf(condition, 0) {
		s.Series.Gap(at)
		return
	}
	s.Series.Append(at, condition)
}

// cut takes them back to an epoch. Those of that epoch are not kept.
func (f *Factors) cut(to int) {
	for i := range f.Conditions {
		f.Conditions[i].Series.Cut(float64(to))
	}
	if f.Epoch > to {
		f.Latest = nil
	}
}
