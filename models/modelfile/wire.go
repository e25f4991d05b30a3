package modelfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protobuf message under construction. The numbers of fields are those of onnx.proto (ONNX 1.8).
type message []byte

func (m *message) number(field protowire.Number, v int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
}

func (m *message) text(field protowire.Number, s string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
}

func (m *message) message(field protowire.Number, v message) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), v)
}

// Element types of tensors.
const (
	typeFloat  = 1
	typeInt64  = 7
	typeDouble = 11
)

// attribute is a whole number that an operator is given.
type attribute struct {
	name  string
	value int
}

// node is one operation of a graph, with one output.
type node struct {
	operator   string
	inputs     []string
	output     string
	attributes []attribute
}

func (n *node) encode() (m message) {
	for _, name := range n.inputs {
		m.text(1, name)
	}
	m.text(2, n.output)
	m.text(3, n.output) // the node is called like what it computes
	m.text(4, n.operator)
	for _, a := range n.attributes {
		var am message
		am.text(1, a.name)
		am.number(3, a.value)
		am.number(20, 2) // a whole number
		m.message(5, am)
	}
	return m
}

// graph is a computation from "input" to the output of its last node.
type graph struct {
	nodes     []node
	constants message // the tensors, as they are in the file
	known     map[string]bool
	err       error // the first number that float32 can't hold
}

// add appends a node and returns the name of what it computes.
func (g *graph) add(operator, output string, inputs ...string) string {
	g.nodes = append(g.nodes, node{operator: operator, inputs: inputs, output: output})
	return output
}

// with gives the last node an attribute.
func (g *graph) with(name string, value int) {
	last := &g.nodes[len(g.nodes)-1]
	last.attributes = append(last.attributes, attribute{name, value})
}

// constant adds a tensor with that many bytes a number, which put appends to the file; one of the same name is taken
// to be the same.
func (g *graph) constant(name string, kind int, shape []int, put func(raw []byte) []byte) string {
	if g.known[name] {
		return name
	}
	if g.known == nil {
		g.known = make(map[string]bool)
	}
	g.known[name] = true
	var m message
	for _, n := range shape {
		m.number(1, n)
	}
	m.number(2, kind)
	m.text(8, name)
	m.message(9, put(nil))
	g.constants.message(5, m)
	return name
}

// floats adds a tensor of float32. A shape of one dimension may be left out.
func (g *graph) floats(name string, values []float64, shape ...int) string {
	if shape == nil {
		shape = []int{len(values)}
	}
	return g.constant(name, typeFloat, shape, func(raw []byte) []byte {
		raw = slices.Grow(raw, 4*len(values))
		for _, v := range values {
			if v32 := float64(float32(v)); math.IsInf(v32, 0) && g.err == nil {
				g.err = fmt.Errorf("%s holds %g, which is too large for ONNX's float32: expected a .safetensors file",
					name, v)
			}
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		}
		return raw
	})
}

func (g *graph) doubles(name string, values []float64) string {
	return g.constant(name, typeDouble, []int{len(values)}, func(raw []byte) []byte {
		for _, v := range values {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
		return raw
	})
}

func (g *graph) integers(name string, values []int) string {
	return g.constant(name, typeInt64, []int{len(values)}, func(raw []byte) []byte {
		for _, v := range values {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
		}
		return raw
	})
}

// encode returns the graph from an input of the element type to the last node's output, which becomes "output".
func (g *graph) encode(kind, columns, outputs int) (m message) {
	g.nodes[len(g.nodes)-1].output = "output"
	for i := range g.nodes {
		m.message(1, g.nodes[i].encode())
	}
	m.text(2, "newtop")
	m = append(m, g.constants...)
	m.message(11, value("input", kind, columns))
	m.message(12, value("output", typeFloat, outputs))
	return m
}

// value describes a matrix of any number of rows, N.
func value(name string, kind, columns int) (m message) {
	var rows, width, shape, tensor, kinds message
	rows.text(2, "N")
	width.number(1, columns)
	shape.message(1, rows)
	shape.message(1, width)
	tensor.number(1, kind)
	tensor.message(2, shape)
	kinds.message(1, tensor)
	m.text(1, name)
	m.message(2, kinds)
	return m
}
