package convert

import (
	"strings"
	"testing"
)

// What scipy.io.arff reads of files of its tests (1.10.1), and the examples of Weka's manual.
func TestARFF(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"iris", "% 1. Title: Iris Plants Database\n%\n@RELATION iris\n\n@ATTRIBUTE sepallength\tNUMERIC\n@ATTRIBUTE sepalwidth   REAL\r\n@ATTRIBUTE class        {Iris-setosa,Iris-versicolor}\n" +
			"\n@DATA\n5.1,3.5,Iris-setosa\n% between\n\n-.5e-3, ? ,Iris-versicolor\r\n", "sepallength|sepalwidth|class\n5.1|3.5|Iris-setosa\n-.5e-3||Iris-versicolor\n"},
		{"dates", "@RELATION test7\n@ATTRIBUTE attr_year	DATE yyyy\n@ATTRIBUTE attr_date	DATE yyyy-MM-dd\n@ATTRIBUTE full	DATE \"yyyy-MM-dd HH:mm\"\n@attribute usual date\n" +
			"@attribute day date 'dd.MM.yy'\n@DATA\n1999,1999-01-31,\"1999-01-31 00:01\",2001-04-03T12:12:12,03.02.99\n2004,2004-12-01,?,?,?",
			"attr_year|attr_date|full|usual|day\n1999-01-01|1999-01-31|1999-01-31T00:01:00|2001-04-03T12:12:12|1999-02-03\n2004-01-01|2004-12-01|||\n"},
		{"quotes", "@relation 'a b'\n@attribute 'age of \\'x\\'' numeric\n@attribute smoker{'  yes', \"no, never\", it\\'s}\n@attribute text string\n@data\n18,'no, never',\"a 'b', \\\"c\\\"\"\n" +
			"24,'  yes',plain words here\n9,\"no, never\",'?'\n", "age of 'x'|smoker|text\n18|no, never|a 'b', \"c\"\n24|  yes|plain words here\n9|no, never|?\n"},
		{"sparse", "@relation s\n@attribute a numeric\n@attribute b {x,y}\n@attribute c numeric\n@attribute class {A, B}\n@data\n{0 0, 1 y, 2 'X'}\n",
			""},
		{"sparse numbers", "@relation s\n@attribute a numeric\n@attribute b {x,y}\n@attribute c numeric\n@attribute class {A, B}\n@data\n{1 y, 3 B}\n{}\n{ 0 2.5 , 2 ? }\n",
			"a|b|c|class\n0|y|0|B\n0|x|0|A\n2.5|x||A\n"},
		{"no relation", "@attribute a integer\n@attribute b integer\n@data\n1,2", "a|b\n1|2\n"},
	} {
		_, texts, err := convertAll(named("f.arff", []byte(c.text)))
		if c.want == "" {
			if err == nil || err.Error() != `f.arff:7: column "c": found "X", expected a finite number, or ? for a missing one` {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		t.Run(c.name, func(t *testing.T) { compare(t, texts[0], c.want) })
	}
}

func TestARFFFaults(t *testing.T) {
	const head = "@relation r\n@attribute a numeric\n@attribute b {x, y}\n@attribute c string\n@data\n"
	for _, c := range []struct{ text, want string }{
		{"@relation r\n", `f:2: found the end of the file, expected @data and rows`},
		{"@relation r\n@data\n1\n", `f:2: found @data, expected an @attribute before it`},
		{"@relation r\nnonsense\n", `f:2: found "nonsense", expected @relation, @attribute, @data or a comment behind %`},
		{"@relation r\n@attribute a crap\n", `f:2: column "a": found the type "crap", expected numeric, real, integer, string, date or {names}`},
		{"@relation r\n@attribute a relational\n", `f:2: column "a": found the type "relational"`},
		{"@relation r\n@attribute a {x, y\n", `f:2: found "{x, y", expected a } behind the names`},
		{"@relation r\n@attribute 'a numeric\n", `f:2: found a quote without its end, expected one on the same line`},
		{"@relation r\n@attribute a\n", `f:2: column "a": found "@attribute a", expected @attribute NAME TYPE`},
		{"@relation r\n@attribute a date 'yyyy QQ'\n", `column "a": found dates in the format "yyyy QQ"`},
		{head + "1,x,z\n1,x\n", `f:7: found 2 values, expected 3, one for each attribute`},
		{head + "1,x,z,w,v\n", `f:6: found 5 values, expected 3, one for each attribute`},
		{head + "1,x,z,{3}\n", `f:6: found a weight behind the row, expected rows of equal weight`},
		{head + "1,w,z\n", `f:6: column "b": found "w", expected one of the attribute's names, x, y`},
		{head + "inf,x,z\n", `f:6: column "a": found "inf", expected a finite number, or ? for a missing one`},
		{head + "1,'x'y,z\n", `f:6: column "b": found "y,z" behind a quote, expected a comma`},
		{head + "1,'x,z\n", `f:6: column "b": found a quote without its end, expected one on the same line`},
		{head + "{0 1}\n", `f:6: column "c": found no value, expected one: only numbers and names may be left out`},
		{head + "{3 1}\n", `f:6: found "3", expected the number of an attribute, from 0 to 2`},
		{head + "{0 1, 0 1}\n", `f:6: column "a": found two values, expected one`},
		{head + "{2 q\n", `f:6: found the end of the line, expected a }`},
	} {
		_, _, err := convertAll(named("f", []byte(c.text)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestLIBSVM(t *testing.T) {
	a := named("a", []byte("# written by hand\n+1 1:0.5 3:-2e-3 # a comment\n\n-1\n1\t2:nan\n"))
	b := named("b", []byte("-1.5 4:1\n"))
	_, texts, err := convertAll(a, b)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, texts[0], "x1|x2|x3|x4|label\n0.5|0|-2e-3|0|+1\n0|0|0|0|-1\n0||0|0|1\n")
	compare(t, texts[1], "x1|x2|x3|x4|label\n0|0|0|1|-1.5\n")
	zero := named("zero", []byte("2 0:7\n"))
	if _, texts, err = convertAll(b, zero); err != nil {
		t.Fatal(err)
	}
	compare(t, texts[0], "x0|x1|x2|x3|x4|label\n0|0|0|0|1|-1.5\n")
	compare(t, texts[1], "x0|x1|x2|x3|x4|label\n7|0|0|0|0|2\n")
	for text, want := range map[string]string{
		"1 2:1 2:2\n":          `f:1: column "2": found column 2 behind 2, expected columns in ascending order`,
		"1 3:1\n1 3:1 2:2\n":   `f:2: column "2": found column 2 behind 3`,
		"1 3:inf\n":            `f:1: column "3": found "inf", expected a finite number, or nan for a missing value`,
		"1,2 3:1\n":            `f:1: column "label": found the labels "1,2", expected one label a row`,
		"1 qid:3 1:1\n":        `f:1: found "qid:3", expected rows that stand alone`,
		"1 99999999999999:1\n": `f:1: found "99999999999999:1", expected a column's number`,
		"1e 1:1\n":             `f:1: column "label": found "1e", expected a number`,
		"1 1:1\n" + strings.Repeat("1 2:1\n", 200) + "1 x:2\n": `f:202: found "x:2", expected a column's number, a colon and a value`,
	} {
		if _, _, err := convertAll(named("f", []byte(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// Lines are the same wherever the pieces end that they are read in.
func TestLongText(t *testing.T) {
	var text, want strings.Builder
	want.WriteString("x1|x2|label\n")
	for i := range 300_000 {
		if i%3 == 0 {
			text.WriteString("1 1:2 2:-3.25\n")
			want.WriteString("2|-3.25|1\n")
		} else {
			text.WriteString("0 2:1\r\n")
			want.WriteString("0|1|0\n")
		}
	}
	_, texts, err := convertAll(named("f", []byte(text.String())))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(texts[0], ",", "|"); got != want.String() {
		t.Error("the rows differ")
	}
}
