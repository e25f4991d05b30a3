package umbridge

import "math"

// banana is sign·((1−x)² + 100(y−x²)²): Rosenbrock's function, or the logarithm of a density of that shape.
func banana(sign float64) model {
	return model{
		name: "banana", inputs: []int{2}, outputs: []int{1},
		evaluate: func(in [][]float64) []float64 {
			x, y := in[0][0], in[0][1]
			return []float64{sign * ((1-x)*(1-x) + 100*(y-x*x)*(y-x*x))}
		},
		gradient: func(_ int, in [][]float64, sens []float64) []float64 {
			x, y := in[0][0], in[0][1]
			s := sign * sens[0]
			return []float64{s * (-2*(1-x) - 400*x*(y-x*x)), s * 200 * (y - x*x)}
		},
		hessian: func(_, _ int, in [][]float64, sens, v []float64) []float64 {
			x, y := in[0][0], in[0][1]
			s := sign * sens[0]
			return []float64{s * ((2-400*y+1200*x*x)*v[0] - 400*x*v[1]), s * (-400*x*v[0] + 200*v[1])}
		},
	}
}

var (
	times = []float64{0, 0.5, 1, 2}
	data  = []float64{1, 1.5, 3, 7}
)

// decay has the residuals a·exp(b t) − data, of two inputs a and b.
func decay() model {
	column := func(input int, x [][]float64) []float64 {
		out := []float64{}
		for _, t := range times {
			e := math.Exp(x[1][0] * t)
			out = append(out, []float64{e, x[0][0] * t * e}[input])
		}
		return out
	}
	return model{
		name: "decay", inputs: []int{1, 1}, outputs: []int{4},
		evaluate: func(x [][]float64) []float64 {
			out := []float64{}
			for i, t := range times {
				out = append(out, x[0][0]*math.Exp(x[1][0]*t)-data[i])
			}
			return out
		},
		gradient: func(i int, x [][]float64, sens []float64) []float64 {
			sum := 0.0
			for k, c := range column(i, x) {
				sum += c * sens[k]
			}
			return []float64{sum}
		},
		jacobian: func(i int, x [][]float64, vec []float64) []float64 {
			out := column(i, x)
			for k := range out {
				out[k] *= vec[0]
			}
			return out
		},
	}
}

// coupled is x₀²y₁ + 3x₁y₀ + y₀³ + z, whose block of x and y is not symmetric; one input has no numbers. vec is a change of
// inWrt2, or of inWrt1.
func coupled(first bool) model {
	block := func(i, j int, in [][]float64) [][]float64 {
		x, y := in[0], in[2]
		switch [2]int{i, j} {
		case [2]int{0, 0}:
			return [][]float64{{2 * y[1], 0}, {0, 0}}
		case [2]int{0, 2}:
			return [][]float64{{0, 2 * x[0]}, {3, 0}}
		case [2]int{2, 0}:
			return [][]float64{{0, 3}, {2 * x[0], 0}}
		case [2]int{2, 2}:
			return [][]float64{{6 * y[0], 0}, {0, 0}}
		case [2]int{3, 3}:
			return [][]float64{{0}}
		case [2]int{0, 3}, [2]int{2, 3}:
			return [][]float64{{0}, {0}}
		case [2]int{3, 0}, [2]int{3, 2}:
			return [][]float64{{0, 0}}
		}
		return nil
	}
	return model{
		name: "coupled", inputs: []int{2, 0, 2, 1}, outputs: []int{1},
		evaluate: func(in [][]float64) []float64 {
			x, y := in[0], in[2]
			return []float64{x[0]*x[0]*y[1] + 3*x[1]*y[0] + y[0]*y[0]*y[0] + in[3][0]}
		},
		gradient: func(i int, in [][]float64, sens []float64) []float64 {
			x, y := in[0], in[2]
			return [][]float64{{2 * x[0] * y[1] * sens[0], 3 * y[0] * sens[0]}, nil,
				{(3*x[1] + 3*y[0]*y[0]) * sens[0], x[0] * x[0] * sens[0]}, {sens[0]}}[i]
		},
		hessian: func(i, j int, in [][]float64, sens, vec []float64) []float64 {
			if first {
				i, j = j, i
			}
			rows := block(i, j, in)
			if rows == nil || len(rows[0]) != len(vec) {
				return nil
			}
			out := []float64{}
			for _, row := range rows {
				sum := 0.0
				for k, a := range row {
					sum += sens[0] * a * vec[k]
				}
				out = append(out, sum)
			}
			return out
		},
	}
}
