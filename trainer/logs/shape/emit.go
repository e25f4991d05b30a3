package shape

import (
	"bytes"
	"math"
	"strconv"

	"newtop/trainer/logs"
)

// interpret decides what of a line's numbers is a row, and gives it or holds it back.
func (p *Parser) interpret(s *shape, line []byte, x *prefix, last bool, to logs.Sink) {
	f := &p.found
	s.find(f, line, p.scanner.tokens)
	f.bar = f.bar || p.drawn && last && f.placed() && !s.dict
	if x.of > 0 && !p.votes.pairs.ranks && f.n != f.n {
		f.n, f.m = x.rank, x.of
	}
	if !p.ofLeadRank(s, f, line) {
		p.tally.note(otherRank)
		return
	}
	if !last {
		if !f.placed() {
			return
		}
		p.drawn, f.bar = true, true
	}
	skip := p.skip
	p.skip = false
	switch {
	case s.summary, skip && len(s.readings) > 0:
		p.tally.note(summary)
		if s.summary {
			config := make(map[string]any)
			fields(line[1:], "summary", 0, func(k string, v any) { config[k] = v })
			to.Info(logs.Info{Config: config})
		}
	case s.single && last && !s.full:
		p.addToRecord(s, line, x, to)
	case len(s.readings) == 0 && s.short && (s.part == "" || s.numbers) && !f.placed() && !s.best:
		// Of a record, as a time.
		if s.numbers {
			p.tally.note(unclear)
		}
	case len(s.readings) == 0:
		p.endRecord(to)
		p.heading(s, x, line, to)
	default:
		p.endRecord(to)
		p.emitLine(s, line, x, to)
	}
}

// ofLeadRank reads the N: before a line, which is a rank if the line says another place, else the step.
func (p *Parser) ofLeadRank(s *shape, f *found, line []byte) bool {
	if s.lead == none {
		return true
	}
	v := p.scanner.tokens[s.lead].value(line)
	p.votes.labelled = p.votes.labelled || f.placed() && len(s.readings) > 0 && !f.bar
	if !p.votes.labelled {
		if len(s.readings) > 0 {
			f.step = v
		}
		return true
	}
	p.votes.rank = min(p.votes.rank, v)
	return v == p.votes.rank
}

// emitLine gives the numbers of a line that has several.
func (p *Parser) emitLine(s *shape, line []byte, x *prefix, to logs.Sink) {
	f := &p.found
	if p.hfSteps.apart {
		f.n, f.m = math.NaN(), math.NaN()
	}
	if f.placed() {
		p.part = ""
		p.votes.zero = p.votes.zero || !p.votes.axis && (f.step == 0 || f.step != f.step && f.epoch == 0)
		p.votes.axis = true
		p.votes.steps = p.votes.steps || f.step == f.step || f.n == f.n
	} else if cause := p.omission(s, line, to); cause != given {
		p.tally.note(cause)
		return
	}
	p.countCrowded(s, f, line)
	if s.countsEpochs(f, p.place.step) {
		f.step = math.NaN()
	}
	if s.dict && f.epoch == f.epoch && f.step != f.step && x.part == "" {
		first := !p.hfSteps.none
		if p.hfSteps.wait(s, line, x, f.epoch) {
			p.tally.note(given)
			return
		}
		if c := &p.place.progress; first && c.last == c.m && p.place.named.last != p.place.named.last {
			p.hfSteps.apart, p.place.step, p.votes.steps = true, math.NaN(), false
		}
	}
	if s.full && f.n == f.n && !p.fullBarCounts(s, f) {
		p.tally.note(barState)
		return
	}
	if !f.eval && !f.bar {
		p.release(to)
	}
	r := &p.row
	r.Clear()
	r.Step, r.Epoch = p.locate(f, s.full)
	if f.eval {
		p.pass = s.part
	}
	before := p.tally.taken
	own := f.placed() && !(f.eval && f.epoch != f.epoch && f.step != f.step) &&
		(f.step == f.step || f.n == f.n || !p.votes.steps || r.Step != r.Step) // of an epoch, among steps
	for i := range s.readings {
		v := &s.readings[i]
		t, value, ok := p.measure(v, s, line, x)
		if !ok || has(r, t.key) || !p.addUntaken(r, t, value, own) {
			continue
		}
		if v.spread != none {
			r.Add(t.key+" std", math.Abs(p.scanner.tokens[v.spread].value(line)))
		}
	}
	if len(r.Values) == 0 && p.tally.taken > before {
		p.tally.note(taken)
		return
	}
	p.tally.note(given)
	if len(r.Values) == 0 {
		return
	}
	if f.eval || f.bar {
		p.hold(f.eval, s.full, to)
		return
	}
	p.emit(r, to)
}

