package modelfile

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"newtop/internal/safetensors"
)

// The versions that the file states: opset 13 is what small runtimes have, and came with version 7 of the format.
const (
	irVersion = 7
	opset     = 13
)

// maxBytes bounds an ONNX file: protobuf messages are shorter than 2 GiB.
const maxBytes = 1<<31 - 1<<20

var errTooLarge = errors.New("more than 2 GB, which an ONNX file can't have: expected a .safetensors file")

// WriteONNX writes m as an ONNX model; its input is raw rows, scaled inside the graph.
//
// The graph computes in float32, "input" [N, columns] to "output" [N, outputs]. Where a column's offset is far larger
// than its scale, float32 would round the rows too coarsely and the input is float64. The numbers as they are stand in
// the metadata, for Read. The operators are those that runtimes of all sizes have, so that softplus and the gates are
// put together from simpler ones.
func WriteONNX(w io.Writer, m *Model) error {
	if err := m.check(); err != nil {
		return err
	}
	metadata, err := m.metadata()
	if err != nil {
		return err
	}
	if m.onnxBytes() > maxBytes {
		return errTooLarge
	}
	var exact bytes.Buffer
	tensors := modelTensors(m)
	if err := safetensors.Encode(&exact, &safetensors.File{Tensors: tensors}); err != nil {
		return err
	}
	metadata[keyCRC] = checksum(metadata, tensors)
	metadata[keyWeights] = base64.StdEncoding.EncodeToString(exact.Bytes())

	var g graph
	kind := m.build(&g)
	if g.err != nil {
		return g.err
	}
	var head, tail message
	head.number(1, irVersion)
	head.text(2, "newtop")
	head.text(3, m.Meta["version"])
	head.message(7, g.encode(kind, len(m.Inputs), len(m.Outputs)))
	var set message
	set.text(1, "") // the standard operators
	set.number(2, opset)
	tail.message(8, set)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		var entry message
		entry.text(1, key)
		entry.text(2, metadata[key])
		tail.message(14, entry)
	}
	if len(head)+len(tail) > maxBytes {
		return errTooLarge
	}
	for _, part := range []message{head, tail} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// onnxBytes estimates the file's size.
func (m *Model) onnxBytes() float64 {
	size := float64(m.Network.Dim()) * 8 * 4 / 3
	for _, b := range m.Network.Blocks() {
		size += 4 * float64(b.Rows) * float64(b.Cols)
		if b.Sources != nil {
			size += float64(b.Size()+b.Rows) * 8 * 4 / 3
		}
	}
	return size * float64(len(m.Weights))
}

// build puts the graph together and returns the element type of its input.
func (m *Model) build(g *graph) int {
	x, kind := m.scale(g)
	sum := ""
	for i, w := range m.Weights {
		b := builder{graph: g, network: m.Network, weights: w, name: netName(i, len(m.Weights))}
		u := b.net(x)
		if i > 0 {
			u = g.add("Add", b.name+"sum", sum, u)
		}
		sum = u
	}
	if nets := len(m.Weights); nets > 1 {
		sum = g.add("Mul", "mean", sum, g.floats("share", []float64{1 / float64(nets)}))
	}
	scale, offset := columns(m.Outputs)
	if slices.ContainsFunc(scale, func(v float64) bool { return v != 1 }) {
		sum = g.add("Mul", "output.scaled", sum, g.floats("output.scale", scale))
	}
	if slices.ContainsFunc(offset, func(v float64) bool { return v != 0 }) {
		g.add("Add", "output.shifted", sum, g.floats("output.offset", offset))
	}
	return kind
}

func columns(list []Column) (scale, offset []float64) {
	for _, c := range list {
		scale, offset = append(scale, c.Scale), append(offset, c.Offset)
	}
	return scale, offset
}

// wide reports whether a column's raw values need float64. float32 rounds a value near the offset by up to 2⁻²⁴ of it,
// which must stay a few millionths of the scale; or its exponent does not reach.
func (c *Column) wide() bool {
	const most, least = 1e30, 1e-30
	offset, scale := math.Abs(c.Offset), math.Abs(c.Scale)
	return offset > 64*scale || offset > most || scale > most || scale < least
}

// scale adds the scaling of the inputs.
func (m *Model) scale(g *graph) (x string, kind int) {
	scale, offset := columns(m.Inputs)
	x = "input"
	if slices.ContainsFunc(m.Inputs, func(c Column) bool { return c.wide() }) {
		x = g.add("Sub", "input.centered", x, g.doubles("input.offset", offset))
		x = g.add("Div", "input.divided", x, g.doubles("input.scale", scale))
		x = g.add("Cast", "input.scaled", x)
		g.with("to", typeFloat)
		return x, typeDouble
	}
	if slices.ContainsFunc(offset, func(v float64) bool { return v != 0 }) {
		x = g.add("Sub", "input.centered", x, g.floats("input.offset", offset))
	}
	if slices.ContainsFunc(scale, func(v float64) bool { return v != 1 }) {
		x = g.add("Div", "input.scaled", x, g.floats("input.scale", scale))
	}
	return x, typeFloat
}
