package models

import (
	"fmt"
	"slices"
	"testing"
)

// TestMatrices: the dense blocks are where the naive layout has each of their weights, and the biases of a layer are those of its
// last block, unless that is sparse.
func TestMatrices(t *testing.T) {
	for seed := range uint64(80) {
		p := randomProblem(t, seed, 1, true)
		if seed >= 60 {
			p = randomMixture(t, seed, 1, true)
		}
		a, places := p.n.Architecture(), newPlaces(p.n.Architecture())
		var want []WeightMatrix
		for _, c := range a.Connections {
			if c.Sources != nil || c.Gate > 0 {
				continue
			}
			m := WeightMatrix{To: c.To, From: c.From, Rows: places.nodes[c.To], Cols: places.nodes[c.From], Offset: places.at(c.To, c.From, 0, 0)}
			m.Biased = places.biases[c.To] == places.at(c.To, c.From, m.Rows-1, m.Cols-1)+1
			want = append(want, m)
			for i := range m.Rows {
				for j := range m.Cols {
					if at := places.at(c.To, c.From, i, j); at != m.Offset+i*m.Cols+j {
						t.Fatalf("%s: weight %d, %d of %+v is at %d", describe(p.n), i, j, m, at)
					}
				}
			}
		}
		if got := p.n.Matrices(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, expected %v", describe(p.n), got, want)
		}
	}
	sparse := Chain(3, []int{4}, 2, Tanh, Identity, SquaredError, SkipAll)
	sparse.Connections[2].Sources = NewSources([][]int{{0, 1}, {2, 3}}) // from the hidden layer to the outputs
	for want, a := range map[string]Architecture{
		"[{1 0 4 3 0 true} {2 0 2 3 16 false} {2 1 2 4 22 true}]": Chain(3, []int{4}, 2, Tanh, Identity, SquaredError, SkipAll),
		"[{1 0 4 3 0 true} {2 0 2 3 16 false}]":                   sparse,
	} {
		if got := fmt.Sprint(mustNetwork(t, a).Matrices()); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}
