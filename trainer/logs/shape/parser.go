package shape

import (
	"bytes"
	"math"
	"unicode/utf8"

	"newtop/trainer/logs"
)

const (
	// firstLines is how many lines wait until it is decided how the log is read, and firstBytes how much text.
	firstLines = 200
	firstBytes = 1 << 20
	// maxShapes bounds the shapes that are remembered. What comes in others is read anew each time.
	maxShapes = 20_000
)

// votes is what all lines together say.
type votes struct {
	rank     float64 // the lowest that wrote
	comma    bool    // 0,5 is a half
	axis     bool    // some line has an x
	steps    bool    // some line counts steps
	labelled bool    // N: before a line is a rank
	zero     bool    // the first x is 0, where what came before would stand
	totals   bool    // a column "total" had a fraction
	pairs    fraction
	titles   map[string]*title // by metrics
	parts    map[string]*title // by metrics that the field does not know
}

func newVotes() votes {
	return votes{rank: math.Inf(1), titles: map[string]*title{}, parts: map[string]*title{}}
}

// title is of what a metric was first, and whether it is of several: the classes, the parts.
type title struct {
	first   string
	several bool
}

// fraction is how (a/b) at the start of lines moves: ranks come in turns, progress grows.
type fraction struct {
	last         float64
	lines, grown int
	less         int
	decided      bool
	ranks        bool
}

func (f *fraction) note(v float64) {
	if f.lines > 0 && v > f.last {
		f.grown++
	} else if f.lines > 0 && v < f.last {
		f.less++
	}
	f.last = v
	f.lines++
}

// decide says whether they are ranks.
func (f *fraction) decide() { f.decided, f.ranks = true, f.less > 0 || f.grown == 0 }

// opening holds the lines that wait.
type opening struct {
	text    []byte
	ends    []int
	decided bool
}

// Parser reads lines of text. It is made by New.
type Parser struct {
	matcher
	scanner  scanner
	stripper stripper
	names    names
	shapes   map[uint64]*shape
	before   *shape // of the line before
	series   collection
	terminal terminal
	votes    votes
	opening  opening
	place    place
	found    found
	table    table
	join     join
	hfSteps  trainerSteps
	row      logs.Row
	held     held
	record   record
	tally    tally
	fields   *fieldReader
	part     string  // of the lines that follow, as a heading says: Test Error:
	pass     string  // part of the newest pass through rows for testing
	full     float64 // the m of the newest finished epoch, NaN while one goes on
	drawn    bool    // a state before on this line had a place
	skip     bool    // the next line is a summary
}

var _ logs.Parser = (*Parser)(nil)

// New returns a parser that has read nothing.
func New() *Parser {
	p := &Parser{names: names{}, shapes: map[uint64]*shape{}, series: collection{}, place: newPlace(),
		full: math.NaN(), fields: &fieldReader{}}
	p.votes = newVotes()
	p.stripper.names = p.names
	p.row.Clear()
	p.held.row.Clear()
	p.record.clear()
	return p
}

// Options are what the user says of the reading of text.
type Options struct {
	Patterns []*Pattern // by which a line is read that fits one, the first that does
	Explain  bool       // keep what Explain tells
}

// Line reads a line. It never returns an error: what is no number is the console's.
func (p *Parser) Line(line []byte, to logs.Sink) error {
	line = bytes.TrimRight(line, "\r") // a terminal's lines end with \r\n
	if bytes.IndexByte(line, '\r') < 0 {
		line = bytes.TrimRight(line, " \t\r") // else blanks wipe out what stood there
	}
	if p.opening.decided {
		tell(p.read(line, to), to)
		return nil
	}
	p.opening.text = append(p.opening.text, line...)
	p.opening.ends = append(p.opening.ends, len(p.opening.text))
	if len(p.opening.ends) >= firstLines || len(p.opening.text) >= firstBytes {
		p.decide(to)
	}
	return nil
}

// tell gives the sink a line as it was printed; nil: it was numbers alone.
func tell(text []byte, to logs.Sink) {
	if text != nil {
		to.Line(text)
	}
}

// Redrawn reads the states of a line that is not at its end, all of which are written over or will be.
func (p *Parser) Redrawn(text []byte, to logs.Sink) {
	if !p.opening.decided && len(p.opening.ends) > 0 {
		p.decide(to)
	}
	p.terminal.over = true
	p.Line(text, to)
	if !p.opening.decided {
		p.decide(to)
	}
	p.terminal.over = false
	p.endRecord(to)
	p.release(to)
}

// Flush gives what waits for more lines: the first ones, the newest state of a bar, and a record.
func (p *Parser) Flush(to logs.Sink) {
	if !p.opening.decided && len(p.opening.ends) > 0 {
		p.decide(to)
	}
	giveDict(p, math.NaN(), to)
	p.endRecord(to)
	p.release(to)
}

