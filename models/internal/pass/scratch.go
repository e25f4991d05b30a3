package pass

import "newtop/models/blas"

// Scratch is what one worker needs to carry a block of rows through the network.
type Scratch struct {
	*Net
	products
	division
	gates gates // nothing without a mixture
	Own   Tape  // for a block whose tape is not kept
	View  Tape  // of a kept block's tape

	// One array a layer, nodes × rows. In a product they hold φ, Ru and γ.
	phi, ru, gamma, spare [][]float64
	elsewhere             bool // whether γ and Ru are where PlaceTangents put them
	// u^r and Ru^r row by row, of layers that others take from: where transposeOutputs and transposeTangents found them or
	// put them.
	uRows, ruRows             []RowMajor
	uRowsMemory, ruRowsMemory [][]float64

	Targets    []float64 // outputs × rows
	ra, rb, rc []float64 // one number a row each
	row        []float64 // the hidden part of a Jacobian row; nil before the first is asked for

	tapeMemory, layerMemory, gateMemory, rowMemory []float64
}

// NewScratch returns room for blocks of up to rows rows.
func NewScratch(n *Net, rows int) *Scratch {
	all, byRows := 0, 0
	for _, nodes := range n.Nodes {
		all += nodes
		byRows += padded(nodes)
	}
	layers := len(n.Nodes)
	s := &Scratch{
		Net:      n,
		products: products{terms: make([]blas.Term, 0, 2*len(n.Blocks)+1), sparse: make([]sparseTerm, 0, 2*len(n.Blocks))},
		gates:    gates{Mixture: n.Mixture},
		Own:      n.newTape(), View: n.newTape(),
		phi: make([][]float64, layers), ru: make([][]float64, layers),
		gamma: make([][]float64, layers), spare: make([][]float64, layers),
		uRows: make([]RowMajor, layers), ruRows: make([]RowMajor, layers),
		uRowsMemory: make([][]float64, layers), ruRowsMemory: make([][]float64, layers),
		tapeMemory:  make([]float64, n.TapeSize()*rows),
		layerMemory: make([]float64, (4*all+2*byRows)*rows),
		gateMemory:  make([]float64, gateScratch*n.GateCount()*rows),
		rowMemory:   make([]float64, (3+n.Outputs())*rows),
	}
	s.task = s.part
	return s
}

// SetRows makes the scratch ready for a block of that many rows.
func (s *Scratch) SetRows(rows int) {
	if s.Rows == rows && !s.elsewhere {
		return
	}
	s.Rows, s.elsewhere = rows, false
	s.PlaceTape(&s.Own, s.tapeMemory, rows)
	memory := s.layerMemory
	for _, arrays := range [...][][]float64{s.phi, s.ru, s.gamma, s.spare} {
		for l, nodes := range s.Nodes {
			arrays[l], memory = memory[:nodes*rows:nodes*rows], memory[nodes*rows:]
		}
	}
	for _, arrays := range [...][][]float64{s.uRowsMemory, s.ruRowsMemory} {
		for l, nodes := range s.Nodes {
			size := padded(nodes) * rows
			arrays[l], memory = memory[:size:size], memory[size:]
		}
	}
	r := s.rowMemory
	s.ra, s.rb, s.rc, s.Targets = r[:rows], r[rows:2*rows], r[2*rows:3*rows], r[3*rows:(3+s.Outputs())*rows]
	s.gates.place(s.gateMemory, s.GateCount(), s.ra, s.rb)
}

// layer returns layer l of the block whose tape is tp.
func (s *Scratch) layer(tp *Tape, l int) layer {
	return layer{s.Activations[l], tp.U[l], tp.Delta[l], tp.kept[l], s.ra, s.rb}
}

// node returns the numbers of node i, one a row, of what lies node by node.
func (s *Scratch) node(x []float64, i int) []float64 { return nodeOf(x, i, s.Rows) }

func nodeOf(x []float64, i, rows int) []float64 { return x[i*rows : (i+1)*rows] }

// transposeOutputs stores u^r of all layers that others take from row by row in s.uRows.
func (s *Scratch) transposeOutputs(tp *Tape) {
	for r := range s.Last() {
		if r == 0 && tp.X.Data != nil {
			s.uRows[0] = tp.X
			continue
		}
		s.uRows[r] = s.transposeTo(s.uRowsMemory[r], tp.U[r], s.Nodes[r])
	}
}

// transposeTangents stores s.ru of layers first and beyond row by row in s.ruRows.
func (s *Scratch) transposeTangents(first int) {
	for r := first; r < s.Last(); r++ {
		s.ruRows[r] = s.transposeTo(s.ruRowsMemory[r], s.ru[r], s.Nodes[r])
	}
}

func (s *Scratch) transposeTo(dst, src []float64, nodes int) RowMajor {
	if s.Rows == 1 {
		return RowMajor{src, nodes}
	}
	stride := padded(nodes)
	s.lines.dst, s.lines.src, s.lines.stride = dst, src, stride
	s.divide(nodes, partNumbers/s.Rows, (*Scratch).transposePart)
	return RowMajor{dst, stride}
}

// padded rounds up to whole cache lines, so that no register of a row lies across two.
func padded(nodes int) int { return (nodes + 7) &^ 7 }
