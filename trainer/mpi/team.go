package mpi

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// team is a World as process 0's session sees it.
type team struct{ *World }

var _ trainer.Team = team{}

// Team returns what process 0's session trains with. From then on the others must be at work.
func (w *World) Team() trainer.Team {
	w.watch.expect()
	return team{w}
}

// Describe adds to a run's first event how many hosts there are, and how sums are added up if not in the fixed order.
func (t team) Describe(e *event.RunEvent) {
	hosts := slices.Clone(t.charter.Hosts)
	slices.Sort(hosts)
	e.Hosts = len(slices.Compact(hosts))
	if t.charter.Fast {
		e.Reduce = "fast"
	}
}

// tell sends a message to all other processes.
func (w *World) tell(m message) {
	w.patient = m[placePatient] != 0
	if w.Size() == 1 {
		return
	}
	w.during(&inMessage, func() error { return w.wire.ring(m) })
}

// Prepare has every process prepare its part, all at once, and compares what they have found.
func (t team) Prepare(c *trainer.Config) (*objective.Problem, error) {
	w := t.World
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	w.depth.Add(1)
	w.tell(message{placeOp: int64(opPrepare), arguments: int64(len(text))})
	w.during(&inMessage, func() error { return w.wire.bcastBytes(text) })
	w.settle(c)
	p, err := c.PreparePart(0, w.Size())
	own := prepared(p, err)
	said, encodeErr := json.Marshal(own)
	w.must(encodeErr)
	w.await(func(time.Duration) (bool, error) { return w.watch.allPrepared(), nil })
	w.tell(message{placeOp: int64(opReport)})
	var all [][]byte
	w.during(&inGather, func() (err error) {
		all, err = w.wire.Gather(said)
		return err
	})
	w.depth.Add(-1)
	if err != nil {
		return nil, err
	}
	for rank, said := range all {
		if err := w.differs(rank, said, &own); err != nil {
			return nil, err
		}
	}
	w.problem = p
	return p, nil
}

// differs returns an error if another process could not prepare its part, or has found something else.
func (w *World) differs(rank int, said []byte, own *preparation) error {
	var p preparation
	if err := json.Unmarshal(said, &p); err != nil {
		return fmt.Errorf("%s: %w", w.name(rank), err)
	}
	if p.Error != "" {
		return fmt.Errorf("%s: %s", w.name(rank), p.Error)
	}
	for _, f := range []struct {
		what        string
		here, there int
	}{
		{"training rows", own.TrainRows, p.TrainRows}, {"test rows", own.TestRows, p.TestRows},
		{"inputs", own.Inputs, p.Inputs}, {"outputs", own.Outputs, p.Outputs}, {"weights", own.Weights, p.Weights},
	} {
		if f.here != f.there {
			return fmt.Errorf("%s has found %d %s, %s %d: expected the same files on every host", w.name(rank), f.there, f.what, w.name(0), f.here)
		}
	}
	for _, f := range []struct{ what, here, there string }{
		{"another network", own.Network, p.Network}, {"other names or numbers in the data", own.Data, p.Data},
	} {
		if f.here != f.there {
			return fmt.Errorf("%s has found %s than %s: expected the same files on every host", w.name(rank), f.what, w.name(0))
		}
	}
	return nil
}

// Digests returns all processes' digests of a split, in order.
func (t team) Digests(test bool) []byte {
	t.depth.Add(1)
	t.tell(message{placeOp: int64(opDigests), placePatient: 1, arguments: truth(test)})
	all := t.digests(test)
	t.depth.Add(-1)
	return all
}

// writeRows adds to a message what Bind is asked for.
func writeRows(m *message, r objective.Rows, memory int64) {
	copy(m[arguments:], []int64{truth(r.Test), int64(r.First), int64(r.Step), int64(r.Count), memory})
}

// readRows is the reverse of writeRows.
func readRows(m *message) (r objective.Rows, memory int64) {
	a := m[arguments:]
	return objective.Rows{Test: a[0] != 0, First: int(a[1]), Step: int(a[2]), Count: int(a[3])}, a[4]
}

