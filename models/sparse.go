package models

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"newtop/internal/vector"
)

// Sources says for every node of a layer which nodes of another layer it takes from, the sets S_m^l of
// [M, eq. 1]. It is immutable. Nodes count from 0.
type Sources struct {
	start []int // node i's sources are node[start[i]:start[i+1]]
	node  []int // ascending for every node
}

// NewSources returns sources from one list for every node, in any order. That they name nodes that exist,
// each once, is checked by NewNetwork.
func NewSources(lists [][]int) *Sources {
	s := &Sources{start: make([]int, 1, len(lists)+1)}
	for _, list := range lists {
		s.node = append(s.node, list...)
		slices.Sort(s.node[s.start[len(s.start)-1]:])
		s.start = append(s.start, len(s.node))
	}
	return s
}

// RandomSources draws for each of nodes nodes count different ones of from.
func RandomSources(nodes, from, count int, rng *rand.Rand) *Sources {
	if nodes < 1 || count < 0 || count > from {
		panic(fmt.Sprintf("models: RandomSources: %d of %d sources for %d nodes", count, from, nodes))
	}
	s := &Sources{start: make([]int, nodes+1), node: make([]int, nodes*count)}
	deck := make([]int, from)
	for j := range deck {
		deck[j] = j
	}
	for i := range nodes {
		hand := s.node[i*count:][:count]
		for k := range hand {
			j := k + rng.IntN(from-k)
			deck[k], deck[j] = deck[j], deck[k]
			hand[k] = deck[k]
		}
		slices.Sort(hand)
		s.start[i+1] = (i + 1) * count
	}
	return s
}

// WindowSources gives each of nodes nodes width neighbours among from: the windows spread evenly, the
// first beginning at the first node and the last ending at the last. A single window lies in the middle.
func WindowSources(nodes, from, width int) *Sources {
	if nodes < 1 || width < 0 || width > from {
		panic(fmt.Sprintf("models: WindowSources: windows of %d of %d sources for %d nodes", width, from, nodes))
	}
	s := &Sources{start: make([]int, nodes+1), node: make([]int, nodes*width)}
	for i := range nodes {
		first := (from - width) / 2
		if nodes > 1 {
			first = (2*i*(from-width) + nodes - 1) / (2 * (nodes - 1)) // rounded
		}
		for k := range width {
			s.node[i*width+k] = first + k
		}
		s.start[i+1] = (i + 1) * width
	}
	return s
}

// Nodes returns the number of nodes that have lists.
func (s *Sources) Nodes() int { return len(s.start) - 1 }

// Len returns the number of sources of all nodes together, the number of weights.
func (s *Sources) Len() int { return len(s.node) }

// Of returns the sources of node i in ascending order. It must not be changed.
func (s *Sources) Of(i int) []int { return s.node[s.start[i]:s.start[i+1]:s.start[i+1]] }

// The products of a sparse block with what lies node by node: one axpy or dot product over the rows of data for
// every weight, and nothing else that grows with the layers.

func (s *Sources) addMul(c, a, b []float64, rows int) {
	for i := range s.Nodes() {
		a, c := a[s.start[i]:], c[i*rows:][:rows]
		if rows == 1 {
			for k, j := range s.Of(i) {
				c[0] += a[k] * b[j]
			}
			continue
		}
		for k, j := range s.Of(i) {
			axpy(a[k], b[j*rows:][:rows], c)
		}
	}
}

func (s *Sources) addMulTrans(c, a, b []float64, rows int) {
	for i := range s.Nodes() {
		a, b := a[s.start[i]:], b[i*rows:][:rows]
		if rows == 1 {
			for k, j := range s.Of(i) {
				c[j] += a[k] * b[0]
			}
			continue
		}
		for k, j := range s.Of(i) {
			axpy(a[k], b, c[j*rows:][:rows])
		}
	}
}

func (s *Sources) addOuter(c, a, b []float64, rows int) {
	for i := range s.Nodes() {
		c, a := c[s.start[i]:], a[i*rows:][:rows]
		if rows == 1 {
			for k, j := range s.Of(i) {
				c[k] += a[0] * b[j]
			}
			continue
		}
		for k, j := range s.Of(i) {
			c[k] += dot(a, b[j*rows:][:rows])
		}
	}
}

// axpy adds a·x to y, which are equally long.
func axpy(a float64, x, y []float64) { vector.Axpy(y, a, x) }

// dot returns xᵀy of equally long vectors.
func dot(x, y []float64) float64 { return vector.Dot(x, y) }
