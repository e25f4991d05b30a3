package shape

import (
	"bytes"
	"errors"
	"strings"

	"newtop/trainer/logs"
)

// Pattern is how the user says that a line is read: "iter {step} loss {loss}". In braces stands what a number is: the
// name of its metric, or of what it counts, as step, epoch, batch or total_steps, or elapsed seconds. {} passes over a
// number or a word. A blank stands for any blanks, beside a sign for none too; {{ and }} are braces.
type Pattern struct {
	text   string
	pieces []piece
}

// piece is the text before a hole and the hole; the last may have none.
type piece struct {
	text string
	hole bool
	skip bool
	name *name
	time logs.Axis // that passes, Metric if none does
	stop byte      // that follows the hole; 0: a blank, or the end
}

// ParsePattern reads a pattern. Its errors are what was expected, in one line.
func ParsePattern(text string) (*Pattern, error) {
	p := &Pattern{text: text}
	var before []byte
	named := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\t' {
			c = ' '
		}
		n, rest := len(before), text[i+1:]
		switch {
		case c == '}' && !strings.HasPrefix(rest, "}"):
			return nil, errors.New("}} for the sign }")
		case c == '}', c == '{' && strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "{}"):
			before = append(before, c)
			i++
		case c != '{':
			if c != ' ' || n == 0 && len(p.pieces) > 0 || n > 0 && before[n-1] != ' ' {
				before = append(before, c)
			}
		default:
			word, _, closed := strings.Cut(rest, "}")
			switch i += len(word) + 1; {
			case !closed || strings.Contains(word, "{"):
				return nil, errors.New("} after {" + word)
			case n == 0 && len(p.pieces) > 0:
				return nil, errors.New("a blank or a sign before {" + word + "}")
			case word != "" && strings.Contains(text[:i-len(word)], "{"+word+"}"):
				return nil, errors.New("{" + word + "} once")
			}
			named = named || word != ""
			p.pieces = append(p.pieces, newPiece(string(before), word))
			before = before[:0]
		}
	}
	if !named {
		return nil, errors.New("names of numbers in braces, as 'iter {step} loss {loss}'; {} passes over one")
	}
	if rest := strings.TrimRight(string(before), " "); rest != "" {
		p.pieces = append(p.pieces, piece{text: rest})
	}
	for i := range p.pieces[1:] {
		if next := p.pieces[i+1].text; next[0] != ' ' {
			p.pieces[i].stop = next[0]
		}
	}
	return p, nil
}

func newPiece(before, word string) piece {
	h := piece{text: before, hole: true, skip: word == "", name: newName(word)}
	if h.name.axis == noAxis {
		h.name.key = word
		if a := logs.AxisOf(word); a == logs.Wall || a == logs.Elapsed {
			h.time = a
		}
	}
	return h
}

// String returns the pattern as it was given.
func (p *Pattern) String() string { return p.text }

// fits reports where in a line the pattern begins, and puts the numbers of its holes into values. One that begins with
// a hole begins with the line, any other at a word.
func (p *Pattern) fits(s []byte, c *scanner, values []token) (begin int, found []token) {
	first := &p.pieces[0]
	if first.text == "" || first.text == " " {
		found = p.at(s, 0, c, values)
		return 0, found
	}
	for i := 0; i < len(s); i++ {
		n := bytes.IndexByte(s[i:], first.text[0])
		if n < 0 {
			return 0, nil
		}
		i += n
		if i > 0 && inWord(s[i]) && inWord(s[i-1]) {
			continue
		}
		if found = p.at(s, i, c, values); found != nil {
			return i, found
		}
	}
	return 0, nil
}

func inWord(c byte) bool { return letter(c) || digit(c) || c == '_' }

