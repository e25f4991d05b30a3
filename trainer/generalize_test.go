package trainer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/firstorder"
	"newtop/trainer/workplace"
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
	if err := workplace.EncodeTargets(c, data, &a); err != nil {
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
		if err := settings.Put(key, value); err != nil {
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

// Only training rows are smoothed and weighted, rows that are read again too; low and high are what the outputs reach.
func TestTargetsThatGeneralize(t *testing.T) {
	f := readFigures(t)
	p := f.problem(t, &config.Config{LabelSmoothing: 0.3, ClassWeights: "balanced"})
	for _, row := range []struct {
		row  int
		want []float64
	}{
		{0, []float64{0.8 * 13 / 21, 0.1 * 13 / 21, 0.1 * 13 / 21}}, // 7 of 13 rows are of class a, 4 of b, 2 of c
		{8, []float64{0.1 * 13 / 12, 0.8 * 13 / 12, 0.1 * 13 / 12}},
		{12, []float64{0.1 * 13 / 6, 0.1 * 13 / 6, 0.8 * 13 / 6}},
	} {
		if got := p.Train.Targets.RawRowView(row.row); !floats.EqualApprox(got, row.want, 1e-14) {
			t.Errorf("row %d: %v, expected %v", row.row, got, row.want)
		}
		whole := make([]float64, 3)
		whole[f.Labels[row.row]] = 1
		if got := p.Test.Targets.RawRowView(row.row); !slices.Equal(got, whole) {
			t.Errorf("test row %d: %v", row.row, got)
		}
	}
	if sum := mat.Sum(p.Train.Targets); math.Abs(sum-13) > 1e-12 {
		t.Errorf("the rows weigh %v, expected 13", sum)
	}
	signed, err := workplace.Prepare((&config.Config{Data: "spirals", Out: "tanh", LabelSmoothing: 0.1, Validation: "0.1"}))
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{-0.9, -0.9}
	want[signed.Train.Labels[0]] = 0.9
	if got := signed.Train.Targets.RawRowView(0); !floats.EqualApprox(got, want, 1e-14) {
		t.Errorf("signed %v, expected %v", got, want)
	}
	for _, s := range []*objective.Split{&signed.Validation, &signed.Test} {
		if got := s.Targets.RawRowView(0); math.Abs(got[0]) != 1 || got[1] != -got[0] {
			t.Errorf("signed row %v", got)
		}
	}
}

// Processes that have a part of the rows each weigh them as one that has them all.
func TestTeamsWeighClassesAlike(t *testing.T) {
	t.Setenv("NEWTOP_CACHE", t.TempDir())
	var text strings.Builder
	text.WriteString("a,b,kind\n")
	for i := range 700 {
		fmt.Fprintf(&text, "%d.5,%d.25,%s\n", i*i%97, i%13, []string{"oak", "ash"}[min(1, i%7)])
	}
	c := config.Config{Data: filepath.Join(t.TempDir(), "trees.csv"), ClassWeights: "balanced", Validation: "0.2"}
	if err := os.WriteFile(c.Data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := workplace.Prepare(&c)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := whole.Train.Targets.Dims()
	if sum := mat.Sum(whole.Train.Targets); math.Abs(sum-float64(rows)) > 1e-9 || whole.Train.Targets.At(0, 0) == whole.Train.Targets.At(0, 1) {
		t.Errorf("%d rows weigh %v", rows, sum)
	}
}

// A run tells the loss of the rows, and beside it the penalty: ½λ times the squares of the weights, biases left out.
func TestPenaltyIsTold(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{5}, Epochs: 1, L2: 0.05, Seed: 2}
	plain := c
	plain.L2 = 0
	with, without := train(t, c), train(t, plain)
	p, err := workplace.Prepare(&c)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, p.Dim())
	p.InitTo(w, rand.New(rand.NewPCG(c.Seed, workplace.StreamWeights)))
	first, unpenalized := of[event.EpochEvent](with)[0], of[event.EpochEvent](without)[0]
	if d := penaltyOf(&first) - 0.025*squares(p.Network, w); math.Abs(d) > 1e-14 {
		t.Errorf("figures %+v: off by %v", first.Metrics, d)
	}
	if first.Loss != unpenalized.Loss || unpenalized.Metrics != nil {
		t.Errorf("loss %v, without a penalty %v and %v", first.Loss, unpenalized.Loss, unpenalized.Metrics)
	}
}

func penaltyOf(e *event.EpochEvent) float64 {
	at := slices.IndexFunc(e.Metrics, func(f event.Metric) bool { return f.Key == "penalty" })
	if at < 0 {
		return math.NaN()
	}
	return float64(e.Metrics[at].Value)
}

func squares(n *models.Network, w []float64) (sum float64) {
	w = slices.Clone(w)
	for _, b := range n.Biases() {
		clear(w[b.Offset:][:b.Nodes])
	}
	return floats.Dot(w, w)
}

// The spectrum of a run with a penalty is that of the minimized loss: of the dense matrix with λ on the weights' diagonal.
func TestSpectraHaveThePenalty(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{5}, Epochs: 3, L2: 0.05, Seed: 2, SpectrumEvery: 3, SpectrumRows: -1, SpectrumOf: "gauss-newton"}
	run := keepAll(t, c)
	spectrum := of[event.SpectrumEvent](&run.memory)[0]
	p, err := workplace.Prepare(&c)
	if err != nil {
		t.Fatal(err)
	}
	weights, err := run.last(t).Weights(p.Dim())
	if err != nil {
		t.Fatal(err)
	}
	g := mat.NewSymDense(p.Dim(), nil)
	l := p.Network.Linearize(weights[0], p.Train.X, p.Train.T)
	if err := l.GaussNewtonMatrixTo(g, nil); err != nil {
		t.Fatal(err)
	}
	decays := make([]float64, p.Dim())
	for i := range decays {
		decays[i] = c.L2
	}
	for _, b := range p.Network.Biases() {
		clear(decays[b.Offset:][:b.Nodes])
	}
	for i, lambda := range decays {
		g.SetSym(i, i, g.At(i, i)+lambda)
	}
	var e mat.EigenSym
	if !e.Factorize(g, false) {
		t.Fatal("no eigenvalues")
	}
	all := e.Values(nil)
	slices.Reverse(all)
	for i, v := range spectrum.Eigenvalues {
		nearest := math.Inf(1)
		for _, want := range all {
			nearest = min(nearest, math.Abs(float64(v)-want))
		}
		if nearest > float64(spectrum.Residuals[i])+1e-12 || i < 3 && math.Abs(float64(v)-all[i]) > 1e-6*all[0] {
			t.Errorf("eigenvalue %d is %v, ± %v of one is expected, %v", i, v, spectrum.Residuals[i], all[:3])
		}
	}
}

