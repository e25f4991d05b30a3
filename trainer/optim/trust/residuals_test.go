package trust

import (
	"math"

	"newtop/trainer/krylov"
	"newtop/trainer/optim/internal/optimtest"
)

// residuals is ½‖r(x)‖² with r and its Jacobian by rows.
type residuals struct {
	n int
	r func(x []float64) (r []float64, j [][]float64)
}

func (o residuals) Dim() int { return o.n }

func (o residuals) Loss(w []float64) float64 {
	r, _ := o.r(w)
	sum := 0.0
	for _, x := range r {
		sum += x * x
	}
	return sum / 2
}

func (o residuals) GradientTo(dst, w []float64) float64 {
	r, j := o.r(w)
	clear(dst)
	for p, row := range j {
		for i, x := range row {
			dst[i] += x * r[p]
		}
	}
	return o.Loss(w)
}

func (o residuals) GaussNewton(w []float64) krylov.Operator {
	_, j := o.r(w)
	return optimtest.Product{N: o.n, Mul: func(dst, v []float64) {
		clear(dst)
		for _, row := range j {
			jv := 0.0
			for i, x := range row {
				jv += x * v[i]
			}
			for i, x := range row {
				dst[i] += x * jv
			}
		}
	}}
}

func (o residuals) GaussNewtonDiagTo(dst, w []float64) {
	_, j := o.r(w)
	clear(dst)
	for _, row := range j {
		for i, x := range row {
			dst[i] += x * x
		}
	}
}

// lifted adds a number to a loss.
type lifted struct {
	residuals
	offset float64
}

func (o lifted) Loss(w []float64) float64 { return o.residuals.Loss(w) + o.offset }

func (o lifted) GradientTo(dst, w []float64) float64 {
	return o.residuals.GradientTo(dst, w) + o.offset
}

// Functions of Moré, Garbow & Hillstrom 1981 as residuals, by their numbers there.
var (
	rosenbrock = residuals{2, func(x []float64) ([]float64, [][]float64) { // (1)
		return []float64{10 * (x[1] - x[0]*x[0]), 1 - x[0]}, [][]float64{{-20 * x[0], 10}, {-1, 0}}
	}}
	powellBadlyScaled = residuals{2, func(x []float64) ([]float64, [][]float64) { // (3)
		a, b := math.Exp(-x[0]), math.Exp(-x[1])
		return []float64{1e4*x[0]*x[1] - 1, a + b - 1.0001}, [][]float64{{1e4 * x[1], 1e4 * x[0]}, {-a, -b}}
	}}
	helicalValley = residuals{3, func(x []float64) ([]float64, [][]float64) { // (7)
		turn := math.Atan2(x[1], x[0]) / (2 * math.Pi)
		if turn < -0.25 { // the branch of MGH: from −¼ to ¾
			turn++
		}
		s := x[0]*x[0] + x[1]*x[1]
		d := math.Sqrt(s)
		return []float64{10 * (x[2] - 10*turn), 10 * (d - 1), x[2]}, [][]float64{
			{100 * x[1] / (2 * math.Pi * s), -100 * x[0] / (2 * math.Pi * s), 10},
			{10 * x[0] / d, 10 * x[1] / d, 0},
			{0, 0, 1},
		}
	}}
	powellSingular = residuals{4, func(x []float64) ([]float64, [][]float64) { // (13)
		r5, r10 := math.Sqrt(5), math.Sqrt(10)
		u, v := x[1]-2*x[2], x[0]-x[3]
		return []float64{x[0] + 10*x[1], r5 * (x[2] - x[3]), u * u, r10 * v * v}, [][]float64{
			{1, 10, 0, 0}, {0, 0, r5, -r5}, {0, 2 * u, -4 * u, 0}, {2 * r10 * v, 0, 0, -2 * r10 * v},
		}
	}}
	wood = residuals{4, func(x []float64) ([]float64, [][]float64) { // (14)
		r90, r10 := math.Sqrt(90), math.Sqrt(10)
		return []float64{
				10 * (x[1] - x[0]*x[0]), 1 - x[0], r90 * (x[3] - x[2]*x[2]), 1 - x[2],
				r10 * (x[1] + x[3] - 2), (x[1] - x[3]) / r10,
			}, [][]float64{
				{-20 * x[0], 10, 0, 0}, {-1, 0, 0, 0}, {0, 0, -2 * r90 * x[2], r90}, {0, 0, -1, 0},
				{0, r10, 0, r10}, {0, 1 / r10, 0, -1 / r10},
			}
	}}
)

// asResiduals are these functions, where Moré, Garbow & Hillstrom start, and steps that are enough.
var asResiduals = []struct {
	name  string
	o     residuals
	x     []float64
	steps int
}{
	{"Rosenbrock", rosenbrock, []float64{-1.2, 1}, 100},
	{"Powell badly scaled", powellBadlyScaled, []float64{0, 1}, 400},
	{"helical valley", helicalValley, []float64{-1, 0, 0}, 100},
	{"Powell singular", powellSingular, []float64{3, -1, 0, 1}, 100},
	{"Wood", wood, []float64{-3, -1, -3, -1}, 200},
}
