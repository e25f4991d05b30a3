package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"newtop/internal/format"
)

// Init is a rule for first weights. The zero value is Xavier's. Fan-in means all the nodes that a node
// takes from, skips included, on average over its layer: a sparse layer has one spread, like a dense one.
type Init struct {
	rule  initRule
	scale float64
}

type initRule uint8

const (
	xavier  initRule = iota // U[−a, a], a = √(6/(fan-in + fan-out)), biases 0 (Glorot & Bengio 2010, eq. 16)
	he                      // normal, σ = √(2/fan-in), biases 0 (He et al. 2015, eq. 10)
	lecun                   // normal, σ = √(1/fan-in), biases 0 (LeCun et al. 1998, §4.6)
	uniform                 // U[−scale, scale], biases too (scale 0.2 in [MD, §4])
	normal                  // normal, σ = scale, biases too
)

var initRules = [...]string{xavier: "xavier", he: "he", lecun: "lecun", uniform: "uniform", normal: "normal"}

const expectedInit = "uniform:A, normal:S, xavier, he or lecun"

// ParseInit reads "uniform:A" (from −A to A), "normal:S" (standard deviation S), "xavier", "he" or
// "lecun". It returns a *NameError for anything else.
func ParseInit(text string) (Init, error) {
	name, number, scaled := strings.Cut(text, ":")
	for rule, known := range initRules {
		i := Init{rule: initRule(rule)}
		if name != known || scaled != i.scaled() {
			continue
		}
		if !scaled {
			return i, nil
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsInf(v, 0) || !(v > 0) {
			return Init{}, &NameError{Field: "init", Value: text, Expected: name + ": with a number above 0"}
		}
		i.scale = v
		return i, nil
	}
	return Init{}, &NameError{Field: "init", Value: text, Expected: expectedInit +
		format.DidYouMean(name, initRules[:])}
}

func (i Init) scaled() bool { return i.rule == uniform || i.rule == normal }

// String returns what ParseInit reads.
func (i Init) String() string {
	if i.scaled() {
		return initRules[i.rule] + ":" + strconv.FormatFloat(i.scale, 'g', -1, 64)
	}
	return initRules[i.rule]
}

// fill stores first weights of n in w, in the order of the flat vector.
func (i Init) fill(n *layout, w []float64, rng *rand.Rand) {
	clear(w[n.ExpertDim():])
	for _, b := range n.biases {
		incoming, fanIn := n.net.Incoming[b.Layer], 0
		for k := range incoming {
			fanIn += incoming[k].Size()
		}
		draw := i.drawer(float64(fanIn)/float64(b.Nodes), float64(b.Nodes), rng)
		for k := range incoming {
			draws(w[incoming[k].Offset:][:incoming[k].Size()], draw)
		}
		if bias := w[b.Offset:][:b.Nodes]; i.scaled() {
			draws(bias, draw)
		} else {
			clear(bias)
		}
	}
}

func (i Init) drawer(fanIn, fanOut float64, rng *rand.Rand) func() float64 {
	symmetric := func(a float64) func() float64 {
		return func() float64 { return a * (2*rng.Float64() - 1) }
	}
	gaussian := func(sigma float64) func() float64 {
		return func() float64 { return sigma * rng.NormFloat64() }
	}
	switch i.rule {
	case xavier:
		return symmetric(math.Sqrt(6 / (fanIn + fanOut)))
	case he:
		return gaussian(math.Sqrt(2 / fanIn))
	case lecun:
		return gaussian(math.Sqrt(1 / fanIn))
	case uniform:
		return symmetric(i.scale)
	case normal:
		return gaussian(i.scale)
	}
	panic(fmt.Sprintf("models: init rule %d", i.rule))
}

func draws(w []float64, draw func() float64) {
	for i := range w {
		w[i] = draw()
	}
}

// InitTo stores first weights in w. It draws from rng in the order of the flat vector. Gates are the
// Architecture's.
func (n *layout) InitTo(w []float64, i Init, rng *rand.Rand) {
	n.checkWeights("InitTo", "w", w)
	i.fill(n, w, rng)
}
