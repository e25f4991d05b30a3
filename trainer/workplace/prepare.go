package workplace

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
	"newtop/trainer/config"
	"newtop/trainer/objective"
)

// Prepare loads the data and builds the network. It returns the typed errors of datasets and models, or a *ConfigError
// where the flags do not fit the data. With Model it starts the program, or connects to it; the caller closes the
// problem.
func Prepare(c *config.Config) (*objective.Problem, error) { return PrepareShared(c, 1) }

// PrepareShared is Prepare for each of that many processes, which all have all rows. It returns a *ConfigError too for
// what several processes can't train, and for more of them than there are leaves (reduce.Tree) of the training rows.
func PrepareShared(c *config.Config, processes int) (*objective.Problem, error) {
	if err := checkTeam(c, processes); err != nil {
		return nil, err
	}
	if c.Model != "" {
		return prepareExternal(context.Background(), c)
	}
	folds, err := loadFolds(c)
	if err != nil {
		return nil, err
	}
	data := folds.All
	if data.Classes != nil && c.TargetError >= 1 {
		return nil, &config.ConfigError{Field: "TargetError", Value: fmt.Sprint(c.TargetError),
			Expected: config.TargetFraction(c.TargetError)}
	}
	rows := data.Train.Rows()
	if limit := reduce.NewTree(rows).Leaves(); processes > 1 && limit < processes {
		return nil, &config.ConfigError{Field: "Processes", Value: fmt.Sprint(processes),
			Expected: fmt.Sprintf("at most %d processes for %d training rows", limit, rows)}
	}
	arch, err := c.Architecture(data)
	if err != nil {
		return nil, err
	}
	if arch.Loss == models.CrossEntropy && data.Classes == nil {
		return nil, &config.ConfigError{Field: "Loss", Value: "xent",
			Expected: "mse, because the targets are numbers and not classes"}
	}
	network, err := models.NewNetwork(arch)
	if err != nil {
		return nil, &config.FieldsError{Fields: "the network of {Hidden}, {Act}, {Out} and {Loss}", Err: err}
	}
	if err := c.SuitsScore(data, network.Probabilities()); err != nil {
		return nil, err
	}
	precision, err := precisionOf(c)
	if err != nil {
		return nil, err
	}
	start, err := models.ParseInit(c.InitSpec())
	if err != nil {
		return nil, &config.ConfigError{Field: "Init", Value: c.Init, Expected: config.ExpectedBy(err)}
	}
	if err := encodeTargets(c, data, &arch); err != nil {
		return nil, err
	}
	p := objective.NewProblem(data, network.In(precision), start)
	p.L2, p.Noise = c.L2, c.InputNoise
	if folds.Sets != nil {
		p.Joint, err = newJoint(c, folds, p)
	}
	return p, err
}

// newJoint returns what each net of a committee is trained on. Outputs that are bounded keep the scale of all targets.
func newJoint(c *config.Config, f *datasets.Folds, p *objective.Problem) (*objective.Joint, error) {
	arch := p.Network.Architecture()
	for _, d := range f.Sets {
		if out := arch.Layers[len(arch.Layers)-1].Activation; d.Classes == nil && out != models.Identity {
			d.RescaleTargets(&f.All.TargetScaling)
		}
		if err := encodeTargets(c, d, &arch); err != nil {
			return nil, err
		}
	}
	if f.Joint != f.All { // else they are, and may have been rounded since
		if err := encodeTargets(c, f.Joint, &arch); err != nil {
			return nil, err
		}
	}
	return objective.NewJoint(f, p)
}

// precisionOf returns that of the passes.
func precisionOf(c *config.Config) (models.Precision, error) {
	p, err := models.ParsePrecision(cmp.Or(c.Precision, models.Double.String()))
	if err != nil {
		return 0, &config.ConfigError{Field: "Precision", Value: c.Precision, Expected: config.ExpectedBy(err)}
	}
	return p, nil
}

// encodeTargets codes the targets as the network is to be trained on them.
func encodeTargets(c *config.Config, data *datasets.Dataset, a *models.Architecture) error {
	if err := c.SuitsTargets(data, a); err != nil || data.Classes == nil {
		return err
	}
	t := newTargetCoding(c, data, a)
	t.Encode(data)
	return nil
}

// LoadData returns the data as a run of its own has them. It returns a *ConfigError for what doesn't suit them.
func LoadData(c *config.Config) (*datasets.Dataset, error) {
	resolved := *c
	resolved.ResolveDefaults()
	return LoadResolved(&resolved)
}

// LoadResolved loads the data, with the inputs that a saved model of the run takes.
func LoadResolved(c *config.Config) (*datasets.Dataset, error) {
	f, err := loadFolds(c)
	if err != nil {
		return nil, err
	}
	if f.Joint != nil {
		return f.Joint, nil
	}
	return f.All, nil
}

// loadFolds loads the data, for each net of a committee its own where the nets have folds.
func loadFolds(c *config.Config) (f *datasets.Folds, err error) {
	o := datasets.Options{
		Dir: c.DataDir, Target: c.Target, Test: c.Test, Validation: c.Validation, Folds: c.Folds, Fold: c.Fold,
		Seed: config.DataSeed,
		Columns: lex.Options{Header: c.Header, Missing: c.Missing, Decimal: c.Decimal, Thousands: c.Thousands,
			Drop: c.Drop, Keep: c.Keep, NA: c.NA, Category: c.Category, Number: c.Number,
			Separator: c.Separator, Comment: c.Comment, Encoding: c.Encoding, Skip: c.Skipped},
	}
	if c.FoldCommittee() && c.FoldCoding == config.CodingOfEach {
		f, err = datasets.LoadFolds(c.DataName(), o)
	} else {
		f = &datasets.Folds{}
		f.All, err = datasets.Load(c.DataName(), o)
	}
	if option, ok := errors.AsType[*fault.OptionError](err); ok {
		err = &config.ConfigError{Field: strings.ToUpper(option.Field[:1]) + option.Field[1:], Value: option.Value,
			Expected: option.Expected}
	}
	return f, err
}

// checkTeam returns a *ConfigError for what that many processes can't train.
func checkTeam(c *config.Config, size int) error {
	switch {
	case size == 1:
	case c.Model != "":
		return &config.ConfigError{Field: "Model", Value: c.Model,
			Expected: "no other program's model where several processes train"}
	case c.Committee > 1:
		return &config.ConfigError{Field: "Committee", Value: fmt.Sprint(c.Committee),
			Expected: "one net where several processes train it"}
	case c.Score() != nil && c.Score().Outputs:
		return &config.ConfigError{Field: "Weights", Value: c.Weights,
			Expected: "best or last where several processes train"}
	case c.InputNoise > 0:
		return &config.ConfigError{Field: "InputNoise", Value: fmt.Sprint(c.InputNoise),
			Expected: "0 where several processes train"}
	case c.Experts > 0:
		return &config.ConfigError{Field: "Experts", Value: fmt.Sprint(c.Experts),
			Expected: "no mixture where several processes train"}
	}
	return nil
}

// newTargetCoding settles how classes are coded.
func newTargetCoding(c *config.Config, data *datasets.Dataset, a *models.Architecture) config.TargetCoding {
	t := config.TargetCoding{Low: 0, High: 1, Smoothing: c.LabelSmoothing}
	if config.Saturates(a) {
		t.Low = -1
	}
	if c.ClassWeights == "" {
		return t
	}
	counts := make([]int, len(data.Classes))
	for _, label := range data.Train.Labels {
		counts[label]++
	}
	t.Weights = config.ClassWeights(counts, data.Train.Rows())
	return t
}
