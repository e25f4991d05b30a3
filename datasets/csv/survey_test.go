package csv

import (
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/csv/sheet"
)

// naive reads a table at once, with encoding/csv and strconv: the rows without the header, and what the columns are like.
func naive(text string, comma rune, header bool) (records [][]string, columns []sheet.Column, err error) {
	r := lex.NewParser(strings.NewReader(text), comma)
	r.ReuseRecord = false
	if records, err = r.ReadAll(); err != nil {
		return nil, nil, err
	}
	if header {
		records = records[1:]
	}
	columns = make([]sheet.Column, len(records[0]))
	for _, record := range records {
		for j := range record {
			record[j] = strings.TrimSpace(record[j])
			c := &columns[j]
			if c.Values == nil {
				c.Values, c.Counts = make(map[string]struct{}), make(map[string]int)
			}
			switch _, ok := (lex.Numerals{}).ParseLoosely(record[j]); {
			case lex.IsMissing(record[j]):
				c.Missing++
			case ok:
				c.Numbers++
				c.Values[record[j]] = struct{}{}
			default:
				c.Words++
				c.Counts[record[j]]++
			}
		}
	}
	return records, columns, nil
}

// sources cuts a text into so many at ends of lines outside quotes, each with the header.
func sources(text string, header bool, files int) (all []lex.Source) {
	head := ""
	if header {
		n := strings.IndexByte(text, '\n') + 1
		head, text = text[:n], text[n:]
	}
	for i := range files {
		end := len(text)
		if i < files-1 {
			end = lex.LastRow([]byte(text[:len(text)/(files-i)]), strings.Count(text[:len(text)/(files-i)], `"`))
		}
		part := head + text[:end]
		text = text[end:]
		all = append(all, lex.Source{Name: fmt.Sprintf("f%d", i), Text: strings.NewReader(part), Size: int64(len(part))})
	}
	return all
}

// source is a text that is a file.
func source(name, text string) lex.Source {
	return lex.Source{Name: name, Text: strings.NewReader(text), Size: int64(len(text))}
}

// table writes rows of numbers of many spellings, words, and quotes with everything in them.
func table(rng *rand.Rand, comma string, rows int) string {
	var b strings.Builder
	b.WriteString(strings.Join([]string{"x", `"a, ""b"""`, "n", "kind", "last"}, comma) + "\n")
	end := []string{"\n", "\r\n", "\n\n", "\n\r\n"}
	for i := range rows {
		number := []string{strconv.Itoa(rng.IntN(300)), "007", "-0", "+3", "1e3", " 5 ", "\"6\"", ".5", "7.", "0x1p-3", "12345678901234567890",
			strconv.FormatFloat(rng.NormFloat64(), 'g', -1, 64), fmt.Sprint(float32(rng.Float64())), fmt.Sprintf("%.3f", rng.NormFloat64())}[rng.IntN(14)]
		words := []string{"a", "\u00a0b ", "\"c\nd\"", `"e""f"`, "\"g\r\nh\"", `"x` + comma + `y"`, "ä", "\" i \""}
		fmt.Fprint(&b, number, comma, words[rng.IntN(len(words))], comma, i%7, comma, words[rng.IntN(len(words))], comma, rng.IntN(3), end[rng.IntN(len(end))])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Whatever the chunks, the threads and the files are, a table is what it is to encoding/csv and strconv.
func TestSurvey(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, comma := range []string{",", ";", "\t"} {
		text := table(rng, comma, 400)
		records, columns, err := naive(text, rune(comma[0]), true)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ size, workers, files int }{{1, 1, 1}, {7, 3, 1}, {64, 2, 3}, {1000, 4, 5}, {lex.ChunkBytes, 2, 1}, {lex.ChunkBytes, 1, 2}} {
			name := fmt.Sprintf("%q in chunks of %d, %d workers, %d files", comma, c.size, c.workers, c.files)
			s, err := sheet.SurveyInChunks(sources(text, true, c.files), 0, &lex.Options{}, c.size, c.workers)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if s.Rows != len(records) {
				t.Fatalf("%s: %d rows, not %d", name, s.Rows, len(records))
			}
			for j, want := range columns {
				got := s.Columns[j]
				if got.Numbers != want.Numbers || got.Words != want.Words || got.Missing != want.Missing ||
					got.Distinct != len(want.Values)+len(want.Counts) || !maps.Equal(got.Values, want.Values) || !maps.Equal(got.Counts, want.Counts) {
					t.Errorf("%s: column %+v, not %+v", name, got, want)
				}
			}
			checkEach(t, name, s, records)
		}
	}
}

// checkEach holds the values of a sheet to its records.
func checkEach(t *testing.T, name string, s *sheet.Sheet, records [][]string) {
	t.Helper()
	l, err := Plan(s, "")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := make([]bool, len(records))
	err = l.Each(func(i int, values []float64) error {
		mu.Lock()
		defer mu.Unlock()
		seen[i] = true
		for j, field := range records[i] {
			want, _ := strconv.ParseFloat(field, 64)
			if r := l.roles[j]; r.Code != nil {
				k, ok := r.Code[field]
				if !ok {
					k = len(r.Code) // rare ones are one category, behind the others
				}
				want = float64(k)
			}
			if math.Float64bits(values[j]) != math.Float64bits(want) {
				t.Errorf("%s: row %d: %g, not %g for %q", name, i, values[j], want, field)
			}
		}
		return nil
	})
	if err != nil || slices.Contains(seen, false) {
		t.Errorf("%s: not all rows were there: %v", name, err)
	}
}

// Columns of few words or numbers are told from columns of many, whoever sees them; of many words it is estimated how many differ.
func TestSurveyOfManyWords(t *testing.T) {
	var b strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&b, "%d,%g,w%d,%d\n", i%1000, float64(i)/8, i%sheet.MaxWords, i%2)
	}
	for _, more := range []string{"", "1,1,one more,1\n"} {
		s, err := sheet.SurveyInChunks([]lex.Source{source("f", b.String()+more)}, 0, &lex.Options{}, 1000, 4)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.Columns[0].Values); n != 1000 || s.Columns[0].TooManyNumbers || !s.Columns[1].TooManyNumbers {
			t.Errorf("%d values, %t, %t", n, s.Columns[0].TooManyNumbers, s.Columns[1].TooManyNumbers)
		}
		if c := s.Columns[2]; c.TooManyWords != (more != "") || (c.Counts == nil) != c.TooManyWords || math.Abs(float64(c.Distinct)/sheet.MaxWords-1) > 0.05 {
			t.Errorf("%d words, many: %t", c.Distinct, c.TooManyWords)
		}
		l, err := Plan(s, "")
		if err != nil {
			t.Fatal(err)
		}
		if kind := l.Fields[2].Kind; (kind == schema.LeftOut) != (more != "") {
			t.Errorf("%d words become %s", s.Columns[2].Distinct, kind)
		}
	}
}

