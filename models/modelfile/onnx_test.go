package modelfile

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// closeTo fails unless the outputs agree to 1e-5, of 1 or of the value where that is larger.
func closeTo(t *testing.T, got, want *mat.Dense) {
	t.Helper()
	rows, columns := want.Dims()
	worst := 0.0
	for i := range rows {
		for j := range columns {
			difference := math.Abs(got.At(i, j)-want.At(i, j)) / max(1, math.Abs(want.At(i, j)))
			if !(difference <= 1e-5) {
				t.Fatalf("row %d, output %d: %.9g, expected %.9g", i, j, got.At(i, j), want.At(i, j))
			}
			worst = max(worst, difference)
		}
	}
	t.Logf("largest difference %.2g", worst)
}

// TestOperators: the graph computes the same by what ONNX says of its operators. That runtimes find it well-formed, .ci/onnx
// checks.
func TestOperators(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			var text bytes.Buffer
			if err := WriteONNX(&text, s.model); err != nil {
				t.Fatal(err)
			}
			closeTo(t, runONNX(t, text.Bytes(), s.raw, s.wide), s.predictions())
		})
	}
}

// TestFilesForAnotherRuntime writes what .ci/onnx compares.
func TestFilesForAnotherRuntime(t *testing.T) {
	dir := os.Getenv("NEWTOP_ONNX_DIR")
	if dir == "" {
		t.Skip("NEWTOP_ONNX_DIR names no directory; .ci/onnx/run does")
	}
	type entry struct {
		File    string    `json:"file"`
		Type    string    `json:"type"`
		Rows    int       `json:"rows"`
		Columns int       `json:"columns"`
		Outputs int       `json:"outputs"`
		Raw     []float64 `json:"raw"`
		Want    []float64 `json:"want"`
	}
	var cases []entry
	for _, s := range samples(t) {
		file := strings.ReplaceAll(s.name, " ", "-") + ".onnx"
		if _, err := Write(filepath.Join(dir, file), s.model); err != nil {
			t.Fatal(err)
		}
		e := entry{File: file, Type: "float32", Rows: sampleRows, Columns: len(s.model.Inputs), Outputs: len(s.model.Outputs),
			Raw: s.raw.RawMatrix().Data, Want: s.predictions().RawMatrix().Data}
		if s.wide {
			e.Type = "float64"
		}
		cases = append(cases, e)
	}
	text, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cases.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}
