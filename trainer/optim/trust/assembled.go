package trust

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/cholesky"
	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// assembled is the Gauss–Newton matrix at the current weights, for methods that factorize it, in variables in
// which the scaling M of the steps is I. It is assembled once for each place, however many steps are rejected
// there.
//
//	M  I, or diag(JᵀJ) (Marquardt 1963), by its diagonal
//	G  = M^−½ JᵀJ M^−½, N × N (JᵀBJ in general)
//	g  = M^−½ ∂E/∂w, and s = M^½ Δw, so that ‖s‖₂ = ‖Δw‖_M and q(s) = gᵀs + ½ sᵀGs
type assembled struct {
	matrix   *mat.SymDense // G, and below its diagonal the factor
	diagonal []float64     // of G
	root     []float64     // of M^½
	g        []float64
	at       []float64 // the weights that all this belongs to; empty: none
	factor   cholesky.Factor

	s, trial, product []float64
}

// needsAssembled is what methods with an assembled matrix need.
const needsAssembled = optim.NeedsGaussNewton | optim.NeedsJacobian | optim.NeedsMatrix

// assembledState is what is carried from step to step beside the matrix.
type assembledState struct {
	optim.Stagnation
	Scaling float64 `archive:"scaling"` // the choice of M that the matrix was made with
}

// Scaling chooses M.
var Scaling = &optim.Choice{
	Key: "scaling", Meaning: "M = I, or diag(JᵀJ), which makes steps independent of the weights' units",
	Choices: []string{scalingNone, "diagonal"}, Source: "diagonal: Marquardt 1963",
}

const scalingNone = "none"

// evaluate checks what a step starts from and makes gradient and matrix belong to it. It reports whether they
// were another place's before; so they may have been where the loss was not known to belong to the weights, as
// when something else than these has changed.
func (a *assembled) evaluate(ctx context.Context, s *optim.State, state *assembledState,
	report *optim.Report) (fresh bool,
	err error) {
	if !s.Evaluated {
		a.at = a.at[:0]
	}
	if err := optim.Begin(ctx, s, report); err != nil {
		return false, err
	}
	if scaling := s.Settings.Get(Scaling.Key); scaling != state.Scaling || !slices.Equal(a.at, s.W) {
		state.Scaling = scaling
		return true, a.assemble(ctx, s)
	}
	return false, nil
}

// assemble makes the matrix, which the monitor may interrupt.
func (a *assembled) assemble(ctx context.Context, s *optim.State) error {
	if n := len(s.W); len(a.s) != n {
		a.matrix = mat.NewSymDense(n, nil)
		for _, v := range []*[]float64{&a.diagonal, &a.root, &a.g, &a.s, &a.trial, &a.product} {
			*v = make([]float64, n)
		}
	}
	a.at = a.at[:0]
	err := s.Objective.(optim.JacobianObjective).GaussNewtonMatrixTo(a.matrix, s.W, watchParts(ctx, s))
	if err != nil {
		return err
	}
	for i := range a.diagonal {
		a.diagonal[i] = a.matrix.At(i, i)
		if !vector.Finite(floats.Sum(a.row(i))) {
			return &optim.NotFiniteError{What: "curvature"}
		}
	}
	a.rescale(s)
	a.at = append(a.at, s.W...)
	return nil
}

// watchParts returns what shows the parts of assembly and factorization to the monitor.
func watchParts(ctx context.Context, s *optim.State) func(part, parts int) error {
	return func(part, parts int) error {
		return s.Watch(ctx, optim.Inner{Iteration: krylov.Iteration{Number: part}, Loss: s.Loss, Total: parts})
	}
}

// row returns the numbers of the matrix from entry (i, i) to the right.
func (a *assembled) row(i int) []float64 {
	raw := a.matrix.RawSymmetric()
	return raw.Data[i*raw.Stride+i:][:raw.N-i]
}

// rescale makes matrix and gradient those of the scaled variables. An entry of diag(JᵀJ) that rounding could
// have left is no scale.
func (a *assembled) rescale(s *optim.State) {
	minimum := optim.Eps * floats.Max(a.diagonal)
	plain := Scaling.Of(s.Settings) == scalingNone || !(minimum >= optim.MinNormal)
	for i, d := range a.diagonal {
		a.root[i] = 1
		if !plain {
			a.root[i] = math.Sqrt(max(d, minimum))
		}
	}
	floats.DivTo(a.g, s.Gradient, a.root)
	if plain {
		return
	}
	for i, root := range a.root {
		row := a.row(i)
		vector.Scale(row, 1/root, row)
		floats.Div(row, a.root[i:])
		a.diagonal[i] = row[0]
	}
}

// factorize factorizes G + μI, and returns its condition number, estimated, or NaN where it is not positive definite to
// rounding. The monitor may interrupt it between the parts of one that is long.
func (a *assembled) factorize(ctx context.Context, s *optim.State, mu float64) (condition float64, err error) {
	watch, last := watchParts(ctx, s), 1
	definite, err := a.factor.Factorize(a.matrix.RawSymmetric(), mu, func(part, parts int) error {
		last = parts
		return watch(part, parts)
	})
	if err != nil || !definite {
		return math.NaN(), err
	}
	return a.factor.Condition(func() error {
		if last == 1 {
			return nil
		}
		return watch(last, last)
	})
}

// solveTo stores −(G + μI)⁻¹g in dst, for the μ of the last factorize. That of a bad condition, which the figures tell,
// is judged by what it does.
func (a *assembled) solveTo(dst []float64) {
	a.factor.SolveTo(dst, a.g)
	vector.Scale(dst, -1, dst)
}

// multiplyTo stores Gv in dst.
func (a *assembled) multiplyTo(dst, v []float64) {
	clear(dst)
	for i, x := range v {
		row := a.row(i)
		dst[i] += vector.Dot(row, v[i:])
		vector.Axpy(dst[i+1:], x, row[1:])
	}
}

// evaluateStep computes E after the step a.s, and holds it against the decrease that was promised. The weights after
// the step are in a.trial, the step itself in a.product. It returns a *StalledError when they are those before it.
func (a *assembled) evaluateStep(s *optim.State, v *attempt, report *optim.Report) error {
	step := a.product
	floats.DivTo(step, a.s, a.root)
	report.StepNorm = vector.Norm(step)
	vector.Add(a.trial, step, s.W)
	if v.reset(s.W, a.trial); v.void {
		return optim.ErrTooShort
	}
	if vector.Finite(v.promised) {
		v.evaluate(s.Objective, a.trial, s.Loss, Accept.Of(s.Settings))
	}
	report.Rho = v.rho
	report.Proposal = optim.Proposal{Step: step, Rho: v.rho, Accepted: v.accepted}
	return nil
}

// current reports whether the next step begins with the matrix.
func (a *assembled) current(s *optim.State) bool { return s.Evaluated && slices.Equal(a.at, s.W) }

// assembleAgain makes the matrix of a state that was carried, which is the square of the weights' number.
func (a *assembled) assembleAgain(s *optim.State) error {
	quiet := *s
	quiet.Monitor = nil
	return a.assemble(context.Background(), &quiet)
}
