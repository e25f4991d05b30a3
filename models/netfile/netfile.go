// Package netfile reads the architecture of a network from TOML.
package netfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"newtop/models"
)

// document is an architecture as TOML has it: layers in order, each with what it takes from.
type document struct {
	Inputs *int                 `toml:"inputs"`
	Loss   *models.LossFunction `toml:"loss"`
	Layers []layerTable         `toml:"layer"`
}

// layerTable is one [[layer]].
type layerTable struct {
	Name       *string            `toml:"name"`
	Nodes      *int               `toml:"nodes"`
	Activation *models.Activation `toml:"activation"`
	From       any                `toml:"from"` // a source, or a list of them
}

// inputsName is what layers call layer 0.
const inputsName = "inputs"

// maxFile bounds the bytes of a file of layers.
const maxFile = 1 << 20

// Error says what is wrong in a file of layers, and where.
type Error struct {
	File         string
	Line, Column int // from 1; 0 when the file could not be read
	Err          error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}

// Unwrap returns the reason; it is a *models.ArchitectureError where the layers make no network.
func (e *Error) Unwrap() error { return e.Err }

// Read reads an architecture from TOML:
//
//	loss = "xent"               # default: xent after softmax, else mse
//
//	[[layer]]
//	name = "features"           # default: "layer 1", "layer 2", …
//	nodes = 70
//	activation = "tanh"
//
//	[[layer]]                   # the last layer is the output; its nodes come from the data
//	activation = "softmax"
//	from = ["inputs", "features"]   # default: the layer before; one source needs no list
//
// The name of a source joins every node to every node. A table makes the connection sparse; it says the layer
// and one of
//
//	{layer = "inputs", nodes = [[0, 1, 2], [3, 4]]}   # one list of source nodes, from 0, for each node
//	{layer = "inputs", density = 0.1, seed = 1}       # each node takes from that part, drawn at random
//	{layer = "inputs", window = 9}                    # each node takes from 9 neighbours, evenly spread
//
// A density means round(density × nodes) sources a node, but one at least; without a seed it is 1. Every node
// must take from some node of some layer. inputs and outputs are the data's. A file may state its inputs at
// the top and the nodes of its output layer, which then must agree. Errors are *Error and carry name as
// the file's.
func Read(r io.Reader, name string, inputs, outputs int) (models.Architecture, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("more than %d bytes: expected a file of layers", maxFile)
	}
	if err != nil {
		return models.Architecture{}, &Error{File: name, Err: err}
	}
	var file document
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&file); err != nil {
		return models.Architecture{}, decodeError(name, err)
	}
	g := reader{name: name, data: data, positions: locate(data)}
	return g.architecture(&file, inputs, outputs)
}

// decodeError gives what the TOML library found the form of all errors of a file.
func decodeError(name string, err error) error {
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(unknown.Errors) > 0 {
		first := &unknown.Errors[0]
		line, column := first.Position()
		return &Error{name, line, column, fmt.Errorf("unknown key %q", strings.Join(first.Key(), "."))}
	}
	if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := bad.Position()
		return &Error{name, line, column, errors.New(strings.TrimPrefix(bad.Error(), "toml: "))}
	}
	return &Error{File: name, Err: err}
}

// reader turns a decoded file into an architecture, and remembers where in the file things are.
type reader struct {
	name      string
	data      []byte
	positions positions
	a         models.Architecture // as far as it is known
	known     map[string]int      // layers by name
}

// fault returns an error at the given path, or at the innermost part of it that the file has.
func (g *reader) fault(path, format string, args ...any) error {
	return g.faultAt(path, fmt.Errorf(format, args...))
}

func (g *reader) faultAt(path string, err error) error {
	for {
		if at, ok := g.positions[path]; ok {
			line, column := position(g.data, at)
			return &Error{g.name, line, column, err}
		}
		dot := strings.LastIndexByte(path, '.')
		if dot < 0 {
			return &Error{g.name, 1, 1, err}
		}
		path = path[:dot]
	}
}

func (g *reader) architecture(file *document, inputs, outputs int) (models.Architecture, error) {
	if file.Inputs != nil && *file.Inputs != inputs {
		return models.Architecture{}, g.fault("inputs", "%d inputs: expected %d, as the data have", *file.Inputs,
			inputs)
	}
	if len(file.Layers) == 0 {
		return models.Architecture{}, g.fault("", "no [[layer]]: expected at least an output layer")
	}
	g.a, g.known = models.Architecture{Inputs: inputs}, map[string]int{inputsName: 0}
	a := &g.a
	for i := range file.Layers {
		layer, err := g.layer(file, i, outputs)
		if err != nil {
			return models.Architecture{}, err
		}
		a.Layers = append(a.Layers, layer)
	}
	for i := range file.Layers {
		connections, err := g.connections(&file.Layers[i], i)
		if err != nil {
			return models.Architecture{}, err
		}
		a.Connections = append(a.Connections, connections...)
	}
	if file.Loss != nil {
		a.Loss = *file.Loss
	} else if a.Layers[len(a.Layers)-1].Activation == models.Softmax {
		a.Loss = models.CrossEntropy
	}
	network, err := models.NewNetwork(*a)
	if err != nil {
		if bad, ok := errors.AsType[*models.ArchitectureError](err); ok && bad.Layer > 0 {
			return models.Architecture{}, g.faultAt(layerPath(bad.Layer-1), err)
		}
		return models.Architecture{}, g.faultAt("", err)
	}
	return network.Architecture(), nil
}

// nodes returns how many nodes layer l has, which is known already.
func (g *reader) nodes(l int) int {
	if l == 0 {
		return g.a.Inputs
	}
	return g.a.Layers[l-1].Nodes
}

func layerPath(i int) string { return "layer." + strconv.Itoa(i) }

// layer returns layer i of the file and adds its name to the known ones.
func (g *reader) layer(file *document, i, outputs int) (models.Layer, error) {
	in, path := &file.Layers[i], layerPath(i)
	layer := models.Layer{Name: fmt.Sprintf("layer %d", i+1)}
	if in.Name != nil {
		layer.Name = *in.Name
	}
	if _, taken := g.known[layer.Name]; taken || layer.Name == "" {
		return layer, g.fault(path+".name", "layer name %q: expected one that is not empty and not taken", layer.Name)
	}
	g.known[layer.Name] = i + 1
	if in.Activation == nil {
		return layer, g.fault(path, "layer %q has no activation: expected %s", layer.Name,
			strings.Join(models.ActivationNames(), ", "))
	}
	layer.Activation = *in.Activation
	output := i == len(file.Layers)-1
	switch {
	case in.Nodes == nil && output:
		layer.Nodes = outputs
	case in.Nodes == nil:
		return layer, g.fault(path, "layer %q has no number of nodes", layer.Name)
	case output && *in.Nodes != outputs:
		return layer, g.fault(path+".nodes", "%d output nodes: expected %d, as the data have", *in.Nodes, outputs)
	default:
		layer.Nodes = *in.Nodes
	}
	return layer, nil
}
