package shape

import (
	"strconv"
	"strings"
)

// reader reads a shape from the tokens of its first line, from left to right.
type reader struct {
	names
	*shape
	notes
	line     []byte
	tokens   []token
	from, to int   // the tokens of the name that is being read; from < 0: none
	sep      byte  // : or = behind it
	subject  *name // what the line is about, whose number comes later
	about    *name // the same of a line of prose, whose number is a per cent
	label    *name // the name that tag: "loss" gives to the next value
	groups   []group
	doubtful int   // index of a reading without : or =, which is void if prose follows; none: none
	ends     []int // of each number whose name stands behind it: where the name ends; nil: none has one
}

// group is a bracket that holds names with values, behind a name.
type group struct {
	close byte
	key   string
}

const (
	maxReadings = 1024
	maxGroups   = 8
)

// read says what the numbers of a line are.
func (n names) read(line []byte, tokens []token) *shape { return n.readNoting(line, tokens, nil) }

// readNoting is read, which tells of each token what Explain asks for, unless notes is nil.
func (n names) readNoting(line []byte, tokens []token, notes notes) *shape {
	r := reader{names: n, shape: &shape{n: none, m: none, lead: none}, line: line, tokens: tokens, from: none,
		doubtful: none, notes: notes}
	r.namesBehind()
	for i := 0; i < len(tokens); {
		switch tokens[i].kind {
		case word:
			i = r.word(i)
		case number:
			i = r.number(i)
		case junk:
			r.drop()
			i++
		case mark:
			i = r.mark(i)
		}
	}
	r.drop()
	r.boxed()
	r.summarize()
	return r.shape
}

// summarize says what the shape is as a whole.
func (r *reader) summarize() {
	words, numbers := 0, 0
	for i := range r.tokens {
		switch r.tokens[i].kind {
		case word:
			words++
		case number:
			numbers++
		}
	}
	r.numbers, r.short = numbers > 0, len(r.tokens) <= 7
	r.single = r.section != "" || !r.bar && r.n == none && (len(r.readings) == 1 && len(r.counts) == 0 ||
		len(r.readings) == 0 && len(r.counts) == 1) && words <= 5 && numbers <= 2
	r.star = r.is(0, '*')
	r.best = len(r.tokens) > 0 && r.is(len(r.tokens)-1, ':') && r.has("best")
	r.dict = r.is(0, '{')
	r.summary = r.dict && r.has("train_runtime")
	if r.ends != nil && r.measured == 0 && r.has("layers") { // 214 layers, 7030417 parameters, 16.0 GFLOPs
		r.readings = nil
	}
}

func (r *reader) has(w string) bool {
	for i := range r.tokens {
		if r.tokens[i].kind == word && r.text(i) == w {
			return true
		}
	}
	return false
}

// namesBehind finds numbers whose names stand behind them: three or more in segments of their own, as "0.2 loss, ", or
// two with which the line begins and of which one is a metric's: "-4.5 bound, 22.6 perplexity of what was held out".
func (r *reader) namesBehind() {
	ends := make([]int, len(r.tokens))
	start, found, metrics := 0, 0, 0
	for i := 0; i <= len(r.tokens); i++ {
		if i < len(r.tokens) && !r.is(i, ',') && !r.is(i, '|') {
			continue
		}
		if r.num(start) && r.unit(start) == "" {
			end := start + 1
			for end < i && r.isWord(end) {
				end++
			}
			known := start+1 < end && !r.tokens[start].whole && r.raw(start+1, start+2).class == metric
			if known && end < i {
				end = start + 2
			}
			if n := end - start; n > 1 && n <= 4 && (known || end == i) {
				ends[start] = end
				found++
			}
			if known {
				metrics++
			}
		}
		start = i + 1
	}
	if found > 2 || found == 2 && metrics > 0 && ends[0] > 0 && !r.tokens[0].whole {
		r.ends = ends
	}
}

func (r *reader) is(i int, c byte) bool {
	return i >= 0 && i < len(r.tokens) && r.tokens[i].kind == mark && r.tokens[i].char == c
}

