package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/reader"
	"newtop/datasets/fault"
)

// rowsByFirst returns the rows of both splits of a set, raw, ascending by their first input, with the
// class name or the raw target at the end.
func rowsByFirst(d *Dataset) (rows []string) {
	for _, s := range []*Split{&d.Train, &d.Test} {
		for i := range s.Rows() {
			row := raw(d, s, i)
			for j := range row {
				row[j] = math.Round(row[j]*1e6)/1e6 + 0 // no negative zeros
			}
			end := ""
			if d.Classes != nil {
				end = d.Classes[s.Labels[i]]
			} else {
				target := make([]float64, 1)
				d.TargetScaling.RawTo(target, s.Targets.RawRowView(i))
				end = fmt.Sprint(math.Round(target[0]*1e6) / 1e6)
			}
			rows = append(rows, fmt.Sprint(row, " ", end))
		}
	}
	slices.Sort(rows)
	return rows
}

func TestCSV(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		o          Options
		inputs     []string // names
		classes    []string
		rows       []string
	}{
		{"plain numbers", "1,2,0.5\n3,4,1.5\n5,6,2.5\n", Options{}, []string{"1", "2"}, nil,
			[]string{"[1 2] 0.5", "[3 4] 1.5", "[5 6] 2.5"}},
		{"header, CRLF, BOM, blank line, spaces", "\ufeffa, b ,y\r\n1 , 2,0.5\r\n\r\n3,4, 1.5\r\n", Options{}, []string{"a", "b"}, nil,
			[]string{"[1 2] 0.5", "[3 4] 1.5"}},
		{"years as names", "x,2019,2020\n1,2,0.5\n3,4,0.25\n", Options{}, []string{"x", "2019"}, nil,
			[]string{"[1 2] 0.5", "[3 4] 0.25"}},
		{"semicolons", "a;b;c\n1;x,y;0.5\n2;x,z;0.25\n", Options{}, []string{"a", "b=x,y", "b=x,z"}, nil,
			[]string{"[1 1 0] 0.5", "[2 0 1] 0.25"}},
		{"tabs", "1\tu\n2\tv\n3\tu\n", Options{}, []string{"1"}, []string{"u", "v"}, []string{"[1] u", "[2] v", "[3] u"}},
		{"quotes", "n,\"a, \"\"b\"\"\"\n1,\"x\ny\"\n2,z\n", Options{}, []string{"n"}, []string{`x\ny`, "z"}, []string{`[1] x\ny`, "[2] z"}},
		{"terminal escapes", "\"a\x1b[2J\",b\n1,\"\x1b]0;\a\"\n2,ü'\n", Options{}, []string{`a\x1b[2J`}, []string{`\x1b]0;\a`, "ü'"}, []string{`[1] \x1b]0;\a`, "[2] ü'"}},
		{"words alone", "size,colour\nbig,red\nsmall,blue\nbig,blue\n", Options{}, []string{"size=big", "size=small"}, []string{"blue", "red"},
			[]string{"[0 1] blue", "[1 0] blue", "[1 0] red"}},
		{"words alone, no header", "big,red\nbig,blue\nsmall,red\n", Options{}, []string{"1=big", "1=small"}, []string{"blue", "red"},
			[]string{"[0 1] red", "[1 0] blue", "[1 0] red"}},
		{"target by name", "a,b,c\n1,2,3\n4,5,6\n", Options{Target: "b"}, []string{"a", "c"}, nil, []string{"[1 3] 2", "[4 6] 5"}},
		{"target by number", "a,b,c\n1,2,3\n4,5,6\n", Options{Target: "1"}, []string{"b", "c"}, nil, []string{"[2 3] 1", "[5 6] 4"}},
		{"a number is a name first", "7,1,x\n1,20,0\n4,50,1\n", Options{Target: "7"}, []string{"1", "x"}, nil, []string{"[20 0] 1", "[50 1] 4"}},
		{"a number that is meant as a name", "2,1,x\n1,20,0\n4,50,1\n", Options{Target: "name:2"}, []string{"1", "x"}, nil, []string{"[20 0] 1", "[50 1] 4"}},
		{"a number that is meant as a place", "2,1,x\n1,20,0\n4,50,1\n", Options{Target: "place:2"}, []string{"2", "x"}, nil, []string{"[1 0] 20", "[4 1] 50"}},
		{"a name that is its own place", "1,x\n1,20\n4,50\n", Options{Target: "1"}, []string{"x"}, nil, []string{"[20] 1", "[50] 4"}},
		{"few whole numbers are classes", "1,3\n2,3\n3,10\n4,10\n5,3\n6,10\n7,3.0\n8,10\n9,3\n10,3\n", Options{}, []string{"1"}, []string{"3", "10"},
			[]string{"[10] 3", "[1] 3", "[2] 3", "[3] 10", "[4] 10", "[5] 3", "[6] 10", "[7] 3", "[8] 10", "[9] 3"}},
		{"constant column", "1,5,2\n2,5,3\n3,5,4.5\n", Options{}, []string{"1"}, nil, []string{"[1] 2", "[2] 3", "[3] 4.5"}},
		{"constant column that is kept", "1,5,2\n2,5,3\n3,5,4.5\n", Options{Columns: lex.Options{Keep: []string{"2"}}}, []string{"1", "2"}, nil,
			[]string{"[1 5] 2", "[2 5] 3", "[3 5] 4.5"}},
		{"first rows only", "a,b\n1,2\n3,4\n5,x\n", Options{Rows: 2}, []string{"a"}, nil, []string{"[1] 2", "[3] 4"}},
		{"numbers in many forms", "a,b\n1e3,-0.5\n+2,.25\n", Options{}, []string{"a"}, nil, []string{"[1000] -0.5", "[2] 0.25"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := mustLoad(t, write(t, t.TempDir(), "t.csv", []byte(tc.text)), tc.o)
			if d.Name != "t.csv" || !slices.Equal(d.InputNames, tc.inputs) || !slices.Equal(d.Classes, tc.classes) {
				t.Errorf("name %s, inputs %q, classes %q", d.Name, d.InputNames, d.Classes)
			}
			if got := rowsByFirst(d); !slices.Equal(got, tc.rows) {
				t.Errorf("rows %q, want %q", got, tc.rows)
			}
		})
	}
}

