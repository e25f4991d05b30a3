package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/internal/kernel"
)

// function is what the tests know of one function of the package.
type function[F Float] struct {
	name string
	// shape has a letter for each slice: n or m for all the elements, m where they are a matrix, c for one
	// number a column, r for one a row. Those that are written are capitals.
	shape string
	// rounding bounds how the assembly may differ from the Go code, in half units of the last place of the result or of 1 for each number
	// summed, when no number's size is above 1; 0: not at all.
	rounding float64
	run      func(a [][]F, cols int) float64
}

func unary[F Float](f func(dst, x []F)) func(a [][]F, _ int) float64 {
	return func(a [][]F, _ int) float64 { f(a[0], a[1]); return 0 }
}

func binary[F Float](f func(dst, x, y []F)) func(a [][]F, _ int) float64 {
	return func(a [][]F, _ int) float64 { f(a[0], a[1], a[2]); return 0 }
}

func curve[F Float](f func(x, u, phi, delta []F)) func(a [][]F, _ int) float64 {
	return func(a [][]F, _ int) float64 { f(a[0], a[1], a[2], a[3]); return 0 }
}

func reduction[F, R Float](f func(x []F) R) func(a [][]F, _ int) float64 {
	return func(a [][]F, _ int) float64 { return float64(f(a[0])) }
}

func reductionOfTwo[F Float](f func(x, y []F) F) func(a [][]F, _ int) float64 {
	return func(a [][]F, _ int) float64 { return float64(f(a[0], a[1])) }
}

var adamStep = AdamStep{1e-3, 0.9, 0.999, 1e-8, 1 / (1 - 0.9), 1 / (1 - 0.999)}

// functionsOf are those of either precision.
func functionsOf[F Float]() []function[F] {
	return []function[F]{
		{"Exp", "Nn", 8, unary(Exp[F])},
		{"Tanh", "Nn", 8, unary(Tanh[F])},
		{"Sigmoid", "Nn", 8, unary(Sigmoid[F])},
		{"Softplus", "NNn", 8, binary(Softplus[F])},
		{"ReLU", "Nn", 0, unary(ReLU[F])},
		{"TanhPush", "Nnn", 2, binary(TanhPush[F])},
		{"SigmoidPush", "Nnn", 0, binary(SigmoidPush[F])},
		{"ReLUPush", "Nnn", 0, binary(ReLUPush[F])},
		{"TanhCurve", "Nnnn", 8, curve(TanhCurve[F])},
		{"SigmoidCurve", "Nnnn", 8, curve(SigmoidCurve[F])},
		{"SoftplusCurve", "Nnnn", 8, curve(SoftplusCurve[F])},
		{"SumSquares", "n", 2, reduction(SumSquares[F])},
		{"Adam", "NNNn", 0, func(a [][]F, _ int) float64 { Adam(a[0], a[1], a[2], a[3], &adamStep); return 0 }},
		{"Add", "Nnn", 0, binary(Add[F])},
		{"Sub", "Nnn", 0, binary(Sub[F])},
		{"Mul", "Nnn", 0, binary(Mul[F])},
		{"MulAdd", "Nnn", 4, binary(MulAdd[F])},
		{"Axpy", "Nn", 4, func(a [][]F, _ int) float64 { Axpy(a[0], 0.7, a[1]); return 0 }},
		{"Scale", "Nn", 0, func(a [][]F, _ int) float64 { Scale(a[0], 0.7, a[1]); return 0 }},
		{"Sum", "n", 2, reduction(Sum[F])},
		{"Dot", "nn", 2, reductionOfTwo(Dot[F])},
		{"Residual", "Nnn", 4, func(a [][]F, _ int) float64 { return Residual(a[0], a[1], a[2]) }},
		{"AddRowSums", "Rm", 2, func(a [][]F, cols int) float64 { AddRowSums(a[0], a[1], cols); return 0 }},
		{"ColumnMax", "Cm", 0, unary(ColumnMax[F])},
		{"ColumnArgMax", "CCm", 0, binary(ColumnArgMax[F])},
		{"ColumnSums", "Cm", 0, unary(ColumnSums[F])},
		{"ColumnDots", "Cmm", 2, binary(ColumnDots[F])},
		{"ColumnSoftmax", "CcM", 16, binary(ColumnSoftmax[F])},
		{"ColumnCenter", "cMmm", 0, curve(ColumnCenter[F])},
	}
}

