package models

import (
	"encoding"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestChain(t *testing.T) {
	for _, c := range []struct {
		hidden []int
		skip   Skip
		want   []Connection
	}{
		{nil, SkipNone, joins(1, 0)},
		{nil, SkipDirect, joins(1, 0)},
		{nil, SkipAll, joins(1, 0)},
		{[]int{5}, SkipDirect, joins(1, 0, 2, 0, 2, 1)},
		{[]int{5, 6}, SkipNone, joins(1, 0, 2, 1, 3, 2)},
		{[]int{5, 6}, SkipDirect, joins(1, 0, 2, 1, 3, 0, 3, 2)},
		{[]int{5, 6}, SkipAll, joins(1, 0, 2, 0, 2, 1, 3, 0, 3, 1, 3, 2)},
	} {
		a := Chain(3, c.hidden, 2, Tanh, Identity, SquaredError, c.skip)
		if !reflect.DeepEqual(a.Connections, c.want) {
			t.Errorf("%v, %v: %v, expected %v", c.hidden, c.skip, a.Connections, c.want)
		}
		mustNetwork(t, a)
	}
}

// TestLayout: blocks by ascending source, row-major, then biases, layer after layer, whatever the
// order in which the connections were given.
func TestLayout(t *testing.T) {
	n := mustNetwork(t, Architecture{
		Inputs:      3,
		Layers:      []Layer{{"", 4, Tanh}, {"", 2, Identity}},
		Connections: joins(2, 1, 1, 0, 2, 0),
	})
	blocks := []Block{{1, 0, 0, 4, 3, nil}, {2, 0, 16, 2, 3, nil}, {2, 1, 22, 2, 4, nil}}
	biases := []Bias{{1, 12, 4}, {2, 30, 2}}
	if !reflect.DeepEqual(n.Blocks(), blocks) || !reflect.DeepEqual(n.Biases(), biases) || n.Dim() != 32 {
		t.Errorf("blocks %v, biases %v, %d weights", n.Blocks(), n.Biases(), n.Dim())
	}
	if n.Inputs() != 3 || n.Outputs() != 2 {
		t.Errorf("%d inputs, %d outputs", n.Inputs(), n.Outputs())
	}
	a := n.Architecture()
	a.Layers[0].Nodes, a.Connections[0].From = 99, 99
	if got := n.Architecture(); got.Layers[0].Nodes != 4 || got.Connections[0] != (Connection{To: 1}) {
		t.Errorf("the network changed with the copy of its architecture: %+v", got)
	}
}

func TestArchitectureErrors(t *testing.T) {
	two := []Layer{{"h", 4, Tanh}, {"out", 2, Identity}}
	for _, c := range []struct {
		name string
		a    Architecture
		want string
	}{
		{"no inputs", Architecture{Layers: two}, "network: 0 inputs: expected at least 1"},
		{"no layers", Architecture{Inputs: 1}, "network: no layers"},
		{"no nodes", Chain(1, []int{0}, 1, Tanh, Tanh, SquaredError, SkipNone), `layer 1 ("hidden 1"): 0 nodes: expected at least 1`},
		{"activation", Chain(1, nil, 1, Tanh, 99, SquaredError, SkipNone), `layer 1 ("output"): unknown activation 99`},
		{"loss", Chain(1, nil, 1, Tanh, Tanh, 99, SkipNone), "network: unknown loss 99"},
		{"softmax of one", Chain(1, nil, 1, Tanh, Softmax, CrossEntropy, SkipNone), `layer 1 ("output"): softmax over 1 node`},
		{"xent on tanh", Chain(1, nil, 2, Tanh, Tanh, CrossEntropy, SkipNone), `layer 1 ("output"): tanh outputs are no probabilities`},
		{"to nowhere", Architecture{Inputs: 1, Layers: two, Connections: joins(3, 0)}, "network: a connection to layer 3: expected 1 to 2"},
		{"to inputs", Architecture{Inputs: 1, Layers: two, Connections: joins(0, 0)}, "network: a connection to layer 0"},
		{"from nowhere", Architecture{Inputs: 1, Layers: two, Connections: joins(1, -1)}, `layer 1 ("h"): takes from layer -1: expected 0`},
		{"itself", Architecture{Inputs: 1, Layers: two, Connections: joins(1, 1)}, `layer 1 ("h"): takes from layer 1: a layer can take from earlier ones only`},
		{"back", Architecture{Inputs: 1, Layers: two, Connections: joins(1, 2)}, `layer 1 ("h"): takes from layer 2: a layer can take from earlier ones only`},
		{"twice", Architecture{Inputs: 1, Layers: two, Connections: joins(1, 0, 1, 0)}, `layer 1 ("h"): takes from layer 0 twice`},
		{"not fed", Architecture{Inputs: 1, Layers: two, Connections: joins(2, 0)}, `layer 1 ("h"): takes from no layer`},
		{"not used", Architecture{Inputs: 1, Layers: two, Connections: joins(1, 0, 2, 0)}, `layer 1 ("h"): no later layer takes from it`},
		{"too large", Chain(1<<40, []int{1 << 40}, 1, Tanh, Tanh, SquaredError, SkipNone), "network: 12"},
		{"empty node", Architecture{Inputs: 1, Layers: two, Connections: []Connection{{To: 1, Sources: NewSources([][]int{{0}, {0}, {}, {0}})}, {To: 2, From: 1}}}, `layer 1 ("h"): node 2 takes from no node`},
		{"node lists", Architecture{Inputs: 1, Layers: two, Connections: []Connection{{To: 1, Sources: NewSources([][]int{{0}})}, {To: 2, From: 1}}}, `layer 1 ("h"): 1 lists of nodes of layer 0: expected one for each of 4 nodes`},
		{"no name", Architecture{Inputs: 1, Layers: []Layer{{}}}, "layer 1: 0 nodes"},
	} {
		_, err := NewNetwork(c.a)
		var bad *ArchitectureError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, expected %s", c.name, err, c.want)
		}
	}
}

