package chart

import "math"

// Steps returns the multiples of a 1-2-5 step within [low, high], at most n of them (n ≥ 1).
func Steps(low, high float64, n int) []float64 {
	if n < 1 || !(high > low) || math.IsInf(high-low, 0) {
		return nil
	}
	step := Nice((high - low) / float64(n))
	for {
		first := math.Ceil(low/step - 1e-9)
		last := math.Floor(high/step + 1e-9)
		if k := int(last-first) + 1; k <= n {
			if k < 1 {
				return nil
			}
			out := make([]float64, k)
			for i := range out {
				out[i] = (first + float64(i)) * step
			}
			return out
		}
		step = Nice(step * 1.01)
	}
}

// Nice rounds up to 1, 2 or 5 times a power of ten.
func Nice(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range [...]float64{1, 2, 5, 10} {
		if v <= m*p*(1+1e-12) {
			return m * p
		}
	}
	return 10 * p
}

// Decades returns tick values for a logarithmic axis from 10^low to 10^high, at most n: powers of ten
// with what fits between them, of equally many those that reach further, or every few powers.
func Decades(low, high float64, n int) []float64 {
	if n < 1 || !(high > low) || math.IsInf(high-low, 0) {
		return nil
	}
	var best []float64
	for _, mantissas := range [...][]float64{{1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}} {
		out := Powers(low, high, n, mantissas)
		further := len(out) == len(best) && len(out) > 0 && out[len(out)-1]/out[0] > best[len(best)-1]/best[0]
		if len(out) > len(best) || further {
			best = out
		}
	}
	if len(best) >= min(2, n) {
		return best
	}
	var out []float64
	for stride := math.Ceil((high - low) / float64(n)); ; stride++ {
		first, last := math.Ceil(low/stride-1e-9), math.Floor(high/stride+1e-9)
		if int(last-first)+1 > n {
			continue
		}
		for e := first; e <= last; e++ {
			out = append(out, math.Pow(10, e*stride))
		}
		break
	}
	if len(out) < 2 {
		out = out[:0]
		for _, v := range Steps(math.Pow(10, low), math.Pow(10, high), n) {
			if v > 0 {
				out = append(out, v)
			}
		}
		out = thinned(out, n)
	}
	return out
}

// Powers returns the mantissas times powers of ten between 10^low and 10^high, nil if they are more than n.
func Powers(low, high float64, n int, mantissas []float64) (out []float64) {
	for e := math.Floor(low); e <= math.Ceil(high); e++ {
		for _, m := range mantissas {
			if v := e + math.Log10(m); v >= low-1e-9 && v <= high+1e-9 {
				if out = append(out, m*math.Pow(10, e)); len(out) > n {
					return nil
				}
			}
		}
	}
	return out
}

func thinned(v []float64, n int) []float64 {
	if len(v) > n {
		return v[len(v)-n:]
	}
	return v
}

// clockSteps returns ticks in seconds at whole minutes, hours or days, at most n of them.
func clockSteps(low, high float64, n int) []float64 {
	const minute, hour, day = 60, 3600, 86400
	for _, step := range [...]float64{10, 20, 30, minute, 2 * minute, 5 * minute, 10 * minute, 20 * minute, 30 * minute,
		hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 5 * day, 10 * day} {
		first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
		if k := last - first + 1; k >= 1 && k <= float64(n) {
			out := make([]float64, int(k))
			for i := range out {
				out[i] = (first + float64(i)) * step
			}
			return out
		}
	}
	return Steps(low, high, n)
}
