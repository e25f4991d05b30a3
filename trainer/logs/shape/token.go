package shape

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"newtop/trainer/logs"
)

type kind uint8

const (
	mark   kind = iota // one character that is neither a word's nor a number's
	word               // loss, train-rmse, Acc@1, D(x), |g|, a quoted name
	number             // 1,234 93% 7.5e-3 1.0D+02 nan -inf, or with a unit 47s
	junk               // a date, a time, a version, a path, a place in a program
)

// drawing is the character of a mark that stands for all that a progress bar draws.
const drawing = 1

// token is a piece of a line.
type token struct {
	kind    kind
	char    byte // of a mark; what is not ASCII is |
	percent bool
	whole   bool // a number without a point and an exponent
	signed  bool // a number with + before it
	quoted  bool // a word that was quoted
	comma   bool // a number whose comma is a decimal point
	gap     bool // a blank before it
	wide    bool // more than two blanks before it
	a, b    int  // its place in the line
	end     int  // of a number without its unit
}

// unit is what is attached to a number: 47s has s.
func (t *token) unit(s []byte) []byte {
	if t.percent {
		return nil
	}
	return s[t.end:t.b]
}

// maxTokens bounds the tokens of a line; what stands beyond is not read.
const maxTokens = 1024

// scanner cuts lines into tokens.
type scanner struct {
	tokens []token
	hash   uint64 // of the line without its numbers
	comma  bool   // 0,5 is a half
	points int    // numbers with a decimal point
	commas int    // numbers with a comma that can only be a decimal one
	far    bool   // where a token of the line ends may depend on numbers behind it
}

const prime = 1099511628211 // of FNV-1a

func (c *scanner) mix(b byte) { c.hash = (c.hash ^ uint64(b)) * prime }

// scan cuts a line into tokens and reckons its hash, which is equal for lines of one shape.
func (c *scanner) scan(s []byte) {
	c.tokens, c.hash, c.far = c.tokens[:0], 14695981039346656037, false
	gap := 0
	for i := 0; i < len(s) && len(c.tokens) < maxTokens; {
		b := s[i]
		if b == ' ' {
			gap++
			i++
			continue
		}
		if b == '\t' {
			gap += 8
			i++
			continue
		}
		c.tokens = append(c.tokens, token{a: i, gap: gap > 0, wide: gap > 2})
		t := &c.tokens[len(c.tokens)-1]
		switch {
		case letter(b) || b == '_':
			c.word(t, s)
		case digitName(s, i) > 0:
			t.kind, t.b = word, digitName(s, i)
		case startsNumber(s, i):
			c.number(t, s)
		case b >= utf8.RuneSelf && !unicodeLetter(s[i:]):
			c.drawn(t, s)
		case b >= utf8.RuneSelf:
			c.word(t, s)
		case b == '\'' || b == '"' || b == '`':
			if !quotedName(t, s) {
				c.far = true
				i++
				gap = 0
				c.tokens = c.tokens[:len(c.tokens)-1]
				continue
			}
		case b == '|':
			c.bars(t, s)
		case b == '@' && at(s, i+1) == '[': // @[ IoU=0.50 ] is part of the name, with its numbers
			t.kind, t.b = word, min(i+1+max(bytes.IndexByte(s[i:], ']'), 0), len(s))
		case b == '[' && bracketDrawing(s[i:]) > 0:
			t.char, t.b = drawing, i+bracketDrawing(s[i:])
		case b == '/' || b == '~' || b == '.':
			t.path(s)
		case b == '#' && i > 0 && digit(at(s, i+1)) && (!t.gap || letter(before(s, i))) && !c.counts(s):
			t.index(s)
		default:
			t.char, t.b = b, i+1
		}
		gap, i = 0, t.b
		if n := len(c.tokens); t.kind == mark && t.char == drawing && n > 1 && c.tokens[n-2].char == drawing {
			c.tokens = c.tokens[:n-1]
			continue
		}
		c.note(t, s)
	}
}

