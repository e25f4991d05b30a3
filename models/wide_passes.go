package models

import (
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

// tape makes a worker's scratch ready for a kept tape and returns both.
func (l *tapes[F]) tape(worker, i int) (*pass.Scratch[F], *pass.Tape[F]) {
	s := l.scratches[worker]
	s.SetRows(l.tapeRows(i))
	return s, &l.saved[i]
}

func (l *tapes[F]) forward(worker, tape int) {
	s, tp := l.tape(worker, tape)
	s.Forward(l.w, tp)
}

// measure goes block by block, as losses are added up.
func (l *tapes[F]) measure(worker, block int) {
	s := l.scratches[worker]
	s.SetRows(l.blockSize(block))
	l.targets(s, block)
	l.load(s, block, s.Last())
	l.measured[block] = s.MeasureDelta(&s.Own)
	for to := 0; to < s.Rows; {
		i, at, rows := l.onTape(block, to)
		pass.CopyLayer(&l.saved[i], at, &s.Own, to, rows, s.Last())
		to += rows
	}
}

// load copies what the passes left of a block of rows, from a layer on, to the scratch's own tape.
func (l *tapes[F]) load(s *pass.Scratch[F], block, layer int) {
	for ; layer <= s.Last(); layer++ {
		for to := 0; to < s.Rows; {
			i, at, rows := l.onTape(block, to)
			pass.CopyLayer(&s.Own, to, &l.saved[i], at, rows, layer)
			to += rows
		}
	}
}

func (l *tapes[F]) tally(worker int, sum []float64, first, last int) {
	var total pass.Tally
	for block := first; block < last; block++ {
		if l.measured != nil {
			total.Add(l.measured[block])
			continue
		}
		s := l.scratches[worker]
		tp, _ := l.prepare(s, block)
		total.Add(l.pass(s, tp, block))
	}
	total.StoreTo(sum[l.net.Dim:])
}

func (l *tapes[F]) backward(worker, tape int) {
	s, tp := l.tape(worker, tape)
	s.Backward(l.w, tp)
}

func (l *tapes[F]) tangents(worker, tape int, exact bool) {
	s, tp := l.tape(worker, tape)
	s.KeepTangents(l.w, l.arg, tp, exact)
}

func (l *tapes[F]) piece(worker int, p pass.Piece, of pass.Factors, exact bool, sum []float64, first, last int,
) []float32 {
	piece, start := as[F](sum), blas.Zero
	if !isDouble[F]() {
		piece = l.sums[worker][:len(sum)]
	}
	for block := first; block < last; block++ {
		l.addPiece(worker, piece, p, of, block, start)
		start = blas.Add
		if exact && p.From > 0 {
			l.addPiece(worker, piece, p, pass.DeltaRu, block, start)
		}
	}
	if isDouble[F]() {
		return nil
	}
	return as[float32](piece)
}

// addPiece stores what a block of rows says of a piece, or with blas.Add adds it.
func (l *tapes[F]) addPiece(worker int, piece []F, p pass.Piece, of pass.Factors, block int, start blas.Start) {
	s := l.scratches[worker]
	s.SetRows(l.blockSize(block))
	for to := 0; to < s.Rows; {
		i, at, rows := l.onTape(block, to)
		if p.From < 0 {
			pass.GatherPiece(s, p, &l.saved[i], of, at, rows, to)
		} else {
			pass.OuterPiece(s, piece, p, &l.saved[i], of, at, rows, start)
			start = blas.Add
		}
		to += rows
	}
	if p.From < 0 {
		pass.BiasPiece(s, piece, p, start)
	}
}
