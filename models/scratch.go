package models

import (
	"newtop/models/blas"

	"gonum.org/v1/gonum/blas/blas64"
)

// tape is what the forward and backward pass at w leave of one block of rows, and what all products
// reuse. Everything is node by node: node i of layer l owns u[l][i·rows:(i+1)·rows].
type tape struct {
	u     [][]float64 // outputs; u[0] are the inputs
	delta [][]float64 // δ^l for l ≥ 1
	// kept holds for layer l ≥ 1: f′ (softplus), ε − ⟨u, ε⟩ (softmax), or of softmax with cross-entropy
	// the sum of the targets, one number a row; nothing otherwise.
	kept  [][]float64
	gates gateValues // of a mixture's gates
	x     byRow      // the inputs as the data have them, if they lie so
}

// keptNodes returns how many numbers a row of layer l's kept has.
func (n *Network) keptNodes(l int) int {
	if l == 0 {
		return 0
	}
	a := n.activation(l)
	if n.fused(l) {
		if a == Softmax {
			return 1
		}
		return 0
	}
	return a.keeps() * n.nodes[l]
}

// tapeSize returns how many numbers a tape holds for each row.
func (n *Network) tapeSize() int {
	size := n.Columns() + gateArrays*n.gates()
	for l := 1; l <= n.last(); l++ {
		size += 2*n.nodes[l] + n.keptNodes(l)
	}
	return size
}

func (n *Network) newTape() tape {
	layers := len(n.nodes)
	return tape{u: make([][]float64, layers), delta: make([][]float64, layers), kept: make([][]float64, layers)}
}

// placeTape makes the tape use memory for a block of rows. It allocates nothing.
func (n *Network) placeTape(tp *tape, memory []float64, rows int) {
	take := func(nodes int) []float64 {
		part := memory[: nodes*rows : nodes*rows]
		memory = memory[nodes*rows:]
		return part
	}
	tp.u[0] = take(n.Columns())
	for l := 1; l < len(n.nodes); l++ {
		tp.u[l] = take(n.nodes[l])
		tp.delta[l] = take(n.nodes[l])
		tp.kept[l] = take(n.keptNodes(l))
	}
	gates := n.gates()
	tp.gates = gateValues{take(gates), take(gates), take(gates), take(gates), take(gates)}
}

// scratch is what one worker needs to carry a block of rows through the network.
type scratch struct {
	*Network
	productSum
	rows int  // of the block under way
	own  tape // for a block whose tape is not kept
	view tape // of a kept block's tape

	// One array a layer, nodes × rows. In a product they hold φ, Ru and γ.
	phi, ru, gamma, spare [][]float64
	// u^r and Ru^r row by row, of layers that others take from: where turn and transposeTangents found them or put them.
	uRows, ruRows             []byRow
	uRowsMemory, ruRowsMemory [][]float64

	// Of the gates, gates × rows each: τ, ρ, Rg and e; and what a row adds to their parameters, 3·gates ×
	// rows. ρ and Rg are computed only where the direction moves the gates.
	tau, rho, rg, gateError, gateRows []float64
	moving                            bool

	targets    []float64 // outputs × rows
	ra, rb, rc []float64 // one number a row each
	row        []float64 // the hidden part of a Jacobian row; nil before the first is asked for

	tapeMemory, layerMemory, gateMemory, rowMemory []float64
}

// newScratch returns room for blocks of up to rows rows.
func (n *Network) newScratch(rows int) *scratch {
	all, byRows := 0, 0
	for _, nodes := range n.nodes {
		all += nodes
		byRows += padded(nodes)
	}
	layers := len(n.nodes)
	return &scratch{
		Network:    n,
		productSum: productSum{terms: make([]blas.Term, 0, max(2*len(n.blocks), assemblyDepth)), sparse: make([]sparseTerm, 0, 2*len(n.blocks))},
		own:        n.newTape(), view: n.newTape(),
		phi: make([][]float64, layers), ru: make([][]float64, layers),
		gamma: make([][]float64, layers), spare: make([][]float64, layers),
		uRows: make([]byRow, layers), ruRows: make([]byRow, layers),
		uRowsMemory: make([][]float64, layers), ruRowsMemory: make([][]float64, layers),
		tapeMemory:  make([]float64, n.tapeSize()*rows),
		layerMemory: make([]float64, (4*all+2*byRows)*rows),
		gateMemory:  make([]float64, 7*n.gates()*rows),
		rowMemory:   make([]float64, (3+n.Outputs())*rows),
	}
}

// setRows makes the scratch ready for a block of that many rows.
func (s *scratch) setRows(rows int) {
	if s.rows == rows {
		return
	}
	s.rows = rows
	s.placeTape(&s.own, s.tapeMemory, rows)
	memory := s.layerMemory
	for _, arrays := range [...][][]float64{s.phi, s.ru, s.gamma, s.spare} {
		for l, nodes := range s.nodes {
			arrays[l], memory = memory[:nodes*rows:nodes*rows], memory[nodes*rows:]
		}
	}
	for _, arrays := range [...][][]float64{s.uRowsMemory, s.ruRowsMemory} {
		for l, nodes := range s.nodes {
			size := padded(nodes) * rows
			arrays[l], memory = memory[:size:size], memory[size:]
		}
	}
	gates, g := s.gates()*rows, s.gateMemory
	s.tau, s.rho, s.rg, s.gateError = g[:gates], g[gates:2*gates], g[2*gates:3*gates], g[3*gates:4*gates]
	s.gateRows = g[4*gates : 7*gates]
	r := s.rowMemory
	s.ra, s.rb, s.rc, s.targets = r[:rows], r[rows:2*rows], r[2*rows:3*rows], r[3*rows:(3+s.Outputs())*rows]
}

// gather stores rows first, first+1, … of m in dst, node by node.
func gather(dst []float64, m blas64.General, first, rows int) {
	blas.Transpose(dst, rows, m.Data[first*m.Stride:], m.Stride, rows, m.Cols)
}

// scatter is the inverse of gather.
func scatter(m blas64.General, src []float64, first, rows int) {
	blas.Transpose(m.Data[first*m.Stride:], m.Stride, src, rows, m.Cols, rows)
}
