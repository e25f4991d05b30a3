package datasets

import (
	"math"
	"slices"

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
	for i := range m.RawMatrix().Rows {
		row := m.RawRowView(i)
		s.ValueTo(row, row)
	}
}

func unscaled(columns int) Scaling {
	return Scaling{Kind: ScaledNone, Offset: make([]float64, columns), Scale: repeat(1, columns)}
}

// standard fits ScaledStandard to the columns of m, with the population's standard deviation. A column
// for which keep is true stays as it is; keep may be nil.
func standard(m *mat.Dense, keep []bool) Scaling {
	rows, columns := m.Dims()
	s, _ := fitStandard(rows, columns, keep, func(visit func(row []float64)) error {
		for i := range rows {
			visit(m.RawRowView(i))
		}
		return nil
	})
	return s
}

// fitStandard is standard for rows that need not be in memory: each visits them in order, and is called
// three times. It returns the first error of each.
//
// A column is constant when all its values are equal, not when a computed deviation is zero: rounding in
// the mean would let 0.1 repeated a thousand times through.
func fitStandard(rows, columns int, keep []bool, each func(visit func(row []float64)) error) (Scaling, error) {
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
		case keep != nil && keep[j]:
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
