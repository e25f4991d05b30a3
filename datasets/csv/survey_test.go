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
)

// naive reads a table at once, with encoding/csv and strconv: the rows without the header, and what the columns are like.
func naive(text string, comma rune, header bool) (records [][]string, columns []column, err error) {
	r := newParser(strings.NewReader(text), comma)
	r.ReuseRecord = false
	if records, err = r.ReadAll(); err != nil {
		return nil, nil, err
	}
	if header {
		records = records[1:]
	}
	columns = make([]column, len(records[0]))
	for _, record := range records {
		for j := range record {
			record[j] = strings.TrimSpace(record[j])
			c := &columns[j]
			if c.values == nil {
				c.values, c.counts = make(map[string]struct{}), make(map[string]int)
			}
			switch v, ok := (numerals{}).parseLoosely(record[j]); {
			case isMissing(record[j]):
				c.missing++
			case ok:
				c.numbers++
				c.width = max(c.width, narrowest(v))
				c.values[record[j]] = struct{}{}
			default:
				c.words++
				c.counts[record[j]]++
			}
		}
	}
	return records, columns, nil
}

// sources cuts a text into so many at ends of lines outside quotes, each with the header.
func sources(text string, header bool, files int) (all []Source) {
	head := ""
	if header {
		n := strings.IndexByte(text, '\n') + 1
		head, text = text[:n], text[n:]
	}
	for i := range files {
		end := len(text)
		if i < files-1 {
			end = lastRow([]byte(text[:len(text)/(files-i)]), strings.Count(text[:len(text)/(files-i)], `"`))
		}
		part := head + text[:end]
		text = text[end:]
		all = append(all, Source{Name: fmt.Sprintf("f%d", i), Text: strings.NewReader(part), Size: int64(len(part))})
	}
	return all
}

// source is a text that is a file.
func source(name, text string) Source {
	return Source{Name: name, Text: strings.NewReader(text), Size: int64(len(text))}
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
		for _, c := range []struct{ size, workers, files int }{{1, 1, 1}, {7, 3, 1}, {64, 2, 3}, {1000, 4, 5}, {chunkBytes, 2, 1}, {chunkBytes, 1, 2}} {
			name := fmt.Sprintf("%q in chunks of %d, %d workers, %d files", comma, c.size, c.workers, c.files)
			s, err := surveyInChunks(sources(text, true, c.files), 0, &Options{}, c.size, c.workers)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if s.Rows != len(records) {
				t.Fatalf("%s: %d rows, not %d", name, s.Rows, len(records))
			}
			for j, want := range columns {
				got := s.columns[j]
				if got.numbers != want.numbers || got.words != want.words || got.missing != want.missing || got.width != want.width ||
					got.distinct != len(want.values)+len(want.counts) || !maps.Equal(got.values, want.values) || !maps.Equal(got.counts, want.counts) {
					t.Errorf("%s: column %+v, not %+v", name, got, want)
				}
			}
			checkEach(t, name, s, records)
		}
	}
}

// checkEach holds the values of a sheet to its records.
func checkEach(t *testing.T, name string, s *Sheet, records [][]string) {
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
			if r := l.roles[j]; r.code != nil {
				k, ok := r.code[field]
				if !ok {
					k = len(r.code) // rare ones are one category, behind the others
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
		fmt.Fprintf(&b, "%d,%g,w%d,%d\n", i%1000, float64(i)/8, i%maxWords, i%2)
	}
	for _, more := range []string{"", "1,1,one more,1\n"} {
		s, err := surveyInChunks([]Source{source("f", b.String()+more)}, 0, &Options{}, 1000, 4)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.columns[0].values); n != 1000 || s.columns[0].tooManyNumbers || !s.columns[1].tooManyNumbers {
			t.Errorf("%d values, %t, %t", n, s.columns[0].tooManyNumbers, s.columns[1].tooManyNumbers)
		}
		if c := s.columns[2]; c.tooManyWords != (more != "") || (c.counts == nil) != c.tooManyWords || math.Abs(float64(c.distinct)/maxWords-1) > 0.05 {
			t.Errorf("%d words, many: %t", c.distinct, c.tooManyWords)
		}
		l, err := Plan(s, "")
		if err != nil {
			t.Fatal(err)
		}
		if kind := l.Fields[2].Kind; (kind == LeftOut) != (more != "") {
			t.Errorf("%d words become %s", s.columns[2].distinct, kind)
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
		all := []Source{source("f", first), source("g", c.second)}
		for _, workers := range []int{1, 2} {
			_, err := surveyInChunks(all, 0, &Options{}, 4, workers)
			if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("%q: %v, expected %s", c.second, err, c.want)
			}
		}
	}
	all := []Source{source("f", "1,2\n3,4\n"), source("g", "")}
	if _, err := surveyInChunks(all, 0, &Options{}, 4, 2); err == nil || err.Error() != "g:1: found an empty file, expected rows of values" {
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
		std := newParser(strings.NewReader(text), ',')
		std.FieldsPerRecord = -1
		c := chunker{sources: []Source{source("f", text)}, size: int(size) + 1}
		r := rows{comma: ','}
		for {
			k, err := c.next()
			if err != nil {
				break
			}
			r.reset(k)
			for {
				more, err := r.next()
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
					if j >= r.fields || string(r.field(j)) != strings.TrimSpace(field) || r.lineOf(j) != line {
						t.Fatalf("field %d of %q on line %d: %q on line %d", j, want, line, r.field(j), r.lineOf(j))
					}
					if v, err := strconv.ParseFloat(string(r.field(j)), 64); r.kinds[j] != kindWord && (err != nil || math.Float64bits(v) != math.Float64bits(r.values[j])) {
						t.Fatalf("%q is %g", r.field(j), r.values[j])
					}
				}
				for _, field := range want {
					if _, number := (numerals{}).parseLoosely(strings.TrimSpace(field)); looksDecimal([]byte(strings.TrimSpace(field))) && !number {
						t.Fatalf("%q is no number", field)
					}
				}
				if r.fields != len(want) {
					t.Fatalf("%d fields of %q", r.fields, want)
				}
			}
		}
		if _, err := std.Read(); err != io.EOF {
			t.Fatalf("rows ended before: %v", err)
		}
	})
}
