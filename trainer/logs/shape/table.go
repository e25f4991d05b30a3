package shape

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// cell is a piece of a row of a table, with its place in the line.
type cell struct{ a, b int }

// table is a header whose columns the lines below it fill.
type table struct {
	columns []*name
	cells   []cell // of the header
	split   func(dst []cell, s []byte) []cell
	x       int  // the column that counts; none: none does
	classes bool // rows of classes, of which "all" counts
	near    bool // the header is the line before
	head    []byte
	above   []byte // the line before the header, if it could be one too
	row     []cell
	part    string // of the lines before the header
	own     bool   // the heading before has this table: one with another header is not the heading's
	trace   *trace // for Explain
	counted string // a header whose first column counts, though no word says so
	first   count  // how its first column moves, if none counts
}

// header is what a table's columns are, for Explain.
type header struct {
	columns []*name
	titles  []string
	x       int
}

func (t *table) header() *header {
	h := &header{columns: t.columns, x: t.x}
	for _, c := range t.cells {
		h.titles = append(h.titles, string(t.head[c.a:c.b]))
	}
	return h
}

const maxColumns = 128

// announce notes a line that could be a header.
func (t *table) announce(line []byte, follows bool) {
	if t.above = t.above[:0]; follows {
		t.above = append(t.above, t.head...)
	}
	t.head = append(t.head[:0], line[:beforeBar(line)]...)
	if t.head[0] == '#' && len(t.head) > 1 && t.head[1] != ' ' {
		t.head[0] = ' '
	}
	t.near = true
}

// repeats reports whether a line is the table's header again.
func (t *table) repeats(line []byte) bool {
	return bytes.Equal(bytes.TrimSpace(t.head), bytes.TrimSpace(line[:beforeBar(line)]))
}

// heads reports whether a line may be a header: no number, and nothing that a header has not.
func heads(line []byte, tokens []token) bool {
	cut := beforeBar(line)
	if cut > 1000 || bytes.ContainsAny(line[:cut], "=;") || bytes.Contains(line[:cut], []byte(": ")) {
		return false
	}
	words := 0
	for i := range tokens {
		switch t := &tokens[i]; {
		case t.a >= cut:
		case t.kind == number:
			return false
		case t.kind == word:
			words++
		}
	}
	return words > 1
}

// beforeBar is how much of a line stands before a progress bar, ": 100%|", all of it if there is none.
func beforeBar(line []byte) int {
	for _, end := range []string{"%|", "% ━", "% ─"} {
		if bar := bytes.Index(line, []byte(end)); bar > 0 {
			if colon := bytes.LastIndexByte(line[:bar], ':'); colon >= 0 {
				return colon
			}
		}
	}
	return len(line)
}

// fill reads a line under the header, and reports whether it is a row of as many cells as the table has columns.
func (t *table) fill(line []byte) bool {
	if t.near {
		t.near = false
		if t.head[0] == '#' && len(byBlanks(nil, t.head)) == len(byBlanks(nil, line))+1 { // a comment's, and no column
			t.head[0] = ' '
		}
		if t.found(line) {
			return true
		}
	}
	if t.columns == nil {
		return false
	}
	t.row = t.split(t.row[:0], line)
	return len(t.row) == len(t.columns) && t.fits(line) || t.placed(line) || t.remarked(line)
}

// found decides whether the line before, and perhaps the one above it, are the header of this one.
func (t *table) found(line []byte) bool {
	split := []func([]cell, []byte) []cell{byBlanks, byGaps}
	if t.barred() {
		split = []func([]cell, []byte) []cell{byBars}
	}
	for _, header := range split {
		t.cells = header(t.cells[:0], t.head)
		for _, rows := range split {
			t.row = rows(t.row[:0], line)
			if n := len(t.cells); n < 2 || n != len(t.row) || n > maxColumns || !t.fits(line) {
				continue
			}
			t.split = rows
			t.name(header)
			return true
		}
	}
	if t.numbered(line) {
		return true
	}
	if t.cells = byGaps(t.cells[:0], t.head); len(split) < 2 || len(t.cells) < 3 {
		return false
	}
	t.split = byBlanks
	old := t.columns
	t.name(byGaps)
	if t.placed(line) || t.gathered(line) {
		return true
	}
	t.columns = old
	return false
}

