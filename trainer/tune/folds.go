package tune

import (
	"math"
	"strconv"

	"newtop/trainer/event"
)

// Cross-validation is a search whose trials are the folds of one configuration, Base: each is trained to its own end,
// none is given up, nothing is sampled and nothing measured again.

// foldKey is the dimension of the trials of a cross-validation.
const foldKey = "fold"

// Crosses reports whether the search is a cross-validation.
func (c *Config) Crosses() bool {
	return c.Base.Folds > 0 && c.Base.Fold == 0 && !c.Base.FoldCommittee()
}

// folds returns how many trials a cross-validation has; 0 for a search.
func (c *Config) folds() int {
	if c.Crosses() {
		return c.Base.Folds
	}
	return 0
}

// fold makes a cross-validation try each fold once.
func (c *Config) fold() {
	d := Dimension{Key: foldKey}
	for i := range c.Base.Folds {
		d.Choices = append(d.Choices, strconv.Itoa(i+1))
	}
	c.Over, c.Trials, c.Finals, c.Seeds = []Dimension{d}, c.Base.Folds, -1, 1
}

// foldOf returns the choices of a trial of a cross-validation.
func (c *Config) foldOf(number int) []Choice {
	return []Choice{{Key: foldKey, Value: strconv.Itoa(number),
		Number: float64(number-1) / float64(max(c.Base.Folds-1, 1))}}
}

// Spread is the mean of some figures and how far they are apart.
type Spread struct {
	N         int
	Mean      float64 // NaN of none
	Deviation float64 // standard deviation, of a sample: over N − 1; NaN of fewer than two
	Error     float64 // standard error of the mean: Deviation/√N
}

// SpreadOf returns that of the figures that are finite.
func SpreadOf(values []float64) Spread {
	s := Spread{Mean: math.NaN(), Deviation: math.NaN(), Error: math.NaN()}
	sum := 0.0
	for _, v := range values {
		if event.Float(v).Finite() {
			sum += v
			s.N++
		}
	}
	if s.N > 0 {
		s.Mean = sum / float64(s.N)
	}
	if s.N < 2 {
		return s
	}
	squares := 0.0
	for _, v := range values {
		if event.Float(v).Finite() {
			squares += (v - s.Mean) * (v - s.Mean)
		}
	}
	s.Deviation = math.Sqrt(squares / float64(s.N-1))
	s.Error = s.Deviation / math.Sqrt(float64(s.N))
	return s
}

// Crossed returns the spread of the validation figures and of the test figures of the folds that are done, each of the
// epoch whose weights the fold ends with.
func (b *Leaderboard) Crossed() (validation, test Spread) {
	var of, held []float64
	for i := range b.Trials {
		if t := &b.Trials[i]; t.State == Done {
			of, held = append(of, float64(t.Best)), append(held, float64(t.Test))
		}
	}
	return SpreadOf(of), SpreadOf(held)
}