// The files of a table have one header, and an error names the file.
func TestSurveyOfFiles(t *testing.T) {
	const first = "a,b\n1,2\n3,4\n"
	for _, c := range []struct{ second, want string }{
		{"a,c\n1,2\n", `g:1: found "c" for column 2, expected "b" as in the header of f`},
		{"1,2\n", `g:1: found "1" for column 1, expected "a" as in the header of f`},
		{"a,b,c\n", `g:1: found 3 columns, expected the header of f, which has 2`},
		{"", "g:1: found an empty file, expected rows of values"},
		{"\n\n", "g:1: found an empty file, expected rows of values"},
		{"a,b\n1,2\n1\n", "g:3: found 1 field, expected 2 as in the first line"},
		{"a,b\n1,\xff\n", "g:2: found byte 0xff, expected text in UTF-8"},
		{"\xff\xfea", "g:1: found UTF-16, expected text in UTF-8"},
		{"a,b\n\"1,2\n", `g:2: found a quote in the wrong place, expected quotes around a whole field, and "" for one inside`},
		{"\ufeff\r\na , \"b\"\r\n5,6", ""},
		{"a,b\n", ""},
		{"a,b\n1,\n", ""},
	} {
		all := []lex.Source{source("f", first), source("g", c.second)}
		for _, workers := range []int{1, 2} {
			_, err := sheet.SurveyInChunks(all, 0, &lex.Options{}, 4, workers)
			if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("%q: %v, expected %s", c.second, err, c.want)
			}
		}
	}
	all := []lex.Source{source("f", "1,2\n3,4\n"), source("g", "")}
	if _, err := sheet.SurveyInChunks(all, 0, &lex.Options{}, 4, 2); err == nil || err.Error() != "g:1: found an empty file, expected rows of values" {
		t.Errorf("an empty file after one without a header: %v", err)
	}
}

// FuzzRows holds rows in chunks to those of encoding/csv, and their faults to its first.
func FuzzRows(f *testing.F) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, text := range []string{table(rng, ",", 5), "1,2\n\"3,4\n5\",\"6\n", "\r", "a\r\r\nb", "1, \"2\" ,3\n", "\"a\"\"\n\",\n,\n", "1,2\"3\n\"4\n", " \n\"\"\n", "1.5e-3,\"x\"\r\n\"y\",1e5\r"} {
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		if strings.HasPrefix(text, "\ufeff") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
			return
		}
		std := lex.NewParser(strings.NewReader(text), ',')
		std.FieldsPerRecord = -1
		c := lex.Chunker{Sources: []lex.Source{source("f", text)}, Size: int(size) + 1}
		r := lex.Rows{Comma: ','}
		for {
			k, err := c.Next()
			if err != nil {
				break
			}
			r.Reset(k)
			for {
				more, err := r.Next()
				if !more && err == nil {
					break
				}
				want, wrong := std.Read()
				if err != nil || wrong != nil {
					a, _ := errors.AsType[*stdcsv.ParseError](err)
					b, _ := errors.AsType[*stdcsv.ParseError](wrong)
					if a == nil || b == nil || a.Line != b.Line || a.Err != b.Err {
						t.Fatalf("%v, expected %v", err, wrong)
					}
					return
				}
				for j, field := range want {
					line, _ := std.FieldPos(j)
					if j >= r.Fields || string(r.Field(j)) != strings.TrimSpace(field) || r.LineOf(j) != line {
						t.Fatalf("field %d of %q on line %d: %q on line %d", j, want, line, r.Field(j), r.LineOf(j))
					}
					if v, err := strconv.ParseFloat(string(r.Field(j)), 64); r.Kinds[j] != lex.KindWord && (err != nil || math.Float64bits(v) != math.Float64bits(r.Values[j])) {
						t.Fatalf("%q is %g", r.Field(j), r.Values[j])
					}
				}
				for _, field := range want {
					if _, number := (lex.Numerals{}).ParseLoosely(strings.TrimSpace(field)); lex.LooksDecimal([]byte(strings.TrimSpace(field))) && !number {
						t.Fatalf("%q is no number", field)
					}
				}
				if r.Fields != len(want) {
					t.Fatalf("%d fields of %q", r.Fields, want)
				}
			}
		}
		if _, err := std.Read(); err != io.EOF {
			t.Fatalf("rows ended before: %v", err)
		}
	})
}
