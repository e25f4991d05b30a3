package score

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// BenchmarkScores is a million outputs of 26 classes.
func BenchmarkScores(b *testing.B) {
	const rows, classes = 40000, 26
	rng := rand.New(rand.NewPCG(1, 2))
	u := mat.NewDense(rows, classes, nil)
	for i := range rows {
		for k := range classes {
			u.Set(i, k, rng.Float64())
		}
	}
	for b.Loop() {
		s := NewScorer(Kind{Classes: names(classes), Probabilities: true}, classes)
		target := make([]float64, classes)
		for i := range rows {
			clear(target)
			target[i%classes] = 1
			s.Add(target, u.RawRowView(i))
		}
		s.Scores("test")
	}
}

// BenchmarkImportances is 4 columns, 5 permutations each, of 10,000 rows whose outputs cost nothing.
func BenchmarkImportances(b *testing.B) {
	p := linear(10000)
	p.Repeats = 5
	for b.Loop() {
		if _, _, _, err := p.Importances(never); err != nil {
			b.Fatal(err)
		}
	}
}
