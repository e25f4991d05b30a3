package trust

import (
	"slices"

	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/kronecker"
)

// Factored chooses M for the Gauss–Newton matrix alone.
var Factored = &optim.Choice{
	Key: "preconditioner", Meaning: "M = I, or K-FAC's matrix, whose factors come from the rows of the solve",
	Choices: []string{"none", preconditionerKFAC}, Source: "Martens & Grosse 2015", Late: true,
}

// Damping is γ of K-FAC's matrix.
var Damping = &optim.Number{
	Key: "damping", Meaning: "γ, added to K-FAC's matrix where that is M", Default: 1e-3, Max: optim.Inf, Open: true,
	OpenMax: true, Late: true,
}

const preconditionerKFAC = "kfac"

func factored(s *optim.Settings) bool { return Factored.Of(s) == preconditionerKFAC }

// What M does as kronecker.KFAC does.
const (
	factorDecay = 0.95
	factorSide  = 512
)

// roots is what of M is carried.
type roots struct {
	Factors *kronecker.CurvatureFactors `archive:"factors"`
	At      []float64                   `archive:"factors at"` // the weights that they were renewed for
	Index   int                         `archive:"factors part"`
	Parts   int                         `archive:"factors parts"`
}

// scaling has the solve in variables ŝ = M^½s, in which M is I: it is that of ĝ = M^−½g and Ĥ = M^−½HM^−½.
type scaling struct {
	state     *optim.State
	curvature *kronecker.Curvature
	h         krylov.Operator
	g, x, y   []float64
	spent     float64 // multiplications that were not charged
}

// scale returns Ĥ and ĝ of a solve for some rows at w, after M is renewed where w is another, or γ.
func scale(t *trust, s *optim.State, rows part, w []float64, h krylov.Operator, g []float64) (krylov.Operator,
	[]float64, error) {
	if err := optim.Offers(s.Objective, optim.NeedsFactors); err != nil {
		return nil, nil, err
	}
	if err := restoreScaling(t, s); err != nil {
		return nil, nil, err
	}
	k, m, gamma := t.state.K, t.scaling, Damping.Of(s.Settings)
	moved := !slices.Equal(k.At, w) || rows != (part{k.Index, k.Parts})
	if moved {
		var some []int
		for row := rows.index; row < s.Objective.(optim.FactorObjective).Rows(); row += rows.of {
			some = append(some, row)
		}
		m.curvature.Update(w, some, factorDecay, s.Rand)
		k.At, k.Index, k.Parts = append(k.At[:0], w...), rows.index, rows.of
	}
	if moved || gamma != m.curvature.Factors.Gamma {
		spent, err := m.curvature.Invert(s, gamma)
		if m.spent += spent; err != nil {
			return nil, nil, err
		}
	}
	m.h = h
	m.spent += m.curvature.SolveTo(s, m.g, g)
	return m, m.g, nil
}

// restoreScaling makes M of what was carried, or from nothing.
func restoreScaling(t *trust, s *optim.State) (err error) {
	n, k := len(s.W), t.state.K
	if t.scaling != nil && k != nil && k.Factors == &t.scaling.curvature.Factors {
		t.scaling.state = s
		return nil
	}
	m := &scaling{state: s, g: make([]float64, n), x: make([]float64, n), y: make([]float64, n)}
	if k == nil {
		k = new(roots)
		m.curvature = kronecker.NewCurvature(s.Objective, n, factorSide)
	} else if m.curvature, err = kronecker.RestoreCurvature(k.Factors, s.Objective, n); err != nil {
		return err
	}
	m.curvature.Root = true
	k.Factors, t.state.K, t.scaling = &m.curvature.Factors, k, m
	return nil
}

func (m *scaling) Dim() int { return m.h.Dim() }

// MulVecTo stores Ĥv.
func (m *scaling) MulVecTo(dst, v []float64) {
	m.spent += m.curvature.SolveTo(m.state, m.x, v)
	m.h.MulVecTo(m.y, m.x)
	m.spent += m.curvature.SolveTo(m.state, dst, m.y)
}

// Flops returns those of H, as far as it counts them.
func (m *scaling) Flops() float64 {
	if c, ok := m.h.(krylov.Counter); ok {
		return c.Flops()
	}
	return 0
}

// backTo replaces ŝ by s.
func (m *scaling) backTo(s []float64) {
	m.spent += m.curvature.SolveTo(m.state, m.x, s)
	copy(s, m.x)
}

// charge charges to the objective what M has taken.
func (m *scaling) charge() {
	if o, ok := m.state.Objective.(optim.ChargedObjective); ok {
		o.Charge(m.spent)
	}
	m.spent = 0
}
