package models

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/models/blas"
	"newtop/models/reduce"
)

const (
	// MaxMatrixDim is the largest number of weights that GaussNewtonMatrixTo assembles a matrix for, of 970 MB.
	MaxMatrixDim = 11000
	// panelMemory bounds the numbers of a panel of Jacobian rows: 32 MiB.
	panelMemory = 1 << 22
	// assemblyRows is how many rows of the matrix one worker brings up to date at a time, and assemblyDepth with how
	// many rows of Jacobians at once, which the first-level cache should hold of a strip of the panel.
	assemblyRows, assemblyDepth = 64, 192
)

// assembly computes the Gauss–Newton matrix. With several outputs it is done by nodes; a net of one output has rows of
// the Jacobian of which nothing is 0, and the matrix is brought up to date with panels of them. As many blocks of data
// as panelMemory holds are formed side by side, then every strip of the matrix is brought up to date by one worker,
// block by block in their order, so that the result depends on no number of threads.
type assembly struct {
	l     *Linearization
	dst   blas64.Symmetric
	nodes *nodeAssembly          // nil: by rows
	units int                    // blocks that a panel holds
	panel []float64              // rows of the Jacobian, as the flat vector has them
	terms [][]blas.Term[float64] // of a worker each
	first int                    // of the blocks in the panel under way
	count int                    // of them

	watch func(part, parts int) error // of the call under way
	err   error                       // what it returned

	form, update func(worker, i int)
	chained      func() bool
}

// GaussNewtonMatrixTo stores JᵀBJ in dst, a matrix of size Dim. It needs at most 32 MiB beside dst, which it keeps. A
// part of the work is that many Jacobian rows, or some blocks of data, after each of which watch is called, if it is
// not nil, with the number of parts done and of all; its error ends the work and is returned, and dst is worthless
// then. It panics if there are more than MaxMatrixDim weights. In one of several processes dst must not be a view, and
// the parts are those of the process's own rows.
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
	a := &assembly{l: l}
	a.chained = a.addRows
	if n.Outputs() > 1 {
		a.nodes = newNodeAssembly(a)
		return a
	}
	rows := max(1, min(l.rows, reduce.BlockRows))
	a.units = max(1, min(l.blocks(), panelMemory/(rows*n.Dim)))
	a.panel = make([]float64, a.units*rows*n.Dim)
	for range l.pool.Threads() {
		a.terms = append(a.terms, make([]blas.Term[float64], 0, assemblyDepth))
	}
	a.form, a.update = a.formRows, a.updateStrip
	return a
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
	parts, each := a.parts(), 1
	if a.nodes != nil {
		each = a.nodes.each
	}
	for part := range parts {
		a.part(part)
		if a.watch == nil || (part+1)%each != 0 && part+1 < parts {
			continue
		}
		if a.err = a.watch(part/each+1, (parts+each-1)/each); a.err != nil {
			return false
		}
	}
	return true
}

// parts returns how many parts the work has.
func (a *assembly) parts() int {
	if a.nodes != nil {
		return a.nodes.parts()
	}
	return (a.l.blocks() + a.units - 1) / a.units
}

// part adds what a part adds.
func (a *assembly) part(part int) {
	if a.nodes != nil {
		a.nodes.part(part)
		return
	}
	a.first = part * a.units
	a.count = min(a.units, a.l.blocks()-a.first)
	a.l.pool.Run(a.count, a.form)
	a.l.pool.Run((a.dst.N+assemblyRows-1)/assemblyRows, a.update)
}

// slot returns the rows of block q of the panel.
func (a *assembly) slot(q int) []float64 {
	size := min(a.l.rows, reduce.BlockRows) * a.l.net.Dim
	return a.panel[q*size:][:size]
}

// formRows computes the rows of a block.
func (a *assembly) formRows(worker, q int) {
	a.l.formRows(worker, a.first+q, a.slot(q))
}

// updateStrip adds what the panel says to a strip of rows of the matrix, from the diagonal on. That writes below the
// diagonal, too, where nobody reads.
func (a *assembly) updateStrip(worker, i int) {
	at, dim := i*assemblyRows, a.dst.N
	height := min(assemblyRows, dim-at)
	terms, depth := a.terms[worker][:0], 0
	flush := func() {
		blas.Sum(a.dst.Data[at*a.dst.Stride+at:], height, dim-at, a.dst.Stride, blas.Add, nil, terms)
		a.l.count(worker, height*(dim-at)*depth)
		terms, depth = terms[:0], 0
	}
	for q := range a.count {
		rows := a.l.blockSize(a.first + q)
		if depth+rows > assemblyDepth {
			flush()
		}
		x := a.slot(q)[at:]
		terms = append(terms, blas.Term[float64]{A: x, RowStride: 1, ColStride: dim, B: x, Stride: dim, K: rows})
		depth += rows
	}
	flush()
}