// A slice shows what the step did to loss and penalty together, and its quadratic model has the curvature of both.
func TestSlicesHaveThePenalty(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{4}, L2: 0.05}
	m := &memory{}
	d := takeWheel(t, mustNew(t, c, m), m)
	d.times(3, event.StepEpoch{})
	before := m.looks()
	d.do(event.Slice{})
	for m.looks() == before && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	d.refused(event.Switch{Optimizer: "bpls"}, "L2 0.05: expected 0 with bpls")
	d.refused(event.Race{Racers: []event.Racer{{Optimizer: "bpls"}, {Optimizer: "tr-gn"}}}, "L2 0.05: expected 0 with bpls")
	d.stop()
	epochs, slice := of[event.EpochEvent](m), of[event.SliceEvent](m)[0]
	last, previous := &epochs[3], &epochs[2]
	want := float64(last.Loss-previous.Loss) + penaltyOf(last) - penaltyOf(previous)
	if !slice.Accepted || math.Abs(float64(slice.Loss[10])-want) > 1e-12 {
		t.Errorf("the loss changes by %v, expected %v", slice.Loss[10], want)
	}
	// The model's error is of third order in t: an eighth for half of t.
	e1, e2 := float64(slice.Loss[1]-slice.Quadratic[1]), float64(slice.Loss[2]-slice.Quadratic[2])
	if r := e2 / e1; !(r > 6 && r < 10.5) {
		t.Errorf("the errors of the quadratic model grow by %v, expected about 8", r)
	}
}

// What a method, the targets or the company leaves no room for is refused in one line before anything is trained.
func TestGeneralizingIsRefused(t *testing.T) {
	for want, c := range map[string]config.Config{
		"L2 -1: expected a number ≥ 0":                                {L2: -1},
		"L2 NaN: expected a number ≥ 0":                               {L2: math.NaN()},
		"LabelSmoothing 1: expected a fraction":                       {LabelSmoothing: 1},
		"InputNoise +Inf: expected a number":                          {InputNoise: math.Inf(1)},
		"ClassWeights even: expected balanced":                        {ClassWeights: "even"},
		"L2 0.1: expected 0 with bpls":                                {L2: 0.1, Optimizer: "bpls"},
		"LabelSmoothing 0.1: expected 0 with bpls":                    {LabelSmoothing: 0.1, Optimizer: "bpls"},
		"ClassWeights balanced: expected none with bpls":              {ClassWeights: "balanced", Optimizer: "bpls"},
		"InputNoise 0.1: expected 0 with tr-gn":                       {InputNoise: 0.1, Optimizer: "tr-gn"},
		"LabelSmoothing 0.1: expected 0, because the targets are num": {Data: "sine", LabelSmoothing: 0.1},
		"ClassWeights balanced: expected none, because the targets":   {Data: "sine", ClassWeights: "balanced"},
		"ClassWeights balanced: expected none, or softmax":            {Data: "spirals", Loss: "mse", ClassWeights: "balanced"},
		"LabelSmoothing 0.1: expected 0 with this Loss, or softmax":   {Data: "spirals", Out: "sigmoid", Loss: "xent", LabelSmoothing: 0.1},
		"InputNoise 0.1: expected none with Model":                    {Model: "unix:nowhere", InputNoise: 0.1},
	} {
		err := c.Check()
		if err == nil {
			_, err = workplace.Prepare(&c)
		}
		var bad *config.ConfigError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	if _, err := workplace.PrepareShared(&config.Config{Data: "spirals", Optimizer: "adam", InputNoise: 0.1}, 2); err == nil || !strings.Contains(err.Error(), "several processes") {
		t.Errorf("noise in a team: %v", err)
	}
}
