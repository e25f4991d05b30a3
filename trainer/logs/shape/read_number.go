package shape

import (
	"math"
	"strings"
)

// note is what a reader of shapes tells of a number.
type note struct {
	word string // its name, as printed
	why  string // it is nothing
}

// notes are of each token; nil: nobody asks.
type notes []note

// note says why a number is nothing.
func (n notes) note(i int, why string) {
	if n != nil {
		n[i].why = why
	}
}

// call notes the name that stands before a number.
func (n notes) call(i int, r *reader) {
	if n != nil && r.from >= 0 && r.to > r.from {
		n[i].word = string(r.line[r.tokens[r.from].a:r.tokens[r.to-1].b])
	}
}

// number reads the number i, and returns the index of what follows.
func (r *reader) number(i int) int {
	if r.ends != nil && r.ends[i] > 0 {
		end := r.ends[i]
		k := *r.raw(i+1, end)
		if k.class == ignored && k.key != "" || k.class == counter {
			k.class, k.key = other, r.text(i+1)
		}
		r.clear()
		r.sep = ':'
		r.value(i, &k, none, end)
		r.clear()
		for r.isWord(end) || r.num(end) { // prose goes on
			end++
		}
		return end
	}
	r.call(i, r)
	next := 0
	if r.from < 0 {
		next = r.loose(i)
	} else {
		next = r.pair(i)
	}
	r.clear()
	return next
}

// pair reads the number i, whose name stands before it.
func (r *reader) pair(i int) int {
	k := r.raw(r.from, r.to)
	if k.part != "" {
		r.part = k.part
	}
	t := &r.tokens[i]
	m, next := r.total(i)
	unit := r.unit(i)
	letter, joined := letters[k.key], r.tokens[i-1].kind == word && r.tokens[i-1].b == t.a
	if joined { // E1
		letter = letters[strings.ToLower(k.key)]
	}
	switch {
	case t.percent && r.is(i+1, drawing): // Training:  34%|███
		r.bar, r.named = true, true
		r.note(i, "how far a named bar is")
		return i + 1
	case r.label != nil && r.sep != 0 && k.class != counter:
		k = r.label
		r.label = nil
	case axes[unit] != noAxis && t.whole: // 第1轮
		r.counter(i, none, axes[unit])
		return i + 1
	case (joined || (r.from == 0 || m != none) && r.sep != 0) && unit == "" && t.whole && letter != noAxis:
		r.counter(i, m, letter)
		return next
	case k.key == "" && r.subject != nil && k.class == ignored: // the loss of epoch 1 is 2.5
		return r.value(i, r.subject, m, next)
	case k.class == counter && (unit == "" || unit == "k" || unit == "K" || unit == "M"):
		r.subject = k.about
		if k.about != nil && k.about.part != "" {
			r.part = k.about.part
		}
		r.counter(i, m, k.axis)
		return next
	case k.class == counter:
		r.note(i, "a count with a unit")
		return next
	case k.class == metric && k.prose && r.sep == 0 && t.whole && next < len(r.tokens) && r.tokens[next].kind == word:
		r.about = k // Accuracy of the network on the 10000 test images: 55 %
		return next
	case k.class == partial && t.whole && m == none && r.is(next, '[') && r.num(next+1): // Train: 0 [50/1251]
		r.counter(i, none, epoch)
		return next
	case k.class == partial && (r.sep != 0 || !t.whole) && !r.is(i-1, '[') && m == none && k.key != "": // test: 0.36
	case k.class == partial:
		return r.loose(i)
	}
	k = k.summed(t.whole || unit != "" || anyBefore(r, i, hard))
	if r.tokens[r.from].quoted && k.class == ignored && k.key != "" && !hard[k.key] {
		named := *k
		named.class = other
		k = &named
	}
	r.doubtful = none
	if v := besides(r, i, k); v > 0 && r.is(v+1, '(') && r.num(v+2) { // Prec@1 01 4.167 (4.167)
		return r.value(v, k, m, v+1)
	} else if v > 0 {
		r.counts = append(r.counts, count{at: i, of: none, axis: step, weak: true})
		next = r.value(i, k, m, v+1)
		if n := len(r.readings) - 1; n >= 0 && r.readings[n].at == i {
			r.readings[n].beside = v
		}
		return next
	}
	if m != none && !k.share && t.whole {
		r.note(i, "n of m of what is no metric")
		return next
	}
	if m == none || t.whole {
		return r.value(i, k, m, next)
	}
	before := len(r.readings)
	next = r.value(i, k, none, i+1)
	if next == i+1 && len(r.readings) > before { // D(G(z)): 0.5 / 0.25
		if next = r.value(m, k, none, m+1); len(r.readings) == before+2 {
			r.readings[before+1].suffix = "/2"
		}
	}
	return next
}

