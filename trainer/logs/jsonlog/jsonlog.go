// Package jsonlog reads logs of JSON: lines of objects with numbers in them, and files that are one JSON document.
package jsonlog

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"newtop/trainer/logs"
)

var _ logs.Parser = (*Parser)(nil)

// Parser reads lines of which each is a JSON object with numbers, or a list of such objects. Keys of nested objects are
// joined by "/"; an object under "metrics" adds no word. Numbers in strings count, lists and booleans do not, and null is
// absent. An object with a name and a value is one value of that name. Objects under config, hparams, hyperparameters, args
// and params are the run's Config. An object without numbers gives its message, or itself, as a line.
type Parser struct {
	row   logs.Row
	path  []byte // of the object that is read, raw
	names map[string]name
	last  []byte // the configuration that was given
	run   string // the name that was given
	words words
}

// words is what an object says besides numbers, raw.
type words struct {
	series, variant []byte // of {"metric": …, "variant": …, "value": …}
	rank            int    // of the key that named the series
	kind, run       []byte // of trackio's lines
	title, text     []byte
	config          []byte
	begin, end      int // where the object is in the line
	strings         int // how many there are
}

// name is a key as it is given to the sink.
type name struct {
	key  string
	axis logs.Axis
}

// maxNames is how many keys are remembered.
const maxNames = 1 << 16

// New returns a parser.
func New() *Parser { return &Parser{names: make(map[string]name)} }

var errLine = errors.New(`expected a JSON object with numbers, as {"step":1,"loss":0.5}`)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Line reads an object, or a list of objects.
func (p *Parser) Line(line []byte, to logs.Sink) error {
	s := &scanner{text: bytes.TrimPrefix(line, byteOrderMark)}
	switch s.peek() {
	case 0:
		if s.torn() {
			return nil
		}
		return errLine
	case '{':
		if !p.read(s) || s.peek() != 0 || !s.torn() {
			return errLine
		}
		p.give(s.text, to)
		return nil
	case '[':
		whole := *s
		if !whole.skip(0) || whole.peek() != 0 || !whole.torn() {
			return errLine
		}
		return p.list(s, to)
	}
	return errLine
}

// list reads a list that is known to be whole.
func (p *Parser) list(s *scanner, to logs.Sink) error {
	s.at++
	for more := s.peek() == '{'; more; {
		if s.peek() != '{' || !p.read(s) {
			return errLine
		}
		p.give(s.text, to)
		more, _ = s.more(']')
	}
	if s.peek() != 0 {
		return errLine
	}
	return nil
}

// Flush does nothing: no row is held back.
func (p *Parser) Flush(logs.Sink) {}

// read reads one object into the row.
func (p *Parser) read(s *scanner) bool {
	p.row.Clear()
	p.words = words{begin: s.at}
	p.path = p.path[:0]
	ok := p.members(s, 0)
	p.words.end = s.at
	return ok
}

// members reads an object whose path is in p.path.
func (p *Parser) members(s *scanner, depth int) bool {
	s.at++
	if s.next('}') {
		return true
	}
	base := len(p.path)
	for {
		raw, ok := s.key()
		if !ok {
			return false
		}
		key := raw
		if base > 0 {
			p.path = append(append(p.path[:base], '/'), raw...)
			key = p.path
		}
		if !p.value(s, key, depth) {
			return false
		}
		p.path = p.path[:base]
		if more, ok := s.more('}'); !more {
			return ok
		}
	}
}

// value reads the value of a key.
func (p *Parser) value(s *scanner, key []byte, depth int) bool {
	switch s.peek() {
	case '"':
		raw, ok := s.quoted()
		if ok {
			p.string(key, raw, depth)
		}
		return ok
	case '{':
		switch {
		case depth == 0 && isConfig(key):
			start := s.at
			ok := s.skip(1)
			p.words.config = s.text[start:s.at]
			return ok
		case depth >= 64: // nobody names a metric so
			return s.skip(depth)
		case depth == 0 && string(key) == "metrics":
		case len(p.path) == 0:
			p.path = append(p.path, key...)
		}
		return p.members(s, depth+1)
	case '[':
		return s.skip(depth)
	case 't', 'f', 'n':
		return s.word()
	}
	v, ok := s.number()
	if ok {
		p.put(key, v)
	}
	return ok
}

