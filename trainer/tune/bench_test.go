package tune

import "testing"

// BenchmarkBoard is what a search of 1,000 trials spends ten times a second on those who look at it.
func BenchmarkBoard(b *testing.B) {
	q := synthetic(b, 1000, func(_ string, rate, batch, noise float64) float64 { return rate + batch + noise })
	q.viewers.init()
	for b.Loop() {
		q.publish()
	}
}
