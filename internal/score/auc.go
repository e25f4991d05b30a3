package score

import (
	"math"
	"slices"
	"sort"
)

// ranking keeps what classes and outputs rows have, as AUC is of all pairs of rows: all of them up to
// maxRanked outputs, and then how many rows there are in bins, so that more rows take no more memory.
type ranking struct {
	outputs, max int // max is maxRanked but in tests
	class        []int32
	blocks       [][]float64 // row by row, rankedRows in each: nothing is copied when there are more
	bins         []bins      // of each output, once there are too many rows
	lost         bool        // there were outputs that are no numbers
}

const (
	rankedRows = 1 << 10
	maxRanked  = 1 << 20 // 8 MiB
)

func newRanking(outputs int) ranking { return ranking{outputs: outputs, max: maxRanked} }

func (r *ranking) add(class int, u []float64) {
	if r.lost || slices.ContainsFunc(u, math.IsNaN) {
		*r = ranking{lost: true}
		return
	}
	if r.bins == nil && (len(r.class)+1)*r.outputs > r.max {
		for k := range r.outputs {
			r.bins = append(r.bins, r.binned(k, max(r.max/r.outputs/4, 1)))
		}
		r.class, r.blocks = nil, nil
	}
	if r.bins != nil {
		for k, v := range u {
			r.bins[k].add(v, class == k)
		}
		return
	}
	if len(r.class)%rankedRows == 0 {
		r.blocks = append(r.blocks, make([]float64, 0, rankedRows*r.outputs))
	}
	block := &r.blocks[len(r.blocks)-1]
	*block = append(*block, u...)
	r.class = append(r.class, int32(class))
}

// at returns output k of row i.
func (r *ranking) at(i, k int) float64 { return r.blocks[i/rankedRows][i%rankedRows*r.outputs+k] }

// binned counts the rows in bins of output k: one at each of its values where there are as many edges.
func (r *ranking) binned(k, edges int) bins {
	values := make([]float64, len(r.class))
	for i := range values {
		values[i] = r.at(i, k)
	}
	b := newBins(slices.Sorted(slices.Values(values)), edges)
	for i, class := range r.class {
		b.add(values[i], int(class) == k)
	}
	return b
}

// area returns the area under the ROC curve of class k by its output: the share of pairs of a row of the class and
// another row in which the first has the larger output, equal ones counting half. It is NaN where there are no such
// pairs, or not all rows were numbers. The true area is at most within away, which is 0 where all rows are kept.
func (r *ranking) area(k int) (area, within float64) {
	if r.bins != nil {
		return r.bins[k].area()
	}
	b := r.binned(k, len(r.class))
	return b.area()
}

// bins count rows by an output: bin 2i+1 has those whose output is edge i, bin 2i those between the edges i−1 and i.
// [of, others] rows are in a bin. Edges are quantiles of rows that came first, so each bin has few pairs.
type bins struct {
	edges []float64
	rows  [][2]uint32
}

// newBins returns bins with edges at quantiles of sorted values.
func newBins(sorted []float64, edges int) bins {
	var b bins
	step := max(float64(len(sorted))/float64(max(edges, 1)), 1)
	for at := 0.0; int(at) < len(sorted); at += step {
		if v := sorted[int(at)]; len(b.edges) == 0 || v != b.edges[len(b.edges)-1] {
			b.edges = append(b.edges, v)
		}
	}
	b.rows = make([][2]uint32, 2*len(b.edges)+1)
	return b
}

func (b *bins) add(v float64, of bool) {
	i := 2 * sort.SearchFloat64s(b.edges, v)
	if i < 2*len(b.edges) && b.edges[i/2] == v {
		i++
	}
	if of {
		b.rows[i][0]++
	} else {
		b.rows[i][1]++
	}
}

// area returns ranking's. Pairs of a bin between edges count half, and what is not known of them is within.
func (b *bins) area() (area, within float64) {
	var below, of, ordered, unknown float64 // below counts the others
	for i, n := range b.rows {
		p, q := float64(n[0]), float64(n[1])
		ordered += p * (below + q/2)
		if i%2 == 0 {
			unknown += p * q / 2
		}
		below, of = below+q, of+p
	}
	pairs := of * below
	if pairs == 0 {
		return math.NaN(), 0
	}
	return ordered / pairs, unknown / pairs
}
