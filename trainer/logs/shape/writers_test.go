package shape

import (
	"os"
	"strings"
	"testing"
)

// What the reader finds in what libraries printed into testdata, by how many rows there are and the last.
var writers = []struct {
	name string
	rows int
	last string // the last row as captured
}{
	{"xgboost", 8,
		"s2 train-rmse=0.19715, train-rmse std=0.00286, test-rmse=0.30451, test-rmse std=0.07954"},
	{"tqdm", 8, "s8 e1 loss=0.125"},
	{"mlp", 8, "s4 val score=0.5"},
	{"gbm", 5, "s5 train loss=0.8016, oob improve=0.0718"},
	{"hgb", 3, "s3 train loss=0.53614, val loss=0.58323"},
	{"sgd", 3, "e3 Norm=46.52, NNZs=2, Bias=-28.037124, T=360, avg loss=0.512947"},
	{"mnist", 6, "s960 e2 test loss=1.1067, test accuracy=0.37"},
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
