package models

import (
	"fmt"

	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// Network is an Architecture with the layout of its flat weight vector. It is immutable and safe for
// concurrent use.
type Network struct {
	layout
	precision Precision // of passes
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
		GateOf:      make([]int, last+1), Incoming: make([][]pass.Block, last+1),
		Outgoing: make([][]pass.Block, last+1)}
	for l := range last + 1 {
		net.Nodes = append(net.Nodes, a.nodes(l))
	}
	for _, l := range a.Layers {
		net.Activations = append(net.Activations, pass.Activation(l.Activation))
	}
	n := &Network{layout: layout{arch: a, net: net}}
	n.layOut()
	n.findMatrices()
	return n, nil
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

// In returns the network with passes in another precision.
func (n *Network) In(p Precision) *Network {
	in := *n
	in.precision = p
	return &in
}

// Precision returns that of the network's passes.
func (n *Network) Precision() Precision { return n.precision }
