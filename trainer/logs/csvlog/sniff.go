package csvlog

import (
	"bytes"
	"slices"

	"newtop/trainer/logs"
)

// Sniff reports whether a file that begins so is a table of numbers: a header of two names or more, and rows of as many cells,
// of which most that are not empty are numbers. A header alone is one if it says what it counts. The last line may be torn.
func Sniff(head []byte) bool {
	p := New()
	rows, others, filled, numbers := 0, 0, 0, 0
	head = bytes.TrimPrefix(head, byteOrderMark)
	for len(head) > 0 && rows < 200 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		if p.columns == nil {
			if !whole || !p.begin(line) || len(p.columns) < 2 {
				return false
			}
			continue
		}
		cells, n := p.read(line)
		switch {
		case !whole, n == 0 && p.begin(line):
		case cells != len(p.columns):
			others++
		default:
			rows++
			numbers += n
			filled += p.filled(line)
		}
	}
	if rows == 0 {
		return p.columns != nil && others == 0 && slices.ContainsFunc(p.columns, func(c column) bool { return c.axis != logs.Metric })
	}
	return numbers*2 > filled && others*10 <= rows
}

// filled counts the cells of a row that are not empty.
func (p *Parser) filled(line []byte) (n int) {
	for more := true; more; {
		var cell []byte
		cell, line, more = cut(line, p.separator)
		if !logs.Missing(cell) {
			n++
		}
	}
	return n
}
