package shape

import (
	"math"

	"newtop/trainer/logs"
)

// record is consecutive lines of one name and one number: they belong together, wherever among them x stands.
type record struct {
	found   found
	axis    axis
	counter *shape // that said so
	row     logs.Row
	weak    []bool   // of each value: no word that the field knows
	seen    []int    // how often its line came
	of      []*trace // of each value
	section string
	any     bool
}

func (r *record) clear() {
	r.found.clear()
	r.row.Clear()
	r.axis, r.weak, r.seen, r.any, r.section = noAxis, r.weak[:0], r.seen[:0], false, ""
	r.of = r.of[:0]
}

// has reports whether a row has a value of a key.
func has(r *logs.Row, key string) bool {
	for i := range r.Values {
		if r.Values[i].Key == key {
			return true
		}
	}
	return false
}

// addToRecord adds a line of one name and one number to the record. A name that comes again begins another one.
func (p *Parser) addToRecord(s *shape, line []byte, x *prefix, to logs.Sink) {
	r, f := &p.record, &p.found
	if s.section != "" {
		r.section = s.section
		return
	}
	if len(s.readings) == 0 {
		p.countInRecord(s, f, to)
		return
	}
	v := &s.readings[0]
	if !f.placed() && v.name.class == other && !v.marked { // Fold 2
		p.endRecord(to)
		p.tally.note(unclear)
		return
	}
	if f.placed() { // a lead or progress
		p.endRecord(to)
		p.emitLine(s, line, x, to)
		return
	}
	f.eval = false
	t, value, ok := p.measure(v, s, line, x)
	if !ok {
		return
	}
	key := t.key
	if r.section != "" {
		key = p.series.of(r.section + key).key
	}
	if has(&r.row, key) {
		section := r.section
		p.endRecord(to)
		r.section = section
	}
	r.any = true
	r.row.Add(key, value)
	r.weak = append(r.weak, v.name.class != metric || v.name.lr || v.name.rate)
	r.seen = append(r.seen, max(s.total, s.lines))
	r.of = append(r.of, p.tally.of)
	p.tally.noted = true
}

// countInRecord adds a counter alone on its line.
func (p *Parser) countInRecord(s *shape, f *found, to logs.Sink) {
	r := &p.record
	a := s.counts[0].axis
	if !f.placed() || !s.leads {
		return
	}
	counted := p.place.counted || r.found.steps == r.found.steps // [batch=1/4800]: has said the place
	if counted && a != epoch && f.steps != f.steps && len(r.row.Values) == 0 {
		return
	}
	if a != epoch && a == r.axis && s != r.counter {
		return // another counter of the box: total/steps below total/epochs
	}
	if a == epoch && r.found.epoch == r.found.epoch || a != epoch && a == r.axis {
		p.endRecord(to)
	}
	r.any = true
	p.tally.note(given)
	switch {
	case a == epoch:
		r.found.epoch, r.found.epochs = f.epoch, f.epochs
	case a > r.axis:
		r.axis, r.counter = a, s
		r.found.step, r.found.steps, r.found.within, r.found.global = f.step, f.steps, f.within, f.global
	}
	if s.part != "" {
		p.part, p.table.own = s.part, false
	} else if s.leads {
		p.part = ""
	}
}

// endRecord gives the record. One without an x of its own belongs to the place.
func (p *Parser) endRecord(to logs.Sink) {
	r := &p.record
	if !r.any {
		r.section = ""
		return
	}
	f := &r.found
	if r.axis == total && (p.votes.axis || f.epoch == f.epoch) {
		f.step, f.steps = math.NaN(), math.NaN()
	}
	own := f.placed()
	if own {
		p.move(f)
	}
	if len(r.row.Values) == 0 {
		if own {
			p.release(to)
		}
		r.clear()
		return
	}
	row := &p.row
	row.Clear()
	var none found
	none.clear()
	unplaced := p.place.step != p.place.step && p.place.epoch != p.place.epoch
	row.Step, row.Epoch = p.locate(&none, false)
	for i, v := range r.row.Values {
		if r.accept(p, i, unplaced) {
			p.addUntaken(row, p.series.of(v.Key), v.V, own)
		}
	}
	r.clear()
	if len(row.Values) > 0 {
		p.release(to)
		p.emit(row, to)
	}
}

// accept reports whether a value of a record is a metric's.
func (r *record) accept(p *Parser, i int, unplaced bool) bool {
	cause := given
	switch {
	case !unplaced:
	case p.votes.axis && (r.weak[i] || p.votes.zero):
		cause = early
	case !p.votes.axis && r.weak[i] && r.seen[i] < 3:
		cause = unclear
	}
	now := p.tally.current
	p.tally.of = r.of[i]
	p.tally.note(cause)
	p.tally.current = now
	return cause == given
}
