package shape

import (
	"bytes"
	"strconv"
)

// prefix is what stands before a line: which process wrote it, and for which part of the rows.
type prefix struct {
	rank float64 // −1: not said
	of   float64 // of how many, where (0/8) says it
	part string
}

// stripper drops what launchers and loggers write before a line.
type stripper struct {
	names names
	pids  map[string]float64 // processes in the order in which they appeared
}

// maxPids bounds the processes that are remembered.
const maxPids = 1 << 16

// strip returns what a line says itself, without ranks, dates, levels, names of loggers and places in programs.
func (p *stripper) strip(s []byte) ([]byte, prefix) {
	x := prefix{rank: -1}
	logged := false
	for range 16 {
		s = bytes.TrimLeft(s, " \t")
		n := p.rank(s, &x)
		if n == 0 {
			n = p.piece(s, logged, &x)
			logged = logged || n > 0
		}
		if n == 0 {
			break
		}
		s = s[n:]
	}
	return s, x
}

// rankWords name processes, before their number.
var rankWords = set("rank gpu default worker node process proc replica host")

// rank reads what says which process wrote the line, and returns its length.
func (p *stripper) rank(s []byte, x *prefix) int {
	if len(s) < 3 {
		return 0
	}
	switch c := s[0]; {
	case c == '[':
		end := bytes.IndexByte(s[:min(len(s), 64)], ']')
		if end < 2 {
			return 0
		}
		in, after := s[1:end], s[end+1:]
		if bytes.HasPrefix(after, []byte("<std")) { // mpirun's [1,0]<stdout>:
			if comma := bytes.IndexByte(in, ','); comma > 0 {
				x.rank = digits(in[comma+1:])
				return end + 1 + bytes.IndexByte(after, ':') + 1
			}
		}
		colon := at(after, 0) == ':'
		if r, n := numbered(in, colon); n > 0 && (n == len(in) || in[n] == '/') {
			x.rank = r
			if colon {
				end++
			}
			return end + 1
		}
	case c == '(':
		end := bytes.IndexByte(s[:min(len(s), 80)], ')')
		if end < 0 {
			return 0
		}
		if i := bytes.Index(s[:end], []byte("pid=")); i > 0 {
			x.rank = p.pid(s[i+4 : end])
			return end + 1
		}
		a, b, ok := bytes.Cut(s[1:end], []byte("/"))
		if r, of := digits(a), digits(b); ok && r >= 0 && of > 0 {
			x.rank, x.of = r, of
			return end + 1
		}
	case letter(c):
		r, n := numbered(s[:min(len(s), 40)], false)
		if n == 0 {
			return 0
		}
		rest := bytes.TrimLeft(s[n:], " ")
		if len(rest) > 1 && bytes.IndexByte([]byte(":|,-"), rest[0]) >= 0 && (rest[1] == ' ' || rest[0] == '|') {
			x.rank = r
			return len(s) - len(rest) + 1
		}
	}
	return 0
}

// numbered reads a word for a process with its number, or, if any is set, any word: rank0, Rank 0, RANK:0, rank=1.
func numbered(s []byte, any bool) (rank float64, n int) {
	i := 0
	for letter(at(s, i)) || at(s, i) == '_' {
		i++
	}
	var low [16]byte
	if i == 0 || i > len(low) && !any {
		return 0, 0
	}
	if n := copy(low[:], s[:i]); !any {
		for j := range low[:n] {
			low[j] |= 0x20
		}
		if !rankWords[string(low[:n])] && string(s[:i]) != "local_rank" {
			return 0, 0
		}
	} else if axes[string(s[:i])] != noAxis { // [batch=1/4800]:
		return 0, 0
	}
	if any {
		for letter(at(s, i)) || at(s, i) == '_' || digit(at(s, i)) && !digit(at(s, len(s)-1)) {
			i++
		}
	}
	if c := at(s, i); c == ' ' || c == ':' || c == '=' || c == '-' {
		i++
	}
	end := i
	for digit(at(s, end)) {
		end++
	}
	if end == i {
		return 0, 0
	}
	return digits(s[i:end]), end
}

// digits is the number that a text of digits alone is, else −1.
func digits(s []byte) float64 {
	if len(s) == 0 || len(s) > 9 || len(bytes.Trim(s, "0123456789")) > 0 {
		return -1
	}
	n, _ := strconv.Atoi(string(s))
	return float64(n)
}

