// Package pass carries blocks of rows of data through a network, forwards and back: outputs, losses, gradients,
// products with the Hessian and the Gauss–Newton matrix, the latter's diagonal, and rows of the Jacobian. Package
// models says what the letters and indices mean, and shares the blocks out.
package pass

import (
	"slices"
)

// Net is what passes know of a network: its layers, and where the weights between them lie in the flat vector. It is
// not changed once it is made.
type Net struct {
	Nodes       []int        // N_l for l = 0…L
	Activations []Activation // of layers 1…L; that of the inputs says nothing
	Loss        Loss
	Columns     int       // of the data: the inputs, and behind them what only gates see
	Blocks      []Block   // by ascending To, then From
	Biases      []Bias    // by ascending Layer
	Incoming    [][]Block // the blocks into layer l, by ascending From
	Outgoing    [][]Block // the blocks out of layer l, by ascending To
	Mixture     *Mixture  // what the last layer is, if it is a mixture of experts
	GateOf      []int     // i + 1 where layer l is expert i, else 0
	Dim         int       // of the flat vector
}

// Block is where the weights W^{lr} from layer From to layer To lie in the flat vector: a matrix of Rows × Cols from
// Offset on, row-major, or what a sparse one has of it.
type Block struct {
	To, From, Offset, Rows, Cols int

	Sparse *Sparse // nil for a dense block
}

// Size returns the number of weights.
func (b *Block) Size() int {
	if b.Sparse != nil {
		return b.Sparse.Len()
	}
	return b.Rows * b.Cols
}

func weightsOf[F Float](b *Block, w []F) []F {
	size := b.Size()
	return w[b.Offset:][:size:size]
}

// RowSpan returns where the weights of row i are, from the block's first.
func (b *Block) RowSpan(i int) (from, to int) {
	if b.Sparse != nil {
		return b.Sparse.Start[i], b.Sparse.Start[i+1]
	}
	return i * b.Cols, (i + 1) * b.Cols
}

// row returns the weights of row i.
func rowOf[F Float](b *Block, w []F, i int) []F {
	from, to := b.RowSpan(i)
	return weightsOf(b, w)[from:to]
}

// Bias is where the biases b^l of a layer lie in the flat vector.
type Bias struct{ Layer, Offset, Nodes int }

func biasesOf[F Float](b Bias, w []F) []F { return w[b.Offset:][:b.Nodes:b.Nodes] }

// Last returns L.
func (n *Net) Last() int { return len(n.Nodes) - 1 }

// Outputs returns N_L.
func (n *Net) Outputs() int { return n.Nodes[n.Last()] }

// out returns the activation of the output layer.
func (n *Net) out() Activation { return n.Activations[n.Last()] }

// mixes reports whether layer l combines experts.
func (n *Net) mixes(l int) bool { return n.Mixture != nil && l == n.Last() }

// GateCount returns the number of gates.
func (n *Net) GateCount() int {
	if n.Mixture == nil {
		return 0
	}
	return len(n.Mixture.Experts)
}

// bias returns where the biases of layer l are; the last layer of a mixture has none.
func (n *Net) bias(l int) Bias {
	if n.mixes(l) {
		return Bias{l, n.Mixture.Offset, 0}
	}
	return n.Biases[l-1]
}

// Hidden returns n_B, the number of weights that are not into the output layer: all of a mixture's.
func (n *Net) Hidden() int {
	if n.Mixture != nil {
		return n.Dim
	}
	return n.Incoming[n.Last()][0].Offset // they come first
}

// Lone reports whether layer l is an expert whose δ_k is 0 in all nodes but k.
func (n *Net) Lone(l int) bool {
	return n.GateOf[l] > 0 && len(n.Outgoing[l]) == 0 && n.Activations[l] != Softmax && n.out() != Softmax
}

// Single reports whether δ_k of layer l is 0 in all nodes but k.
func (n *Net) Single(l int) bool {
	return n.Lone(l) || l == n.Last() && n.Mixture == nil && n.out() != Softmax
}

// shares reports whether δ_k of layer l has a part that is the same for every output k: see shareOutputs.
func (n *Net) shares(l int) bool {
	return n.out() == Softmax && slices.ContainsFunc(n.Outgoing[l], func(b Block) bool { return b.To == n.Last() })
}

// Loss is what the outputs of a network are measured by: E_p, the sum over the outputs of one row. With B the curvature
// ∂²E_p/∂u∂uᵀ, which must not be negative, and J the derivatives of the outputs u^L by their net inputs v^L, B' = JᵀBJ
// is the curvature that the Gauss–Newton matrix sees. A loss may be one with the activation of the outputs, whose
// derivatives then cancel; B' is then all of the curvature at v^L.
type Loss interface {
	// Name returns what files and flags call it.
	Name() string
	// Refuse says what outputs of an activation that it can't measure are, and which are expected; "" for those that it
	// can.
	Refuse(out Activation) string
	// Of returns the part of E_p that an output u with this activation has, for the target t.
	Of(u, t float64, out Activation) float64

	// keeps returns how many numbers tp.kept of that many outputs has a row: what layer.pullKeep keeps, where it is
	// called, and behind it the loss's own.
	keeps(out Activation, outputs int) int
	// The loss is −log p(y|u), but for a constant, of some distribution p of targets y. draws returns how many random
	// numbers a target is made of that is drawn from it, and normal whether these are standard normal numbers; else
	// they are uniform in [0, 1).
	draws(out Activation, outputs int) int
	normal() bool
}

// NodeCount returns how many nodes Delta is of.
func (n *Net) NodeCount() int { return n.NodeOffset(n.Last()) + n.LayerNodes(n.Last()) }

// NodeOffset returns the first of them that belongs to a layer, 1 to L.
func (n *Net) NodeOffset(layer int) int {
	at := 0
	for _, nodes := range n.Nodes[1:layer] {
		at += nodes
	}
	return at
}

// LayerNodes returns how many of them belong to a layer.
func (n *Net) LayerNodes(layer int) int {
	if n.mixes(layer) {
		return 3 * n.GateCount()
	}
	return n.Nodes[layer]
}
