package models

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/models/blas"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

const (
	// MaxMatrixDim is the largest number of weights that GaussNewtonMatrixTo assembles a matrix for, of 512 MB.
	MaxMatrixDim = 8000
	// panelMemory bounds the numbers of a panel of Jacobian rows: 32 MiB.
	panelMemory = 1 << 22
	// assemblyRows is how many rows of the matrix one worker brings up to date at a time, and assemblyDepth with how
	// many rows of Jacobians at once, which the first-level cache should hold of a strip of the panel.
	assemblyRows, assemblyDepth = 64, 192
)

// assembly computes the Gauss–Newton matrix by rank-k updates with panels of Jacobian rows. A unit is the rows of
// one block of data and one output; as many as panelMemory holds are formed side by side, then every strip of
// the matrix is brought up to date by one worker, unit by unit in their order, so that the result depends on no
// number of threads. Every unit has rows of the same make:
//
//	[ common | own ]  common: the columns that all outputs' rows fill, the first of the flat vector
//	                  own: the terminal weights of the unit's output, in pieces that lie together
//
// After softmax, and in a mixture, all columns are common. With many outputs it is done by nodes instead.
type assembly struct {
	l      *Linearization
	dst    blas64.Symmetric
	nodes  *nodeAssembly // nil: by rows
	common int
	own    [][]piece // by output
	stride int       // of the panel
	units  int       // that a panel holds
	panel  []float64
	terms  [][]blas.Term // of a worker each
	first  int           // of the units in the panel under way
	count  int           // of them

	watch func(part, parts int) error // of the call under way
	err   error                       // what it returned

	form, update func(worker, i int)
	chained      func() bool
}

// piece is a range of columns: where in a row of the panel, and where in the matrix.
type piece struct{ at, column, size int }

// GaussNewtonMatrixTo stores JᵀBJ in dst, a matrix of size Dim. It needs at most 32 MiB beside dst, which it
// keeps. That many Jacobian rows at a time are a part of the work, after each of which watch is called, if it is
// not nil, with the number of parts done and of all; its error ends the work and is returned, and dst is
// worthless then. It panics if there are more than MaxMatrixDim weights. In one of several processes dst must not be a view,
// and the parts are those of the process's own rows.
func (l *Linearization) GaussNewtonMatrixTo(dst *mat.SymDense, watch func(part, parts int) error) error {
	l.checkUpdated("GaussNewtonMatrixTo")
	if l.net.Dim > MaxMatrixDim {
		panic(fmt.Sprintf("models: GaussNewtonMatrixTo: %d weights, expected at most %d", l.net.Dim, MaxMatrixDim))
	}
	if n := dst.SymmetricDim(); n != l.net.Dim {
		panic(fmt.Sprintf("models: GaussNewtonMatrixTo: dst is %d × %d, the network has %d weights", n, n, l.net.Dim))
	}
	if l.matrix == nil {
		l.matrix = newAssembly(l)
	}
	if raw := dst.RawSymmetric(); l.part != nil && raw.Stride != raw.N {
		panic("models: GaussNewtonMatrixTo: dst is a view")
	}
	l.needPasses()
	return l.matrix.run(dst, watch)
}

func newAssembly(l *Linearization) *assembly {
	n := l.net
	a := &assembly{l: l, terms: make([][]blas.Term, len(l.scratches)), common: n.Hidden(), own: make([][]piece, n.Outputs())}
	a.chained = a.addRows
	a.stride = a.common
	if n.Activations[n.Last()] == pass.Softmax || n.Mixture != nil {
		a.common, a.stride = n.Dim, n.Dim
	} else {
		for k := range a.own {
			a.own[k] = ownPieces(n, k, a.common)
			end := a.own[k][len(a.own[k])-1]
			a.stride = max(a.stride, end.at+end.size)
		}
	}
	if n.Outputs() >= nodeOutputs {
		a.nodes = newNodeAssembly(a)
		return a
	}
	rows := max(1, min(l.rows, reduce.BlockRows))
	a.units = max(1, min(l.blocks()*n.Outputs(), panelMemory/(rows*a.stride)))
	a.panel = make([]float64, a.units*rows*a.stride)
	for i := range a.terms {
		a.terms[i] = make([]blas.Term, 0, assemblyDepth)
	}
	a.form, a.update = a.formUnit, a.updateStrip
	return a
}

// ownPieces returns where the terminal weights of output k are, in a row of the panel from at on.
func ownPieces(n *pass.Net, k, at int) []piece {
	var all []piece
	for _, b := range n.Incoming[n.Last()] {
		from, to := b.RowSpan(k)
		all = append(all, piece{at, b.Offset + from, to - from})
		at += to - from
	}
	return append(all, piece{at, n.Biases[n.Last()-1].Offset + k, 1})
}