func TestCSVFaults(t *testing.T) {
	numbers := strings.Repeat("1,2,3\n1,2,4\n", 10)
	distinct := "a,b\n"
	for i := range 1002 {
		distinct += fmt.Sprintf("w%d,%d\n", i, i)
	}
	names := "a,b\n"
	for i := range 40 {
		names += fmt.Sprintf("%d,w%d\n", i*i, i)
	}
	for _, tc := range []struct {
		name, text    string
		line          int
		column, found string
	}{
		{"a slip in a number column", "a,b,c\n" + numbers + "4,1O.5,6\n", 22, "b", `"1O.5"`},
		{"a word in a short table", "a,b\n1,2\n3,four\n5,6\n", 3, "b", `"four"`},
		{"without a header", numbers + "4,5,6..1\n", 21, "3", `"6..1"`},
		{"a decimal comma among points", "a;b\n" + strings.Repeat("1.5;2\n", 10) + "1,5;3\n", 12, "a", `"1,5"`},
		{"infinity", numbers + "1,inf,3\n", 21, "2", `"inf"`},
		{"too great", numbers + "1,1e999,3\n", 21, "2", `"1e999"`},
		{"empty file", "", 1, "", "an empty file"},
		{"blank file", "\n\n", 1, "", "an empty file"},
		{"header alone", "a,b\n", 1, "", "1 row"},
		{"one row", "a,b\n1,2\n", 2, "", "1 row"},
		{"one column", "1\n2\n3\n", 1, "", "1 column"},
		{"torn row", numbers + "1,2\n", 21, "", "2 fields"},
		{"long row", numbers + "1,2,3,4\n", 21, "", "4 fields"},
		{"open quote", numbers + "1,\"2,3\n", 21, "", "a quote"},
		{"bare quote", numbers + "1,2\"2,3\n", 21, "", "a quote"},
		{"zero byte", numbers + "1,\x00,3\n", 21, "", "byte 0x00"},
		{"Cyrillic", "a,b\n1,\xcc\xee\xf1\xea\xe2\xe0\n2,\xd2\xe2\xe5\xf0\xfc\n", 1, "", "text that is not in UTF-8"},
		{"a column of names", distinct, 1003, "b", "no other column"},
		{"a target of names", names, 41, "b", "40 different words in 40 rows"},
		{"constant target", "1,2\n2,2\n", 2, "2", "the same value"},
		{"one class", "1,x\n2,x\n", 2, "2", "the same value"},
		{"binary", "\x89PNG\r\n\x1a\n", 1, "", "byte 0x89"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := write(t, t.TempDir(), "t.csv", []byte(tc.text))
			_, err := Load(path, Options{})
			e, ok := errors.AsType[*fault.FormatError](err)
			if !ok || e.File != path || e.Line != tc.line || e.Column != tc.column || !strings.HasPrefix(e.Found, tc.found) {
				t.Fatalf("%v, want line %d column %q %s", err, tc.line, tc.column, tc.found)
			}
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), fmt.Sprintf("%s:%d: ", path, tc.line)) {
				t.Errorf("%q", err)
			}
		})
	}
}