// counts reports whether the token before the newest one is a word for a counter.
func (c *scanner) counts(s []byte) bool {
	n := len(c.tokens)
	if n < 2 || c.tokens[n-2].kind != word {
		return false
	}
	t := &c.tokens[n-2]
	return axisOf([]string{strings.ToLower(string(s[t.a:t.b]))}) != noAxis
}

// note mixes what is no number of a token into the hash.
func (c *scanner) note(t *token, s []byte) {
	if t.wide {
		c.mix(2)
	}
	switch t.kind {
	case mark:
		c.mix(t.char)
	case word:
		c.mix(3)
		text := s[t.a:t.b]
		for ; len(text) >= 8; text = text[8:] {
			c.hash = (c.hash ^ binary.LittleEndian.Uint64(text)) * prime
			c.hash ^= c.hash >> 32
		}
		for _, b := range text {
			c.mix(b)
		}
		c.mix(9) // no mark behind it is of the word
	case junk:
		c.mix(4)
	case number:
		switch {
		case t.percent:
			c.mix(5)
		case t.whole:
			c.mix(6)
		default:
			c.mix(7)
		}
		if t.signed {
			c.mix(8)
		}
		for _, b := range t.unit(s) {
			if digit(b) {
				break
			}
			c.mix(b)
		}
		c.mix(9)
	}
}

// template is the newest line of a shape that was cut into tokens. A line that differs from it in nothing but its
// numbers, and the digits of its prefix, has the same tokens, and is not cut again.
type template struct {
	text   []byte
	from   int     // where the tokens begin, behind a prefix that says no rank
	tokens []token // none: such a line is cut anew
}

// maxTemplate bounds the bytes of a template.
const maxTemplate = 1 << 10

// opens reports whether the tokens of a line begin where they do whatever its numbers are: with a word without digits,
// with a number that stands alone, or with one in brackets.
func (c *scanner) opens(body []byte) bool {
	if len(c.tokens) < 2 {
		return false
	}
	t, next := &c.tokens[0], &c.tokens[1]
	switch {
	case t.kind == word:
		return (next.gap || next.char == ':' || next.char == '=') && !bytes.ContainsAny(body[t.a:t.b], "0123456789")
	case t.char == '[':
		return next.kind == number
	}
	return t.kind == number && next.gap
}

