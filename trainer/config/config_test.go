package config

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// checked is what is wrong with the configuration of a run that begins.
func checked(c Config) error {
	c.ResolveDefaults()
	return cmp.Or(c.Check(), c.CheckResolved())
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Epochs: -1}, "Epochs -1: expected a whole number"},
		{Config{Batch: -3}, "Batch -3: expected"},
		{Config{TargetError: math.NaN()}, "TargetError NaN: expected"},
		{Config{TargetLoss: math.Inf(1)}, "TargetLoss +Inf: expected"},
		{Config{Hidden: []int{4, 0}}, "Hidden 0: expected"},
		{Config{Act: "wave"}, "Act wave: expected"},
		{Config{Loss: "guess"}, "Loss guess: expected"},
		{Config{Init: "uniform:x"}, "Init uniform:x: expected"},
		{Config{Optimizer: "magic"}, `unknown optimizer "magic": expected one of tr-newton`},
		{Config{Set: []string{"radius=-1"}}, "Set radius=-1: expected a number > 0"},
		{Config{Set: []string{"radius"}}, "Set radius: expected KEY=VALUE"},
		{Config{Experts: 5}, "Experts 5: expected Gate with an input"},
		{Config{Gate: "hue"}, "Gate hue: expected it together with Experts"},
		{Config{Experts: 5, Gate: "hue", Hidden: []int{3}}, "Hidden [3]: expected the layers of the experts"},
		{Config{Experts: 5, Gate: "hue", GateTraining: "never"}, "GateTraining never: expected descent or joint or fixed"},
		{Config{Committee: -1}, "Committee -1: expected a whole number"},
		{Config{Blocks: -1}, "Blocks -1: expected"},
		{Config{SpectrumMethod: "magic"}, "SpectrumMethod magic: expected lanczos or power"},
		{Config{SpectrumOf: "fisher"}, "SpectrumOf fisher: expected hessian or gauss-newton"},
		{Config{Set: []string{"speed=1"}}, "Set speed=1: expected one of"},
		{Config{Save: "m.pt"}, "Save m.pt: expected a file name"},
		{Config{L2: -1}, "L2 -1: expected a number ≥ 0"},
		{Config{L2: math.NaN()}, "L2 NaN: expected a number ≥ 0"},
		{Config{LabelSmoothing: 1}, "LabelSmoothing 1: expected a fraction"},
		{Config{InputNoise: math.Inf(1)}, "InputNoise +Inf: expected a number"},
		{Config{ClassWeights: "even"}, "ClassWeights even: expected balanced"},
		{Config{L2: 0.1, Optimizer: "bpls"}, "L2 0.1: expected 0 with bpls"},
		{Config{LabelSmoothing: 0.1, Optimizer: "bpls"}, "LabelSmoothing 0.1: expected 0 with bpls"},
		{Config{ClassWeights: "balanced", Optimizer: "bpls"}, "ClassWeights balanced: expected none with bpls"},
		{Config{InputNoise: 0.1, Optimizer: "tr-gn"}, "InputNoise 0.1: expected 0 with tr-gn"},
		{Config{Model: "unix:nowhere", InputNoise: 0.1}, "InputNoise 0.1: expected none with Model"},
		{Config{Patience: 5}, "Patience 5: expected validation rows"},
		{Config{Data: "./some.csv", Validation: "0", Patience: 2}, "Patience 2: expected validation rows, as with Validation "},
		{Config{Folds: 2, Fold: 3}, "Fold 3: expected a whole number"},
		{Config{Folds: 2}, "Fold 0: expected the one to train"},
		{Config{Folds: 3, Committee: 2}, "Fold 0: expected the one to train"},
		{Config{Folds: 1}, "Folds 1: expected a whole number ≥ 2"},
		{Config{Folds: 2, Fold: 1, Validation: "0.1"}, "Validation 0.1: expected none with"},
		{Config{Folds: 3, Committee: 3, Experts: 2, ExpertHidden: []int{4}, Gate: "1"}, "Experts 2: expected no mixture"},
		{Config{Weights: "first"}, "Weights first: expected best, last, error, auc"},
	} {
		err := checked(c.config)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v: expected %q", c.config, err, c.want)
		}
	}
}

// What a configuration is settled to.
func TestDefaultsOfTables(t *testing.T) {
	for _, c := range []struct {
		config     Config
		validation string
		patience   int
	}{
		{Config{Data: "letters"}, "", 0},
		{Config{Data: "letters", Validation: "0.1"}, "0.1", 0},
		{Config{Data: "./some.csv"}, "0.15", 30},
		{Config{Data: "./some.csv", Validation: "0"}, "0", 0},
		{Config{Data: "./some.csv", Validation: "7", Patience: 3}, "7", 3},
		{Config{Data: "./some.csv", Patience: -1}, "0.15", -1},
		{Config{Data: "./some.csv", Folds: 5, Fold: 2}, "", 30},
		{Config{Model: "unix:/tmp/peer"}, "", 0},
	} {
		got := c.config
		got.ResolveDefaults()
		again := got
		again.ResolveDefaults()
		if got.Validation != c.validation || got.Patience != c.patience || fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("%+v: settled to %q and %d", c.config, got.Validation, got.Patience)
		}
	}
}

// Whoever calls fields by other names, as a command line does by flags, reads those.
func TestErrorText(t *testing.T) {
	flag := func(field string) string { return "--" + strings.ToLower(field) }
	for _, c := range []struct {
		err  error
		want string
	}{
		{(&Config{Gate: "hue"}).Check(), "--gate hue: expected it together with --experts"},
		{fmt.Errorf("before: %w, behind", &ConfigError{Field: "Act", Value: "{Loss}", Expected: "{Nothing} or {Out}"}), "before: --act {Loss}: expected {Nothing} or --out, behind"},
		{&FieldsError{Fields: "{Save}", Err: os.ErrExist}, "--save: file already exists"},
		{os.ErrExist, "file already exists"},
		{&FieldsError{Fields: "{Model}", Err: &ConfigError{Field: "Act", Value: "x", Expected: "{Out}"}}, "--model: --act x: expected --out"},
	} {
		if got := ErrorText(c.err, flag); got != c.want {
			t.Errorf("%v: %s, expected %s", c.err, got, c.want)
		}
	}
}