func isConfig(key []byte) bool {
	switch string(key) {
	case "config", "hparams", "hyperparameters", "args", "params":
		return true
	}
	return false
}

func (p *Parser) put(key []byte, v float64) {
	n := p.name(key)
	p.row.SetAs(n.axis, n.key, v)
}

// name returns the name for a key as it is in the line.
func (p *Parser) name(raw []byte) name {
	n, ok := p.names[string(raw)]
	if !ok {
		n.key = logs.Clean(unquote(raw))
		n.axis = logs.AxisOf(n.key)
		if len(p.names) < maxNames {
			p.names[string(raw)] = n
		}
	}
	return n
}

// string takes a string: a word that says what the object is, a number, or a time.
func (p *Parser) string(key, raw []byte, depth int) {
	w := &p.words
	w.strings++
	if depth == 0 {
		rank := 0
		switch string(key) {
		case "metric":
			rank = 4
		case "tag":
			rank = 3
		case "key":
			rank = 2
		case "name":
			rank = 1
		case "variant":
			w.variant = raw
			return
		case "kind":
			w.kind = raw
			return
		case "run":
			w.run = raw
			return
		case "title":
			w.title = raw
			return
		case "msg", "message", "text":
			w.text = raw
			return
		case "id", "run_id", "run_name", "project", "task", "type", "version":
			return
		}
		if rank > 0 {
			if rank > w.rank {
				w.series, w.rank = raw, rank
			}
			return
		}
	}
	if v, ok := logs.ParseNumber(raw); ok {
		p.put(key, v)
	} else if a := p.name(key).axis; a == logs.Wall || a == logs.Elapsed {
		if wall, ok := logs.ParseTime(raw, time.Local); ok {
			p.row.Wall = wall
		}
	}
}

// give gives the sink what the object says.
func (p *Parser) give(text []byte, to logs.Sink) {
	w, row := &p.words, &p.row
	switch string(w.kind) {
	case "metric", "system_metric", "alert": // a line of trackio's, whose v is the format's version
		row.Values = slices.DeleteFunc(row.Values, func(v logs.Value) bool { return v.Key == "v" })
		if run := unquote(w.run); run != "" && run != p.run {
			p.run = run
			to.Info(logs.Info{Name: logs.Clean(run)})
		}
	}
	if w.series != nil {
		p.single()
	}
	if w.config != nil && !bytes.Equal(w.config, p.last) {
		if config, err := Flatten(w.config); err == nil && len(config) > 0 {
			p.last = append(p.last[:0], w.config...)
			to.Info(logs.Info{Config: config})
		}
	}
	if len(row.Values) > 0 {
		to.Row(row)
		return
	}
	said := unquote(w.text)
	switch {
	case w.title != nil && said != "":
		said = unquote(w.title) + ": " + said
	case said == "" && w.strings > 0 && w.config == nil && w.series == nil:
		said = string(text[w.begin:w.end])
	}
	for line := range strings.Lines(said) {
		to.Line(logs.Clean(line))
	}
}

// single leaves of an object with a name and a value only that.
func (p *Parser) single() {
	i := slices.IndexFunc(p.row.Values, func(v logs.Value) bool { return v.Key == "value" })
	if i < 0 {
		return
	}
	series := p.words.series
	if len(p.words.variant) > 0 {
		p.path = append(append(append(p.path[:0], series...), '/'), p.words.variant...)
		series = p.path
	}
	v := p.row.Values[i].V
	p.row.Values = append(p.row.Values[:0], logs.Value{Key: p.name(series).key, V: v})
}