func TestCSVTargetUnknown(t *testing.T) {
	path := write(t, t.TempDir(), "t.csv", []byte("a,b\n1,2\n3,4\n"))
	for _, target := range []string{"c", "0", "3", "-1", "A"} {
		_, err := Load(path, Options{Target: target})
		if e, ok := errors.AsType[*fault.OptionError](err); !ok || e.Field != "target" || !strings.Contains(err.Error(), "a, b") {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// Scaling is fitted on the training rows alone, categories stay 0 and 1, targets are standardized.
func TestCSVScaling(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,kind,y\n")
	for i := range 100 {
		fmt.Fprintf(&text, "%d,%c,%g\n", i*i, 'a'+i%3, math.Sqrt(float64(i)))
	}
	d := mustLoad(t, write(t, t.TempDir(), "t.csv", []byte(text.String())), Options{Seed: 5, Test: "0.4"})
	if d.Train.Rows() != 60 || d.Test.Rows() != 40 {
		t.Fatalf("%d + %d rows", d.Train.Rows(), d.Test.Rows())
	}
	var x, y []float64
	for i := range 60 {
		x = append(x, d.Train.Inputs.At(i, 0))
		y = append(y, d.Train.Targets.At(i, 0))
		if sum := d.Train.Inputs.At(i, 1) + d.Train.Inputs.At(i, 2) + d.Train.Inputs.At(i, 3); sum != 1 {
			t.Errorf("row %d: categories add up to %g", i, sum)
		}
	}
	for name, column := range map[string][]float64{"x": x, "y": y} {
		if mean, deviation := stat.PopMeanStdDev(column, nil); math.Abs(mean) > 1e-12 || math.Abs(deviation-1) > 1e-12 {
			t.Errorf("%s: mean %g, deviation %g", name, mean, deviation)
		}
	}
	again := mustLoad(t, write(t, t.TempDir(), "t.csv", []byte(text.String())), Options{Seed: 5, Test: "0.4"})
	other := mustLoad(t, write(t, t.TempDir(), "t.csv", []byte(text.String())), Options{Seed: 6, Test: "0.4"})
	if !sameDataset(d, again) || sameDataset(d, other) {
		t.Error("the split does not follow the seed")
	}
}

// The UCI file is a table without a header too; both readers must see the same rows.
func TestCSVReadsUCILetter(t *testing.T) {
	dir := sharedData(t)
	table := mustLoad(t, dir+"/"+letterFile, Options{Target: "1", Test: "10"})
	letter := mustLoad(t, "letter", Options{Dir: dir, Test: "10"})
	if !slices.Equal(table.Classes, letter.Classes) || table.Inputs() != 16 {
		t.Fatalf("classes %v, %d inputs", table.Classes, table.Inputs())
	}
	if !slices.Equal(rowsByFirst(table), rowsByFirst(letter)) {
		t.Error("rows differ")
	}
}

func readText(text []byte, o Options) (*Dataset, error) {
	return readCSV(trainOn("f"), []lex.Source{{Name: "f", Text: bytes.NewReader(text), Size: int64(len(text))}}, o)
}

// optionsOf are the options that a text parted by bars says, for fuzzing.
func optionsOf(text, target string, rows int) Options {
	part := append(strings.Split(text, "|"), make([]string, 7)...)
	o := Options{Target: target, Rows: max(rows, 0), Validation: part[6]}
	o.Columns = lex.Options{Header: part[0], Missing: part[1], Decimal: part[2], Thousands: part[3]}
	if part[4] != "" {
		o.Columns.Drop = []string{part[4]}
	}
	if part[5] != "" {
		o.Columns.Keep = []string{part[5]}
	}
	return o
}

// fuzzedOptions are some.
var fuzzedOptions = []string{"", "yes|mean", "no|drop|,|.", "|median|||1|2|0.3", "||,| ||1|1"}

// FuzzCSV looks for input that panics, or that is accepted with numbers that are not finite.
func FuzzCSV(f *testing.F) {
	for i, s := range []string{"a,b\n1,2\n3,4\n", "1;x\n2;y\n", "1\t2\n3\t4\n", "\"a\"\"\",b\n1,2\n2,3\n", "a,a\n1,2\n3,4\n",
		"\ufeff1,2\r\n3,4\r\n", "x,y\n", "", ",\n,\n", "1,2\n3\n", "\xff\xfe", "1e300,1\n-1e300,2\n", "a,b\nc,d\ne,f\n",
		"1,5;2\n", "1,0\n2,-0\n3,0\n", "5e-324,1\n0,2\n0,3\n", "\"\x1b,\n1\",b\n1,2\n2,3\n", kinds(30), ",0,1\n0,?,2\n1,3,NA\n2,1.5,1\n",
		"d;n\n1.2.2020;1.234,5\n31.12.2021 10:00;7\n;8,5\n", "t,y\nyes,1\nno,2\nYES,\n"} {
		f.Add([]byte(s), "", 0, fuzzedOptions[i%len(fuzzedOptions)])
		f.Add([]byte(s), "1", 2, "")
	}
	f.Fuzz(func(t *testing.T, text []byte, target string, rows int, columns string) {
		o := optionsOf(columns, target, rows)
		d, err := readText(text, o)
		if err != nil {
			_, format := errors.AsType[*fault.FormatError](err)
			_, option := errors.AsType[*fault.OptionError](err)
			if !format && !option || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("%T: %q", err, err)
			}
			return
		}
		checkShape(t, d)
		if names := fmt.Sprint(d.Title, d.InputNames, d.TargetNames, d.Notes); strings.ContainsAny(names, "\n\r\x1b") {
			t.Fatalf("%q", names)
		}
		for _, s := range []*Split{&d.Train, &d.Validation, &d.Test} {
			if s.Rows() == 0 {
				continue
			}
			for _, v := range slices.Concat(s.Inputs.RawMatrix().Data, s.Targets.RawMatrix().Data) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%v among the values", v)
				}
			}
		}
		checkPredicted(t, text, d)
	})
}

// checkPredicted holds what a Reader makes of a table to the shape and to numbers that are finite.
func checkPredicted(t *testing.T, text []byte, d *Dataset) {
	r, err := reader.New(bytes.NewReader(text), "f", d.Table, false)
	if err != nil {
		return // a header that was said to be none, or the other way round
	}
	if r.Inputs() != d.Inputs() {
		t.Fatalf("%d inputs of %d", r.Inputs(), d.Inputs())
	}
	raw := make([]float64, r.Inputs())
	for {
		if _, err := r.Read(raw); err != nil {
			break
		}
		if slices.ContainsFunc(raw, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			t.Fatalf("%v among the inputs", raw)
		}
	}
}

func BenchmarkCSV(b *testing.B) {
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "%d,%g,%c,%d\n", i, math.Sqrt(float64(i)), 'a'+i%26, i%7)
	}
	raw := []byte(text.String())
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := readText(raw, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
