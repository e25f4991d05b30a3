package shape

import (
	"fmt"
	"sort"
	"strings"

	"newtop/trainer/logs"
)

// Explanation is what became of the lines of a log.
type Explanation struct {
	Lines   int // of text, states of bars among them
	Numbers int // that have numbers
	Causes  []Cause
	Remarks []string // what was decided over the log, in a line each
	Shapes  []Shape  // by their lines, most first
}

// Cause is why some lines with numbers gave points or did not.
type Cause struct {
	Text  string
	Lines int
}

// Shape is lines that differ in their numbers alone, or the rows of a table, or what fits a pattern.
type Shape struct {
	Kind    string // what it is, if it is not simply a line
	Example string // the first line
	Lines   int
	Causes  []Cause // empty: all gave points
	Holes   []Hole
}

// Hole is a number of a shape's example: what it is, and why.
type Hole struct{ Text, Role, Why string }

// Explain says what became of the lines that a parser read which was told to keep it.
func Explain(p *Parser) *Explanation {
	e := &Explanation{Lines: p.tally.all, Remarks: remarks(p)}
	e.Causes, e.Numbers = causes(&p.tally.lines)
	for _, t := range p.tally.traces {
		s := Shape{Example: t.prefix + t.example}
		s.Causes, s.Lines = causes(&t.lines)
		if len(s.Causes) == 1 && t.lines[given] > 0 {
			s.Causes = nil
		}
		switch of := t.of.(type) {
		case *Pattern:
			s.Kind, s.Holes = "by the pattern "+of.text, of.holes(t.example)
		case *header:
			s.Kind, s.Holes = "rows of a table", of.holes()
		case *form:
			s.Kind, s.Holes = "fields with names of their own", of.holes(p.fields.logged)
		case *shape:
			s.Kind, s.Holes = of.kind(), of.holes(p, t)
		}
		if s.Lines > 0 {
			e.Shapes = append(e.Shapes, s)
		}
	}
	sort.SliceStable(e.Shapes, func(i, j int) bool { return e.Shapes[i].Lines > e.Shapes[j].Lines })
	return e
}