// TestLargestNetwork: as many weights as are allowed, where neither gates nor the layer they combine have any, and
// some more.
func TestLargestNetwork(t *testing.T) {
	a := Experts(1<<16-1, nil, 1<<15, 1, Tanh, Tanh, SquaredError, Mixture{Gates: []Gate{{1, 2, 0}}})
	if n := mustNetwork(t, a); n.ExpertDim() != maxParameters {
		t.Errorf("%d weights, expected %d", n.ExpertDim(), maxParameters)
	}
	a.Inputs++
	_, err := NewNetwork(a)
	if want := "network: 2147516416 weights: expected at most 2147483648"; err == nil || err.Error() != want {
		t.Errorf("got %v, expected %s", err, want)
	}
}

func TestNames(t *testing.T) {
	type named interface {
		String() string
		encoding.TextMarshaler
	}
	for a := range Activation(len(activations)) {
		if got, err := ParseActivation(a.String()); got != a || err != nil {
			t.Errorf("%v is read as %v, %v", a, got, err)
		}
		var b Activation
		if text, _ := named(a).MarshalText(); b.UnmarshalText(text) != nil || b != a {
			t.Errorf("%v is marshalled to %q and read as %v", a, text, b)
		}
	}
	for l := range LossFunction(len(LossNames())) {
		var b LossFunction
		if text, _ := named(l).MarshalText(); b.UnmarshalText(text) != nil || b != l {
			t.Errorf("%v is marshalled to %q and read as %v", l, text, b)
		}
	}
	for s := range Skip(len(skips)) {
		if got, err := ParseSkip(s.String()); got != s || err != nil {
			t.Errorf("%v is read as %v, %v", s, got, err)
		}
	}
	if a, err := ParseActivation("linear"); a != Identity || err != nil {
		t.Errorf("linear is %v, %v", a, err)
	}
	if got := Activation(99).String(); got != "unknown(99)" {
		t.Errorf("Activation(99) is %q", got)
	}
	for want, parse := range map[string]func(string) error{
		`unknown activation "x": expected identity, sigmoid, tanh, softplus, relu or softmax`: func(s string) error { _, err := ParseActivation(s); return err },
		`unknown loss "x": expected mse or xent`:                                              func(s string) error { _, err := ParseLoss(s); return err },
		`unknown skip "x": expected none, direct or all`:                                      func(s string) error { _, err := ParseSkip(s); return err },
		`unknown init "x": expected uniform:A, normal:S, xavier, he or lecun`:                 func(s string) error { _, err := ParseInit(s); return err },
	} {
		var bad *NameError
		if err := parse("x"); !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
}
