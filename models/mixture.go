package models

import (
	"fmt"
	"math"
	"slices"
)

// Mixture makes the last layer of an Architecture a mixture of experts [MD, §3]: its net inputs are
// v^L = Σ_i g_i(h) o_i, where o_i are the outputs of the layer that takes part by the Connection with Gate
// i + 1, h is one column of x and g_i = μ_i / Σ_j μ_j shares out the row by bells
//
//	μ_i(h) = 1 / (1 + |(h − c_i)/a_i|^(2b_i))
//
// The gates' parameters are weights like all others and lie behind them in the flat vector, see
// Network.Gates.
type Mixture struct {
	// Feature is the column of x that the gates look at, as it stands there: scaled if the inputs are. It
	// may be an input, or one of the Architecture's Features behind them.
	Feature int `json:"feature"`
	// Period is after how much the feature repeats itself, as an angle does after 360 degrees: h − c is
	// then taken the nearest way round. 0: never.
	Period float64 `json:"period,omitempty"`
	// Gates are those that weights begin with, one for each expert.
	Gates []Gate `json:"gates"`
}

// Gate is a generalized bell. It is ½ at the distance Width, a, from its Center, c, and falls there with
// −Slope/(2·Width), b being the Slope. Width and Slope are above 0.
type Gate struct {
	Width  float64 `json:"width"`
	Slope  float64 `json:"slope"`
	Center float64 `json:"center"`
}

// Experts returns count equal chains of layers side by side, combined by the gates of a mixture: those of
// 16-16-10 nets have 442 weights each. Their outputs are combined before the activation out where that is
// softmax or the loss is cross-entropy, and after it otherwise. If m's feature is no input, the architecture
// has Features up to it. It panics unless m has count gates.
func Experts(inputs int, hidden []int, outputs, count int, act, out Activation, loss LossFunction,
	m Mixture) Architecture {
	if len(m.Gates) != count || count < 1 {
		panic(fmt.Sprintf("models: Experts: %d gates for %d experts", len(m.Gates), count))
	}
	expert, combined := out, Identity
	if out == Softmax || loss == CrossEntropy {
		expert, combined = Identity, out
	}
	a := Architecture{Inputs: inputs, Loss: loss, Mixture: &m, Features: max(0, m.Feature+1-inputs)}
	last := count*(len(hidden)+1) + 1
	for i := range count {
		chain := Chain(inputs, hidden, outputs, act, expert, loss, SkipNone)
		first := len(a.Layers)
		for _, l := range chain.Layers {
			l.Name = fmt.Sprintf("expert %d %s", i+1, l.Name)
			a.Layers = append(a.Layers, l)
		}
		for _, c := range chain.Connections {
			c.To += first
			if c.From > 0 {
				c.From += first
			}
			a.Connections = append(a.Connections, c)
		}
		a.Connections = append(a.Connections, Connection{To: last, From: len(a.Layers), Gate: i + 1})
	}
	a.Layers = append(a.Layers, Layer{"output", outputs, combined})
	return a.clone()
}

// spreadTail is the part of the values that DefaultGates leaves out at either end of the range it covers,
// so that a few far ones do not get experts of their own.
const spreadTail = 0.05

// DefaultGates returns count gates for a feature with these values. Their centers are evenly spread: over
// the period from 0 on, or without one over the middle nine tenths of the values. Neighbours cross at ½,
// with slope 2. Values that are not finite do not count.
func DefaultGates(values []float64, count int, period float64) []Gate {
	if count < 1 || !(period >= 0) {
		panic(fmt.Sprintf("models: DefaultGates: %d gates, period %g", count, period))
	}
	gates := make([]Gate, count)
	first, step := 0.0, period/float64(count)
	if period == 0 {
		low, high := span(values)
		step = (high - low) / float64(count)
		first = low + step/2
	}
	for i := range gates {
		gates[i] = Gate{Width: step / 2, Slope: 2, Center: first + float64(i)*step}
	}
	return gates
}

// span returns the range of the middle values, of all if the middle ones are equal, and some range if all
// are.
func span(values []float64) (low, high float64) {
	v := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	if len(v) == 0 {
		return -1, 1
	}
	slices.Sort(v)
	last := len(v) - 1
	tail := int(spreadTail * float64(len(v)))
	low, high = v[tail], v[last-tail]
	if !(high > low) {
		low, high = v[0], v[last]
	}
	if !(high > low) {
		width := max(1, math.Abs(low))
		return low - width, low + width
	}
	return low, high
}

func (m *Mixture) clone() *Mixture {
	if m == nil {
		return nil
	}
	c := *m
	c.Gates = slices.Clone(m.Gates)
	return &c
}

// checkMixture returns an *ArchitectureError unless the gates are bells, each with one expert of the
// output layer's width, and nothing else goes into the output layer.
func (a *Architecture) checkMixture() error {
	if a.Features < 0 {
		return &ArchitectureError{Reason: fmt.Sprintf("%d features: expected at least 0", a.Features)}
	}
	if a.Mixture == nil {
		for _, c := range a.Connections {
			if c.Gate != 0 {
				return a.fault(c.To, "takes from layer %d by gate %d: the network has no mixture", c.From, c.Gate)
			}
		}
		return nil
	}
	if err := a.Mixture.check(a.Inputs + a.Features); err != nil {
		return err
	}
	count := len(a.Mixture.Gates)
	joined := make([]bool, count+1)
	for _, c := range a.Connections {
		if c.To < len(a.Layers) {
			if c.Gate != 0 {
				return a.fault(c.To, "takes from layer %d by gate %d: expected none but into the last layer", c.From,
					c.Gate)
			}
			continue
		}
		nodes, expected := a.nodes(c.From), a.nodes(c.To)
		switch {
		case c.Gate < 1 || c.Gate > count:
			return a.fault(c.To, "takes from layer %d by gate %d: expected 1 to %d in a mixture", c.From, c.Gate, count)
		case joined[c.Gate]:
			return a.fault(c.To, "takes from two layers by gate %d", c.Gate)
		case c.From == 0:
			return a.fault(c.To, "takes from the inputs by gate %d: expected a layer", c.Gate)
		case c.Sources != nil:
			return a.fault(c.To, "takes from layer %d by gate %d and a list of sources: expected only one", c.From,
				c.Gate)
		case nodes != expected:
			return a.fault(c.To, "takes from layer %d by gate %d, which has %d nodes: expected %d", c.From, c.Gate,
				nodes, expected)
		}
		joined[c.Gate] = true
	}
	if i := slices.Index(joined[1:], false); i >= 0 {
		return a.fault(len(a.Layers), "takes from no layer by gate %d", i+1)
	}
	return nil
}

func (m *Mixture) check(columns int) error {
	fault := func(format string, args ...any) error {
		return &ArchitectureError{Reason: "mixture: " + fmt.Sprintf(format, args...)}
	}
	switch {
	case len(m.Gates) == 0:
		return fault("no gates: expected at least 1")
	case m.Feature < 0 || m.Feature >= columns:
		return fault("feature %d: expected a column from 0 to %d", m.Feature, columns-1)
	case !(m.Period >= 0) || math.IsInf(m.Period, 0):
		return fault("period %g: expected a number above 0, or 0 for none", m.Period)
	}
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 0) }
	for i, g := range m.Gates {
		if !positive(g.Width) || !positive(g.Slope) || math.IsNaN(g.Center) || math.IsInf(g.Center, 0) {
			return fault("gate %d has width %g, slope %g and center %g: expected finite numbers, the first two above 0",
				i+1, g.Width, g.Slope, g.Center)
		}
	}
	return nil
}
