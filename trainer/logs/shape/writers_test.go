package shape

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"newtop/internal/nightly"
)

// What the reader finds in what testdata/writers.py prints, by the first and the last row.
var writers = []struct {
	name, module string
	rows         int
	last         string // the last row as captured
}{
	{"xgboost", "xgboost", 8,
		"s2 train-rmse=0.19715, train-rmse std=0.00286, test-rmse=0.30451, test-rmse std=0.07954"},
	{"tqdm", "tqdm", 8, "s8 e1 loss=0.125"},
	{"mlp", "sklearn", 8, "s4 val score=0.5"},
	{"gbm", "sklearn", 5, "s5 train loss=0.8016, oob improve=0.0718"},
	{"hgb", "sklearn", 3, "s3 train loss=0.53614, val loss=0.58323"},
	{"sgd", "sklearn", 3, "e3 Norm=46.52, NNZs=2, Bias=-28.037124, T=360, avg loss=0.512947"},
	{"mnist", "torch", 6, "s960 e2 test loss=1.1067, test accuracy=0.37"},
}

func TestCapturedWriters(t *testing.T) {
	for _, w := range writers {
		t.Run(w.name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + w.name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			r := read(t, string(text))
			if len(r.rows) != w.rows || r.rows[len(r.rows)-1] != w.last {
				t.Errorf("%d rows, want %d and last %q:\n%s", len(r.rows), w.rows, w.last, strings.Join(r.rows, "\n"))
			}
		})
	}
}

// TestRealWriters reads what the libraries print today, if this machine has them.
func TestRealWriters(t *testing.T) {
	nightly.Only(t, "imports libraries of Python, 10 s; TestCapturedWriters reads what they printed once")
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	for _, w := range writers {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			if err := exec.Command(
				python, "-c",
				"import importlib.util, sys; sys.exit(not importlib.util.find_spec('"+w.module+"'))").Run(); err != nil {
				t.Skipf("%s has no module %s", python, w.module)
			}
			cmd := exec.Command(python, "testdata/writers.py", w.name)
			cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1", "PYTHONWARNINGS=ignore")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Skipf("%s does not run here: %v\n%s", w.name, err, out)
			}
			r := read(t, string(out))
			if len(r.rows) == 0 || keys(r.rows[len(r.rows)-1]) != keys(w.last) {
				t.Errorf("got %q, want the keys of %q, from\n%s", r.rows, w.last, out)
			}
		})
	}
}

var numbers = regexp.MustCompile(`=[^,]*|\b[se][\d.]+ `)

// keys is a recorded row without its numbers.
func keys(row string) string { return numbers.ReplaceAllString(row, "") }
