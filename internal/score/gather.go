package score

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Row is one of the rows that cost most.
type Row struct {
	Row                      int // its number, as Add was reported
	Loss                     float64
	Output                   int // the class that is said; -1 for regression, and where the outputs are no numbers
	Inputs, Targets, Outputs []float64
}

// Gathering goes through rows and gathers where the outputs are wrong.
type Gathering struct {
	*Scorer
	// Confusion counts rows by class, then by what the outputs say, but those whose outputs are no numbers; nil for
	// regression.
	Confusion [][]int
	// Worst are the rows of the greatest loss, downwards.
	Worst []Row

	loss func(u, t []float64) float64
	max  int
}

// Gather returns one that keeps that many of the worst rows by a loss, for rows of that many outputs.
func Gather(k Kind, outputs, worst int, loss func(u, t []float64) float64) *Gathering {
	g := &Gathering{Scorer: NewScorer(k, outputs), loss: loss, max: max(0, worst)}
	if classes := len(k.Classes); classes > 0 {
		counts := make([]int, classes*classes)
		for i := range classes {
			g.Confusion = append(g.Confusion, counts[i*classes:][:classes])
		}
	}
	return g
}

// Keeps reports whether it keeps any of the worst rows.
func (g *Gathering) Keeps() bool { return g.max > 0 }

// Add takes the inputs, targets and outputs of a row.
func (g *Gathering) Add(row int, x, t, u []float64) {
	g.Scorer.Add(t, u)
	b := Row{Row: row, Loss: g.loss(u, t), Output: -1}
	if g.Confusion != nil && !floats.HasNaN(u) {
		b.Output = floats.MaxIdx(u)
		g.Confusion[floats.MaxIdx(t)][b.Output]++
	}
	g.rank(b, x, t, u)
}

// rank puts a row in its place among the worst, if it has one there. A loss that is no number is the worst of all, and
// of equals the first row comes first.
func (g *Gathering) rank(b Row, x, t, u []float64) {
	key := func(b *Row) float64 {
		if math.IsNaN(b.Loss) {
			return math.Inf(1)
		}
		return b.Loss
	}
	i := len(g.Worst)
	for i > 0 && key(&b) > key(&g.Worst[i-1]) {
		i--
	}
	if i == g.max {
		return
	}
	if len(g.Worst) == g.max {
		last := &g.Worst[g.max-1]
		b.Inputs, b.Targets, b.Outputs = last.Inputs, last.Targets, last.Outputs
		g.Worst = g.Worst[:g.max-1]
	}
	b.Inputs, b.Targets, b.Outputs = append(b.Inputs[:0], x...), append(b.Targets[:0], t...), append(
		b.Outputs[:0], u...)
	g.Worst = slices.Insert(g.Worst, i, b)
}
