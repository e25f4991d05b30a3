package datasets

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// writePacked writes a text that is packed by gzip.
func writePacked(t *testing.T, path, text string) {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A packed table is the same as the one that it was before, whole or a range of its rows, and leaves nothing behind.
func TestPackedCSV(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("NEWTOP_CACHE", t.TempDir())
	var b strings.Builder
	b.WriteString("height,width,price\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d,%d.5\n", i, i%7, i*i)
	}
	plain, packed := filepath.Join(dir, "table.csv"), filepath.Join(dir, "packed.csv.gz")
	if err := os.WriteFile(plain, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	writePacked(t, packed, b.String())
	want, got := mustLoad(t, plain, Options{}), mustLoad(t, packed, Options{})
	if !mat.Equal(want.Train.Inputs, got.Train.Inputs) || !mat.Equal(want.Test.Targets, got.Test.Targets) {
		t.Error("the packed table differs")
	}
	if d := mustLoad(t, dir, Options{}); d.Train.Rows()+d.Test.Rows() != 80 {
		t.Errorf("of a directory %d rows were read", d.Train.Rows()+d.Test.Rows())
	}
	whole, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{5, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(packed, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(packed, Options{}); err == nil || !strings.Contains(err.Error(), "packed.csv.gz") || !strings.Contains(err.Error(), "the end of the file") {
			t.Errorf("of %d of %d bytes: %v", n, len(whole), err)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
