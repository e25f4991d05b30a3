package reader

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/fault"
)

// colours is a table with a number, a category, another number and a class, in the middle.
var colours = &schema.Table{
	Fields: []schema.Field{{Name: "size"}, {Name: "colour", Words: []string{"blue", "red"}}, {Name: "weight"}},
	Target: "kind", TargetColumn: 3,
}

// numbered is the same of a file without a header.
var numbered = &schema.Table{
	Fields: []schema.Field{{Name: "1"}, {Name: "2", Words: []string{"blue", "red"}}, {Name: "4"}},
	Target: "3", TargetColumn: 3,
}

func readTable(text string, t *schema.Table, needed bool) (rows []string, err error) {
	r, err := New(iotest.OneByteReader(strings.NewReader(text)), "new.csv", t, needed)
	if err != nil {
		return nil, err
	}
	dst := make([]float64, r.Inputs())
	for {
		target, err := r.Read(dst)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, strings.TrimSuffix(fmt.Sprintf("%v %s", dst, target), " "))
	}
}

func TestReader(t *testing.T) {
	want := []string{"[1.5 0 1 -2]", "[3 1 0 4]"}
	known := []string{"[1.5 0 1 -2] a", "[3 1 0 4] b"}
	for _, c := range []struct {
		name, text string
		table      *schema.Table
		want       []string
	}{
		{"by name", "size,colour,kind,weight\n1.5,red,a,-2\n3,blue,b,4\n", colours, known},
		{"in another order", "weight;kind;size;colour\n-2;a;1.5;red\n4;b;3;blue", colours, known},
		{"without the target", "colour\tweight\tsize\nred\t-2\t1.5\nblue\t4\t3\n", colours, want},
		{"without names", "1.5,red,a,-2\n3,blue,b,4\n", colours, known},
		{"without names and target", "1.5,red,-2\n3,blue,4\n", colours, want},
		{"a mark, spaces, quotes, another end of line", "\xef\xbb\xbfsize, colour ,kind,\"weight\"\r\n 1.5,red,a, -2 \r\n3,\"blue\",b,4e0\r\n", colours, known},
		{"numbers for names", "1.5,red,a,-2\n3,blue,b,4\n", numbered, known},
		{"numbers for names, no target", "1.5,red,-2\n3,blue,4\n", numbered, want},
		{"numbers for names, a header", "w,c,k,l\n1.5,red,a,-2\n3,blue,b,4\n", numbered, known},
		{"a missing target", "1.5,red,?,-2\n3,blue,b,4\n", numbered, []string{"[1.5 0 1 -2]", "[3 1 0 4] b"}},
		{"no rows", "size,colour,weight\n", colours, nil},
		{"without names, as a header is missing", "1.5,red,-2\n3,blue,4\n", &schema.Table{Fields: colours.Fields, Header: "yes"}, want},
		{"columns of other names", "size,id,colour,kind,weight,id,SIZE\n1.5,7,red,a,-2,8,x\n3,?,blue,b,4,,\n", colours, known},
		{"a row with values that are names", "1,0\n2,5\n", &schema.Table{Fields: []schema.Field{{Name: "0"}, {Name: "7"}}, Header: "yes"}, []string{"[1 0]", "[2 5]"}},
		{"names in another case", "Weight;KIND;SIZE;Colour\n-2;a;1.5;red\n4;b;3;blue", &schema.Table{Fields: colours.Fields, Target: "kind", TargetColumn: 3, Header: "yes"}, known},
	} {
		if got, err := readTable(c.text, c.table, false); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	asked := &schema.Table{Fields: colours.Fields, Target: "answer"}
	if got, err := readTable("answer,size,colour,weight\nx,1.5,red,-2\n", asked, true); err != nil || got[0] != "[1.5 0 1 -2] x" {
		t.Errorf("a target by name: %q, %v", got, err)
	}
	asked.Target = "4"
	for _, text := range []string{"size,colour,weight,answer\n1.5,red,-2,x\n", "1.5,red,-2,x\n"} {
		if got, err := readTable(text, asked, true); err != nil || got[0] != "[1.5 0 1 -2] x" {
			t.Errorf("a target by place: %q, %v", got, err)
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		table      *schema.Table
		needed     bool
		want       string
	}{
		{"nothing", "", colours, false, "new.csv:1: found an empty file, expected rows of values"},
		{"a column too few", "size,weight\n1,2\n", colours, false, `new.csv:1: found no column "colour" among size, weight, expected all that the model takes`},
		{"columns of other names", "size,color,id\n", colours, false, `new.csv:1: found no columns "colour", "weight" among size, color, id, expected all that the model takes`},
		{"only other names", "width,color\n1,red\n", &schema.Table{Fields: colours.Fields, Header: "yes"}, false, "new.csv:1: found none of the model's columns among width, color, expected size, colour, weight, or rows without names in this order"},
		{"a first row with a slip", "big,red,2\n", &schema.Table{Fields: colours.Fields, Header: "yes"}, false, `new.csv:1: column "1": found "big", expected a number`},
		{"two columns but for case", "Size,SIZE,colour,weight\n", colours, false, `new.csv:1: column "SIZE": found a second column "size", but for case, expected different names`},
		{"a column twice", "size,size,colour,weight\n", colours, false, `new.csv:1: column "size": found a second column of that name`},
		{"two too many without names", "1,red,2,3,4\n", colours, false, "new.csv:1: found 5 columns, expected 3 as the model takes"},
		{"one too many without a place", "1,red,2,3\n", &schema.Table{Fields: colours.Fields}, false, "new.csv:1: found 4 columns, expected 3, or the number of the one too many with Target"},
		{"no target by name", "size,colour,weight\n", &schema.Table{Fields: colours.Fields, Target: "kind"}, true, `target "kind": expected one of the columns size, colour, weight`},
		{"no target by place", "1,red,2\n", &schema.Table{Fields: colours.Fields, Target: "4"}, true, `target "4": expected a column beside the 3 that the model takes; new.csv has 3`},
		{"an input as the target", "size,colour,weight\n", &schema.Table{Fields: colours.Fields, Target: "size"}, true, `new.csv:1: found no column "size"`},
		{"a word for a number", "size,colour,weight\n1,red,2\nbig,red,2\n", colours, false, `new.csv:3: column "size": found "big", expected a number`},
		{"a number with a comma", "size;colour;weight\n1,5;red;2\n", colours, false, `new.csv:2: column "size": found "1,5", expected a number`},
		{"a new word", "size,colour,weight\n1,green,2\n", colours, false, `new.csv:2: column "colour": found "green", which was not trained on, expected one of blue, red`},
		{"a missing value", "size,colour,weight\n1,,2\n", colours, false, `new.csv:2: column "colour": found a missing value (""), expected one of blue, red`},
		{"a row too short", "size,colour,weight\n1,red\n", colours, false, "new.csv:2: found 2 fields, expected 3 as in the first line"},
		{"a stray quote", "1,red,2\n1,r\"ed,2\n", colours, false, "new.csv:2: found a quote in the wrong place"},
		{"no text", "1,red,2\n1,r\xffd,2\n", colours, false, `new.csv:2: column "2": found "r\xffd", expected text in UTF-8`},
		{"UTF-16", "\xff\xfe1\x00", colours, false, "new.csv:1: found UTF-16, expected text in UTF-8"},
	} {
		_, err := readTable(c.text, c.table, c.needed)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.want)
		}
		var format *fault.FormatError
		var option *fault.OptionError
		if !errors.As(err, &format) && !errors.As(err, &option) {
			t.Errorf("%s: %T", c.name, err)
		}
	}
}

