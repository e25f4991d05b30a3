package convert

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"sync"

	"newtop/datasets/fault"
)

// svmLine matches a row: a label, or several, and the values that are not zero behind their columns' numbers.
var svmLine = regexp.MustCompile(`^\s*[-+0-9.][-+0-9.eE,]*(\s+(qid:[0-9]+|([0-9]+):[-+0-9.a-zA-Z]*))*\s*(#.*)?$`)

// isLIBSVM reports whether all of the first lines are rows, and one of them has a value.
func isLIBSVM(lines [][]byte) bool {
	seen, values := 0, false
	for _, line := range lines {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		m := svmLine.FindSubmatch(line)
		if m == nil {
			return false
		}
		values = values || m[2] != nil
		if seen++; seen == 100 {
			break
		}
	}
	return values
}

// svm is a file in the format of LIBSVM and SVMlight.
type svm struct {
	file        File
	rows        int
	first, last int // columns that have a value
}

// openLIBSVM goes through all files once, as the columns of a table are those that have a value in any of them. They
// are counted from 0 if there is a column 0, else from 1.
func (t *Table) openLIBSVM(files []File) error {
	first, last := 1, 0
	var rows int64
	var parts []*svm
	for _, f := range files {
		s := &svm{file: f, first: 1}
		if err := s.scan(); err != nil {
			return err
		}
		first, last, rows = min(first, s.first), max(last, s.last), rows+int64(s.rows)
		t.parts, parts = append(t.parts, s), append(parts, s)
	}
	for _, s := range parts {
		s.first, s.last = first, last
	}
	return files[0].fits(rows, int64(last-first)+2)
}

// scan finds out which columns there are.
func (s *svm) scan() error {
	var mu sync.Mutex
	return s.file.eachLine(func(line int, text []byte) error {
		row, err := s.parse(line, text)
		if err != nil || row.label == nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		s.rows++
		if row.pairs > 0 {
			s.first, s.last = min(s.first, row.first), max(s.last, row.last)
		}
		return nil
	})
}

// svmRow is a row: its label, nil for a line that has none, and its values.
type svmRow struct {
	label, rest []byte
	first, last int // columns
	pairs       int
}

// parse checks a line.
func (s *svm) parse(line int, text []byte) (row svmRow, err error) {
	text, _, _ = bytes.Cut(text, []byte{'#'})
	label, rest := token(text)
	if label == nil {
		return row, nil
	}
	if bytes.IndexByte(label, ',') >= 0 {
		return row, s.file.onLine(line, "label", "the labels "+fault.Quote(string(label)), "one label a row")
	}
	if !number(label) {
		return row, s.file.onLine(line, "label", fault.Quote(string(label)), "a number")
	}
	row.label, row.rest = label, rest
	for {
		var pair []byte
		if pair, rest = token(rest); pair == nil {
			return row, nil
		}
		index, value, err := s.pair(line, pair)
		if err != nil {
			return row, err
		}
		switch {
		case row.pairs == 0:
			row.first = index
		case index <= row.last:
			return row, s.file.onLine(line, strconv.Itoa(index), fmt.Sprintf("column %d behind %d", index, row.last),
				"columns in ascending order")
		}
		if !number(value) && !nan(value) {
			return row, s.file.onLine(line, strconv.Itoa(index), fault.Quote(string(value)),
				"a finite number, or nan for a missing value")
		}
		row.last = index
		row.pairs++
	}
}

// pair cuts a value from the number of its column.
func (s *svm) pair(line int, pair []byte) (index int, value []byte, err error) {
	number, value, ok := bytes.Cut(pair, []byte{':'})
	if string(number) == "qid" {
		return 0, nil, s.file.onLine(line, "", fault.Quote(string(pair)),
			"rows that stand alone: rows of queries are ranked, which newtop does not do")
	}
	for _, c := range number {
		if c-'0' > 9 || index > math.MaxInt32/10 {
			ok = false
			break
		}
		index = 10*index + int(c-'0')
	}
	if !ok || len(number) == 0 {
		return 0, nil, s.file.onLine(line, "", fault.Quote(string(pair)), "a column's number, a colon and a value")
	}
	return index, value, nil
}

// write writes the values, zeros included, and the label as the last column.
func (s *svm) write(w io.Writer) error {
	var names []string
	for i := s.first; i <= s.last; i++ {
		names = append(names, "x"+strconv.Itoa(i))
	}
	if _, err := w.Write(appendNames(nil, append(names, "label"))); err != nil {
		return err
	}
	zeros := bytes.Repeat([]byte("0,"), s.last-s.first+1)
	return inOrder(w, s.file.chunks(0, 1), func(dst []byte, c chunk) ([]byte, error) {
		for line, text := range c.lines {
			row, err := s.parse(line, text)
			if err != nil {
				return nil, err
			}
			if row.label == nil {
				continue
			}
			at := s.first
			for pair, rest := token(row.rest); pair != nil; pair, rest = token(rest) {
				index, value, _ := s.pair(line, pair)
				if index < at || index > s.last {
					return nil, fault.Changed(s.file.Name)
				}
				dst = append(dst, zeros[:2*(index-at)]...)
				if !nan(value) {
					dst = append(dst, value...)
				}
				dst = append(dst, ',')
				at = index + 1
			}
			dst = append(dst, zeros[:2*(s.last+1-at)]...)
			dst = append(append(dst, row.label...), '\n')
		}
		return dst, nil
	})
}

func (s *svm) close() {}

// token returns the text up to the next blank, nil at the end.
func token(text []byte) (token, rest []byte) {
	start := 0
	for start < len(text) && blank(text[start]) {
		start++
	}
	end := start
	for end < len(text) && !blank(text[end]) {
		end++
	}
	if start == end {
		return nil, nil
	}
	return text[start:end], text[end:]
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

// number reports whether a text is a number with a decimal point.
func number(text []byte) bool {
	digits, point := 0, false
	for i, c := range text {
		switch {
		case c-'0' <= 9:
			digits++
		case c == '.' && !point:
			point = true
		case (c == '-' || c == '+') && i == 0:
		default:
			return digits > 0 && (c == 'e' || c == 'E') && exponent(text[i+1:])
		}
	}
	return digits > 0
}

// exponent reports whether a text is that of a number.
func exponent(text []byte) bool {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	for _, c := range text {
		if c-'0' > 9 {
			return false
		}
	}
	return len(text) > 0
}

func nan(text []byte) bool { return bytes.EqualFold(text, []byte("nan")) }
