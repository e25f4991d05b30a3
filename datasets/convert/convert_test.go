package convert

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"newtop/datasets/fault"
)

// convertAll opens files as one table and returns the text of each.
func convertAll(files ...File) (*Table, []string, error) {
	t, err := Open(files)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	var texts []string
	for i := range t.Texts {
		var b bytes.Buffer
		if err := t.Texts[i].Write(&b); err != nil {
			return t, nil, err
		}
		texts = append(texts, b.String())
	}
	return t, texts, nil
}

func named(name string, content []byte) File {
	return File{name, bytes.NewReader(content), int64(len(content))}
}

func load(t testing.TB, path string) File {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return named(filepath.Base(path), content)
}

// records returns the fields of a CSV text.
func records(t testing.TB, text string) [][]string {
	t.Helper()
	r := stdcsv.NewReader(strings.NewReader(text))
	list, err := r.ReadAll()
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return list
}

// same reports whether fields are the same word or whole number, or numbers of the same bits.
func same(a, b string) bool {
	v, err := strconv.ParseFloat(a, 64)
	w, err2 := strconv.ParseFloat(b, 64)
	return a == b || strings.ContainsAny(a+b, ".eE") && err == nil && err2 == nil && math.Float64bits(v) == math.Float64bits(w)
}

// compare compares a text with what it should be, its fields parted by bars.
func compare(t *testing.T, got, want string) {
	t.Helper()
	list := records(t, got)
	lines := strings.Split(strings.TrimSuffix(want, "\n"), "\n")
	if len(list) != len(lines) {
		t.Fatalf("%d rows, want %d", len(list), len(lines))
	}
	for i, line := range lines {
		fields := strings.Split(line, "|")
		if len(fields) != len(list[i]) {
			t.Fatalf("row %d has %d fields, want %d", i, len(list[i]), len(fields))
		}
		for j := range fields {
			if !same(list[i][j], fields[j]) {
				t.Errorf("row %d, column %d: %q, want %q", i, j, list[i][j], fields[j])
			}
		}
	}
}

func compareFiles(t *testing.T, dir string) {
	wants, err := filepath.Glob(filepath.Join(dir, "*.want"))
	if err != nil || len(wants) < 20 {
		t.Fatalf("%d files, %v", len(wants), err)
	}
	for _, path := range wants {
		name := strings.TrimSuffix(filepath.Base(path), ".want")
		if name == "parquet" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, texts, err := convertAll(load(t, filepath.Join(dir, name)))
			if err != nil {
				t.Fatal(err)
			}
			if len(texts) == 2 { // the rows to test on, behind the same names
				_, rows, _ := strings.Cut(texts[1], "\n")
				texts[0] += rows
			}
			compare(t, texts[0], string(want))
		})
	}
}

// Files that numpy and scikit-learn wrote are the tables that Python says they are, whatever they are called.
func TestFilesOfPython(t *testing.T) { compareFiles(t, "testdata") }

func TestFilesOfThisPython(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("/usr/bin/python3", "testdata/make.py", dir).CombinedOutput(); err != nil {
		t.Skipf("no Python with numpy and scikit-learn: %v %s", err, out)
	}
	compareFiles(t, dir)
}

func TestFormats(t *testing.T) {
	for name, want := range map[string]Format{"u1.npy": NPY, "xy.npz": NPZ, "plain.parquet": Parquet, "make.py": CSV} {
		f := load(t, filepath.Join("testdata", name))
		f.Name = "table.csv"
		table, err := Open([]File{f})
		if err != nil {
			t.Fatal(err)
		}
		if table.Format != want || table.Header != (want == NPZ || want == Parquet) {
			t.Errorf("%s: %s, with names: %t", name, table.Format, table.Header)
		}
		table.Close()
	}
	for _, text := range []string{"", "a,b\n1,2\n", "1 2\n3 4\n", "% 50\n", "1\n2\n", "x @relation\n", "10:30 1\n", "@relations,b\n", "3 10:30,5\n", "{a\n"} {
		if table, err := Open([]File{named("f", []byte(text))}); err != nil || table.Format != CSV {
			t.Errorf("%q: %v, %v", text, table, err)
		}
	}
	table, texts, err := convertAll(load(t, "testdata/split.npz"), load(t, "testdata/xy.npz"))
	if err != nil || len(texts) != 3 || table.Texts[0].Test || !table.Texts[1].Test || table.Texts[2].Test || table.Texts[1].File != 0 || table.Texts[2].File != 1 {
		t.Errorf("%v, %v", table, err)
	}
}