// besides returns the fraction that stands beside the whole number i behind a name: mnist 3 0.91, test loss 3: 0.25. It
// is 0 if there is none.
func besides(r *reader, i int, k *name) int {
	t, v := &r.tokens[i], i+1
	if r.is(v, ':') {
		v++
	}
	if r.sep == 0 && k.class >= other && t.whole && r.unit(i) == "" && r.num(v) && !r.tokens[v].whole &&
		r.unit(v) == "" && !r.num(v+1) && len(r.counts) == 0 {
		return v
	}
	return 0
}

// counter adds a counter, of how many if m is a token.
func (r *reader) counter(i, m int, a axis) {
	if a == epoch || !r.tokens[i].whole && a == batch {
		for _, c := range r.counts {
			if c.axis == a {
				return
			}
		}
	}
	if len(r.counts) == 0 {
		r.leads = !r.wordsBefore(max(r.from, 0)) && (r.from < 0 || r.to-r.from <= 3)
	}
	r.counts = append(r.counts, count{at: i, of: m, axis: a, within: a == batch})
}

// wordsBefore reports whether a word or a number stands before a token.
func (r *reader) wordsBefore(i int) bool {
	for _, t := range r.tokens[:i] {
		if t.kind != mark {
			return true
		}
	}
	return false
}

// value adds the number i, and reads what belongs to it: the mean or the per cent in brackets, the deviation, the unit.
func (r *reader) value(i int, k *name, m, next int) int {
	t := &r.tokens[i]
	v := reading{at: i, of: m, mean: none, spread: none, name: k, part: r.part, percent: t.percent, marked: r.sep != 0}
	if n := len(r.groups); n > 0 {
		v.group = r.groups[n-1].key
	}
	if r.num(next) && r.tokens[next].signed && (!r.tokens[next].gap || next == i+1) && r.sep == ':' {
		v.spread = next // a fold's deviation
		next++
	} else if r.is(next, '+') && r.num(next+1) {
		v.spread = next + 1
		next += 2
	}
	if r.is(next, '%') {
		v.percent = true
		next++
	}
	if v.percent && k.class == ignored && r.about != nil {
		v.name, k = r.about, r.about
	}
	units := r.unit(i) != "" && (k.class != metric || unitWord(r.unit(i))) // PSNR: 18.3dB
	if r.isWord(next) && r.tokens[next].gap && unitWord(r.text(next)) && !r.mate(next) {
		units = true
		next++
	}
	if r.is(next, '(') && r.num(next+1) {
		in := &r.tokens[next+1]
		if m != none && in.percent {
			v.at, v.of, v.percent = next+1, none, true
		} else if r.unit(next+1) == "" && !in.percent {
			v.mean = next + 1
		}
		next += 2
		for end := next; end < len(r.tokens); end++ {
			if r.is(end, ')') { // (4.0/s) has none: it ends a word
				next = end + 1
				break
			}
		}
	}
	if k.class == ignored || k.class == counter || units && !k.rate || len(r.readings) >= maxReadings {
		if units && !k.rate {
			r.note(i, "its unit is of times, sizes or speeds")
		} else {
			r.note(i, "no word of a metric")
		}
		return next
	}
	r.call(i, r)
	r.readings = append(r.readings, v)
	if r.sep != 0 || !t.whole {
		r.strong = r.strong || k.class == metric && !k.lr
	}
	if k.class == metric && !k.lr && !k.rate {
		r.measured++
	}
	if r.sep == 0 && k.class != metric {
		r.doubtful = len(r.readings) - 1
	}
	return next
}

// mate reports whether the token is a name with its own number.
func (r *reader) mate(i int) bool { return r.is(i+1, ':') || r.is(i+1, '=') || r.num(i+1) }

