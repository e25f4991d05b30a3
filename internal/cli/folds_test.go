package cli

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/internal/cli/print"
)

// TestFolds trains all folds as one command, as text and as lines, and one of them by itself to the same figures.
func TestFolds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	base := []string{"train", "--data", "sine", "--net", "3", "--epochs", "4", "--set", "folds=3", "--record", file}
	out := succeed(t, append(base, "--name", "cross")...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[4], "validation RMSE: mean 0.") || !strings.HasSuffix(lines[4], "of 3 folds") || !strings.HasPrefix(lines[5], "test RMSE: mean") {
		t.Fatal(out)
	}
	sorted := func(text string) []string { return slices.Sorted(strings.Lines(text)) }
	if again := succeed(t, "tune", "show", "cross", "--record", file); !slices.Equal(sorted(again), sorted(out)) {
		t.Errorf("shown later:\n%s\nexpected\n%s", again, out)
	}
	var figures []float64
	for line := range strings.Lines(succeed(t, append(base, "--format", "jsonl")...)) {
		var e struct {
			Type, Measure string
			Best          float64
			Choices       map[string]string
			Validation    struct{ Mean float64 }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "trial":
			figures = append(figures, e.Best)
			if e.Choices["fold"] != "2" {
				continue
			}
			var done struct {
				Error float64 `json:"validation_rmse"`
			}
			alone := strings.Split(strings.TrimSpace(succeed(t, append(base, "--set", "fold=2", "--format", "jsonl")...)), "\n")
			if err := json.Unmarshal([]byte(alone[len(alone)-1]), &done); err != nil || done.Error != e.Best {
				t.Errorf("fold 2 has %v, alone %v: %v", e.Best, done.Error, err)
			}
		case "folds":
			if mean := (figures[0] + figures[1] + figures[2]) / 3; len(figures) != 3 || e.Validation.Mean-mean > 1e-12 || mean-e.Validation.Mean > 1e-12 {
				t.Errorf("the mean of %v is %v", figures, e.Validation.Mean)
			}
		}
	}
	for text, args := range map[string][]string{
		"--set patience=5: expected validation rows, as with":   {"train", "--data", "sine", "--set", "patience=5"},
		"--save m.onnx: expected it with --set fold=N":          append(base, "--save", "m.onnx"),
		"--set folds=1: expected a whole number":                {"train", "--data", "sine", "--set", "folds=1"},
		"--set fold=4: expected a whole number from 1 to the 3": append(base, "--set", "fold=4"),
		"--validation 0.1: expected none with --set folds":      append(base, "--validation", "0.1"),
		"--set folds=3: expected --set fold=N beside it":        {"tune", "--data", "sine", "--set", "folds=3", "--record", file},
	} {
		refuses(t, print.ExitUsage, text, args...)
	}
}
