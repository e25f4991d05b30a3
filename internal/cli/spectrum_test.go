package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/internal/safetensors"
	"newtop/trainer/event"
	"newtop/trainer/peer/peertest"
)

// spectra are those that a command prints as JSON.
func spectra(t *testing.T, args ...string) (list []spectrumResult) {
	t.Helper()
	for _, line := range lines(succeed(t, append([]string{"spectrum", "--format", "jsonl"}, args...)...)) {
		var r spectrumResult
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, r)
	}
	return list
}

// TestSpectrumOfARun: a recorded run's spectrum is that which it had at its end; its layers' are of blocks of the same matrix; its
// vectors have their length.
func TestSpectrumOfARun(t *testing.T) {
	db := database(t)
	id := recordedRun(t, db, "--data", "spirals", "--net", "8-6", "--opt", "tr-gn", "--epochs", "8", "--spectrum", "2", "--set", "spectrum-every=8",
		"--set", "spectrum-rows=all", "--set", "spectrum-tolerance=1e-9", "--l2", "1e-3")
	var own event.SpectrumEvent
	for _, e := range decode(t, recordedEvents(t, db, id)) {
		if s, ok := e.(event.SpectrumEvent); ok {
			own = s
		}
	}
	file := filepath.Join(t.TempDir(), "v.safetensors")
	whole := spectra(t, id, "--record", db, "--count", "2", "--vectors", file, "--density")[0]
	if len(own.Eigenvalues) != 4 || len(whole.Eigenvalues) != 4 || whole.Weights != 92 || whole.Rows != 1600 || whole.Trace == nil || whole.Density == nil {
		t.Fatalf("%+v, the run's %+v", whole, own)
	}
	for i, v := range whole.Eigenvalues {
		if off := math.Abs(float64(v - own.Eigenvalues[i])); off > float64(whole.Residuals[i]+own.Residuals[i]) {
			t.Errorf("eigenvalue %d is %v ± %v, in the run %v ± %v", i, v, whole.Residuals[i], own.Eigenvalues[i], own.Residuals[i])
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Decode(text, file)
	if err != nil || len(f.Tensors) != 1 || len(f.Tensors[0].Data) != 4*92 {
		t.Fatalf("%v, %+v", err, f)
	}
	squares := 0.0
	for _, x := range f.Tensors[0].Data {
		squares += x * x
	}
	if math.Abs(squares-4) > 1e-12 {
		t.Errorf("squares of the vectors add up to %v", squares)
	}
	layers := spectra(t, id, "--record", db, "--count", "1", "--layers", "layer[12]", "--ends", "top")
	if len(layers) != 2 || layers[0].Layer != "layer1" || layers[0].Weights != 24 || layers[1].Weights != 54 || len(layers[0].Eigenvalues) != 1 {
		t.Fatalf("%+v", layers)
	}
	for _, r := range layers {
		if v := r.Eigenvalues[0]; v > whole.Eigenvalues[0]+whole.Residuals[0] {
			t.Errorf("%s has %v, the whole %v at most", r.Layer, v, whole.Eigenvalues[0])
		}
	}
	shown := succeed(t, "spectrum", id, "--record", db, "--count", "1", "--density")
	for _, want := range []string{"Hessian of spirals over 1,600 rows, loss 0.", "±\n", "trace ", " by 10 probes\n", "█", " products in "} {
		if !strings.Contains(shown, want) {
			t.Errorf("it prints\n%sexpected %q", shown, want)
		}
	}
	if shown := succeed(t, "spectrum", id, "--record", db, "--count", "1", "--of", "gauss-newton", "--layers", "*"); !strings.Contains(shown, "LAYER") || !strings.Contains(shown, "layer3") {
		t.Errorf("it prints\n%s", shown)
	}
	for want, args := range map[string][]string{
		"a recorded run by ID or name, or --model FILE": {},
		"a number of eigenvalues":                       {id, "--count", "0"},
		"> 0 and < 1":                                   {id, "--tolerance", "0"},
		"layer1, layer2, layer3":                        {id, "--layers", "conv*"},
		"expected a pattern":                            {id, "--layers", "[", "--count", "1"},
		"both or top":                                   {id, "--ends", "bottom"},
	} {
		refuses(t, print.ExitUsage, want, append([]string{"spectrum", "--record", db}, args...)...)
	}
}

// TestSpectrumOfATorchModel: from Python in one call, and of the program as a model.
func TestSpectrumOfATorchModel(t *testing.T) {
	python := peertest.Torch(t)
	script := torchModel("spectrum.py")
	cmd := exec.Command(python, script)
	cmd.Env = append(process(t).Env, "NEWTOP="+process(t).Path, "PYTHONPATH="+filepath.Join("..", "python"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if out, err := cmd.Output(); err != nil || !strings.HasPrefix(string(out), "held\n") {
		t.Fatalf("%v\n%s%s", err, out, &errs)
	}
}