// total reads the m of n/m and of "n of m", and returns what follows.
func (r *reader) total(i int) (m, next int) {
	if r.is(i+1, '/') && r.num(i+2) && !r.is(i+3, '/') ||
		i+2 < len(r.tokens) && r.tokens[i+1].kind == word && r.text(i+1) == "of" && r.num(i+2) {
		if t := &r.tokens[i+2]; t.value(r.line) >= 0 {
			return i + 2, i + 3
		}
		return none, i + 3
	}
	return none, i + 1
}

// loose reads a number without a name: progress, a count at the start of the line, or the value of what it is about.
func (r *reader) loose(i int) int {
	t := &r.tokens[i]
	m, next := r.total(i)
	unit := r.unit(i)
	behind := r.is(i-1, ':') || r.is(i-1, '=')
	switch {
	case t.percent && r.is(i+1, drawing):
		r.bar, r.named = true, len(r.readings) == 0 && len(r.counts) == 0 && r.wordsBefore(i)
		r.note(i, "how far a bar is")
	case unit == "it" && r.is(i+1, '['): // 12it [00:01, …
		r.n, r.bar = i, true
		r.eval = r.part != "" && r.part != "train"
	case axes[unit] != noAxis && t.whole && unit != "it":
		r.counter(i, none, axes[unit])
	case behind && r.subject != nil && m == none:
		r.sep = ':'
		return r.value(i, r.subject, m, next)
	case behind && m == none && len(r.counts) == 1 && r.counts[0].at == i-2 && next == len(r.tokens) && unit == "":
		r.sep = ':' // step 3: 0.5
		return r.value(i, r.of([]byte("value")), none, next)
	case behind && m == none && i == 2 && r.lead == 0 && unit == "" && (next == len(r.tokens) || r.is(next, ':')):
		r.sep = ':' // 3: 0.5: 1.0 -2.0
		return r.value(i, r.of([]byte("value")), none, next)
	case m != none && t.whole && unit == "":
		r.progress(i, m, next)
	case m != none, !t.whole || unit != "" || t.percent || t.value(r.line) < 0:
	default:
		return r.first(i, next)
	}
	return next
}

// progress reads n/m without a name. The first of two in brackets is the epoch: [0/25][10/300].
func (r *reader) progress(i, m, next int) {
	if r.n != none {
		return
	}
	if r.is(i-1, '[') && r.is(next, ']') && r.is(next+1, '[') && r.num(next+2) {
		r.from = none
		r.counter(i, m, epoch)
		return
	}
	if math.Trunc(r.tokens[i].value(r.line)) > r.tokens[m].value(r.line) {
		return
	}
	r.n, r.m = i, m
	r.eval = r.part != "" && r.part != "train"
	switch {
	case i == 0:
		r.keras(next)
	case !r.bar && r.is(i-1, drawing): // fit |███    | 3/12 [25%] in 1s
		r.bar, r.named = true, r.wordsBefore(i)
	}
}

// keras recognizes the lines whose numbers count when n is m: 422/422 ━━━━ 47s 108ms/step - loss: 0.49.
func (r *reader) keras(next int) {
	switch {
	case r.is(next, '-') && r.num(next+1) && r.unit(next+1) != "":
		r.full, r.dashes = true, true
	case r.is(next, drawing):
		r.full, r.bar = true, true
	}
}

// first reads a count at the start of the line.
func (r *reader) first(i, next int) int {
	switch {
	case i == 0 && r.is(1, ':'), i == 1 && r.is(0, '[') && r.is(2, ']') && r.is(3, ':'):
		r.lead = i
	case i == 1 && r.is(0, '[') && r.is(2, ']'), i == 1 && r.is(0, '#'):
		r.counter(i, none, step)
		r.leads = true
	case i == 1 && r.is(0, '[') && r.is(2, ',') && r.num(3) && r.is(4, ']'): // [1,  2000] loss: 2.172
		r.counter(i, none, epoch)
		r.counter(3, none, batch)
		return 5
	case i == 0 && r.is(1, '|') && r.num(2) && r.is(3, '|'): // torchtune's 1|3|Loss: 1.94
		r.counter(i, none, epoch)
		r.counter(2, none, step)
		return 4
	}
	return next
}
