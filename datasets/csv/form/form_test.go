package form

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"newtop/datasets/csv/lex"
)

// read returns a text as its form has it, with bars between fields and without empty lines, and what was told.
func read(t *testing.T, text string, o lex.Options) (rows, notes string, err error) {
	t.Helper()
	of := Text{Head: []byte(text), Tail: []byte(text), Lines: strings.Count(text, "\n") + 1, Returns: strings.Count(text, "\r")}
	of.Bad.Add([]byte(text))
	f, err := Sniff(of, "f", &o)
	if err != nil {
		return "", "", err
	}
	out, err := io.ReadAll(f.Reader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out, []byte("\n")); f.encoding == nil && f.breaks == "" && n != strings.Count(text, "\n") {
		t.Errorf("%q has %d lines", out, n)
	}
	plain, err := io.ReadAll((&Form{Separator: f.Separator}).Reader(strings.NewReader(text)))
	if f.Plain() && (err != nil || string(plain) != strings.TrimPrefix(text, "\ufeff")) {
		t.Errorf("a plain text is changed: %q", plain)
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			rows += strings.Join(splitLine(line, f.Comma(), nil), "|") + "\n"
		}
	}
	return rows, strings.Join(f.Notes(), "\n"), nil
}

func TestSniff(t *testing.T) {
	utf16, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("a,b\n1,ü\n2,u\n")
	bare, _ := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder().String("a,b\n1,u\n2,u\n3,u\n")
	latin, _ := charmap.Windows1252.NewEncoder().String("a,b\n1,für\n2,„u“\n")
	cyrillic, _ := charmap.Windows1251.NewEncoder().String("a,b\n1,Москва\n2,Тверь\n")
	numbers := func(format string, rows int) (text string) {
		for i := range rows {
			text += fmt.Sprintf(format, i, float64(i*i%7)+0.5)
		}
		return text
	}
	for _, c := range []struct {
		name, text string
		o          lex.Options
		rows       string // the first ones
		last       string
		told       string
	}{
		{"plain", "a,b\n1,2\n3,4\n", lex.Options{}, "a|b\n1|2\n", "3|4\n", ""},
		{"quotes over lines", "a,b\n1,\"x\ny\"\n3,4\n", lex.Options{}, "", "3|4\n", ""},
		{"quotes over the last lines", "a,b,c\n1,2,x\n3,4,\"x\ny\"\n", lex.Options{}, "a|b|c\n", "", ""},
		{"old Mac's lines", "a,b\r1,2\r3,4", lex.Options{}, "a|b\n1|2\n", "3|4\n", ""},
		{"DOS's end", "a,b\r\n1,2\r\n3,4\x1a", lex.Options{}, "a|b\n1|2\n", "3|4\n", ""},
		{"inches below", "a,b,c\n1,2,3\n4,5,6\nSource: pipes of 5\" and more\n", lex.Options{}, "a|b|c\n", "4|5|6\n", "1 line at the end"},
		{"Excel's hint", "sep=;\na;b\n1;2\n3;4\n", lex.Options{}, "a|b\n1|2\n", "3|4\n", "as the first line says"},
		{"blanks", "  a   b c\n 1.5 \"x y\"  3\n 2.5 z  4\n", lex.Options{}, "a|b|c\n1.5|x y|3\n", "2.5|z|4\n", "parted by blanks"},
		{"words with blanks", "a,b\nx y,u v\nx z,u w\n", lex.Options{}, "a|b\nx y|u v\n", "", ""},
		{"blanks behind commas", "a,b\n" + strings.Repeat("7, .5\n", 60), lex.Options{}, "a|b\n7|.5\n", "", ""},
		{"fixed widths", "name      n   v\n" + strings.Repeat("New York  1 2.5\nUlm         3.5\n", 4), lex.Options{}, "name|n|v\nNew York|1|2.5\nUlm||3.5\n", "", "fixed widths"},
		{"comments", "# made by hand\n# 3 March\na,b\n1,2\n# late\n3,4\n", lex.Options{}, "a|b\n1|2\n3|4\n", "", "begin with #"},
		{"comments that are rows", "#1,2\n#3,4\n#5,6\n", lex.Options{}, "#1|2\n", "", ""},
		{"names behind a comment's mark", "# a b\n1.5 2\n3.5 4\n", lex.Options{}, "a|b\n1.5|2\n", "", "names the columns"},
		{"R's names of rows", "\"a\" \"b\"\n\"x\" 1 2\n\"y\" 3 4\n", lex.Options{}, "|a|b\nx|1|2\n", "y|3|4\n", "a name less"},
		{"separators at the end of rows", "a,b\n1,2,\n3,4,\n", lex.Options{}, "a|b\n1|2\n", "3|4\n", "end in a separator"},
		{"and of the names", "a,b,\n1,2,\n3,4,\n", lex.Options{}, "a|b\n1|2\n", "3|4\n", "end in a separator"},
		{"titles", "Report 2020\n\nx,y of March\na,b,c\n1,2,3\n4,5,6\n7,8,9\n", lex.Options{}, "a|b|c\n1|2|3\n", "", "2 lines above"},
		{"titles of a spreadsheet", "Report,,\n,,\na,b,c\n1,2,3\n4,5,6\n7,8,9\n", lex.Options{}, "a|b|c\n1|2|3\n", "", "2 lines above"},
		{"totals", "a,b,c\nx,2,3\ny,5,6\nTotal,7,9\n", lex.Options{}, "a|b|c\n", "y|5|6\n", "1 line at the end"},
		{"a class called total", "a,b\ntotal,2\npart,5\ntotal,7\n", lex.Options{}, "", "total|7\n", ""},
		{"notes below", "a,b,c\n1,2,3\n4,5,6\n\nSource: own sample\n(2 rows)\n", lex.Options{}, "", "4|5|6\n", "2 lines at the end"},
		{"a torn row", "a,b,c\n1,2,3\n4,5,6\n7", lex.Options{}, "", "7\n", ""},
		{"units", "time,speed\ns,m/s\n1,2\n3,4\n5,6\n", lex.Options{}, "time|speed\n1|2\n", "", "the second line"},
		{"names of two lines", ",x,x\nid,a,b\n1,2,3\n4,5,6\n", lex.Options{}, "id|x a|x b\n1|2|3\n", "", "first two lines"},
		{"missing values in the first row", "a,b\nNA,?\n1,2\n3,4\n", lex.Options{}, "a|b\nNA|?\n", "", ""},
		{"a table of psql", " a | b\n---+---\n 1 | x\n 2 | y\n(2 rows)\n\n", lex.Options{}, "a|b\n1|x\n", "2|y\n", "at the end"},
		{"Markdown", "| a | b |\n|--:|---|\n| 1 | x |\n| 2 | y |\n", lex.Options{}, "a|b\n1|x\n", "2|y\n", "parted by"},
		{"two characters", numbers("%d::%g::7\n", 5), lex.Options{}, "0|0.5|7\n", "", `"::"`},
		{"Hive's", "1\x01x\n2\x01\\N\n", lex.Options{}, "1|x\n", "", `"\x01"`},
		{"decimal commas between blanks", "1,5 2,5\n2,5 3,5\n", lex.Options{}, "1,5|2,5\n", "", "blanks"},
		{"UTF-16", utf16, lex.Options{}, "a|b\n1|ü\n", "", "UTF-16"},
		{"UTF-16 without its mark", bare, lex.Options{}, "a|b\n1|u\n", "", "UTF-16"},
		{"Windows-1252", latin, lex.Options{}, "a|b\n1|für\n2|„u“\n", "", "Windows-1252"},
		{"Windows-1251", cyrillic, lex.Options{Encoding: "windows-1251"}, "a|b\n1|Москва\n", "", ""},
		{"what the options say", "x\ny\na:b\n1:2\n3:4\nend\nend\n", lex.Options{Skip: "2/2", Separator: ":"}, "a|b\n1|2\n", "3|4\n", ""},
		{"nothing is left out", "# a\na,b\n1,2\nTotal,4\n", lex.Options{Skip: "0", Comment: "none"}, "# a\n", "Total|4\n", ""},
	} {
		rows, notes, err := read(t, c.text, c.o)
		if err != nil || !strings.HasPrefix(rows, c.rows) || !strings.HasSuffix(rows, c.last) || !strings.Contains(notes, c.told) || c.told == "" && notes != "" {
			t.Errorf("%s: %v, %q, %q", c.name, err, rows, notes)
		}
	}
	for text, o := range map[string]lex.Options{cyrillic: {}, "a,b": {Encoding: "klingon"}, "a;b": {Skip: "-1"}, "a": {Skip: "1/x"}} {
		if _, _, err := read(t, text, o); err == nil {
			t.Errorf("%q with %+v", text, o)
		}
	}
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("a b\n1 2\n"), "")
	f.Add([]byte("# x\na|b|\n1|2|\nTotal|3|\n"), "1/1")
	f.Fuzz(func(t *testing.T, text []byte, skip string) {
		of := Text{Head: bytes.Clone(text), Tail: bytes.Clone(text), Lines: bytes.Count(text, []byte("\n")) + 1}
		of.Bad.Add(text)
		form, err := Sniff(of, "f", &lex.Options{Skip: skip})
		if err != nil {
			return
		}
		if _, err := io.ReadAll(form.Reader(bytes.NewReader(text))); err != nil {
			t.Error(err)
		}
	})
}
