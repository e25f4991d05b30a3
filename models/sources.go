package models

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"newtop/models/internal/pass"
)

// Sources says for every node of a layer which nodes of another layer it takes from, the sets S_m^l of
// [M, eq. 1]. It is immutable. Nodes count from 0.
type Sources struct{ sparse pass.Sparse }

// NewSources returns sources from one list for every node, in any order. That they name nodes that exist,
// each once, is checked by NewNetwork.
func NewSources(lists [][]int) *Sources {
	s := pass.Sparse{Start: make([]int, 1, len(lists)+1)}
	for _, list := range lists {
		s.Node = append(s.Node, list...)
		slices.Sort(s.Node[s.Start[len(s.Start)-1]:])
		s.Start = append(s.Start, len(s.Node))
	}
	return &Sources{s}
}

// RandomSources draws for each of nodes nodes count different ones of from.
func RandomSources(nodes, from, count int, rng *rand.Rand) *Sources {
	if nodes < 1 || count < 0 || count > from {
		panic(fmt.Sprintf("models: RandomSources: %d of %d sources for %d nodes", count, from, nodes))
	}
	s := pass.Sparse{Start: make([]int, nodes+1), Node: make([]int, nodes*count)}
	deck := make([]int, from)
	for j := range deck {
		deck[j] = j
	}
	for i := range nodes {
		hand := s.Node[i*count:][:count]
		for k := range hand {
			j := k + rng.IntN(from-k)
			deck[k], deck[j] = deck[j], deck[k]
			hand[k] = deck[k]
		}
		slices.Sort(hand)
		s.Start[i+1] = (i + 1) * count
	}
	return &Sources{s}
}

// WindowSources gives each of nodes nodes width neighbours among from: the windows spread evenly, the
// first beginning at the first node and the last ending at the last. A single window lies in the middle.
func WindowSources(nodes, from, width int) *Sources {
	if nodes < 1 || width < 0 || width > from {
		panic(fmt.Sprintf("models: WindowSources: windows of %d of %d sources for %d nodes", width, from, nodes))
	}
	s := pass.Sparse{Start: make([]int, nodes+1), Node: make([]int, nodes*width)}
	for i := range nodes {
		first := (from - width) / 2
		if nodes > 1 {
			first = (2*i*(from-width) + nodes - 1) / (2 * (nodes - 1)) // rounded
		}
		for k := range width {
			s.Node[i*width+k] = first + k
		}
		s.Start[i+1] = (i + 1) * width
	}
	return &Sources{s}
}

// Nodes returns the number of nodes that have lists.
func (s *Sources) Nodes() int { return s.sparse.Nodes() }

// Len returns the number of sources of all nodes together, the number of weights.
func (s *Sources) Len() int { return s.sparse.Len() }

// Of returns the sources of node i in ascending order. It must not be changed.
func (s *Sources) Of(i int) []int { return s.sparse.Of(i) }