// readMatch reads a line by a pattern of the user's, and reports whether one fits.
func (m *matcher) readMatch(p *Parser, text, body []byte, last bool, x *prefix, to logs.Sink) bool {
	m.numbers.comma = p.votes.comma
	i, line, free := m.match(text, body)
	if i == none {
		return false
	}
	if m.Explain {
		p.tally.follow(&m.traces[i], text[:len(text)-len(line)], line)
		m.traces[i].of = m.Patterns[i]
	}
	switch {
	case !free && !p.lowest(x):
		p.tally.note(otherRank)
	default:
		p.endRecord(to)
		m.emit(p, m.Patterns[i], line, last, to)
	}
	return true
}

// emit gives the numbers that a pattern found in a line.
func (m *matcher) emit(p *Parser, q *Pattern, line []byte, last bool, to logs.Sink) {
	f := &p.found
	f.clear()
	f.bar = !last || p.drawn
	p.drawn = p.drawn || !last
	m.place(q, line, f)
	own := f.placed()
	p.votes.axis = p.votes.axis || own
	p.votes.steps = p.votes.steps || f.step == f.step
	r := &p.row
	r.Clear()
	r.Step, r.Epoch = p.locate(f, false)
	for i := range m.values {
		h, t := &q.pieces[i], &m.values[i]
		v := t.value(line)
		switch {
		case h.skip || h.name.axis != noAxis:
		case h.time != logs.Metric:
			r.SetAs(h.time, h.name.key, v)
		default:
			if t.percent && h.name.share {
				v /= 100
			}
			p.addUntaken(r, p.series.of(h.name.key), v, own)
		}
	}
	p.tally.note(given)
	switch {
	case len(r.Values) == 0:
	case f.bar:
		p.hold(false, false, to)
	default:
		p.release(to)
		p.emit(r, to)
	}
}

// locate moves the place, and says where the line belongs. Before the first x it is 0; what stands for a whole epoch is
// placed by the epoch alone.
func (p *Parser) locate(f *found, full bool) (step, epoch float64) {
	if full {
		if f.epoch == f.epoch {
			p.place.epoch = f.epoch
		}
		return math.NaN(), p.place.epoch
	}
	step, epoch = p.place.move(f)
	if step != step && epoch != epoch && p.votes.axis {
		if p.votes.steps {
			return 0, epoch
		}
		return step, 0
	}
	return step, epoch
}

// omission says why a line without an x gives nothing, if it does.
func (p *Parser) omission(s *shape, line []byte, to logs.Sink) reason {
	unplaced := p.place.step != p.place.step && p.place.epoch != p.place.epoch
	switch {
	case s.dict && !s.strong && (unplaced || s.total < 3):
		inform(line[bytes.IndexByte(line, '{')+1:], to)
		return setting
	case unplaced && p.votes.axis:
		if 2*s.measured < len(s.readings) || s.measured == 0 || p.votes.zero {
			return early
		}
		return given
	case unplaced && s.measured == 0 && !s.readings[0].marked: // Conv [3, 16, 3, 2]
		return unclear
	case s.strong, s.total >= 3, s.lines >= 2:
		return given
	}
	return unclear
}

// countCrowded makes the lines of a shape whose epoch several share count as steps.
func (p *Parser) countCrowded(s *shape, f *found, line []byte) {
	if f.epoch != f.epoch || f.step == f.step || f.n == f.n || f.bar || f.eval || s.full {
		return
	}
	v := p.scanner.tokens[s.readings[0].at].value(line)
	if s.lines > 1 && f.epoch == s.place && !same(v, s.value) {
		s.collides++
	}
	s.place, s.value = f.epoch, v
	if s.crowded && !p.votes.steps {
		p.tally.counted++
		f.step, f.global = float64(s.lines), true
	}
}

// fullBarCounts says whether a line that counts when it is full does so. A full one after that of an epoch, and before
// the next epoch begins, is of a test; where no line names epochs, it is the next epoch.
func (p *Parser) fullBarCounts(s *shape, f *found) bool {
	if f.n < f.m {
		return false
	}
	switch {
	case f.epoch == f.epoch:
	case !p.place.headed && (p.full != p.full || p.full == f.m):
		if p.full != p.full {
			p.place.epoch = 0
		}
		p.place.epoch++
		p.full = f.m
	case p.full == p.full && (f.m != p.full || s.dashes):
		f.eval = true
	default:
		p.full = f.m
	}
	return true
}