// pid numbers a process.
func (p *stripper) pid(s []byte) float64 {
	n := 0
	for digit(at(s, n)) {
		n++
	}
	if r, ok := p.pids[string(s[:n])]; ok {
		return r
	}
	if p.pids == nil {
		p.pids = map[string]float64{}
	}
	r := float64(len(p.pids))
	if len(p.pids) < maxPids {
		p.pids[string(s[:n])] = r
	}
	return r
}

var levels = [][]byte{[]byte("INFO"), []byte("WARNING"), []byte("WARN"), []byte("DEBUG"), []byte("ERROR"),
	[]byte("CRITICAL"), []byte("Info"), []byte("Warning"), []byte("Debug"), []byte("TRACE"), []byte("NOTICE"),
	[]byte("LOG")}

// piece returns the length of a piece of a logger's prefix at the start of s, 0 if there is none. After a date or a
// level there may be names, and marks between them.
func (p *stripper) piece(s []byte, logged bool, x *prefix) int {
	if len(s) == 0 {
		return 0
	}
	switch c := s[0]; {
	case c == '[':
		if bytes.HasPrefix(s, []byte("[ Info: ")) { // Julia's
			return len("[ Info: ")
		}
		end := bytes.IndexByte(s[:min(len(s), 100)], ']')
		if end > 1 && p.sayingNothing(s[1:end], x) {
			if at(s, end+1) == ':' {
				end++
			}
			return end + 1
		}
		return 0
	case c == '(':
		end := bytes.IndexByte(s[:min(len(s), 160)], ')')
		if end > 0 && s[end-1] == '(' { // the name of a function
			end += 1 + bytes.IndexByte(s[end+1:min(len(s), 160)], ')')
		}
		if end > 0 && logged && (sourcePlace(s[1:end]) || moduleLine(s[1:end])) {
			if at(s, end+1) == ':' {
				end++
			}
			return end + 1
		}
		return 0
	case digit(c):
		if n := clock(s); n > 0 || !logged {
			return n
		}
		return beforeLevel(s)
	case (c == 'I' || c == 'W' || c == 'E') && digit(at(s, 1)) && digit(at(s, 4)):
		// glog's I1127 10:22:26.140852 1399 file.py:48]
		if end := bytes.Index(s[:min(len(s), 120)], []byte("] ")); end > 0 {
			return end + 2
		}
		return 0
	case logged && (c == '|' || c == '-' && at(s, 1) == ' ' || c == ':'):
		return 1
	}
	if n := level(s, logged); n > 0 {
		return n
	}
	for _, of := range streams {
		if logged && bytes.HasPrefix(s, of) {
			return len(of)
		}
	}
	if n := month(s); n > 0 {
		return n
	}
	n := 0
	if logged || s[0] >= 'a' {
		n = p.logger(s, logged, x)
	}
	if n == 0 && logged {
		n = beforeLevel(s)
	}
	return n
}

// beforeLevel returns the length of what stands between a date and a level: hosts, processes, places.
func beforeLevel(s []byte) int {
	for i := 1; i < min(len(s), 100); i++ {
		switch {
		case s[i] == '=':
			return 0
		case (s[i] == 'I' || s[i] == 'W' || s[i] == 'D') && !letter(s[i-1]) && !digit(s[i-1]) && s[i-1] != '_' &&
			level(s[i:], true) > 0:
			return i
		}
	}
	return 0
}

// streams stand behind the times that containers' engines write before lines.
var streams = [][]byte{[]byte("stdout F "), []byte("stderr F "), []byte("stdout P "), []byte("stderr P ")}

// level reads INFO and such.
func level(s []byte, logged bool) int {
	for _, l := range levels {
		if !bytes.HasPrefix(s, l) {
			continue
		}
		if next := at(s, len(l)); next == ':' || next == '|' || next == '\t' || next == ' ' && (logged || s[1] < 'a') {
			return len(l)
		}
	}
	return 0
}

// month reads the date of a syslog: Nov 27 10:22:21.
func month(s []byte) int {
	if len(s) < 15 || s[3] != ' ' || s[9] != ':' || s[12] != ':' || !digit(s[5]) || !digit(s[14]) {
		return 0
	}
	return 15
}

