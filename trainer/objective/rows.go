package objective

import (
	"cmp"
	"fmt"
	"slices"

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

// left returns how many rows among total of a split Folds leaves.
func (r Rows) left(total int) int {
	if r.Folds == 0 {
		return total
	}
	return total - (max(0, total-(r.Fold-1))+r.Folds-1)/r.Folds
}

// fold returns which row of a split row j of those is that Folds leaves.
func (r Rows) fold(j int) int {
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
	return (max(0, r.left(total)-r.First) + step - 1) / step
}

// at returns which row among total row j is.
func (r Rows) at(j, total int) int {
	if r.Count > 0 {
		return r.fold(j * r.left(total) / r.Count)
	}
	return r.fold(r.First + j*max(1, r.Step))
}

// part returns part i of count: the rows i, i + count, i + 2·count, … of these, which are not evenly spaced ones.
func (r Rows) part(i, count int) Rows {
	step := max(1, r.Step)
	r.First, r.Step = r.First+i*step, step*count
	return r
}

// rowRange is what a problem with some of the rows knows of where it has them.
type rowRange struct {
	share Share
	// the rows that are here: those of the problem's splits, or more around them; zero: these
	around [datasets.Parts]Split
}

// cut returns the rows [first, last) of a split that has them.
func cut(s *Split, first, last int) Split {
	from, to := first-s.First, last-s.First
	out := Split{
		Split: datasets.Split{Inputs: rowsOf(s.Inputs, from, to), Targets: rowsOf(s.Targets, from, to), First: first,
			All: s.Total()},
		X: models.Every(s.X, from, to, 1), T: models.Every(s.T, from, to, 1),
	}
	if s.Labels != nil {
		out.Labels = s.Labels[from:to:to]
	}
	if s.Features != nil {
		out.Features = rowsOf(s.Features, from, to)
	}
	return out
}

// rowsOf returns a view of the rows [from, to) of m, which has no numbers if m has none.
func rowsOf(m *mat.Dense, from, to int) *mat.Dense {
	raw := m.RawMatrix()
	raw.Rows = to - from
	if len(raw.Data) > 0 {
		raw.Data = raw.Data[from*raw.Stride:]
	}
	var view mat.Dense
	view.SetRawMatrix(raw)
	return &view
}

// hull returns the smallest range around two.
func hull(a, b datasets.Range) datasets.Range {
	return datasets.Range{First: min(a.First, b.First), Last: max(a.Last, b.Last)}
}

// here returns the rows of a split that are here.
func (p *Problem) here(part datasets.Part) *Split {
	if s := &p.around[part]; s.Inputs != nil {
		return s
	}
	return p.Split(part)
}

// Of returns how many rows of all processes' rows picks.
func (p *Problem) Of(rows Rows) int { return rows.Of(p.here(rows.Part).Total()) }

// Select returns the rows [first, last) of those that rows picks: a view where the problem has them all, else they are
// read again from where the data are. It returns nil matrices for no rows.
func (p *Problem) Select(rows Rows, first, last int) (x, t models.Matrix, err error) {
	s := p.here(rows.Part)
	total := s.Total()
	if n := rows.Of(total); first < 0 || first > last || last > n {
		panic(fmt.Sprintf("objective: Select: rows [%d, %d) of %d", first, last, n))
	}
	if first == last {
		return nil, nil, nil
	}
	if rows.Count > 0 || rows.Folds > 0 {
		return p.pick(rows, first, last)
	}
	needed := datasets.Range{First: rows.at(first, total), Last: rows.at(last-1, total) + 1}
	if !has(s, needed) {
		if s, err = p.reload(rows, needed); err != nil {
			return nil, nil, err
		}
	}
	of := func(m models.Matrix) models.Matrix {
		return models.Every(m, needed.First-s.First, needed.Last-s.First, max(1, rows.Step))
	}
	return of(s.X), of(s.T), nil
}

// has reports whether a split has the rows.
func has(s *Split, r datasets.Range) bool {
	return s.Inputs != nil && s.First <= r.First && r.Last <= s.First+s.Rows()
}

// reload returns a split with the needed rows. Rows that lie apart belong to blocks, which are asked for one after the
// other, so that what all of them need is read at once and stays. Else it stays if it is little, as people look again.
func (p *Problem) reload(rows Rows, needed datasets.Range) (*Split, error) {
	s := p.here(rows.Part)
	switch {
	case rows.Step > 1:
		needed = hull(needed, p.share.reach(s.Total(), rows.Step))
		if s.Rows() > 0 {
			needed = hull(needed, datasets.Range{First: s.First, Last: s.First + s.Rows()})
		}
	case s.Total() <= p.rereadRows():
		needed = datasets.Range{Last: s.Total()}
	default:
		return p.read(rows.Part, needed)
	}
	read, err := p.read(rows.Part, needed)
	if err != nil {
		return nil, err
	}
	*s = *read
	return s, nil
}

// rereadRows returns for how many rows there is room.
func (p *Problem) rereadRows() int {
	return cmp.Or(p.Room, 64<<20) / (8 * (p.Network.Columns() + p.Network.Outputs()))
}

// pick copies rows that are no view.
func (p *Problem) pick(rows Rows, first, last int) (x, t models.Matrix, err error) {
	s := p.here(rows.Part)
	total := s.Total()
	x, t = p.newMatrix(last-first, p.Network.Columns()), p.newMatrix(last-first, p.Network.Outputs())
	from, to := rows.at(first, total), rows.at(last-1, total)+1
	begin, end := s.First, s.First+s.Rows()
	j := first
	for _, piece := range []datasets.Range{ // before those that are here, here, behind
		{First: from, Last: min(to, begin)},
		{First: max(from, begin), Last: min(to, end)},
		{First: max(from, end), Last: to},
	} {
		if piece.First >= piece.Last {
			continue
		}
		of := s
		if !has(s, piece) {
			if of, err = p.read(rows.Part, piece); err != nil {
				return nil, nil, err
			}
		}
		for ; j < last && rows.at(j, total) < piece.Last; j++ {
			i := rows.at(j, total) - of.First
			copyRow(x, j-first, of.X, i)
			copyRow(t, j-first, of.T, i)
		}
	}
	return x, t, nil
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

// read loads rows of a split as the problem has them.
func (p *Problem) read(part datasets.Part, rows datasets.Range) (*Split, error) {
	expected := datasets.Sizes{p.Train.Total(), p.Validation.Total(), p.Test.Total()}
	found := expected
	data, err := p.load(func(sizes datasets.Sizes) (r datasets.Ranges) {
		found = sizes
		r[datasets.Train] = datasets.Range{Last: 1} // there must be one
		if found == expected {
			r[part] = rows
		}
		return r
	})
	if err != nil {
		return nil, err
	}
	if found != expected {
		return nil, fmt.Errorf(
			"%s has changed since the run began: found %d training and %d test rows, expected %d and %d",
			p.Data.Name, found[datasets.Train], found[datasets.Test], expected[datasets.Train], expected[datasets.Test])
	}
	was, is := &p.Data.InputScaling, &data.InputScaling
	if !slices.Equal(was.Offset, is.Offset) || !slices.Equal(was.Scale, is.Scale) {
		return nil, fmt.Errorf("%s has changed since the run began: its inputs are scaled in another way", p.Data.Name)
	}
	read := newSplit(*data.Split(part), p.Network.Precision())
	return &read, nil
}

// Readable returns an error if rows of a split that are not here can't be read.
func (p *Problem) Readable(part datasets.Part) error {
	s := p.here(part)
	row := 0
	if s.First == 0 {
		row = s.Rows()
	}
	if row == s.Total() {
		return nil
	}
	_, _, err := p.Select(Rows{Part: part}, row, row+1)
	return err
}

// Walk calls f with all rows of a split, so many at a time and in their order, wherever these are. What is not here is
// read again, as much at a time as is here or as there is room for. The matrices are f's as long as it runs.
func (p *Problem) Walk(part datasets.Part, step int, f func(first int, x, t *mat.Dense) error) error {
	s := p.here(part)
	rows := Rows{Part: part}
	total := s.Total()
	window := total
	if s.Rows() < total {
		window = max(step, s.Rows(), p.rereadRows())
	}
	for from := 0; from < total; from += window {
		size := min(window, total-from)
		x, t, err := p.Select(rows, from, from+size)
		if err != nil {
			return err
		}
		for i := 0; i < size; i += step {
			j := min(i+step, size)
			if err := f(from+i, models.Doubles(x, i, j), models.Doubles(t, i, j)); err != nil {
				return err
			}
		}
	}
	return nil
}
