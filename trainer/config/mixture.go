package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/internal/format"
	"newtop/models"
)

// maxExperts bounds the experts of a mixture.
const maxExperts = 1000

// checkExperts looks at what makes a mixture.
func (c *Config) checkExperts() error {
	if c.Experts == 0 {
		for _, other := range []struct{ field, text string }{{"Gate", c.Gate}, {"GateTraining", c.GateTraining}} {
			if other.text != "" {
				return &ConfigError{Field: other.field, Value: other.text, Expected: "it together with {Experts}"}
			}
		}
		return nil
	}
	switch {
	case c.Experts < 0 || c.Experts > maxExperts:
		return &ConfigError{Field: "Experts", Value: fmt.Sprint(c.Experts),
			Expected: fmt.Sprintf("1 to %d of them", maxExperts)}
	case c.Graph != "":
		return &ConfigError{Field: "Experts", Value: fmt.Sprint(c.Experts),
			Expected: "no file of layers beside it, which describes the whole network"}
	case c.Hidden != nil:
		return &ConfigError{Field: "Hidden", Value: fmt.Sprint(c.Hidden),
			Expected: "the layers of the experts in {Experts}, as in 5x16"}
	case c.Skip != models.SkipNone:
		return &ConfigError{Field: "Skip", Value: c.Skip.String(), Expected: "none with {Experts}"}
	case c.Gate == "":
		return &ConfigError{Field: "Experts", Value: fmt.Sprint(c.Experts),
			Expected: "{Gate} with an input or a feature of the data for the gates to look at"}
	}
	for _, n := range c.ExpertHidden {
		if n < 1 {
			return &ConfigError{Field: "Experts", Value: fmt.Sprint(n),
				Expected: "layers of at least one node, as in 5x16"}
		}
	}
	return nil
}

// TunesGates reports whether the gates of a mixture are tuned by steepest descent.
func (c *Config) TunesGates() bool {
	return c.Experts > 0 && c.GateTraining != "joint" && c.GateTraining != "fixed"
}

// mixture returns the mixture of experts for the data.
func (c *Config) mixture(data *datasets.Dataset, act, out models.Activation,
	loss models.LossFunction) (models.Architecture, error) {
	column, period, values, err := c.gate(data)
	if err != nil {
		return models.Architecture{}, err
	}
	m := models.Mixture{Feature: column, Period: period, Gates: models.DefaultGates(values, c.Experts, period)}
	a := models.Experts(data.Inputs(), c.ExpertHidden, data.Outputs(), c.Experts, act, out, loss, m)
	if column >= data.Inputs() {
		a.Features = len(data.Features)
	}
	return a, nil
}

// gate finds what the gates look at among the inputs and the features: its column, what it repeats itself
// after, and its values on the training rows.
func (c *Config) gate(data *datasets.Dataset) (column int, period float64, values []float64, err error) {
	names := slices.Clone(data.InputNames)
	for _, f := range data.Features {
		names = append(names, f.Name)
	}
	column = slices.Index(names, c.Gate)
	if n, err := strconv.Atoi(c.Gate); column < 0 && err == nil {
		column = n - 1
	}
	inputs := data.Inputs()
	if column < 0 || column >= len(names) {
		want := fmt.Sprintf("a number from 1 to %d", inputs)
		if len(names) <= 40 {
			want = "one of " + strings.Join(names, ", ") + format.DidYouMean(c.Gate, names)
		}
		return 0, 0, nil, &ConfigError{Field: "Gate", Value: c.Gate, Expected: want}
	}
	if column < inputs {
		return column, 0, mat.Col(nil, column, data.Train.Inputs), nil
	}
	k := column - inputs
	return column, data.Features[k].Period, mat.Col(nil, k, data.Train.Features), nil
}
