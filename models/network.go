package models

import (
	"fmt"
	"slices"

	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// Network is an Architecture with the layout of its flat weight vector. It is immutable and safe for
// concurrent use.
type Network struct {
	arch   Architecture
	blocks []Block // by ascending To, then From
	biases []Bias  // by ascending Layer
	net    *pass.Net

	matrices []WeightMatrix

	precision Precision // of passes
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

// NewNetwork returns the network of an architecture, or an *ArchitectureError. Softmax with squared
// error is allowed; cross-entropy needs softmax or sigmoid outputs.
func NewNetwork(a Architecture) (*Network, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	a = a.clone()
	last := len(a.Layers)
	net := &pass.Net{Loss: pass.Losses[a.Loss], Columns: a.Inputs + a.Features,
		Activations: make([]pass.Activation, 1, last+1),
		GateOf:      make([]int, last+1), Incoming: make([][]pass.Block, last+1), Outgoing: make([][]pass.Block, last+1)}
	for l := range last + 1 {
		net.Nodes = append(net.Nodes, a.nodes(l))
	}
	for _, l := range a.Layers {
		net.Activations = append(net.Activations, pass.Activation(l.Activation))
	}
	n := &Network{arch: a, net: net}
	n.layOut()
	n.findMatrices()
	return n, nil
}

// layOut gives every weight its place in the flat vector.
func (n *Network) layOut() {
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
			next = n.placeBias(l, next)
		}
		if c.Gate > 0 {
			net.GateOf[c.From], net.Mixture.Experts[c.Gate-1] = c.Gate, c.From
			continue
		}
		next = n.placeBlock(c, next)
	}
	if net.Mixture == nil {
		net.Dim = n.placeBias(net.Last(), next)
		return
	}
	net.Mixture.Offset = next
	net.Dim = next + 3*len(net.Mixture.Experts)
}