// A row without an end does not fill the memory.
func TestReaderBoundsRows(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("1,red,2\n1,\""), noughts{})
	r, err := New(endless, "new.csv", colours, false)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 4)
	if _, err := r.Read(dst); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(dst); err == nil || err.Error() != "new.csv:2: found more than 8388608 bytes in a row, expected rows of values" {
		t.Errorf("got %v", err)
	}
}

type noughts struct{}

func (noughts) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// everyKind is a table with a column of every kind, as a model says that was trained on missing values.
var everyKind = &schema.Table{
	Fields: []schema.Field{
		{Name: "id", Kind: schema.LeftOut},
		{Name: "size", Fill: []float64{7}, Missing: true},
		{Name: "colour", Words: []string{"blue", "red"}, Other: true, Missing: true},
		{Name: "shape", Words: []string{"round"}},
		{Name: "alive", Kind: schema.Boolean, Fill: []float64{0.25}},
		{Name: "born", Kind: schema.Date, Order: "day-month-year", Fill: []float64{2000, 6, 4}},
		{Name: "seen", Kind: schema.Time, Order: "year-month-day", Fill: []float64{2001, 7, 3, 12}, Missing: true},
		{Name: "city", Kind: schema.Statistics, Words: []string{"Bonn", "Ulm"}, Means: []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}},
	},
	Target: "price", TargetColumn: 9, Header: "yes", Missing: lex.MissingIndicator, Decimal: ",", Thousands: ".",
}

