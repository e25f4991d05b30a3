package modelfile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/models"

	"gonum.org/v1/gonum/mat"
)

// sample is a model of every kind of network, with raw rows for it.
type sample struct {
	name  string
	model *Model
	raw   *mat.Dense
	wide  bool // whether the ONNX file takes float64
}

const sampleRows = 70 // more than a block of models, and no multiple of one

// samples returns models with random weights: every activation, every way to connect layers, mixtures, committees.
func samples(tb testing.TB) (list []sample) {
	tb.Helper()
	add := func(name string, a models.Architecture, nets int, change func(*Model, *mat.Dense)) {
		rng := rand.New(rand.NewPCG(uint64(len(list)), 1))
		network, err := models.NewNetwork(a)
		if err != nil {
			tb.Fatal(name, err)
		}
		m := &Model{Network: network, Meta: map[string]string{"data": "made up", "version": "test"}}
		for range nets {
			w := make([]float64, network.Dim())
			for i := range w {
				w[i] = rng.NormFloat64() / 2
			}
			m.Weights = append(m.Weights, w)
		}
		for j := range network.Columns() {
			m.Inputs = append(m.Inputs, Column{Name: fmt.Sprintf("in %d", j), Scale: 1})
		}
		for j := range network.Outputs() {
			m.Outputs = append(m.Outputs, Column{Name: fmt.Sprintf("out %d", j), Scale: 1})
		}
		raw := mat.NewDense(sampleRows, network.Columns(), nil)
		for i := range sampleRows {
			for j := range network.Columns() {
				raw.Set(i, j, float64(float32(rng.NormFloat64())))
			}
		}
		if change != nil {
			change(m, raw)
		}
		wide := slices.Contains([]string{"scaled regression", "timestamps", "mixture of values"}, name)
		list = append(list, sample{name, m, raw, wide})
	}
	const mse, xent = models.SquaredError, models.CrossEntropy
	for act := models.Identity; act <= models.Softmax; act++ {
		add("hidden "+act.String(), models.Chain(5, []int{7, 6}, 3, act, models.Softmax, xent, models.SkipNone), 1, classes)
		add("outputs "+act.String(), models.Chain(5, []int{7}, 3, models.Tanh, act, mse, models.SkipNone), 1, nil)
	}
	add("no hidden layer", models.Chain(1, nil, 1, models.Tanh, models.Identity, mse, models.SkipNone), 1, nil)
	add("layers of one node", models.Chain(1, []int{1, 1}, 1, models.Softplus, models.Identity, mse, models.SkipAll), 1, nil)
	add("all skips", models.Chain(4, []int{6, 5}, 3, models.Tanh, models.Sigmoid, xent, models.SkipAll), 1, classes)
	add("sparse", sparseNet(), 1, nil)
	add("committee", models.Chain(4, []int{6}, 3, models.Tanh, models.Softmax, xent, models.SkipDirect), 3, classes)
	add("sparse committee", sparseNet(), 2, nil)
	add("scaled regression", models.Chain(4, []int{6}, 2, models.Tanh, models.Identity, mse, models.SkipNone), 1, scaled)
	add("classes far from 0", models.Chain(4, []int{6}, 3, models.Tanh, models.Softmax, xent, models.SkipNone), 1, far)
	add("timestamps", models.Chain(3, []int{4}, 1, models.Tanh, models.Identity, mse, models.SkipNone), 1, timestamps)
	add("tanh classes", models.Chain(4, []int{6}, 3, models.Tanh, models.Tanh, mse, models.SkipNone), 1, func(m *Model, raw *mat.Dense) {
		classes(m, raw)
		for j := range m.Outputs {
			m.Outputs[j].Offset, m.Outputs[j].Scale = 0.5, 0.5
		}
	})
	gates := []models.Gate{{Width: 0.5, Slope: 2, Center: -1}, {Width: 0.7, Slope: 1.5, Center: 0.1}, {Width: 0.4, Slope: 3, Center: 1}}
	add("mixture on an input", models.Experts(4, []int{5}, 3, 3, models.Tanh, models.Softmax, xent,
		models.Mixture{Feature: 2, Gates: gates}), 1, classes)
	add("mixture of values", models.Experts(4, []int{5}, 2, 3, models.Softplus, models.Identity, mse,
		models.Mixture{Feature: 0, Gates: gates}), 2, scaled)
	round := models.Experts(3, []int{4}, 2, 4, models.Tanh, models.Tanh, mse,
		models.Mixture{Feature: 4, Period: 360, Gates: models.DefaultGates(nil, 4, 360)})
	round.Features = 3
	add("mixture on a round feature", round, 1, func(m *Model, raw *mat.Dense) {
		for i := range sampleRows {
			raw.Set(i, 4, 1000*raw.At(i, 4))
		}
		gates := m.Network.GatesAt(m.Weights[0])
		raw.Set(0, 4, float64(float32(gates[0].Center)))
		raw.Set(1, 4, float64(float32(gates[1].Center+180)))
		raw.Set(2, 4, float64(float32(gates[1].Center-540)))
	})
	return list
}