// at matches the pattern with what stands in a line from i on; nil: it does not fit.
func (p *Pattern) at(s []byte, i int, c *scanner, values []token) []token {
	values = values[:0]
	for k := range p.pieces {
		h := &p.pieces[k]
		for j := 0; j < len(h.text); j++ {
			if h.text[j] != ' ' {
				if at(s, i) != h.text[j] {
					return nil
				}
				i++
				continue
			}
			start := i
			if i = pastBlanks(s, i); i == start && i > 0 && inWord(s[i-1]) && inWord(at(s, i)) {
				return nil
			}
		}
		if !h.hole {
			break
		}
		i = pastBlanks(s, i)
		t := token{a: i}
		if !h.fill(&t, s, c) {
			return nil
		}
		if i = t.b; h.stop != 0 && at(s, t.end) == h.stop {
			i = t.end
		}
		values = append(values, t)
	}
	return values
}

func pastBlanks(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// fill reads the number or word of a hole.
func (h *piece) fill(t *token, s []byte, c *scanner) bool {
	end := len(s)
	if h.stop != 0 && (h.skip || bytes.IndexByte([]byte("+-.%eE"), h.stop) < 0) {
		n := bytes.IndexByte(s[t.a:], h.stop)
		if n < 0 {
			return false
		}
		end = t.a + n
	}
	if h.skip {
		t.b = t.a
		for t.b < end && (s[t.b] != ' ' && s[t.b] != '\t' || h.stop != 0) {
			t.b++
		}
		t.end = t.b
		return t.b > t.a
	}
	if t.a >= end || !startsNumber(s[:end], t.a) && notFinite(s[t.a:end]) == 0 {
		return false
	}
	c.number(t, s[:end])
	return t.kind == number
}

// matcher reads lines by the patterns of the user.
type matcher struct {
	Options
	traces  []*trace // of each, for Explain
	values  []token  // that the newest pattern that fitted found
	numbers scanner
}

// Configure says how lines are read, before the first.
func (m *matcher) Configure(o Options) {
	m.Options = o
	m.traces = make([]*trace, len(o.Patterns))
}

// Claims reports whether a pattern of the user's fits a line.
func (m *matcher) Claims(line []byte) bool {
	for _, q := range m.Patterns {
		if _, found := q.fits(line, &m.numbers, m.values); found != nil {
			return true
		}
	}
	return false
}

// match finds the first pattern that fits a line, as it was printed or without its prefix, and returns its index, none
// if none does, with the text that its values are of. free says that it is the pattern that tells what stands where the
// prefix does.
func (m *matcher) match(text, body []byte) (i int, line []byte, free bool) {
	prefixed := len(text) - len(body)
	for i, q := range m.Patterns {
		begin, found := q.fits(text, &m.numbers, m.values)
		if found != nil {
			m.values = found
			return i, text, begin < prefixed
		}
		if prefixed > 0 {
			if _, found = q.fits(body, &m.numbers, m.values); found != nil {
				m.values = found
				return i, body, false
			}
		}
	}
	return none, nil, false
}

// place says where the line belongs.
func (m *matcher) place(q *Pattern, line []byte, f *found) {
	for i := range m.values {
		v := m.values[i].count(line)
		switch a := q.pieces[i].name.axis; {
		case q.pieces[i].skip || a == noAxis || !(v >= 0 && v < 1<<53):
		case a == epoch:
			f.epoch = v
		case a == total || a == plural:
			f.steps = v
		default:
			f.step, f.within, f.global = v, a == batch, a == global
		}
	}
	if f.steps == f.steps && f.step != f.step {
		f.epochs, f.steps = f.steps, f.step
	}
}

// Suggest writes a pattern for a line that is columns of numbers without a name, empty if it is none.
func Suggest(line []byte) string {
	var c scanner
	c.scan(line)
	var b strings.Builder
	for i := range c.tokens {
		t := &c.tokens[i]
		if i > 0 && t.gap {
			b.WriteByte(' ')
		}
		switch {
		case t.kind == word || b.Len() > 60:
			return ""
		case t.kind == mark:
			b.WriteByte(t.char)
			continue
		case i == 0 && t.kind == number && t.whole && len(c.tokens) > 1:
			b.WriteString("{step}")
		case !strings.Contains(b.String(), "{loss}") && t.kind == number:
			b.WriteString("{loss}")
		default:
			b.WriteString("{}")
		}
	}
	if text := b.String(); strings.Contains(text, "{loss}") {
		return text
	}
	return ""
}
