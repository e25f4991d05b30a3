package trainer

import (
	"fmt"

	"newtop/datasets"
)

// Defaults of a run on a table.
const (
	DefaultValidation = "0.15" // of the rows that are not for testing; of a search's runs on any data
	defaultPatience   = 30
)

// Settle writes into the configuration of a run that begins what it leaves to the data: Validation, and how long its
// patience is. New does it; whoever records the configuration has it done before. One of a recorded run stays as it is:
// where it says nothing, there are no validation rows.
func (c *Config) Settle() {
	table := c.Model == "" && datasets.IsTable(c.data())
	if c.Validation == "" && c.Folds == 0 && table {
		c.Validation = DefaultValidation
	}
	if c.Patience == 0 && table && c.validates() {
		c.Patience = defaultPatience
	}
}

// validates reports whether a settled configuration asks for validation rows.
func (c *Config) validates() bool {
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
	case c.FoldCommittee() && c.ClassWeights != "":
		return &ConfigError{Field: "ClassWeights", Value: c.ClassWeights,
			Expected: "none where the nets of a committee have a fold each, as rows to decide by count alike"}
	case c.FoldCommittee() && c.LabelSmoothing > 0:
		return &ConfigError{Field: "LabelSmoothing", Value: fmt.Sprint(c.LabelSmoothing),
			Expected: "0 where the nets of a committee have a fold each, as rows to decide by are not smoothed"}
	case c.FoldCommittee() && c.Experts > 0:
		return &ConfigError{Field: "Experts", Value: fmt.Sprint(c.Experts),
			Expected: "no mixture where the nets of a committee have a fold each"}
	case c.Patience < -1:
		return &ConfigError{Field: "Patience", Value: fmt.Sprint(c.Patience),
			Expected: "a whole number ≥ 1, 0 for the default, or -1 for no end of it"}
	case c.Weights != "" && c.Weights != "best" && c.Weights != "last":
		return &ConfigError{Field: "Weights", Value: c.Weights, Expected: "best or last"}
	}
	return nil
}

// checkSettled returns a *ConfigError for what the configuration of a run, or of what is left of one, can't ask for.
func (c *Config) checkSettled() error {
	switch {
	case c.Patience > 0 && !c.validates():
		return &ConfigError{Field: "Patience", Value: fmt.Sprint(c.Patience),
			Expected: "validation rows to decide by, as with {Validation} 0.15"}
	case c.Folds > 0 && c.Fold == 0 && !c.FoldCommittee():
		return &ConfigError{Field: "Fold", Value: "0", Expected: fmt.Sprintf("the one to train, from 1 to %d", c.Folds)}
	}
	return nil
}
