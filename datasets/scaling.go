package datasets

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/routine"
)

// ScalingKind names the way in which columns were scaled.
type ScalingKind string

// The kinds. Offset and Scale are given for each of them, so that a reader need not tell them apart.
const (
	ScaledNone     ScalingKind = "none"     // raw values
	ScaledStandard ScalingKind = "standard" // mean 0 and standard deviation 1 over the training rows
	ScaledUnit     ScalingKind = "unit"     // grey levels 0–255 to [0, 1]
	ScaledClasses  ScalingKind = "classes"  // raw 0 or 1 for each class, see Dataset.Encode
)

// Scaling is how raw columns became the columns of a Dataset: value = (raw − Offset)/Scale. Both slices
// have one entry for each column, and no Scale is zero.
type Scaling struct {
	Kind   ScalingKind
	Offset []float64
	Scale  []float64
	// Constant lists, ascending, the columns that ScaledStandard found to have one value in all
	// training rows. Their Offset is that value and their Scale 1, so that they are zero.
	Constant []int
}

// ValueTo stores in dst the scaled values of one raw row. It panics unless both have one entry for each
// column; they may be the same slice.
func (s *Scaling) ValueTo(dst, raw []float64) {
	s.check(len(dst), len(raw))
	for j, v := range raw {
		dst[j] = (v - s.Offset[j]) / s.Scale[j]
	}
}

// RawTo stores in dst the raw values of one scaled row. It panics like ValueTo.
func (s *Scaling) RawTo(dst, value []float64) {
	s.check(len(dst), len(value))
	for j, v := range value {
		dst[j] = v*s.Scale[j] + s.Offset[j]
	}
}

func (s *Scaling) check(dst, src int) {
	if dst != len(s.Offset) || src != len(s.Offset) {
		panic("datasets: Scaling of a row of another length")
	}
}

func (s *Scaling) apply(m *mat.Dense) {
	if m == nil {
		return // a set's part that is not there
	}
	rows := m.RawMatrix().Rows
	const share = 1024
	var all sync.WaitGroup
	for first := 0; first < rows; first += share {
		all.Go(routine.Guard(func() {
			for i := first; i < min(first+share, rows); i++ {
				row := m.RawRowView(i)
				s.ValueTo(row, row)
			}
		}))
	}
	all.Wait()
}

func unscaled(columns int) Scaling {
	return Scaling{Kind: ScaledNone, Offset: make([]float64, columns), Scale: repeat(1, columns)}
}

// standard fits ScaledStandard to the columns of m, with the population's standard deviation. A column
// for which keep is true stays as it is; keep may be nil.
func standard(m *mat.Dense, keep []bool) Scaling { return standardOf(m, keep, nil) }

// standardOf is standard for columns of which some, for which gaps is true, may have NaN: the other numbers count.
func standardOf(m *mat.Dense, keep, gaps []bool) Scaling {
	rows, columns := m.Dims()
	f := fit{rows: rows, widths: ones(columns), keep: keep, gaps: gaps}
	f.each = func(first, last int, visit func(row []float64)) error {
		for i := range rows {
			visit(m.RawRowView(i)[first:last])
		}
		return nil
	}
	s, _ := f.standard(stripes(rows, columns))
	return s
}

func ones(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = 1
	}
	return all
}

// stripes returns how many goroutines are worth it to go through a table, some columns each.
func stripes(rows, columns int) int {
	const least = 8 // columns: a line of the cache
	return max(min(runtime.GOMAXPROCS(0), columns/least, rows*columns>>16), 1)
}

// fitStandard is standard for rows that need not be in memory, see fit.
func fitStandard(rows, columns int, keep []bool, stripes int, each visitRows) (Scaling, error) {
	f := fit{rows: rows, widths: ones(columns), keep: keep, each: each}
	return f.standard(stripes)
}

// visitRows visits the columns of the fields [first, last) of rows, in their order.
type visitRows func(first, last int, visit func(row []float64)) error

