package csv

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/csv/sheet"
)

// laid returns the layout of a text.
func laid(t *testing.T, text, target string, o lex.Options) (*Layout, error) {
	t.Helper()
	o.Target = target
	s, err := sheet.Survey([]lex.Source{source("f", text)}, 0, &o)
	if err != nil {
		return nil, err
	}
	return Plan(s, target)
}

// inputs lists the inputs of a layout.
func (l *Layout) inputs() (names []string) {
	for i := range l.Fields {
		names = append(names, l.Fields[i].InputNames(l.Target, l.Classes)...)
	}
	return names
}

// column makes a table of columns that a function of the row writes, by their names.
func columns(rows int, header string, write func(i int) string) string {
	var b strings.Builder
	if header != "" {
		b.WriteString(header + "\n")
	}
	for i := range rows {
		b.WriteString(write(i) + "\n")
	}
	return b.String()
}

func TestHeaders(t *testing.T) {
	const none, words, counts = "no row names", "the first row names", "which counts to"
	for _, c := range []struct {
		name, text, option string
		inputs             string
		note               string
	}{
		{"words above numbers", "a,b,y\n1.5,2,3\n4,5,6.5\n", "", "a b", words},
		{"no words", "1.5,2,3\n4,5,6.5\n", "", "1 2", none},
		{"pandas' numbers", "0,1,2\n1.5,2,3\n4,5,6.5\n", "", "0 1", counts},
		{"two of pandas' numbers", "0,1\n1.5,3\n4,6.5\n", "", "0", counts},
		{"two whole numbers", "0,1\n1,3\n4,6\n", "", "1", none},
		{"pandas' index and numbers", ",0,1\n0,1.5,7\n1,4,8\n", "", "0", counts},
		{"pandas' index", ",a,y\n0,1.5,7\n1,4,8\n", "", "a", words},
		{"pandas' index beside words", ",a,y\n0,u,p\n1,u,p\n2,v,q\n", "", "a=u a=v", words},
		{"words above dates", "day,y\n2020-01-01,1\n2021-01-05,2\n", "", "day year,day month,day day of week", words},
		{"years above numbers", "place,1999,2000,2001\nA,1.5,2,3\nA,4,5,6.5\nB,4,5,7.5\n", "", "place=A place=B 1999 2000", words},
		{"years with a gap", "place,1992,1994,1995\nA,1.5,2,3\nA,4,5,6.5\nB,4,5,7.5\n", "", "place=A place=B 1992 1994", words},
		{"decades", "place,1990,2000,2010\nA,1.5,2,3\nA,4,5,6.5\nB,4,5,7.5\n", "", "place=A place=B 1990 2000", words},
		{"years of lives", "A,1940,1965,2010\nA,1950,1952,1990\nB,1912,1930,1951\n", "", "1=A 1=B 2 3", none},
		{"a name again", "a,b,a,y\n1.5,2,3,4\n4,5,6.5,7\n", "", "a b a.1", "a.1: called so"},
		{"None in the first row", "None,2.5,3\n0.1,2,0\n0.2,3,1\n", "", "1,1 missing,2", none},
		{"a header that looks like a row", "7,8,9\n1.5,2,3\n4,5,6.5\n", "yes", "7 8", ""},
		{"a row that looks like a header", "0,1,2\n1.5,2,3\n4,5,6.5\n", "no", "1 2", ""},
	} {
		l, err := laid(t, c.text, "", lex.Options{Header: c.option})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := strings.Fields(c.inputs)
		if strings.Contains(c.inputs, ",") {
			want = strings.Split(c.inputs, ",")
		}
		if got := l.inputs(); !slices.Equal(got, want) {
			t.Errorf("%s: inputs %q, expected %q", c.name, got, want)
		}
		if told := strings.Join(l.Notes, "\n"); c.note != "" && !strings.Contains(told, c.note) || c.note == "" && strings.Contains(told, "first row") {
			t.Errorf("%s: %q", c.name, l.Notes)
		}
	}
}