// placeBlock puts the weights of a connection at next and returns the place behind them.
func (n *Network) placeBlock(c Connection, next int) int {
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

// placeBias puts the biases of layer l at next and returns the place behind them.
func (n *Network) placeBias(l, next int) int {
	b := Bias{l, next, n.net.Nodes[l]}
	n.biases = append(n.biases, b)
	n.net.Biases = append(n.net.Biases, pass.Bias(b))
	return next + b.Nodes
}

// findMatrices lists the dense blocks.
func (n *Network) findMatrices() {
	for _, b := range n.blocks {
		if b.Sources == nil {
			biased := n.biases[b.To-1].Offset == b.Offset+b.Size()
			n.matrices = append(n.matrices, WeightMatrix{b.To, b.From, b.Rows, b.Cols, b.Offset, biased})
		}
	}
}

// output returns what the network's outputs are, and what they are measured by.
func (n *Network) output() (pass.Activation, pass.Loss) {
	return n.net.Activations[n.net.Last()], n.net.Loss
}

// Architecture returns a copy of what the network was made from, the connections in layout order.
func (n *Network) Architecture() Architecture { return n.arch.clone() }

// Dim returns N, the number of weights and biases, the parameters of gates included.
func (n *Network) Dim() int { return n.net.Dim }

// Inputs returns N_0.
func (n *Network) Inputs() int { return n.net.Nodes[0] }

// Columns returns the number of columns of x: the inputs, and behind them the features that only gates see.
func (n *Network) Columns() int { return n.net.Columns }

// Outputs returns N_L.
func (n *Network) Outputs() int { return n.net.Outputs() }

// Blocks returns the blocks of weights in the order of the flat vector. It must not be changed.
func (n *Network) Blocks() []Block { return n.blocks }

// Biases returns the biases in the order of the flat vector; the last layer of a mixture has none. It must
// not be changed.
func (n *Network) Biases() []Bias { return n.biases }

// Matrices returns the dense blocks as matrices, in the order of the flat vector. Of the blocks into a layer the last
// one is Biased, unless it is sparse. It must not be changed.
func (n *Network) Matrices() []WeightMatrix { return n.matrices }

// Gates returns where the parameters of the gates lie in the flat vector, behind all other weights: three
// for each of count gates, log(a/a₀), log(b/b₀) and (c − c₀)/a₀, a₀, b₀ and c₀ being width, slope and center
// of the gate in the Architecture. Without a mixture count is 0.
func (n *Network) Gates() (offset, count int) {
	if n.net.Mixture == nil {
		return n.net.Dim, 0
	}
	return n.net.Mixture.Offset, n.net.GateCount()
}

// ExpertDim returns the number of weights before the gates' parameters: of all experts together, or Dim.
func (n *Network) ExpertDim() int {
	offset, _ := n.Gates()
	return offset
}

// GatesAt returns the gates that the weights w stand for, nil without a mixture.
func (n *Network) GatesAt(w []float64) []Gate {
	n.checkWeights("GatesAt", "w", w)
	var gates []Gate
	for i := range n.net.GateCount() {
		gates = append(gates, Gate(pass.GateAt(n.net.Mixture, w, i)))
	}
	return gates
}

// Bind returns a Linearization of the network on the rows of x and t, which are rows × Columns and rows
// × Outputs and must not change as long as it is used. It has no weights before the first Update. Inputs
// and targets should be finite: a NaN reaches all that depends on it, but of the generic kernel's products, which skip
// weights that are exactly 0.
func (n *Network) Bind(x, t Matrix, o Options) *Linearization {
	if o.Memory < 0 {
		panic(fmt.Sprintf("models: Bind: memory of %d bytes", o.Memory))
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	rows, all := n.checkRows(x, t, o.Part)
	return newLinearization(n, x, t, rows, all, o)
}

// Linearize is Bind with default Options, on the caller alone, and Update.
func (n *Network) Linearize(w []float64, x, t Matrix) *Linearization {
	l := n.Bind(x, t, Options{})
	l.Update(w)
	return l
}

// checkRows returns how many rows x and t have, and how many there are with other processes'.
func (n *Network) checkRows(x, t Matrix, part *reduce.Part) (rows, all int) {
	if !none(x) {
		rows, _ = x.Dims()
	}
	all = rows
	if part != nil {
		if part.Joiner == nil {
			panic("models: Bind: a part without a Joiner")
		}
		all = part.Rows
		if first, last := reduce.NewTree(all).Rows(part.Rank, part.Size); rows != last-first {
			panic(fmt.Sprintf("models: Bind: %d rows, process %d of %d has %d of %d", rows, part.Rank, part.Size,
				last-first, all))
		}
	}
	if all == 0 {
		panic("models: Bind: no rows")
	}
	if rows > 0 {
		n.checkMatrix("Bind", "x", x, rows, n.Columns())
		n.checkMatrix("Bind", "t", t, rows, n.Outputs())
	}
	return rows, all
}

// From how many weights of a block of a network on they are too many for a core's second-level cache, so that threads
// share the work on nodes: of a batch, whose bits depend on it, and of all rows.
const wideBatch, wideRows = 1 << 18, 1 << 17

// wide reports whether a block of the network has that many weights.
func (n *Network) wide(weights int) bool {
	return slices.ContainsFunc(n.net.Blocks, func(b pass.Block) bool { return b.Size() >= weights })
}

// plain reports whether all blocks are dense, and there are no gates.
func (n *Network) plain() bool {
	return n.net.Mixture == nil && !slices.ContainsFunc(n.net.Blocks,
		func(b pass.Block) bool { return b.Sparse != nil })
}

func (n *Network) checkWeights(name, which string, w []float64) {
	if len(w) != n.net.Dim {
		panic(fmt.Sprintf("models: %s: %s has %d numbers, the network %d weights", name, which, len(w), n.net.Dim))
	}
}

func (n *Network) checkMatrix(name, which string, m Matrix, rows, cols int) {
	if r, c := m.Dims(); r != rows || c != cols {
		panic(fmt.Sprintf("models: %s: %s is %d × %d, expected %d × %d", name, which, r, c, rows, cols))
	}
}
