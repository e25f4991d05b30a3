package datasets

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets/fault"
)

const (
	spiralsRows = 2000
	parityBits  = 8
	sineRows    = 500
)

// loadSpirals draws points along two spirals that wind around each other twice, the problem of K. J. Lang
// and M. J. Witbrock, "Learning to Tell Two Spirals Apart", 1988, in the unit disc and with a little
// noise. Points are even along the curve, so that the outer turns have as many as their length asks for.
func loadSpirals(o Options) (*Dataset, error) {
	const turns, sigma = 2, 0.02
	rows, test, err := o.generated(spiralsRows, 4, 10_000_000, fifth)
	if err != nil {
		return nil, err
	}
	t := table{inputs: mat.NewDense(rows, 2, nil), labels: make([]int, rows)}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	for i := range rows {
		class := i % 2
		r := math.Sqrt(rng.Float64())
		sin, cos := math.Sincos(math.Pi * (2*turns*r + float64(class)))
		t.inputs.SetRow(i, []float64{r*cos + sigma*rng.NormFloat64(), r*sin + sigma*rng.NormFloat64()})
		t.labels[i] = class
	}
	d := &Dataset{Name: "spirals", Classes: []string{"first", "second"}, InputNames: []string{"x", "y"},
		Title: "two intertwined spirals"}
	if err := d.split(&t, test, &o, " points"); err != nil {
		return nil, err
	}
	d.finish(unscaled(2))
	return d, nil
}

// loadParity makes all patterns of n bits, ±1 each, with the parity of the number of +1 as the class.
// Patterns that were not seen say nothing about parity, so that by default all are trained on, and
// tested with normal noise on every bit: what is learnt should hold around the corners of the cube, not
// only in them. With Options.Test a part of the patterns is kept for testing instead.
func loadParity(o Options) (*Dataset, error) {
	const sigma = 0.2
	rows, err := o.count(1<<parityBits, 4, 1<<20)
	if err == nil && rows&(rows-1) != 0 {
		err = &fault.OptionError{Field: "rows", Value: strconv.Itoa(rows),
			Expected: "a power of two, 2ⁿ rows of n bits"}
	}
	if err != nil {
		return nil, err
	}
	n := bits.TrailingZeros(uint(rows))
	d := &Dataset{Name: "parity", Title: fmt.Sprintf("parity of %d bits", n), Classes: []string{"even", "odd"}}
	for j := range n {
		d.InputNames = append(d.InputNames, fmt.Sprintf("bit%d", j))
	}
	if o.Test != "" {
		test, err := o.testRows(rows, 0)
		if err != nil {
			return nil, err
		}
		if err := d.split(patterns(n, shuffle(rows, o.Seed)), test, &o, " patterns"); err != nil {
			return nil, err
		}
	} else {
		if err := d.split(patterns(n, nil), 0, &o, " patterns"); err != nil {
			return nil, err
		}
		d.Test = patterns(n, nil).slice(0, rows)
		rng := rand.New(rand.NewPCG(o.Seed, 0))
		d.Test.Inputs.Apply(func(_, _ int, v float64) float64 { return v + sigma*rng.NormFloat64() }, d.Test.Inputs)
		d.Title += fmt.Sprintf(", all with noise (σ %g) as test patterns", sigma)
	}
	d.finish(unscaled(n))
	return d, nil
}

// patterns makes all patterns of n bits; the one that writes the number i is row positions[i], or i for nil.
func patterns(n int, positions []int) *table {
	t := &table{inputs: mat.NewDense(1<<n, n, nil), labels: make([]int, 1<<n)}
	for i := range t.labels {
		to := i
		if positions != nil {
			to = positions[i]
		}
		row := t.inputs.RawRowView(to)
		for j := range row {
			row[j] = 2*float64(i>>j&1) - 1
		}
		t.labels[to] = bits.OnesCount(uint(i)) % 2
	}
	return t
}

// loadSine draws x from [−1, 1) and makes y = sin 2πx with noise.
func loadSine(o Options) (*Dataset, error) {
	sigma := max(o.Noise, 0)
	if o.Noise == 0 {
		sigma = 0.1
	}
	rows, test, err := o.generated(sineRows, 2, 10_000_000, fifth)
	if err != nil {
		return nil, err
	}
	t := table{inputs: mat.NewDense(rows, 1, nil), targets: mat.NewDense(rows, 1, nil)}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	for i := range rows {
		x := 2*rng.Float64() - 1
		t.inputs.Set(i, 0, x)
		t.targets.Set(i, 0, math.Sin(2*math.Pi*x)+sigma*rng.NormFloat64())
	}
	d := &Dataset{Name: "sine", InputNames: []string{"x"}, TargetNames: []string{"y"}, TargetScaling: unscaled(1),
		Title: fmt.Sprintf("two waves of a sine with noise (σ %g)", sigma)}
	if err := d.split(&t, test, &o, " points"); err != nil {
		return nil, err
	}
	d.finish(unscaled(1))
	return d, nil
}

// loadBPLSLinear is the first toy problem of [T, §III-A]: ỹ₁ = −x/3 + 2, ỹ₂ = 2x − 1.
func loadBPLSLinear(o Options) (*Dataset, error) {
	return loadBPLS("bpls-linear", "two lines", o, func(x float64) []float64 { return []float64{-x/3 + 2, 2*x - 1} })
}

// loadBPLSSigmoid is the second toy problem of [T, §III-A]: ỹ₁ = 1/(1 + exp(log₁₀ x^(−3/2))),
// ỹ₂ = 1/(1 + exp(x^(−1/4))).
func loadBPLSSigmoid(o Options) (*Dataset, error) {
	return loadBPLS("bpls-sigmoid", "two curves", o, func(x float64) []float64 {
		return []float64{1 / (1 + math.Exp(math.Log10(math.Pow(x, -1.5)))), 1 / (1 + math.Exp(math.Pow(x, -0.25)))}
	})
}

// loadBPLS trains on x = 1, 3, 5, 7, 9, with noise on the targets, and tests on x = 2, 4, …, 10 without.
func loadBPLS(name, what string, o Options, f func(x float64) []float64) (*Dataset, error) {
	sigma := max(o.Noise, 0)
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	points := func(from int, sigma float64) Split {
		s := Split{Inputs: mat.NewDense(5, 1, nil), Targets: mat.NewDense(5, 2, nil)}
		for i := range 5 {
			x := float64(from + 2*i)
			y := f(x)
			s.Inputs.Set(i, 0, x)
			for j := range y {
				s.Targets.Set(i, j, y[j]+sigma*rng.NormFloat64())
			}
		}
		return s
	}
	d := &Dataset{Name: name, InputNames: []string{"x"}, TargetNames: []string{"y1", "y2"}, TargetScaling: unscaled(2),
		Title: fmt.Sprintf("toy problem of the BPLS paper, %s (σ %g)", what, sigma)}
	train := points(1, sigma)
	if err := d.split(&table{inputs: train.Inputs, targets: train.Targets}, 0, &o, " points"); err != nil {
		return nil, err
	}
	d.Test = points(2, 0)
	d.Title += ", 5 test points"
	d.finish(unscaled(1))
	return d, nil
}
