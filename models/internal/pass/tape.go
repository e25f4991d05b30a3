package pass

import "newtop/models/blas"

// RowMajor is what lies row by row: rows of data, Stride apart.
type RowMajor[F Float] struct {
	Data   []F
	Stride int
}

// row returns row p, of that many numbers.
func (r RowMajor[F]) row(p, cols int) []F { return r.Data[p*r.Stride:][:cols] }

// Matrix is rows of data.
type Matrix[F Float] struct {
	RowMajor[F]
	Cols int
}

// From returns the rows from the first on.
func (m *Matrix[F]) From(first int) RowMajor[F] {
	return RowMajor[F]{m.Data[first*m.Stride:], m.Stride}
}

// Gather stores rows first, first+1, … of m in dst, node by node.
func Gather[F Float](dst []F, m Matrix[F], first, rows int) {
	blas.Transpose(dst, rows, m.Data[first*m.Stride:], m.Stride, rows, m.Cols)
}

// Scatter is the inverse of Gather.
func Scatter[F Float](m Matrix[F], src []F, first, rows int) {
	blas.Transpose(m.Data[first*m.Stride:], m.Stride, src, rows, m.Cols, rows)
}

// keptNodes returns how many numbers a row of layer l's kept has.
func (n *Net) keptNodes(l int) int {
	if l == n.Last() {
		return n.Loss.keeps(n.out(), n.Nodes[l])
	}
	return n.Activations[l].keeps() * n.Nodes[l]
}

// TapeSize returns how many numbers a tape holds for each row.
func (n *Net) TapeSize() int {
	size := n.Columns + gateArrays*n.GateCount()
	for l := 1; l <= n.Last(); l++ {
		size += 2*n.Nodes[l] + n.keptNodes(l)
	}
	return size
}

func newTape[F Float](n *Net) Tape[F] {
	layers := len(n.Nodes)
	return Tape[F]{U: make([][]F, layers), Delta: make([][]F, layers), kept: make([][]F, layers)}
}

// NewTape returns a tape that uses memory, for some rows.
func NewTape[F Float](n *Net, memory []F, rows int) Tape[F] {
	tp := newTape[F](n)
	layOutTape(n, &tp, memory, rows)
	return tp
}

// layOutTape makes the tape use memory for a block of rows. It allocates nothing.
func layOutTape[F Float](n *Net, tp *Tape[F], memory []F, rows int) {
	tp.Rows = rows
	claim := func(nodes int) []F {
		part := memory[: nodes*rows : nodes*rows]
		memory = memory[nodes*rows:]
		return part
	}
	tp.U[0] = claim(n.Columns)
	for l := 1; l < len(n.Nodes); l++ {
		tp.U[l] = claim(n.Nodes[l])
		tp.Delta[l] = claim(n.Nodes[l])
		tp.kept[l] = claim(n.keptNodes(l))
	}
	gates := n.GateCount()
	tp.gates = gateValues[F]{claim(gates), claim(gates), claim(gates), claim(gates), claim(gates)}
}

// TangentSize returns how many numbers a row's γ and Ru are.
func (n *Net) TangentSize() int {
	size := 0
	for _, nodes := range n.Nodes[1:] {
		size += 2 * nodes
	}
	return size
}

// addTangents gives the tape memory for γ and Ru.
func (tp *Tape[F]) addTangents(n *Net) {
	memory := make([]F, n.TangentSize()*tp.Rows)
	for _, to := range [...]*[][]F{&tp.gamma, &tp.ru} {
		*to = make([][]F, len(tp.Delta))
		for l, delta := range tp.Delta {
			(*to)[l], memory = memory[:len(delta):len(delta)], memory[len(delta):]
		}
	}
}

// CopyLayer copies what the passes left of some rows of a layer, from row at of a tape on, to row to of another one.
func CopyLayer[F Float](dst *Tape[F], to int, src *Tape[F], at, rows, layer int) {
	for _, x := range [...][2][]F{{dst.U[layer], src.U[layer]}, {dst.Delta[layer], src.Delta[layer]},
		{dst.kept[layer], src.kept[layer]}} {
		copyRows(x[0], dst.Rows, to, x[1], src.Rows, at, rows)
	}
}

// copyRows copies some rows of what lies node by node.
func copyRows[F Float](dst []F, dstRows, to int, src []F, srcRows, at, rows int) {
	for ; len(dst) > 0; dst, src = dst[dstRows:], src[srcRows:] {
		copy(dst[to:to+rows], src[at:])
	}
}
