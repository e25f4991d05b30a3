// Package text reads the numbers that training programs print: key value, key=value and key: value pairs, progress bars,
// tables with a header, and Python dicts.
//
// A number becomes a metric only where it looks like one. Its name is a word that the field knows, as loss; or the line
// says which step or epoch it is about; or the same names come again. Times, sizes and numbers with units are no metrics.
// 93% is 0.93 where the name says an accuracy or an error, else 93. Deviations (+0.01) and means in brackets are dropped.
package text

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"newtop/trainer/logs"
)

// Parser reads lines of text. It is made by New.
type Parser struct {
	terminal terminal
	pairs    pairs
	place    place
	table    table
	dict     dict
	row      logs.Row
	held     held
	seen     map[uint64]bool // the names on lines that say neither a step nor a known metric
	rank     float64         // the lowest that wrote
	labelled bool            // N: before a line is a rank
	part     string          // of the line before, which ended with it: Test Error:
	passPart string          // of the newest pass through rows for testing
	full     float64         // the m of the newest finished epoch, NaN while one goes on
	told     float64         // the total that the sink knows
	drawn    bool            // what stood on the line before told a step
	shown    logs.Sink       // of the line that is being read
}

var _ logs.Parser = (*Parser)(nil)

// New returns a parser that has read nothing.
func New() *Parser {
	p := &Parser{place: newPlace(), rank: math.Inf(1), full: math.NaN(), seen: make(map[uint64]bool)}
	p.row.Clear()
	p.held.row.Clear()
	return p
}

// Line reads a line. It never returns an error: what is no number is the console's.
func (p *Parser) Line(line []byte, to logs.Sink) error {
	line = bytes.TrimRight(line, "\r \t") // a terminal's lines end with \r\n
	text := line
	if p.drawn = false; !plain(line) {
		p.shown = to
		text = p.terminal.play(line, p.redrawn)
		p.shown = nil
	}
	p.dict.near--
	p.state(text, true, to)
	if !utf8.Valid(text) {
		to.Line(strings.ToValidUTF8(string(text), "\uFFFD"))
	} else {
		to.Line(string(text))
	}
	return nil
}

// Flush gives the newest state of a progress bar.
func (p *Parser) Flush(to logs.Sink) { p.release(to) }

// redrawn reads a state of the line that was written over.
func (p *Parser) redrawn(text []byte) { p.state(text, false, p.shown) }

// state reads what stands on the line; last: nothing was written over it.
func (p *Parser) state(text []byte, last bool, to logs.Sink) {
	body, rank := p.pairs.prefix(text)
	if rank >= 0 && !p.lowest(rank) {
		return
	}
	if p.brackets(body, last, to) || len(body) == 0 {
		return
	}
	if last {
		if p.table.row(body, &p.pairs) {
			p.tell(to)
			return
		}
		if p.table.header(body) {
			return
		}
	}
	p.pairs.read(body)
	f := &p.pairs.found
	if f.lead == f.lead {
		p.labelled = p.labelled || f.counts() && len(f.values) > 0
		switch {
		case !p.labelled:
			f.step, f.leads = f.lead, true
		case !p.lowest(f.lead):
			return
		}
	}
	switch {
	case last:
		f.bar = f.bar || p.drawn && f.counts()
	case !f.counts():
		return
	default:
		p.drawn, f.bar = true, true
	}
	p.tell(to)
}

func (p *Parser) lowest(rank float64) bool {
	p.rank = min(p.rank, rank)
	return rank == p.rank
}

// tell decides what of the found numbers is a row, and gives it or holds it back.
func (p *Parser) tell(to logs.Sink) {
	f := &p.pairs.found
	part := p.part
	p.part = ""
	if len(f.values) == 0 {
		p.heading(f, to)
		return
	}
	if !f.counts() && !f.strong && !p.again(f.id) {
		return
	}
	if f.finished && f.n == f.n {
		if !p.finished(f) {
			return
		}
	}
	if !f.eval && !f.bar {
		p.release(to)
	}
	r := &p.row
	r.Clear()
	r.Step, r.Epoch = p.place.move(f)
	if f.eval {
		p.passPart = f.part
	} else if p.pairs.is(0, '*') { // ImageNet's summary of the pass: * Acc@1 76.1
		part = p.passPart
	}
	for i := range f.values {
		v := &f.values[i]
		if v.part == "" {
			v.part = part
		}
		x := v.v
		if f.eval && v.mean == v.mean {
			x = v.mean
		}
		if key := v.under(v.part); !slices.ContainsFunc(r.Values, func(o logs.Value) bool { return o.Key == key }) {
			r.Add(key, x)
		}
	}
	if f.eval || f.bar {
		p.hold(f.eval, f.finished, to)
		return
	}
	p.give(r, to)
}

// heading takes what a line without values says of those that follow.
func (p *Parser) heading(f *found, to logs.Sink) {
	switch {
	case f.bar && f.n == f.n && f.m == f.m && p.pairs.tokens[0].percent:
		p.dict.bar(f.n, f.m)
	case f.leads && (f.epoch == f.epoch || f.step == f.step):
		p.release(to)
		p.place.move(f)
		p.full = math.NaN()
	case !f.counts() && f.part != "" && len(p.pairs.tokens) <= 4:
		p.part = f.part
	}
}

// again reports whether the names of a line came before, and remembers them.
func (p *Parser) again(id uint64) bool {
	if p.seen[id] {
		return true
	}
	if len(p.seen) >= 1024 {
		clear(p.seen)
	}
	p.seen[id] = true
	return false
}

// finished says whether a line that counts when it is full does so. A full one after that of an epoch, and before the next
// epoch begins, is of a test.
func (p *Parser) finished(f *found) bool {
	if f.epoch == f.epoch || f.n < f.m {
		return f.n == f.m
	}
	if p.full == p.full && (f.m != p.full || f.dashes) {
		for i := range f.values {
			f.values[i].part = "test"
		}
		f.eval = true
		return true
	}
	p.full = f.m
	return true
}

// give gives the row to the sink, after what is new of the run.
func (p *Parser) give(r *logs.Row, to logs.Sink) {
	if n := p.place.ahead(); n > 0 && n != p.told {
		p.told = n
		to.Info(logs.Info{Steps: n})
	}
	to.Row(r)
}

// Sniff reports whether the beginning of a file may be text with numbers in it.
func Sniff(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for i := 0; i < utf8.UTFMax && len(head) > 0; i++ { // the last character may be cut
		if r, n := utf8.DecodeLastRune(head); r != utf8.RuneError || n > 1 {
			break
		}
		if i == utf8.UTFMax-1 {
			return false
		}
		head = head[:len(head)-1]
	}
	if !utf8.Valid(head) {
		return false
	}
	digits := bytes.ContainsAny(head, "0123456789")
	for _, c := range head {
		if c < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\a\x1b", rune(c)) {
			return false
		}
	}
	return digits
}
