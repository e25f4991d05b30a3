package papers

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"

	"newtop/trainer"
)

// paperT and paperM are the papers of these reproductions in full.
const (
	paperT = "Tomic, Matos-Carvalho & Beko 2024, A closed-form solution for weight optimization in fully-connected " +
		"feed-forward neural networks, arXiv:2401.06699"
	paperM = "Møller 1993, Exact calculation of the product of the Hessian matrix of feed-forward network error functions " +
		"and a vector in O(N) time, DAIMI PB-432"
)

// together is the verdict on a claim that has several parts: it fails with one of them and holds with all.
func together(parts []Verdict) Verdict {
	switch {
	case len(parts) == 0:
		return Open
	case slices.Contains(parts, Fails):
		return Fails
	case slices.Contains(parts, Open):
		return Open
	}
	return Holds
}

// differences returns a − scale·b, number by number.
func differences(a, b []float64, scale float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - scale*b[i]
	}
	return d
}

// moments returns the mean and the standard deviation, which is 0 for a single number.
func moments(v []float64) (mean, sd float64) {
	if len(v) < 2 {
		return stat.Mean(v, nil), 0
	}
	return stat.MeanStdDev(v, nil)
}

// measured is a cell of the mean over trials, with their standard deviation.
func measured(v []float64) Cell {
	if len(v) == 0 {
		return None()
	}
	mean, sd := moments(v)
	return Cell{Value: mean, Spread: sd, Paper: math.NaN()}
}

// seedsOf returns 1…n.
func seedsOf(n int) []uint64 {
	s := make([]uint64, n)
	for i := range s {
		s[i] = uint64(i) + 1
	}
	return s
}

// wanted reports whether Options.Only has a column of that name, or none at all.
func wanted(only []string, name string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(s string) bool { return strings.EqualFold(s, name) })
}

// chosen returns those of all whose names Options.Only has, or a *trainer.ConfigError for a name that none has.
func chosen[T any](all []T, only []string, name func(T) string) ([]T, error) {
	var some []T
	var names []string
	for _, one := range all {
		names = append(names, name(one))
		if wanted(only, name(one)) {
			some = append(some, one)
		}
	}
	for _, s := range only {
		if !wanted(names, s) {
			return nil, &trainer.ConfigError{Field: "--only", Value: s, Expected: "one of " + strings.Join(names, ", ")}
		}
	}
	return some, nil
}

// sideBySide calls f for 0…n−1 on as many goroutines as threads, 0 for all cores, and returns when all have ended. After
// the end of ctx no more are begun, and its error is returned.
func sideBySide(ctx context.Context, n, threads int, f func(i int)) error {
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(threads, n) {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// gauge tells how far a reproduction is, in parts of any one unit of work.
type gauge struct {
	mu        sync.Mutex
	done, all float64
	what      string
	tell      func(Progress)
}

// add tells that so much more was done. Any goroutine may call it.
func (g *gauge) add(work float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done += work
	if g.tell != nil {
		g.tell(Progress{Share: min(1, g.done/g.all), What: g.what})
	}
}

// begin tells what comes next. Nothing else may be under way.
func (g *gauge) begin(what string) {
	g.mu.Lock()
	g.what = what
	g.mu.Unlock()
	g.add(0)
}
