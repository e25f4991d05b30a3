package text

import "math"

// found is what stands on a line.
type found struct {
	epoch, epochs float64 // of how many; NaN: not told
	step, steps   float64
	n, m          float64 // progress without a name: n of m
	within        bool    // step counts within the epoch
	lead          float64 // N: at the start of the line is a rank, or a step if the line tells no other
	leads         bool    // the line begins with its step or epoch
	bar           bool    // a progress bar: only the last state of a step counts
	finished      bool    // a bar whose numbers count when it is full, as Keras'
	dashes        bool    // the same without a bar
	eval          bool    // progress through rows for testing
	part          string  // the last word that says of which rows the numbers are
	strong        bool    // a number has a name that the field knows
	values        []reading
	id            uint64 // of the names
}

type reading struct {
	*name
	part    string
	v, mean float64 // mean: what stands in brackets behind v, or NaN
}

func (f *found) clear() {
	nan := math.NaN()
	*f = found{epoch: nan, epochs: nan, step: nan, steps: nan, n: nan, m: nan, lead: nan, values: f.values[:0]}
}

// counts reports whether the line says where it belongs.
func (f *found) counts() bool { return f.epoch == f.epoch || f.step == f.step || f.n == f.n }

// pairs finds names with numbers, and counts, among the tokens of a line.
type pairs struct {
	names
	found
	line     []byte
	tokens   []token
	from, to int   // the tokens of the name that is being read; from < 0: none
	sep      byte  // : or = behind it
	about    *name // what a line of prose is about, whose number comes later
	doubtful int   // index of a value without : or =, which is void if prose follows; < 0: none
}

func (p *pairs) read(line []byte) {
	p.clear()
	p.line = line
	p.tokens = scan(p.tokens, line)
	p.from, p.sep, p.doubtful, p.about = -1, 0, -1, nil
	for i := 0; i < len(p.tokens); {
		t := &p.tokens[i]
		switch t.kind {
		case word:
			i = p.word(i)
		case number:
			if p.from < 0 {
				i = p.loose(i)
			} else {
				i = p.pair(i)
			}
			p.from, p.sep = -1, 0
		case junk:
			p.rest()
			i++
		case mark:
			i = p.mark(i)
		}
	}
	p.rest()
}

func (p *pairs) word(i int) int {
	t := &p.tokens[i]
	switch {
	case p.from >= 0 && p.is(i+1, '(') && p.num(i+2) && wrappers[p.text(i)]: // loss: tensor(0.3)
		return i + 2
	case p.sep == '=': // collection=train
		p.say(i, i+1)
		p.from, p.sep = -1, 0
		return i + 1
	case p.sep == ':', p.from >= 0 && t.gap > 2:
		p.say(p.from, p.to)
		p.from, p.sep = -1, 0
	}
	if p.from < 0 {
		p.from = i
	}
	p.to = i + 1
	return i + 1
}

// rest ends a name that no number follows.
func (p *pairs) rest() {
	if p.from >= 0 {
		p.say(p.from, p.to)
		if p.doubtful >= 0 && p.doubtful == len(p.values)-1 {
			p.values = p.values[:p.doubtful]
		}
	}
	p.from, p.sep, p.doubtful = -1, 0, -1
}

// say takes the part of the rows from words without a number.
func (p *pairs) say(from, to int) {
	if from < 0 || to-from > 4 {
		return
	}
	if k := p.raw(from, to); k.part != "" {
		p.part = k.part
	}
}

func (p *pairs) raw(from, to int) *name {
	return p.of(p.line[p.tokens[from].a:p.tokens[to-1].b])
}

func (p *pairs) is(i int, c byte) bool {
	return i >= 0 && i < len(p.tokens) && p.tokens[i].kind == mark && p.tokens[i].char == c
}

func (p *pairs) num(i int) bool { return i >= 0 && i < len(p.tokens) && p.tokens[i].kind == number }

