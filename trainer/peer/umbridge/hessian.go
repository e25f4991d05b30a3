package umbridge

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"newtop/trainer/peer"
)

// hessianAt is the product of the Hessian with v, the sum of those of all pairs of inputs.
func (c *Client) hessianAt(dst, w, v []float64) error {
	if !finite(w) || !finite(v) {
		fill(dst, math.NaN())
		return nil
	}
	fill(dst, 0)
	for i, rows := 0, dst; i < len(c.inputs); i++ {
		n := c.inputs[i]
		for j, rest := 0, v; n > 0 && j < len(c.inputs); j++ {
			m := c.inputs[j]
			if m > 0 {
				if err := c.addBlock(rows[:n], w, rest[:m], i, j); err != nil {
					return err
				}
			}
			rest = rest[m:]
		}
		rows = rows[n:]
	}
	c.orient(dst)
	return nil
}

// addBlock adds the product of the block of rows of input i and columns of input j.
func (c *Client) addBlock(dst, w, v []float64, i, j int) error {
	if c.vecFirst {
		i, j = j, i
	}
	part := c.sum[:len(dst)]
	r := c.request().index("outWrt", 0).index("inWrt1", i).index("inWrt2", j).vector("sens", one).vector(
		"vec", v).input(w)
	if err := c.product(part, "/ApplyHessian", r); err != nil {
		return err
	}
	add(dst, part)
	return nil
}

// tryHessian finds out whether the server answers for the Hessian, and, as the protocol does not say, whether vec is a
// change of the input inWrt2 or inWrt1: by differences of gradients near the first weights. Where neither agrees, or
// the server refuses its own products (Python's compares their length with that of the output), it has no Hessian, and
// a finding says so.
func (c *Client) tryHessian() error {
	n := c.about.Dim
	w, v, want, got := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	draw := rand.New(rand.NewPCG(1, 2))
	for i, x := range c.start {
		w[i] = x + 0.01*(1+math.Abs(x))*draw.NormFloat64() // away from the start, where blocks may vanish
		v[i] = draw.NormFloat64()
	}
	several := len(c.about.Blocks) > 1
	if several {
		if err := c.differences(want, w, v); err != nil {
			return err
		}
	}
	var why string
	for _, c.vecFirst = range []bool{false, true}[:min(2, len(c.about.Blocks))] {
		var refused *answerError
		why = "products differ from differences of gradients"
		switch err := c.hessianAt(got, w, v); {
		case errors.As(err, &refused):
			why = refused.Error()
		case err != nil:
			return err
		case !several || near(got, want):
			c.about.Has = append(c.about.Has, peer.HasHessian)
			return nil
		}
	}
	c.about.Findings = append(c.about.Findings, peer.Finding{
		What: "ApplyHessian is not used", Where: fmt.Sprintf("model %s: %s", c.about.Name, why),
		Remedy: "repair it there, or leave it: products are differences of gradients",
	})
	return nil
}

// differences is the product of the Hessian with v by central differences of gradients; NaN if the server refuses
// these.
func (c *Client) differences(dst, w, v []float64) error {
	size := 1.0
	for _, x := range w {
		size = max(size, math.Abs(x))
	}
	h := 1e-5 * size
	g, at := make([]float64, len(w)), make([]float64, len(w))
	fill(dst, 0)
	for _, side := range []float64{h, -h} {
		for i := range at {
			at[i] = w[i] + side*v[i]
		}
		var refused *answerError
		switch err := c.slopeAt(g, at); {
		case errors.As(err, &refused):
			fill(g, math.NaN())
		case err != nil:
			return err
		}
		for i := range g {
			dst[i] += g[i] / (2 * side)
		}
	}
	return nil
}

// near reports whether two vectors differ by at most a thousandth of the larger.
func near(x, y []float64) bool {
	var diff, size float64
	for i := range x {
		diff = math.Hypot(diff, x[i]-y[i])
		size = math.Hypot(size, math.Max(math.Abs(x[i]), math.Abs(y[i])))
	}
	return diff <= 1e-3*size
}
