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

// LayOutTape makes the tape use memory for a block of rows. It allocates nothing.
func LayOutTape[F Float](n *Net, tp *Tape[F], memory []F, rows int) {
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
