package workplace

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/firstorder"
	"newtop/trainer/optim/methods"
)

// torchFigures are PyTorch's, by testdata/generalize.py.
type torchFigures struct {
	X         [][]float64 `json:"x"`
	Labels    []int       `json:"labels"`
	Start     []float64   `json:"start"`
	V         []float64   `json:"v"`
	L2        float64     `json:"l2"`
	Smoothing float64     `json:"smoothing"`
	Decay     float64     `json:"decay"`
	Rate      float64     `json:"rate"`
	DataLoss  float64     `json:"data loss"`
	Loss      float64     `json:"loss"`
	Gradient  []float64   `json:"gradient"`
	Hv        []float64   `json:"hv"`
	GNv       []float64   `json:"gnv"`
	Diagonal  []float64   `json:"diagonal"`
	End       []float64   `json:"end"`
}

// problem is PyTorch's as a configuration with such fields makes it.
func (f *torchFigures) problem(t *testing.T, c *config.Config) *objective.Problem {
	t.Helper()
	return problemOf(t, c, f.X, f.Labels, []int{5})
}

// problemOf has rows of three classes, for training and again for tests.
func problemOf(t *testing.T, c *config.Config, rows [][]float64, labels, hidden []int) *objective.Problem {
	t.Helper()
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		x.SetRow(i, row)
	}
	data := &datasets.Dataset{Classes: []string{"a", "b", "c"}}
	data.Train = datasets.Split{Inputs: x, Labels: labels}
	data.Test = datasets.Split{Inputs: mat.DenseCopyOf(x), Labels: labels}
	data.Encode(0, 1)
	a := models.Chain(len(rows[0]), hidden, 3, models.Tanh, models.Softmax, models.CrossEntropy, models.SkipNone)
	if err := encodeTargets(c, data, &a); err != nil {
		t.Fatal(err)
	}
	network, err := models.NewNetwork(a)
	if err != nil {
		t.Fatal(err)
	}
	p := objective.NewProblem(data, network, models.Init{})
	p.L2 = c.L2
	return p
}

func readFigures(t *testing.T) *torchFigures {
	t.Helper()
	var f torchFigures
	readJSON(t, "testdata/generalize.json", &f)
	return &f
}

func readJSON(t *testing.T, file string, to any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The loss with a penalty, smoothed labels and weighted classes, its derivatives, and AdamW's steps on it are PyTorch's.
func TestGeneralizingIsPyTorchs(t *testing.T) {
	f := readFigures(t)
	p := f.problem(t, &config.Config{L2: f.L2, LabelSmoothing: f.Smoothing, ClassWeights: "balanced"})
	o := objective.Bind(p, p, objective.Rows{}, &objective.Work{}, models.Options{})
	n := len(f.Start)
	g, dst := make([]float64, n), make([]float64, n)
	if loss := o.GradientTo(g, f.Start); math.Abs(loss-f.Loss) > 1e-12 {
		t.Errorf("loss %v, PyTorch %v", loss, f.Loss)
	}
	if e := o.Evaluate(f.Start); math.Abs(e.Loss-f.DataLoss) > 1e-12 {
		t.Errorf("the data's loss %v, PyTorch %v", e.Loss, f.DataLoss)
	}
	all := make([]int, len(f.Labels))
	for i := range all {
		all[i] = i
	}
	for name, pair := range map[string]struct {
		store func()
		want  []float64
	}{
		"gradient": {func() { copy(dst, g) }, f.Gradient},
		"batch":    {func() { o.BatchGradientTo(dst, f.Start, all) }, f.Gradient},
		"Hv":       {func() { o.Hessian(f.Start).MulVecTo(dst, f.V) }, f.Hv},
		"GNv":      {func() { o.GaussNewton(f.Start).MulVecTo(dst, f.V) }, f.GNv},
		"rows":     {func() { o.GaussNewtonRows(f.Start).MulVecTo(dst, f.V) }, f.GNv},
		"diagonal": {func() { o.GaussNewtonDiagTo(dst, f.Start) }, f.Diagonal},
	} {
		pair.store()
		if d := floats.Distance(dst, pair.want, 2); d > 1e-10*floats.Norm(pair.want, 2) {
			t.Errorf("%s is off by %.2g", name, d)
		}
	}
	settings := optim.NewSettings(firstorder.Adam.Parameters)
	for key, value := range map[string]float64{"rate": f.Rate, "weight-decay": f.Decay, "batch": 0} {
		if err := settings.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	s := &optim.State{Objective: o, W: slices.Clone(f.Start), Settings: settings}
	adam := firstorder.Adam.New()
	for range 5 {
		if _, err := adam.Step(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if d := floats.Distance(s.W, f.End, 2); d > 1e-10 {
		t.Errorf("AdamW ends %.2g away", d)
	}
}

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
	p := problemOf(t, &config.Config{L2: f.L2, ClassWeights: "balanced"}, f.X, f.Labels, nil)
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