func (r *reader) num(i int) bool { return i >= 0 && i < len(r.tokens) && r.tokens[i].kind == number }

// unit is what is attached to the number i.
func (r *reader) unit(i int) string { return string(r.tokens[i].unit(r.line)) }

func (r *reader) isWord(i int) bool { return i < len(r.tokens) && r.tokens[i].kind == word }

func (r *reader) text(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return string(r.line[r.tokens[i].a:r.tokens[i].b])
}

func (r *reader) raw(from, to int) *name { return r.of(r.line[r.tokens[from].a:r.tokens[to-1].b]) }

// anyBefore reports whether one of some words stands before the number i.
func anyBefore(r *reader, i int, of map[string]bool) bool {
	for k := range r.tokens[:i] {
		if r.isWord(k) && of[strings.ToLower(r.text(k))] {
			return true
		}
	}
	return false
}

// say takes the part of the rows from words without a number.
func (r *reader) say(from, to int) {
	if from < 0 || to-from > 4 {
		return
	}
	if k := r.raw(from, to); k.part != "" {
		r.part = k.part
	}
}

// clear forgets the name that was being read.
func (r *reader) clear() { r.from, r.sep = none, 0 }

// drop ends a name that no number follows.
func (r *reader) drop() {
	if r.from >= 0 {
		r.say(r.from, r.to)
		if r.doubtful >= 0 && r.doubtful == len(r.readings)-1 {
			r.note(r.readings[r.doubtful].at, "no : or = before it, and words behind it")
			r.readings = r.readings[:r.doubtful]
		}
	}
	r.clear()
	r.doubtful = none
}

// wrappers are the types whose numbers Python prints within brackets.
var wrappers = set("tensor array Array tf.Tensor np.float32 np.float64 float32 float64")

func (r *reader) word(i int) int {
	t := &r.tokens[i]
	if r.from >= 0 && r.is(i+1, '(') && r.num(i+2) && wrappers[r.text(i)] { // loss: tensor(0.3)
		return i + 2
	}
	if r.from >= 0 && r.sep != 0 {
		switch k := r.raw(r.from, r.to); {
		case k.marker:
			if p := parts[r.text(i)]; p != "" {
				r.part = p
			}
			r.clear()
			return i + 1
		case k.label:
			r.label = r.raw(i, i+1)
			r.clear()
			return i + 1
		case r.sep == '=': // collection=train
			r.say(i, i+1)
			r.clear()
			return i + 1
		}
		if k := r.raw(r.from, r.to); r.from == 0 && r.sep == ':' && k.part == "" && k.class == other && r.mate(i) {
			r.title = k.key // cat: precision: 0.5
		}
		r.say(r.from, r.to)
		r.says = parts[r.text(i)] == ""
		r.clear()
	} else if r.from >= 0 && t.wide {
		r.say(r.from, r.to)
		r.clear()
	}
	if r.from < 0 {
		r.from = i
	}
	r.to = i + 1
	return i + 1
}

func (r *reader) mark(i int) int {
	switch c := r.tokens[i].char; c {
	case ':', '=':
		switch {
		case r.is(i+1, '=') && !r.tokens[i+1].gap:
			r.drop()
			return i + 2
		case r.from >= 0 && r.sep == 0:
			r.sep = c
			return i + 1
		}
	case '#':
		if r.from >= 0 {
			return i + 1
		}
	case '[', '{':
		return r.open(i, c)
	case ']', '}':
		r.drop()
		if n := len(r.groups); n > 0 && r.groups[n-1].close == c {
			r.groups = r.groups[:n-1]
		}
		return i + 1
	case '(':
		return r.round(i)
	}
	r.drop()
	return i + 1
}

