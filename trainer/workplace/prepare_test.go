package workplace

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/objective"
)

// Defaults follow from the data.
func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		config          config.Config
		out, loss       string
		low, high       float64
		hidden, outputs int
	}{
		{config.Config{Data: "spirals"}, "softmax", "xent", 0, 1, 2, 2},
		{config.Config{Data: "spirals", Out: "tanh"}, "tanh", "mse", -1, 1, 2, 2},
		{config.Config{Data: "spirals", Loss: "mse"}, "tanh", "mse", -1, 1, 2, 2},
		{config.Config{Data: "spirals", Out: "linear"}, "identity", "mse", 0, 1, 2, 2},
		{config.Config{Data: "spirals", Hidden: []int{}}, "softmax", "xent", 0, 1, 0, 2},
		{config.Config{Data: "sine"}, "identity", "mse", math.NaN(), math.NaN(), 2, 1},
	} {
		p, err := Prepare(&c.config)
		if err != nil {
			t.Fatal(err)
		}
		arch := p.Network.Architecture()
		last := arch.Layers[len(arch.Layers)-1]
		if last.Activation.String() != c.out || arch.Loss.String() != c.loss || len(arch.Layers)-1 != c.hidden || last.Nodes != c.outputs {
			t.Errorf("%+v: %+v", c.config, arch)
		}
		if !math.IsNaN(c.low) {
			low, high := extent(p.Data)
			if low != c.low || high != c.high {
				t.Errorf("%+v: targets from %v to %v", c.config, low, high)
			}
		}
	}
}

func extent(d *datasets.Dataset) (low, high float64) {
	row := d.Train.Targets.RawRowView(0)
	low, high = row[0], row[0]
	for _, v := range row {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// TestUnknownGates names what there is to look at.
func TestUnknownGates(t *testing.T) {
	for gate, want := range map[string]string{
		"hue": "Gate hue: expected one of x", "3": "Gate 3: expected one of x", "0": "Gate 0: expected one of x",
	} {
		_, err := Prepare((&config.Config{Data: "sine", Experts: 2, ExpertHidden: []int{3}, Gate: gate}))
		if err == nil || err.Error() != want {
			t.Errorf("%v: expected %q", err, want)
		}
	}
}

// Only training rows are smoothed and weighted, rows that are read again too; low and high are what the outputs reach.
func TestTargetsThatGeneralize(t *testing.T) {
	labels := []int{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2}
	data := &datasets.Dataset{Classes: []string{"a", "b", "c"}}
	data.Train = datasets.Split{Inputs: mat.NewDense(len(labels), 2, nil), Labels: labels}
	data.Test = datasets.Split{Inputs: mat.NewDense(len(labels), 2, nil), Labels: labels}
	data.Encode(0, 1)
	arch := models.Chain(2, []int{5}, 3, models.Tanh, models.Softmax, models.CrossEntropy, models.SkipNone)
	if err := encodeTargets(&config.Config{LabelSmoothing: 0.3, ClassWeights: "balanced"}, data, &arch); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		row  int
		want []float64
	}{
		{0, []float64{0.8 * 13 / 21, 0.1 * 13 / 21, 0.1 * 13 / 21}}, // 7 of 13 rows are of class a, 4 of b, 2 of c
		{8, []float64{0.1 * 13 / 12, 0.8 * 13 / 12, 0.1 * 13 / 12}},
		{12, []float64{0.1 * 13 / 6, 0.1 * 13 / 6, 0.8 * 13 / 6}},
	} {
		if got := data.Train.Targets.RawRowView(row.row); !floats.EqualApprox(got, row.want, 1e-14) {
			t.Errorf("row %d: %v, expected %v", row.row, got, row.want)
		}
		whole := make([]float64, 3)
		whole[labels[row.row]] = 1
		if got := data.Test.Targets.RawRowView(row.row); !slices.Equal(got, whole) {
			t.Errorf("test row %d: %v", row.row, got)
		}
	}
	if sum := mat.Sum(data.Train.Targets); math.Abs(sum-13) > 1e-12 {
		t.Errorf("the rows weigh %v, expected 13", sum)
	}
	signed := prepared(t, config.Config{Data: "spirals", Out: "tanh", LabelSmoothing: 0.1, Validation: "0.1"})
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

// What targets, or the company, leave no room for is refused in one line.
func TestGeneralizingIsRefused(t *testing.T) {
	for _, c := range []struct {
		config    config.Config
		processes int
		want      string
	}{
		{config.Config{Data: "sine", LabelSmoothing: 0.1}, 1, "LabelSmoothing 0.1: expected 0, because the targets are num"},
		{config.Config{Data: "sine", ClassWeights: "balanced"}, 1, "ClassWeights balanced: expected none, because the targets"},
		{config.Config{Data: "spirals", Loss: "mse", ClassWeights: "balanced"}, 1, "ClassWeights balanced: expected none, or softmax"},
		{config.Config{Data: "spirals", Out: "sigmoid", Loss: "xent", LabelSmoothing: 0.1}, 1, "LabelSmoothing 0.1: expected 0 with this Loss, or softmax"},
		{config.Config{Data: "spirals", Optimizer: "adam", InputNoise: 0.1}, 2, "InputNoise 0.1: expected 0 where several processes"},
	} {
		_, err := PrepareShared(&c.config, c.processes)
		var bad *config.ConfigError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected %s", err, c.want)
		}
	}
}

func prepared(t *testing.T, c config.Config) *objective.Problem {
	t.Helper()
	p, err := Prepare(&c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