// heading notes what a line without values says of those that follow.
func (p *Parser) heading(s *shape, x *prefix, line []byte, to logs.Sink) {
	f := &p.found
	switch {
	case f.bar:
		p.tally.note(barState)
		if !s.named && len(s.counts) == 0 && f.n == f.n && f.m == f.m {
			p.hfSteps.bar(f.n, f.m)
		}
		if f.n == f.n && f.epoch == f.epoch && !(f.epoch >= p.place.first) {
			p.place.first = f.epoch
		}
	case s.leads && (f.epoch == f.epoch || f.step == f.step):
		p.release(to)
		p.move(f)
		p.part, p.table.own, p.place.counted = s.part, false, f.steps == f.steps
		p.tally.note(given)
	case s.numbers:
		p.tally.note(unclear)
	case s.best:
		p.skip = true
	case s.part != "" && s.short && !s.says:
		p.part, p.table.own = s.part, false
	case x.part != "" && s.short:
		p.part, p.table.own = x.part, false
	}
}

// followDict gives the dict that waits, if the line or the state of one is the bar behind it, or is none.
func followDict(p *Parser, text []byte, to logs.Sink) {
	d := &p.hfSteps
	if !d.waits {
		return
	}
	text = bytes.TrimSpace(text)
	switch bar := bytes.Index(text, []byte("%|")); {
	case len(text) == 0 || bar > len("100"): // of something else
	case bar < 0:
		giveDict(p, math.NaN(), to)
	default:
		n, m := barProgress(p.names, &p.scanner, text)
		if m == d.total || d.total == 0 && n < m && (m == d.m && n >= d.n || (n == 0) == (d.epoch == 0)) {
			d.total = m
			giveDict(p, n, to)
		}
	}
}

// giveDict reads the dict that waits again, at its step. NaN: no bar told it.
func giveDict(p *Parser, step float64, to logs.Sink) {
	d := &p.hfSteps
	if !d.waits {
		return
	}
	p.scanner.scan(d.line)
	if step != step {
		step = d.step(d.like.decimals(d.line, p.scanner.tokens))
	} else if step > 0 && d.epoch > 0 {
		d.perEpoch = step / d.epoch
	}
	d.like.find(&p.found, d.line, p.scanner.tokens)
	p.found.step, p.found.steps = step, d.total
	d.waits = false
	p.emitLine(d.like, d.line, &d.x, to)
}

// move goes on to where a heading says.
func (p *Parser) move(f *found) {
	p.place.move(f)
	p.full = math.NaN()
	p.votes.axis = true
	p.votes.steps = p.votes.steps || f.step == f.step
}

// measure reads a reading of a line, and finds its series.
func (p *Parser) measure(v *reading, s *shape, line []byte, x *prefix) (*series, float64, bool) {
	part := v.part
	switch {
	case part != "":
	case x.part != "":
		part = x.part
	case p.found.eval && s.full:
		part = "test"
	case s.star:
		part = p.pass
	default:
		part = p.part
	}
	if v.last == nil || v.lastPart != part {
		v.last, v.lastPart = p.series.of(p.votes.key(s, v, part)), part
	}
	tokens := p.scanner.tokens
	number := &tokens[v.at]
	if v.beside > 0 && s.weakClimbs() {
		number = &tokens[v.beside]
	}
	if p.found.eval && v.mean != none {
		number = &tokens[v.mean]
	}
	value := number.value(line)
	if v.of != none {
		value /= tokens[v.of].value(line)
	}
	if v.percent && v.name.share {
		value /= 100
	}
	return v.last, value, !(v.name.rate && value < 0) // such a rate is not known yet
}

// key is the key of a reading on a line about a part. It begins with the line's title, and the part of a metric that
// the field does not know, where the log has the metric of several.
func (t *votes) key(s *shape, v *reading, part string) string {
	name := v.key(part)
	key := name
	if v.name.class == other {
		key = under(t.parts, part, name) + key
	}
	return under(t.titles, s.title, name) + key
}

// under is what stands before a metric's name where it is of several.
func under(titles map[string]*title, of, name string) string {
	t := titles[name]
	if t == nil {
		if t = (&title{first: of}); len(titles) < maxNames {
			titles[name] = t
		}
	}
	if t.several = t.several || t.first != of; t.several && of != "" {
		return of + "/"
	}
	return ""
}