func sparseNet() models.Architecture {
	return models.Architecture{
		Inputs: 5,
		Layers: []models.Layer{{Name: "a", Nodes: 6, Activation: models.ReLU}, {Name: "b", Nodes: 4, Activation: models.Tanh}, {Nodes: 2}},
		Connections: []models.Connection{
			{To: 1, From: 0, Sources: models.WindowSources(6, 5, 2)},
			{To: 2, From: 1, Sources: models.NewSources([][]int{{0, 5}, {}, {3, 1, 2}, {4}})},
			{To: 2, From: 0, Sources: models.NewSources([][]int{{}, {2}, {}, {}})},
			{To: 3, From: 2}, {To: 3, From: 1, Sources: models.NewSources([][]int{{1}, {}})},
		},
	}
}

func classes(m *Model, _ *mat.Dense) {
	for j := range m.Outputs {
		m.Outputs[j].Name = string(rune('α' + j))
		m.Classes = append(m.Classes, m.Outputs[j].Name)
	}
}

// scaled gives raw values units: years, and what lies far from 0 or is very small.
func scaled(m *Model, raw *mat.Dense) {
	offset, scale := []float64{2012.3456789, 0.99674, -1e-3, 3e8}, []float64{11.7, 0.003, 2e-6, 1e6}
	for j := range m.Inputs {
		m.Inputs[j].Offset, m.Inputs[j].Scale = offset[j], scale[j]
		for i := range sampleRows {
			raw.Set(i, j, raw.At(i, j)*scale[j]+offset[j])
		}
	}
	for j := range m.Outputs {
		m.Outputs[j].Offset, m.Outputs[j].Scale = 1e4, 321.5
	}
}

// far gives raw values, as they stand in a table, an offset as large as float32 may have.
func far(m *Model, raw *mat.Dense) {
	classes(m, raw)
	for j := range m.Inputs {
		m.Inputs[j].Offset, m.Inputs[j].Scale = 1013.25, 1013.25/63
		for i := range sampleRows {
			raw.Set(i, j, raw.At(i, j)*m.Inputs[j].Scale+m.Inputs[j].Offset)
		}
	}
}

// timestamps gives the first column raw values that float32 can't tell apart.
func timestamps(m *Model, raw *mat.Dense) {
	m.Inputs[0].Offset, m.Inputs[0].Scale = 1.7e9+1.0/3, 1e4
	for i := range sampleRows {
		raw.Set(i, 0, raw.At(i, 0)*1e4+1.7e9)
	}
}

// predictions returns what newtop itself makes of the rows.
func (s *sample) predictions() *mat.Dense {
	dst := mat.NewDense(sampleRows, len(s.model.Outputs), nil)
	s.model.PredictTo(dst, s.raw)
	return dst
}