// What becomes of each kind of column, worked out by hand.
func TestReaderOfEveryKind(t *testing.T) {
	const header = "id;size;colour;shape;alive;born;seen;city;price\n"
	for row, want := range map[string]string{
		// 15 March 2021 was a Monday, 4 July 1999 a Sunday.
		"9;1.234,5;red;round;Yes;15.03.2021;1999-07-04 06:30;Ulm;3,5": "[1234.5 0 0 1 0 0 1 1 2021 3 1 1999 7 7 6.5 0 0.3 0.4] 3,5",
		"x;?;green;;NA;;;Köln;":                         "[7 1 0 0 1 0 0 0.25 2000 6 4 2001 7 3 12 1 0.5 0.6]",
		";0;;oval;f;1/2/2020;2020-02-29T18:00:00Z;;NaN": "[0 0 0 0 0 1 0 0 2020 2 6 2020 2 6 18 0 0.7 0.8]",
	} {
		if got, err := readTable(header+row+"\n", everyKind, false); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s:\n%q, %v, expected\n%q", row, got, err, want)
		}
	}
	for row, want := range map[string]string{
		"1;1.5;red;round;y;1.1.2020;2020-01-01;Ulm;1":   `column "size": found "1.5", expected a number as 1.234,5`,
		"1;1;red;round;perhaps;1.1.2020;2020-01-01;;1":  `column "alive": found "perhaps", expected true or false, yes or no`,
		"1;1;red;round;y;2020-01-01;2020-01-01;Ulm;1":   `column "born": found "2020-01-01", expected a date as day-month-year`,
		"1;1;red;round;y;30.2.2020;2020-01-01;Ulm;1":    `column "born": found "30.2.2020", expected a date as day-month-year`,
		"1;1;red;round;y;1.1.2020;01.01.2020;Ulm;1":     `column "seen": found "01.01.2020", expected a date as year-month-day`,
		"1;1e400;red;round;y;1.1.2020;2020-01-01;Ulm;1": `column "size": found "1e400", expected a number between -1e+300 and 1e+300`,
	} {
		if _, err := readTable(header+row+"\n", everyKind, false); err == nil || err.Error() != "new.csv:2: "+want {
			t.Errorf("%s: %v", row, err)
		}
	}
}

