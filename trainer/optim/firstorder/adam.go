package firstorder

import (
	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// Adam is Adam.
var Adam = optim.Info{
	Name:      "adam",
	Title:     "Adam",
	Paper:     "Kingma & Ba 2015",
	Equations: "algorithm 1",
	Summary: "A rate for each weight from running moments of its gradient; " +
		"quick on most nets without tuning, the first-order method to beat.",
	Cost:    "1",
	Primary: "rate",
	Needs:   optim.NeedsRows,
	Planned: minibatch.Planned,
	Parameters: minibatch.Parameters(
		minibatch.Rate.Starting(1e-3, kingma), Beta1, Beta2, Epsilon.Starting(1e-8, kingma),
		minibatch.Size.Starting(64),
	),
	New: func() optim.Method { return &minibatch.Method{Update: new(adam)} },
}

const kingma = "Kingma & Ba 2015, algorithm 1"

// The hyperparameters of Adam.
var (
	Beta1 = &optim.Number{Key: "beta1", Meaning: "β₁, decay of the gradient's mean", Default: 0.9, Max: 1,
		OpenMax: true, Source: kingma}
	Beta2 = &optim.Number{Key: "beta2", Meaning: "β₂, decay of its square's mean", Default: 0.999, Max: 1,
		OpenMax: true, Source: kingma}
)

// Adam (Kingma & Ba 2015, algorithm 1), its names kept: biased moments m and v of the gradient and its
// square, corrected by 1 − β₁ᵗ and 1 − β₂ᵗ. With a decay it is AdamW (Loshchilov & Hutter 2019, algorithm 2).
type adam struct {
	step vector.AdamStep
	minibatch.Memory[moments]

	single bool      // whether the moments are kept in single precision
	m, v   []float32 // these, in place of M and V; nil: M and V are the moments
}

type moments struct {
	M      []float64 `archive:"m"`
	V      []float64 `archive:"v"`
	Beta1t float64   `archive:"beta1^t"` // β₁ᵗ and β₂ᵗ as products, right also when a β is changed on the way
	Beta2t float64   `archive:"beta2^t"`
}

func (a *adam) Begin(s *optim.State, rate float64) {
	if a.Moves == nil {
		a.Moves = &moments{Beta1t: 1, Beta2t: 1}
	}
	a.settle(len(s.W))
	k, beta1, beta2 := a.Moves, Beta1.Of(s.Settings), Beta2.Of(s.Settings)
	k.Beta1t *= beta1
	k.Beta2t *= beta2
	a.step = vector.AdamStep{
		Rate: rate, Beta1: beta1, Beta2: beta2, Epsilon: Epsilon.Of(s.Settings),
		Correct1: 1 / (1 - k.Beta1t), Correct2: 1 / (1 - k.Beta2t),
	}
}

// settle has the moments of n weights in the precision that they are kept in.
func (a *adam) settle(n int) {
	k := a.Moves
	switch {
	case !a.single && a.m != nil:
		a.Carried()
		a.m, a.v = nil, nil
	case !a.single && k.M == nil:
		k.M, k.V = make([]float64, n), make([]float64, n)
	case a.single && a.m == nil:
		a.m, a.v = make([]float32, n), make([]float32, n)
		vector.Narrow(a.m[:len(k.M)], k.M)
		vector.Narrow(a.v[:len(k.V)], k.V)
		fallthrough
	case a.single:
		k.M, k.V = nil, nil
	}
}

// Carried is the memory in double precision, which has the digits of single precision too.
func (a *adam) Carried() any {
	if k := a.Moves; k != nil && a.m != nil && k.M == nil {
		k.M, k.V = make([]float64, len(a.m)), make([]float64, len(a.v))
		vector.Widen(k.M, a.m)
		vector.Widen(k.V, a.v)
	}
	return &a.Memory
}

// Restored forgets what is not the memory that was carried.
func (a *adam) Restored(*optim.State) error {
	a.m, a.v = nil, nil
	return nil
}

// KeepSingle is minibatch.Single's.
func (a *adam) KeepSingle(single bool) { a.single = single }

func (a *adam) Move(w, g []float64, first int) {
	k := a.Moves
	vector.Adam(w, k.M[first:][:len(w)], k.V[first:][:len(w)], g, &a.step)
}

// MoveSingle is Move.
func (a *adam) MoveSingle(w, g []float32, first int) {
	vector.Adam(w, a.m[first:][:len(w)], a.v[first:][:len(w)], g, &a.step)
}
