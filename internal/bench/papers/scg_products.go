package papers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// scgSigmas are the lengths at which the error of a difference is measured.
var scgSigmas = []float64{1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16}

// scgPrice is what a gradient and an exact product cost together, in gradients alone.
type scgPrice struct {
	counted float64   // by multiplications
	timed   []float64 // by the clock, one number for each seed
	loads   []float64 // the foreign load meanwhile
}

// scgLook is what was found out about products with a seed: the errors of differences at the starting weights and at those
// where exact products reach the loss, one for each of scgSigmas, and the price of a product there.
type scgLook struct {
	Start []float64 `json:"start"`
	End   []float64 `json:"end"`
	Price float64   `json:"price"`
}

func (s *scgStudy) look(ctx context.Context, p *objective.Problem, seed uint64) (found scgLook, err error) {
	pool := reduce.NewPool(s.config.Threads)
	defer pool.Close()
	o := models.Options{Pool: pool}
	w := make([]float64, p.Network.Dim())
	p.Network.InitTo(w, p.Init, rand.New(rand.NewPCG(seed, 1)))
	l := p.Network.Bind(p.Train.Inputs, p.Train.Targets, o)
	found.Start = differenceErrors(l, w, scgSigmas)
	if err := s.descend(ctx, objective.New(p.Network, p.Train.Inputs, p.Train.Targets, o), w); err != nil {
		return found, err
	}
	found.End = differenceErrors(l, w, scgSigmas)
	found.Price = timedPrice(l, p.Network.Bind(p.Train.Inputs, p.Train.Targets, o), w)
	return found, nil
}

// descend takes the weights w to the loss with exact products.
func (s *scgStudy) descend(ctx context.Context, o optim.Objective, w []float64) error {
	info, err := methods.Lookup("scg")
	if err != nil {
		return err
	}
	state := &optim.State{
		Objective: o, W: w, Gradient: make([]float64, len(w)),
		Settings: optim.NewSettings(info.Parameters), Rand: rand.New(rand.NewPCG(0, 0)),
	}
	method := info.New()
	for range s.most {
		switch report, err := method.Step(ctx, state); {
		case errors.Is(err, optim.ErrStalled):
			return nil
		case err != nil:
			return err
		case report.Loss <= s.loss:
			return nil
		}
	}
	return nil
}

// addColumn adds one column to rows.
func addColumn(rows [][]float64, column []float64) [][]float64 {
	if rows == nil {
		rows = make([][]float64, len(column))
	}
	for i, v := range column {
		rows[i] = append(rows[i], v)
	}
	return rows
}

// differenceErrors returns ‖(E'(w + σ_k p) − E'(w))/σ_k − E”p‖/‖E”p‖ for p = −E'(w) and every σ.
func differenceErrors(l *models.Linearization, w []float64, sigmas []float64) []float64 {
	n := len(w)
	g, s, at, d := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	l.Update(w)
	l.GradientTo(g)
	p := slices.Clone(g)
	floats.Scale(-1, p)
	l.HessianTo(s, p)
	errors := make([]float64, len(sigmas))
	for i, sigma := range sigmas {
		step := sigma / floats.Norm(p, 2)
		floats.AddScaledTo(at, w, step, p)
		l.Update(at)
		l.GradientTo(d)
		floats.Sub(d, g)
		floats.Scale(1/step, d)
		errors[i] = floats.Distance(d, s, 2) / floats.Norm(s, 2)
	}
	return errors
}

// timedPrice is ProductPrice of as many rounds as fit in half a second, five at least: l has products behind its
// gradients, and alone, another linearization of the same, has none.
func timedPrice(l, alone *models.Linearization, w []float64) float64 {
	g, s := make([]float64, len(w)), make([]float64, len(w))
	var one, both []float64
	for began := time.Now(); time.Since(began) < 500*time.Millisecond || len(both) < 5; {
		t := time.Now()
		alone.Update(w)
		alone.GradientTo(g)
		one = append(one, time.Since(t).Seconds())
		t = time.Now()
		l.Update(w)
		l.GradientTo(g)
		l.HessianTo(s, g)
		both = append(both, time.Since(t).Seconds())
	}
	return ProductPrice(both, one)
}

// ProductPrice is what [M §3] says is about 2.5: the time of a gradient with an exact product behind it over that of "a
// gradient calculation alone", which keeps nothing for products. Given are the times of rounds in which both took turns;
// it is the median of the rounds' ratios.
func ProductPrice(both, alone []float64) float64 {
	each := make([]float64, min(len(both), len(alone)))
	for i := range each {
		each[i] = both[i] / alone[i]
	}
	return median(each)
}

// productPrice is ProductPrice by counted multiplications.
func productPrice(c models.Cost) float64 { return (c.Gradient + c.Hessian) / c.Gradient }

// median sorts v and returns the number in its middle.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// geometric returns exp of the mean of the logarithms.
func geometric(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(v)))
}