// decide reads the first lines on trial, until what they say together holds, and then for good.
func (p *Parser) decide(to logs.Sink) {
	v := newVotes()
	var trial *Parser
	for range 2 {
		trial = New()
		trial.votes = v
		trial.opening.decided, trial.terminal.over = true, p.terminal.over
		trial.Configure(Options{Patterns: p.Patterns})
		p.opening.each(func(line []byte) { trial.read(line, logs.Nobody{}) })
		giveDict(trial, math.NaN(), logs.Nobody{})
		trial.endRecord(logs.Nobody{})
		v = trial.votes
		again := !v.comma && trial.scanner.commas > 2*trial.scanner.points
		v.comma = v.comma || again
		v.pairs.decide()
		if !again && v.rank == math.Inf(1) && v.pairs.lines == 0 {
			break
		}
	}
	p.fields = trial.fields
	p.fields.restart(&v)
	p.votes, p.scanner.comma, p.table.counted = v, v.comma, trial.table.counted
	for _, s := range trial.shapes {
		s.restart()
	}
	p.shapes = trial.shapes
	p.opening.decided = true
	p.opening.each(func(line []byte) { tell(p.read(line, to), to) })
	p.opening.text, p.opening.ends = nil, nil
}

func (f *opening) each(read func(line []byte)) {
	start := 0
	for _, end := range f.ends {
		read(f.text[start:end])
		start = end
	}
}

// read reads a line with all of its states, and returns the last one, nil for a row of fields.
func (p *Parser) read(line []byte, to logs.Sink) []byte {
	p.scanner.comma = p.votes.comma
	if again(p, line, to) {
		return line
	}
	if (len(p.Patterns) == 0 || !p.Claims(line)) && p.fields.line(p, line, to) {
		return nil
	}
	text := line
	if p.drawn = false; !plain(line) {
		text = p.terminal.play(line, func(state []byte) { p.state(state, false, to) })
	}
	if p.terminal.over {
		p.state(text, false, to)
		return nil
	}
	p.hfSteps.near--
	if cut := behindBar(text); cut > 0 {
		p.state(text[:cut], false, to)
		p.drawn = false
		p.state(text[cut:], true, to)
		return text
	}
	p.state(text, true, to)
	return text
}

// behindBar returns where a text begins that was printed on the line of a bar: 9/9 [00:24, 3it/s]loss 2.
func behindBar(text []byte) int {
	bar := bytes.Index(text, []byte("%|"))
	if bar < 0 {
		return 0
	}
	open := bytes.IndexByte(text[bar:], '[')
	if open < 0 {
		return 0
	}
	end := bytes.IndexByte(text[bar+open:], ']')
	if end < 0 {
		return 0
	}
	if cut := bar + open + end + 1; cut < len(text) && text[len(text)-1] != ']' &&
		(letter(text[cut]) || digit(text[cut]) || bytes.IndexByte([]byte("[{("), text[cut]) >= 0 ||
			text[cut] >= utf8.RuneSelf) {
		return cut
	}
	return 0
}

// otherPrograms are how lines begin that W&B and script(1) add to what a program prints.
var otherPrograms = [][]byte{[]byte("wandb: "), []byte("Script started on "), []byte("Script done on ")}

// state reads what stands on the line; last: nothing was written over it.
func (p *Parser) state(text []byte, last bool, to logs.Sink) {
	text = ascii(text)
	followDict(p, text, to)
	all := text
	if n := len(text); !last && n > 2 && text[n-2] == ' ' && bytes.IndexByte([]byte(`-\|/`), text[n-1]) >= 0 {
		text = bytes.TrimRight(text[:n-1], " ") // what turns while a line is not final
	}
	if last && (len(text) == 0 || ruled(text)) {
		p.endRecord(to)
		return
	}
	p.tally.all++
	p.tally.current = current{}
	body, x := p.stripper.strip(text)
	prefix := text[:len(text)-len(body)]
	if len(p.Patterns) > 0 && p.readMatch(p, text, body, last, &x, to) {
		return
	}
	for _, other := range otherPrograms {
		if bytes.HasPrefix(body, other) {
			return
		}
	}
	if !p.lowest(&x) {
		p.tally.note(otherRank)
		return
	}
	follows := p.table.near
	if last {
		var done bool
		if body, done = p.join.add(body); !done {
			return
		} else if arguments(body, to) {
			p.tally.note(setting)
			return
		} else if at(body, 0) == '{' && p.fields.objects(p, body, to) {
			return
		}
		if len(bytes.TrimLeft(text, " \t")) != len(body) { // what stands below one another keeps its place
			text = body
		}
	}
	if len(body) > 0 && (last || beforeBar(text) == len(text)) && p.rows(text, body[0], to) {
		return
	}
	if len(body) == 0 {
		p.endRecord(to)
		return
	}
	p.scanner.scan(body)
	s := p.shapeOf(body)
	if last && s.header {
		if p.table.own && !p.table.repeats(text) {
			p.table.part = ""
		} else if !follows {
			p.table.part = p.part
		}
		p.table.announce(text, follows)
	} else if last {
		p.table.near = follows && p.table.index(text)
	}
	if last {
		keep(p, s, all, body, &x)
	}
	p.shaped(s, prefix, body, &x, last, to)
}

