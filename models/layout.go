package models

import (
	"fmt"
	"slices"

	"newtop/models/internal/pass"
)

// Probabilities reports whether the outputs of a row are those of a softmax, which sum to 1.
func (n *layout) Probabilities() bool { return n.net.Activations[n.net.Last()] == pass.Softmax }

// layout says which weights of an Architecture lie where in the flat vector.
type layout struct {
	arch     Architecture
	blocks   []Block // by ascending To, then From
	biases   []Bias  // by ascending Layer
	net      *pass.Net
	matrices []WeightMatrix
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

// Bias is where the biases b^l of a layer lie in the flat vector.
type Bias struct{ Layer, Offset, Nodes int }

// WeightMatrix is a dense block of weights W^{lr} as a matrix: Rows × Cols = N_To × N_From, row-major from Offset on.
// Biased: the biases b^l of the same nodes lie directly behind it, so that [W b] is a matrix of Rows × (Cols + 1).
type WeightMatrix struct {
	To, From, Rows, Cols, Offset int
	Biased                       bool
}

// layOut gives every weight its place in the flat vector.
func (n *layout) layOut() {
	net := n.net
	if m := n.arch.Mixture; m != nil {
		net.Mixture = &pass.Mixture{Feature: m.Feature, Period: m.Period, Experts: make([]int, len(m.Gates))}
		for _, g := range m.Gates {
			net.Mixture.Gates = append(net.Mixture.Gates, pass.Gate(g))
		}
	}
	next := 0
	for _, c := range n.arch.Connections {
		for l := len(n.biases) + 1; l < c.To; l++ {
			next = n.appendBias(l, next)
		}
		if c.Gate > 0 {
			net.GateOf[c.From], net.Mixture.Experts[c.Gate-1] = c.Gate, c.From
			continue
		}
		next = n.appendBlock(c, next)
	}
	if net.Mixture == nil {
		net.Dim = n.appendBias(net.Last(), next)
		return
	}
	net.Mixture.Offset = next
	net.Dim = next + 3*len(net.Mixture.Experts)
}

// appendBlock puts the weights of a connection at next and returns the place behind them.
func (n *layout) appendBlock(c Connection, next int) int {
	net := n.net
	b := pass.Block{To: c.To, From: c.From, Offset: next, Rows: net.Nodes[c.To], Cols: net.Nodes[c.From]}
	if c.Sources != nil {
		b.Sparse = &c.Sources.sparse
	}
	n.blocks = append(n.blocks, Block{b.To, b.From, b.Offset, b.Rows, b.Cols, c.Sources})
	net.Blocks = append(net.Blocks, b)
	net.Incoming[b.To] = append(net.Incoming[b.To], b)
	net.Outgoing[b.From] = append(net.Outgoing[b.From], b)
	return next + b.Size()
}

// appendBias puts the biases of layer l at next and returns the place behind them.
func (n *layout) appendBias(l, next int) int {
	b := Bias{l, next, n.net.Nodes[l]}
	n.biases = append(n.biases, b)
	n.net.Biases = append(n.net.Biases, pass.Bias(b))
	return next + b.Nodes
}

// findMatrices lists the dense blocks.
func (n *layout) findMatrices() {
	for _, b := range n.blocks {
		if b.Sources == nil {
			biased := n.biases[b.To-1].Offset == b.Offset+b.Size()
			n.matrices = append(n.matrices, WeightMatrix{b.To, b.From, b.Rows, b.Cols, b.Offset, biased})
		}
	}
}

// output returns what the network's outputs are, and what they are measured by.
func (n *layout) output() (pass.Activation, pass.Loss) {
	return n.net.Activations[n.net.Last()], n.net.Loss
}

// Architecture returns a copy of what the network was made from, the connections in layout order.
func (n *layout) Architecture() Architecture { return n.arch.clone() }

// Dim returns N, the number of weights and biases, the parameters of gates included.
func (n *layout) Dim() int { return n.net.Dim }

// Inputs returns N_0.
func (n *layout) Inputs() int { return n.net.Nodes[0] }

// Columns returns the number of columns of x: the inputs, and behind them the features that only gates see.
func (n *layout) Columns() int { return n.net.Columns }

// Outputs returns N_L.
func (n *layout) Outputs() int { return n.net.Outputs() }

// Blocks returns the blocks of weights in the order of the flat vector. It must not be changed.
func (n *layout) Blocks() []Block { return n.blocks }

// Biases returns the biases in the order of the flat vector; the last layer of a mixture has none. It must
// not be changed.
func (n *layout) Biases() []Bias { return n.biases }

// Matrices returns the dense blocks as matrices, in the order of the flat vector. Of the blocks into a layer the last
// one is Biased, unless it is sparse. It must not be changed.
func (n *layout) Matrices() []WeightMatrix { return n.matrices }

// Gates returns where the parameters of the gates lie in the flat vector, behind all other weights: three
// for each of count gates, log(a/a₀), log(b/b₀) and (c − c₀)/a₀, a₀, b₀ and c₀ being width, slope and center
// of the gate in the Architecture. Without a mixture count is 0.
func (n *layout) Gates() (offset, count int) {
	if n.net.Mixture == nil {
		return n.net.Dim, 0
	}
	return n.net.Mixture.Offset, n.net.GateCount()
}

// ExpertDim returns the number of weights before the gates' parameters: of all experts together, or Dim.
func (n *layout) ExpertDim() int {
	offset, _ := n.Gates()
	return offset
}

// GatesAt returns the gates that the weights w stand for, nil without a mixture.
func (n *layout) GatesAt(w []float64) []Gate {
	n.checkWeights("GatesAt", "w", w)
	var gates []Gate
	for i := range n.net.GateCount() {
		gates = append(gates, Gate(pass.GateAt(n.net.Mixture, w, i)))
	}
	return gates
}

// From how many weights of a block of a network on they are too many for a core's second-level cache, so that threads
// share the work on nodes: of a batch, whose bits depend on it, and of all rows.
const wideBatch, wideRows = 1 << 18, 1 << 17

// wide reports whether a block of the network has that many weights.
func (n *layout) wide(weights int) bool {
	return slices.ContainsFunc(n.net.Blocks, func(b pass.Block) bool { return b.Size() >= weights })
}

// plain reports whether all blocks are dense, and there are no gates.
func (n *layout) plain() bool {
	return n.net.Mixture == nil && !slices.ContainsFunc(n.net.Blocks,
		func(b pass.Block) bool { return b.Sparse != nil })
}

func (n *layout) checkWeights(name, which string, w []float64) {
	if len(w) != n.net.Dim {
		panic(fmt.Sprintf("models: %s: %s has %d numbers, the network %d weights", name, which, len(w), n.net.Dim))
	}
}

func (n *layout) checkMatrix(name, which string, m Matrix, rows, cols int) {
	if r, c := m.Dims(); r != rows || c != cols {
		panic(fmt.Sprintf("models: %s: %s is %d × %d, expected %d × %d", name, which, r, c, rows, cols))
	}
}
