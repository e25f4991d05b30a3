package csv

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"newtop/datasets/fault"
)

// colours is a table with a number, a category, another number and a class, in the middle.
var colours = &Table{
	Fields: []Field{{Name: "size"}, {Name: "colour", Words: []string{"blue", "red"}}, {Name: "weight"}},
	Target: "kind", Place: 3,
}

// numbered is the same of a file without a header.
var numbered = &Table{
	Fields: []Field{{Name: "1"}, {Name: "2", Words: []string{"blue", "red"}}, {Name: "4"}},
	Target: "3", Place: 3,
}

func readTable(text string, t *Table, needed bool) (rows []string, err error) {
	r, err := NewReader(iotest.OneByteReader(strings.NewReader(text)), "new.csv", t, needed)
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
		table      *Table
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
	} {
		if got, err := readTable(c.text, c.table, false); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	asked := &Table{Fields: colours.Fields, Target: "answer"}
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
		table      *Table
		needed     bool
		want       string
	}{
		{"nothing", "", colours, false, "new.csv:1: found an empty file, expected rows of values"},
		{"a column too many", "size,colour,id,weight\n", colours, false, `new.csv:1: column "id": found a column that the model does not know, expected the columns size, colour, weight`},
		{"a column too few", "size,weight\n1,2\n", colours, false, `new.csv:1: found no column "colour", expected all that the model takes`},
		{"a column twice", "size,size,colour,weight\n", colours, false, `new.csv:1: column "size": found a second column of that name`},
		{"two too many without names", "1,red,2,3,4\n", colours, false, "new.csv:1: found 5 columns, expected 3 as the model takes"},
		{"one too many without a place", "1,red,2,3\n", &Table{Fields: colours.Fields}, false, "new.csv:1: found 4 columns, expected 3, or the number of the one too many with --target"},
		{"no target by name", "size,colour,weight\n", &Table{Fields: colours.Fields, Target: "kind"}, true, `target "kind": expected one of the columns size, colour, weight`},
		{"no target by place", "1,red,2\n", &Table{Fields: colours.Fields, Target: "4"}, true, `target "4": expected a column beside the 3 that the model takes; new.csv has 3`},
		{"an input as the target", "size,colour,weight\n", &Table{Fields: colours.Fields, Target: "size"}, true, `new.csv:1: found no column "size"`},
		{"a word for a number", "size,colour,weight\n1,red,2\nbig,red,2\n", colours, false, `new.csv:3: column "size": found "big", expected a number`},
		{"a number with a comma", "size;colour;weight\n1,5;red;2\n", colours, false, `new.csv:2: column "size": found "1,5", expected a number with a decimal point`},
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
	r, err := NewReader(endless, "new.csv", colours, false)
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

func FuzzReader(f *testing.F) {
	for _, text := range []string{"size,colour,kind,weight\n1.5,red,a,-2\n", "1;red;3\n\n2;blue;4", "\xef\xbb\xbf1\tred\t\"3\n\"\t4\n", "w,c,l\n1,red,2\n", "1,red,2\n1,red\n"} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, named bool) {
		table := numbered
		if named {
			table = colours
		}
		r, err := NewReader(strings.NewReader(text), "f", table, false)
		dst := make([]float64, 4)
		for err == nil {
			for j, v := range dst {
				if math.IsNaN(v) || math.IsInf(v, 0) || (j == 1 || j == 2) && v != 0 && v != 1 {
					t.Fatalf("input %d is %g", j, v)
				}
			}
			_, err = r.Read(dst)
		}
		if err != io.EOF && strings.Contains(err.Error(), "\n") {
			t.Fatalf("an error of several lines: %q", err)
		}
	})
}