// fit fits the scaling of rows that need not be in memory. They are read by fields, each of that many columns.
type fit struct {
	rows   int
	widths []int  // of the fields
	keep   []bool // of the columns, as standardOf has them; nil: none
	gaps   []bool
	each   visitRows
}

// standard is standard. So many goroutines have some fields each, and every column is summed in
// the order of the rows, so that the bits don't depend on them. each is called up to four times by each goroutine.
func (f *fit) standard(stripes int) (Scaling, error) {
	parts, errs := make([]Scaling, stripes), make([]error, stripes)
	var all sync.WaitGroup
	from := 0
	for i := range stripes {
		first, last := len(f.widths)*i/stripes, len(f.widths)*(i+1)/stripes
		columns := 0
		for _, width := range f.widths[first:last] {
			columns += width
		}
		c := columnFit{rows: f.rows, keep: make([]bool, columns), gaps: make([]bool, columns)}
		if f.keep != nil {
			c.keep = f.keep[from:][:columns]
		}
		if f.gaps != nil {
			c.gaps = f.gaps[from:][:columns]
		}
		from += columns
		c.each = func(visit func(row []float64)) error { return f.each(first, last, visit) }
		all.Go(routine.Guard(func() { parts[i], errs[i] = c.standard() }))
	}
	all.Wait()
	s := Scaling{Kind: ScaledStandard}
	for i, part := range parts {
		if errs[i] != nil {
			return s, errs[i]
		}
		for _, j := range part.Constant {
			s.Constant = append(s.Constant, len(s.Offset)+j)
		}
		s.Offset, s.Scale = append(s.Offset, part.Offset...), append(s.Scale, part.Scale...)
	}
	return s, nil
}

// columnFit is a fit in one goroutine.
type columnFit struct {
	rows       int
	keep, gaps []bool
	each       func(visit func(row []float64)) error
}

// present counts the numbers that are there in each column.
func (c *columnFit) present() (count []float64, err error) {
	count = repeat(float64(c.rows), len(c.gaps))
	if !slices.Contains(c.gaps, true) {
		return count, nil
	}
	return count, c.each(func(row []float64) {
		for j, v := range row {
			if math.IsNaN(v) {
				count[j]--
			}
		}
	})
}

// standard returns the first error of each.
//
// A column is constant when all its values are equal, not when a computed deviation is zero: rounding in
// the mean would let 0.1 repeated a thousand times through.
func (c *columnFit) standard() (Scaling, error) {
	columns := len(c.keep)
	s := Scaling{Kind: ScaledStandard, Offset: make([]float64, columns), Scale: repeat(1, columns)}
	count, err := c.present()
	if err != nil {
		return s, err
	}
	mean, square := make([]float64, columns), make([]float64, columns)
	varies := make([]bool, columns)
	first := repeat(math.NaN(), columns)
	err = c.each(func(row []float64) {
		for j, v := range row {
			switch {
			case first[j] == v:
			case math.IsNaN(v):
				continue
			case math.IsNaN(first[j]):
				first[j] = v
			default:
				varies[j] = true
			}
			mean[j] += v / count[j]
		}
	})
	if err != nil {
		return s, err
	}
	// Each column is measured in units of its greatest deviation, so that no square over- or underflows.
	unit := make([]float64, columns)
	err = c.each(func(row []float64) {
		for j, v := range row {
			if d := math.Abs(v - mean[j]); d > unit[j] {
				unit[j] = d
			}
		}
	})
	if err != nil {
		return s, err
	}
	err = c.each(func(row []float64) {
		for j, v := range row {
			if d := (v - mean[j]) / unit[j]; d >= -1 && d <= 1 { // neither NaN nor without a unit
				square[j] += d * d
			}
		}
	})
	if err != nil {
		return s, err
	}
	for j := range columns {
		switch {
		case c.keep[j] || math.IsNaN(first[j]):
		case !varies[j]:
			s.Offset[j] = first[j]
			s.Constant = append(s.Constant, j)
		default:
			s.Offset[j] = mean[j]
			s.Scale[j] = max(unit[j]*math.Sqrt(square[j]/count[j]), math.SmallestNonzeroFloat64)
		}
	}
	return s, nil
}
