package trainer

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// A net without hidden layers ends where scikit-learn's logistic regression does, by testdata/logistic.py: λ there is 1/(C·rows),
// the biases are left out there too, and rows of rare classes count more. The weights are the only ones with the least loss.
func TestPenalizedLogisticRegression(t *testing.T) {
	var f struct {
		X             [][]float64 `json:"x"`
		Labels        []int       `json:"labels"`
		L2            float64     `json:"l2"`
		Coef          []float64   `json:"coef"`
		Probabilities []float64   `json:"probabilities"`
	}
	readJSON(t, "testdata/logistic.json", &f)
	p := problemOf(t, &config.Config{L2: f.L2, ClassWeights: config.Balanced}, f.X, f.Labels, nil)
	for _, name := range []string{"tr-newton", "tr-gn-jacobi", "lm", "dogleg", "lbfgs", "scg"} {
		info, err := methods.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		o := objective.Bind(p, p, objective.Rows{}, &objective.Work{}, models.Options{})
		s := &optim.State{Objective: o, W: make([]float64, p.Dim()), Settings: optim.NewSettings(info.Parameters)}
		for i := range s.W {
			s.W[i] = 0.1 * math.Sin(float64(i))
		}
		method := info.New()
		for range 300 {
			if _, err := method.Step(t.Context(), s); err != nil {
				break // it stalls at the minimum
			}
		}
		b := p.Network.Blocks()[0]
		for i, want := range f.Coef {
			if got := s.W[b.Offset+i]; math.Abs(got-want) > 1e-5 {
				t.Errorf("%s: weight %d is %v, scikit-learn's %v", name, i, got, want)
			}
		}
		u := mat.NewDense(len(f.X), 3, nil)
		p.Network.OutputTo(u, s.W, p.Train.X)
		for i, want := range f.Probabilities {
			if got := u.At(i/3*9, i%3); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: probability %d is %v, scikit-learn's %v", name, i, got, want)
			}
		}
	}
}
