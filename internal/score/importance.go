package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/routine"
)

// Permutation importance [Breiman 2001, §10; Fisher et al. 2019]: by how much a measure of error rises when the values
// of a column are permuted among the rows, which takes away what the column tells and leaves its distribution.

// Group is a column of a table, or one input: the inputs [First, Last) that are permuted together.
type Group struct {
	Name        string
	First, Last int
}

// Importance is what a group is worth: the mean rise of the measure over the permutations, and of the error for
// classes, each with its standard deviation over them, which is 0 for one.
type Importance struct {
	Name           string
	Rise, Spread   float64
	Error, ErrorSD float64
}

// Permutation says what is permuted and how it is judged.
type Permutation struct {
	Kind
	X, T      *mat.Dense // inputs and targets of all rows, as OutputTo and Kind take them
	Groups    []Group
	Repeats   int // permutations of each group
	Seed      uint64
	Threads   int
	OutputsTo func(dst, x *mat.Dense) // from several goroutines
}

// Measure names what importances are the rise of: the log loss of probabilities, the error of other outputs of classes,
// the RMSE of regression, in the units of the data where these are the same for all outputs.
func (p *Permutation) Measure() string {
	switch {
	case p.Classes == nil:
		return "RMSE"
	case p.Probabilities:
		return "log loss"
	}
	return "error"
}

// judged is how well one row, or all, is fitted: what the measure is the mean of, and whether the class is wrong.
type judged struct{ loss, misclassified float64 }

func (p *Permutation) judge(t, u []float64) judged {
	if p.Classes == nil {
		d := floats.Distance(u, t, 2)
		return judged{loss: d * d / float64(len(t))}
	}
	class, wrong := floats.MaxIdx(t), 0.0
	if floats.HasNaN(u) || floats.MaxIdx(u) != class {
		wrong = 1
	}
	if p.Probabilities {
		return judged{-math.Log(max(u[class], epsilon)), wrong}
	}
	return judged{wrong, wrong}
}

// measure returns the measure and the error over all rows.
func (p *Permutation) measure(rows []judged) judged {
	var sum judged
	for _, r := range rows {
		sum.loss += r.loss
		sum.misclassified += r.misclassified
	}
	sum.loss /= float64(len(rows))
	sum.misclassified /= float64(len(rows))
	if p.Classes == nil {
		sum.loss = math.Sqrt(sum.loss)
		if u := p.Units; len(u) > 0 && !slices.ContainsFunc(u, func(v float64) bool { return v != u[0] }) {
			sum.loss *= u[0]
		}
	}
	return sum
}

// importanceChunk is how many rows are computed at once by each thread.
const importanceChunk = 512

// Importances returns what every group is worth, in their order, and the measure and the error without permutations.
// Each permutation is drawn from its own stream, so that the digits do not depend on the threads. stop ends it between
// two permutations, with what it returns.
func (p *Permutation) Importances(stop func() error) (list []Importance, measure, wrong float64, err error) {
	rows, _ := p.X.Dims()
	base := make([]judged, rows)
	all := make([]int, rows)
	for i := range all {
		all[i] = i
	}
	p.run((rows+importanceChunk-1)/importanceChunk, stop, func(n int, w *worker) {
		part := all[n*importanceChunk : min((n+1)*importanceChunk, rows)]
		w.judge(part, Group{}, all, base)
	})
	whole := p.measure(base)
	rises := make([]judged, len(p.Groups)*p.Repeats)
	err = p.run(len(rises), stop, func(n int, w *worker) {
		w.rows = append(w.rows[:0], base...)
		g := p.Groups[n/p.Repeats]
		from := rand.New(rand.NewPCG(p.Seed, uint64(n))).Perm(rows)
		changed := w.changed[:0]
		for i := range rows {
			if !slices.Equal(p.X.RawRowView(i)[g.First:g.Last], p.X.RawRowView(from[i])[g.First:g.Last]) {
				changed = append(changed, i)
			}
		}
		w.changed = changed
		for part := range slices.Chunk(changed, importanceChunk) {
			w.judge(part, g, from, w.rows)
		}
		got := p.measure(w.rows)
		rises[n] = judged{got.loss - whole.loss, got.misclassified - whole.misclassified}
	})
	if err != nil {
		return nil, 0, 0, err
	}
	for k, g := range p.Groups {
		list = append(list, summarize(g.Name, rises[k*p.Repeats:][:p.Repeats]))
	}
	return list, whole.loss, whole.misclassified, nil
}

// summarize returns the means over permutations, and the standard deviations with n − 1.
func summarize(name string, rises []judged) Importance {
	v := Importance{Name: name}
	n := float64(len(rises))
	for _, r := range rises {
		v.Rise += r.loss / n
		v.Error += r.misclassified / n
	}
	if n == 1 {
		return v
	}
	for _, r := range rises {
		v.Spread += (r.loss - v.Rise) * (r.loss - v.Rise) / (n - 1)
		v.ErrorSD += (r.misclassified - v.Error) * (r.misclassified - v.Error) / (n - 1)
	}
	v.Spread, v.ErrorSD = math.Sqrt(v.Spread), math.Sqrt(v.ErrorSD)
	return v
}

// worker is the room of one thread.
type worker struct {
	p       *Permutation
	x, u    *mat.Dense
	rows    []judged
	changed []int
}

// judge stores in dst how well those rows are fitted whose group's inputs come from other rows.
func (w *worker) judge(rows []int, g Group, from []int, dst []judged) {
	p := w.p
	_, inputs := p.X.Dims()
	_, outputs := p.T.Dims()
	if w.x == nil {
		w.x, w.u = mat.NewDense(importanceChunk, inputs, nil), mat.NewDense(importanceChunk, outputs, nil)
	}
	for i, row := range rows {
		to := w.x.RawRowView(i)
		copy(to, p.X.RawRowView(row))
		copy(to[g.First:g.Last], p.X.RawRowView(from[row])[g.First:g.Last])
	}
	u := w.u.Slice(0, len(rows), 0, outputs).(*mat.Dense)
	p.OutputsTo(u, w.x.Slice(0, len(rows), 0, inputs).(*mat.Dense))
	for i, row := range rows {
		dst[row] = p.judge(p.T.RawRowView(row), u.RawRowView(i))
	}
}

// run hands the numbers below n to the threads, until stop returns an error.
func (p *Permutation) run(n int, stop func() error, do func(n int, w *worker)) error {
	var all sync.WaitGroup
	var mutex sync.Mutex
	var failed error
	next := 0
	take := func() int {
		mutex.Lock()
		defer mutex.Unlock()
		if failed == nil {
			failed = stop()
		}
		if failed != nil || next == n {
			return n
		}
		next++
		return next - 1
	}
	for range max(1, min(p.Threads, n)) {
		all.Go(routine.Guard(func() {
			w := worker{p: p}
			for i := take(); i < n; i = take() {
				do(i, &w)
			}
		}))
	}
	all.Wait()
	return failed
}
