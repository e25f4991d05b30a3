package tune

import "testing"

// BenchmarkBoard is what a search of 1,000 trials spends ten times a second on those who look at it.
func BenchmarkBoard(b *testing.B) {
	space, trials := synthetic(b, 1000, func(_ string, rate, batch, noise float64) float64 { return rate + batch + noise })
	q, err := prepare(small(b), temporary(b))
	if err != nil {
		b.Fatal(err)
	}
	q.space, q.ranking.trials = space, trials
	for b.Loop() {
		q.publish()
	}
}
