package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Loss is what a network's outputs are measured by, for one row.
type Loss uint8

// The losses.
const (
	// SquaredError is ½‖u − t‖².
	SquaredError Loss = iota
	// CrossEntropy is −Σ t log u after softmax, and −Σ t log u + (1−t) log(1−u) after sigmoid, where
	// every output is a class of its own. Targets are probabilities; 0·log 0 is 0.
	CrossEntropy
)

var losses = [...]string{SquaredError: "mse", CrossEntropy: "xent"}

// String returns the name that ParseLoss reads.
func (l Loss) String() string { return nameOf(losses[:], uint8(l)) }

// ParseLoss reads "mse" or "xent". It returns a *NameError for anything else.
func ParseLoss(name string) (Loss, error) {
	i, err := parseName("loss", losses[:], name)
	return Loss(i), err
}

// MarshalText writes the name.
func (l Loss) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what ParseLoss does.
func (l *Loss) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLoss(string(text))
	return err
}

// Skip says which connections a chain has beside those between neighbours.
type Skip uint8

// The kinds of skips.
const (
	SkipNone   Skip = iota
	SkipDirect      // inputs to outputs
	SkipAll         // every layer to all later ones
)

var skips = [...]string{SkipNone: "none", SkipDirect: "direct", SkipAll: "all"}

// String returns the name that ParseSkip reads.
func (s Skip) String() string { return nameOf(skips[:], uint8(s)) }

// ParseSkip reads "none", "direct" or "all". It returns a *NameError for anything else.
func ParseSkip(name string) (Skip, error) {
	i, err := parseName("skip", skips[:], name)
	return Skip(i), err
}

// NameError says that a name is none of those that can be chosen.
type NameError struct{ Kind, Name, Expected string }

func (e *NameError) Error() string {
	return fmt.Sprintf("unknown %s %q: expected %s", e.Kind, e.Name, e.Expected)
}

func nameOf(names []string, i uint8) string {
	if int(i) >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}

func parseName(kind string, names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	last := len(names) - 1
	return 0, &NameError{Kind: kind, Name: name,
		Expected: strings.Join(names[:last], ", ") + " or " + names[last]}
}

// Layer is one layer of nodes.
type Layer struct {
	Name       string // for readers only
	Nodes      int
	Activation Activation
}

// Connection joins every node of layer From to every node of layer To. Layer 0 is the inputs.
type Connection struct{ To, From int }

// Architecture describes a network. Layers[0] is layer 1, and the last layer is the output. A layer
// may take from any earlier ones.
type Architecture struct {
	Inputs      int
	Layers      []Layer
	Connections []Connection
	Loss        Loss
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
func Chain(inputs int, hidden []int, outputs int, act, out Activation, loss Loss, skip Skip) Architecture {
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
				a.Connections = append(a.Connections, Connection{to, from})
			}
		}
	}
	return a
}

// clone returns a deep copy with the connections in the order of the flat weight vector.
func (a Architecture) clone() Architecture {
	a.Layers = slices.Clone(a.Layers)
	a.Connections = slices.Clone(a.Connections)
	slices.SortFunc(a.Connections, func(x, y Connection) int {
		return cmp.Or(cmp.Compare(x.To, y.To), cmp.Compare(x.From, y.From))
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
	fed := make([]bool, last+1)
	used := make([]bool, last+1)
	seen := make(map[Connection]bool, len(a.Connections))
	parameters := 0.0
	for _, c := range a.Connections {
		switch {
		case c.To < 1 || c.To > last:
			return &ArchitectureError{Reason: fmt.Sprintf("a connection to layer %d: expected 1 to %d", c.To, last)}
		case c.From < 0 || c.From > last:
			return a.fault(c.To, "takes from layer %d: expected 0 (the inputs) to %d", c.From, c.To-1)
		case c.From >= c.To:
			return a.fault(c.To, "takes from layer %d: a layer can take from earlier ones only", c.From)
		case seen[c]:
			return a.fault(c.To, "takes from layer %d twice", c.From)
		}
		seen[c], fed[c.To], used[c.From] = true, true, true
		parameters += float64(a.Layers[c.To-1].Nodes) * float64(a.nodes(c.From))
	}
	for l := 1; l <= last; l++ {
		if !fed[l] {
			return a.fault(l, "takes from no layer")
		}
		parameters += float64(a.Layers[l-1].Nodes)
	}
	if l := slices.Index(used[:last], false); l > 0 {
		return a.fault(l, "no later layer takes from it")
	}
	if parameters > maxParameters {
		return &ArchitectureError{Reason: fmt.Sprintf("%.0f weights: expected at most %d", parameters, maxParameters)}
	}
	return nil
}

func (a *Architecture) checkLoss() error {
	last := len(a.Layers)
	out := a.Layers[last-1].Activation
	switch a.Loss {
	case SquaredError:
	case CrossEntropy:
		if out != Softmax && out != Sigmoid {
			return a.fault(last, "%v outputs are no probabilities: cross-entropy (xent) expected softmax or sigmoid", out)
		}
	default:
		return &ArchitectureError{Reason: fmt.Sprintf("unknown loss %d", a.Loss)}
	}
	return nil
}

func (a *Architecture) nodes(l int) int {
	if l == 0 {
		return a.Inputs
	}
	return a.Layers[l-1].Nodes
}
