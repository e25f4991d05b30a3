package tune

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
)

// Of the importances.
const (
	minSample = 8   // trials, below which nothing is said
	resamples = 100 // of the bootstrap
	maxBins   = 5
	notable   = 0.05 // a share below which there is no trend to speak of
)

// sample is a trial as the importances see it.
type sample struct {
	bin    int
	value  float64 // the logarithm of its measure
	method int     // within which it is compared
}

// importances estimates how much of the differences between trials each axis explains: ε², the share of the variance
// of the measure's logarithm that lies between the means of bins of the axis, less what as many bins would explain by
// chance [Kelley 1935; the least biased of such shares, Okada 2013]. Trials are compared by what they had on the first
// rung, where all have come equally far; one that diverged counts as the worst. An axis is judged by the trials that
// have it, and within their methods, so that a good method does not make its own axes look important. The standard
// error is the bootstrap's [Efron 1979].
func importances(s *space, trials []*trial) (out []Importance) {
	values := firstValues(trials)
	for i := range s.axes {
		a := &s.axes[i]
		samples, trend := s.samples(a, trials, values)
		if len(samples) < minSample {
			continue
		}
		bins := 1 + slices.MaxFunc(samples, func(a, b sample) int { return a.bin - b.bin }).bin
		methods := s.branches()
		share := explained(samples, methods, bins)
		r := rand.New(rand.NewPCG(uint64(len(samples)), uint64(i)))
		again := make([]sample, len(samples))
		var sum, squares float64
		for range resamples {
			for k := range again {
				again[k] = samples[r.IntN(len(samples))]
			}
			v := explained(again, methods, bins)
			sum, squares = sum+v, squares+v*v
		}
		m := sum / resamples
		spread := math.Sqrt(max(0, squares/resamples-m*m) * resamples / (resamples - 1))
		if share < notable || share < spread {
			trend = "no clear trend"
		}
		out = append(out, Importance{Key: a.Key, Share: share, Spread: spread, Trend: trend})
	}
	sort.SliceStable(out, func(i, j int) bool { return cmp.Less(out[j].Share, out[i].Share) })
	return out
}

// firstValues returns the logarithm of what each trial of the search had on the first rung, less the worst one's; the
// value itself where one is negative; NaN for those that have not come there.
func firstValues(trials []*trial) []float64 {
	out := make([]float64, len(trials))
	least, worst, logs := math.Inf(1), math.Inf(-1), true
	for i, t := range trials {
		out[i] = math.NaN()
		if t.Final || len(t.scores) == 0 {
			continue
		}
		out[i] = t.scores[0]
		if t.State != Diverged && t.State != Failed && math.IsInf(out[i], 0) {
			out[i] = float64(t.Best) // it was at the target before, or was given up because another was
		}
		logs = logs && (out[i] >= 0 || math.IsInf(out[i], 0))
		if (out[i] > 0 || !logs) && !math.IsInf(out[i], 0) {
			least, worst = min(least, out[i]), max(worst, out[i])
		}
	}
	for i, v := range out {
		switch {
		case math.IsNaN(v):
		case math.IsInf(worst, -1):
			out[i] = math.NaN()
		case !logs:
			out[i] = min(max(v, least), worst) - worst
		default: // a measure of zero has no logarithm
			out[i] = math.Log(min(max(v, least), worst)) - math.Log(worst)
		}
	}
	return out
}

// samples returns the trials that have an axis, each in its bin, and the trend over the bins. A list's bins are its
// choices, a range's hold equally many trials.
func (s *space) samples(a *axis, all []*trial, values []float64) (out []sample, trend string) {
	var trials []*trial
	for i, t := range all {
		if math.IsNaN(values[i]) {
			continue
		}
		k := slices.IndexFunc(t.Choices, func(c Choice) bool { return c.Key == a.Key })
		if k < 0 {
			continue
		}
		p := sample{value: values[i]}
		if a.Key != optKey {
			p.method = s.branch(t.Choices)
		}
		if a.Choices != nil {
			p.bin = slices.Index(a.Choices, t.Choices[k].Value)
		}
		if p.bin < 0 || p.method < 0 {
			continue // of a space that was another before the search was resumed
		}
		out, trials = append(out, p), append(trials, t)
	}
	if a.Choices == nil {
		cut(a.Key, out, trials)
	}
	center(out, s.branches())
	return out, trendOf(a, out, trials)
}

// center takes from each value the mean of its method's.
func center(samples []sample, methods int) {
	each := make([]moments, methods)
	for i := range samples {
		each[samples[i].method].add(samples[i].value)
	}
	for i := range samples {
		m := &each[samples[i].method]
		samples[i].value -= m.sum / m.n
	}
}

// cut puts trials into bins of equally many by their places on an axis.
func cut(key string, samples []sample, trials []*trial) {
	bins := min(maxBins, max(2, int(math.Sqrt(float64(len(samples))))))
	byPosition := make([]int, len(samples))
	for i := range byPosition {
		byPosition[i] = i
	}
	slices.SortStableFunc(byPosition, func(i, j int) int {
		return cmp.Compare(choiceOf(trials[i], key).Number, choiceOf(trials[j], key).Number)
	})
	for position, i := range byPosition {
		samples[i].bin = position * bins / len(samples)
	}
}

// choiceOf returns a trial's value on an axis that it has.
func choiceOf(t *trial, key string) *Choice {
	return &t.Choices[slices.IndexFunc(t.Choices, func(c Choice) bool { return c.Key == key })]
}

// moments are the count, the sum and the sum of squares of some values.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) {
	m.n++
	m.sum += v
	m.squares += v * v
}

// scatter returns the sum of squares around the mean.
func (m *moments) scatter() float64 {
	if m.n == 0 {
		return 0
	}
	return max(0, m.squares-m.sum*m.sum/m.n)
}

// explained returns ε² of the bins, within the methods: 1 − (n − 1)/(n − b) · (what is left)/(what there is), of n
// trials in b bins, none below 0. The values have about the mean 0, as sums of squares want it.
func explained(samples []sample, methods, bins int) float64 {
	all := make([]moments, methods)
	each := make([]moments, methods*bins)
	for i := range samples {
		p := &samples[i]
		all[p.method].add(p.value)
		each[p.method*bins+p.bin].add(p.value)
	}
	var total, left, n, b float64
	for i := range all {
		if all[i].n > 0 {
			total += all[i].scatter()
			n += all[i].n - 1 // the method's mean takes one
			b--
		}
	}
	for i := range each {
		if each[i].n > 0 {
			left += each[i].scatter()
			b++
		}
	}
	if total <= 0 || n <= b {
		return 0
	}
	return min(max(1-left/(n-b)/(total/n), 0), 1)
}

// trendOf names the bin with the lowest mean.
func trendOf(a *axis, samples []sample, trials []*trial) string {
	means := map[int][]int{}
	for i, p := range samples {
		means[p.bin] = append(means[p.bin], i)
	}
	best, least := -1, math.Inf(1)
	for bin, members := range means {
		sum := 0.0
		for _, i := range members {
			sum += samples[i].value
		}
		m := sum / float64(len(members))
		if m < least || m == least && bin < best {
			best, least = bin, m
		}
	}
	if best < 0 {
		return ""
	}
	if a.Choices != nil {
		return "best: " + a.Choices[best]
	}
	var at []float64
	for _, i := range means[best] {
		if v, err := strconv.ParseFloat(choiceOf(trials[i], a.Key).Value, 64); err == nil {
			at = append(at, v)
		}
	}
	return fmt.Sprintf("best near %.2g", median(at))
}
