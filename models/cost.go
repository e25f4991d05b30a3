package models

import "newtop/models/internal/pass"

// Cost counts the multiplications of the matrix products that a row of data takes, everything kept
// that a Linearization keeps. Weights that leave the inputs cost less than others, for neither a
// derivative along the inputs nor one back to them is needed. Elementwise work, of the order of the
// nodes, is left out.
type Cost struct {
	Loss        float64 // the forward pass
	Gradient    float64 // forward and backward pass and the gradient itself
	GaussNewton float64 // one product with the Gauss–Newton matrix
	Hessian     float64 // one product with the Hessian
	Diagonal    float64 // the Gauss–Newton matrix's diagonal
	Rows        float64 // one product with the Gauss–Newton matrix through explicit Jacobian rows
	Matrix      float64 // the Gauss–Newton matrix itself
	Squares     float64 // the gradient and the squares of each row's own (Batch.GradientSquaresTo)
}

// Cost returns what the network costs per row.
func (n *layout) Cost() Cost {
	var c Cost
	c.Rows, c.Matrix = rowCost(n)
	outputs := float64(n.Outputs())
	for _, b := range n.blocks {
		weights := float64(b.Size())
		c.Loss += weights
		c.Squares += weights
		c.Diagonal += weights
		if b.From == 0 {
			c.Gradient += 2 * weights
			c.GaussNewton += 2 * weights
			c.Hessian += 2 * weights
			continue
		}
		c.Gradient += 3 * weights
		c.GaussNewton += 4 * weights
		c.Hessian += 6 * weights
		if b.To < n.net.Last() && !n.net.Lone(b.To) {
			c.Diagonal += outputs * weights
			continue
		}
		c.Diagonal += weights // one row of the block for each output
		if n.net.Activations[n.net.Last()] == pass.Softmax {
			c.Diagonal += weights // what all outputs share
		}
	}
	c.Squares += c.Gradient
	return c
}

// factorCost returns what the passes of K-FAC's factors cost per row, and the squares of layers that they are the means
// of.
func factorCost(n *layout, moments *pass.Moments) float64 {
	cost := 0
	for _, b := range n.blocks {
		cost += b.Size()
		if b.From > 0 {
			cost += b.Size()
		}
	}
	for l, nodes := range n.net.Nodes {
		for _, m := range []pass.Moment{moments.Inputs[l], moments.Outputs[l]} {
			switch {
			case m.Whole:
				cost += pass.SquareCost(nodes)
			case m.At >= 0:
				cost += nodes
			}
		}
	}
	return float64(cost)
}

// rowCost counts the multiplications that explicit rows take for each row of data: one product through them,
// and the assembly of the matrix.
func rowCost(n *layout) (product, matrix float64) {
	outputs, softmax := float64(n.Outputs()), n.net.Activations[n.net.Last()] == pass.Softmax
	for _, b := range n.blocks {
		weights := float64(b.Size())
		if b.To < n.net.Last() {
			product += 3 * outputs * weights // form, row·v, α·row
			switch {                         // back through the block
			case b.From > 0 && n.net.Lone(b.To):
				product += weights
				matrix += weights
			case b.From > 0:
				product += outputs * weights
				matrix += outputs * weights
			}
			continue
		}
		product += 2 * weights
		if b.From > 0 {
			product += weights
			matrix += weights
		}
		if softmax && b.From > 0 { // what all outputs share
			product += weights
			matrix += weights
		}
	}
	return product, matrix + formCost(n) + pairs(n)
}

// formCost counts what it takes to form what the matrix is assembled from.
func formCost(n *layout) float64 {
	if n.Outputs() == 1 {
		weights := 0
		for _, b := range n.blocks {
			weights += b.Size()
		}
		return float64(weights)
	}
	nodes := float64(n.net.NodeCount())
	return nodes*nodes*float64(n.Outputs()) + nodes*float64(n.net.Dim)
}

// pairs counts the pairs of weights that some output feels both of, each with itself included.
func pairs(n *layout) float64 {
	pairs := func(n int) float64 { return float64(n) * float64(n+1) / 2 }
	single, all, own := 0, pairs(n.net.Dim), make([]int, n.Outputs()) // weights that one output alone feels
	for l := 1; l <= n.net.Last(); l++ {
		if !n.net.Single(l) {
			continue
		}
		for k := range own {
			weights := 1
			for _, b := range n.net.Incoming[l] {
				from, to := b.RowSpan(k)
				weights += to - from
			}
			single += weights
			own[k] += weights
		}
	}
	all -= pairs(single)
	for _, weights := range own {
		all += pairs(weights)
	}
	return all
}
