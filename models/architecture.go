package models

import (
	"fmt"
	"slices"
	"sort"

	"newtop/models/internal/pass"
)

// Layer is one layer of nodes.
type Layer struct {
	Name       string     `json:"name"` // for readers only
	Nodes      int        `json:"nodes"`
	Activation Activation `json:"activation"`
}

// Connection joins layer From to layer To. Layer 0 is the inputs.
type Connection struct {
	To, From int
	// Sources says which nodes of From each node of To takes from. Nil: every node takes from all.
	Sources *Sources
	// Gate is 0, or i + 1 if gate i of the Mixture weighs the layer From as a whole. Such a connection
	// has no weights and joins equal nodes.
	Gate int
}

// Architecture describes a network. Layers[0] is layer 1, and the last layer is the output. A layer
// may take from any earlier ones. Every node must take from some node; a node may feed none.
type Architecture struct {
	Inputs      int
	Layers      []Layer
	Connections []Connection
	Loss        LossFunction
	Mixture     *Mixture // what the last layer is, if not nil; that layer then has no biases
	Features    int      // columns of x behind the inputs, which only the Mixture's gates see
}

// ArchitectureError says why an architecture is not a network. Layer is 0 when no layer is at fault.
type ArchitectureError struct {
	Layer  int
	Name   string // the layer's, may be empty
	Reason string
}

func (e *ArchitectureError) Error() string {
	switch {
	case e.Layer == 0:
		return "network: " + e.Reason
	case e.Name == "":
		return fmt.Sprintf("layer %d: %s", e.Layer, e.Reason)
	}
	return fmt.Sprintf("layer %d (%q): %s", e.Layer, e.Name, e.Reason)
}

// Chain returns layers in a row, each fed by the one before, with skips. Hidden layers have the
// activation act, the output layer out.
func Chain(inputs int, hidden []int, outputs int, act, out Activation, loss LossFunction, skip Skip) Architecture {
	a := Architecture{Inputs: inputs, Loss: loss}
	for i, nodes := range hidden {
		a.Layers = append(a.Layers, Layer{fmt.Sprintf("hidden %d", i+1), nodes, act})
	}
	a.Layers = append(a.Layers, Layer{"output", outputs, out})
	last := len(a.Layers)
	for to := 1; to <= last; to++ {
		for from := range to {
			direct := skip == SkipDirect && from == 0 && to == last
			if from == to-1 || skip == SkipAll || direct {
				a.Connections = append(a.Connections, Connection{To: to, From: from})
			}
		}
	}
	return a
}

// clone returns a deep copy with the connections in the order of the flat weight vector.
func (a Architecture) clone() Architecture {
	a.Layers = slices.Clone(a.Layers)
	a.Connections = slices.Clone(a.Connections)
	a.Mixture = a.Mixture.clone()
	of := a.Connections
	sort.Slice(of, func(i, j int) bool { // not slices.SortFunc, whose copies for structs take 10 kB of the program each
		return of[i].To < of[j].To || of[i].To == of[j].To && of[i].From < of[j].From
	})
	return a
}

// maxParameters bounds the weights of a network (16 GiB of them), so that a slip of the hand in a file
// of layers ends in an error and not in an allocation that can't succeed.
const maxParameters = 1 << 31

// check returns an *ArchitectureError unless every number is in range, every layer is fed and is of
// use to the outputs, and the loss fits the output layer.
func (a *Architecture) check() error {
	if a.Inputs < 1 {
		return &ArchitectureError{Reason: fmt.Sprintf("%d inputs: expected at least 1", a.Inputs)}
	}
	if len(a.Layers) == 0 {
		return &ArchitectureError{Reason: "no layers: expected at least an output layer"}
	}
	for i := range a.Layers {
		if err := a.checkLayer(i + 1); err != nil {
			return err
		}
	}
	if err := a.checkConnections(); err != nil {
		return err
	}
	if err := a.checkMixture(); err != nil {
		return err
	}
	return a.checkLoss()
}

func (a *Architecture) fault(layer int, format string, args ...any) error {
	return &ArchitectureError{Layer: layer, Name: a.Layers[layer-1].Name, Reason: fmt.Sprintf(format, args...)}
}

func (a *Architecture) checkLayer(l int) error {
	layer := &a.Layers[l-1]
	switch {
	case layer.Nodes < 1:
		return a.fault(l, "%d nodes: expected at least 1", layer.Nodes)
	case int(layer.Activation) >= len(activations):
		return a.fault(l, "unknown activation %d", layer.Activation)
	case layer.Activation == Softmax && layer.Nodes < 2:
		return a.fault(l, "softmax over 1 node is constant: expected at least 2 nodes")
	}
	return nil
}

