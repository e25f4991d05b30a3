package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"newtop/models/reduce"
	"newtop/trainer/mpi"
)

// Exchange is what process 0 waits until all processes have what it sends and it has a sum of theirs: the one of Bytes, the
// other a single number of 8 bytes. Only so has a broadcast, or a reduction, an end that one process sees.
type Exchange struct {
	What     string  `json:"what"`
	Bytes    int     `json:"bytes"`
	MedianUS float64 `json:"median_us"`
	BestUS   float64 `json:"best_us"`
	Times    int     `json:"times"` // it was measured
}

// What of an Exchange has its Bytes: the message to all, or the sum, in MPI's order or in the tree's.
const (
	ToAll      = "broadcast"
	FastSum    = "sum"
	OrderedSum = "sum-in-order"
)

// exchangeSizes are how many numbers have been measured: 8 bytes, 48 KB, 1 MB and 80 MB.
var exchangeSizes = []int{1, 6000, 125_000, 10_000_000}

// mostExchanges of one kind are measured, and a few more.
const mostExchanges = 2000

// MeasureExchanges is called in all processes at once, of which there are two at least. It returns what process 0 measured, nil
// in the others. The context is process 0's: if it ends, MeasureExchanges returns its error there, and the others must be ended.
func MeasureExchanges(ctx context.Context, c mpi.Collectives, o ScaleOptions) ([]Exchange, error) {
	o.fill()
	sizes := exchangeSizes
	if o.Quick {
		sizes = sizes[:len(sizes)-1]
	}
	most := sizes[len(sizes)-1]
	e := &exchanger{Collectives: c, down: c.Alloc(most), up: c.Alloc(most), node: make([]float64, most), count: c.Alloc(1), one: c.Alloc(1)}
	for _, x := range [][]float64{e.down, e.up, e.node} {
		clear(x) // so that there is memory behind it
	}
	// Trees of as many leaves as processes: a node each, as powers of two have of any tree.
	e.tree = reduce.NewTree(reduce.BlockRows * c.Size())
	if err := e.settle(); err != nil {
		return nil, err
	}
	budget := o.Budget * 40 / 100 / time.Duration(3*len(sizes))
	var list []Exchange
	for _, n := range sizes {
		for _, what := range []string{ToAll, FastSum, OrderedSum} {
			if what == ToAll && n == 1 {
				continue // as FastSum
			}
			if c.Rank() == 0 {
				o.Progress(fmt.Sprintf("%s of %d bytes", what, 8*n))
			}
			ns, err := e.measure(ctx, budget, e.exchange(what, n))
			if err != nil {
				return nil, err
			}
			t := summarize(ns)
			list = append(list, Exchange{What: what, Bytes: 8 * n, MedianUS: t.median / 1e3, BestUS: t.best / 1e3, Times: len(ns)})
		}
	}
	if c.Rank() != 0 {
		return nil, nil
	}
	return list, nil
}

// exchanger has what exchanges need, allocated once.
type exchanger struct {
	mpi.Collectives
	down, up   []float64
	node       []float64 // which MPI knows nothing of, as in training
	count, one []float64
	tree       reduce.Tree
}

// settle exchanges until the system has found each process a processor of its own, if there are as many: those that wait for
// others keep theirs busy.
func (e *exchanger) settle() error {
	const long = 300 * time.Millisecond
	for began := time.Now(); ; {
		e.count[0] = 1
		if time.Since(began) > long {
			e.count[0] = 0
		}
		if err := either(e.Bcast(e.count, 0), func() error { return e.Sum(e.one) }); err != nil || e.count[0] == 0 {
			return err
		}
	}
}

// exchange returns one of n numbers.
func (e *exchanger) exchange(what string, n int) func() error {
	down, up := e.down[:n], e.up[:n]
	nodes := make([][]float64, len(e.tree.Nodes(e.Rank(), e.Size())))
	for i := range nodes {
		nodes[i] = e.node[:n] // there is one at most
	}
	there := func(x []float64) error { return e.Bcast(x, 0) }
	switch what {
	case ToAll:
		return func() error { return either(there(down), func() error { return e.Sum(e.one) }) }
	case FastSum:
		return func() error { return either(there(e.one), func() error { return e.Sum(up) }) }
	case OrderedSum:
		return func() error { return either(there(e.one), func() error { return e.SumFixed(e.tree, up, nodes) }) }
	}
	panic(fmt.Sprintf("bench: exchange %q", what))
}

// either returns an error, or what next does.
func either(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

// turns is in how many parts the measurement of an exchange is: each has as many as fit in by the fastest of the one before, so that
// one slow beginning does not decide.
const turns = 4

// measure has all processes do the same exchange as often as process 0 says, which times each.
func (e *exchanger) measure(ctx context.Context, budget time.Duration, exchange func() error) (ns []float64, err error) {
	if err := exchange(); err != nil { // to warm up
		return nil, err
	}
	times := 1
	for range 1 + turns {
		e.count[0] = float64(times)
		if err := e.Bcast(e.count, 0); err != nil {
			return nil, err
		}
		for range int(e.count[0]) {
			if e.Rank() == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			began := time.Now()
			if err := exchange(); err != nil {
				return nil, err
			}
			ns = append(ns, float64(max(1, time.Since(began))))
		}
		times = int(min(mostExchanges/turns, max(1, float64(budget/turns)/slices.Min(ns))))
	}
	return ns, nil
}