// round reads ( behind a name: a part, a unit, or the beginning of a list.
func (r *reader) round(i int) int {
	switch {
	case r.from >= 0 && i+2 < len(r.tokens) && r.tokens[i+1].kind == word && r.is(i+2, ')'):
		if k := r.raw(i+1, i+2); k.part != "" { // Epoch(train) [1]
			r.part = k.part
		} else if unitWord(r.text(i + 1)) { // elapsed (ms): 12
			if k := r.raw(r.from, r.to); !k.rate {
				r.clear()
			}
		}
		return i + 3
	case r.from >= 0 && r.sep != 0 && r.num(i+1): // lr:(2e-4,)
		return i + 1
	}
	end := i + 1
	for r.isWord(end) {
		end++
	}
	if r.from >= 0 && r.sep == 0 && end > i+2 && r.is(end, ')') &&
		(r.num(end+1) || r.is(end+1, ':') || r.is(end+1, '=')) {
		r.to = end + 1 // f1-score (micro avg) 0.5
		return end + 1
	}
	r.drop()
	return i + 1
}

// open reads [ or {: behind a name they hold a list, names with values, or words.
func (r *reader) open(i int, c byte) int {
	if r.from < 0 || i+1 >= len(r.tokens) {
		r.drop()
		return i + 1
	}
	k := r.raw(r.from, r.to)
	next := &r.tokens[i+1]
	switch {
	case settings[strings.ToLower(k.key)]:
		r.clear()
		end := r.closing(i)
		for j := i; j < end; j++ {
			r.note(j, "a setting")
		}
		return end
	case (c == '{' || !r.tokens[i].gap) && r.isWord(i+1) && (r.is(i+2, '=') || r.is(i+2, ':')) &&
		len(r.groups) < maxGroups:
		key := k.key
		if n := len(r.groups); n > 0 {
			key = r.groups[n-1].key + "/" + key
		}
		if k.class == partial {
			r.part, key = k.part, ""
		}
		r.groups = append(r.groups, group{c + 2, key}) // [ and ], { and } are two apart
		r.clear()
		return i + 1
	case c == '[' && (k.class == counter || k.class == partial) && next.kind == number:
		return i + 1
	case c == '[' && next.kind == number:
		return r.list(i, k)
	case c == '[' && next.kind == junk && r.is(i+2, ']'): // a range
		if r.is(i+3, ':') {
			r.span.at = i + 1
		}
		return i + 3
	case c == '[' && r.sep != 0:
		r.clear()
		return r.closing(i)
	}
	r.drop()
	return i + 1
}

// closing returns what follows the bracket that closes the one at i.
func (r *reader) closing(i int) int {
	depth := 0
	for ; i < len(r.tokens); i++ {
		switch {
		case r.is(i, '[') || r.is(i, '{') || r.is(i, '('):
			depth++
		case r.is(i, ']') || r.is(i, '}') || r.is(i, ')'):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// list reads the numbers in the brackets at i, which are components of k.
func (r *reader) list(i int, k *name) int {
	end := r.closing(i)
	var at []int
	for j := i + 1; j < end-1; j++ {
		switch {
		case r.num(j):
			at = append(at, j)
		case !r.is(j, ',') && !r.is(j, ';'):
			r.drop()
			return end
		}
	}
	for n, j := range at {
		before := len(r.readings)
		r.value(j, k, none, j+1)
		if len(r.readings) > before && len(at) > 1 {
			r.readings[before].suffix = "/" + strconv.Itoa(n+1)
		}
	}
	r.clear()
	return end
}

// boxed reads a line of a box, | name | number | or | name/ | |, which has no other numbers.
func (r *reader) boxed() {
	n := len(r.tokens)
	if n < 4 || !r.is(0, '|') || !r.is(n-1, '|') || len(r.readings) > 0 || len(r.counts) > 0 || r.n != none {
		return
	}
	i := 1
	for i < n && r.tokens[i].kind == word {
		i++
	}
	switch {
	case i == 1:
	case i == n-3 && r.is(i, '|') && r.num(n-2):
		if k := r.raw(1, i); k.class == counter {
			r.counts = append(r.counts, count{at: n - 2, of: none, axis: k.axis})
			r.leads = true
		} else {
			r.sep = '='
			r.value(n-2, k, none, n-1)
			r.clear()
		}
	case r.is(i, '/') && i == n-3 && r.is(n-2, '|'):
		r.section = r.text(1) + "/"
	}
}