// What can't be read is told in one line that says what to do.
func TestRefused(t *testing.T) {
	zip := func(name string) []byte {
		return []byte("PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00!\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + string(byte(len(name))) + "\x00\x00\x00" + name +
			"PK\x01\x02\x14\x00\x14\x00\x00\x00\x00\x00\x00\x00!\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + string(byte(len(name))) + strings.Repeat("\x00", 17) + name +
			"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00" + string(byte(46+len(name))) + "\x00\x00\x00" + string(byte(30+len(name))) + "\x00\x00\x00\x00\x00")
	}
	for _, c := range []struct{ content, want string }{
		{string(zip("xl/workbook.xml")), "f: found an Excel file (.xlsx), expected a table; save the sheet as CSV"},
		{string(zip("a.csv")), "f: found a zip archive without arrays, expected the table that is in it, or arrays that numpy.savez wrote"},
		{"PK\x03\x04", "damaged zip archive"},
		{"\x80\x04\x95", "a Python pickle"},
		{"\x89HDF\r\n\x1a\n", "an HDF5 file"},
		{"MATLAB 5.0 MAT-file, Platform", "a MATLAB file"},
		{"ARROW1\x00\x00", "a Feather or Arrow file"},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file (.xls)"},
		{"SQLite format 3\x00", "sqlite3 -header -csv"},
		{"BZh91AY", "a file packed by zstd, bzip2 or xz"},
		{`[{"a": 1}]`, "f:1: found JSON"},
		{"{\"a\": 1}\n{\"a\": 2}\n", "f:1: found JSON"},
		{"\xef\xbb\xbf% a\n\n@RELATION r\n", "f:1: found an ARFF file"},
		{" @attribute a numeric\n", "arff.load(open(FILE))"},
		{"# a\n\n-1.5 1:0.5 3:-2e-3 # b\n", "f:1: found a LIBSVM file"},
		{"1,2 qid:3 2:nan\r\n", "sklearn.datasets.load_svmlight_file(FILE)"},
		{"PAR1", `f: offset 0: found another end, expected "PAR1"; the file was not written to its end`},
		{"PAR1PAR1PAR1", "f: offset 4: found a description of 827474256 bytes, expected at most 0"},
	} {
		_, err := Open([]File{named("f", []byte(c.content))})
		e, ok := errors.AsType[*fault.FormatError](err)
		if !ok || !strings.Contains(e.Error(), c.want) || strings.Contains(e.Error(), "\n") {
			t.Errorf("%q: %v, want %s", c.content, err, c.want)
		}
	}
	for name, want := range map[string]string{
		"objects.npy":    "offset 10: found an array of Python objects, expected an array of numbers; with Python: ARRAY.astype(float)",
		"structured.npy": "found a structured array, expected columns of one type",
		"complex.npy":    "found an array of type <c16, expected numbers of at most 64 bits",
		"flat.npy":       "found an array of shape (5,), expected two dimensions",
		"infinite.npy":   `offset 152: column "2": found infinity in row 2, expected finite numbers; nan is a missing value`,
		"unknown.npz":    "found the arrays a, b, expected X and y",
		"rows.npz":       "rows.npz/y.npy: offset 0: found 3 rows, expected 15 as rows.npz/X.npy",

		"apache/nested_lists.snappy.parquet":                    `column "a": found a nested column`,
		"apache/rle-dict-uncompressed-corrupt-checksum.parquet": `column "long_field": found a wrong checksum`,
		"apache/binary.parquet":                                 `column "foo": found bytes that are no text in UTF-8`,
	} {
		_, _, err := convertAll(load(t, filepath.Join("testdata", name)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	_, _, err := convertAll(load(t, "testdata/u1.npy"), load(t, "testdata/xy.npz"))
	if err == nil || err.Error() != "xy.npz: found a table in NPZ, expected NPY as u1.npy" {
		t.Error(err)
	}
}

// Any number is read as the bits that it was.
func TestNumbersKeepTheirBits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	check := func(v float64) {
		text := string(appendNumber(nil, v))
		if w, err := strconv.ParseFloat(text, 64); err != nil || math.Float64bits(v) != math.Float64bits(w) {
			t.Fatalf("%g (%x) as %q", v, math.Float64bits(v), text)
		}
	}
	for range 200_000 {
		if v := math.Float64frombits(r.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
			check(v)
		}
		check(float64(math.Float32frombits(r.Uint32() & 0xbfffffff)))
		check(float64(r.Int64N(1e12)-5e11) / 1e6)
		check(float64(r.IntN(2000)-1000) / 100)
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 1e15, -1e15, 999999999999999, 1e-5, 0.5, 1e22, math.MaxFloat64, 123456789.123456} {
		check(v)
	}
	if got := fmt.Sprintf("%s %s %s", appendNumber(nil, 0.25), appendNumber(nil, -3.1), appendNumber(nil, 17)); got != "0.25 -3.1 17" {
		t.Error(got)
	}
}

// All half precision numbers, by a table of another kind: the bits of the single precision number.
func TestFloat16(t *testing.T) {
	for b := range 1 << 16 {
		sign, exponent, fraction := uint32(b)>>15, uint32(b)>>10&31, uint32(b)&1023
		want := math.Float32frombits(sign<<31 | (exponent+112)<<23 | fraction<<13)
		switch exponent {
		case 0:
			want = float32(fraction) / (1 << 24)
			if sign > 0 {
				want = -want
			}
		case 31:
			want = math.Float32frombits(sign<<31 | 255<<23 | fraction<<13)
		}
		got := float16(uint16(b))
		if math.Float64bits(got) != math.Float64bits(float64(want)) && !(math.IsNaN(got) && want != want) {
			t.Fatalf("%04x: %g, want %g", b, got, want)
		}
	}
}

// A file that is cut anywhere, or has a wrong byte anywhere, is refused or read, in little memory.
func TestDamagedFiles(t *testing.T) {
	for _, name := range []string{"little_f4.npy", "xy.npz", "packed.npz", "apache/alltypes_plain.parquet", "apache/byte_stream_split.zstd.parquet"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 300 {
			content := bytes.Clone(whole)
			if n%3 == 0 {
				content = content[:r.IntN(len(content))]
			} else {
				content[r.IntN(len(content))] = byte(r.Uint32())
			}
			_, _, err := convertAll(named("f", content))
			if _, ok := errors.AsType[*fault.FormatError](err); err != nil && !ok {
				t.Fatalf("%s: %v (%s)", name, err, reflect.TypeOf(err))
			}
		}
	}
}

// A shape that the file has no bytes for takes no memory.
func TestGreatShapes(t *testing.T) {
	for shape, want := range map[string]string{
		"(1000000, 1000)":             "found 1000000 rows of 1000 columns, expected at most 268435456 numbers in all",
		"(2, 4000000)":                "columns, expected at most 100000",
		"(9000000000000000000, 1)":    "rows of 1 columns",
		"(9223372036854775807, 4096)": "rows of 4096 columns",
		"(3, 3)":                      "the end of the file",
		"(9000000000, 0)":             "rows of 100000 columns",
		"()":                          "a single value",
	} {
		_, _, err := convertAll(named("f", npy("<f8", false, shape, make([]byte, 64))))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", shape, err, want)
		}
	}
}

// What inOrder writes is in order, whatever takes long, and the first error counts.
func TestInOrder(t *testing.T) {
	var b strings.Builder
	err := inOrder(&b, spans(1000, 7), func(dst []byte, s span) ([]byte, error) {
		for i := s.first; i < s.last; i++ {
			dst = strconv.AppendInt(dst, int64(i), 10)
		}
		return dst, nil
	})
	want := ""
	for i := range 1000 {
		want += strconv.Itoa(i)
	}
	if err != nil || b.String() != want {
		t.Errorf("%v, %q", err, b.String())
	}
	err = inOrder(io.Discard, spans(1000, 7), func(dst []byte, s span) ([]byte, error) {
		if s.first >= 70 {
			return nil, fmt.Errorf("row %d", s.first)
		}
		return dst, nil
	})
	if err == nil || err.Error() != "row 70" {
		t.Error(err)
	}
}
