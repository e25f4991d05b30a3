package datasets

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
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
		all.Go(func() {
			for i := first; i < min(first+share, rows); i++ {
				row := m.RawRowView(i)
				s.ValueTo(row, row)
			}
		})
	}
	all.Wait()
}

func unscaled(columns int) Scaling {
	return Scaling{Kind: ScaledNone, Offset: make([]float64, columns), Scale: repeat(1, columns)}
}

// standard fits ScaledStandard to the columns of m, with the population's standard deviation. A column
// for which keep is true stays as it is; keep may be nil.
func standard(m *mat.Dense, keep []bool) Scaling {
	rows, columns := m.Dims()
	s, _ := fitStandard(rows, columns, keep, stripes(rows, columns), func(first, last int, visit func(row []float64)) error {
		for i := range rows {
			visit(m.RawRowView(i)[first:last])
		}
		return nil
	})
	return s
}

// stripes returns how many goroutines are worth it to go through a table, some columns each.
func stripes(rows, columns int) int {
	const least = 8 // columns: a line of the cache
	return max(min(runtime.GOMAXPROCS(0), columns/least, rows*columns>>16), 1)
}

// visitRows visits the columns [first, last) of rows, in their order.
type visitRows func(first, last int, visit func(row []float64)) error

// fitStandard is standard for rows that need not be in memory. So many goroutines have some columns each, and every column is summed in
// the order of the rows, so that the bits don't depend on them. each is called three times by each goroutine.
func fitStandard(rows, columns int, keep []bool, stripes int, each visitRows) (Scaling, error) {
	parts, errs := make([]Scaling, stripes), make([]error, stripes)
	var all sync.WaitGroup
	for i := range stripes {
		first, last := columns*i/stripes, columns*(i+1)/stripes
		kept := make([]bool, last-first)
		if keep != nil {
			kept = keep[first:last]
		}
		all.Go(func() {
			parts[i], errs[i] = fitColumns(rows, kept, func(visit func(row []float64)) error { return each(first, last, visit) })
		})
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

// fitColumns is fitStandard in one goroutine; each visits the rows. It returns the first error of each.
//
// A column is constant when all its values are equal, not when a computed deviation is zero: rounding in
// the mean would let 0.1 repeated a thousand times through.
func fitColumns(rows int, keep []bool, each func(visit func(row []float64)) error) (Scaling, error) {
	columns := len(keep)
	s := Scaling{Kind: ScaledStandard, Offset: make([]float64, columns), Scale: repeat(1, columns)}
	mean, square := make([]float64, columns), make([]float64, columns)
	varies := make([]bool, columns)
	var first []float64
	err := each(func(row []float64) {
		if first == nil {
			first = slices.Clone(row)
		}
		for j, v := range row {
			mean[j] += v / float64(rows)
			varies[j] = varies[j] || v != first[j]
		}
	})
	if err != nil {
		return s, err
	}
	// Each column is measured in units of its greatest deviation, so that no square over- or underflows.
	unit := make([]float64, columns)
	err = each(func(row []float64) {
		for j, v := range row {
			unit[j] = max(unit[j], math.Abs(v-mean[j]))
		}
	})
	if err != nil {
		return s, err
	}
	err = each(func(row []float64) {
		for j, v := range row {
			if unit[j] > 0 {
				d := (v - mean[j]) / unit[j]
				square[j] += d * d
			}
		}
	})
	if err != nil {
		return s, err
	}
	for j := range columns {
		switch {
		case keep[j]:
		case !varies[j]:
			s.Offset[j] = first[j]
			s.Constant = append(s.Constant, j)
		default:
			s.Offset[j] = mean[j]
			s.Scale[j] = max(unit[j]*math.Sqrt(square[j]/float64(rows)), math.SmallestNonzeroFloat64)
		}
	}
	return s, nil
}
