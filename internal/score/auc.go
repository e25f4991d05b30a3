package score

import (
	"cmp"
	"math"
	"slices"
)

// ranking keeps what classes and outputs rows have, as AUC is of all pairs of rows.
type ranking struct {
	outputs int
	class   []int32
	blocks  [][]float64 // row by row, rankedRows in each: nothing is copied when there are more
	full    bool        // there were more rows than are kept, or outputs that are no numbers
}

const rankedRows = 1 << 10

func newRanking(outputs int) ranking { return ranking{outputs: outputs} }

func (r *ranking) add(class int, u []float64) {
	if r.full || (len(r.class)+1)*r.outputs > maxRanked || slices.ContainsFunc(u, math.IsNaN) {
		*r = ranking{outputs: r.outputs, full: true}
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

// area returns the area under the ROC curve of class k by its output: the share of pairs of a row of the class and
// another row in which the first has the larger output, equal ones counting half. It is NaN where there are no such
// pairs, or not all rows were kept.
//
// By the ranks of Mann and Whitney: (ΣR − n₊(n₊+1)/2)/(n₊·n₋), R the ranks of the class's rows among all, equal ones
// having the mean of theirs.
func (r *ranking) area(k int) float64 {
	type row struct {
		u  float64
		of bool
	}
	rows := make([]row, len(r.class))
	for i, class := range r.class {
		rows[i] = row{r.at(i, k), int(class) == k}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.u, b.u) })
	sum, positive := 0.0, 0
	for i := 0; i < len(rows); {
		j, here := i, 0
		for ; j < len(rows) && rows[j].u == rows[i].u; j++ {
			if rows[j].of {
				here++
			}
		}
		sum += float64(here) * float64(i+j+1) / 2 // ranks i+1 … j
		positive += here
		i = j
	}
	pairs := float64(positive) * float64(len(rows)-positive)
	if pairs == 0 {
		return math.NaN()
	}
	return (sum - float64(positive)*float64(positive+1)/2) / pairs
}
