package models

import (
	"newtop/internal/vector"
	"newtop/models/blas"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// What tapes do for a wideSums.

func (l *tapes[F]) shareNodes(pool *reduce.Pool) {
	if pool == nil {
		l.scratches[0].Threads = nil
	} else {
		l.scratches[0].Threads = pool
	}
}

func (l *tapes[F]) numbers(bytes int64) int64 {
	if isDouble[F]() {
		return bytes / 8
	}
	return bytes / 4
}

func (l *tapes[F]) tally(worker int, sum []float64, first, last int) {
	s := l.scratches[worker]
	var total pass.Tally
	for block := first; block < last; block++ {
		tp, _ := l.prepare(s, block)
		total.Add(l.pass(s, tp, block))
	}
	total.StoreTo(sum[l.net.Dim:])
}

// piece returns where a worker adds up what is stored in sum by storedPiece.
func (l *tapes[F]) piece(worker int, sum []float64) []F {
	if isDouble[F]() {
		return as[F](sum)
	}
	return l.sums[worker][:len(sum)]
}

func (l *tapes[F]) storedPiece(piece []F, sum []float64) {
	if !isDouble[F]() {
		vector.Widen(sum, as[float32](piece))
	}
}

func (l *tapes[F]) gradientPiece(worker int, p pass.Piece, sum []float64, first, last int) {
	s, piece, start := l.scratches[worker], l.piece(worker, sum), blas.Zero
	for block := first; block < last; block++ {
		tp, _ := l.prepare(s, block)
		pass.GradientPiece(s, piece, p, tp, start)
		start = blas.Add
	}
	l.storedPiece(piece, sum)
}

func (l *tapes[F]) allocateTangents() {
	if l.tangent == nil {
		l.tangent = make([]F, l.rows*l.net.TangentSize())
	}
}

// prepareTangents makes a worker's scratch ready for a block, with its γ and Ru, and returns its tape.
func (l *tapes[F]) prepareTangents(worker, block int) *pass.Tape[F] {
	tp, _ := l.prepare(l.scratches[worker], block)
	l.scratches[worker].LayOutTangents(l.tangent[block*reduce.BlockRows*l.net.TangentSize():])
	return tp
}

func (l *tapes[F]) tangents(worker, first, last int, exact bool) {
	for block := first; block < last; block++ {
		tp := l.prepareTangents(worker, block)
		l.scratches[worker].Tangents(l.w, l.arg, tp, exact)
	}
}

func (l *tapes[F]) productPiece(worker int, p pass.Piece, sum []float64, first, last int, exact bool) {
	piece, start := l.piece(worker, sum), blas.Zero
	for block := first; block < last; block++ {
		tp := l.prepareTangents(worker, block)
		pass.ProductPiece(l.scratches[worker], piece, p, tp, exact, start)
		start = blas.Add
	}
	l.storedPiece(piece, sum)
}
