package mpi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/objective"
)

// Work does in any other process what process 0 asks for until it says that this is over, takes leave of MPI and returns the
// exit code that process 0 said. What breaks meanwhile ends the process by Options.Fatal. Work does not look at signals,
// which launchers send to all processes: process 0 ends the run in order. It returns ctx's error, and the world is broken
// then, if ctx ends while there is nothing to do.
func (w *World) Work(ctx context.Context) (code int, err error) {
	code, err = w.work(ctx)
	if err != nil {
		return 0, err
	}
	return code, w.leave()
}

func (w *World) work(ctx context.Context) (code int, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			w.fatal(fmt.Sprintf("%v\n\n%s", fault, debug.Stack()), ExitFailed)
		}
	}()
	w.must(w.wire.listen())
	w.watch.expect()
	w.watch.start()
	defer w.watch.stop()
	defer func() { w.pool.Close() }()
	for {
		m, err := w.next(ctx)
		if err != nil {
			return 0, err
		}
		if m.op() == opEnd {
			return int(m[arguments]), nil
		}
		w.do(&m)
	}
}

// next waits for a message.
func (w *World) next(ctx context.Context) (message, error) {
	w.await(func(spin time.Duration) (bool, error) {
		if ctx.Err() != nil {
			return true, nil
		}
		return w.hear(spin)
	})
	if w.pending == nil {
		return message{}, ctx.Err()
	}
	m := *w.pending
	w.pending = nil
	w.patient = m[placePatient] != 0
	return m, nil
}

// turn does what messages ask for until one says whether the work of a Chain goes on.
func (w *World) turn() bool {
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
func (w *World) do(m *message) {
	switch m.op() {
	case opPrepare:
		w.preparePart(m)
	case opReport:
		w.report()
	case opBind:
		w.bindPart(m)
	case opRelease:
		delete(w.bound, m[placeID])
	case opDigests:
		w.digests(m[arguments] != 0)
	default:
		w.compute(m)
	}
}

// compute calls a linearization.
func (w *World) compute(m *message) {
	l := w.bound[m[placeID]]
	if l == nil {
		panic(fmt.Sprintf("mpi: op %d of linearization %d, which is not there", m.op(), m[placeID]))
	}
	n := l.Dim()
	v, dst := w.scratch.vectors(w.wire, n)
	if m.op().vector() {
		w.during(&inVector, func() error { return w.wire.Bcast(v, 0) })
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
		dst := w.scratch.square(n)
		w.scratch.matrix = nil              // another may be asked for while this one waits for its turn
		_ = l.GaussNewtonMatrixTo(dst, nil) // which has no errors of its own
		w.scratch.matrix = dst
	default:
		panic(fmt.Sprintf("mpi: unknown op %d", m.op()))
	}
}

// square returns a matrix.
func (s *scratch) square(n int) *mat.SymDense {
	if s.matrix == nil || s.matrix.SymmetricDim() != n {
		s.matrix = mat.NewSymDense(n, nil)
	}
	return s.matrix
}

// preparation is what a process says of its try to prepare.
type preparation struct {
	Error                                         string
	TrainRows, TestRows, Inputs, Outputs, Weights int
	Network                                       string // a digest of it
	Data                                          string // a digest of what must be alike where the rows are others'
}

func prepared(p *objective.Problem, err error) preparation {
	if err != nil {
		return preparation{Error: err.Error()}
	}
	return preparation{
		TrainRows: p.Train.Total(), TestRows: p.Test.Total(),
		Inputs: p.Data.Inputs(), Outputs: p.Data.Outputs(), Weights: p.Network.Dim(),
		Network: p.NetworkDigest(), Data: likeness(p),
	}
}

// likeness returns a digest of the names and the scaling of a problem's data, which are those of all rows.
func likeness(p *objective.Problem) string {
	d, hash := p.Data, sha256.New()
	fmt.Fprintf(hash, "%q %q %q %q %q ", d.Name, d.Title, d.Classes, d.InputNames, d.TargetNames)
	fmt.Fprintf(hash, "%v %v %v", d.InputScaling, d.TargetScaling, d.Features)
	return hex.EncodeToString(hash.Sum(nil))
}

func (w *World) preparePart(m *message) {
	text := make([]byte, m[arguments])
	w.during(&inMessage, func() error { return w.wire.bcastBytes(text) })
	var c trainer.Config
	err := json.Unmarshal(text, &c)
	if err == nil {
		w.settle(&c)
		w.problem, err = c.PreparePart(w.Rank(), w.Size())
	}
	if err == nil {
		w.pool.Close()
		w.pool = models.NewPool(c.Threads)
	}
	clear(w.bound)
	w.said, err = json.Marshal(prepared(w.problem, err))
	w.must(err)
	w.must(w.wire.note(0, notePrepared))
}

// report says how preparePart went.
func (w *World) report() {
	w.during(&inGather, func() error {
		_, err := w.wire.Gather(w.said)
		return err
	})
}

// settle sets what a configuration leaves open.
func (w *World) settle(c *trainer.Config) {
	if c.Threads == 0 {
		c.Threads = w.charter.Threads[w.Rank()]
	}
}

func (w *World) bindPart(m *message) {
	runtime.GC() // as process 0 does
	rows, memory := readRows(m)
	l := w.bind(rows, models.Options{Pool: w.pool, Memory: memory})
	w.bound[m[placeID]] = l
	w.sumKept(l)
}

// bind binds the network to this process's part of some rows.
func (w *World) bind(rows objective.Rows, o models.Options) *models.Linearization {
	count := w.problem.Of(rows)
	first, last := models.NewTree(count).Rows(w.Rank(), w.Size())
	x, t, err := w.problem.Select(rows, first, last)
	w.must(err)
	o.Part = &models.Part{Rows: count, Rank: w.Rank(), Size: w.Size(), Joiner: &w.joiner}
	return w.problem.Network.Bind(x, t, o)
}

// digests returns in process 0 what all processes say of their rows.
func (w *World) digests(test bool) []byte {
	own := w.problem.Digests(test)
	w.meet()
	var said [][]byte
	w.during(&inGather, func() (err error) {
		said, err = w.wire.Gather(own)
		return err
	})
	var all []byte
	for _, part := range said {
		all = append(all, part...)
	}
	return all
}
