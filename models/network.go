package models

import (
	"gonum.org/v1/gonum/mat"

	"newtop/models/reduce"
)

// Network is an Architecture with the layout of its flat weight vector. It is immutable and safe for
// concurrent use.
type Network struct {
	arch     Architecture
	nodes    []int     // N_l for l = 0…L
	blocks   []Block   // by ascending To, then From
	biases   []Bias    // by ascending Layer
	incoming [][]Block // the blocks into layer l, by ascending From
	outgoing [][]Block // the blocks out of layer l, by ascending To
	mix      *mixing   // what the last layer is, if it is a mixture of experts
	gateOf   []int     // i + 1 where layer l is expert i, else 0
	dim      int
}

// Block is where the weights W^{lr} from layer From to layer To lie in the flat vector: Size numbers from
// Offset on, row-major. The matrix is Rows × Cols = N_To × N_From. If Sources is not nil, the block is
// sparse: row i has weights for the columns Sources.Of(i) only, in that order.
type Block struct {
	To, From, Offset, Rows, Cols int

	Sources *Sources
}

// Size returns the number of weights.
func (b Block) Size() int {
	if b.Sources != nil {
		return b.Sources.Len()
	}
	return b.Rows * b.Cols
}

func (b Block) of(w []float64) []float64 {
	size := b.Size()
	return w[b.Offset:][:size:size]
}

// row returns the weights of row i.
func (b Block) row(w []float64, i int) []float64 {
	if b.Sources != nil {
		return b.of(w)[b.Sources.start[i]:b.Sources.start[i+1]]
	}
	return b.of(w)[i*b.Cols:][:b.Cols]
}

// Bias is where the biases b^l of a layer lie in the flat vector.
type Bias struct{ Layer, Offset, Nodes int }

func (b Bias) of(w []float64) []float64 { return w[b.Offset:][:b.Nodes:b.Nodes] }

// NewNetwork returns the network of an architecture, or an *ArchitectureError. Softmax with squared
// error is allowed; cross-entropy needs softmax or sigmoid outputs.
func NewNetwork(a Architecture) (*Network, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	a = a.clone()
	last := len(a.Layers)
	n := &Network{arch: a, gateOf: make([]int, last+1),
		incoming: make([][]Block, last+1), outgoing: make([][]Block, last+1)}
	for l := range last + 1 {
		n.nodes = append(n.nodes, a.nodes(l))
	}
	n.layOut()
	return n, nil
}

// layOut gives every weight its place in the flat vector.
func (n *Network) layOut() {
	if m := n.arch.Mixture; m != nil {
		n.mix = &mixing{Mixture: m, experts: make([]int, len(m.Gates))}
	}
	next := 0
	for _, c := range n.arch.Connections {
		for l := len(n.biases) + 1; l < c.To; l++ {
			next = n.placeBias(l, next)
		}
		if c.Gate > 0 {
			n.gateOf[c.From], n.mix.experts[c.Gate-1] = c.Gate, c.From
			continue
		}
		b := Block{c.To, c.From, next, n.nodes[c.To], n.nodes[c.From], c.Sources}
		n.blocks = append(n.blocks, b)
		n.incoming[b.To] = append(n.incoming[b.To], b)
		n.outgoing[b.From] = append(n.outgoing[b.From], b)
		next += b.Size()
	}
	if n.mix == nil {
		n.dim = n.placeBias(n.last(), next)
		return
	}
	n.mix.offset = next
	n.dim = next + 3*len(n.mix.experts)
}

// placeBias puts the biases of layer l at next and returns the place behind them.
func (n *Network) placeBias(l, next int) int {
	n.biases = append(n.biases, Bias{l, next, n.nodes[l]})
	return next + n.nodes[l]
}

// Architecture returns a copy of what the network was made from, the connections in layout order.
func (n *Network) Architecture() Architecture { return n.arch.clone() }

// Dim returns N, the number of weights and biases, the parameters of gates included.
func (n *Network) Dim() int { return n.dim }

// Inputs returns N_0.
func (n *Network) Inputs() int { return n.nodes[0] }

// Columns returns the number of columns of x: the inputs, and behind them the features that only gates see.
func (n *Network) Columns() int { return n.nodes[0] + n.arch.Features }

// Outputs returns N_L.
func (n *Network) Outputs() int { return n.nodes[n.last()] }

// Blocks returns the blocks of weights in the order of the flat vector. It must not be changed.
func (n *Network) Blocks() []Block { return n.blocks }

// Biases returns the biases in the order of the flat vector; the last layer of a mixture has none. It must
// not be changed.
func (n *Network) Biases() []Bias { return n.biases }

func (n *Network) last() int                   { return len(n.nodes) - 1 }
func (n *Network) activation(l int) Activation { return n.arch.Layers[l-1].Activation }

// bias returns where the biases of layer l are; the last layer of a mixture has none.
func (n *Network) bias(l int) Bias {
	if n.mixes(l) {
		return Bias{l, n.mix.offset, 0}
	}
	return n.biases[l-1]
}

// fused reports whether layer l is an output whose loss cancels its activation's derivative.
func (n *Network) fused(l int) bool { return l == n.last() && n.arch.Loss == CrossEntropy }

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
}

// Cost returns what the network costs per row.
func (n *Network) Cost() Cost {
	var c Cost
	c.Rows, c.Matrix = n.rowCost()
	outputs := float64(n.Outputs())
	for _, b := range n.blocks {
		weights := float64(b.Size())
		c.Loss += weights
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
		if b.To < n.last() && !n.lone(b.To) {
			c.Diagonal += outputs * weights
			continue
		}
		c.Diagonal += weights // one row of the block for each output
		if n.activation(n.last()) == Softmax {
			c.Diagonal += weights // what all outputs share
		}
	}
	return c
}

// OutputTo stores the outputs at weights w for the rows of x in dst. x is rows × Columns and dst is
// rows × Outputs; they must not overlap.
func (n *Network) OutputTo(dst *mat.Dense, w []float64, x *mat.Dense) {
	n.checkWeights("OutputTo", "w", w)
	rows, _ := x.Dims()
	n.checkMatrix("OutputTo", "x", x, rows, n.Columns())
	n.checkMatrix("OutputTo", "dst", dst, rows, n.Outputs())
	s := n.newScratch(min(rows, reduce.BlockRows))
	for first := 0; first < rows; first += reduce.BlockRows {
		s.setRows(min(reduce.BlockRows, rows-first))
		tp := &s.own
		gather(tp.u[0], x.RawMatrix(), first, s.rows)
		s.forward(w, tp)
		s.finish(tp)
		scatter(dst.RawMatrix(), tp.u[n.last()], first, s.rows)
	}
}
