package netfile

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"newtop/models"
)

func TestRead(t *testing.T) {
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
	got, err := Read(strings.NewReader(file), "net.toml", 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := models.Architecture{
		Inputs:      3,
		Layers:      []models.Layer{{Name: "a", Nodes: 4, Activation: models.Tanh}, {Name: "layer 2", Nodes: 5, Activation: models.Identity}, {Name: "out", Nodes: 2, Activation: models.Softmax}},
		Connections: joins(1, 0, 2, 0, 3, 0, 3, 1, 3, 2),
		Loss:        models.CrossEntropy,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nexpected %+v", got, want)
	}
}

func TestReadDefaults(t *testing.T) {
	for _, c := range []struct {
		file string
		loss models.LossFunction
	}{
		{"layer = [{nodes = 4, activation = 'relu'}, {activation = 'softmax'}]", models.CrossEntropy},
		{"layer = [{nodes = 4, activation = 'relu'}, {activation = 'linear', nodes = 2}]", models.SquaredError},
		{"loss = 'mse'\n[[layer]]\nnodes = 4\nactivation = 'relu'\n[[layer]]\nactivation = 'softmax'", models.SquaredError},
	} {
		got, err := Read(strings.NewReader(c.file), "net.toml", 3, 2)
		if err != nil {
			t.Errorf("%q: %v", c.file, err)
			continue
		}
		if got.Loss != c.loss || !reflect.DeepEqual(got.Connections, joins(1, 0, 2, 1)) {
			t.Errorf("%q: got %+v", c.file, got)
		}
	}
}

func TestReadSparse(t *testing.T) {
	const file = `
[[layer]]
name = "a"
nodes = 4
activation = "tanh"
from = [{layer = "inputs", nodes = [[2, 0], [1], [0, 1, 2], []]}, {layer = "inputs", window = 2}]

[[layer]]
nodes = 5
activation = "tanh"
from = [{layer = "a", density = 0.6}, {layer = "inputs", density = 0.1, seed = 7}]

[[layer]]
activation = "linear"
from = ["layer 2", {layer = "a", window = 1}, {layer = "inputs"}]
`
	for _, source := range []string{"'inputs'", "{layer = 'inputs'}", "['inputs']", "[{layer = 'inputs'}]"} {
		a, err := Read(strings.NewReader("[[layer]]\nactivation = 'linear'\nfrom = "+source), "net.toml", 3, 2)
		if err != nil || !reflect.DeepEqual(a.Connections, joins(1, 0)) {
			t.Errorf("from = %s: %v, %v", source, a.Connections, err)
		}
	}
	twice := strings.Replace(file, ", {layer = \"inputs\", window = 2}", "", 1)
	_, err := Read(strings.NewReader(file), "net.toml", 3, 2)
	if want := "net.toml:2:3: layer 1 (\"a\"): takes from layer 0 twice"; err == nil || err.Error() != want {
		t.Errorf("got %v, expected %s", err, want)
	}
	_, err = Read(strings.NewReader(twice), "net.toml", 3, 2)
	if want := "net.toml:2:3: layer 1 (\"a\"): node 3 takes from no node"; err == nil || err.Error() != want {
		t.Errorf("got %v, expected %s", err, want)
	}
	good := strings.Replace(twice, "[]]", "[2]]", 1)
	got, err := Read(strings.NewReader(good), "net.toml", 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Read(strings.NewReader(good), "net.toml", 3, 2)
	if !reflect.DeepEqual(got, again) {
		t.Error("read twice, the same file is two networks")
	}
	sizes := map[[2]int]int{}
	network, err := models.NewNetwork(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range network.Blocks() {
		sizes[[2]int{b.To, b.From}] = b.Size()
	}
	want := map[[2]int]int{{1, 0}: 7, {2, 0}: 5, {2, 1}: 10, {3, 0}: 6, {3, 1}: 2, {3, 2}: 10}
	if !reflect.DeepEqual(sizes, want) {
		t.Errorf("weights %v, expected %v", sizes, want)
	}
	if first := got.Connections[0].Sources; !reflect.DeepEqual(first, models.NewSources([][]int{{0, 2}, {1}, {0, 1, 2}, {2}})) {
		t.Errorf("sources %v", first)
	}
}

// TestReadDensities: a density draws round(density × nodes) sources, by seed 1 if there is none, others with
// another seed and in another place.
func TestReadDensities(t *testing.T) {
	const file = `
[[layer]]
nodes = 40
activation = "tanh"
from = {layer = "inputs", density = 0.44}

[[layer]]
nodes = 40
activation = "tanh"
from = ["layer 1", {layer = "inputs", density = 0.44, seed = 1}]

[[layer]]
activation = "linear"
from = ["layer 2", {layer = "layer 1", density = 0.001}]
`
	read := func(file string) []models.Connection {
		a, err := Read(strings.NewReader(file), "net.toml", 9, 2)
		if err != nil {
			t.Fatal(err)
		}
		return a.Connections
	}
	got := read(file)
	if sizes := []int{got[0].Sources.Len(), got[1].Sources.Len(), got[3].Sources.Len()}; !slices.Equal(sizes, []int{160, 160, 2}) {
		t.Errorf("%v sources, expected 160, 160 and 2", sizes)
	}
	if reflect.DeepEqual(got[0].Sources, got[1].Sources) {
		t.Error("two connections of the same seed have the same sources")
	}
	if same := read(strings.Replace(file, "0.44}", "0.44, seed = 1}", 1)); !reflect.DeepEqual(same, got) {
		t.Error("seed 1 is not what there is without a seed")
	}
	if other := read(strings.Replace(file, "0.44}", "0.44, seed = 2}", 1)); reflect.DeepEqual(other[0], got[0]) {
		t.Error("seeds 1 and 2 have the same sources")
	}
}

func TestReadErrors(t *testing.T) {
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
		{"source of no kind", hidden + output + "from = ['h', 3]\n", "net.toml:7:14: no source"},
		{"number for a source", hidden + output + "from = 3\n", "net.toml:7:1: no source"},
		{"one table", hidden + output + "from = {layer = 'h', window = 0}\n", "net.toml:7:22: no window"},
		{"table without layer", hidden + output + "from = [{nodes = [[0]]}]\n", "net.toml:7:9: a table of sources without the name of a layer"},
		{"key of a table", hidden + output + "from = [{layer = 'h', dense = true}]\n", "net.toml:7:23: unknown key \"dense\": expected layer, nodes, density, seed, window"},
		{"two forms", hidden + output + "from = [{layer = 'h', window = 2, density = 0.5}]\n", "net.toml:7:23: both density and window"},
		{"table of no layer", hidden + output + "from = [{layer = 'x'}]\n", "net.toml:7:10: no layer \"x\""},
		{"nodes of no list", hidden + output + "from = [{layer = 'h', nodes = 3}]\n", "net.toml:7:23: no node numbers"},
		{"nodes in no list", hidden + output + "from = [{layer = 'h', nodes = [[0], 3]}]\n", "net.toml:7:37: no node numbers"},
		{"nodes of words", hidden + output + "from = [{layer = 'h', nodes = [[0], ['a\\nb']]}]\n", "net.toml:7:"},
		{"too few lists", hidden + output + "from = [{layer = 'h', nodes = [[0]]}]\n", "net.toml:5:3: layer 2 (\"layer 2\"): 1 lists of nodes of layer 1: expected one for each of 2 nodes"},
		{"no such node", hidden + output + "from = [{layer = 'h', nodes = [[0], [4]]}]\n", "net.toml:5:3: layer 2 (\"layer 2\"): node 1 takes from node 4 of layer 1: expected 0 to 3"},
		{"negative node", hidden + output + "from = [{layer = 'h', nodes = [[0], [-1]]}]\n", "net.toml:5:3: layer 2 (\"layer 2\"): node 1 takes from node -1"},
		{"node twice", hidden + output + "from = [{layer = 'h', nodes = [[0], [2, 1, 2]]}]\n", "net.toml:5:3: layer 2 (\"layer 2\"): node 1 takes from node 2 of layer 1 twice"},
		{"no density", hidden + output + "from = [{layer = 'h', density = 0.0}]\n", "net.toml:7:23: no density"},
		{"density above 1", hidden + output + "from = [{layer = 'h', density = 2}]\n", "net.toml:7:23: no density"},
		{"word for a seed", hidden + output + "from = [{layer = 'h', density = 1, seed = 'x'}]\n", "net.toml:7:36: no seed"},
		{"seed alone", hidden + output + "from = [{layer = 'h', seed = 3}]\n", "net.toml:7:23: a seed without a density"},
		{"wide window", hidden + output + "from = [{layer = 'h', window = 5}]\n", "net.toml:7:23: no window: expected a number of nodes from 1 to 4"},
		{"drawn from none", "[[layer]]\nname = 'h'\nnodes = -4\nactivation = 'tanh'\nfrom = [{layer = 'inputs', density = 1}]\n" + output, "net.toml:5:28: -4 nodes that take from 3"},
		{"too many drawn", "[[layer]]\nname = 'h'\nnodes = 4000000000000\nactivation = 'tanh'\nfrom = [{layer = 'inputs', window = 1}]\n" + output, "net.toml:5:28: 8000000000000 sources"},
		{"drawn from too many", "[[layer]]\nname = 'h'\nnodes = 100000000\nactivation = 'tanh'\n" + output + "from = [{layer = 'h', density = 1e-9}]\n", "net.toml:7:23: 100000000 nodes to take from"},
		{"too long", strings.Repeat("#", maxFile+1), "net.toml: more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.file), "net.toml", 3, 2)
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, expected a *Error", err)
			}
			if !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got      %s\nexpected %s", err, c.want)
			}
		})
	}
	_, err := Read(iotest.ErrReader(os.ErrPermission), "net.toml", 3, 2)
	if !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v, expected the reader's error", err)
	}
}