// addUntaken adds a value to a row, unless its series has one at this place of a line with an x of its own. Of two
// lines with one the later wins, but for what bars and passes draw again, the earlier is counted.
func (p *Parser) addUntaken(r *logs.Row, t *series, v float64, own bool) bool {
	at := r.Step
	if at != at {
		at = r.Epoch
	}
	if t.own && t.at == at {
		if !own {
			if !(math.Abs(t.v-v) <= 0.01*math.Abs(v)) { // no summary of it
				p.tally.taken++
			}
			return false
		}
		if !same(t.v, v) && !p.found.bar && !p.found.eval {
			p.tally.taken++
		}
	}
	t.at, t.own, t.v = at, own, v
	r.Add(t.key, v)
	return true
}

// key is the name of a reading on a line that is about a part of the rows.
func (v *reading) key(part string) string {
	key := v.name.under(part) + v.suffix
	if v.group != "" && v.group != key {
		key = v.group + "/" + key
	}
	return key
}

// hold keeps the parser's row in place of what is held, which is given before if its step is over.
func (p *Parser) hold(eval, epoch bool, to logs.Sink) {
	h := &p.held
	if !h.any || h.eval != eval || !eval && !(same(h.row.Step, p.row.Step) && same(h.row.Epoch, p.row.Epoch)) {
		p.release(to)
	}
	h.row, p.row = p.row, h.row
	h.any, h.eval, h.epoch = true, eval, epoch
}

// release gives what is held, if it says anything new.
func (p *Parser) release(to logs.Sink) {
	h := &p.held
	if !h.any {
		return
	}
	h.any = false
	if h.eval || h.epoch || h.news() {
		p.emit(&h.row, to)
	}
}

// emit gives the row to the sink, after what is new of the run.
func (p *Parser) emit(r *logs.Row, to logs.Sink) {
	if n := p.place.ahead(); n > 0 && n != p.place.told {
		p.place.told = n
		to.Info(logs.Info{Steps: n})
	}
	p.place.counted = false
	to.Row(r)
}

// emitCells gives the numbers of a row of the table.
func (p *Parser) emitCells(body []byte, to logs.Sink) {
	t, f := &p.table, &p.found
	f.clear()
	r := &p.row
	r.Clear()
	if t.classes && string(body[t.row[0].a:t.row[0].b]) != "all" {
		return
	}
	if t.x != none {
		n, of := fractionOf(body[t.row[t.x].a:t.row[t.x].b])
		if n != n {
			return
		}
		if t.columns[t.x].axis == epoch {
			f.epoch, f.epochs = n, of
		} else {
			f.step, f.global = n, true
		}
		for i, k := range t.columns {
			if i != t.x && k.axis == epoch {
				f.epoch, _ = fractionOf(body[t.row[i].a:t.row[i].b])
			}
		}
		p.votes.axis = true
		p.votes.steps = p.votes.steps || f.step == f.step
	}
	p.release(to)
	r.Step, r.Epoch = p.locate(f, t.x != none && f.step != f.step)
	if r.Step != r.Step && r.Epoch != r.Epoch {
		if t.x == none && t.numbers(body) {
			p.emitCells(body, to)
			return
		}
		p.tally.note(early)
		return
	}
	before := p.tally.taken
	for i, k := range t.columns {
		cell := body[t.row[i].a:t.row[i].b]
		if sum := k.summed(!p.votes.totals && bytes.IndexByte(cell, '.') < 0); sum != k {
			k, t.columns[i], p.votes.totals = sum, sum, true
		}
		if i != t.x && (k.class == other || k.class == metric || k.class == partial) {
			key := k.key
			if k.part == "" && t.x != none {
				key = k.under(p.part)
			}
			p.addCell(r, k, key, cell, t.x != none)
		}
	}
	if len(r.Values) == 0 && p.tally.taken > before {
		p.tally.note(taken)
		return
	}
	p.tally.note(given)
	if len(r.Values) > 0 {
		p.emit(r, to)
	}
}

// addCell adds a cell of a column to a row.
func (p *Parser) addCell(r *logs.Row, k *name, column string, text []byte, own bool) {
	if len(text) == 0 {
		return
	}
	p.scanner.scan(text)
	n := 0
	for i := range p.scanner.tokens {
		t := &p.scanner.tokens[i]
		if t.kind != number || i > 0 && text[0] != '[' {
			if t.kind == junk {
				return
			}
			continue
		}
		if unit := t.unit(text); len(unit) > 1 && !k.rate || n > 64 {
			return
		}
		key := column
		if n++; n > 1 {
			key += "/" + strconv.Itoa(n)
		}
		v := t.value(text)
		if t.percent && k.share {
			v /= 100
		}
		p.addUntaken(r, p.series.of(key), v, own)
	}
}
