// Package verify holds what methods and passes compute, step by step, against references that others computed: PyTorch,
// and NumPy from the papers (.ci/verify). Both sides have the same weights, rows, settings and random numbers.
package verify

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/packed"
	"newtop/models"
)

// References are what .ci/verify/make.py writes.
type References struct {
	Versions   map[string]string  // of the programs that computed them
	Factor     float64            // a bound is this times a spread
	Problems   map[string]Problem // by name
	Passes     []Passes
	Cases      []Case
	NotCovered []string // what no case can have
}

// Problem is a net, its rows and its first weights, all of them exact in float32.
type Problem struct {
	Layers      []int // nodes, from the inputs on
	Activations []models.Activation
	Connections [][2]int // to and from
	Loss        models.LossFunction
	L2          float64
	X, T        [][]float64
	W           []float64
}

// Passes are the numbers of passes at a problem's first weights, in the order of Measured.
type Passes struct {
	Problem string
	Values  []float64
	Spread  map[string][]float64 // by precision, one for each number
}

// Case is a method on a problem.
type Case struct {
	Method    string
	Variant   string // what is special about the settings, in words
	Problem   string
	Curvature string            // of the products that are measured: hessian, gauss-newton or none
	Settings  map[string]string // all that the digits depend on
	Epochs    int               // that the run is planned to have
	Steps     []Step
	Spread    map[string][]float64 // by precision, one for each step: how far rounding moves the reference's numbers
}

// Step is what is compared after an epoch.
type Step struct {
	Solves string    // of each inner solve the iterations and the letter of its stop
	Values []float64 // the names of which are numberNames
	Rho    *float64
}

//go:embed reference.json.gz
var packedReferences []byte

// Embedded returns the references that the program has.
var Embedded = sync.OnceValue(func() *References {
	r, err := Read([]byte(packed.Text(packedReferences)))
	if err != nil {
		panic("verify: embedded references: " + err.Error())
	}
	return r
})

// Read reads references, and checks that their sizes fit together.
func Read(text []byte) (*References, error) {
	r := new(References)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, err
	}
	for name, p := range r.Problems {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("problem %q: %w", name, err)
		}
	}
	fits := func(problem string, spread map[string][]float64, count int) error {
		if r.Problems[problem].Layers == nil {
			return fmt.Errorf("there is no problem %q", problem)
		}
		for precision, numbers := range spread {
			if _, err := models.ParsePrecision(precision); err != nil || len(numbers) != count {
				return fmt.Errorf("%d spreads in %s: expected %d", len(numbers), precision, count)
			}
		}
		return nil
	}
	for i := range r.Passes {
		p := &r.Passes[i]
		if err := fits(p.Problem, p.Spread, len(p.Values)); err != nil {
			return nil, fmt.Errorf("passes %d: %w", i+1, err)
		}
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		err := fits(c.Problem, c.Spread, len(c.Steps))
		count := len(numberNames)
		if c.Curvature == "" {
			count--
		}
		for _, step := range c.Steps {
			if len(step.Values) != count && err == nil {
				err = fmt.Errorf("%d numbers of a step: expected %d", len(step.Values), count)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("case %d, %s: %w", i+1, c.Method, err)
		}
	}
	return r, nil
}

// check says what of a problem does not fit together.
func (p *Problem) check() error {
	layers := len(p.Activations)
	if layers == 0 || len(p.Layers) != layers+1 || len(p.X) == 0 || len(p.X) != len(p.T) {
		return errors.New("expected layers, an activation for each but the first, and rows of inputs and targets")
	}
	for i := range p.X {
		if len(p.X[i]) != p.Layers[0] || len(p.T[i]) != p.Layers[layers] {
			return fmt.Errorf("row %d: expected %d inputs and %d targets", i+1, p.Layers[0], p.Layers[layers])
		}
	}
	n, _, _, err := p.network(models.Double)
	if err == nil && n.Dim() != len(p.W) {
		err = fmt.Errorf("%d weights: expected %d", len(p.W), n.Dim())
	}
	return err
}

// network returns the problem's net in a precision, and its rows.
func (p *Problem) network(precision models.Precision) (n *models.Network, x, t *mat.Dense, err error) {
	a := models.Architecture{Inputs: p.Layers[0], Loss: p.Loss}
	for i, nodes := range p.Layers[1:] {
		a.Layers = append(a.Layers, models.Layer{Nodes: nodes, Activation: p.Activations[i]})
	}
	for _, c := range p.Connections {
		a.Connections = append(a.Connections, models.Connection{To: c[0], From: c[1]})
	}
	if n, err = models.NewNetwork(a); err != nil {
		return nil, nil, nil, err
	}
	return n.In(precision), dense(p.X), dense(p.T), nil
}

func dense(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	return m
}

// splitMix is SplitMix64 (Steele, Lea & Flood 2014), which the scripts have too.
type splitMix uint64

// Uint64 is rand.Source's.
func (s *splitMix) Uint64() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// signs returns n numbers ±1, along which vectors are projected and products taken: −1 where a draw is odd.
func signs(n int) []float64 {
	v, s := make([]float64, n), splitMix(1)
	for i := range v {
		v[i] = 1 - 2*float64(s.Uint64()&1)
	}
	return v
}