// TestReadLongFile: long lists of layers and nodes take no time to speak of.
func TestReadLongFile(t *testing.T) {
	const table = "[[layer]]\n"
	layers := strings.Repeat(table, maxFile/2/len(table))
	list := "[[layer]]\nactivation = 'linear'\nfrom = {layer = 'inputs', nodes = [[0],\n[" + strings.Repeat("0,", maxFile/8) + "\n]]}"
	for _, c := range []struct{ file, want string }{
		{layers, "net.toml:1:3: layer \"layer 1\" has no activation"},
		{list, "net.toml:1:3: layer 1 (\"layer 1\"): node 1 takes from node 0 of layer 0 twice"},
	} {
		start := time.Now()
		_, err := Read(strings.NewReader(c.file), "net.toml", 3, 2)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, expected %s", err, c.want)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%d bytes took %v", len(c.file), took)
		}
	}
}

// FuzzRead: whatever the file, the answer is an error of one line or a network.
func FuzzRead(f *testing.F) {
	f.Add("[[layer]]\nname = 'h'\nnodes = 4\nactivation = 'tanh'\n[[layer]]\nactivation = 'softmax'\nfrom = ['h', 'inputs']")
	f.Add("layer = [{nodes = 4, activation = 'relu'}, {activation = 'linear', nodes = 2}]\nloss = 'mse'")
	f.Add("[[layer]]\nactivation = 'linear'\nfrom = [{layer = 'inputs', nodes = [[0], [1, 2]]}]")
	f.Add("[[layer]]\nnodes = 3\nactivation = 'tanh'\nfrom = [{layer = 'inputs', density = 0.5, seed = 3}]\n[[layer]]\nactivation = 'linear'\nfrom=[{layer='layer 1', window=2}]")
	f.Add("layer.a.b = 1\n[layer]\n[[layer.x]]\nfrom=[[1]]")
	f.Fuzz(func(t *testing.T, file string) {
		a, err := Read(strings.NewReader(file), "net.toml", 3, 2)
		if err != nil {
			var bad *Error
			if !errors.As(err, &bad) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, expected a *Error of one line", err)
			}
			return
		}
		if _, err := models.NewNetwork(a); err != nil {
			t.Error(err)
		}
	})
}

// joins returns connections to and from layers.
func joins(pairs ...int) []models.Connection {
	var all []models.Connection
	for ; len(pairs) > 0; pairs = pairs[2:] {
		all = append(all, models.Connection{To: pairs[0], From: pairs[1]})
	}
	return all
}