// numbered reports whether the header has no name above the row's first cell, which numbers the rows of a frame.
func (t *table) numbered(line []byte) bool {
	t.cells, t.row = byBlanks(t.cells[:0], t.head), byBlanks(t.row[:0], line)
	if n := len(t.row); n < 2 || n != len(t.cells)+1 || n > maxColumns || t.cells[0].a < t.row[0].b || !t.fits(line) {
		return false
	}
	t.cells, t.above = slices.Insert(t.cells, 0, cell{}), t.above[:0]
	t.split = byBlanks
	t.name(byBlanks)
	if t.x == none {
		t.x = 0
	}
	return true
}

// index names the first column by a word that stands alone below the header and before its names, and reports whether
// the line is one.
func (t *table) index(line []byte) bool {
	word, names := byBlanks(nil, line), byBlanks(nil, t.head)
	if len(word) != 1 || !letter(line[word[0].a]) || names[0].a <= word[0].b {
		return false
	}
	copy(t.head[word[0].a:], line[word[0].a:word[0].b])
	return true
}

// gathered gives each word of the header to the cell of the row that it stands above, where the row has more cells than
// the header has gaps, and reports whether each cell has one.
func (t *table) gathered(line []byte) bool {
	t.row = byBlanks(t.row[:0], line)
	if len(t.row) <= len(t.cells) || len(t.row) > maxColumns || !t.fits(line) {
		return false
	}
	words := make([][]byte, len(t.row))
	for _, w := range byBlanks(nil, t.head) {
		best, distance := none, math.MaxInt
		for i, c := range t.row {
			if d := abs(w.a + w.b - c.a - c.b); d < distance {
				best, distance = i, d
			}
		}
		words[best] = append(append(words[best], ' '), t.head[w.a:w.b]...)
	}
	t.head, t.above = t.head[:0], t.above[:0]
	t.cells = t.cells[:0]
	for _, w := range words {
		if len(w) == 0 {
			return false
		}
		t.cells = append(t.cells, cell{len(t.head), len(t.head) + len(w)})
		t.head = append(append(t.head, w...), ' ')
	}
	t.name(byGaps)
	return t.x != none
}

// barred reports whether bars part the header's cells; others have names as ||d||.
func (t *table) barred() bool {
	head := bytes.TrimLeft(t.head, " ")
	return bytes.Contains(head, []byte(" | ")) || len(head) > 1 && head[0] == '|' && head[1] != '|'
}

// fits reports whether every cell of the row is a number, a list of them, a time, or nothing.
func (t *table) fits(line []byte) bool {
	numbers := 0
	for i, c := range t.row {
		text := line[c.a:c.b]
		switch {
		case len(text) == 0, string(text) == "-", string(text) == "+", text[0] == '[', string(text) == "None":
		case i == 0 && string(text) == "all":
		case startsNumber(text, 0) || notFinite(text) > 0:
			numbers++
		default:
			return false
		}
	}
	return numbers > 0
}

// remarked reports whether words follow the row, which it then is without them, and without the last column if that is
// theirs.
func (t *table) remarked(line []byte) bool {
	t.row = byBlanks(t.row[:0], line)
	n := len(t.columns)
	if len(t.row) < n {
		return false
	}
	numbers := 0
	for _, c := range t.row {
		if !startsNumber(line[c.a:c.b], 0) && notFinite(line[c.a:c.b]) == 0 {
			break
		}
		numbers++
	}
	if numbers < n-1 || numbers > n || !letter(line[t.row[min(numbers, len(t.row)-1)].a]) {
		return false
	}
	t.row = t.row[:numbers]
	if numbers < n {
		t.row = append(t.row, cell{len(line), len(line)})
	}
	return t.fits(line)
}

