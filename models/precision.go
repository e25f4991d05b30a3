package models

import (
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/models/internal/pass"
)

// Precision is that of a network's passes: of outputs, derivatives, and what is summed up over some rows. Weights,
// gradients, products and losses that come out of them are float64, and so are sums over more rows than a leaf of
// reduce.Tree has.
type Precision uint8

// The precisions.
const (
	Double Precision = iota // float64
	Single                  // float32, with weights and directions rounded to it
)

var precisionNames = []string{"float64", "float32"}

// String returns the name that ParsePrecision reads.
func (p Precision) String() string { return nameOf(precisionNames, uint8(p)) }

// PrecisionNames returns the names that ParsePrecision reads.
func PrecisionNames() []string { return precisionNames }

// ParsePrecision reads "float64" or "float32". It returns a *NameError for anything else.
func ParsePrecision(name string) (Precision, error) {
	return parseName[Precision]("precision", precisionNames, name)
}

// Matrix is rows of data: a *mat.Dense, or a *SingleMatrix.
type Matrix interface{ Dims() (rows, columns int) }

// SingleMatrix is a matrix in single precision: row i begins at Data[i·Stride]. To passes in float32 it is what it is;
// of a *mat.Dense they make a copy.
type SingleMatrix struct {
	Rows, Columns, Stride int
	Data                  []float32
}

// Dims returns the number of rows and columns.
func (s *SingleMatrix) Dims() (rows, columns int) { return s.Rows, s.Columns }

// Row returns row i.
func (s *SingleMatrix) Row(i int) []float32 { return s.Data[i*s.Stride:][:s.Columns] }

// NewSingleMatrix returns a matrix of zeros.
func NewSingleMatrix(rows, columns int) *SingleMatrix {
	return &SingleMatrix{rows, columns, columns, make([]float32, rows*columns)}
}

// ToSingle returns a rounded copy of a matrix.
func ToSingle(m *mat.Dense) *SingleMatrix {
	s := NewSingleMatrix(m.Dims())
	for i := range s.Rows {
		vector.Narrow(s.Row(i), m.RawRowView(i))
	}
	return s
}

// MakeSingle rounds a matrix where it lies, and gives the memory back that is left over. The matrix has its dimensions
// afterwards, but no numbers. One whose rows lie apart is copied, as what is between them may be others'.
func MakeSingle(m *mat.Dense) *SingleMatrix {
	raw := m.RawMatrix()
	if raw.Rows == 0 || raw.Cols == 0 {
		return &SingleMatrix{Rows: raw.Rows, Columns: raw.Cols, Stride: raw.Cols}
	}
	defer m.SetRawMatrix(blas64.General{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Cols})
	if raw.Stride != raw.Cols {
		return ToSingle(m)
	}
	own := raw.Data[:raw.Rows*raw.Cols]
	s := &SingleMatrix{raw.Rows, raw.Cols, raw.Cols, as4(own)[:len(own)]}
	for i := range s.Rows { // a number goes before or where what is read lies
		vector.Narrow(s.Row(i), own[i*raw.Cols:])
	}
	release(own[(len(own)+1)/2:])
	return s
}

// as4 returns memory as float32, twice as many.
func as4(x []float64) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}

// RowTo stores row i of a Matrix in dst.
func RowTo(dst []float64, m Matrix, i int) {
	if s, ok := m.(*SingleMatrix); ok {
		vector.Widen(dst, s.Row(i))
		return
	}
	copy(dst, m.(*mat.Dense).RawRowView(i))
}

// Doubles returns the rows [first, last) of a matrix, of which there is one at least, in double precision: a view, or a
// copy of those of a SingleMatrix.
func Doubles(m Matrix, first, last int) *mat.Dense {
	_, columns := m.Dims()
	if d, ok := m.(*mat.Dense); ok {
		return d.Slice(first, last, 0, columns).(*mat.Dense)
	}
	d := mat.NewDense(last-first, columns, nil)
	for i := first; i < last; i++ {
		RowTo(d.RawRowView(i-first), m, i)
	}
	return d
}

// Every returns a view of the rows first, first + step, … of a matrix, up to last and without it, of which there is one
// at least.
func Every(m Matrix, first, last, step int) Matrix {
	rows := (last - first + step - 1) / step
	if s, ok := m.(*SingleMatrix); ok {
		return &SingleMatrix{rows, s.Columns, step * s.Stride, s.Data[first*s.Stride:]}
	}
	raw := m.(*mat.Dense).RawMatrix()
	var view mat.Dense
	view.SetRawMatrix(blas64.General{Rows: rows, Cols: raw.Cols, Stride: step * raw.Stride,
		Data: raw.Data[first*raw.Stride:]})
	return &view
}

// none reports whether there is no matrix.
func none(m Matrix) bool {
	switch m := m.(type) {
	case *mat.Dense:
		return m == nil
	case *SingleMatrix:
		return m == nil
	}
	return true
}

// matrixOf returns a matrix as passes have it, where its precision is another one as a copy.
func matrixOf[F pass.Float](m Matrix) pass.Matrix[F] {
	if none(m) {
		return pass.Matrix[F]{}
	}
	d, double := m.(*mat.Dense)
	switch {
	case isDouble[F]() && !double:
		rows, _ := m.Dims()
		d = Doubles(m, 0, rows)
	case !isDouble[F]():
		s, single := m.(*SingleMatrix)
		if !single {
			s = ToSingle(d)
		}
		return pass.Matrix[F]{RowMajor: pass.RowMajor[F]{Data: as[F](s.Data), Stride: s.Stride}, Cols: s.Columns}
	}
	raw := d.RawMatrix()
	return pass.Matrix[F]{RowMajor: pass.RowMajor[F]{Data: as[F](raw.Data), Stride: raw.Stride}, Cols: raw.Cols}
}

// rowsOf returns that many rows of a matrix from the first on as passes have them, of another precision copied to room,
// which grows as needed.
func rowsOf[F pass.Float](m Matrix, first, rows int, room *[]F) pass.Matrix[F] {
	_, cols := m.Dims()
	if _, double := m.(*mat.Dense); double == isDouble[F]() {
		of := matrixOf[F](m)
		return pass.Matrix[F]{RowMajor: of.From(first), Cols: cols}
	}
	*room = slices.Grow((*room)[:0], rows*cols)[:rows*cols]
	for i := range rows {
		row := (*room)[i*cols:][:cols]
		if d, double := m.(*mat.Dense); double {
			vector.Narrow(as[float32](row), d.RawRowView(first+i))
		} else {
			vector.Widen(as[float64](row), m.(*SingleMatrix).Row(first+i))
		}
	}
	return pass.Matrix[F]{RowMajor: pass.RowMajor[F]{Data: *room, Stride: cols}, Cols: cols}
}

// doubles returns a matrix of float64 as passes have it.
func doubles(m *mat.Dense) pass.Matrix[float64] { return matrixOf[float64](m) }

// gathered returns that many rows from the first on as passes have them.
func gathered(m Matrix, first, rows int) pass.Matrix[float64] {
	return doubles(Doubles(m, first, first+rows))
}

func isDouble[F pass.Float]() bool {
	var x F
	return unsafe.Sizeof(x) == 8
}

// as returns x as numbers of the type that it is of.
func as[T, F pass.Float](x []F) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// rounded returns x in the precision of F: itself, or in room.
func rounded[F pass.Float](x []float64, room []F) []F {
	if isDouble[F]() {
		return as[F](x)
	}
	vector.Narrow(as[float32](room), x)
	return room
}
