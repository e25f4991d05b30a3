package datasets

import (
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// sharedData returns the directory with the real data, or skips the test.
func sharedData(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		data := filepath.Join(dir, "shared", "data")
		if _, err := os.Stat(filepath.Join(data, letterFile)); err == nil {
			return data
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("the real data (shared/data) is not there")
		}
		dir = up
	}
}

func mustLoad(t testing.TB, name string, o Options) *Dataset {
	t.Helper()
	d, err := Load(name, o)
	if err != nil {
		t.Fatal(err)
	}
	checkShape(t, d)
	return d
}

// checkShape holds a set to what the documentation of Dataset promises.
func checkShape(t testing.TB, d *Dataset) {
	t.Helper()
	if d.Name == "" || d.Title == "" {
		t.Error("name or title is empty")
	}
	if len(d.InputNames) != d.Inputs() || len(d.TargetNames) != d.Outputs() {
		t.Errorf("%d input names for %d inputs, %d target names for %d outputs",
			len(d.InputNames), d.Inputs(), len(d.TargetNames), d.Outputs())
	}
	if len(d.InputScaling.Offset) != d.Inputs() || len(d.InputScaling.Scale) != d.Inputs() ||
		len(d.TargetScaling.Offset) != d.Outputs() || len(d.TargetScaling.Scale) != d.Outputs() {
		t.Error("scaling has not one entry for each column")
	}
	for _, s := range []*Split{&d.Train, &d.Test} {
		rows, columns := s.Inputs.Dims()
		if targets, outputs := s.Targets.Dims(); rows == 0 || targets != rows || columns != d.Inputs() || outputs != d.Outputs() {
			t.Errorf("inputs %d×%d, targets %d×%d", rows, columns, targets, outputs)
		}
		if (s.Labels != nil) != (d.Classes != nil) {
			t.Errorf("labels %t, classes %t", s.Labels != nil, d.Classes != nil)
		}
		for i, label := range s.Labels {
			for j := range d.Outputs() {
				if want := map[bool]float64{true: 1, false: 0}[j == label]; s.Targets.At(i, j) != want {
					t.Fatalf("row %d of class %d has target %d = %g", i, label, j, s.Targets.At(i, j))
				}
			}
		}
	}
	if d.Image != nil && d.Image.Width*d.Image.Height != d.Inputs() {
		t.Errorf("image %d×%d for %d inputs", d.Image.Width, d.Image.Height, d.Inputs())
	}
}

// raw returns row i of a split's inputs as it was before scaling.
func raw(d *Dataset, s *Split, i int) []float64 {
	row := make([]float64, d.Inputs())
	d.InputScaling.RawTo(row, s.Inputs.RawRowView(i))
	return row
}

func sameDataset(a, b *Dataset) bool {
	same := func(a, b *Split) bool {
		if len(a.Labels) != len(b.Labels) {
			return false
		}
		for i := range a.Labels {
			if a.Labels[i] != b.Labels[i] {
				return false
			}
		}
		return mat.Equal(a.Inputs, b.Inputs) && mat.Equal(a.Targets, b.Targets)
	}
	return same(&a.Train, &b.Train) && same(&a.Test, &b.Test)
}

func write(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