// placed gives the row's cells to the columns that they stand under, where there are not as many, and reports whether
// each has one of its own.
func (t *table) placed(line []byte) bool {
	t.row = byBlanks(t.row[:0], line)
	if n := len(t.row); n < 2 || n >= len(t.cells) || !t.fits(line) {
		return false
	}
	filled := make([]cell, len(t.cells))
	next := 0
	for _, c := range t.row {
		best, distance := none, math.MaxInt
		for k := next; k < len(t.cells); k++ {
			h := t.cells[k]
			d := min(abs(h.b-c.b), abs(h.a+h.b-c.a-c.b)/2)
			if d < distance {
				best, distance = k, d
			}
		}
		if best == none || distance > 8 {
			return false
		}
		filled[best] = c
		next = best + 1
	}
	t.row = append(t.row[:0], filled...)
	return true
}

func abs(n int) int { return max(n, -n) }

// name gives the columns their names, and finds the one that counts.
func (t *table) name(header func([]cell, []byte) []cell) {
	above := header(nil, t.above)
	joined := len(above) == len(t.cells)
	for i := range t.cells {
		joined = joined && (t.barred() || above[i].a == t.cells[i].a || above[i].b == t.cells[i].b)
	}
	t.columns, t.x, t.trace = nil, none, nil
	var axis axis
	for i, c := range t.cells {
		text := string(t.head[c.a:c.b])
		if j := bytes.IndexByte([]byte(text), '('); j > 0 && bytes.IndexByte([]byte(text), ')') < 0 { // Box(P
			text = text[j+1:]
		}
		if joined {
			text = string(t.above[above[i].a:above[i].b]) + " " + text
		}
		if text = strings.TrimSpace(text); !strings.Contains(text, "(") {
			text = strings.TrimRight(text, ")") // mAP50-95) after Box(P
		}
		k := newName(text)
		t.columns = append(t.columns, k)
		counts := k.class == counter && k.axis != total
		if counts && (t.x == none || k.axis < epoch && (axis == epoch || k.axis > axis)) {
			t.x, axis = i, k.axis
		}
	}
	if t.x == none && t.counted == string(t.head) {
		t.x = 0
	}
	t.first = count{}
	t.classes = t.columns[0].key == "Class"
}

// numbers notes a row that has no place, and reports whether the rows are numbered by their first column.
func (t *table) numbers(line []byte) bool {
	v, _ := fractionOf(line[t.row[0].a:t.row[0].b])
	if n := t.first.lines; n < 0 || v != math.Trunc(v) || n > 0 && v != t.first.last+1 {
		t.first.lines = -1
		return false
	}
	t.first.note(v)
	const enough = 3
	if t.first.lines < enough {
		return false
	}
	t.x, t.counted = 0, string(t.head)
	return true
}

// byBars cuts a line between its bars. The first and the last one are the table's border.
func byBars(dst []cell, s []byte) []cell {
	start := 0
	for i := 0; i <= len(s) && len(dst) <= maxColumns; i++ {
		if i < len(s) && s[i] != '|' {
			continue
		}
		c := cell{start, i}
		for c.a < c.b && s[c.a] == ' ' {
			c.a++
		}
		for c.a < c.b && s[c.b-1] == ' ' {
			c.b--
		}
		if c.a < c.b || start > 0 && i < len(s) {
			dst = append(dst, c)
		}
		start = i + 1
	}
	return dst
}

// byBlanks cuts a line at single blanks, byGaps at two or more. A list in brackets stays whole.
func byBlanks(dst []cell, s []byte) []cell { return cut(dst, s, 1) }
func byGaps(dst []cell, s []byte) []cell   { return cut(dst, s, 2) }

func cut(dst []cell, s []byte, wide int) []cell {
	start, gap, depth := none, 0, 0
	for i := 0; i <= len(s) && len(dst) <= maxColumns; i++ {
		c := at(s, i)
		blank := i == len(s) || c == ' ' || c == '\t'
		if c == '\t' {
			gap += wide
		}
		switch {
		case blank && (depth == 0 || i == len(s)):
			gap++
			if start != none && (gap >= wide || i == len(s)) {
				end := i + 1
				for end > start && (end > len(s) || s[end-1] == ' ' || s[end-1] == '\t') {
					end--
				}
				dst = append(dst, cell{start, end})
				start = none
			}
		case !blank:
			if start == none {
				start = i
			}
			gap = 0
			if c == '[' {
				depth++
			} else if c == ']' {
				depth--
			}
		}
	}
	return dst
}
