package shape

import (
	"bytes"
	"unicode/utf8"

	"newtop/trainer/logs"
)

const (
	maxJoined     = 60 // lines
	maxJoinedText = 1 << 14
)

// join puts the lines of a Python dict together that is not closed on its first.
type join struct {
	text  []byte
	lines int // 0: no dict is open
}

// add returns the line, or the whole dict with its last line; done is false while the dict goes on.
func (j *join) add(line []byte) (whole []byte, done bool) {
	if j.lines == 0 {
		i := bytes.IndexByte(line, '{')
		if i < 0 {
			return line, true
		}
		rest := bytes.TrimLeft(line[i+1:], " \t")
		if len(rest) == 0 && i > 0 || len(rest) > 0 && rest[0] != '\'' && rest[0] != '"' || closes(line[i:]) {
			return line, true
		}
		j.text, j.lines = append(j.text[:0], line...), 1
		return nil, false
	}
	if len(bytes.Trim(line, "0123456789.,+-e:[]{} \t")) > 0 && !bytes.ContainsAny(line, `'"}`) {
		j.lines = 0
		return line, true
	}
	j.text = append(append(j.text, ' '), line...)
	if j.lines++; closes(j.text[bytes.IndexByte(j.text, '{'):]) {
		j.lines = 0
		return j.text, true
	}
	if j.lines >= maxJoined || len(j.text) > maxJoinedText {
		j.lines = 0
	}
	return nil, false
}

// closes reports whether the brace that opens the text is closed in it.
func closes(s []byte) bool {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}

var namespace = []byte("Namespace(")

// arguments reads a line of argparse, or a long one of settings, and reports whether it is one.
func arguments(line []byte, to logs.Sink) bool {
	if i := bytes.Index(line, namespace); i >= 0 {
		inform(line[i+len(namespace):], to)
		return true
	}
	if bytes.Count(line, []byte("=")) < 8 {
		return false
	}
	start := bytes.LastIndexByte(line[:bytes.IndexByte(line, '=')], ' ') + 1
	pairs, words := 0, 0
	for pair := range bytes.SplitSeq(line[start:], []byte(", ")) {
		name, value, ok := bytes.Cut(pair, []byte("="))
		if !ok || bytes.IndexByte(name, ' ') >= 0 {
			return false
		}
		if pairs++; len(value) > 0 && letter(value[0]) && notFinite(value) == 0 {
			words++
		}
	}
	if words < 2 || pairs < 8 {
		return false
	}
	inform(line[start:], to)
	return true
}

// inform gives what follows an open bracket as the run's settings.
func inform(text []byte, to logs.Sink) {
	config := make(map[string]any)
	fields(text, "", 0, func(k string, v any) { config[k] = v })
	if len(config) > 0 {
		to.Info(logs.Info{Config: config})
	}
}

// wideSigns are the full-width signs that stand for ASCII ones.
var wideSigns = map[rune]byte{'：': ':', '，': ',', '（': '(', '）': ')', '＝': '=', '％': '%'}

// ascii writes full-width signs as ASCII, and the bars of a box as | where one begins the line.
func ascii(s []byte) []byte {
	wide := byte(0)
	for _, c := range s {
		wide |= c
	}
	if wide < utf8.RuneSelf {
		return s
	}
	head := bytes.TrimLeft(s, " ")
	first, _ := utf8.DecodeRune(head)
	box := first == '│' || first == '┃' || first == '║'
	var out []byte
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		sign, ok := wideSigns[r]
		if box && (r == '│' || r == '┃' || r == '║') {
			sign, ok = '|', true
		}
		if ok && out == nil {
			out = append(make([]byte, 0, len(s)), s[:i]...)
		}
		switch {
		case ok:
			out = append(out, sign)
		case out != nil:
			out = append(out, s[i:i+n]...)
		}
		i += n
	}
	if out == nil {
		return s
	}
	return out
}

// ruled reports whether a line only separates others.
func ruled(s []byte) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		if !(r >= 0x2500 && r < 0x2580) && (r >= utf8.RuneSelf || bytes.IndexByte([]byte("-=+|:#* \t"), byte(r)) < 0) {
			return false
		}
		i += n
	}
	return true
}