func (a *Architecture) checkConnections() error {
	last := len(a.Layers)
	used := make([]bool, last+1)
	seen := make(map[[2]int]bool, len(a.Connections))
	parameters := 0.0
	for _, c := range a.Connections {
		pair := [2]int{c.To, c.From}
		switch {
		case c.To < 1 || c.To > last:
			return &ArchitectureError{Reason: fmt.Sprintf("a connection to layer %d: expected 1 to %d", c.To, last)}
		case c.From < 0 || c.From > last:
			return a.fault(c.To, "takes from layer %d: expected 0 (the inputs) to %d", c.From, c.To-1)
		case c.From >= c.To:
			return a.fault(c.To, "takes from layer %d: a layer can take from earlier ones only", c.From)
		case seen[pair]:
			return a.fault(c.To, "takes from layer %d twice", c.From)
		}
		seen[pair], used[c.From] = true, true
		if err := a.checkSources(c); err != nil {
			return err
		}
		parameters += a.weights(c)
	}
	if err := a.checkFed(); err != nil {
		return err
	}
	for l := range a.Layers {
		parameters += float64(a.biases(l + 1))
	}
	if l := slices.Index(used[:last], false); l > 0 {
		return a.fault(l, "no later layer takes from it")
	}
	if parameters > maxParameters {
		return &ArchitectureError{Reason: fmt.Sprintf("%.0f weights: expected at most %d", parameters, maxParameters)}
	}
	return nil
}

// checkSources returns an *ArchitectureError unless a sparse connection has a list for every node, of
// nodes that exist, each named once.
func (a *Architecture) checkSources(c Connection) error {
	if c.Sources == nil {
		return nil
	}
	if lists, nodes := c.Sources.Nodes(), a.nodes(c.To); lists != nodes {
		return a.fault(c.To, "%d lists of nodes of layer %d: expected one for each of %d nodes", lists, c.From, nodes)
	}
	for i := range c.Sources.Nodes() {
		before := -1
		for _, j := range c.Sources.Of(i) {
			if from := a.nodes(c.From); j < 0 || j >= from {
				return a.fault(c.To, "node %d takes from node %d of layer %d: expected 0 to %d", i, j, c.From, from-1)
			}
			if j == before {
				return a.fault(c.To, "node %d takes from node %d of layer %d twice", i, j, c.From)
			}
			before = j
		}
	}
	return nil
}

// checkFed returns an *ArchitectureError unless every node takes from some node: one that does not would
// be a constant, which its successors' biases are already.
func (a *Architecture) checkFed() error {
	into := make([][]Connection, len(a.Layers)+1)
	for _, c := range a.Connections {
		into[c.To] = append(into[c.To], c)
	}
	for l := 1; l < len(into); l++ {
		if len(into[l]) == 0 {
			return a.fault(l, "takes from no layer")
		}
		if slices.ContainsFunc(into[l], func(c Connection) bool { return c.Sources == nil }) {
			continue
		}
		for i := range a.nodes(l) {
			if !slices.ContainsFunc(into[l], func(c Connection) bool { return len(c.Sources.Of(i)) > 0 }) {
				return a.fault(l, "node %d takes from no node", i)
			}
		}
	}
	return nil
}

// weights returns how many weights a connection has.
func (a *Architecture) weights(c Connection) float64 {
	switch {
	case c.Gate != 0:
		return 0
	case c.Sources != nil:
		return float64(c.Sources.Len())
	}
	return float64(a.nodes(c.To)) * float64(a.nodes(c.From))
}

func (a *Architecture) checkLoss() error {
	last := len(a.Layers)
	if int(a.Loss) >= len(pass.Losses) {
		return &ArchitectureError{Reason: fmt.Sprintf("unknown loss %d", a.Loss)}
	}
	out := a.Layers[last-1].Activation
	if reason := pass.Losses[a.Loss].Refuse(pass.Activation(out)); reason != "" {
		return a.fault(last, "%v outputs are %s", out, reason)
	}
	return nil
}

// biases returns how many biases layer l has.
func (a *Architecture) biases(l int) int {
	if a.Mixture != nil && l == len(a.Layers) {
		return 0
	}
	return a.nodes(l)
}

func (a *Architecture) nodes(l int) int {
	if l == 0 {
		return a.Inputs
	}
	return a.Layers[l-1].Nodes
}