// remarks are what was decided over the log as a whole.
func remarks(p *Parser) (out []string) {
	v := &p.votes
	if !v.axis {
		out = append(out, "no line says a step or an epoch: rows are counted")
	}
	if p.tally.counted > 0 {
		out = append(out, "several lines have the same epoch: lines are counted as steps")
	}
	if v.comma {
		out = append(out, "0,5 is a half: more numbers have a comma that can only be a decimal one than have a point")
	}
	if v.pairs.lines > 0 {
		out = append(out, "(n/m) before lines is "+choose(v.pairs.ranks, "a rank", "progress"))
	}
	if p.tally.lines[otherRank] > 0 {
		out = append(out, fmt.Sprintf("only what rank %v wrote is read", v.rank))
	}
	if n := p.tally.beyond; n > 0 {
		out = append(out, fmt.Sprintf("%d lines are of more shapes than are remembered: each is read anew", n))
	}
	return out
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func causes(lines *[reasons]int) (out []Cause, all int) {
	for r, n := range lines {
		if all += n; n > 0 {
			out = append(out, Cause{reasonNames[r], n})
		}
	}
	return out, all
}

// kind says what is special about a shape's lines.
func (s *shape) kind() string {
	switch {
	case s.summary:
		return "the summary of the run"
	case s.full:
		return "counts when n is m, at its epoch; else a state of a bar"
	case s.eval:
		return "progress through rows for testing: the latest counts"
	case s.bar:
		return "a bar: the latest state at each x counts"
	case s.single:
		return "of a record, whose lines have one number each"
	case len(s.readings) == 0 && s.leads:
		return "a heading: says where the lines below it belong"
	}
	return ""
}

// holes are the numbers of a shape's example. What they are the shape knows from all of its lines; why, the words say.
func (s *shape) holes(p *Parser, t *trace) (out []Hole) {
	var c scanner
	c.comma = p.votes.comma
	line := []byte(t.example)
	c.scan(line)
	said := make(notes, len(c.tokens))
	p.names.readNoting(line, c.tokens, said)
	if prefix := strings.TrimSpace(t.prefix); prefix != "" {
		role := "nothing"
		if _, x := p.stripper.strip([]byte(t.prefix + t.example)); x.rank >= 0 {
			role = fmt.Sprintf("rank %v", x.rank)
		}
		out = append(out, Hole{prefix, role, "before the line: a process, time, level or place"})
	}
	for i := range c.tokens {
		if k := &c.tokens[i]; k.kind == number {
			role, why := s.role(i, &said[i], p.votes.labelled)
			out = append(out, Hole{string(line[k.a:k.b]), role, why})
		}
	}
	return out
}

// role says what the number i of a shape is.
func (s *shape) role(i int, n *note, labelled bool) (role, why string) {
	best := none
	for k := range s.counts {
		c := &s.counts[k]
		if c.axis != epoch && (best == none || c.better(&s.counts[best])) {
			best = k
		}
	}
	for k := range s.counts {
		c := &s.counts[k]
		switch {
		case c.weak && !c.climbs():
		case c.pair() && c.at == i:
			return "x epoch", "what is behind it grows within it"
		case c.pair() && c.of == i:
			return "x step", "it grows within the epoch before it"
		case c.of == i:
			return "length", "how many there will be"
		case c.at != i:
		case c.weak:
			return "x step", c.why(n.word, s.lines) + ", and a value stands beside it"
		case c.axis == epoch:
			return "x epoch", c.why(n.word, s.lines)
		case k != best:
			return "nothing", c.why(n.word, s.lines) + "; another number is the step"
		case c.rests() && c.axis <= batch && c.of == none:
			return "nothing", c.why(n.word, s.lines) + ": a size or a length"
		case c.within:
			return "x step", c.why(n.word, s.lines) + "; within the epoch"
		default:
			return "x step", c.why(n.word, s.lines)
		}
	}
	for k := range s.readings {
		v := &s.readings[k]
		at := v.at
		if v.beside > 0 && s.weakClimbs() {
			at = v.beside
		}
		switch i {
		case at:
			key := v.key(v.part)
			if v.last != nil {
				key = v.last.key
			}
			return "metric " + key, choose(n.word == key || n.word == "", "", fmt.Sprintf("%q", n.word))
		case v.of:
			return "divisor", "of the number before it"
		case v.mean:
			return "mean", "of the number before it"
		case v.spread:
			return "deviation", "of the number before it"
		}
	}
	switch {
	case i == s.lead && labelled:
		return "rank", "before lines that say another x"
	case i == s.lead && len(s.readings) > 0:
		return "x step", "a number before the line"
	case i == s.m:
		return "length", "how many there will be"
	case i == s.n && (s.full || s.eval || s.named):
		return "nothing", "how far a bar is"
	case i == s.n && best == none:
		return "x step", "n of m"
	case i == s.n:
		return "nothing", "n of m; another number is the step"
	case n.why != "" && n.word != "":
		return "nothing", fmt.Sprintf("%q: %s", n.word, n.why)
	case n.why != "":
		return "nothing", n.why
	}
	return "nothing", "no name before it"
}

// why says why a counter is one, and how it moved.
func (c *count) why(word string, lines int) string {
	how := fmt.Sprintf("grew on %d %% of its lines", 100*c.grown/max(c.lines-1, 1))
	switch {
	case lines < 2:
		how = "one line"
	case c.grown == 0 && c.less == 0:
		how = "stood still"
	case c.grown >= c.lines-2: // the first lines were read twice
		how = "grew on every line"
	}
	if word == "" {
		return how
	}
	return fmt.Sprintf("%q, %s", word, how)
}

// holes are the columns of a table with the first row.
func (t *header) holes() (out []Hole) {
	for i, k := range t.columns {
		h := Hole{t.titles[i], "metric " + k.key, ""}
		switch {
		case i == t.x:
			h.Role, h.Why = choose(k.axis == epoch, "x epoch", "x step"), "the best counter among the columns"
		case k.class == counter:
			h.Role, h.Why = "nothing", "a counter; another column is x"
		case k.class == ignored:
			h.Role, h.Why = "nothing", "no word of a metric"
		}
		out = append(out, h)
	}
	return out
}

// form is the fields of a row, for Explain.
type form struct {
	fields []*field
	best   *field // that is the step
}

// holes are the numbers of a row.
func (o *form) holes(logged bool) (out []Hole) {
	for _, f := range o.fields {
		h := Hole{f.raw, "metric " + f.key, ""}
		switch {
		case f == o.best:
			h.Role, h.Why = "x step", f.moves.why("", f.rows)
		case f.axis == epoch || f.epochs && f.moves.grown > 0:
			h.Role, h.Why = "x epoch", f.moves.why("", f.rows)
		case f.role == counting && (f.length || f.axis == plural) && f.moves.grown == 0:
			h.Role, h.Why = "length", "stood still"
		case f.role == counting && !f.broken && (f.axis == batch || f.raw == "" || f.moves.grown == 0):
			h.Role, h.Why = "nothing", "a counter; another number is x, or it stood still"
		case f.role == timing:
			h.Role = "time"
		case f.role == ranking:
			h.Role = "rank"
		case f.role == saying || f.logger && logged:
			h.Role, h.Why = "nothing", "of the logger"
		}
		out = append(out, h)
	}
	return out
}

// holes are those of a pattern with its first line.
func (p *Pattern) holes(line string) (out []Hole) {
	var c scanner
	_, found := p.fits([]byte(line), &c, nil)
	for i := range found {
		h := Hole{Text: line[found[i].a:found[i].b], Role: "nothing", Why: "passed over"}
		switch k := p.pieces[i].name; {
		case p.pieces[i].skip:
		case k.axis == epoch:
			h.Role, h.Why = "x epoch", "as given"
		case k.axis == total || k.axis == plural:
			h.Role, h.Why = "length", "as given"
		case k.axis != noAxis:
			h.Role, h.Why = "x step", "as given"
		case p.pieces[i].time != logs.Metric:
			h.Role, h.Why = "time", "as given"
		default:
			h.Role, h.Why = "metric "+k.key, "as given"
		}
		out = append(out, h)
	}
	return out
}
