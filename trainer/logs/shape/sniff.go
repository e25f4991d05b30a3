package shape

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"newtop/trainer/logs"
	"newtop/trainer/logs/jsontext"
)

// Kind is what the beginning of a file shows it to be.
type Kind uint8

// The kinds.
const (
	Nothing  Kind = iota
	Text          // lines that a program printed, with numbers
	Table         // rows of cells with a separator, below a header
	Objects       // lines of JSON objects
	Document      // one JSON document, perhaps cut
)

// heard counts what a parser gives.
type heard struct {
	logs.Nobody
	rows, words int
}

func (c *heard) Row(*logs.Row)  { c.rows++ }
func (c *heard) Info(logs.Info) { c.words++ }
func (c *heard) Line([]byte)    { c.words++ }

// Look says what a file is that begins so. Its last line may be torn.
func Look(head []byte) Kind {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	const few = firstLines / 10 // show rows of fields
	if k := look(head, few); k == Objects || k == Table {
		return k
	}
	return look(head, firstLines)
}

// look says what the first lines show.
func look(head []byte, most int) Kind {
	p, c, lines := New(), new(heard), 0
	for rest := head; len(rest) > 0 && lines < most; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		rest = after
		line = bytes.TrimSpace(line)
		if len(line) > 0 && (whole || line[0] == '{' && jsontext.Whole(line)) {
			lines++
			p.Line(line, c)
		}
	}
	p.Flush(c)
	f := p.fields
	switch {
	case lines == 1 && f.listed && !p.votes.axis: // lists of values, not a row's
		return Document
	case lines == 1 && f.given > 0 && (bytes.Contains(head, []byte(`{"0":`)) ||
		c.rows == 0 && bytes.Contains(head, []byte("[{"))): // as pandas writes one
		return Document
	case c.rows+c.words > 0 && 2*f.given > lines && f.table.columns == nil:
		return Objects
	case f.table.columns != nil && 2*f.given >= lines, len(f.table.before) > 0 && lines == 1 &&
		f.counts(f.table.before):
		return Table
	case document(head):
		return Document
	case Sniff(head):
		return Text
	}
	return Nothing
}

// counts reports whether a header names a counter.
func (r *fieldReader) counts(line []byte) bool {
	names, _ := titles(line)
	for _, name := range names {
		if f := r.of(&r.root, []byte(name)); f.axis > total {
			return true
		}
	}
	return false
}

// document reports whether a text is the beginning of a JSON object or list that holds an object or lists. What has no
// line end yet may be the first line of many.
func document(head []byte) bool {
	s := jsontext.New(head)
	if c := s.Peek(); c != '{' && c != '[' || bytes.IndexByte(head, '{') < 0 {
		return false
	}
	whole := s.Skip(0) && s.End()
	return whole || s.Torn() && (bytes.IndexByte(head, '\n') >= 0 || len(head) >= 1<<16)
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
