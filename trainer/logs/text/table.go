package text

import (
	"bytes"
	"math"
	"strings"
)

// table is a header whose columns the lines below it fill.
type table struct {
	columns []*name
	first   class // of the first column; partial: rows of classes, of which "all" counts
	fields  [][]byte
}

const mostColumns = 64

// header reads a line of names of which the first counts steps or epochs, and reports whether it is one.
func (t *table) header(line []byte) bool {
	if len(line) > 1000 || !heads(line) {
		return false
	}
	if line = line[:beforeBar(line)]; bytes.ContainsAny(line, "=;") {
		return false
	}
	if t.split(line, true); len(t.fields) < 3 {
		if t.split(line, false); len(t.fields) < 3 {
			return false
		}
	}
	var columns []*name
	for _, f := range t.fields {
		if len(f) == 0 || digit(f[0]) || bytes.HasSuffix(f, []byte(":")) {
			return false
		}
		if i := bytes.IndexByte(f, '('); i >= 0 { // Box(P
			f = f[i+1:]
		}
		if i := bytes.IndexByte(f, ')'); i >= 0 {
			f = f[:i]
		}
		columns = append(columns, newName(string(f)))
	}
	t.columns, t.first = columns, columns[0].class
	if t.first != epochs && t.first != steps {
		t.first = partial
	}
	return true
}

// beforeBar is how much of a line stands before a progress bar, ": 100%|", all of it if there is none.
func beforeBar(line []byte) int {
	if bar := bytes.Index(line, []byte("%|")); bar > 0 {
		if colon := bytes.LastIndexByte(line[:bar], ':'); colon >= 0 {
			return colon
		}
	}
	return len(line)
}

// heads reports whether the first word of a line is one that begins a table's header.
func heads(line []byte) bool {
	line = bytes.TrimLeft(line, " \t|")
	if len(line) == 0 || !letter(line[0]) && line[0] < 0x80 {
		return false
	}
	if line[0] >= 0x80 { // a box
		i := bytes.IndexFunc(line, func(r rune) bool { return r < 0x80 && letter(byte(r)) })
		if i < 0 {
			return false
		}
		line = line[i:]
	}
	i := 0
	for letter(at(line, i)) || at(line, i) == '_' {
		i++
	}
	if c := at(line, i); c != ' ' && c != '\t' && c != '|' {
		return false
	}
	if next := bytes.TrimLeft(line[i:], " \t|"); i > len("global_step") || len(next) == 0 || !letter(next[0]) && next[0] < 0x80 {
		return false
	}
	switch strings.ToLower(string(line[:i])) {
	case "epoch", "iter", "iteration", "step", "round", "global_step", "class":
		return true
	}
	return false
}

// split cuts a line at |, tabs and blanks: at two or more of them if the columns' names may have several words.
func (t *table) split(line []byte, wide bool) {
	t.fields = t.fields[:0]
	start, gap := -1, 0
	for i := 0; i <= len(line) && len(t.fields) < mostColumns; i++ {
		c := at(line, i)
		bar := c == '|' || c == '\t' || i == len(line) || c == 0xe2 && at(line, i+1) >= 0x94 && at(line, i+1) <= 0x95
		switch {
		case bar || c == ' ' && (!wide || at(line, i+1) == ' '):
			if start >= 0 {
				t.fields = append(t.fields, line[start:i-gap])
			}
			start, gap = -1, 0
			if c == 0xe2 {
				i += 2
			}
		case c == ' ':
			if start >= 0 {
				gap++
			}
		case start < 0:
			start, gap = i, 0
		default:
			gap = 0
		}
	}
}

// row reads a line of numbers under the header into p, and reports whether it is one.
func (t *table) row(line []byte, p *pairs) bool {
	if len(t.columns) == 0 {
		return false
	}
	bar := beforeBar(line)
	if t.split(line[:bar], false); len(t.fields) != len(t.columns) {
		return false
	}
	if c := t.fields[0][0]; !digit(c) && (t.first != partial || string(t.fields[0]) != "all") {
		return false
	}
	p.read(line[bar:])
	n, m := p.n, p.m
	p.clear()
	if n == n && n < m { // not all of the epoch yet
		return true
	}
	for i, f := range t.fields {
		if !p.cell(i == 0 && t.first != partial, t.columns[i], f) {
			p.clear()
			return false
		}
	}
	if n == n && t.first == epochs {
		p.n, p.m = n, m
	}
	p.strong = true
	return true
}

// cell reads a column of a row, and reports whether a number, a time or nothing stands there.
func (p *pairs) cell(first bool, k *name, text []byte) bool {
	p.line = text
	p.tokens = scan(p.tokens, text)
	if len(p.tokens) == 0 || p.tokens[0].kind == word {
		return !first
	}
	t := p.tokens[0]
	of, _ := p.total(0)
	switch {
	case t.kind != number:
		return !first && (t.kind == junk || t.char == '-')
	case first && k.class == epochs:
		p.epoch, p.epochs = t.v, of
	case first:
		p.step, p.steps = t.v, math.NaN()
	case t.unit && !k.rate || k.class == ignored || k.class == partial:
	case k.class == epochs && p.epoch != p.epoch:
		p.epoch = t.v
	case k.class == steps && p.step != p.step:
		p.step = t.v
	case k.class == other || k.class == metric:
		if t.percent && k.share {
			t.v /= 100
		}
		p.values = append(p.values, reading{name: k, v: t.v, mean: math.NaN()})
	}
	return true
}