func (p *pairs) mark(i int) int {
	switch c := p.tokens[i].char; {
	case c == '=' && p.is(i+1, '='):
		p.rest()
		return i + 2
	case (c == ':' || c == '=') && p.from >= 0 && p.sep == 0:
		p.sep = c
	case c == '#' && p.from >= 0, c == '[' && p.from >= 0 && p.num(i+1):
	case c == '(' && p.from >= 0 && p.tokens[i].gap == 0 && i+2 < len(p.tokens) && p.tokens[i+1].kind == word && p.is(i+2, ')'):
		if k := p.raw(i+1, i+2); k.part != "" { // Epoch(train) [1]
			p.part = k.part
		} else if unit(p.text(i + 1)) { // elapsed (ms): 12
			p.from, p.sep = -1, 0
		}
		return i + 3
	default:
		p.rest()
	}
	return i + 1
}

func (p *pairs) text(i int) string {
	if i >= len(p.tokens) {
		return ""
	}
	return string(p.line[p.tokens[i].a:p.tokens[i].b])
}

// pair reads the number i, whose name stands before it, and returns the index of what follows.
func (p *pairs) pair(i int) int {
	k := p.raw(p.from, p.to)
	if k.part != "" {
		p.part = k.part
	}
	t := &p.tokens[i]
	m, next := p.total(i)
	switch {
	case t.percent && p.is(i+1, '|') && (k.class != metric || k.key == ""): // Training:  34%|███
		p.bar = true
		return i + 1
	case k.class == metric && k.phrase && p.sep == 0 && t.whole && next < len(p.tokens) && p.tokens[next].kind == word:
		p.about = k // Accuracy of the network on the 10000 test images: 55 %
		return next
	case k.class == partial && (p.sep != 0 || !t.whole) && !p.is(i-1, '[') && m != m && k.key != "": // CatBoost's test: 0.36
		return p.value(i, k, m, next)
	case k.class == partial:
		return p.loose(i)
	case k.class == epochs && !t.unit && t.v >= 0:
		if p.epoch != p.epoch {
			p.epoch, p.epochs = t.v, m
			p.leads = p.leads || p.to-p.from <= 2 && !p.wordsBefore(p.from)
		}
		return next
	case (k.class == steps || k.class == batches) && !t.unit && t.whole && t.v >= 0:
		if p.step != p.step {
			p.step, p.steps = t.v, m
			p.within = k.class == batches || m == m
			p.leads = p.leads || p.to-p.from <= 2 && !p.wordsBefore(p.from)
		}
		return next
	}
	p.doubtful = -1
	if m == m && !k.share {
		return next
	}
	return p.value(i, k, m, next)
}

// wordsBefore reports whether a word or a number stands before a token.
func (p *pairs) wordsBefore(i int) bool {
	for _, t := range p.tokens[:i] {
		if t.kind != mark {
			return true
		}
	}
	return false
}

// value adds the number i, and reads what belongs to it: the mean or the per cent in brackets, the deviation, the unit.
func (p *pairs) value(i int, k *name, m float64, next int) int {
	t := &p.tokens[i]
	r := reading{name: k, part: p.part, v: t.v, mean: math.NaN()}
	percent := t.percent
	if m == m {
		r.v /= m
	}
	if p.num(next) && p.tokens[next].signed && p.tokens[next].gap == 0 { // a fold's deviation
		next++
	}
	if p.is(next, '%') {
		percent = true
		next++
	}
	if percent && k.class == ignored && p.about != nil {
		k = p.about
		r.name = k
	}
	units := t.unit
	if next < len(p.tokens) && p.tokens[next].kind == word && p.tokens[next].gap > 0 && unit(p.text(next)) && !p.named(next) {
		units = true
		next++
	}
	if p.is(next, '(') && p.num(next+1) {
		in := p.tokens[next+1]
		if m == m && in.percent {
			r.v, percent = in.v, true
		} else if !in.unit && !in.percent {
			r.mean = in.v
		}
		for next < len(p.tokens) && !p.is(next, ')') {
			next++
		}
		next = min(next+1, len(p.tokens))
	}
	if percent && k.share {
		r.v, r.mean = r.v/100, r.mean/100
	}
	if k.class == ignored || units && !k.rate || k.key == "mfu" && r.v < 0 || len(p.values) >= 256 {
		return next
	}
	p.values = append(p.values, r)
	p.id = p.id*1000003 + k.id
	if p.sep != 0 || !t.whole {
		p.strong = p.strong || k.class == metric
	}
	if p.sep == 0 && k.class != metric {
		p.doubtful = len(p.values) - 1
	}
	return next
}