// functions are all of the precision.
func functions[F Float]() []function[F] {
	all := functionsOf[F]()
	if doubles, ok := any(updates).([]function[F]); ok {
		all = append(all, doubles...)
	}
	return all
}

// updates are the functions of float64 alone.
var updates = []function[float64]{
	{"Norm", "n", 4, reduction(Norm)},
	{"Momentum", "NNn", 0, func(a [][]float64, _ int) float64 { Momentum(a[0], a[1], a[2], 0.1, 0.9); return 0 }},
	{"AdaGrad", "NNn", 0, func(a [][]float64, _ int) float64 { AdaGrad(a[0], a[1], a[2], 0.1, 1e-8); return 0 }},
	{"RMSProp", "NNn", 0, func(a [][]float64, _ int) float64 { RMSProp(a[0], a[1], a[2], 0.1, 0.9, 1e-8); return 0 }},
}

// inBoth runs the test for both precisions.
func inBoth(t *testing.T, double, single func(t *testing.T)) {
	t.Run("float64", double)
	t.Run("float32", single)
}

// lengths returns how long the function's slices are for rows × cols elements.
func (f function[F]) lengths(rows, cols int) []int {
	n := make([]int, len(f.shape))
	for i, s := range f.shape {
		switch s | 0x20 {
		case 'c':
			n[i] = cols
		case 'r':
			n[i] = rows
		default:
			n[i] = rows * cols
		}
	}
	return n
}

// adaptive says that steps below 2⁻⁹⁰⁰ may be rounded in more than one way.
func (f function[F]) adaptive() bool {
	return slices.Contains([]string{"AdaGrad", "RMSProp", "Adam"}, f.name)
}

func (f function[F]) writes(i int) bool { return f.shape[i] < 'a' }

// matrix says whether the function knows rows and columns.
func (f function[F]) matrix() bool {
	return slices.ContainsFunc([]byte(f.shape), func(s byte) bool { return s|0x20 == 'm' })
}

// sizes are the rows and columns to test the function on.
func (f function[F]) sizes() (sizes [][2]int) {
	if !f.matrix() {
		for n := range 70 {
			sizes = append(sizes, [2]int{1, n})
		}
		return append(sizes, [2]int{1, 96}, [2]int{1, 127}, [2]int{1, 131})
	}
	for cols := 1; cols < 41; cols++ {
		sizes = append(sizes, [2]int{1, cols}, [2]int{3, cols})
	}
	for rows := range 36 {
		sizes = append(sizes, [2]int{rows + 1, 1})
	}
	for cols := 1; cols < 9; cols++ { // beyond what is repeated of narrow rows
		sizes = append(sizes, [2]int{60, cols}, [2]int{67, cols})
	}
	return append(sizes, [2]int{7, 96}, [2]int{26, 67})
}

// arguments are random numbers between −1 and 1, or 0 and 1 where roots are taken of some.
func (f function[F]) arguments(rng *rand.Rand, rows, cols int) (a [][]F) {
	for _, n := range f.lengths(rows, cols) {
		x := make([]F, n)
		for i := range x {
			x[i] = F(2*rng.Float64() - 1)
			if f.adaptive() {
				x[i] = F(math.Abs(float64(x[i])))
			}
		}
		a = append(a, x)
	}
	return a
}

func clone[F Float](a [][]F) [][]F {
	b := make([][]F, len(a))
	for i := range a {
		b[i] = slices.Clone(a[i])
	}
	return b
}

// with runs the function on copies of the arguments with a kernel and returns them.
func (f function[F]) with(k kernel.Kernel, a [][]F, cols int) ([][]F, float64) {
	defer func(k kernel.Kernel) { active = k }(active)
	active = k
	b := clone(a)
	v := f.run(b, cols)
	return b, v
}

// each runs the test for every kernel of this machine.
func each(t *testing.T, test func(t *testing.T)) {
	defer func(k kernel.Kernel) { active = k }(active)
	for _, k := range kernel.Available() {
		active = k
		t.Run(k.String(), test)
	}
}

// same is equality of bits, but for what a NaN carries.
func same[F Float](a, b F) bool {
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b)) || a != a && b != b
}
