package text

import "bytes"

// prefix drops what launchers and loggers put before a line: ranks, dates, levels, names of files. It returns the rank if
// it is told by a name, as [rank0]: or [default0]:, else −1; a bare number may be a step as well.
func (n *names) prefix(s []byte) (body []byte, rank float64) {
	rank = -1
	s = bytes.TrimLeft(s, " \t")
	if len(s) == 0 || letter(s[0]) && (s[0] < 'A' || s[0] > 'Z') {
		return s, rank
	}
	if r, k := namedRank(s); k > 0 {
		s, rank = s[k:], r
	} else if i := bytes.Index(s[:min(len(s), 24)], []byte(": [")); i > 0 && len(bytes.Trim(s[:i], "0123456789")) == 0 {
		if r, k := namedRank(s[i+2:]); k > 0 {
			s, rank = s[i+2+k:], r
		}
	}
	logged := false
	for range 12 {
		s = bytes.TrimLeft(s, " \t")
		k := n.loggerWord(s, logged)
		if k == 0 {
			break
		}
		s, logged = s[k:], true
	}
	return s, rank
}

// namedRank reads [NAME3]: and returns its length.
func namedRank(s []byte) (rank float64, n int) {
	if s[0] != '[' || len(s) < 3 || !letter(s[1]) && s[1] != '_' {
		return 0, 0
	}
	i := 1
	for letter(at(s, i)) || digit(at(s, i)) || s[i] == '_' {
		if i++; i == len(s) || i > 64 {
			return 0, 0
		}
	}
	j := i
	for digit(s[j-1]) {
		j--
	}
	if j == i || at(s, i) != ']' || at(s, i+1) != ':' {
		return 0, 0
	}
	return value(s[j:i], false), i + 2
}

var levels = []string{"INFO", "WARNING", "WARN", "DEBUG", "ERROR", "CRITICAL", "Info", "Warning", "Debug", "TRACE"}

// loggerWord returns the length of a piece of a logger's prefix at the start of s, 0 if there is none. After a date or a
// level there may be names, and marks between them.
func (n *names) loggerWord(s []byte, logged bool) int {
	if len(s) == 0 {
		return 0
	}
	switch c := s[0]; {
	case c == '[':
		if end := bytes.IndexByte(s[:min(len(s), 80)], ']'); end > 1 && n.aside(s[1:end]) {
			if at(s, end+1) == ':' {
				end++
			}
			return end + 1
		}
		return 0
	case c == '(':
		if end := bytes.IndexByte(s[:min(len(s), 80)], ')'); end > 0 && bytes.Contains(s[:end], []byte("pid=")) {
			return end + 1
		}
		return 0
	case digit(c):
		return clock(s)
	case (c == 'I' || c == 'W' || c == 'E') && digit(at(s, 1)) && digit(at(s, 4)):
		if end := bytes.Index(s[:min(len(s), 120)], []byte("] ")); end > 0 { // glog's I1127 10:22:26.140852 1399 file.py:48]
			return end + 2
		}
		return 0
	case logged && (c == '|' || c == '-' && at(s, 1) == ' ' || c == ':'):
		return 1
	}
	for _, l := range levels {
		if bytes.HasPrefix(s, []byte(l)) {
			if next := at(s, len(l)); next == ':' || next == ' ' && (logged || s[1] < 'a') || next == '|' || next == '\t' {
				return len(l)
			}
		}
	}
	if !logged {
		return 0
	}
	return n.loggerName(s)
}

// loggerName returns the length of the name of a logger, a file or a function: "root - ", "__main__:train:45 - ", "root:",
// "train.py:48".
func (n *names) loggerName(s []byte) int {
	i := 0
	for i < len(s) && (letter(s[i]) || digit(s[i]) || bytes.IndexByte([]byte("_.:<>"), s[i]) >= 0) {
		i++
	}
	head, tail, cut := bytes.Cut(s[:i], []byte(":"))
	if len(head) == 0 || n.telling(head) {
		return 0
	}
	last := tail[bytes.LastIndexByte(tail, ':')+1:]
	placed := cut && len(last) > 0 && len(bytes.Trim(last, "0123456789")) == 0
	switch {
	case bytes.HasPrefix(s[i:], []byte(" - ")) && (!cut || placed):
		return i + 3
	case bytes.HasSuffix(head, []byte(".py")):
		return i
	case cut && len(tail) > 0 && !digit(tail[0]): // INFO:root:
		return len(head) + 1
	case cut && len(tail) == 0 && at(s, i) > ' ':
		return i
	}
	return 0
}

// aside reports whether what stands in brackets at the start of a line says nothing of its numbers: a level, a time, the
// name of a program or a file.
func (n *names) aside(in []byte) bool {
	if hasClock(in) {
		return true
	}
	if !letter(in[0]) {
		return false
	}
	name, numbers, _ := bytes.Cut(in, []byte(" "))
	if bytes.EqualFold(name, []byte("rank")) {
		return true
	}
	return len(numbers) == 0 && !n.telling(name) && !bytes.ContainsAny(in, "=/")
}

// telling reports whether a word says something of a line's numbers, so that it is no logger's name.
func (n *names) telling(w []byte) bool { return n.of(w).class >= metric }

// hasClock reports whether hh:mm:ss stands in s.
func hasClock(s []byte) bool {
	for i := 2; i+5 < len(s); i++ {
		if s[i] == ':' && s[i+3] == ':' && digit(s[i-1]) && digit(s[i+1]) && digit(s[i+2]) && digit(s[i+4]) {
			return true
		}
	}
	return false
}

// clock returns the length of a date or a time of day at the start of s.
func clock(s []byte) int {
	if len(s) > 6 && (s[2] == '/' || s[2] == '-') && s[5] == ' ' && clock(s[6:]) > 0 { // 01/02 10:00:00
		return 5
	}
	i := 0
	for i < len(s) && i < 40 && (digit(s[i]) || s[i] == '-' || s[i] == '/' || s[i] == ':' || s[i] == '.' || s[i] == ',' && digit(at(s, i+1)) || s[i] == 'T' || s[i] == 'Z' || s[i] == '+') {
		i++
	}
	w := s[:i]
	date := len(w) >= 8 && (w[4] == '-' || w[4] == '/') && bytes.Count(w[5:], w[4:5]) >= 1 && digit(w[3])
	if date || i >= 7 && len(w) > 6 && hasClock(append([]byte("  "), w...)) {
		return i
	}
	return 0
}