// repeat cuts a line as the template was cut, and reports whether it is like it.
func (c *scanner) repeat(line []byte, t *template) bool {
	if len(t.tokens) == 0 || len(line) < t.from {
		return false
	}
	for i, b := range t.text[:t.from] {
		if line[i] != b && !(digit(line[i]) && digit(b)) {
			return false
		}
	}
	s, old := line[t.from:], t.text[t.from:]
	c.tokens = append(c.tokens[:0], t.tokens...)
	at, was := 0, 0 // how far both are read
	for i := range c.tokens {
		k, o := &c.tokens[i], &t.tokens[i]
		k.a += at - was
		if k.kind != number {
			k.b += at - was
			continue
		}
		if k.a >= len(s) || string(s[at:k.a]) != string(old[was:o.a]) || s[k.a] != old[o.a] &&
			!(digit(s[k.a]) && digit(old[o.a])) {
			return false
		}
		*k = token{a: k.a, gap: k.gap, wide: k.wide}
		if letter(s[k.a]) {
			c.word(k, s)
		} else {
			c.number(k, s)
		}
		if k.kind != number || k.whole != o.whole || k.percent != o.percent || k.signed != o.signed ||
			k.comma != o.comma || string(s[k.end:k.b]) != string(old[o.end:o.b]) {
			return false
		}
		at, was = k.b, o.b
	}
	return string(s[at:]) == string(old[was:]) && month(s) == 0
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

func unicodeLetter(s []byte) bool {
	r, _ := utf8.DecodeRune(s)
	return unicode.IsLetter(r)
}

// at is the character at i, 0 beyond the end.
func at(s []byte, i int) byte {
	if i >= 0 && i < len(s) {
		return s[i]
	}
	return 0
}

// before is the newest character before i that is no blank, 0 if there is none.
func before(s []byte, i int) byte {
	for i--; i >= 0; i-- {
		if s[i] != ' ' {
			return s[i]
		}
	}
	return 0
}

// digitName returns where a name ends that begins with digits and has a value: 3d_iou=0.5, 5HT: 0.95; 0: there is none.
func digitName(s []byte, i int) int {
	from := i
	for digit(at(s, from)) {
		from++
	}
	if from == i || !letter(at(s, from)) && at(s, from) != '_' || i > 0 && strings.IndexByte(" \t[({,|;", s[i-1]) < 0 {
		return 0
	}
	end := from
	for letter(at(s, end)) || at(s, end) == '_' || digit(at(s, end)) {
		end++
	}
	value := end + 1
	for at(s, value) == ' ' {
		value++
	}
	c := at(s, from) | 0x20 // 1e5 and 0x7f are numbers
	if at(s, end) != '=' && at(s, end) != ':' || value >= len(s) || !startsNumber(s, value) ||
		(c == 'e' || c == 'x') && digit(at(s, from+1)) || unitWord(string(s[from:end])) ||
		units[strings.ToUpper(string(s[from:end]))] {
		return 0
	}
	return end
}

// leads returns the stems that may be the newest token: it begins the line, but for a bracket, or stands behind such a
// counter; nil: none may.
func (c *scanner) leads() (of map[string]bool, bracket bool) {
	n := len(c.tokens)
	if n == 0 || n > 6 {
		return nil, false
	}
	bracket = c.tokens[0].kind == mark && strings.IndexByte("[(<", c.tokens[0].char) >= 0
	if n == 1 || n == 2 && bracket {
		return stems, bracket
	}
	for i, t := range c.tokens[:n-1] {
		if t.kind == word && (c.tokens[i+1].kind != number || c.tokens[i+1].a != t.b) || t.kind == junk {
			return nil, false
		}
	}
	if c.tokens[0].kind != word && (!bracket || c.tokens[1].kind != word) {
		return nil, false
	}
	return behind, false
}

// stem returns where a counter's name ends that has its number behind it, as in epoch1, E2/5 and [E2]; 0: it is none,
// as the name of a value is: e1: 0.5.
func stem(s []byte, a int, of map[string]bool, bracket bool) int {
	i := a
	for letter(at(s, i)) {
		i++
	}
	if !digit(at(s, i)) {
		return 0
	}
	end := i
	for digit(at(s, end)) {
		end++
	}
	low := string(bytes.ToLower(s[a:i]))
	if !of[low] && (low != "e" || at(s, end) != '/' && !(bracket && at(s, end) == ']')) {
		return 0
	}
	value := end
	for value < len(s) && (s[value] == ' ' || s[value] == ':' || s[value] == '=') {
		value++
	}
	switch b := at(s, end); {
	case end < len(s) && strings.IndexByte(" ])|,:/", b) < 0, b == '/' && !digit(at(s, end+1)),
		b != '/' && value < len(s) && startsNumber(s, value):
		return 0
	}
	return i
}

// files are how the names of files end that programs read and write.
var files = set(`png jpg jpeg gif bmp tif tiff npy npz pt pth ckpt pkl h5 hdf5 onnx safetensors csv tsv json txt yaml
	yml zip gz tar wav mp3 mp4`)

// sources are how the names of programs' files end, which the number of a line may follow.
var sources = set("py cc cpp cxx c h hpp cu go rs jl java scala kt lua r js ts ipynb")

// word reads the word at t.a. Within it may stand - . / @ ' & if a letter or digit follows.
func (c *scanner) word(t *token, s []byte) {
	if n := notFinite(s[t.a:]); n > 0 {
		t.kind, t.b, t.end = number, t.a+n, t.a+n
		return
	}
	t.kind = word
	if first, bracket := c.leads(); first != nil {
		if t.b = stem(s, t.a, first, bracket); t.b > 0 {
			return
		}
	}
	i, wide := t.a, false
	for i < len(s) {
		b := s[i]
		if letter(b) || b == '_' || digit(b) && !wide {
			i++
			continue
		}
		if wide = b >= utf8.RuneSelf; wide {
			if !unicodeLetter(s[i:]) {
				break
			}
			_, n := utf8.DecodeRune(s[i:])
			i += n
			continue
		}
		next := at(s, i+1)
		if (b == '@' || b == ':') && next == '.' && digit(at(s, i+2)) && bytes.IndexByte(s[t.a:i+1], '@') > 0 {
			i += 2 // mAP@.5:.95
			continue
		}
		if bytes.IndexByte([]byte("-./@'&^"), b) < 0 || !letter(next) && !digit(next) && next != '_' || digit(b) {
			break
		}
		i++
	}
	if n := i - t.a; at(s, i) == '.' && n <= 4 && (at(s, i+1) == ' ' || at(s, i+1) == ':') && letter(s[i-1]) &&
		!unitWord(string(s[t.a:i])) {
		i++ // Ep. and L.r.
	}
	if i-t.a == 3 && (s[t.a] == 't' || s[t.a] == 'T') && string(s[t.a+1:i]) == "op" && at(s, i) == ' ' {
		end := i + 1 // Top 5 acc: 0.9
		for digit(at(s, end)) {
			end++
		}
		if b := at(s, end); end > i+1 && (b == ':' || b == '=' || b == ' ' && letter(at(s, end+1))) {
			i = end
		}
	}
	t.b = i
	text := s[t.a:i]
	dot := bytes.LastIndexByte(text, '.')
	if dot > 0 && files[string(text[dot+1:])] {
		t.kind = junk
		return
	}
	if dot > 0 && sources[string(text[dot+1:])] {
		t.kind = junk
		if b := at(s, i); (b == ':' || b == ' ') && digit(at(s, i+1)) {
			for i++; i < len(s) && digit(s[i]); i++ {
			}
			t.b = i
		}
		return
	}
	switch b := at(s, i); {
	case b == '(':
		t.b += attached(s[i:])
	case b == '\\', b == ':' && (at(s, i+1) == '/' && at(s, i+2) == '/' || at(s, i+1) == '\\'):
		t.path(s)
	}
}

// attached returns the length of brackets that belong to the name before them, as those of D(G(z)), or 0.
func attached(s []byte) int {
	depth := 0
	for i, b := range s {
		switch {
		case i > 24:
			return 0
		case b == '(':
			depth++
		case b == ')':
			if depth--; depth == 0 {
				in := string(s[1:i])
				if !letter(at(s, 1)) || unitWord(in) || parts[in] != "" || notFinite(s[1:]) > 0 ||
					strings.Contains(in, ",") && !named(s[i+1:]) {
					return 0
				}
				return i + 1
			}
		case b == ',' && letter(s[i-1]), b == ' ' && s[i-1] == ',': // loss(X, Y) =
		case !letter(b) && !digit(b) && b != '_':
			return 0
		}
	}
	return 0
}

// path reads what goes on to the next blank: a file's name or an address, of which no part is a number.
func (t *token) path(s []byte) {
	i := t.a
	if next := at(s, i+1); !letter(s[i]) && !letter(next) && next != '.' && next != '/' {
		t.char, t.b = s[i], i+1
		return
	}
	t.kind = junk
	for i < len(s) && s[i] > ' ' && s[i] != ',' {
		i++
	}
	t.b = i
}

// index reads #3 behind a word, which numbers a thing and measures nothing.
func (t *token) index(s []byte) {
	t.kind = junk
	i := t.a + 1
	for digit(at(s, i)) {
		i++
	}
	t.b = i
}

// quotedName reads a quoted string that names what follows a colon or =, and reports whether it is one.
func quotedName(t *token, s []byte) bool {
	rest := s[t.a+1:]
	end := bytes.IndexByte(rest[:min(len(rest), 80)], s[t.a])
	if end <= 0 {
		return false
	}
	i := end + 1
	for at(rest, i) == ' ' {
		i++
	}
	if c := at(rest, i); c != ':' && c != '=' {
		return false
	}
	t.kind, t.quoted = word, true
	t.a, t.b = t.a+1, t.a+1+end
	return true
}

// bars reads what begins with |: the drawing of a progress bar, a name as |g|, or the mark alone.
func (c *scanner) bars(t *token, s []byte) {
	i := t.a
	t.char, t.b = '|', i+1
	end := bytes.IndexByte(s[i+1:], '|')
	if end == 0 && letter(at(s, i+2)) { // ||d||
		if close := bytes.Index(s[i+2:], []byte("||")); close > 0 && named(s[i+4+close:]) {
			t.kind, t.b = word, i+4+close
		}
		return
	}
	if end <= 0 {
		return
	}
	in := s[i+1 : i+1+end]
	after := s[i+2+end:]
	n := len(c.tokens) - 1 // before it
	draws := bytes.IndexFunc(in, isText) < 0
	switch {
	case draws && n > 0 && c.tokens[n-1].kind == number && c.tokens[n-1].percent,
		draws && len(in) > 2 && in[0] != ' ' && !bytes.ContainsAny(in, "0123456789") && len(after) > 0:
		t.char, t.b = drawing, i+2+end
	case !letter(in[0]):
	case in[len(in)-1] != ' ' && len(in) < 24 && named(after):
		t.kind, t.b = word, i+2+end
	default:
		c.far = true
	}
}

// isText reports whether a character says that what stands between two bars is text and no drawing.
func isText(r rune) bool { return unicode.IsLetter(r) || r == ':' || r == '=' || r == '.' }

// named reports whether a number follows, with or without = or : before it.
func named(s []byte) bool {
	i := 0
	for at(s, i) == ' ' {
		i++
	}
	if c := at(s, i); c == '=' || c == ':' {
		return true
	}
	return i > 0 && i < len(s) && startsNumber(s, i)
}

// bracketDrawing returns the length of [====>...], or 0.
func bracketDrawing(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '=', '>', '.', '-', '#', '*':
		case ' ':
			if i == 1 {
				return 0
			}
		case ']':
			if i > 3 {
				return i + 1
			}
			return 0
		default:
			return 0
		}
	}
	return 0
}

