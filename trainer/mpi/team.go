package mpi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// team is a Comm as process 0's session sees it.
type team struct{ *Comm }

var _ trainer.Team = team{}

// Team returns what process 0's session trains with. From then on the others must be at work.
func (c *Comm) Team() trainer.Team {
	c.watch.expect()
	return team{c}
}

// Describe adds to a run's first event how many hosts there are, and how sums are added up if not in the fixed order.
func (t team) Describe(e *event.RunEvent) {
	hosts := slices.Clone(t.config.Hosts)
	slices.Sort(hosts)
	e.Hosts = len(slices.Compact(hosts))
	if t.config.Fast {
		e.Reduce = "fast"
	}
}

// send sends a message to all other processes.
func (c *Comm) send(m message) {
	c.patient = m[indexPatient] != 0
	if c.Size() == 1 {
		return
	}
	c.during(&inMessage, func() error { return c.link.ring(m) })
}

// Prepare has every process prepare the problem, all at once, and compares what they have found.
func (t team) Prepare(problem *trainer.Config) (*objective.Problem, error) {
	c := t.Comm
	text, err := json.Marshal(problem)
	if err != nil {
		return nil, err
	}
	c.depth.Add(1)
	c.send(message{indexOp: int64(opPrepare), arguments: int64(len(text))})
	c.during(&inMessage, func() error { return c.link.bcastBytes(text) })
	c.resolveThreads(problem)
	p, err := trainer.PrepareShared(problem, c.Size())
	own := prepared(p, err)
	replies, encodeErr := json.Marshal(own)
	c.must(encodeErr)
	c.await(func(time.Duration) (bool, error) { return c.watch.allPrepared(), nil })
	c.send(message{indexOp: int64(opReport)})
	var all [][]byte
	c.during(&inGather, func() (err error) {
		all, err = c.link.Gather(replies)
		return err
	})
	c.depth.Add(-1)
	if err != nil {
		return nil, err
	}
	for rank, replies := range all {
		if err := c.differs(rank, replies, &own); err != nil {
			return nil, err
		}
	}
	c.problem = p
	return p, nil
}

// differs returns an error if another process could not prepare the problem, or has found something else.
func (c *Comm) differs(rank int, replies []byte, own *preparation) error {
	var p preparation
	if err := json.Unmarshal(replies, &p); err != nil {
		return fmt.Errorf("%s: %w", c.name(rank), err)
	}
	if p.Error != "" {
		return fmt.Errorf("%s: %s", c.name(rank), p.Error)
	}
	for i, here := range own.Found {
		switch there := p.Found[i]; {
		case here == there:
		case here.Digest != "":
			return fmt.Errorf("%s has found %s than %s: expected the same files on every host", c.name(rank), here.What,
				c.name(0))
		default:
			return fmt.Errorf("%s has found %d %s, %s %d: expected the same files on every host", c.name(rank),
				there.Count, here.What, c.name(0), here.Count)
		}
	}
	return nil
}

// writeRows adds to a message what Bind is asked for.
func writeRows(m *message, r objective.Rows, o *models.Options) {
	copy(m[arguments:], []int64{int64(r.Part), int64(r.First), int64(r.Step), int64(r.Count), o.Memory,
		boolToInt(o.Double)})
}

// readRows is the reverse of writeRows.
func readRows(m *message) (r objective.Rows, o models.Options) {
	a := m[arguments:]
	r = objective.Rows{Part: datasets.Part(a[0]), First: int(a[1]), Step: int(a[2]), Count: int(a[3])}
	return r, models.Options{Memory: a[4], Double: a[5] != 0}
}

// linearization is that of process 0: what it is asked for the other processes do too.
type linearization struct {
	*models.Linearization
	c         *Comm
	id        int64
	retained  int                // rows of all processes
	durations [ops]time.Duration // how long each call took the last time; 0 before the first one
}

var (
	_ objective.Linearization = (*linearization)(nil)
	_ io.Closer               = (*linearization)(nil)
)

