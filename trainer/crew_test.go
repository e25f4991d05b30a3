package trainer

import (
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/workplace"
)

// crew is a Team of goroutines, each with rows of its own. The session's goroutine sends every other one what to do, does
// its own part and waits for theirs.
type crew struct {
	t        *testing.T
	size     int
	narrow   bool // whether rank 0 has no room for the rows of others
	problems []*objective.Problem
	orders   []chan order
	sums     []chan nodesOf // to rank 0 from each
	added    []chan bool    // back
	chain    []chan link    // to each from the rank before, to rank 0 from the last
}

// order is what a rank is to do, and who waits for it.
type order struct {
	do   func()
	done *sync.WaitGroup
}

func (o *order) obey() {
	o.do()
	o.done.Done()
}

type nodesOf struct {
	nodes []reduce.Node
	sums  [][]float64
}

type link struct {
	x    []float64
	goOn bool
}

func newCrew(t *testing.T, size int) *crew {
	c := &crew{t: t, size: size, problems: make([]*objective.Problem, size)}
	for range size {
		orders := make(chan order, 1)
		c.orders = append(c.orders, orders)
		c.sums = append(c.sums, make(chan nodesOf))
		c.added = append(c.added, make(chan bool))
		c.chain = append(c.chain, make(chan link, 1))
		go func() {
			for order := range orders {
				order.obey()
			}
		}()
	}
	t.Cleanup(func() {
		for _, orders := range c.orders {
			close(orders)
		}
	})
	return c
}

// all has every rank do its part, this goroutine that of rank 0.
func (c *crew) all(f func(rank int)) {
	var done sync.WaitGroup
	done.Add(c.size - 1)
	for rank := 1; rank < c.size; rank++ {
		c.orders[rank] <- order{func() { f(rank) }, &done}
	}
	f(0)
	done.Wait()
}

func (c *crew) Size() int                  { return c.size }
func (c *crew) Describe(e *event.RunEvent) { e.Hosts = 1 }

func (c *crew) Prepare(config *config.Config) (*objective.Problem, error) {
	errs := make([]error, c.size)
	c.all(func(rank int) { c.problems[rank], errs[rank] = workplace.PrepareShared(config, c.size) })
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return c.problems[0], nil
}

func (c *crew) Bind(rows objective.Rows, o models.Options) objective.Linearization {
	l := &crewed{crew: c, parts: make([]*models.Linearization, c.size)}
	c.all(func(rank int) {
		p, o := c.problems[rank], o
		n := p.Of(rows)
		first, last := reduce.NewTree(n).Rows(rank, c.size)
		x, t := p.Select(rows, first, last)
		o.Part = &reduce.Part{Rows: n, Rank: rank, Size: c.size, Joiner: &seat{c, rank}}
		if rank > 0 {
			o.Pool = nil
		}
		l.parts[rank] = p.Network.Bind(x, t, o)
	})
	return l
}

// seat is a rank of a crew as a Joiner.
type seat struct {
	*crew
	rank int
}

func (s *seat) Sum(tree reduce.Tree, dst []float64, nodes [][]float64) {
	mine := nodesOf{tree.Nodes(s.rank, s.size), nodes}
	if s.rank > 0 {
		s.sums[s.rank] <- mine
		<-s.added[s.rank]
		return
	}
	for rank := 1; rank < s.size; rank++ {
		theirs := <-s.sums[rank]
		mine.nodes, mine.sums = append(mine.nodes, theirs.nodes...), append(mine.sums[:len(mine.sums):len(mine.sums)], theirs.sums...)
	}
	copy(dst, tree.Combine(mine.nodes, mine.sums))
	for rank := 1; rank < s.size; rank++ {
		s.added[rank] <- true
	}
}

func (s *seat) Chain(x []float64, add func() (goOn bool)) {
	goOn := true
	if s.rank > 0 {
		before := s.turn()
		goOn = before.goOn
		copy(x, before.x)
	}
	if goOn {
		goOn = add()
	}
	s.chain[(s.rank+1)%s.size] <- link{slices.Clone(x), goOn}
	if s.rank == 0 {
		copy(x, (<-s.chain[0]).x)
	}
}

// turn waits for the numbers of the rank before, and does what rank 0 asks for in the middle of its own.
func (s *seat) turn() link {
	for {
		select {
		case before := <-s.chain[s.rank]:
			select {
			case order := <-s.orders[s.rank]: // which came before the numbers, so that these are for it
				s.chain[s.rank] <- before
				order.obey()
			default:
				return before
			}
		case order := <-s.orders[s.rank]:
			order.obey()
		}
	}
}

// crewed is a Linearization whose parts are a crew's.
type crewed struct {
	*crew
	parts []*models.Linearization
}

func (l *crewed) mine() *models.Linearization { return l.parts[0] }

// Close has whatever is asked afterwards panic.
func (l *crewed) Close() error {
	l.parts = nil
	return nil
}

func (l *crewed) Update(w []float64) { l.all(func(rank int) { l.parts[rank].Update(w) }) }

func (l *crewed) EvaluateAt(w []float64) (e models.Evaluation) {
	l.all(func(rank int) {
		if part := l.parts[rank].EvaluateAt(w); rank == 0 {
			e = part
		}
	})
	return e
}

func (l *crewed) each(dst []float64, f func(part *models.Linearization, dst []float64)) {
	l.all(func(rank int) {
		if rank > 0 {
			dst := make([]float64, len(dst))
			f(l.parts[rank], dst)
			return
		}
		f(l.mine(), dst)
	})
}

func (l *crewed) HessianTo(dst, v []float64) {
	l.each(dst, func(p *models.Linearization, dst []float64) { p.HessianTo(dst, v) })
}

func (l *crewed) GaussNewtonTo(dst, v []float64) {
	l.each(dst, func(p *models.Linearization, dst []float64) { p.GaussNewtonTo(dst, v) })
}

func (l *crewed) GaussNewtonRowsTo(dst, v []float64) {
	l.each(dst, func(p *models.Linearization, dst []float64) { p.GaussNewtonRowsTo(dst, v) })
}

func (l *crewed) GaussNewtonDiagTo(dst []float64) {
	l.each(dst, func(p *models.Linearization, dst []float64) { p.GaussNewtonDiagTo(dst) })
}

func (l *crewed) GaussNewtonMatrixTo(dst *mat.SymDense, watch func(part, parts int) error) (err error) {
	l.all(func(rank int) {
		if rank > 0 {
			_ = l.parts[rank].GaussNewtonMatrixTo(mat.NewSymDense(l.Dim(), nil), nil)
			return
		}
		err = l.mine().GaussNewtonMatrixTo(dst, watch)
	})
	return err
}

func (l *crewed) Expect(products bool)          { l.all(func(rank int) { l.parts[rank].Expect(products) }) }
func (l *crewed) Evaluation() models.Evaluation { return l.mine().Evaluation() }
func (l *crewed) Loss() float64                 { return l.mine().Loss() }
func (l *crewed) GradientTo(dst []float64)      { l.mine().GradientTo(dst) }
func (l *crewed) Dim() int                      { return l.mine().Dim() }
func (l *crewed) Rows() int                     { return l.mine().Rows() }
func (l *crewed) Current() bool                 { return l.mine().Current() }
func (l *crewed) Requested() bool               { return l.mine().Requested() }

func (l *crewed) RetainedRows() (rows int) {
	for _, part := range l.parts {
		rows += part.RetainedRows()
	}
	return rows
}
