package survey

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// How well a column alone tells the target. Rules are fitted to one half of the rows and judged by the other; the best
// of some simple ones counts, all of which a person could write down:
//
//	words, and numbers of few values    the most frequent class, or the mean, of the rows with that value
//	numbers in fifty parts              the same, of each part of as many rows
//	neighbours                          the class of the nearest number, or the line between the two nearest
//	a line                              for regression: of least squares
const (
	minRows     = 40     // in all; with fewer nothing is said
	maxRows     = 20_000 // that are looked at, and sampled
	quantiles   = 50
	minHeldRows = 10 // rows with a target in each half
)

// pair is a value and its target.
type pair struct{ x, y float64 }

// alone returns how well values tell targets, of that many classes if there are any, nil where that can't be said.
func alone(values, targets []float64, classes int) *float64 {
	var fit, held []pair
	coin := rand.New(rand.NewPCG(1, 2))
	for i, y := range targets {
		if p := (pair{values[i], y}); coin.IntN(2) == 0 {
			fit = append(fit, p)
		} else {
			held = append(held, p)
		}
	}
	if len(fit) < minHeldRows || len(held) < minHeldRows || len(fit)+len(held) < minRows {
		return nil
	}
	sort.SliceStable(fit, func(i, j int) bool { return cmp.Less(fit[i].x, fit[j].x) }) // NaN first
	judge := explained
	if classes > 0 {
		judge = func(held []pair, rule func(x float64) float64) float64 { return saved(fit, held, rule, classes) }
	}
	best := 0.0
	for _, rule := range rules(fit, classes) {
		best = max(best, judge(held, rule))
	}
	return &best
}

// rules fits the rules to pairs in ascending order, missing values first.
func rules(fit []pair, classes int) (list []func(x float64) float64) {
	center := mean
	if classes > 0 {
		center = func(p []pair) float64 { return majority(p, classes) }
	}
	missing, rest := center(fit), fit
	for len(rest) > 0 && rest[0].x != rest[0].x {
		rest = rest[1:]
	}
	if n := len(fit) - len(rest); n > 0 {
		missing = center(fit[:n])
	}
	if len(rest) == 0 {
		return nil
	}
	whole := func(rule func(x float64) float64) func(x float64) float64 {
		return func(x float64) float64 {
			if x != x {
				return missing
			}
			return rule(x)
		}
	}
	xs, ys := levels(rest, center)
	list = append(list, whole(nearest(xs, ys, classes == 0)), whole(stairs(rest, center)))
	if classes == 0 {
		list = append(list, whole(line(rest)))
	}
	return list
}

// levels returns the different values, and the center of the targets of each.
func levels(p []pair, center func([]pair) float64) (xs, ys []float64) {
	for len(p) > 0 {
		n := 1
		for n < len(p) && p[n].x == p[0].x {
			n++
		}
		xs, ys = append(xs, p[0].x), append(ys, center(p[:n]))
		p = p[n:]
	}
	return xs, ys
}

// nearest is the rule that takes the target of the nearest value, or the line between the two nearest.
func nearest(xs, ys []float64, between bool) func(x float64) float64 {
	return func(x float64) float64 {
		i, found := slices.BinarySearch(xs, x)
		switch {
		case found:
			return ys[i]
		case i == 0:
			return ys[0]
		case i == len(xs):
			return ys[i-1]
		}
		t := (x/2 - xs[i-1]/2) / (xs[i]/2 - xs[i-1]/2)
		if between {
			return ys[i-1] + t*(ys[i]-ys[i-1])
		}
		if t < 0.5 {
			return ys[i-1]
		}
		return ys[i]
	}
}

// stairs is the rule that takes the center of the targets in each of many parts.
func stairs(p []pair, center func([]pair) float64) func(x float64) float64 {
	var ends, ys []float64
	for from, k := 0, 1; from < len(p); k++ {
		to := max(len(p)*k/quantiles, from+1)
		for to < len(p) && p[to].x == p[to-1].x {
			to++
		}
		ends, ys = append(ends, p[to-1].x), append(ys, center(p[from:to]))
		from = to
	}
	return func(x float64) float64 {
		i, _ := slices.BinarySearch(ends, x)
		return ys[min(i, len(ys)-1)]
	}
}

// line is the rule of least squares.
func line(p []pair) func(x float64) float64 {
	var mx, my float64
	for i, q := range p {
		mx += (q.x - mx) / float64(i+1)
		my += (q.y - my) / float64(i+1)
	}
	var xx, xy float64
	for _, q := range p {
		xx += (q.x - mx) * (q.x - mx)
		xy += (q.x - mx) * (q.y - my)
	}
	slope := 0.0
	if xx > 0 && !math.IsInf(xx, 0) && !math.IsInf(xy, 0) {
		slope = xy / xx
	}
	return func(x float64) float64 { return my + slope*(x-mx) }
}

func mean(p []pair) (m float64) {
	for i, q := range p {
		m += (q.y - m) / float64(i+1)
	}
	return m
}

// majority returns the most frequent class, the first of those that are as frequent.
func majority(p []pair, classes int) float64 {
	count := make([]int, classes)
	best := 0
	for _, q := range p {
		count[int(q.y)]++
	}
	for k, n := range count {
		if n > count[best] {
			best = k
		}
	}
	return float64(best)
}

// explained returns the share of the variance of held-out targets that a rule explains.
func explained(held []pair, rule func(x float64) float64) float64 {
	m := mean(held)
	var left, all float64
	for _, q := range held {
		d := q.y - rule(q.x)
		left += d * d
		all += (q.y - m) * (q.y - m)
	}
	if !(all > 0) || math.IsInf(all, 0) || !(left <= all) {
		return 0
	}
	return 1 - left/all
}

// saved returns the share of the errors of guessing the most frequent class that a rule saves on held-out rows.
func saved(fit, held []pair, rule func(x float64) float64, classes int) float64 {
	guess := majority(fit, classes)
	misclassified, guessed := 0, 0
	for _, q := range held {
		if rule(q.x) != q.y {
			misclassified++
		}
		if guess != q.y {
			guessed++
		}
	}
	if guessed == 0 || misclassified > guessed {
		return 0
	}
	return 1 - float64(misclassified)/float64(guessed)
}