// Bind binds the network to some rows in every process, each of which uses up to o.Memory. The others forget theirs
// when process 0's is closed, or the next problem is prepared.
func (t team) Bind(rows objective.Rows, o models.Options) objective.Linearization {
	c := t.Comm
	c.depth.Add(1)
	c.last++
	l := &linearization{c: c, id: c.last}
	m := message{indexOp: int64(opBind), indexID: l.id, indexPatient: 1}
	writeRows(&m, rows, &o)
	c.send(m)
	l.Linearization = c.bind(rows, o)
	l.retained = c.sumKept(l.Linearization)
	c.depth.Add(-1)
	return l
}

// sumKept returns in process 0 how many rows all processes keep the passes of.
func (c *Comm) sumKept(l *models.Linearization) int {
	kept := []float64{float64(l.RetainedRows())}
	c.meet()
	c.during(&inSum, func() error { return c.link.Sum(kept) })
	return int(kept[0])
}

// patience is from when on a call took so long that the processes meet before its sum.
const patience = 100 * time.Millisecond

// call announces a call and makes it.
func (l *linearization) call(o op, v []float64, argument int64, own func()) {
	c := l.c
	start := time.Now()
	c.depth.Add(1)
	c.send(message{
		indexOp: int64(o), indexID: l.id, arguments: argument,
		indexPatient: boolToInt(l.durations[o] == 0 || l.durations[o] > patience),
	})
	if o.hasVector() {
		c.during(&inVector, func() error { return c.link.Bcast(v, 0) })
	}
	own()
	c.depth.Add(-1)
	l.durations[o] = time.Since(start)
}

func (l *linearization) Update(v []float64) {
	l.call(opUpdate, v, boolToInt(l.Requested()), func() { l.Linearization.Update(v) })
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

// Close has the other processes forget theirs. Nothing may be asked of it any more.
func (l *linearization) Close() error {
	l.c.send(message{indexOp: int64(opRelease), indexID: l.id})
	return nil
}

// RetainedRows returns of how many rows all processes together keep the passes.
func (l *linearization) RetainedRows() int { return l.retained }

// preparation is what a process says of its try to prepare.
type preparation struct {
	Error string
	Found []finding
}

// finding is what all processes must have alike: a count, or a digest.
type finding struct {
	What, Digest string
	Count        int
}

func prepared(p *objective.Problem, err error) preparation {
	if err != nil {
		return preparation{Error: err.Error()}
	}
	return preparation{Found: []finding{
		{What: "training rows", Count: p.Train.Rows()}, {What: "validation rows", Count: p.Validation.Rows()},
		{What: "test rows", Count: p.Test.Rows()},
		{What: "inputs", Count: p.Data.Inputs()}, {What: "outputs", Count: p.Data.Outputs()},
		{What: "weights", Count: p.Network.Dim()},
		{What: "another network", Digest: objective.NetworkDigest(p.Network)},
		{What: "other names or numbers in the data", Digest: likeness(p)},
	}}
}

// likeness returns a digest of the names and the scaling of a problem's data, which are those of all rows.
func likeness(p *objective.Problem) string {
	d, hash := p.Data, sha256.New()
	fmt.Fprintf(hash, "%q %q %q %q %q ", d.Name, d.Title, d.Classes, d.InputNames, d.TargetNames)
	fmt.Fprintf(hash, "%v %v %v", d.InputScaling, d.TargetScaling, d.Features)
	return hex.EncodeToString(hash.Sum(nil))
}

// resolveThreads sets what a configuration leaves open.
func (c *Comm) resolveThreads(problem *trainer.Config) {
	if problem.Threads == 0 {
		problem.Threads = c.config.Threads[c.Rank()]
	}
}

// bind binds the network to this process's part of some rows.
func (c *Comm) bind(rows objective.Rows, o models.Options) *models.Linearization {
	count := c.problem.Of(rows)
	first, last := reduce.NewTree(count).Rows(c.Rank(), c.Size())
	x, t := c.problem.Select(rows, first, last)
	o.Part = &reduce.Part{Rows: count, Rank: c.Rank(), Size: c.Size(), Joiner: &c.reducer}
	return c.problem.Network.Bind(x, t, o)
}
