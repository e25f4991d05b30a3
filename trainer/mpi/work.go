package mpi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"newtop/models"
	"newtop/trainer"

	"gonum.org/v1/gonum/mat"
)

// Work does in any other process what process 0 asks for until it says that this is over, takes leave of MPI and returns the
// exit code that process 0 said. What breaks meanwhile ends the process by Options.Fatal. Work does not look at signals,
// which launchers send to all processes: process 0 ends the run in order. It returns ctx's error, and the Comm is broken
// then, if ctx ends while there is nothing to do.
func (c *Comm) Work(ctx context.Context) (code int, err error) {
	code, err = c.work(ctx)
	if err != nil {
		return 0, err
	}
	return code, c.leave()
}

func (c *Comm) work(ctx context.Context) (code int, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			c.fatal(fmt.Sprintf("%v\n\n%s", fault, debug.Stack()), ExitFailed)
		}
	}()
	c.must(c.link.listen())
	c.watch.expect()
	c.watch.start()
	defer c.watch.stop()
	defer func() { c.pool.Close() }()
	for {
		m, err := c.next(ctx)
		if err != nil {
			return 0, err
		}
		if m.op() == opEnd {
			return int(m[arguments]), nil
		}
		c.do(&m)
	}
}

// next waits for a message.
func (c *Comm) next(ctx context.Context) (message, error) {
	c.await(func(spin time.Duration) (bool, error) {
		if ctx.Err() != nil {
			return true, nil
		}
		return c.hear(spin)
	})
	if c.pending == nil {
		return message{}, ctx.Err()
	}
	m := *c.pending
	c.pending = nil
	c.patient = m[placePatient] != 0
	return m, nil
}

// turn does what messages ask for until one says whether the work of a Chain goes on.
func (c *Comm) turn() bool {
	for {
		m, _ := c.next(context.Background())
		switch m.op() {
		case opGo:
			return true
		case opGiveUp:
			return false
		}
		c.do(&m)
	}
}

// do does what a message asks for, and the same as process 0 does meanwhile.
func (c *Comm) do(m *message) {
	switch m.op() {
	case opPrepare:
		c.preparePart(m)
	case opReport:
		c.report()
	case opBind:
		c.bindPart(m)
	case opRelease:
		delete(c.bound, m[placeID])
	case opDigests:
		c.digests(m[arguments] != 0)
	default:
		c.compute(m)
	}
}

// compute calls a linearization.
func (c *Comm) compute(m *message) {
	l := c.bound[m[placeID]]
	if l == nil {
		panic(fmt.Sprintf("mpi: op %d of linearization %d, which is not there", m.op(), m[placeID]))
	}
	n := l.Dim()
	v, dst := c.scratch.vectors(c.link, n)
	if m.op().vector() {
		c.during(&inVector, func() error { return c.link.Bcast(v, 0) })
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
		dst := c.scratch.square(n)
		c.scratch.matrix = nil              // another may be asked for while this one waits for its turn
		_ = l.GaussNewtonMatrixTo(dst, nil) // which has no errors of its own
		c.scratch.matrix = dst
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
	Error string
	Found []finding
}

// finding is what all processes must have alike: a count, or a digest.
type finding struct {
	What, Digest string
	Count        int
}

func prepared(p *trainer.Problem, err error) preparation {
	if err != nil {
		return preparation{Error: err.Error()}
	}
	return preparation{Found: []finding{
		{What: "training rows", Count: p.Train.Total()}, {What: "test rows", Count: p.Test.Total()},
		{What: "inputs", Count: p.Data.Inputs()}, {What: "outputs", Count: p.Data.Outputs()}, {What: "weights", Count: p.Network.Dim()},
		{What: "another network", Digest: p.NetworkDigest()}, {What: "other names or numbers in the data", Digest: likeness(p)},
	}}
}

// likeness returns a digest of the names and the scaling of a problem's data, which are those of all rows.
func likeness(p *trainer.Problem) string {
	d, hash := p.Data, sha256.New()
	fmt.Fprintf(hash, "%q %q %q %q %q ", d.Name, d.Title, d.Classes, d.InputNames, d.TargetNames)
	fmt.Fprintf(hash, "%v %v %v", d.InputScaling, d.TargetScaling, d.Features)
	return hex.EncodeToString(hash.Sum(nil))
}

func (c *Comm) preparePart(m *message) {
	text := make([]byte, m[arguments])
	c.during(&inMessage, func() error { return c.link.bcastBytes(text) })
	var problem trainer.Config
	err := json.Unmarshal(text, &problem)
	if err == nil {
		c.settle(&problem)
		c.problem, err = problem.PreparePart(c.Rank(), c.Size())
	}
	if err == nil {
		c.pool.Close()
		c.pool = models.NewPool(problem.Threads)
	}
	clear(c.bound)
	c.said, err = json.Marshal(prepared(c.problem, err))
	c.must(err)
	c.must(c.link.note(0, notePrepared))
}

// report says how preparePart went.
func (c *Comm) report() {
	c.during(&inGather, func() error {
		_, err := c.link.Gather(c.said)
		return err
	})
}

// settle sets what a configuration leaves open.
func (c *Comm) settle(problem *trainer.Config) {
	if problem.Threads == 0 {
		problem.Threads = c.config.Threads[c.Rank()]
	}
}

func (c *Comm) bindPart(m *message) {
	rows, memory := readRows(m)
	l := c.bind(rows, models.Options{Pool: c.pool, Memory: memory})
	c.bound[m[placeID]] = l
	c.sumKept(l)
}

// bind binds the network to this process's part of some rows.
func (c *Comm) bind(rows trainer.Rows, o models.Options) *models.Linearization {
	count := c.problem.Of(rows)
	first, last := models.NewTree(count).Rows(c.Rank(), c.Size())
	x, t, err := c.problem.Select(rows, first, last)
	c.must(err)
	o.Part = &models.Part{Rows: count, Rank: c.Rank(), Size: c.Size(), Joiner: &c.reducer}
	return c.problem.Network.Bind(x, t, o)
}

// digests returns in process 0 what all processes say of their rows.
func (c *Comm) digests(test bool) []byte {
	own := c.problem.Digests(test, c.Rank(), c.Size())
	c.meet()
	var said [][]byte
	c.during(&inGather, func() (err error) {
		said, err = c.link.Gather(own)
		return err
	})
	var all []byte
	for _, part := range said {
		all = append(all, part...)
	}
	return all
}