// sourcePlace reports whether a text is the name of a program's file with a line: main.py 179, timer.py:199.
func sourcePlace(s []byte) bool {
	dot := bytes.LastIndexByte(s, '.')
	if dot < 0 {
		return false
	}
	end := dot + 1
	for letter(at(s, end)) {
		end++
	}
	return sources[string(s[dot+1:end])]
}

// moduleLine reports whether a text is a module's name with a line: trainer:762.
func moduleLine(s []byte) bool {
	name, line, ok := bytes.Cut(s, []byte(":"))
	return ok && digits(line) >= 0 && len(name) > 0 && letter(name[0]) && bytes.IndexByte(name, ' ') < 0
}

// logger returns the length of the name of a logger, a file or a function: "root - ", "__main__:train:45 - ", "root:",
// "train.py:48". A name that is a part says it.
func (p *stripper) logger(s []byte, logged bool, x *prefix) int {
	i := 0
	for i < len(s) && (letter(s[i]) || digit(s[i]) || bytes.IndexByte([]byte("_.:<>"), s[i]) >= 0) {
		i++
	}
	if i == 0 || i == len(s) {
		return 0
	}
	if sourcePlace(s[:i]) && bytes.IndexByte(s[:i], ':') > 0 {
		return i
	}
	if !logged {
		return 0
	}
	head, tail, cut := bytes.Cut(s[:i], []byte(":"))
	part := parts[string(head)]
	if len(head) == 0 || part == "" && p.naming(head) {
		return 0
	}
	last := tail[bytes.LastIndexByte(tail, ':')+1:]
	placed := cut && len(last) > 0 && digits(last) >= 0
	after := s[i:]
	switch {
	case (bytes.HasPrefix(after, []byte(" - ")) || bytes.HasPrefix(after, []byte(" | "))) && (!cut || placed):
		if part != "" {
			x.part = part
		}
		return i + 3
	case !cut && level(bytes.TrimLeft(after, " "), true) > 0:
		return i
	case cut && len(tail) > 0 && tail[0] != ':' && (!digit(tail[0]) || bytes.IndexByte(head, '.') > 0):
		// INFO:root:, INFO:tornado.access:200
		return len(head) + 1
	case cut && len(tail) == 0 && at(s, i) > ' ':
		return i
	}
	return 0
}

// sayingNothing reports whether what stands in brackets at the start of a line says nothing of its numbers: a level, a
// time, the name of a program or a file. A part is noted.
func (p *stripper) sayingNothing(in []byte, x *prefix) bool {
	if hasClock(in) || sourcePlace(in) {
		return true
	}
	if len(in) == 1 && !digit(in[0]) {
		return true
	}
	if !letter(in[0]) || bytes.ContainsAny(in, "=/ ,") || stem(in, 0, stems, false) > 0 ||
		(in[0]|0x20 == 'e' && digits(in[1:]) >= 0) {
		return false
	}
	if part := parts[string(bytes.ToLower(in))]; part != "" {
		x.part = part
		return true
	}
	return !p.naming(in)
}

// naming reports whether a word says something of a line's numbers, so that it is no logger's name.
func (p *stripper) naming(w []byte) bool {
	k := p.names.of(w)
	return k.class >= metric || k.axis != noAxis
}

// hasClock reports whether hh:mm:ss stands in s.
func hasClock(s []byte) bool {
	for i := 1; i+5 < len(s); i++ {
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
	for i < len(s) && i < 40 && (digit(s[i]) || bytes.IndexByte([]byte("-/:.TZ+"), s[i]) >= 0 ||
		s[i] == ',' && digit(at(s, i+1))) {
		i++
	}
	w := s[:i]
	date := len(w) >= 8 && (w[4] == '-' || w[4] == '/') && bytes.Count(w[5:], w[4:5]) >= 1 && digit(w[3])
	if !date && (len(w) == 8 || len(w) == 10) && bytes.IndexByte([]byte("/.-"), w[2]) >= 0 && w[5] == w[2] {
		time := bytes.TrimLeft(s[i:], ", ") // 11/28/2026 10:00:00
		date = len(time) < len(s)-i && clock(time) > 0
	}
	if date || i >= 7 && hasClock(w) {
		return i
	}
	return 0
}
