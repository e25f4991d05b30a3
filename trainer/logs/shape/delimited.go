package shape

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"newtop/trainer/logs"
)

// delimited is a table whose cells have a separator between them, as commas. Its header is a line of names above the
// first row; another one among the rows begins other columns.
type delimited struct {
	separator byte
	comma     bool     // 0,5 is a half
	columns   []*field // nil: there is no table
	before    []byte   // the line before, if it could be a header
	text      []byte   // the row
	filled    int      // cells of the row that are not empty
}

// restart begins the lines again. How numbers are written is known.
func (t *delimited) restart() { t.columns, t.before = nil, t.before[:0] }

// live reports whether the next line may be a row.
func (t *delimited) live() bool { return t.columns != nil || len(t.before) > 0 }

const separators = ",;\t|"

// line reads a line of a table, and reports whether it is a row.
func (t *delimited) line(r *fieldReader, p *Parser, line []byte, to logs.Sink) bool {
	if len(t.before) > 0 {
		begun := t.begin(r, line)
		if t.before = t.before[:0]; begun {
			t.give(r, p, line, to)
			return true
		}
	}
	if t.columns != nil {
		cells := t.read(r, line)
		switch {
		case cells != len(t.columns):
			if first, _, more := cutCell(line, t.separator); more || cells == 1 {
				if _, _, ok := cellNumber(first, t.comma); ok {
					p.tally.all++
					p.tally.note(torn)
					return true
				}
			}
		case len(r.numbers) > 0:
			t.give(r, p, line, to)
			return true
		case t.filled == 0:
			return true
		}
	}
	t.remember(line)
	return false
}

func (t *delimited) give(r *fieldReader, p *Parser, line []byte, to logs.Sink) {
	t.text = line
	r.give(p, nil, to)
}

// remember keeps a line that could be a header: names, and a separator between them.
func (t *delimited) remember(line []byte) {
	head := bytes.TrimLeft(line, "#% ")
	if len(head) < 3 || len(line) > 1<<16 || digit(head[0]) || !bytes.ContainsAny(line, separators) ||
		head[0] == '{' || head[0] == '[' || head[0] == '|' || bytes.Contains(line, []byte(" | ")) {
		return
	}
	for i, c := range head[1:] {
		if digit(c) && bytes.IndexByte([]byte(" =:,;\t|"), head[i]) >= 0 { // a number
			return
		}
	}
	if names, _ := titles(head); len(names) > 1 {
		t.before = append(t.before[:0], head...)
		if line[0] == ' ' { // columns that are aligned
			t.before = append(t.before[:0], line...)
		}
	}
}

// begin takes the line before for a header, if this one is a row below it: as many cells, and numbers in most of them,
// or in some where the header has a name of a counter or a metric.
func (t *delimited) begin(r *fieldReader, line []byte) bool {
	old, oldSeparator := t.columns, t.separator
	names, separator := titles(t.before)
	t.separator = separator
	t.columns = make([]*field, len(names))
	known, shared := false, old == nil
	seen := map[string]int{}
	for i, name := range names {
		if seen[name]++; seen[name] > 1 {
			name += "." + strconv.Itoa(seen[name])
		}
		f := r.of(&r.root, []byte(name))
		if t.columns[i] = f; f == nil {
			continue
		}
		known = known || f.axis > total || f.name.class == metric || f.time == logs.Wall
		for _, o := range old {
			shared = shared || o == f
		}
	}
	cells := t.read(r, line)
	if cells == len(names) && (2*len(r.numbers) > t.filled || known && len(r.numbers) > 0) && (shared || known) {
		for _, f := range t.columns { // no x is taken any more
			if f == nil {
				continue
			}
			for _, s := range f.last {
				if s != nil {
					s.own = false
				}
			}
		}
		return true
	}
	t.columns, t.separator = old, oldSeparator
	return false
}

