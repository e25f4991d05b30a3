package jsonlog

import (
	"bytes"

	"newtop/trainer/logs"
)

// Sniff reports whether a file that begins so has lines for a Parser. The last line may be torn. A list that no line end
// follows is taken for a document.
func Sniff(head []byte) bool {
	p, seen := New(), counter(0)
	others := 0
	for range 200 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if !whole && bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
			break
		}
		if err := p.Line(line, &seen); err != nil {
			others++
			if !whole {
				others--
				if seen == 0 && others == 0 && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && len(p.row.Values) > 0 {
					seen++ // the first line is longer than what is known of it
				}
			}
		}
		if head = rest; len(head) == 0 {
			break
		}
	}
	return int(seen) > others
}

// SniffFile reports whether a file that begins so may be a document for OpenFile.
func SniffFile(head []byte) bool {
	s := &scanner{text: bytes.TrimPrefix(head, byteOrderMark)}
	opening := s.peek()
	if opening != '{' && opening != '[' || Sniff(head) {
		return false
	}
	s.skip(0)
	s.space()
	return s.torn() // up to where it is known
}

// counter counts what a parser gives.
type counter int

func (c *counter) Row(*logs.Row)          { *c++ }
func (c *counter) Info(logs.Info)         { *c++ }
func (c *counter) Line(string)            { *c++ }
func (c *counter) End(logs.State, string) {}