// named reports whether the token is a name with its own number.
func (p *pairs) named(i int) bool { return p.is(i+1, ':') || p.is(i+1, '=') || p.num(i+1) }

// total reads the m of n/m and of "n of m", and returns what follows.
func (p *pairs) total(i int) (m float64, next int) {
	if p.is(i+1, '/') && p.num(i+2) && !p.is(i+3, '/') || i+2 < len(p.tokens) && p.tokens[i+1].kind == word && p.text(i+1) == "of" && p.num(i+2) {
		if t := &p.tokens[i+2]; !t.unit && t.v > 0 {
			return t.v, i + 3
		}
		return math.NaN(), i + 3
	}
	return math.NaN(), i + 1
}

// loose reads a number without a name: progress, or a count at the start of the line.
func (p *pairs) loose(i int) int {
	t := &p.tokens[i]
	m, next := p.total(i)
	switch {
	case m == m && t.whole && !t.unit && t.v <= m && p.n != p.n:
		p.n, p.m = t.v, m
		p.eval = p.part != "" && p.part != "train"
		if i == 0 {
			p.full(next)
		}
	case m == m:
	case t.percent && p.is(i+1, '|'):
		p.bar = true
	case t.unit && p.is(i+1, '[') && p.line[t.b-1] == 't' && p.line[t.b-2] == 'i': // 12it [00:01, …
		p.n, p.bar = t.v, true
		p.eval = p.part != "" && p.part != "train"
	case !t.whole || t.unit || t.percent || t.v < 0:
	case i == 0 && p.is(1, ':'), i == 1 && p.is(0, '[') && p.is(2, ']') && p.is(3, ':'):
		p.lead = t.v
	case i == 1 && p.is(0, '[') && p.is(2, ']'):
		p.step, p.leads = t.v, true
	case i == 1 && p.is(0, '[') && p.is(2, ',') && p.num(3) && p.is(4, ']'): // [1,  2000] loss: 2.172
		p.epoch, p.step, p.within = t.v, p.tokens[3].v, true
		return 5
	case i == 0 && p.is(1, '|') && p.num(2) && p.is(3, '|'): // torchtune's 1|3|Loss: 1.94
		p.epoch, p.step = t.v, p.tokens[2].v
		return 4
	}
	return next
}

// full recognizes the lines whose numbers count when n is m: 422/422 ━━━━ 47s 108ms/step - loss: 0.49.
func (p *pairs) full(next int) {
	switch {
	case next >= len(p.tokens):
	case p.is(next, '-') && p.num(next+1) && p.tokens[next+1].unit:
		p.finished, p.dashes = true, true
	case p.is(next, '|') && p.line[p.tokens[next].a] >= 0x80,
		p.is(next, '[') && (p.is(next+1, '=') || p.is(next+1, '>') || p.is(next+1, '.') || p.tokens[min(next+1, len(p.tokens)-1)].kind == junk):
		p.finished, p.bar = true, true
	}
}

// wrappers are the types whose numbers Python prints within brackets.
var wrappers = set("tensor array np.float32 np.float64 float32 float64 Array")

var unitWords = set("ms s sec secs second seconds min mins minute minutes h hour hours us ns kb mb gb tb kib mib gib bytes w mhz")

// unit reports whether a word behind a number says that it measures time, memory or speed.
func unit(w string) bool {
	if unitWords[w] {
		return true
	}
	switch w {
	case "MB", "GB", "TB", "KB", "kB", "MiB", "GiB", "KiB", "B", "K", "M", "G", "W":
		return true
	}
	for i := range w {
		if w[i] == '/' {
			return i+1 < len(w) && (w[i+1:] == "s" || w[i+1:] == "sec" || w[i+1:] == "step" || w[i+1:] == "it" || w[i+1:] == "batch" || w[i+1:] == "epoch")
		}
	}
	return false
}
