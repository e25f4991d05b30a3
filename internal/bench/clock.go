package bench

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"
)

// clock measures until its context ends; from then on measurements return at once, with nothing in them.
type clock struct {
	ctx   context.Context
	least int // repetitions, whatever the budget
}

// timing is how long a call takes, in nanoseconds.
type timing struct{ median, best float64 }

func (t timing) milliseconds() (median, best float64) { return t.median / 1e6, t.best / 1e6 }

// sampleTime is how long a sample of calls takes that are too short to be timed one by one.
const sampleTime = 200 * time.Microsecond

// repeat times a short call, in samples of many.
func (c *clock) repeat(budget time.Duration, call func()) timing {
	calls := 1
	sample := func() {
		for range calls {
			call()
		}
	}
	for c.ctx.Err() == nil && calls < 1<<30 {
		if elapsed(sample) >= sampleTime {
			break
		}
		calls *= 2
	}
	t := summarize(c.rounds(budget, sample)[0])
	return timing{t.median / float64(calls), t.best / float64(calls)}
}

// rounds calls the functions in turn, once to warm up and then until the budget is spent, and returns what each
// of them took in each round: ns[function][round].
func (c *clock) rounds(budget time.Duration, calls ...func()) (ns [][]float64) {
	ns = make([][]float64, len(calls))
	for _, call := range calls {
		if c.ctx.Err() == nil {
			call()
		}
	}
	start := time.Now()
	for round := 0; round < c.least || time.Since(start) < budget; round++ {
		for i, call := range calls {
			if c.ctx.Err() != nil {
				return ns
			}
			ns[i] = append(ns[i], float64(elapsed(call)))
		}
	}
	return ns
}

func elapsed(call func()) time.Duration {
	start := time.Now()
	call()
	return time.Since(start)
}

// allocated returns the bytes that a call allocates. What the runtime does for itself meanwhile counts too, so that
// it is the least of a few tries.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	least := uint64(math.MaxUint64)
	for try := 0; try < 3 && least > 0; try++ {
		runtime.ReadMemStats(&before)
		call()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

func summarize(ns []float64) timing {
	if len(ns) == 0 {
		return timing{}
	}
	return timing{median(ns), slices.Min(ns)}
}

// median returns the middle one, or the mean of the two; 0 of none.
func median(v []float64) float64 {
	n := len(v)
	if n == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(n-1)/2] + v[n/2]) / 2
}

// ratio returns the median of the ratios of the rounds that both took part in.
func ratio(ns, to []float64) float64 {
	each := make([]float64, min(len(ns), len(to)))
	for i := range each {
		each[i] = ns[i] / to[i]
	}
	return median(each)
}
