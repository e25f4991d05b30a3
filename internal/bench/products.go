package bench

import (
	"fmt"
	"time"

	"newtop/internal/kernel"
	"newtop/models/blas"
)

// Product is the speed of one matrix product on one core, its operands in the cache as far as they fit.
type Product struct {
	Name       string  `json:"name"`
	Rows       int     `json:"rows"`
	Columns    int     `json:"columns"`
	Inner      int     `json:"inner"` // terms in the sum of an element
	GFLOPS     float64 `json:"gflops"`
	BestGFLOPS float64 `json:"best_gflops"`
	PeakShare  float64 `json:"peak_share"` // GFLOPS as a fraction of the core's peak
	Goal       *Goal   `json:"goal,omitempty"`
}

// AllLetter names the Product that stands for all those of the letter net together, one after another.
const AllLetter = "letter"

// dataRows is how many rows of data a pass takes through the network at once.
const dataRows = 96

// The forms of the products of a pass through a layer.
const (
	forward  = "forward"  // W·u, beginning with the biases
	backward = "backward" // Wᵀ·δ
	gradient = "gradient" // δ·uᵀ, added to what other rows gave
)

// shape is a product of m × k and k × n.
type shape struct {
	form    string
	m, n, k int
}

func (s *shape) flops() float64 { return 2 * float64(s.m) * float64(s.n) * float64(s.k) }

// letterShapes are all the products of a gradient of 16-70-50-26 over dataRows rows.
var letterShapes = []shape{
	{forward, 70, dataRows, 16}, {forward, 50, dataRows, 70}, {forward, 26, dataRows, 50},
	{backward, 70, dataRows, 50}, {backward, 50, dataRows, 26},
	{gradient, 70, 16, dataRows}, {gradient, 50, 70, dataRows}, {gradient, 26, 50, dataRows},
}

// wantedShare is which share of its peak a core should reach at the letter shapes with vector instructions.
const wantedShare = 0.6

func measureProducts(c *clock, budget time.Duration, on *Machine, quick bool) []Product {
	large := shape{"large", 512, 512, 512}
	if quick {
		large = shape{"large", 256, 256, 256}
	}
	each := budget / time.Duration(len(letterShapes)+1)
	var out []Product
	var all timing
	flops := 0.0
	for _, s := range letterShapes {
		t := c.repeat(each, s.product())
		out = append(out, s.speed(t, on))
		all.median += t.median
		all.best += t.best
		flops += s.flops()
	}
	together := Product{Name: AllLetter, GFLOPS: flops / all.median, BestGFLOPS: flops / all.best}
	together.PeakShare = together.GFLOPS / on.PeakGFLOPS
	if kernel.Selected() != kernel.Generic {
		together.Goal = atLeast(together.PeakShare, wantedShare)
	}
	return append(out, together, large.speed(c.repeat(each, large.product()), on))
}

func (s *shape) speed(t timing, on *Machine) Product {
	p := Product{Name: s.form, Rows: s.m, Columns: s.n, Inner: s.k, GFLOPS: s.flops() / t.median, BestGFLOPS: s.flops() / t.best}
	p.PeakShare = p.GFLOPS / on.PeakGFLOPS
	return p
}

// product returns a call that computes the product once.
func (s *shape) product() func() {
	term := blas.Term[float64]{A: some(s.m * s.k), RowStride: s.k, ColStride: 1, B: some(s.k * s.n), Stride: s.n, K: s.k}
	start := blas.Zero
	switch s.form {
	case forward:
		start = blas.Bias
	case backward:
		term.RowStride, term.ColStride = 1, s.m
	case gradient:
		start = blas.Add
	case "large":
	default:
		panic(fmt.Sprintf("bench: product %q", s.form))
	}
	c, bias, terms := make([]float64, s.m*s.n), some(s.m), []blas.Term[float64]{term}
	return func() { blas.Sum(c, s.m, s.n, s.n, start, bias, terms) }
}

// some returns numbers within ±1 whose mean is nearly 0, none of them 0.
func some(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = (float64(i*7919%1021) - 510.5) / 511
	}
	return v
}
