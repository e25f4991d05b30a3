package modelfile

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a protobuf message: a number, or bytes.
type field struct {
	number protowire.Number
	value  uint64
	bytes  []byte
}

func fieldsOf(t *testing.T, message []byte) (all []field) {
	t.Helper()
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		f := field{number: number}
		message = message[n:]
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		default:
			t.Fatalf("field %d of kind %d", number, kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		all, message = append(all, f), message[n:]
	}
	return all
}

// array is a tensor of at most two dimensions; of one, it is a row. Every number is one of its element type.
type array struct {
	kind int
	*mat.Dense
}

// rounded returns v as a number of an element type.
func rounded(kind int, v float64) float64 {
	if kind == typeFloat {
		return float64(float32(v))
	}
	return v
}

// constantOf reads a TensorProto.
func constantOf(t *testing.T, message []byte) (name string, a array) {
	t.Helper()
	var shape []int
	var raw []byte
	for _, f := range fieldsOf(t, message) {
		switch f.number {
		case 1:
			shape = append(shape, int(f.value))
		case 2:
			a.kind = int(f.value)
		case 8:
			name = string(f.bytes)
		case 9:
			raw = f.bytes
		}
	}
	var values []float64
	for len(raw) > 0 {
		size := 8
		switch a.kind {
		case typeFloat:
			size = 4
			values = append(values, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		case typeDouble:
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		case typeInt64:
			values = append(values, float64(binary.LittleEndian.Uint64(raw)))
		default:
			t.Fatalf("%s: element type %d", name, a.kind)
		}
		raw = raw[size:]
	}
	if len(shape) == 1 {
		shape = append([]int{1}, shape...)
	}
	a.Dense = mat.NewDense(shape[0], shape[1], values)
	return name, a
}

// operation is a NodeProto.
type operation struct {
	operator, output string
	inputs           []string
	attributes       map[string]int
}

func operationOf(t *testing.T, message []byte) operation {
	t.Helper()
	o := operation{attributes: map[string]int{}}
	for _, f := range fieldsOf(t, message) {
		switch f.number {
		case 1:
			o.inputs = append(o.inputs, string(f.bytes))
		case 2:
			o.output = string(f.bytes)
		case 4:
			o.operator = string(f.bytes)
		case 5:
			var name string
			for _, f := range fieldsOf(t, f.bytes) {
				switch f.number {
				case 1:
					name = string(f.bytes)
				case 3:
					o.attributes[name] = int(f.value)
				}
			}
		}
	}
	return o
}

var elementwise = map[string]func(x float64) float64{
	"Abs": math.Abs, "Asinh": math.Asinh, "Atan": math.Atan, "Tan": math.Tan, "Tanh": math.Tanh,
	"Relu":    func(x float64) float64 { return max(x, 0) },
	"Sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	"Cast":    func(x float64) float64 { return x },
}

var ofTwo = map[string]func(x, y float64) float64{
	"Add": func(x, y float64) float64 { return x + y }, "Sub": func(x, y float64) float64 { return x - y },
	"Mul": func(x, y float64) float64 { return x * y }, "Div": func(x, y float64) float64 { return x / y },
}

// compute does one operation as ONNX's "Operators" describes it, rounding what it computes to the element type.
func (o *operation) compute(t *testing.T, in []array) array {
	t.Helper()
	rows, cols := in[0].Dims()
	at := func(a array, i, j int) float64 { // broadcast
		r, c := a.Dims()
		return a.At(i%r, j%c)
	}
	kind, value := in[0].kind, func(_, _ int) float64 { return 0 }
	if f := elementwise[o.operator]; f != nil {
		value = func(i, j int) float64 { return f(in[0].At(i, j)) }
	} else if f := ofTwo[o.operator]; f != nil {
		r, c := in[1].Dims()
		rows, cols = max(rows, r), max(cols, c)
		value = func(i, j int) float64 { return f(at(in[0], i, j), at(in[1], i, j)) }
	}
	switch o.operator {
	case "Cast":
		kind = o.attributes["to"]
	case "Gather":
		_, cols = in[1].Dims()
		value = func(i, j int) float64 { return in[0].At(i, int(in[1].At(0, j))) }
	case "Gemm":
		if o.attributes["transB"] != 1 {
			t.Fatalf("%s: Gemm of a matrix that is not transposed", o.output)
		}
		var product mat.Dense
		product.Mul(in[0], in[1].T())
		_, cols = product.Dims()
		value = func(i, j int) float64 { return product.At(i, j) + at(in[2], i, j) }
		if len(in) == 2 {
			value = product.At
		}
	case "Softmax":
		value = func(i, j int) float64 {
			sum := 0.0
			for _, v := range in[0].RawRowView(i) {
				sum += math.Exp(v - in[0].At(i, j))
			}
			return 1 / sum
		}
	default:
		if elementwise[o.operator] == nil && ofTwo[o.operator] == nil {
			t.Fatalf("operator %q", o.operator)
		}
	}
	if axis, given := o.attributes["axis"]; slices.Contains([]string{"Gather", "Softmax"}, o.operator) && (!given || axis != 1) {
		t.Fatalf("%s: %s along axis %d", o.output, o.operator, axis)
	}
	out := array{kind, mat.NewDense(rows, cols, nil)}
	for i := range rows {
		for j := range cols {
			out.Set(i, j, rounded(kind, value(i, j)))
		}
	}
	return out
}

// runONNX computes the graph of an ONNX file for raw rows, operation by operation.
func runONNX(t *testing.T, text []byte, raw *mat.Dense, double bool) *mat.Dense {
	t.Helper()
	in := array{typeFloat, new(mat.Dense)}
	if double {
		in.kind = typeDouble
	}
	in.Apply(func(_, _ int, v float64) float64 { return rounded(in.kind, v) }, raw)
	known := map[string]array{"input": in}
	var graph []byte
	for _, f := range fieldsOf(t, text) {
		if f.number == 7 {
			graph = f.bytes
		}
	}
	var operations []operation
	for _, f := range fieldsOf(t, graph) {
		switch f.number {
		case 1:
			operations = append(operations, operationOf(t, f.bytes))
		case 5:
			name, a := constantOf(t, f.bytes)
			known[name] = a
		}
	}
	for _, o := range operations {
		var in []array
		for _, name := range o.inputs {
			a, ok := known[name]
			if !ok || len(in) > 0 && o.operator != "Gather" && a.kind != in[0].kind {
				t.Fatalf("%s of %s: %q is not known, or of another element type", o.operator, o.output, name)
			}
			in = append(in, a)
		}
		known[o.output] = o.compute(t, in)
	}
	if known["output"].kind != typeFloat {
		t.Fatalf("the output has element type %d", known["output"].kind)
	}
	return known["output"].Dense
}
