package modelfile

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/advancedclimatesystems/gonnx"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"
)

// runONNX runs an ONNX file on raw rows in gonnx, a runtime that shares nothing with newtop.
func runONNX(t *testing.T, text []byte, raw *mat.Dense, double bool) *mat.Dense {
	t.Helper()
	model, err := gonnx.NewModelFromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	rows, columns := raw.Dims()
	single := make([]float32, 0, rows*columns)
	whole := make([]float64, 0, rows*columns)
	for i := range rows {
		for _, v := range raw.RawRowView(i) {
			single, whole = append(single, float32(v)), append(whole, v)
		}
	}
	in := tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(single))
	if double {
		in = tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(whole))
	}
	out, err := model.Run(gonnx.Tensors{"input": in})
	if err != nil {
		t.Fatal(err)
	}
	shape := out["output"].Shape()
	values, ok := out["output"].Data().([]float32)
	if !ok || len(shape) != 2 || shape[0] != rows {
		t.Fatalf("the output is %T with shape %v", out["output"].Data(), shape)
	}
	u := mat.NewDense(rows, shape[1], nil)
	for i := range rows {
		for j := range shape[1] {
			u.Set(i, j, float64(values[i*shape[1]+j]))
		}
	}
	return u
}

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

func TestAnotherRuntimeComputesTheSame(t *testing.T) {
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