func (a *assembly) run(dst *mat.SymDense, watch func(part, parts int) error) error {
	a.dst, a.watch, a.err = dst.RawSymmetric(), watch, nil
	defer func() { a.dst, a.watch = blas64.Symmetric{}, nil }()
	n := a.dst.N
	for i := range n {
		clear(a.dst.Data[i*a.dst.Stride+i:][:n-i])
	}
	part := a.l.part
	if part == nil {
		a.addRows()
	} else {
		part.Joiner.Chain(a.dst.Data[:n*n], a.chained)
	}
	if a.err != nil || part != nil && part.Rank > 0 {
		return a.err
	}
	for i := range n {
		row := a.dst.Data[i*a.dst.Stride+i:][:n-i]
		vector.Scale(row, 1/float64(a.l.all), row)
	}
	return nil
}

// addRows adds what the rows that are here add, and reports whether the watcher let it finish.
func (a *assembly) addRows() bool {
	parts := a.parts()
	for part := range parts {
		a.part(part)
		if a.watch == nil {
			continue
		}
		if a.err = a.watch(part+1, parts); a.err != nil {
			return false
		}
	}
	return true
}

// all returns how many units the rows that are here make.
func (a *assembly) all() int { return a.l.blocks() * a.l.net.Outputs() }

// parts returns how many parts the work has.
func (a *assembly) parts() int {
	if a.nodes != nil {
		return a.nodes.parts()
	}
	return (a.all() + a.units - 1) / a.units
}

// part adds what a part adds.
func (a *assembly) part(part int) {
	if a.nodes != nil {
		a.nodes.part(part)
		return
	}
	a.first = part * a.units
	a.count = min(a.units, a.all()-a.first)
	tasks := a.strips()
	if a.common < a.dst.N {
		tasks += a.l.net.Outputs()
	}
	a.l.pool.Run(a.count, a.form)
	a.l.pool.Run(tasks, a.update)
}

// strips returns how many strips of assemblyRows rows of the matrix belong to the common columns.
func (a *assembly) strips() int { return (a.common + assemblyRows - 1) / assemblyRows }

// slot returns the rows of unit q of the panel.
func (a *assembly) slot(q int) []float64 {
	size := min(a.l.rows, reduce.BlockRows) * a.stride
	return a.panel[q*size:][:size]
}

// unit returns the block and the output of unit q of the panel.
func (a *assembly) unit(q int) (block, k int) {
	outputs := a.l.net.Outputs()
	return (a.first + q) / outputs, (a.first + q) % outputs
}

// formUnit computes the rows of a unit.
func (a *assembly) formUnit(worker, q int) {
	block, k := a.unit(q)
	s := a.l.scratches[worker]
	tp, kept := a.l.prepare(s, block)
	if !kept {
		a.l.pass(s, tp, block)
	}
	pass.FormRows(s, pass.RowMajor{Data: a.slot(q), Stride: a.stride}, a.common, k, a.l.w, tp)
}

// updateStrip adds what the panel says to a strip of rows of the matrix, from the diagonal on.
func (a *assembly) updateStrip(worker, i int) {
	if i >= a.strips() {
		a.updateOwn(worker, i-a.strips())
		return
	}
	at := i * assemblyRows
	strip := piece{at, at, min(assemblyRows, a.common-at)}
	a.add(worker, 0, 1, strip, piece{at, at, a.common - at})
	for k, pieces := range a.own {
		for _, own := range pieces {
			a.add(worker, a.firstOf(k), len(a.own), strip, own)
		}
	}
}

// updateOwn adds what the panel says to the terminal weights of output k alone.
func (a *assembly) updateOwn(worker, k int) {
	for i, own := range a.own[k] {
		for _, other := range a.own[k][i:] {
			a.add(worker, a.firstOf(k), len(a.own), own, other)
		}
	}
}

// firstOf returns the first unit of the panel that belongs to output k.
func (a *assembly) firstOf(k int) int {
	outputs := len(a.own)
	return ((k-a.first)%outputs + outputs) % outputs
}

// add adds XᵀY of the units first, first + step, … of the panel to the matrix. Where Y begins with X, that writes below
// the diagonal, too, where nobody reads.
func (a *assembly) add(worker, first, step int, x, y piece) {
	terms, depth := a.terms[worker][:0], 0
	c := a.dst.Data[x.column*a.dst.Stride+y.column:]
	flush := func() {
		blas.Sum(c, x.size, y.size, a.dst.Stride, blas.Add, nil, terms)
		a.l.scratches[worker].Multiplications += x.size * y.size * depth
		terms, depth = terms[:0], 0
	}
	for q := first; q < a.count; q += step {
		block, _ := a.unit(q)
		slot, rows := a.slot(q), a.l.blockSize(block)
		if depth+rows > assemblyDepth {
			flush()
		}
		terms = append(terms, blas.Term{
			A: slot[x.at:], RowStride: 1, ColStride: a.stride, B: slot[y.at:], Stride: a.stride, K: rows,
		})
		depth += rows
	}
	if depth > 0 {
		flush()
	}
}
