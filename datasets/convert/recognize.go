package convert

import (
	"archive/zip"
	"bytes"
	"regexp"
	"slices"
	"strings"

	"newtop/datasets/fault"
)

// sniffed is how much of a text is looked at to tell its format.
const sniffed = 1 << 18

// recognize finds out the format of a file, or returns a *fault.FormatError for one that is known and can't be read.
func recognize(f File) (Format, error) {
	start := make([]byte, min(sniffed, f.Size))
	if err := f.readTo(start, 0); err != nil {
		return "", err
	}
	has := func(magic string) bool { return bytes.HasPrefix(start, []byte(magic)) }
	switch {
	case has("PAR1"):
		return Parquet, nil
	case has("\x93NUMPY"):
		return NPY, nil
	case has("PK\x03\x04"), has("PK\x05\x06"):
		return NPZ, f.isNPZ()
	}
	for _, r := range refused {
		if slices.ContainsFunc(r.magic, has) {
			return "", &fault.FormatError{File: f.Name, Offset: fault.Whole, Found: r.found, Expected: r.expected}
		}
	}
	if bytes.IndexByte(start, 0) >= 0 {
		return CSV, nil // which says what is wrong
	}
	for _, t := range refusedTexts {
		if t.begin.Match(start) {
			return "", &fault.FormatError{File: f.Name, Line: 1, Found: t.found, Expected: t.expected}
		}
	}
	return CSV, nil
}

// refusedTexts are texts that are known by how they begin, and what to do with them. Those of LIBSVM are recognized by
// a first row that has a value: a label, and values behind the numbers of their columns.
var refusedTexts = []struct {
	begin           *regexp.Regexp
	found, expected string
}{
	{regexp.MustCompile(`^\s*(\[\s*)?\{\s*"[^"\n]*"\s*:`), "JSON",
		`a table; with Python: pandas.read_json(FILE).to_csv("table.csv", index=False)`},
	{regexp.MustCompile(`(?i)^(\x{feff}|\s|%.*\n)*@(relation|attribute)\s`), "an ARFF file",
		`a table; with Python: pandas.DataFrame(d["data"], columns=[a for a, _ in d["attributes"]])` +
			`.to_csv("table.csv", index=False) of d = arff.load(open(FILE)), from liac-arff`},
	{regexp.MustCompile(`^(\s|#.*\n)*[-+.0-9][-+.,0-9eE]*([ \t]+qid:[0-9]+)?` +
		`([ \t]+[0-9]+:[-+.0-9a-zA-Z]+)+[ \t]*(#.*)?[\r\n]`),
		"a LIBSVM file",
		`a table; with Python: numpy.savez("table.npz", X=X.toarray(), y=y) ` +
			`of X, y = sklearn.datasets.load_svmlight_file(FILE)`},
}

// refused are formats that are known by how they begin, and what to do with them.
var refused = []struct {
	magic           []string
	found, expected string
}{
	{[]string{"PARE"}, "an encrypted Parquet file", "one without encryption"},
	{[]string{"\x89HDF\r\n\x1a\n"}, "an HDF5 file (.h5, or .mat of MATLAB 7.3)",
		`a table; with Python: pandas.read_hdf(FILE).to_csv("table.csv", index=False), ` +
			`or numpy.save("table.npy", h5py.File(FILE)[NAME][()])`},
	{[]string{"MATLAB 5.0 MAT-file"}, "a MATLAB file",
		`a table; with Python: numpy.savez("table.npz", X=m["X"], y=m["y"]) of m = scipy.io.loadmat(FILE)`},
	{[]string{"FEA1", "ARROW1"}, "a Feather or Arrow file",
		`a table; with Python: pandas.read_feather(FILE).to_parquet("table.parquet")`},
	{[]string{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}, "an Excel file (.xls)", "a table; save the sheet as CSV"},
	{[]string{"SQLite format 3\x00"}, "an SQLite database",
		`a table; save one with: sqlite3 -header -csv FILE "select * from TABLE" > table.csv`},
	{[]string{"\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05"}, "a Python pickle, which can run any program",
		`a table; with Python: pandas.read_pickle(FILE).to_csv("table.csv", index=False)`},
	{[]string{"\x28\xb5\x2f\xfd", "BZh", "\xfd7zXZ\x00"}, "a file packed by zstd, bzip2 or xz",
		"the unpacked file, or one packed by gzip"},
	{[]string{"ORC"}, "an ORC file", `a table; with Python: pandas.read_orc(FILE).to_parquet("table.parquet")`},
	{[]string{"Obj\x01"}, "an Avro file", "a table in CSV or Parquet"},
	{[]string{"%PDF-"}, "a PDF file", "a table in CSV"},
}

// isNPZ returns an error for a zip archive that has no arrays.
func (f *File) isNPZ() error {
	z, err := zip.NewReader(f.Content, f.Size)
	if err != nil {
		return &fault.FormatError{File: f.Name, Offset: fault.Whole,
			Found: "a damaged zip archive (" + err.Error() + ")", Expected: "one that numpy.savez wrote"}
	}
	arrays, excel := 0, false
	for _, e := range z.File {
		if strings.HasSuffix(e.Name, ".npy") {
			arrays++
		}
		excel = excel || strings.HasPrefix(e.Name, "xl/")
	}
	switch {
	case excel:
		return &fault.FormatError{File: f.Name, Offset: fault.Whole, Found: "an Excel file (.xlsx)",
			Expected: "a table; save the sheet as CSV"}
	case arrays == 0:
		return &fault.FormatError{File: f.Name, Offset: fault.Whole, Found: "a zip archive without arrays",
			Expected: "the table that is in it, or arrays that numpy.savez wrote"}
	}
	return nil
}
