package config

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"newtop/datasets"
	"newtop/internal/format"
	"newtop/internal/score"
)

// Defaults of a run on a table.
const (
	DefaultValidation = "0.15" // of the rows that are not for testing; of a search's runs on any data
	defaultPatience   = 30
)

// CodingOfEach is the FoldCoding of runs that begin.
const CodingOfEach = "each"

// ResolveDefaults writes into the configuration of a run that begins what it leaves to the data: Validation, how folds
// are coded, and how long its patience is. New does it; whoever records the configuration has it done before. One of a
// recorded run stays as it is: where it says nothing, there are no validation rows.
func (c *Config) ResolveDefaults() {
	table := c.Model == "" && datasets.IsTable(c.DataName())
	if c.Validation == "" && c.Folds == 0 && table {
		c.Validation = DefaultValidation
	}
	if c.FoldCommittee() {
		c.FoldCoding = CodingOfEach
	}
	if c.Patience == 0 && table && c.hasValidation() {
		c.Patience = defaultPatience
	}
}

// hasValidation reports whether a settled configuration asks for validation rows.
func (c *Config) hasValidation() bool {
	return c.Folds > 0 || c.Validation != "" && c.Validation != "0"
}

// FoldCommittee reports whether each net of a committee leaves out another fold of the training rows, and is decided by
// it.
func (c *Config) FoldCommittee() bool { return c.Folds > 0 && c.Fold == 0 && c.Committee == c.Folds }

// checkValidation returns a *ConfigError for folds and limits that don't fit together.
func (c *Config) checkValidation() error {
	switch {
	case c.Folds < 0 || c.Folds == 1:
		return &ConfigError{Field: "Folds", Value: fmt.Sprint(c.Folds),
			Expected: "a whole number ≥ 2, or 0 to train once"}
	case c.Fold < 0 || c.Fold > c.Folds:
		return &ConfigError{Field: "Fold", Value: fmt.Sprint(c.Fold),
			Expected: fmt.Sprintf("a whole number from 1 to the %d of {Folds}, or 0 for all", c.Folds)}
	case c.Folds > 0 && c.Validation != "":
		return &ConfigError{Field: "Validation", Value: c.Validation,
			Expected: "none with {Folds}, which says what the validation rows are"}
	case c.FoldCommittee() && c.Experts > 0:
		return &ConfigError{Field: "Experts", Value: fmt.Sprint(c.Experts),
			Expected: "no mixture where the nets of a committee have a fold each"}
	case c.Patience < -1:
		return &ConfigError{Field: "Patience", Value: fmt.Sprint(c.Patience),
			Expected: "a whole number ≥ 1, 0 for the default, or -1 for never"}
	case c.Weights != "" && !slices.Contains(WeightsNames(), c.Weights):
		return &ConfigError{Field: "Weights", Value: c.Weights,
			Expected: strings.Join(WeightsNames(), ", ") + format.DidYouMean(c.Weights, WeightsNames())}
	case c.Score() != nil && c.Model != "":
		return &ConfigError{Field: "Weights", Value: c.Weights,
			Expected: "none with {Model}, which says what it is judged by"}
	case c.Score() != nil && c.TargetError > 0:
		return &ConfigError{Field: "Weights", Value: c.Weights, Expected: "none with {TargetError}, which decides"}
	}
	return nil
}

// WeightsNames returns the values of Weights.
func WeightsNames() []string { return append([]string{"best", "last"}, score.ByKeys()...) }

// Score returns what the best epoch is chosen by, nil where Weights does not say so.
func (c *Config) Score() *score.By { return score.ByKey(c.Weights) }

// SuitsScore returns a *ConfigError if Weights names a score that the validation rows don't have.
func (c *Config) SuitsScore(data *datasets.Dataset, softmax bool) error {
	by := c.Score()
	if by == nil {
		return nil
	}
	s := data.Validation
	if c.FoldCommittee() {
		s = data.Train
	}
	unfit := by.Unfit(len(data.Classes))
	switch {
	case unfit != "":
	case s.Rows() == 0:
		unfit = "validation rows, as with {Validation} 0.15"
	case by.Key == "logloss" && !softmax:
		unfit = "probabilities, as of softmax outputs"
	case by.Max && !slices.ContainsFunc(s.Labels, func(label int) bool { return label != s.Labels[0] }):
		unfit = "validation rows of two classes at least"
	}
	if unfit != "" {
		return &ConfigError{Field: "Weights", Value: c.Weights, Expected: unfit}
	}
	return nil
}

// CheckResolved returns a *ConfigError for what the configuration of a run, or of what is left of one, can't ask for.
func (c *Config) CheckResolved() error {
	switch {
	case c.Patience > 0 && !c.hasValidation():
		return &ConfigError{Field: "Patience", Value: fmt.Sprint(c.Patience),
			Expected: "validation rows, as with {Validation} 0.15"}
	case c.Folds > 0 && c.Fold == 0 && !c.FoldCommittee():
		return &ConfigError{Field: "Fold", Value: "0", Expected: fmt.Sprintf("the one to train, from 1 to %d", c.Folds)}
	}
	return nil
}

// TargetFraction says what the target of an error of classes is, of one that was meant in per cent which one.
func TargetFraction(target float64) string {
	const text = "a fraction of the rows below 1"
	if target > 100 {
		return text + ", as in 0.05"
	}
	return fmt.Sprintf("%s: %.4g for %.4g %%", text, target/100, target)
}

// NonNegative reports whether v can be that much of something.
func NonNegative(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
