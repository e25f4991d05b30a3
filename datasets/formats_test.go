package datasets

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
)

// want writes the table that a file in convert/testdata is as CSV.
func want(t *testing.T, dir, name string) (path string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("convert", "testdata", name+".want"))
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, name+".csv")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "|", ",")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A table in another format is the set that it is as CSV, packed or not, and leaves nothing behind.
func TestTablesOfOtherFormats(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("NEWTOP_CACHE", t.TempDir())
	for _, name := range []string{"xy.npz", "packed.npz", "fortran.npy"} {
		content, err := os.ReadFile(filepath.Join("convert", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		path, packed := filepath.Join(dir, "any name"), filepath.Join(dir, "packed")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		writePacked(t, packed, string(content))
		w := mustLoad(t, want(t, dir, name), Options{})
		for _, path := range []string{path, packed} {
			got := mustLoad(t, path, Options{})
			if !mat.Equal(w.Train.Inputs, got.Train.Inputs) || !mat.Equal(w.Test.Targets, got.Test.Targets) || w.Table.Target != got.Table.Target {
				t.Errorf("%s (%s) differs from CSV", name, filepath.Base(path))
			}
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Rows that a file has for testing are tested on, with the names of the others.
func TestTableWithRowsForTesting(t *testing.T) {
	t.Setenv("NEWTOP_CACHE", t.TempDir())
	path := filepath.Join("convert", "testdata", "split.npz")
	text, err := os.ReadFile(path + ".want")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	d := mustLoad(t, path, Options{Columns: lex.Options{Keep: []string{"x1", "x2", "x3", "x4", "x5", "x6"}}})
	if want := "4 training rows, 2 test rows, as the file says"; !strings.HasSuffix(d.Title, want) {
		t.Errorf("%s, want %s", d.Title, want)
	}
	row := raw(d, &d.Test, d.Test.Rows()-1)
	for j, field := range strings.Split(lines[6], "|")[:6] {
		if v, err := strconv.ParseFloat(field, 64); err != nil || math.Abs(v-row[j]) > 1e-9 {
			t.Errorf("input %d of the last row is %g, want %s", j, row[j], field)
		}
	}
	for field, o := range map[string]Options{"test": {Test: "0.5"}, "header": {Columns: lex.Options{Header: "no"}}} {
		if e, ok := errors.AsType[*fault.OptionError](func() error { _, err := Load(path, o); return err }()); !ok || e.Field != field {
			t.Errorf("%s: %v", field, e)
		}
	}
}

// Files of one format are one table, and a directory is its CSV files, or else its other tables.
func TestTablesOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, from string) {
		content, err := os.ReadFile(filepath.Join("convert", "testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.npz", "xy.npz")
	write("b.npz", "xy.npz")
	write("notes.txt", "make.py")
	one := mustLoad(t, filepath.Join(dir, "b.npz"), Options{})
	for _, name := range []string{dir, filepath.Join(dir, "*.npz"), filepath.Join(dir, "a.npz") + "," + filepath.Join(dir, "b.npz")} {
		if d := mustLoad(t, name, Options{}); d.Train.Rows()+d.Test.Rows() != 2*(one.Train.Rows()+one.Test.Rows()) || d.Inputs() != one.Inputs() {
			t.Errorf("%s: %s", name, d.Title)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "c.csv"), []byte("x,y\n1,2\n2,3\n3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := mustLoad(t, dir, Options{}); d.Inputs() != 1 {
		t.Errorf("with a CSV file: %s", d.Title)
	}
	_, err := Load(filepath.Join(dir, "c.csv")+","+filepath.Join(dir, "a.npz"), Options{})
	if err == nil || !strings.HasSuffix(err.Error(), "c.csv: found a table in CSV, expected NPZ as "+filepath.Join(dir, "a.npz")) {
		t.Error(err)
	}
}

// Faults that the reader finds in a table of another format name its rows.
func TestRowsOfFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.npy")
	header := "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }\n"
	if err := os.WriteFile(path, []byte("\x93NUMPY\x01\x00"+string(rune(len(header)))+"\x00"+header+"\x01\x05\x02\x05\x03\x05"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, Options{})
	if err == nil || err.Error() != path+`: row 3: column "2": found the same value in every row, expected a target with at least two different values` {
		t.Error(err)
	}
}

// Text is the CSV text of any file.
func TestText(t *testing.T) {
	for name, want := range map[string]string{"u1.npy": "0,0,255\n1,2,100\n", "make.py": `"""Writes the arrays`} {
		file, err := os.Open(filepath.Join("convert", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := Text(file, name, lex.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(text)
		if err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: %.60q, %v", name, got, err)
		}
		if err := text.Close(); err != nil {
			t.Error(err)
		}
	}
}