// shaped reads a line of a shape, whose tokens are the scanner's.
func (p *Parser) shaped(s *shape, prefix, body []byte, x *prefix, last bool, to logs.Sink) {
	s.lines++
	if s.numbers && p.Explain {
		p.tally.follow(&s.trace, prefix, body)
		s.trace.of = s
	}
	p.interpret(s, body, x, last, to)
	switch {
	case p.tally.noted || !s.numbers:
	case last:
		p.tally.note(unclear)
	default:
		p.tally.note(barState)
	}
}

// keep makes a line the template of its shape, if what its numbers are can't decide how it is cut.
func keep(p *Parser, s *shape, text, body []byte, x *prefix) {
	if p.before != nil {
		p.before.next = s
	}
	p.before = s
	t, from := &s.like, len(text)-len(body)
	t.tokens = t.tokens[:0]
	if s.lines == 0 || p.shapes[p.scanner.hash] != s || s.header || p.fields.table.live() || p.scanner.far ||
		x.rank >= 0 || x.of > 0 || from < 0 || len(text) > maxTemplate || string(text[from:]) != string(body) ||
		!p.scanner.opens(body) {
		return
	}
	s.prefix = *x
	t.text, t.from = append(t.text[:0], text...), from
	t.tokens = append(t.tokens, p.scanner.tokens...)
}

// again reads a line that is like the template of the shape that is expected next, and reports whether it is.
func again(p *Parser, line []byte, to logs.Sink) bool {
	if p.before == nil || p.before.next == nil || len(p.Patterns) > 0 || p.fields.table.live() ||
		p.table.columns != nil || p.table.near || p.join.lines > 0 || p.hfSteps.waits {
		return false
	}
	s := p.before.next
	t := &s.like
	points, commas := p.scanner.points, p.scanner.commas
	if !p.scanner.repeat(line, t) {
		p.scanner.points, p.scanner.commas = points, commas
		return false
	}
	p.before, p.drawn = s, false
	p.hfSteps.near--
	p.tally.all++
	p.tally.current = current{}
	p.shaped(s, line[:t.from], line[t.from:], &s.prefix, true, to)
	return true
}

// lowest reports whether a line is of the lowest rank that wrote.
func (p *Parser) lowest(x *prefix) bool {
	if x.of > 0 {
		if !p.votes.pairs.decided {
			p.votes.pairs.note(x.rank)
		}
		if !p.votes.pairs.ranks {
			return true
		}
	}
	if x.rank < 0 {
		return true
	}
	p.votes.rank = min(p.votes.rank, x.rank)
	return x.rank == p.votes.rank
}

// shapeOf returns the shape of the line that was scanned.
func (p *Parser) shapeOf(body []byte) *shape {
	s := p.shapes[p.scanner.hash]
	if s == nil {
		s = p.names.read(body, p.scanner.tokens)
		s.header = heads(body, p.scanner.tokens)
		if len(p.shapes) < maxShapes {
			p.shapes[p.scanner.hash] = s
		} else {
			p.tally.beyond++
		}
	}
	return s
}

// rows reads a row of a table, whose first character but for blanks is c, and reports whether the line is one.
func (p *Parser) rows(body []byte, c byte, to logs.Sink) bool {
	t := &p.table
	if t.columns == nil && !t.near || !digit(c) && bytes.IndexByte([]byte("|-+."), c) < 0 &&
		!(c == 'a' && (t.near || t.classes)) {
		return false
	}
	end, near := beforeBar(body), t.near
	if !t.fill(body[:end]) {
		return false
	}
	if near { // a column val says nothing of the others
		p.part, p.table.own = t.part, true
	}
	if p.Explain {
		p.tally.follow(&t.trace, nil, body)
		if t.trace.of == nil {
			t.trace.of = t.header()
		}
	}
	n, m := barProgress(p.names, &p.scanner, body[end:])
	if n < m { // not all of the epoch yet
		p.tally.note(barState)
		return true
	}
	p.endRecord(to)
	p.emitCells(body, to)
	if !p.tally.noted {
		p.tally.note(unclear)
	}
	return true
}

// barProgress reads the n/m of a bar.
func barProgress(names names, c *scanner, bar []byte) (n, m float64) {
	if len(bar) > 0 {
		c.scan(bar)
		if s := names.read(bar, c.tokens); s.n != none && s.m != none {
			return c.tokens[s.n].value(bar), c.tokens[s.m].value(bar)
		}
	}
	return math.NaN(), math.NaN()
}

// Warning says in a line where the reading of the log may be wrong, and is empty where all is well.
func (p *Parser) Warning() string { return p.tally.warning() }
