package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/bench/papers"
	"newtop/models"
	"newtop/models/reduce"
)

// Letter is what the passes and products of 16-70-50-26 take, tanh throughout and squared error, means over Rows.
type Letter struct {
	Threads int    `json:"threads"`
	Kept    bool   `json:"kept"` // whether products find the passes they need, or do them anew
	Rows    int    `json:"rows"`
	Weights int    `json:"weights"`
	Passes  []Pass `json:"passes"`
}

// Pass is one of them. Gradients is the median of its time over that of a gradient in the same round; of a gradient with a
// product it is papers.ProductPrice, over a gradient alone.
type Pass struct {
	Name           string  `json:"name"`
	MedianMS       float64 `json:"median_ms"`
	BestMS         float64 `json:"best_ms"`
	GFLOPS         float64 `json:"gflops"` // of matrix products, at the median
	Gradients      float64 `json:"gradients"`
	AllocatedBytes uint64  `json:"allocated_bytes"`
	Goal           *Goal   `json:"goal,omitempty"` // of Gradients
}

// The passes.
const (
	passGradient    = "gradient"
	passAlone       = "gradient-alone" // of a linearization that nobody asks for products
	passLoss        = "loss"
	passGaussNewton = "gauss-newton"
	passHessian     = "hessian"
	passBoth        = "gradient+hessian"
	passDiagonal    = "diagonal"
)

// wantedGradients bounds what a product on kept passes costs beside a gradient, and both together [M].
var wantedGradients = map[string]float64{passHessian: 1.7, passGaussNewton: 1.3, passBoth: 2.5}

const letterRows = 16000

// problem is a network with weights, a direction and data, all the same on every call.
type problem struct {
	net  *models.Network
	w, v []float64
	x, t *mat.Dense
}

// newProblem has layers 16-70-50-26 times scale, tanh, squared error, normal inputs and targets ±1.
func newProblem(scale float64, rows int) *problem {
	nodes := func(n float64) int { return int(scale * n) }
	return newProblemOf([]int{nodes(16), nodes(70), nodes(50), nodes(26)}, rows, models.Tanh, models.SquaredError)
}

// newProblemOf has as many nodes in its layers, hidden ones of tanh, and normal inputs. Targets are ±1 of the squared error, else 0
// and 1.
func newProblemOf(nodes []int, rows int, out models.Activation, loss models.LossFunction) *problem {
	last := len(nodes) - 1
	net, err := models.NewNetwork(models.Chain(nodes[0], nodes[1:last], nodes[last], models.Tanh, out, loss, models.SkipNone))
	if err != nil {
		panic(fmt.Sprintf("bench: %v", err))
	}
	start, err := models.ParseInit("uniform:0.2")
	if err != nil {
		panic(fmt.Sprintf("bench: %v", err))
	}
	p := &problem{net: net, w: make([]float64, net.Dim()), v: make([]float64, net.Dim()),
		x: mat.NewDense(rows, nodes[0], nil), t: mat.NewDense(rows, nodes[last], nil)}
	rng := rand.New(rand.NewPCG(1, 2))
	net.InitTo(p.w, start, rng)
	for i := range p.v {
		p.v[i] = rng.NormFloat64()
	}
	low := 0.0
	if loss == models.SquaredError {
		low = -1
	}
	for row := range rows {
		x, t := p.x.RawRowView(row), p.t.RawRowView(row)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for k := range t {
			t[k] = low
		}
		t[rng.IntN(len(t))] = 1
	}
	return p
}

// bind returns the problem's linearization on its first rows.
func (p *problem) bind(rows int, o models.Options) *models.Linearization {
	part := func(m *mat.Dense) *mat.Dense { return m.Slice(0, rows, 0, m.RawMatrix().Cols).(*mat.Dense) }
	l := p.net.Bind(part(p.x), part(p.t), o)
	l.Update(p.w)
	return l
}

// nothing is a memory that has no room for any block of rows.
const nothing = 1

func measureLetter(c *clock, budget time.Duration, o *Options) []Letter {
	p := newProblem(1, o.Rows)
	list := []Letter{{Threads: o.Threads, Kept: true}, {Threads: 1, Kept: true}, {Threads: o.Threads}, {Threads: 1}}
	if o.Quick {
		list = list[:3]
	}
	if o.Threads == 1 {
		list = []Letter{list[0], list[2]}
	}
	for i := range list {
		l := &list[i]
		l.Rows, l.Weights = o.Rows, p.net.Dim()
		memory := int64(nothing)
		if l.Kept {
			memory = models.DefaultMemory
		}
		l.Passes = measurePasses(c, budget/time.Duration(len(list)), p, memory, l.Threads)
	}
	for i := range list[0].Passes {
		if f := &list[0].Passes[i]; wantedGradients[f.Name] > 0 {
			f.Goal = atMost(f.Gradients, wantedGradients[f.Name])
		}
	}
	return list
}

// passCall is a pass, and how many multiplications it does for a row.
type passCall struct {
	name            string
	multiplications float64
	call            func()
}

// passes returns all passes, the slow diagonal last. Products follow each gradient of l and none of alone, which must be
// another linearization: what the one writes down for them the other leaves out.
func (p *problem) passes(l, alone *models.Linearization) []passCall {
	dst := make([]float64, p.net.Dim())
	cost := p.net.Cost()
	anew := cost.Gradient - cost.Loss // forward and backward, of a product that finds nothing kept
	if l.RetainedRows() == p.x.RawMatrix().Rows {
		anew = 0
	}
	update := func() { l.Update(p.w) }
	hessian := func() { l.HessianTo(dst, p.v) }
	return []passCall{
		{passGradient, cost.Gradient, update},
		{passAlone, cost.Gradient, func() { alone.Update(p.w) }},
		{passLoss, cost.Loss, func() { l.EvaluateAt(p.w) }},
		{passGaussNewton, cost.GaussNewton + anew, func() { l.GaussNewtonTo(dst, p.v) }},
		{passHessian, cost.Hessian + anew, hessian},
		{passBoth, cost.Gradient + cost.Hessian + anew, func() { update(); hessian() }},
		{passDiagonal, cost.Diagonal + anew, func() { l.GaussNewtonDiagTo(dst) }},
	}
}

// measurePasses measures all passes on so many threads, the slow diagonal apart from the others.
func measurePasses(c *clock, budget time.Duration, p *problem, memory int64, threads int) []Pass {
	pool := reduce.NewPool(threads)
	defer pool.Close()
	rows := p.x.RawMatrix().Rows
	o := models.Options{Pool: pool, Memory: memory}
	list := p.passes(p.bind(rows, o), p.bind(rows, o))
	last := len(list) - 1
	alone := slices.IndexFunc(list, func(f passCall) bool { return f.name == passAlone })
	calls := make([]func(), last)
	for i := range calls {
		calls[i] = list[i].call
	}
	ns := c.rounds(budget*4/5, calls...)
	slow := c.rounds(budget/5, calls[0], list[last].call)
	out := make([]Pass, len(list))
	for i, f := range list {
		own, other := slow[1], slow[0]
		if i < last {
			own, other = ns[i], ns[0]
		}
		t := summarize(own)
		gradients := ratio(own, other)
		if f.name == passBoth {
			gradients = papers.ProductPrice(own, ns[alone])
		}
		out[i] = Pass{Name: f.name, Gradients: gradients, GFLOPS: 2 * f.multiplications * float64(rows) / t.median}
		out[i].MedianMS, out[i].BestMS = t.milliseconds()
		if c.ctx.Err() == nil {
			out[i].AllocatedBytes = allocated(f.call)
		}
	}
	return out
}
