package pass

import "newtop/models/blas"

// NewScratch returns room for blocks of up to rows rows.
func NewScratch[F Float](n *Net, rows int) *Scratch[F] {
	all, byRows := 0, 0
	for _, nodes := range n.Nodes {
		all += nodes
		byRows += padded(nodes)
	}
	layers := len(n.Nodes)
	s := &Scratch[F]{
		Net:  n,
		loss: lossIn[F](n.Loss),
		division: division[F]{products: products[F]{terms: make([]blas.Term[F], 0, 2*len(n.Blocks)+1),
			sparse: make([]sparseTerm[F], 0, 2*len(n.Blocks))}},
		gates: gates[F]{Mixture: n.Mixture},
		Own:   newTape[F](n),
		phi:   make([][]F, layers), ru: make([][]F, layers),
		gamma: make([][]F, layers), spare: make([][]F, layers),
		uRows: make([]RowMajor[F], layers), ruRows: make([]RowMajor[F], layers),
		uRowsMemory: make([][]F, layers), ruRowsMemory: make([][]F, layers),
		tapeMemory:  make([]F, n.TapeSize()*rows),
		layerMemory: make([]F, (4*all+2*byRows)*rows),
		gateMemory:  make([]F, gateScratch*n.GateCount()*rows),
		rowMemory:   make([]F, (3+n.Outputs())*rows),
	}
	s.task = s.part
	return s
}

// SetRows makes the scratch ready for a block of that many rows.
func (s *Scratch[F]) SetRows(rows int) {
	if s.Rows == rows && !s.borrowed {
		return
	}
	s.Rows, s.borrowed = rows, false
	layOutTape(s.Net, &s.Own, s.tapeMemory, rows)
	memory := s.layerMemory
	for _, arrays := range [...][][]F{s.phi, s.ru, s.gamma, s.spare} {
		for l, nodes := range s.Nodes {
			arrays[l], memory = memory[:nodes*rows:nodes*rows], memory[nodes*rows:]
		}
	}
	for _, arrays := range [...][][]F{s.uRowsMemory, s.ruRowsMemory} {
		for l, nodes := range s.Nodes {
			size := padded(nodes) * rows
			arrays[l], memory = memory[:size:size], memory[size:]
		}
	}
	r := s.rowMemory
	s.ra, s.rb, s.rc, s.Targets = r[:rows], r[rows:2*rows], r[2*rows:3*rows], r[3*rows:(3+s.Outputs())*rows]
	s.gates.layOut(s.gateMemory, s.GateCount(), s.ra, s.rb)
}

// layer returns layer l of the block whose tape is tp, without what a loss keeps behind what the layer does.
func (s *Scratch[F]) layer(tp *Tape[F], l int) layer[F] {
	a, kept := s.Activations[l], tp.kept[l]
	kept = kept[:min(len(kept), a.keeps()*len(tp.U[l]))]
	return layer[F]{a, tp.U[l], tp.Delta[l], kept, s.ra, s.rb}
}

// node returns the numbers of node i, one a row, of what lies node by node.
func (s *Scratch[F]) node(x []F, i int) []F { return nodeOf(x, i, s.Rows) }

// transposeOutputs stores u^r of all layers that others take from row by row in s.uRows.
func (s *Scratch[F]) transposeOutputs(tp *Tape[F]) {
	for r := range s.Last() {
		if r == 0 && tp.X.Data != nil {
			s.uRows[0] = tp.X
			continue
		}
		s.uRows[r] = s.transposeTo(s.uRowsMemory[r], tp.U[r], s.Nodes[r])
	}
}

// transposeTangents stores s.ru of layers first and beyond row by row in s.ruRows.
func (s *Scratch[F]) transposeTangents(first int) {
	for r := first; r < s.Last(); r++ {
		s.ruRows[r] = s.transposeTo(s.ruRowsMemory[r], s.ru[r], s.Nodes[r])
	}
}

// padded rounds up to whole cache lines, so that no register of a row lies across two.
func padded(nodes int) int { return (nodes + 7) &^ 7 }

// each does what is elementwise on a layer, for x, φ and Ru of its nodes, those that it needs. Softmax needs all nodes
// together.
func (s *Scratch[F]) each(tp *Tape[F], l int, x, phi, ru []F, kind elements) {
	layer := s.layer(tp, l)
	if s.Threads == nil || s.Activations[l] == Softmax {
		layer.do(kind, x, phi, ru)
		return
	}
	e := &s.elements
	e.layer, e.x, e.phi, e.ru, e.kind = layer, x, phi, ru, kind
	s.divide(s.Nodes[l], partNumbers/s.Rows, elementwise)
}

// KeepTangents is Tangents, and keeps γ and Ru with the tape.
func (s *Scratch[F]) KeepTangents(w, d []F, tp *Tape[F], exact bool) {
	if tp.gamma == nil {
		tp.addTangents(s.Net)
	}
	copy(s.gamma, tp.gamma)
	copy(s.ru, tp.ru)
	s.borrowed = true
	s.Tangents(w, d, tp, exact)
}
