package config

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"newtop/models"
)

// TestConfigInJSON: a configuration that was written comes back as it was, whatever it has.
func TestConfigInJSON(t *testing.T) {
	full := Config{
		Model: "unix:/tmp/peer", ModelTimeout: time.Minute,
		Data: "a.csv", DataDir: "data", Target: "3", Test: "20%",
		Hidden: []int{3, 4}, Graph: "net.toml", Skip: models.SkipAll,
		Experts: 2, ExpertHidden: []int{5}, Gate: "hue", GateTraining: "joint", Committee: 3,
		Act: "relu", Out: "tanh", Loss: "mse", Init: "uniform:0.3",
		Optimizer: "adam", Set: []string{"rate=1e-3", "ρ=\"\\\n"}, Batch: 7, Schedule: "linear", Blocks: 8, Epochs: 9,
		TimeLimit:  1<<62 + time.Nanosecond,
		TargetLoss: math.SmallestNonzeroFloat64, TargetError: 0.1, Until: "error<1",
		Seed: math.MaxUint64, Threads: 2, Spectrum: 4, SpectrumEvery: 5, SpectrumMethod: "power", SpectrumEnds: "both", SpectrumTolerance: 1e-4,
		SpectrumOf: "hessian", SpectrumRows: -1, Density: true, FreshProbes: true, SpectrumShare: 1.0 / 3, Save: "w.onnx", Memory: math.MaxInt64, Precision: "float32",
		Validation: "0.1", Folds: 5, Fold: 2, FoldCoding: "each", Header: "no", Missing: "drop", Decimal: ",", Thousands: ".", Drop: []string{"a"}, Keep: []string{"b"},
		NA: []string{"-9"}, Category: []string{"c"}, Number: []string{"d"}, Separator: "|", Comment: "#", Encoding: "latin1", Skipped: "2",
		Patience: -1, L2: 1e-4, InputNoise: 0.1, LabelSmoothing: 0.05, ClassWeights: "balanced", Average: 5, Weights: "last",
	}
	v := reflect.ValueOf(full)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not filled in here", v.Type().Field(i).Name)
		}
	}
	for _, c := range []Config{full, {}, {Hidden: []int{}, Set: []string{}}} {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Config
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, c) {
			t.Errorf("%s came back as %+v, expected %+v", text, back, c)
		}
	}
}
