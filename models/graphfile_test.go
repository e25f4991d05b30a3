package models

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadArchitecture(t *testing.T) {
	const file = `
inputs = 3
[[layer]]
name = "a"
nodes = 4
activation = "tanh"

[[layer]]
nodes = 5
activation = "linear"
from = ["inputs"]

[[layer]]
name = "out"
activation = "softmax"
from = ["layer 2", "inputs", "a"]
`
	got, err := ReadArchitecture(strings.NewReader(file), "net.toml", 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := Architecture{
		Inputs:      3,
		Layers:      []Layer{{"a", 4, Tanh}, {"layer 2", 5, Identity}, {"out", 2, Softmax}},
		Connections: []Connection{{1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2}},
		Loss:        CrossEntropy,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nexpected %+v", got, want)
	}
}

func TestReadArchitectureDefaults(t *testing.T) {
	for _, c := range []struct {
		file string
		loss Loss
	}{
		{"layer = [{nodes = 4, activation = 'relu'}, {activation = 'softmax'}]", CrossEntropy},
		{"layer = [{nodes = 4, activation = 'relu'}, {activation = 'linear', nodes = 2}]", SquaredError},
		{"loss = 'mse'\n[[layer]]\nnodes = 4\nactivation = 'relu'\n[[layer]]\nactivation = 'softmax'", SquaredError},
	} {
		got, err := ReadArchitecture(strings.NewReader(c.file), "net.toml", 3, 2)
		if err != nil {
			t.Errorf("%q: %v", c.file, err)
			continue
		}
		if got.Loss != c.loss || !reflect.DeepEqual(got.Connections, []Connection{{1, 0}, {2, 1}}) {
			t.Errorf("%q: got %+v", c.file, got)
		}
	}
}

func TestReadArchitectureErrors(t *testing.T) {
	const hidden = "[[layer]]\nname = 'h'\nnodes = 4\nactivation = 'tanh'\n"
	const output = "[[layer]]\nactivation = 'linear'\n"
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "net.toml:1:1: no [[layer]]: expected at least an output layer"},
		{"syntax", "[[layer]]\nnodes = = 3\n", "net.toml:2:9: "},
		{"unterminated", "[[layer]]\nname = \"a\n", "net.toml:2:"},
		{"unknown key", hidden + "wide = 3\n" + output, "net.toml:5:1: unknown key \"layer.wide\""},
		{"activation", "[[layer]]\nactivation = 'gelu'\n", "net.toml:2:14: unknown activation \"gelu\": expected identity,"},
		{"loss", "loss = 'l1'\n" + output, "net.toml:1:8: unknown loss \"l1\": expected mse or xent"},
		{"word for nodes", "[[layer]]\nnodes = 'many'\n", "net.toml:2:9: "},
		{"no activation", hidden + "[[layer]]\nnodes = 2\n", "net.toml:5:3: layer \"layer 2\" has no activation"},
		{"no nodes", "[[layer]]\nactivation = 'tanh'\n" + output, "net.toml:1:3: layer \"layer 1\" has no number of nodes"},
		{"nodes of the output", hidden + output + "nodes = 9\n", "net.toml:7:1: 9 output nodes: expected 2, as the data have"},
		{"inputs", "inputs = 9\n" + output, "net.toml:1:1: 9 inputs: expected 3, as the data have"},
		{"no such layer", hidden + output + "from = ['h',\n  'x']\n", "net.toml:8:3: no layer \"x\""},
		{"later layer", hidden + "from = ['layer 2']\n" + output, "net.toml:5:9: layer \"layer 2\" does not come earlier"},
		{"own layer", hidden + "from = ['h']\n" + output, "net.toml:5:9: layer \"h\" does not come earlier"},
		{"twice", hidden + output + "from = ['h', 'h']\n", "net.toml:5:3: layer 2 (\"layer 2\"): takes from layer 1 twice"},
		{"same name", hidden + hidden + output, "net.toml:6:1: layer name \"h\""},
		{"reserved name", "[[layer]]\nname = 'inputs'\n", "net.toml:2:1: layer name \"inputs\""},
		{"from nothing", hidden + output + "from = []\n", "net.toml:5:3: layer 2 (\"layer 2\"): takes from no layer"},
		{"unused", hidden + output + "from = ['inputs']\n", "net.toml:1:3: layer 1 (\"h\"): no later layer takes from it"},
		{"negative", "[[layer]]\nnodes = -4\nactivation = 'tanh'\n" + output, "net.toml:1:3: layer 1 (\"layer 1\"): -4 nodes"},
		{"huge", "[[layer]]\nnodes = 4000000000000\nactivation = 'tanh'\n" + output, "net.toml:1:1: network: "},
		{"loss of the output", "loss = 'xent'\n" + output, "net.toml:2:3: layer 1 (\"layer 1\"): identity outputs are no probabilities"},
		{"too long", strings.Repeat("#", maxGraphFile+1), "net.toml: more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadArchitecture(strings.NewReader(c.file), "net.toml", 3, 2)
			var bad *GraphError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, expected a *GraphError", err)
			}
			if !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got      %s\nexpected %s", err, c.want)
			}
		})
	}
	_, err := ReadArchitecture(iotest.ErrReader(os.ErrPermission), "net.toml", 3, 2)
	if !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v, expected the reader's error", err)
	}
}

// FuzzReadArchitecture: whatever the file, the answer is an error of one line or a network.
func FuzzReadArchitecture(f *testing.F) {
	f.Add("[[layer]]\nname = 'h'\nnodes = 4\nactivation = 'tanh'\n[[layer]]\nactivation = 'softmax'\nfrom = ['h', 'inputs']")
	f.Add("layer = [{nodes = 4, activation = 'relu'}, {activation = 'linear', nodes = 2}]\nloss = 'mse'")
	f.Add("layer.a.b = 1\n[layer]\n[[layer.x]]\nfrom=[[1]]")
	f.Fuzz(func(t *testing.T, file string) {
		a, err := ReadArchitecture(strings.NewReader(file), "net.toml", 3, 2)
		if err != nil {
			var bad *GraphError
			if !errors.As(err, &bad) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, expected a *GraphError of one line", err)
			}
			return
		}
		if err := a.check(); err != nil {
			t.Error(err)
		}
	})
}
