package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"newtop/datasets"
	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/objective"
)

// Prepare loads the data and builds the network. It returns the typed errors of datasets and models, or a *ConfigError
// where the flags do not fit the data. With Model it starts the program, or connects to it; the caller closes the
// problem.
func Prepare(c *Config) (*objective.Problem, error) { return PrepareShared(c, 1) }

// PrepareShared is Prepare for each of so many processes, which all have all rows. It returns a *ConfigError too for what
// several processes can't train, and for more of them than there are leaves (reduce.Tree) of the training rows.
func PrepareShared(c *Config, processes int) (*objective.Problem, error) {
	if err := checkTeam(c, processes); err != nil {
		return nil, err
	}
	if c.Model != "" {
		return prepareElsewhere(context.Background(), c)
	}
	data, err := loadData(c)
	if err != nil {
		return nil, err
	}
	if data.Classes != nil && c.TargetError >= 1 {
		return nil, &ConfigError{Field: "TargetError", Value: fmt.Sprint(c.TargetError),
			Expected: targetFraction(c.TargetError)}
	}
	rows := data.Train.Rows()
	if most := reduce.NewTree(rows).Leaves(); processes > 1 && most < processes {
		return nil, &ConfigError{Field: "Processes", Value: fmt.Sprint(processes),
			Expected: fmt.Sprintf("at most %d processes for %d training rows", most, rows)}
	}
	arch, err := c.architecture(data)
	if err != nil {
		return nil, err
	}
	if arch.Loss == models.CrossEntropy && data.Classes == nil {
		return nil, &ConfigError{Field: "Loss", Value: "xent",
			Expected: "mse, because the targets are numbers and not classes"}
	}
	network, err := models.NewNetwork(arch)
	if err != nil {
		return nil, &fieldsError{"the network of {Hidden}, {Act}, {Out} and {Loss}", err}
	}
	precision, err := precisionOf(c)
	if err != nil {
		return nil, err
	}
	start, err := models.ParseInit(c.init())
	if err != nil {
		return nil, &ConfigError{Field: "Init", Value: c.Init, Expected: expectation(err)}
	}
	if err := encodeTargets(c, data, &arch); err != nil {
		return nil, err
	}
	p := objective.NewProblem(data, network.In(precision), start)
	p.L2, p.Noise = c.L2, c.InputNoise
	return p, nil
}

// precision returns that of the passes.
func precisionOf(c *Config) (models.Precision, error) {
	p, err := models.ParsePrecision(cmp.Or(c.Precision, models.Double.String()))
	if err != nil {
		return 0, &ConfigError{Field: "Precision", Value: c.Precision, Expected: expectation(err)}
	}
	return p, nil
}

// targetFraction says what the target of an error of classes is, of one that was meant in per cent which one.
func targetFraction(target float64) string {
	const text = "a fraction of the rows below 1"
	if target > 100 {
		return text + ", as in 0.05"
	}
	return fmt.Sprintf("%s: %.4g for %.4g %%", text, target/100, target)
}

// encode codes the targets as the network is to be trained on them.
func encodeTargets(c *Config, data *datasets.Dataset, a *models.Architecture) error {
	if err := c.suitsTargets(data, a); err != nil || data.Classes == nil {
		return err
	}
	t := targetsOf(c, data, a)
	t.encode(data)
	return nil
}

// Dataset returns the data as a run of its own has them. It returns a *ConfigError for what doesn't suit them.
func LoadData(c *Config) (*datasets.Dataset, error) {
	settled := *c
	settled.Settle()
	return loadData(&settled)
}

// load loads the data.
func loadData(c *Config) (*datasets.Dataset, error) {
	data, err := datasets.Load(c.data(), datasets.Options{
		Dir: c.DataDir, Target: c.Target, Test: c.Test, Validation: c.Validation, Folds: c.Folds, Fold: c.Fold,
		Seed: dataSeed,
		Columns: lex.Options{Header: c.Header, Missing: c.Missing, Decimal: c.Decimal, Thousands: c.Thousands,
			Drop: c.Drop, Keep: c.Keep},
	})
	var option *fault.OptionError
	if errors.As(err, &option) {
		return nil, &ConfigError{Field: strings.ToUpper(option.Field[:1]) + option.Field[1:], Value: option.Value,
			Expected: option.Expected}
	}
	return data, err
}

// checkTeam returns a *ConfigError for what so many processes can't train.
func checkTeam(c *Config, size int) error {
	switch {
	case size == 1:
	case c.Model != "":
		return &ConfigError{Field: "Model", Value: c.Model,
			Expected: "no other program's model where several processes train"}
	case c.Committee > 1:
		return &ConfigError{Field: "Committee", Value: fmt.Sprint(c.Committee),
			Expected: "one net where several processes train it"}
	case c.InputNoise > 0:
		return &ConfigError{Field: "InputNoise", Value: fmt.Sprint(c.InputNoise),
			Expected: "0 where several processes train"}
	case c.Experts > 0:
		return &ConfigError{Field: "Experts", Value: fmt.Sprint(c.Experts),
			Expected: "no mixture where several processes train"}
	}
	return nil
}
