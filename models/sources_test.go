package models

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func TestSources(t *testing.T) {
	s := NewSources([][]int{{3, 0}, {}, {2}})
	if s.Nodes() != 3 || s.Len() != 3 || !slices.Equal(s.Of(0), []int{0, 3}) || len(s.Of(1)) != 0 || !slices.Equal(s.Of(2), []int{2}) {
		t.Errorf("%+v", s)
	}
	for _, c := range []struct {
		nodes, from, width int
		want               [][]int
	}{
		{1, 6, 2, [][]int{{2, 3}}},
		{3, 5, 1, [][]int{{0}, {2}, {4}}},
		{3, 7, 3, [][]int{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}}},
		{5, 3, 2, [][]int{{0, 1}, {0, 1}, {1, 2}, {1, 2}, {1, 2}}},
		{2, 3, 3, [][]int{{0, 1, 2}, {0, 1, 2}}},
	} {
		if got := WindowSources(c.nodes, c.from, c.width); !reflect.DeepEqual(got, NewSources(c.want)) {
			t.Errorf("windows of %d of %d for %d nodes: %v, expected %v", c.width, c.from, c.nodes, got, c.want)
		}
	}
}

// TestRandomSources: every node has the same number of different sources, all of them come up about
// equally often, and the generator alone decides which.
func TestRandomSources(t *testing.T) {
	const nodes, from, count = 2000, 20, 5
	s := RandomSources(nodes, from, count, rand.New(rand.NewPCG(1, 2)))
	var often [from]int
	for i := range nodes {
		of := s.Of(i)
		if len(of) != count || !slices.IsSorted(of) || len(slices.Compact(slices.Clone(of))) != count {
			t.Fatalf("node %d has %v, expected %d different ones", i, of, count)
		}
		for _, j := range of {
			often[j]++
		}
	}
	for j, n := range often {
		if mean := nodes * count / from; n < mean-100 || n > mean+100 { // 4.6 standard deviations
			t.Errorf("node %d is a source %d times, expected about %d", j, n, mean)
		}
	}
	if again := RandomSources(nodes, from, count, rand.New(rand.NewPCG(1, 2))); !reflect.DeepEqual(s, again) {
		t.Error("the same seed gives other sources")
	}
}

// TestSparseLayout: a sparse block has as many weights as sources, and everything that counts weights
// follows.
func TestSparseLayout(t *testing.T) {
	n := mustNetwork(t, Architecture{
		Inputs: 4,
		Layers: []Layer{{"", 3, Tanh}, {"", 2, Identity}},
		Connections: []Connection{
			{To: 1, Sources: NewSources([][]int{{3, 1}, {0}, {0, 1, 2, 3}})},
			{To: 2, From: 1}, {To: 2, Sources: NewSources([][]int{{2}, {}})},
		},
	})
	type place struct{ offset, size int }
	var got []place
	for _, b := range n.Blocks() {
		got = append(got, place{b.Offset, b.Size()})
	}
	if want := []place{{0, 7}, {10, 1}, {11, 6}}; !slices.Equal(got, want) || n.Dim() != 19 {
		t.Errorf("blocks %v of %d weights, expected %v of 19", got, n.Dim(), want)
	}
	c := n.Cost()
	counts := []float64{c.Loss, c.Gradient, c.GaussNewton, c.Hessian, c.Diagonal}
	if want := []float64{14, 2*8 + 3*6, 2*8 + 4*6, 2*8 + 6*6, 14 + 6}; !slices.Equal(counts, want) {
		t.Errorf("cost %v, expected %v", counts, want)
	}
}