// What was decided about rows is told, in counts.
func TestReaderTells(t *testing.T) {
	text := "size;colour;shape;alive;born;seen;city;price\n" + strings.Repeat("1;green;oval;;1.1.2020;2020-01-01;Köln;1\n", 3)
	r, err := New(strings.NewReader(text), "f", everyKind, false)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, r.Inputs())
	for err == nil {
		_, err = r.Read(dst)
	}
	want := []string{
		"colour: 3 rows have words that are new, or as rare as in training: green (read as the other rare words)",
		"shape: 3 rows have words the model never saw: oval (read as none of the categories)",
		"alive: 3 rows have no value, unlike in training (read as their replacement)",
		"city: 3 rows have words that are new, or as rare as in training: Köln (read as the other rare words)",
	}
	if got := r.Notes(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	r, err = New(strings.NewReader("a,Size,COLOUR,weight,b,KIND\n"), "f", colours, false)
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"3 columns were found by a name that differs in case: Size for size, COLOUR for colour, KIND for kind",
		"2 columns were unknown to the model, and not used: a, b"}
	if got := r.Notes(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// What is far from all that was trained on has a line a column; rare words of training are none.
	ranged := &schema.Table{Fields: []schema.Field{{Name: "age", Range: []float64{20, 80}, Fill: []float64{50}}, {Name: "born", Kind: schema.Date, Order: "year-month-day", Range: []float64{1990, 2000}},
		{Name: "city", Words: []string{"Ulm"}, Other: true, Rare: []string{"Bonn", "Kiel"}}}, Header: "yes", Missing: lex.MissingIndicator}
	r, err = New(strings.NewReader("-10,2005-01-01,Kiel\n-11,2006-01-01,Oslo\n999,1990-01-01,Rome\n,1990-01-01,Oslo\n110,1990-01-01,Bergen\n20,2000-01-01,Pisa\n"), "f", ranged, false)
	for dst := make([]float64, r.Inputs()); err == nil; {
		_, err = r.Read(dst)
	}
	want = []string{"no row names the columns: they are taken in the order of training, age, born, city",
		"age: 2 rows have numbers far outside those trained on, 20 to 80: -11 to 999; 1 row has no value, unlike in training (read as their replacement)",
		"born: 1 row has years far outside those trained on, 1990 to 2000: 2006",
		"city: 5 rows have words the model never saw: Oslo, Rome, Bergen, … (read as the other rare words)"}
	if got := r.Notes(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// Rows are passed over where training did so.
	drops := &schema.Table{Fields: []schema.Field{{Name: "a"}, {Name: "w", Words: []string{"x"}}}, Target: "y", TargetColumn: 3, Header: "yes", Missing: lex.MissingDrop}
	r, err = New(strings.NewReader("a,w,y\n1,x,1\n,x,2\n3,x,\n4,?,1\n5,x,2\n"), "f", drops, false)
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	for dst := make([]float64, 2); ; {
		if _, err := r.Read(dst); err != nil {
			break
		}
		rows = append(rows, r.Row())
	}
	if !slices.Equal(rows, []int{1, 3, 5}) || !slices.Equal(r.Notes(), []string{"2 rows with a missing value are left out, as in training"}) {
		t.Errorf("rows %d, %q", rows, r.Notes())
	}
}

// A header of integers is told from a row by all of its names.
func TestReaderOfIntegerNames(t *testing.T) {
	table := &schema.Table{Fields: []schema.Field{{Name: "0", Fill: []float64{0}}, {Name: "1", Fill: []float64{0}}}, Target: "2", TargetColumn: 3, Header: "yes", Missing: lex.MissingIndicator}
	for _, c := range []struct{ text, want string }{
		{"0,1,2\n5,6,7\n", "[5 6] 7"}, {"1,0\n6,5\n", "[5 6]"}, {"5,6,7\n", "[5 6] 7"}, {"5,6\n", "[5 6]"},
	} {
		if got, err := readTable(c.text, table, false); err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%q: %q, %v", c.text, got, err)
		}
	}
	needed := *table
	needed.Target, needed.TargetColumn = "1", 0
	if _, err := readTable("0,1,2\n5,6,7\n", &needed, true); err == nil || !strings.Contains(err.Error(), "expected name:1 for column 2, which has that name, or place:1") {
		t.Errorf("%v", err)
	}
}

func FuzzReader(f *testing.F) {
	for _, text := range []string{"size,colour,kind,weight\n1.5,red,a,-2\n", "1;red;3\n\n2;blue;4", "\xef\xbb\xbf1\tred\t\"3\n\"\t4\n", "w,c,l\n1,red,2\n", "1,red,2\n1,red\n",
		"id;size;colour;shape;alive;born;seen;city;price\n9;1.234,5;red;round;Yes;15.03.2021;1999-07-04 06:30;Ulm;3,5\n;?;;;;;;;\n"} {
		for table := range uint8(3) {
			f.Add(text, table)
		}
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		table := []*schema.Table{numbered, colours, everyKind}[which%3]
		r, err := New(strings.NewReader(text), "f", table, false)
		dst := make([]float64, 18)
		if which%3 < 2 {
			dst = dst[:4]
		}
		for err == nil {
			for j, v := range dst {
				if math.IsNaN(v) || math.IsInf(v, 0) || len(dst) == 4 && (j == 1 || j == 2) && v != 0 && v != 1 {
					t.Fatalf("input %d is %g", j, v)
				}
			}
			_, err = r.Read(dst)
		}
		if err != io.EOF && strings.Contains(err.Error(), "\n") {
			t.Fatalf("an error of several lines: %q", err)
		}
		if r != nil && strings.ContainsAny(strings.Join(r.Notes(), ""), "\n\r") {
			t.Fatalf("%q", r.Notes())
		}
	})
}