// A column is meant by its name first; where it may be either of two, that is said.
func TestColumnsThatAreMeant(t *testing.T) {
	const text = "2,1,x,place:1\n1,20,0,5\n4,50,1,6\n7,51,0,9\n"
	for _, c := range []struct{ asked, target, fault string }{
		{"x", "x", ""}, {"3", "x", ""}, {"name:2", "2", ""}, {"place:2", "1", ""}, {"place:1", "place:1", ""}, {"name:x", "x", ""}, {"4", "place:1", ""},
		{"2", "", `expected name:2 for column 1, which has that name, or place:2 for the column with that number, "1"`},
		{"1", "", `expected name:1 for column 2, which has that name, or place:1 for the column with that number, "2"`},
		{"X", "", "or a name of f: 2, 1, x, place:1; did you mean x?"}, {"0", "", "a column number from 1 to 4"}, {"5", "", "from 1 to 4"}, {"name:y", "", "from 1 to 4"}, {"place:9", "", "from 1 to 4"},
	} {
		l, err := laid(t, text, c.asked, lex.Options{})
		if c.fault != "" {
			if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("target %q: ", c.asked)) || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v", c.asked, err)
			}
			continue
		}
		if err != nil || l.Target != c.target {
			t.Errorf("%s: %v", c.asked, err)
		}
	}
	for _, c := range []struct {
		o     lex.Options
		fault string
	}{
		{lex.Options{Drop: []string{"y"}}, `drop "y": expected a column number from 1 to 4`},
		{lex.Options{Keep: []string{"2"}}, `keep "2": expected name:2`},
		{lex.Options{Drop: []string{"place:4"}}, `drop "place:4": expected another column than the target`},
		{lex.Options{Drop: []string{"x"}, Keep: []string{"x"}}, `keep "x": expected a column that is not dropped`},
		{lex.Options{Drop: []string{"x", "name:1", "name:2"}}, "no other column to predict it from"},
	} {
		if _, err := laid(t, text, "", c.o); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// What numbers or names rows, and what says nothing, is left out and told, unless it is kept or there is nothing else.
func TestColumnsLeftOut(t *testing.T) {
	for _, c := range []struct {
		name   string
		header string
		cell   func(i int) string // of the column, with x and y behind it
		out    string             // why it is left out; empty: it is not
	}{
		{"numbers from 1", "PassengerId", func(i int) string { return fmt.Sprint(i + 1) }, "it numbers the rows"},
		{"numbers from 7", "id", func(i int) string { return fmt.Sprint(i + 7) }, "it numbers the rows"},
		{"numbers of another name", "day", func(i int) string { return fmt.Sprint(i + 1) }, ""},
		{"pandas' index", "", func(i int) string { return fmt.Sprint(i) }, "it numbers the rows"},
		{"pandas' index under its name", "Unnamed: 0", func(i int) string { return fmt.Sprint(i) }, "it numbers the rows"},
		{"numbers of customers", "customer_id", func(i int) string { return fmt.Sprint(842302 + i*i%1009*17) }, "it tells rows apart"},
		{"numbers of few customers", "customer_id", func(i int) string { return fmt.Sprint(842302 + i%9) }, ""},
		{"fractions called id", "id", func(i int) string { return fmt.Sprint(float64(i*i) + 0.5) }, ""},
		{"a word that ends in id", "humid", func(i int) string { return fmt.Sprint(i*i + 1000) }, ""},
		{"names", "name", func(i int) string { return fmt.Sprintf("Mr. %d Smith", i) }, "it has another word in most rows"},
		{"names, most of them", "name", func(i int) string { return fmt.Sprintf("Mr. %d Smith", i*2/3) }, "it has another word in most rows"},
		{"few names", "name", func(i int) string { return fmt.Sprintf("Mr. %d Smith", i%10) }, ""},
		{"one number", "x1", func(int) string { return "5" }, "it has one value in all rows"},
		{"one word", "x1", func(int) string { return "five" }, "it has one value in all rows"},
		{"nothing", "x1", func(int) string { return "NA" }, "it has no values"},
		{"one word or none", "x1", func(i int) string { return []string{"x", ""}[i%2] }, ""},
	} {
		text := columns(60, c.header+",x,y", func(i int) string { return fmt.Sprintf("%s,%d,%g", c.cell(i), i*i%37, float64(i)/8) })
		l, err := laid(t, text, "", lex.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f := &l.Fields[0]
		note := slices.IndexFunc(l.Notes, func(n string) bool { return strings.HasPrefix(n, f.Name+": left out, "+c.out) })
		if out := f.Kind == schema.LeftOut; out != (c.out != "") || out != (note >= 0) {
			t.Errorf("%s: kind %q, %q", c.name, f.Kind, l.Notes)
		}
		if c.out == "" || c.name == "nothing" {
			continue
		}
		if kept, err := laid(t, text, "", lex.Options{Keep: []string{f.Name}}); err != nil || kept.Fields[0].Kind == schema.LeftOut {
			t.Errorf("%s: kept: %v", c.name, err)
		}
	}
	for _, text := range []string{"id,y\n1,0.5\n2,1.5\n3,2.5\n", "a,b,y\n5,x,0.5\n5,x,1.5\n5,x,2.5\n"} {
		if l, err := laid(t, text, "", lex.Options{}); err != nil || l.Encoding.Inputs == 0 || !strings.Contains(strings.Join(l.Notes, "\n"), "kept although it ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Rare words are one category, and many words statistics.
func TestCategories(t *testing.T) {
	word := func(n, rows int) func(i int) string { // n words, of which the first is in all rows that no other is in
		return func(i int) string {
			k := 0
			if i < (n-1)*rows {
				k = 1 + i%(n-1)
			}
			return fmt.Sprintf("w%d,%d,%g", k, i*i%37, float64(i)/8)
		}
	}
	for _, c := range []struct {
		name   string
		text   string
		kind   string
		words  int
		others bool
	}{
		{"three words", columns(300, "w,x,y", word(3, 50)), "", 3, false},
		{"rare ones in a long table", columns(1000, "w,x,y", word(5, 9)), "", 1, true},
		{"none that is too rare", columns(1000, "w,x,y", word(5, 10)), "", 5, false},
		{"rare ones in a short table", columns(150, "w,x,y", word(5, 2)), "", 1, true},
		{"none in a shorter one", columns(99, "w,x,y", word(5, 1)), "", 5, false},
		{"fifty words", columns(1000, "w,x,y", word(50, 10)), "", 50, false},
		{"more", columns(1000, "w,x,y", word(51, 10)), schema.Statistics, 51, false},
		{"many rare ones in few rows", columns(1000, "w,x,y", word(51, 2)), "", 1, true},
		{"many rare ones in many rows", columns(1000, "w,x,y", word(51, 3)), schema.Statistics, 51, false},
	} {
		l, err := laid(t, c.text, "", lex.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if f := &l.Fields[0]; f.Kind != c.kind || len(f.Words) != c.words || f.Other != c.others {
			t.Errorf("%s: %q of %d words, others %t", c.name, f.Kind, len(f.Words), f.Other)
		}
	}
	// Words and numbers in a column are words, whose rows are counted alike.
	mixed := columns(1000, "w,x,y", func(i int) string {
		return fmt.Sprintf("%s,%d,%g", []string{"113803", "7", "PC 17599", "PC 17599"}[i%4], i*i%37, float64(i)/8)
	})
	l, err := laid(t, mixed, "", lex.Options{})
	if err != nil || !slices.Equal(l.Fields[0].Words, []string{"113803", "7", "PC 17599"}) || l.Fields[0].Other ||
		!slices.Contains(l.Notes, "w: 500 of 1,000 values are numbers, taken as words like the others") || strings.Contains(fmt.Sprint(l.Notes), "dates") {
		t.Errorf("%+v, %v", l, err)
	}
}

// The order of day and month is found out from the whole column, or the column is refused.
func TestOrderOfDates(t *testing.T) {
	for _, c := range []struct {
		dates string // of the first rows; the others are 13 times the last
		kind  string
		order string
		fault string
	}{
		{"01/02/2020 03/04/2020 13/01/2020", schema.Date, "day-month-year", ""},
		{"01/02/2020 03/04/2020 01/13/2020", schema.Date, "month-day-year", ""},
		{"01.02.2020 03.04.2020 05.06.2020", schema.Date, "day-month-year", ""},
		{"2020-01-02 2020/01/03 2020.1.4", schema.Date, "year-month-day", ""},
		{"2020-01-02T10:00 2020-01-03", schema.Time, "year-month-day", ""},
		{"01/02/2020 03/04/2020 05/06/2020", "", "", "dates that can be read with the day or the month first"},
		{"13/01/2020 01/13/2020 13/01/2020 01/13/2020", "", "", "dates in several orders"},
		{"01/02/2020 2020-01-02 2021-01-02 01/02/2021", "", "", "dates in several orders"},
		{"2020-01-02 2020-01-03 soon 2020-01-04", schema.Date, "year-month-day", ""}, // and an error at the word
		{"2020-01-02 soon later 2020-01-04", "", "", ""},
	} {
		text := "d,x,y\n"
		for i, d := range strings.Fields(c.dates) {
			text += fmt.Sprintf("%s,%d,%d.5\n", d, i*i, i)
		}
		s, err := sheet.Survey([]lex.Source{source("f", text)}, 0, &lex.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := Plan(s, "")
		switch {
		case c.fault != "":
			if err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), "Drop d") {
				t.Errorf("%s: %v", c.dates, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.dates, err)
		case l.Fields[0].Kind != c.kind || l.Fields[0].Order != c.order:
			t.Errorf("%s: %s in the order %s", c.dates, l.Fields[0].Kind, l.Fields[0].Order)
		default:
			err := l.Each(func(int, []float64) error { return nil })
			if stray := strings.Contains(c.dates, "soon") && c.kind != ""; stray != (err != nil) || stray && !strings.HasSuffix(err.Error(), `found "soon", expected a date as year-month-day, or --table na.d=soon if it stands for none`) {
				t.Errorf("%s: %v", c.dates, err)
			}
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	for field, list := range map[string][]lex.Options{
		"header":    {{Header: "maybe"}},
		"missing":   {{Missing: "zero"}},
		"decimal":   {{Decimal: ";"}},
		"thousands": {{Thousands: "."}, {Thousands: "12"}, {Thousands: "1"}, {Thousands: "-"}, {Thousands: "e"}, {Thousands: ",", Decimal: ","}, {Thousands: "\xff"}, {Thousands: "\n"}},
	} {
		for _, o := range list {
			if _, err := sheet.Survey([]lex.Source{source("f", "1,2\n3,4\n")}, 0, &o); err == nil || !strings.HasPrefix(err.Error(), field+" ") {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
}

// Numbers in another way than the usual, marks among numbers, and codes are read by a vote of the column, which is told,
// or refused where it is close.
// TestTargetVotes tells classes of a target from marks of a missing value.
func TestTargetVotes(t *testing.T) {
	for _, c := range []struct {
		cells            string
		classes, missing int
		numbers          bool // asked for
	}{
		{"1|2|3|4|5|6|7|8|J|Q", 10, 0, false},
		{"0|1|pending", 3, 0, false},
		{"+|-|1", 3, 0, false},
		{"0|1|missing", 2, 40, false},
		{"0|1|pending", 2, 40, true},
		{"1.#|##|-", 0, 40, false},
	} {
		cells := strings.Split(c.cells, "|")
		text := columns(120, "x;t", func(i int) string {
			cell := strings.NewReplacer("##", fmt.Sprint(10+i), "#", fmt.Sprint(i%10)).Replace(cells[i%len(cells)])
			return fmt.Sprintf("%d;%s", i*i%37, cell)
		})
		var o lex.Options
		if c.numbers {
			o.Number = []string{"t"}
		}
		l, err := laid(t, text, "", o)
		if err != nil || len(l.Classes) != c.classes || l.Facts[1].Missing != c.missing || l.TargetNumbers != c.numbers {
			t.Errorf("%s: %v, %q, %d missing", c.cells, err, l.Classes, l.Facts[1].Missing)
		}
	}
}

func TestVotes(t *testing.T) {
	for _, c := range []struct {
		name, cells string // of 40 rows in turn; # stands for a digit and ## for a number from 10 to 49
		kind        string // of the column
		told        string // of the column; with "refused: " an error
		missing     int
		beside      string // of the next column; empty: numbers
	}{
		{"German", "1.23#,50|##,5", Numbers, "are read as 1.234,5", 0, ""},
		{"English", "1,23#.50", Numbers, "are read as 1,234.5", 0, ""},
		{"French", "1\u202f23#,5", Numbers, "are read as 1 234,5", 0, ""},
		{"Swiss", "1'23#", Numbers, "are read as 1'234.5", 0, ""},
		{"Indian", "1,23,45#.00|5#.00", Numbers, "are read as 1,234.5", 0, ""},
		{"money", "$1,23#|$9#", Numbers, "are read as $1,234.5", 0, ""},
		{"money behind", "23#,50 €", Numbers, "are read as €1.234,5", 0, ""},
		{"millions and thousands of money", "€1.#M|€56#K|€0", Numbers, "are read as €1,234.5", 0, ""},
		{"millions of money behind", "1,# Mio. €|56#.000 €", Numbers, "are read as €1.234,5", 0, ""},
		{"per cent of money", "$1#%", Categories, "", 0, ""},
		{"dates with names of months", "Jan 1#, 2020|December 1#, 2021|Sept 2, 2022", schema.Date, "dates as month-day-year", 0, ""},
		{"dates with hours of the clock", "1/1#/2020 1:30:00 PM|2/1#/2021 12:00:00 AM", schema.Time, "dates as month-day-year", 0, ""},
		{"dates with years of two digits", "8/1#/14|10/2/68", schema.Date, "dates as month-day-year, taken as year, month, day of week; years of two digits are 1969 to 2068", 0, ""},
		{"days of January", "01/02/2020|01/03/2020|01/12/2020", "", "refused: dates as 2000-12-31", 0, ""},
		{"the first of months", "01/02/201#|01/12/201#", schema.Date, "dates as day-month-year", 0, ""},
		{"the first of months in America", "2/1/201#|12/1/201#", schema.Date, "dates as month-day-year", 0, ""},
		{"a year alone", "2014-02-1#|2014-03-1#|201#-12-30|2013-01-01|2013-01-02|2013-01-03|2013-05-01|2013-03-1#|2013-04-1#|2013-06-1#|2013-07-01|201#", schema.Date, "dates as year-month-day", 0, ""},
		{"months", "201#-03|1999-12", schema.Date, "dates as year-month, taken as year, month", 0, ""},
		{"months and dates", "2014-02-1#|2014-03-1#|1999-12", schema.Date, "dates as year-month-day, taken as year, month, day of week", 0, ""},
		{"seasons", "1999-0#|1998-99|1989-90", Categories, "", 0, ""},
		{"quarters", "2014Q1|2015 Q4|2016-Q2", schema.Date, "dates as year-month, taken as year, month", 0, ""},
		{"durations", "1:0#:59|0:5#:01.5", Numbers, "are read as 12:34:56", 0, ""},
		{"minutes", "5#:01|0:00.5", Numbers, "are read as 12:34", 0, ""},
		{"times of two precisions", "9:1#|10:15:3#", Categories, "", 0, ""},
		{"rupees", "rs.5#0", Numbers, "are read as", 0, ""},
		{"codes with strokes", "1/#/12|3/#/05|0/#/12", Categories, "", 0, ""},
		{"truths and None", "True|False|None|True", schema.Boolean, "", 10, ""},
		{"all seasons", "2001-02|2002-03|2009-10", Categories, "", 0, ""},
		{"scores of goals", "1:#|#:0", Categories, "", 0, ""},
		{"genes", "1/2|2/2|2/2|1/1", Categories, "", 0, ""},
		{"variants", "rs12#|rs##", Categories, "", 0, ""},
		{"per cent", "6.#%", Numbers, "are read as 1,234.5%", 0, ""},
		{"a unit", "1#.2 kmpl|1# kmpl|", Numbers, "are read as 1,234.5 kmpl", 13, ""},
		{"parentheses", "(1#.30)|4#.1", Numbers, "are read as 1,234.5", 0, ""},
		{"Fortran", "1.#D+03", Numbers, "are read as 1,234.5", 0, ""},
		{"a comma that may be either", "1,23#", "", "refused: --table thousands=, or --table decimal=,", 0, ""},
		{"two ways", "1.#|2,#", "", "refused: one way to write them", 0, ""},
		{"two units", "1# kg|2# lb", Categories, "", 0, ""},
		{"codes", "0106#|8033#", Categories, "codes", 0, ""},
		{"no codes", "0|1|2|##", Numbers, "", 0, ""},
		{"a dash", "9.#|10.#|-|12.#", Numbers, `30 of 40 values are numbers, "-" 10 times: missing`, 10, ""},
		{"two words", "9.#|10.#|n.v.|7#|8#|4#|TBD|12.#", Numbers, `"TBD" 5 times, "n.v." 5 times: missing`, 10, ""},
		{"a null of databases", `9.#|\N`, Numbers, "", 20, ""},
		{"as many words as numbers", "9.#|never", Categories, "are numbers, taken as words", 0, ""},
		{"few numbers and a word", "2|3|4|more", Categories, "are numbers, taken as words", 0, ""},
		{"versions", "1.2.#", Categories, "", 0, ""},
		{"words", "a|b|c", Categories, "", 0, ""},
		{"points beside words with a comma", "1.23#", Numbers, "", 0, "red|blue|green|1,5"},
		{"points behind a zero beside commas", "0.23#", Numbers, "", 0, "1#,5"},
		{"a plus and a minus", "+|-|1|2", Categories, "", 0, ""},
		{"dollars", "$|$$|1#|2#", Categories, "", 0, ""},
		{"thousands and none", "1.#K|44#", "", "refused: one way to write them", 0, ""},
		{"grades", "1-|2-|3-|#", Categories, "", 0, ""},
		{"two words in many rows", "G|B|##|4#|3#|2#|6#|7#", Categories, "", 0, ""},
		{"a part of a mark", "available|9.#|9.##", Categories, "", 0, ""},
		{"a mark among words", "AB|CD|UNK|EF|GH|IJ|KL|7", Categories, "", 0, ""},
		{"f and m", "f|m", Categories, "", 0, ""},
		{"codes with a d", "1D#|12D1", Categories, "", 0, ""},
		{"seats", "#2E|#3E", Categories, "", 0, ""},
		{"area codes", "(74#)", Categories, "are codes", 0, ""},
		{"telephones", "+49 30 12#", Categories, "", 0, ""},
		{"telephones in groups", "555 123 45#", Categories, "are codes", 0, "a|b|c"},
		{"addresses of the internet", "192.168.100.10#", Categories, "are codes", 0, "1.5|2.25"},
		{"numbers in groups", "1 234 56#|9#|12#", Numbers, "are read as 1 234.5", 0, ""},
		{"codes of two widths", "01#|012#", Categories, "are codes", 0, ""},
		{"of five", "#.5/5|#/5", Numbers, "are read as 1,234.5/5", 0, ""},
		{"fractions", "1/#|3/#", Categories, "", 0, ""},
		{"footnotes", "1.#|2.#*|3.#**", Numbers, "are read as 1,234.5", 0, ""},
		{"money in parentheses", "$(##.00)|$##.00", Numbers, "are read as $1,234.5", 0, ""},
		{"a dash among dates", "2020-01-1#|2021-02-1#|-|2022-01-2#", schema.Date, `30 of 40 values are dates, "-" 10 times: missing`, 10, ""},
		{"no date of MySQL", "2020-01-1#|2021-02-1#|2022-01-1#|0000-00-00", schema.Date, "are dates, \"0000-00-00\" 10 times: missing", 10, ""},
		{"a date among words", "2020-01-1#|soon|-|late|never", Categories, "", 0, ""},
	} {
		text := columns(40, "v;x;y", func(i int) string {
			of := func(cells string) string {
				turns := strings.Split(cells, "|")
				return strings.NewReplacer("##", fmt.Sprint(10+i), "#", fmt.Sprint(i%10)).Replace(turns[i%len(turns)])
			}
			return fmt.Sprintf("%s;%s;%d", of(c.cells), cmp.Or(of(c.beside), fmt.Sprint(i*i%37)), i*i%11)
		})
		l, err := laid(t, text, "", lex.Options{})
		if want, refused := strings.CutPrefix(c.told, "refused: "); refused {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		notes := strings.Join(l.Notes, "\n")
		if f := l.Facts[0]; f.Kind != c.kind || f.Missing != c.missing || !strings.Contains(notes, c.told) ||
			c.told == "" && (strings.Contains(notes, "v: numbers are") || strings.Contains(notes, "are true or false")) {
			t.Errorf("%s: %s, %d missing, %q", c.name, f.Kind, f.Missing, l.Notes)
		}
		if err := l.Each(func(int, []float64) error { return nil }); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
