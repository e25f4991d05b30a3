package trust

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
)

// many is ½Σ (a_i w_i − t_i)² with a matrix that takes several parts to factorize.
type many struct{ residuals }

const manyWeights = 2100

func manyResiduals() *many { return &many{residuals{n: manyWeights}} }

func scaleOf(i int) float64 { return 1 + float64(i%7) }

func (o *many) Loss(w []float64) float64 { return o.GradientTo(make([]float64, o.n), w) }

func (o *many) GradientTo(dst, w []float64) float64 {
	sum := 0.0
	for i, x := range w {
		r := scaleOf(i)*x - 1
		sum += r * r / 2
		dst[i] = scaleOf(i) * r
	}
	return sum
}

func (o *many) GaussNewtonMatrixTo(dst *mat.SymDense, _ []float64, _ func(part, parts int) error) error {
	for i := range o.n {
		clear(dst.RawSymmetric().Data[i*o.n+i:][:o.n-i])
		dst.SetSym(i, i, scaleOf(i)*scaleOf(i))
	}
	return nil
}

// TestFactorizationIsInterrupted between its parts and those of the condition's estimate, after which the same step is taken.
func TestFactorizationIsInterrupted(t *testing.T) {
	for name, set := range map[string][]string{"lm": {"mu", "1e-12"}, "dogleg": {"radius", "1000"}} {
		m, settings := method(t, name, set...)
		s := &optim.State{Objective: manyResiduals(), W: make([]float64, manyWeights), Settings: settings}
		shown, at := 0, 0
		s.Monitor = func(in optim.Inner) error {
			if in.Total == 0 {
				return nil
			}
			if shown++; in.Iteration.Number > in.Total || in.Total != 2 || in.Loss != s.Loss {
				t.Errorf("%s: %+v", name, in)
			}
			if shown == at {
				return optim.ErrInterrupted
			}
			return nil
		}
		for at = 1; at <= 2; at++ {
			shown = 0
			if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrInterrupted) || shown != at || s.W[0] != 0 {
				t.Errorf("%s at %d: %v after %d parts", name, at, err, shown)
			}
		}
		shown, at = 0, 0
		if _, err := m.Step(context.Background(), s); err != nil || shown < 3 {
			t.Errorf("%s: %v after %d parts", name, err, shown)
		}
		for i, w := range s.W {
			if math.Abs(w-1/scaleOf(i)) > 1e-9 {
				t.Fatalf("%s: w[%d] = %g, expected %g", name, i, w, 1/scaleOf(i))
			}
		}
	}
}
