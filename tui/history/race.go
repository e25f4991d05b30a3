package history

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
)

// RaceAxis is what the x of the race's charts are.
type RaceAxis uint8

const (
	ByEquivalents RaceAxis = iota
	BySeconds
	ByLaps
	RaceAxisCount
)

// Name names the axis.
func (x RaceAxis) Name() string {
	return [...]string{"gradient equivalents", "seconds", "laps"}[x]
}

// Word names it where there is little room.
func (x RaceAxis) Word() string {
	return [...]string{"work", "seconds", "laps"}[x]
}

// Race is the race that is on, or the last one.
type Race struct {
	Event  *event.RaceEvent // the latest; nil before the first
	Racers []Racer
	Gen    uint64
}

// Racer is how one racer has done so far.
type Racer struct {
	event.Racer
	Loss, Metric [RaceAxisCount]chart.Series // metric: the run's measure
	Now          event.EpochEvent
	Started      bool
	BestMetric   float64 // NaN before its first lap
	BestLoss     float64
	Ended        string // why it continues no more
}

func newRacer(r event.Racer) Racer {
	return Racer{Racer: r, BestMetric: math.NaN(), BestLoss: math.NaN()}
}

// lap adds a racer's outer iteration; one that is numbered 0 begins the racer again.
func (r *Race) lap(e *event.LapEvent, m event.Measure) {
	if e.Racer < 0 || e.Racer >= len(r.Racers) {
		return
	}
	k := &r.Racers[e.Racer]
	if e.Lap.Epoch == 0 && k.Started {
		*k = newRacer(k.Racer)
	}
	if e.Lap.Epoch > 0 && k.Now.Epoch == 0 { // all have the figures of lap 0: they are nobody's merit
		k.BestLoss, k.BestMetric = math.NaN(), math.NaN()
	}
	r.Gen++
	k.Started, k.Ended, k.Now = true, e.Ended, e.Lap
	loss, metric := float64(e.Lap.Loss), float64(*m.Of(&e.Lap))
	k.BestLoss, k.BestMetric = chart.Lesser(k.BestLoss, FiniteOrNaN(loss)), chart.Lesser(
		k.BestMetric, FiniteOrNaN(metric))
	for axis, x := range [RaceAxisCount]float64{float64(e.Lap.GradientEquivalents), float64(e.Lap.Elapsed),
		float64(e.Lap.Epoch)} {
		if format.Finite(x) {
			k.Loss[axis].Add(x, loss)
			k.Metric[axis].Add(x, metric)
		}
	}
}

// FiniteOrNaN is v, or NaN if it is not finite.
func FiniteOrNaN(v float64) float64 {
	if format.Finite(v) {
		return v
	}
	return math.NaN()
}

// Bounds bounds a chart of the race where a racer that diverged would leave no room for the others; {0, 0} elsewhere.
func (r *Race) Bounds(of func(*Racer) *chart.Series) (bounds [2]float64) {
	others, all := math.Inf(-1), math.Inf(-1)
	for i := range r.Racers {
		k := &r.Racers[i]
		for _, b := range of(k).Buckets {
			all = max(all, b.Max)
			if !k.Diverged() {
				others = max(others, b.Max)
			}
		}
	}
	const room = 1.2
	if others > 0 && all > room*others {
		bounds[1] = room * others
	}
	return bounds
}

// cost says what all racers have spent, which the run's work has from then on.
func (r *Race) cost() string {
	spent := 0.0
	for i := range r.Racers {
		if e := float64(r.Racers[i].Now.GradientEquivalents); e > 0 {
			spent += e
		}
	}
	if spent == 0 {
		return ""
	}
	return "; it cost " + format.Work(spent) + " equivalents"
}

// Diverged reports whether that is why the racer ended.
func (r *Racer) Diverged() bool { return strings.HasPrefix(r.Ended, "diverged") }

// Spent is which part of its budget a racer has used, 0…1.
func (r *Race) Spent(k *Racer) float64 {
	if k.Ended != "" {
		return 1
	}
	part := 0.0
	if b := float64(r.Event.Equivalents); b > 0 {
		part = max(part, float64(k.Now.GradientEquivalents)/b)
	}
	if b := float64(r.Event.Seconds); b > 0 {
		part = max(part, float64(k.Now.Elapsed)/b)
	}
	if math.IsNaN(part) {
		return 0
	}
	return min(part, 1)
}

// Ranking orders the racers by the least metric so far, or by the least loss; what is missing comes last.
func (r *Race) Ranking(byLoss bool) []int {
	order := make([]int, len(r.Racers))
	for i := range order {
		order[i] = i
	}
	key := func(i int) (first, second float64) {
		k := &r.Racers[i]
		first, second = LastIfMissing(k.BestMetric), LastIfMissing(k.BestLoss)
		if byLoss {
			first, second = second, first
		}
		return first, second
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := key(i)
		c, d := key(j)
		return cmp.Or(cmp.Compare(a, c), cmp.Compare(b, d))
	})
	return order
}

// LastIfMissing ranks a missing number behind all others.
func LastIfMissing(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}
