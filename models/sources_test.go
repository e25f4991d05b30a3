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
