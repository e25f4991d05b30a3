// Package csvlog reads logs that are tables: a header of names, then a row of numbers each time, with commas, semicolons or
// tabs between the cells, as Keras' CSVLogger, Lightning's CSVLogger, Ultralytics and DVCLive write them.
package csvlog

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"newtop/trainer/logs"
)

var _ logs.Parser = (*Parser)(nil)

// Parser reads the lines of a table. A cell that is empty, NA or text has no value; nan is a value. A date is Row.Wall, in
// local time where it tells no zone. Another header among the rows begins another table.
type Parser struct {
	separator byte
	columns   []column // nil before the header
	rows      bool     // whether a row followed the header
	row       logs.Row
}

type column struct {
	key  string // empty for a column without a name, which is nobody's
	axis logs.Axis
}

// New returns a parser that expects a header.
func New() *Parser { return &Parser{} }

var errHeader = errors.New("expected a header of names, as step,loss,val_loss")

// Line reads a header or a row.
func (p *Parser) Line(line []byte, to logs.Sink) error {
	if p.columns == nil {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	line = bytes.TrimRight(line, "\r\n")
	if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
		return nil
	}
	if p.columns == nil {
		if !p.begin(line) {
			return errHeader
		}
		return nil
	}
	cells, numbers := p.read(line)
	if (numbers == 0 || cells != len(p.columns)) && p.begin(line) {
		return nil
	}
	if cells != len(p.columns) {
		return fmt.Errorf("expected %d cells, as the header has, found %d", len(p.columns), cells)
	}
	p.rows = p.rows || numbers > 0
	if len(p.row.Values) > 0 {
		to.Row(&p.row)
	}
	return nil
}

// Flush does nothing: no row is held back.
func (p *Parser) Flush(logs.Sink) {}

// read puts the numbers of a line into the row. It returns how many cells there are, without empty ones behind the last
// column, and how many are numbers.
func (p *Parser) read(line []byte) (cells, numbers int) {
	p.row.Clear()
	for more := true; more; cells++ {
		var cell []byte
		cell, line, more = cut(line, p.separator)
		if cells >= len(p.columns) {
			if len(cell) == 0 && !more {
				return cells, numbers
			}
			continue
		}
		if len(cell) == 0 {
			continue
		}
		c := &p.columns[cells]
		if v, ok := number(cell, p.separator); ok {
			numbers++
			if c.key != "" {
				p.row.SetAs(c.axis, c.key, v)
			}
		} else if math.IsNaN(p.row.Wall) {
			if wall, ok := logs.ParseTime(cell, time.Local); ok {
				p.row.Wall = wall
			}
		}
	}
	for cells < len(p.columns) && p.columns[cells].key == "" && cells > 0 { // a header that ends with a separator
		cells++
	}
	return cells, numbers
}

// begin takes a line for the header, if it is one. Among rows, and where it has fewer cells than the header before it, it
// must know one of the names, or say what it counts: it may be a row of text, or a message.
func (p *Parser) begin(line []byte) bool {
	names, separator := header(line)
	if names == nil {
		return false
	}
	known := !p.rows && len(names) >= len(p.columns)
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i] = column{name, logs.AxisOf(name)}
		known = known || columns[i].axis != logs.Metric || name != "" && slices.Contains(p.columns, columns[i])
	}
	if !known {
		return false
	}
	p.columns, p.separator, p.rows = columns, separator, false
	return true
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// number reads a cell. Where semicolons separate cells a comma is the point, as spreadsheets of half of Europe have it.
func number(cell []byte, separator byte) (float64, bool) {
	if separator == ';' {
		if i := bytes.IndexByte(cell, ','); i >= 0 && bytes.IndexByte(cell, '.') < 0 {
			cell = slices.Clone(cell)
			cell[i] = '.'
		}
	}
	return logs.ParseNumber(cell)
}

// header returns the names in a line and what separates them, or nil for a line of something else. The first may be empty,
// as pandas leaves it for the index.
func header(line []byte) (names []string, separator byte) {
	separator = separatorOf(line)
	for i, more := 0, true; more; i++ {
		var cell []byte
		cell, line, more = cut(line, separator)
		_, isNumber := logs.ParseNumber(cell)
		_, isTime := logs.ParseTime(cell, time.UTC)
		switch {
		case len(cell) == 0 && (i == 0 || !more) && (i > 0 || more):
			names = append(names, "")
			continue
		case isNumber, isTime, logs.Missing(cell), len(cell) > 200:
			return nil, 0
		}
		names = append(names, logs.Clean(strings.ReplaceAll(string(cell), `""`, `"`)))
	}
	return names, separator
}

// separatorOf returns what cuts a header into most names.
func separatorOf(line []byte) byte {
	best, most := byte(','), 0
	for _, separator := range []byte{',', ';', '\t'} {
		n := 0
		for rest, more := line, true; more; n++ {
			_, rest, more = cut(rest, separator)
		}
		if n > most {
			best, most = separator, n
		}
	}
	return best
}

// cut returns the first cell without blanks and quotes around it, the rest of the line, and whether there is one.
func cut(line []byte, separator byte) (cell, rest []byte, more bool) {
	for len(line) > 0 && blank(line[0], separator) {
		line = line[1:]
	}
	begin, quoted := 0, 0
	if len(line) > 0 && line[0] == '"' {
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
		if line[i] != '"' {
			continue
		}
		if i+1 == len(line) || line[i+1] != '"' {
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
