package objective

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
)

// Rows are some rows of a split, in their order: every Step-th from First on, or Count evenly spaced ones, row j of
// which is j·total/Count. The zero value is all training rows.
type Rows struct {
	Part        datasets.Part
	First, Step int // a Step of 0 is 1
	Count       int // 0: as First and Step say
	// Folds cuts the rows before all that: every Folds-th from Fold − 1 on is left out. 0: none is.
	Folds, Fold int
}

// remaining returns how many rows among total of a split Folds leaves.
func (r Rows) remaining(total int) int {
	if r.Folds == 0 {
		return total
	}
	return total - (max(0, total-(r.Fold-1))+r.Folds-1)/r.Folds
}

// unfold returns which row of a split row j of those is that Folds leaves.
func (r Rows) unfold(j int) int {
	if r.Folds == 0 {
		return j
	}
	each := r.Folds - 1 // of as many rows as there are folds
	i := j/each*r.Folds + j%each
	if j%each >= r.Fold-1 {
		i++
	}
	return i
}

// Of returns the number of rows among total of a split.
func (r Rows) Of(total int) int {
	if r.Count > 0 {
		return r.Count
	}
	step := max(1, r.Step)
	return (max(0, r.remaining(total)-r.First) + step - 1) / step
}

// At returns which row among total row j is.
func (r Rows) At(j, total int) int {
	if r.Count > 0 {
		return r.unfold(j * r.remaining(total) / r.Count)
	}
	return r.unfold(r.First + j*max(1, r.Step))
}

// part returns part i of count: the rows i, i + count, i + 2·count, … of these, which are not evenly spaced ones.
func (r Rows) part(i, count int) Rows {
	step := max(1, r.Step)
	r.First, r.Step = r.First+i*step, step*count
	return r
}

// Of returns how many rows picks.
func (p *Problem) Of(rows Rows) int { return rows.Of(p.Split(rows.Part).Rows()) }

// Select returns the rows [first, last) of those that rows picks: views, or copies of evenly spaced rows and of those
// that folds leave. It returns nil matrices for no rows.
func (p *Problem) Select(rows Rows, first, last int) (x, t models.Matrix) {
	s := p.Split(rows.Part)
	total := s.Rows()
	if n := rows.Of(total); first < 0 || first > last || last > n {
		panic(fmt.Sprintf("objective: Select: rows [%d, %d) of %d", first, last, n))
	}
	if first == last {
		return nil, nil
	}
	if rows.Count == 0 && rows.Folds == 0 {
		from, to, step := rows.At(first, total), rows.At(last-1, total)+1, max(1, rows.Step)
		return models.Every(s.X, from, to, step), models.Every(s.T, from, to, step)
	}
	x, t = p.newMatrix(last-first, p.Network.Columns()), p.newMatrix(last-first, p.Network.Outputs())
	for j := first; j < last; j++ {
		i := rows.At(j, total)
		copyRow(x, j-first, s.X, i)
		copyRow(t, j-first, s.T, i)
	}
	return x, t
}

// newMatrix returns one in the network's precision.
func (p *Problem) newMatrix(rows, columns int) models.Matrix {
	if p.Network.Precision() == models.Single {
		return models.NewSingleMatrix(rows, columns)
	}
	return mat.NewDense(rows, columns, nil)
}

// copyRow copies row j of a matrix to row i of another of its precision.
func copyRow(to models.Matrix, i int, from models.Matrix, j int) {
	if s, ok := to.(*models.SingleMatrix); ok {
		copy(s.Row(i), from.(*models.SingleMatrix).Row(j))
		return
	}
	copy(to.(*mat.Dense).RawRowView(i), from.(*mat.Dense).RawRowView(j))
}

// Walk calls f with all rows of a split, that many at a time and in their order. The matrices are f's as long as it
// runs.
func (p *Problem) Walk(part datasets.Part, step int, f func(first int, x, t *mat.Dense) error) error {
	s := p.Split(part)
	for i := 0; i < s.Rows(); i += step {
		j := min(i+step, s.Rows())
		if err := f(i, models.Doubles(s.X, i, j), models.Doubles(s.T, i, j)); err != nil {
			return err
		}
	}
	return nil
}
