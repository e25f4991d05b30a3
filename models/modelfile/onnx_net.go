package modelfile

import (
	"fmt"
	"math"

	"newtop/models"
)

// builder adds one net of a model to a graph.
type builder struct {
	*graph
	network *models.Network
	weights []float64
	name    string // what stands before all names
}

// net adds the layers on scaled rows x and returns the outputs.
func (b *builder) net(x string) string {
	a := b.network.Architecture()
	u := make([]string, len(a.Layers)+1)
	u[0] = x
	if a.Features > 0 {
		u[0] = b.pick(b.name+"inputs", x, upTo(a.Inputs))
	}
	for l := 1; l < len(u); l++ {
		layer := fmt.Sprintf("%slayer%d", b.name, l)
		v := ""
		if l == len(a.Layers) && a.Mixture != nil {
			v = b.mixture(layer, x, u, &a)
		} else {
			v = b.sum(l, u)
		}
		u[l] = b.activate(layer, v, a.Layers[l-1].Activation)
	}
	return u[len(a.Layers)]
}

// sum adds v^l = Σ_r u^r (W^{lr})ᵀ + b^l, source by source.
func (b *builder) sum(l int, u []string) string {
	v := ""
	for _, bias := range b.network.Biases() {
		if bias.Layer == l {
			v = b.floats(b.name+biasName(bias), b.weights[bias.Offset:][:bias.Nodes])
		}
	}
	for _, block := range b.network.Blocks() {
		if block.To != l {
			continue
		}
		w := b.floats(b.name+weightName(block), b.dense(block), block.Rows, block.Cols)
		v = b.add("Gemm", fmt.Sprintf("%slayer%d.from%d", b.name, l, block.From), u[block.From], w, v)
		b.with("transB", 1)
	}
	return v
}

// dense returns the whole matrix of a block, with zeros where a sparse one has no weight.
func (b *builder) dense(block models.Block) []float64 {
	w := b.weights[block.Offset:][:block.Size()]
	if block.Sources == nil {
		return w
	}
	whole := make([]float64, block.Rows*block.Cols)
	k := 0
	for i := range block.Rows {
		for _, j := range block.Sources.Of(i) {
			whole[i*block.Cols+j] = w[k]
			k++
		}
	}
	return whole
}

func (b *builder) activate(name, v string, a models.Activation) string {
	switch a {
	case models.Sigmoid:
		return b.add("Sigmoid", name+".output", v)
	case models.Tanh:
		return b.add("Tanh", name+".output", v)
	case models.ReLU:
		return b.add("Relu", name+".output", v)
	case models.Softplus:
		return b.softplus(name, v)
	case models.Softmax:
		u := b.add("Softmax", name+".output", v)
		b.with("axis", 1)
		return u
	}
	return v
}

// pick takes some columns of a matrix.
func (b *builder) pick(name, x string, columns []int) string {
	out := b.add("Gather", name, x, b.integers(name+".columns", columns))
	b.with("axis", 1)
	return out
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// softplus adds log(1 + e^v) = max(v, 0) − log p for p = 1/(1 + e^−|v|), a number from ½ to 1.
func (b *builder) softplus(name, v string) string {
	p := b.add("Sigmoid", name+".p", b.add("Abs", name+".abs", v))
	positive := b.add("Relu", name+".positive", v)
	return b.add("Sub", name+".output", positive, b.log(name+".log", p))
}

// log adds log z = arsinh((z − 1/z)/2) for z > 0: opset 13 has Log, but not every runtime does.
func (b *builder) log(name, z string) string {
	inverse := b.add("Div", name+".inverse", b.floats("one", []float64{1}), z)
	twice := b.add("Sub", name+".twice", z, inverse)
	return b.add("Asinh", name, b.add("Mul", name+".sinh", twice, b.floats("half", []float64{0.5})))
}

// tiniest stands for the distance from a gate's center where that is 0, in the gate's widths. Its inverse is finite.
const tiniest = 1e-36

// mixture adds v^L = Σ_i g_i o_i with g = softmax(log μ), log μ_i = −softplus(s_i), s_i = 2b_i log |y_i/a_i|, in the
// terms of models.Mixture.
func (b *builder) mixture(name, x string, u []string, a *models.Architecture) string {
	gates := b.network.GatesAt(b.weights)
	var feature []int
	var center, width, power []float64
	for _, g := range gates {
		feature = append(feature, a.Mixture.Feature)
		center, width, power = append(center, g.Center), append(width, g.Width), append(power, 2*g.Slope)
	}
	gate := name + ".gate"
	y := b.add("Sub", gate+".distance", b.pick(gate+".feature", x, feature), b.floats(gate+".center", center))
	if period := a.Mixture.Period; period > 0 {
		y = b.wrap(gate+".wrapped", y, period)
	}
	z := b.add("Div", gate+".widths", b.add("Abs", gate+".abs", y), b.floats(gate+".width", width))
	z = b.add("Add", gate+".away", z, b.floats("tiniest", []float64{tiniest}))
	s := b.add("Mul", gate+".s", b.log(gate+".log", z), b.floats(gate+".power", power))
	theta := b.add("Sub", gate+".theta", b.floats("zero", []float64{0}), b.softplus(gate+".softplus", s))
	shares := b.add("Softmax", gate+".shares", theta)
	b.with("axis", 1)
	v := ""
	for _, c := range a.Connections {
		if c.Gate == 0 {
			continue
		}
		part := fmt.Sprintf("%s.from%d", name, c.From)
		o := b.add("Mul", part, u[c.From], b.pick(part+".share", shares, []int{c.Gate - 1}))
		if v != "" {
			o = b.add("Add", part+".sum", v, o)
		}
		v = o
	}
	return v
}

// wrap takes a distance the nearest way round a period T: y = T/π · arctan tan(πy/T).
func (b *builder) wrap(name, y string, period float64) string {
	angle := b.add("Mul", name+".angle", y, b.floats(name+".frequency", []float64{math.Pi / period}))
	nearest := b.add("Atan", name+".nearest", b.add("Tan", name+".tan", angle))
	return b.add("Mul", name, nearest, b.floats(name+".radius", []float64{period / math.Pi}))
}