// drawn reads what is neither ASCII nor a letter: names as ‖g‖ and ∇f, else what draws a bar or a line.
func (c *scanner) drawn(t *token, s []byte) {
	r, n := utf8.DecodeRune(s[t.a:])
	switch r {
	case '‖':
		c.far = true
		if close := bytes.Index(s[t.a+n:], []byte("‖")); close > 0 && close < 24 && named(s[t.a+2*n+close:]) {
			t.kind, t.b = word, t.a+2*n+close
			return
		}
	case '∇', '∂', 'Δ':
		if letter(at(s, t.a+n)) {
			name := token{a: t.a + n}
			c.word(&name, s)
			t.kind, t.b = word, name.b
			return
		}
	}
	i, count := t.a, 0
	for i < len(s) && s[i] >= utf8.RuneSelf && !unicodeLetter(s[i:]) {
		_, n := utf8.DecodeRune(s[i:])
		i += n
		count++
	}
	t.char, t.b = '|', i
	if count > 2 || n > 1 && r >= 0x2580 && r < 0x25a0 {
		t.char = drawing
	}
}

// fractionOf reads n or n/m, with a letter behind it as 3r.
func fractionOf(text []byte) (n, m float64) {
	head, tail, ok := bytes.Cut(text, []byte("/"))
	m = math.NaN()
	if ok {
		if v, valid := logs.ParseNumber(tail); valid {
			m = v
		}
	}
	if k := len(head); k > 1 && letter(head[k-1]) {
		head = head[:k-1]
	}
	if v, valid := logs.ParseNumber(head); valid && v >= 0 {
		return v, m
	}
	return math.NaN(), m
}
