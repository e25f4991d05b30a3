package models

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/models/internal/pass"
)

// Precision is that of a network's passes: of outputs, derivatives, and what is summed up over some rows. Weights, gradients,
// products and losses that come out of them are float64, and so are sums over more rows than a leaf of reduce.Tree has.
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

// In returns the network with passes in another precision.
func (n *Network) In(p Precision) *Network {
	in := *n
	in.precision = p
	return &in
}

// Precision returns that of the network's passes.
func (n *Network) Precision() Precision { return n.precision }

// Matrix is rows of data: a *mat.Dense, or a *SingleMatrix.
type Matrix interface{ Dims() (rows, columns int) }

// SingleMatrix is a matrix in single precision, row by row. To passes in float32 it is what it is; of a *mat.Dense they make a
// copy.
type SingleMatrix struct {
	Rows, Columns int
	Data          []float32
}

// ToSingle rounds a matrix.
func ToSingle(m *mat.Dense) *SingleMatrix {
	from := m.RawMatrix()
	s := &SingleMatrix{from.Rows, from.Cols, make([]float32, from.Rows*from.Cols)}
	for i := range from.Rows {
		vector.Narrow(s.Data[i*s.Columns:][:s.Columns], from.Data[i*from.Stride:])
	}
	return s
}

// Dims returns the number of rows and columns.
func (s *SingleMatrix) Dims() (rows, columns int) { return s.Rows, s.Columns }

// Row returns row i.
func (s *SingleMatrix) Row(i int) []float32 { return s.Data[i*s.Columns:][:s.Columns] }

// RowTo stores row i of a Matrix in dst.
func RowTo(dst []float64, m Matrix, i int) {
	switch m := m.(type) {
	case *mat.Dense:
		copy(dst, m.RawRowView(i))
	case *SingleMatrix:
		vector.Widen(dst, m.Row(i))
	default:
		panic(fmt.Sprintf("models: a matrix that is a %T", m))
	}
}

// none reports whether there is no matrix.
func none(m Matrix) bool {
	switch m := m.(type) {
	case *mat.Dense:
		return m == nil
	case *SingleMatrix:
		return m == nil
	}
	return m == nil
}

// matrixOf returns a matrix as passes have it, where its precision is another one as a copy.
func matrixOf[F pass.Float](m Matrix) pass.Matrix[F] {
	if none(m) {
		return pass.Matrix[F]{}
	}
	if d, ok := m.(*mat.Dense); ok {
		if !isDouble[F]() {
			return matrixOf[F](ToSingle(d))
		}
		raw := d.RawMatrix()
		return pass.Matrix[F]{RowMajor: pass.RowMajor[F]{Data: as[F](raw.Data), Stride: raw.Stride}, Cols: raw.Cols}
	}
	s := m.(*SingleMatrix)
	if isDouble[F]() {
		wide := make([]float64, len(s.Data))
		vector.Widen(wide, s.Data)
		return pass.Matrix[F]{RowMajor: pass.RowMajor[F]{Data: as[F](wide), Stride: s.Columns}, Cols: s.Columns}
	}
	return pass.Matrix[F]{RowMajor: pass.RowMajor[F]{Data: as[F](s.Data), Stride: s.Columns}, Cols: s.Columns}
}

// doubles returns a matrix of float64 as passes have it.
func doubles(m *mat.Dense) pass.Matrix[float64] { return matrixOf[float64](m) }

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
