package bench

import (
	"time"

	"newtop/models"
	"newtop/models/reduce"
)

// Scaling is how a pass of the letter net grows with the rows, or with the weights where all layers become wider.
type Scaling struct {
	Pass   string  `json:"pass"`
	With   string  `json:"with"`
	Points []Point `json:"points"`
	Fit            // of BestMS over Size
	Goal   *Goal   `json:"goal"` // of the exponent
}

// Point is one size.
type Point struct {
	Size     int     `json:"size"`
	MedianMS float64 `json:"median_ms"`
	BestMS   float64 `json:"best_ms"`
}

// What a pass may grow with.
const (
	withRows    = "rows"
	withWeights = "weights"
)

// wantedExponent bounds the growth: linear, and a little for what no longer fits a cache.
const wantedExponent = 1.05

// sizes are where the growth is looked at. With more weights there are rows/8 rows.
func (o *Options) sizes() (rows []int, scales []float64) {
	rows = []int{o.Rows / 8, o.Rows / 4, o.Rows / 2, o.Rows, o.Rows * 2, o.Rows * 4}
	scales = []float64{0.5, 1, 1.5, 2, 3, 4}
	if o.Quick {
		return rows[:4], scales[:4]
	}
	return rows, scales
}

func measureScaling(c *clock, budget time.Duration, o *Options) []Scaling {
	pool := reduce.NewPool(o.Threads)
	defer pool.Close()
	rows, scales := o.sizes()
	var byRows, byWeights []*models.Linearization
	p := newProblem(1, rows[len(rows)-1])
	for _, n := range rows {
		byRows = append(byRows, p.bind(n, models.Options{Pool: pool}))
	}
	out := measureGrowth(c, budget/2, withRows, rows, byRows)
	byRows = nil
	var weights []int
	for _, scale := range scales {
		p := newProblem(scale, rows[0])
		byWeights = append(byWeights, p.bind(rows[0], models.Options{Pool: pool}))
		weights = append(weights, p.net.Dim())
	}
	return append(out, measureGrowth(c, budget/2, withWeights, weights, byWeights)...)
}

// measureGrowth measures gradients and products of all sizes in turn.
func measureGrowth(c *clock, budget time.Duration, with string, sizes []int, all []*models.Linearization) []Scaling {
	var calls []func()
	for _, l := range all {
		w, v, dst := make([]float64, l.Dim()), make([]float64, l.Dim()), make([]float64, l.Dim())
		copy(w, some(l.Dim()))
		copy(v, some(l.Dim()))
		calls = append(calls, func() { l.Update(w) }, func() { l.HessianTo(dst, v) })
	}
	ns := c.rounds(budget, calls...)
	out := []Scaling{{Pass: passGradient, With: with}, {Pass: passHessian, With: with}}
	if c.ctx.Err() != nil {
		return out
	}
	for i := range out {
		s := &out[i]
		var x, y []float64
		for j, size := range sizes {
			t := summarize(ns[2*j+i])
			point := Point{Size: size}
			point.MedianMS, point.BestMS = t.milliseconds()
			s.Points = append(s.Points, point)
			x, y = append(x, float64(size)), append(y, t.best)
		}
		s.Fit = fitPower(x, y)
		s.Goal = atMost(s.Exponent, wantedExponent)
	}
	return out
}
