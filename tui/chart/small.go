package chart

// fewBuckets are enough for a small plot: several for each of its columns of dots.
const fewBuckets = 512

// Coarse returns the buckets, merged where they are many. The result is good until the series changes.
func (s *Series) Coarse() []Bucket {
	n, c := len(s.Buckets), &s.coarse
	if n <= fewBuckets {
		return s.Buckets
	}
	each := 2
	for n > fewBuckets*each {
		each *= 2
	}
	if c.each != each || c.changes != s.changes {
		*c = coarse{buckets: c.buckets[:0], each: each, changes: s.changes}
	}
	c.buckets = c.buckets[:c.done]
	for from := c.done * each; from < n; from += each {
		b := s.Buckets[from]
		for _, next := range s.Buckets[from+1 : min(from+each, n)] {
			b = join(b, next)
		}
		if c.buckets = append(c.buckets, b); from+each < n {
			c.done++
		}
	}
	return c.buckets
}

// Style is what the user has set, to tell pictures apart.
type Style struct {
	by             Axis
	logX, outliers bool
	half           float64
	window         [2]float64
	on             bool
	cursor         Position
}