// read puts the cells of a line into the row. It returns how many there are, without empty ones behind the last column.
func (t *delimited) read(r *fieldReader, line []byte) (cells int) {
	r.begin()
	t.filled = 0
	for more := true; more; cells++ {
		var cell []byte
		if i := bytes.IndexByte(line, t.separator); i > 0 && line[0] > '\'' &&
			line[i-1] > ' ' { // neither blanks nor quotes
			cell, line = line[:i], line[i+1:]
		} else {
			cell, line, more = cutCell(line, t.separator)
		}
		if cells >= len(t.columns) {
			if len(cell) == 0 && !more {
				return cells
			}
			continue
		}
		if len(cell) == 0 {
			continue
		}
		f := t.columns[cells]
		if f == nil {
			continue
		}
		t.filled++
		if t.separator == ';' && !t.comma {
			t.comma = bytes.IndexByte(cell, ',') >= 0 && bytes.IndexByte(cell, '.') < 0
		}
		if v, of, ok := cellNumber(cell, t.comma); ok {
			r.number(f, v, of)
		} else if logs.Missing(cell) {
			t.filled--
		} else {
			r.string(f, cell)
		}
	}
	if cells == len(t.columns)-1 && t.columns[cells] != nil &&
		t.columns[cells].raw == "" { // a header that ends with a separator
		cells++
	}
	return cells
}

// titles returns the names in a line and what separates them, or nil for a line of something else. The first and the
// last may be empty.
func titles(line []byte) (names []string, separator byte) {
	separator = separatorOf(line)
	for i, more := 0, true; more; i++ {
		var cell []byte
		cell, line, more = cutCell(line, separator)
		_, _, isNumber := cellNumber(cell, false)
		_, isTime := logs.ParseTime(cell, time.UTC)
		switch {
		case len(cell) == 0 && (i == 0) == more:
		case isNumber, isTime, logs.Missing(cell), len(cell) > 200, bytes.Contains(cell, []byte(": ")):
			return nil, 0
		}
		names = append(names, logs.Clean(strings.ReplaceAll(string(cell), `""`, `"`)))
	}
	return names, separator
}

// separatorOf returns what cuts a header into most names.
func separatorOf(line []byte) byte {
	best, most := byte(','), 0
	for i := range len(separators) {
		n := 0
		for rest, more := line, true; more; n++ {
			_, rest, more = cutCell(rest, separators[i])
		}
		if n > most {
			best, most = separators[i], n
		}
	}
	return best
}

// cutCell returns the first cell without blanks and quotes around it, the rest of the line, and whether there is one.
func cutCell(line []byte, separator byte) (cell, rest []byte, more bool) {
	for len(line) > 0 && blank(line[0], separator) {
		line = line[1:]
	}
	begin, quoted := 0, 0
	if len(line) > 0 && (line[0] == '"' || line[0] == '\'') {
		quoted = closing(line)
		begin = quoted
	}
	end := len(line)
	if i := bytes.IndexByte(line[begin:], separator); i >= 0 {
		end = begin + i
		rest, more = line[end+1:], true
	}
	if quoted > 0 {
		return trim(line[1:quoted], separator), rest, more
	}
	return trim(line[:end], separator), rest, more
}

// closing returns where the quote ends that a line begins with, 0 if it does not. Within it a quote is doubled.
func closing(line []byte) int {
	for i := 1; i < len(line); i++ {
		if line[i] != line[0] {
			continue
		}
		if i+1 == len(line) || line[i+1] != line[0] {
			return i
		}
		i++
	}
	return 0
}

func blank(c, separator byte) bool { return c == ' ' || c == '\t' && separator != '\t' }

func trim(cell []byte, separator byte) []byte {
	for len(cell) > 0 && blank(cell[0], separator) {
		cell = cell[1:]
	}
	for len(cell) > 0 && blank(cell[len(cell)-1], separator) {
		cell = cell[:len(cell)-1]
	}
	return cell
}