// linearization is that of process 0: what it is asked for the other processes do too.
type linearization struct {
	*models.Linearization
	w    *World
	id   int64
	kept int                // rows of all processes
	took [ops]time.Duration // how long each call took the last time; 0 before the first one
}

var _ objective.Linearization = (*linearization)(nil)

// forgotten collects the ids of linearizations that nobody uses.
type forgotten struct {
	mu  sync.Mutex
	ids []int64
}

func (f *forgotten) add(id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids = append(f.ids, id)
}

func (f *forgotten) take() (ids []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids, f.ids = f.ids, nil
	return ids
}

// release tells the others which linearizations nobody uses any more.
func (w *World) release() {
	for _, id := range w.forgotten.take() {
		w.tell(message{placeOp: int64(opRelease), placeID: id})
	}
}

// Bind binds the network to some rows in every process, each of which uses up to o.Memory. The others forget theirs when the
// garbage collector has found that process 0 has.
func (t team) Bind(rows objective.Rows, o models.Options) objective.Linearization {
	w := t.World
	runtime.GC() // what was bound before may be garbage, in all processes
	w.depth.Add(1)
	w.release()
	w.last++
	l := &linearization{w: w, id: w.last}
	m := message{placeOp: int64(opBind), placeID: l.id, placePatient: 1}
	writeRows(&m, rows, o.Memory)
	w.tell(m)
	l.Linearization = w.bind(rows, o)
	l.kept = w.sumKept(l.Linearization)
	w.depth.Add(-1)
	runtime.AddCleanup(l, w.forgotten.add, l.id)
	return l
}

// sumKept returns in process 0 how many rows all processes keep the passes of.
func (w *World) sumKept(l *models.Linearization) int {
	kept := []float64{float64(l.KeptRows())}
	w.meet()
	w.during(&inSum, func() error { return w.wire.Sum(kept) })
	return int(kept[0])
}

// patience is from when on a call took so long that the processes meet before its sum.
const patience = 100 * time.Millisecond

// call announces a call and makes it.
func (l *linearization) call(o op, v []float64, argument int64, own func()) {
	w := l.w
	began := time.Now()
	w.depth.Add(1)
	w.release()
	w.tell(message{
		placeOp: int64(o), placeID: l.id, arguments: argument,
		placePatient: truth(l.took[o] == 0 || l.took[o] > patience),
	})
	if o.vector() {
		w.during(&inVector, func() error { return w.wire.Bcast(v, 0) })
	}
	own()
	w.depth.Add(-1)
	l.took[o] = time.Since(began)
}

func (l *linearization) Update(v []float64) {
	l.call(opUpdate, v, truth(l.Asked()), func() { l.Linearization.Update(v) })
}

func (l *linearization) EvaluateAt(v []float64) (e models.Evaluation) {
	l.call(opEvaluate, v, 0, func() { e = l.Linearization.EvaluateAt(v) })
	return e
}

func (l *linearization) HessianTo(dst, v []float64) {
	l.call(opHessian, v, 0, func() { l.Linearization.HessianTo(dst, v) })
}

func (l *linearization) GaussNewtonTo(dst, v []float64) {
	l.call(opGaussNewton, v, 0, func() { l.Linearization.GaussNewtonTo(dst, v) })
}

func (l *linearization) GaussNewtonRowsTo(dst, v []float64) {
	l.call(opRows, v, 0, func() { l.Linearization.GaussNewtonRowsTo(dst, v) })
}

func (l *linearization) GaussNewtonDiagTo(dst []float64) {
	l.call(opDiagonal, nil, 0, func() { l.Linearization.GaussNewtonDiagTo(dst) })
}

func (l *linearization) GaussNewtonMatrixTo(dst *mat.SymDense, watch func(part, parts int) error) (err error) {
	l.call(opMatrix, nil, 0, func() { err = l.Linearization.GaussNewtonMatrixTo(dst, watch) })
	return err
}

// KeptRows returns of how many rows all processes together keep the passes.
func (l *linearization) KeptRows() int { return l.kept }
