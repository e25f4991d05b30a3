package mpi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer"
)

// worker is a process other than 0 at work.
type worker struct {
	*Comm
	report []byte                          // when it has prepared the problem
	bound  map[int64]*models.Linearization // by id
	pool   *reduce.Pool
	v, dst []float64     // v from Alloc
	matrix *mat.SymDense // of GaussNewtonMatrixTo
}

// next waits for a message.
func (w *worker) next(ctx context.Context) (message, error) {
	w.await(func(spin time.Duration) (bool, error) {
		if ctx.Err() != nil {
			return true, nil
		}
		return w.pollMessage(spin)
	})
	if w.pending == nil {
		return message{}, ctx.Err()
	}
	m := *w.pending
	w.pending = nil
	w.patient = m[indexPatient] != 0
	return m, nil
}

// turn does what messages ask for until one says whether the work of a Chain continues.
func (w *worker) turn() bool {
	for {
		m, _ := w.next(context.Background())
		switch m.op() {
		case opGo:
			return true
		case opGiveUp:
			return false
		}
		w.do(&m)
	}
}

// do does what a message asks for, and the same as process 0 does meanwhile.
func (w *worker) do(m *message) {
	switch m.op() {
	case opPrepare:
		w.prepare(m)
	case opReport:
		w.sendReport()
	case opBind:
		w.bindPart(m)
	case opRelease:
		delete(w.bound, m[indexID])
	default:
		w.compute(m)
	}
}

// compute calls a linearization.
func (w *worker) compute(m *message) {
	l := w.bound[m[indexID]]
	if l == nil {
		panic(fmt.Sprintf("mpi: op %d of linearization %d, which is not there", m.op(), m[indexID]))
	}
	n := l.Dim()
	if len(w.v) < n {
		w.v, w.dst = w.link.Alloc(n), make([]float64, n)
	}
	v, dst := w.v[:n], w.dst[:n]
	if m.op().hasVector() {
		w.during(&inVector, func() error { return w.link.Bcast(v, 0) })
	}
	switch m.op() {
	case opUpdate:
		l.Expect(m[arguments] != 0)
		l.Update(v)
	case opEvaluate:
		l.EvaluateAt(v)
	case opHessian:
		l.HessianTo(dst, v)
	case opGaussNewton:
		l.GaussNewtonTo(dst, v)
	case opRows:
		l.GaussNewtonRowsTo(dst, v)
	case opDiagonal:
		l.GaussNewtonDiagTo(dst)
	case opMatrix:
		matrix := w.matrix
		if matrix == nil || matrix.SymmetricDim() != n {
			matrix = mat.NewSymDense(n, nil)
		}
		w.matrix = nil                         // another may be asked for while this one waits for its turn
		_ = l.GaussNewtonMatrixTo(matrix, nil) // which has no errors of its own
		w.matrix = matrix
	default:
		panic(fmt.Sprintf("mpi: unknown op %d", m.op()))
	}
}

func (w *worker) prepare(m *message) {
	text := make([]byte, m[arguments])
	w.during(&inMessage, func() error { return w.link.bcastBytes(text) })
	var problem trainer.Config
	err := json.Unmarshal(text, &problem)
	if err == nil {
		w.resolveThreads(&problem)
		w.problem, err = trainer.PrepareShared(&problem, w.Size())
	}
	if err == nil {
		w.pool.Close()
		w.pool = reduce.NewPool(problem.Threads)
	}
	clear(w.bound)
	w.report, err = json.Marshal(prepared(w.problem, err))
	w.must(err)
	w.must(w.link.note(0, notePrepared))
}

// sendReport says how prepare went.
func (w *worker) sendReport() {
	w.during(&inGather, func() error {
		_, err := w.link.Gather(w.report)
		return err
	})
}

func (w *worker) bindPart(m *message) {
	rows, o := readRows(m)
	o.Pool = w.pool
	l := w.bind(rows, o)
	w.bound[m[indexID]] = l
	w.sumKept(l)
}
