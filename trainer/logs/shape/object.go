package shape

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/jsontext"
)

// line reads a line that is one or more rows of fields: an object of JSON, a list of objects, or a row of a table with
// a separator. It reports whether it is.
func (r *fieldReader) line(p *Parser, line []byte, to logs.Sink) bool {
	switch at(line, 0) {
	case '{':
		if r.objects(p, line, to) {
			if p.join.lines > 0 { // half an object before this one
				p.join.lines = 0
				p.tally.note(torn)
			}
			return true
		}
	case '[':
		if line[len(line)-1] == ']' && len(line) > 1 && r.objects(p, line, to) {
			return true
		}
	}
	return r.table.line(r, p, line, to)
}

// objects reads a text that is an object of JSON or a list of objects, and reports whether it is.
func (r *fieldReader) objects(p *Parser, text []byte, to logs.Sink) bool {
	s := jsontext.New(text)
	if s.Peek() != '[' {
		r.begin()
		if s.Peek() != '{' || !r.object(&s, &r.root, 0) || !s.End() {
			return false
		}
		r.give(p, text, to)
		return true
	}
	items := jsontext.List(text).Items()
	if len(items) == 0 || !jsontext.Whole(text) {
		return false
	}
	for _, item := range items {
		if item[0] != '{' || !r.objects(p, item, to) {
			return false
		}
	}
	return true
}

// object reads an object into the row.
func (r *fieldReader) object(s *jsontext.Scanner, outer *field, depth int) bool {
	s.At++
	if s.Next('}') {
		return true
	}
	guess := &outer.first
	for {
		f := *guess
		if f == nil || !f.follows(s) {
			raw, ok := s.Key()
			if !ok {
				return false
			}
			if f = r.of(outer, raw); f != nil {
				*guess = f
			}
		}
		if !r.value(s, f, depth) {
			return false
		}
		if f != nil {
			guess = &f.next
		}
		if more, ok := s.More('}'); !more {
			return ok
		}
	}
}

// follows reports whether the key of a field comes next, and passes over it and its colon if it does.
func (f *field) follows(s *jsontext.Scanner) bool {
	if s.Peek() != '"' {
		return false
	}
	text, end := s.Text, s.At+1+len(f.raw)
	if end+1 >= len(text) || text[end] != '"' || text[end+1] != ':' || string(text[s.At+1:end]) != f.raw {
		return false
	}
	s.At = end + 2
	return true
}

// value reads the value of a field; nil: there is no room for it.
func (r *fieldReader) value(s *jsontext.Scanner, f *field, depth int) bool {
	const deepest = 64 // nobody names a metric so
	switch s.Peek() {
	case '"':
		raw, ok := s.Quoted()
		if ok && f != nil {
			r.string(f, raw)
		}
		return ok
	case '{':
		switch {
		case f != nil && f.says == isConfig:
			start := s.At
			ok := s.Skip(depth)
			r.config = s.Text[start:s.At]
			return ok
		case f == nil || depth >= deepest:
			return s.Skip(depth)
		}
		return r.object(s, f, depth+1)
	case '[':
		start := s.At
		ok := s.Skip(depth)
		if ok && f != nil && depth < deepest {
			r.list(f, s.Text[start:s.At])
		}
		return ok
	case 't', 'f', 'n':
		return s.Word()
	}
	v, ok := s.Number()
	if ok && f != nil {
		r.number(f, v, math.NaN())
	}
	return ok
}

// list takes a short list of numbers: NAME/1, NAME/2. A longer one is data.
func (r *fieldReader) list(f *field, text []byte) {
	const most = 16
	if len(text) > 32*most {
		return
	}
	items := jsontext.List(text).Items()
	var values [most]float64
	for i, item := range items {
		v, ok := logs.ParseNumber(item)
		if i == most || !ok {
			return
		}
		values[i] = v
	}
	for i := range items {
		if g := r.of(f, []byte(strconv.Itoa(i+1))); g != nil {
			r.listed, f.says = true, isList
			r.number(g, values[i], math.NaN())
		}
	}
}

// give gives the sink what a row says. text is the object that the row is, nil for a row of a table.
func (r *fieldReader) give(p *Parser, text []byte, to logs.Sink) {
	r.given++
	p.tally.all++
	p.tally.current = current{}
	if p.Explain {
		r.trace(p, text)
	}
	if r.kind != nil || r.config != nil {
		r.inform(to)
	}
	value := r.single()
	if value != nil && r.stepless() {
		to.Info(logs.Info{Config: map[string]any{"summary/" + r.named(p): value.v}})
		p.tally.note(summary)
		return
	}
	x := &p.found
	best := r.find(x)
	if p.tally.of != nil {
		p.tally.of.of.(*form).best = best
	}
	switch {
	case len(r.numbers) == 0:
		r.say(p, text, to)
		return
	case r.ranked && !r.lowest(p):
		p.tally.note(otherRank)
		return
	}
	unplaced := p.place.step != p.place.step && p.place.epoch != p.place.epoch
	own := x.placed()
	if !own && r.message != nil && bytes.ContainsAny(r.message.text, "0123456789") && !r.measures() {
		r.say(p, text, to)
		return
	}
	if !own && value == nil && unplaced && r.settings(p) {
		r.configure(text, to)
		p.tally.note(setting)
		return
	}
	p.endRecord(to)
	p.release(to)
	if x.step != x.step && x.epoch == x.epoch && r.label == nil {
		r.crowd(p, x)
	}
	row := &p.row
	row.Clear()
	row.Step, row.Epoch = r.locate(p, x, best)
	for _, f := range r.texts {
		if wall, ok := logs.ParseTime(f.text, time.Local); ok {
			row.Wall = wall
			break
		}
	}
	before, at := p.tally.taken, row.Step
	if at != at {
		at = row.Epoch
	}
	for _, f := range r.numbers {
		if own && f.role == measured && !r.logged && r.part == "" && r.kind == nil && f != best && value == nil {
			t := f.last[0]
			if t == nil {
				t = r.series(p, f)
			}
			if t.own && t.at == at && !same(t.v, f.v) {
				p.tally.taken++
			}
			t.at, t.own, t.v = at, true, f.v
			row.Values = append(row.Values, logs.Value{Key: t.key, V: f.v})
			continue
		}
		switch {
		case f == value || f.role == timing && r.passes(row, f):
		case value != nil || f.row != r.row || !r.tells(f, best, x):
		default:
			p.addUntaken(row, r.series(p, f), f.v, own)
		}
	}
	if value != nil {
		p.addUntaken(row, p.series.of(r.named(p)), value.v, own)
	}
	switch {
	case len(row.Values) > 0:
		p.tally.note(given)
		p.emit(row, to)
	case p.tally.taken > before:
		p.tally.note(taken)
	default:
		if own {
			p.tally.note(given)
		}
		if !own || r.message != nil {
			r.say(p, text, to)
		}
	}
}

// find says where the row belongs, as far as its counters do, and which of them is the step.
func (r *fieldReader) find(x *found) (best *field) {
	x.clear()
	still := false // the epoch stands still
	for i, f := range r.numbers {
		v := f.v
		f.rows++
		if i == 0 {
			f.opens++
		}
		if f.axis == noAxis {
			if r.total == 0 || f.role == timing {
				f.broken = f.broken || v != math.Trunc(v)
				f.moves.note(v)
			}
			continue
		}
		if isEpoch := f.axis == epoch || f.epochs && f.moves.grown > 0; !(v >= 0 && v < 1<<53) ||
			!isEpoch && v != math.Trunc(v) {
			f.broken = f.broken || v == v
			continue
		} else if f.moves.note(v); f.broken {
			continue
		} else if isEpoch {
			if x.epoch != x.epoch {
				x.epoch, x.epochs, still = v, f.of, f.rests()
			}
			continue
		}
		if f.axis <= plural && f.moves.grown == 0 && f.raw != "" { // a size or a length
			continue
		}
		if best == nil || f.moves.better(&best.moves) || f.axis == best.axis && f.moves.grown > best.moves.grown {
			best = f
		}
	}
	switch {
	case best == nil:
	case best.axis <= batch && best.moves.grown == 0 && best.raw != "" && (x.epoch != x.epoch || best.axis != batch) &&
		best.of != best.of,
		best.rests() && best.of != best.of, best.axis == total && x.epoch == x.epoch && !still:
		best = nil
	default:
		x.step, x.steps = best.v, best.of
		x.within, x.global = best.of == best.of, best.axis == global
	}
	return best
}

// lowest reports whether the row is of the lowest rank that wrote.
func (r *fieldReader) lowest(p *Parser) bool {
	for _, f := range r.numbers {
		if f.role == ranking && f.v >= 0 && f.v == math.Trunc(f.v) {
			p.votes.rank = min(p.votes.rank, f.v)
			return f.v == p.votes.rank
		}
	}
	return true
}

// measures reports whether half of the row's numbers are metrics that the field knows, and no rate of learning.
func (r *fieldReader) measures() bool {
	n, all := 0, 0
	for _, f := range r.numbers {
		if f.role == measured && !(r.logged && f.logger) {
			if all++; f.name.class == metric && !f.name.lr {
				n++
			}
		}
	}
	return n > 0 && 2*n >= all
}

// settings reports whether the row tells settings: it has no x, there was none yet, and no metric. In a log without an
// axis its numbers must come once.
func (r *fieldReader) settings(p *Parser) bool {
	if r.measures() || r.total < 2 || len(r.texts) == 0 && !p.votes.axis {
		return false
	}
	for _, f := range r.numbers {
		if !p.votes.axis && f.total > 1 {
			return false
		}
	}
	return true
}

// configure tells the numbers and words of a row as the run's settings.
func (r *fieldReader) configure(text []byte, to logs.Sink) {
	config := map[string]any{}
	for _, f := range r.numbers {
		if f.role != timing && f.role != saying && !(r.logged && f.logger) {
			config[f.key] = f.v
		}
	}
	for _, f := range r.texts {
		if f.time == logs.Metric && f.role != timing {
			config[f.key] = logs.Clean(jsontext.Unquote(f.text))
		}
	}
	to.Info(logs.Info{Config: config})
}

// crowd makes the rows count whose epoch several share, as where it is rounded.
func (r *fieldReader) crowd(p *Parser, x *found) {
	for _, f := range r.numbers {
		if f.role != measured {
			continue
		}
		t := r.series(p, f)
		t.lines++
		if t.lines > 1 && t.at == x.epoch && !same(t.value, f.v) {
			t.collides++
		}
		t.value = f.v
		if f.crowded[partIndex(r.part)] {
			p.tally.counted++
			x.step, x.global = float64(t.lines), true
		}
		return
	}
}

// locate moves the place, and says where the row belongs.
func (r *fieldReader) locate(p *Parser, x *found, best *field) (step, epoch float64) {
	if !x.placed() {
		return p.locate(x, false)
	}
	p.votes.axis = true
	p.votes.steps = p.votes.steps || x.step == x.step
	place := &p.place
	switch {
	case x.step != x.step || place.step != place.step:
	case x.epoch != x.epoch && x.step == place.epoch && x.step < r.least, // the step of a test that counts epochs
		r.part != "" && r.part != "train" && x.epoch == place.epoch && x.step < place.named.last: // or its progress
		x.step = math.NaN()
	}
	if x.step == x.step {
		r.least = min(r.least, x.step)
	}
	if step, epoch = place.move(x); x.step == x.step {
		epoch = x.epoch
	}
	for _, f := range r.numbers {
		switch {
		case f.role != counting || f.axis > plural || f.moves.grown > 0 || f.v <= 0 || f == best:
		case f.epochs:
			place.epochs = f.v
		default:
			place.total = f.v
		}
	}
	return step, epoch
}

// passes takes a time, and reports whether it is one: a number that does not grow is a metric.
func (r *fieldReader) passes(row *logs.Row, f *field) bool {
	if low := strings.ToLower(f.raw); f.time == logs.Elapsed && f.v < 1e9 &&
		(low == "time" || strings.HasSuffix(low, "/time")) &&
		(f.moves.grown == 0 && max(f.total, f.moves.lines-f.total) > 1 || 10*f.moves.less > f.moves.grown) {
		return false
	}
	row.SetAs(f.time, f.key, f.v)
	return true
}

// tells reports whether a number of the row is one of a metric: a counter is that if it counts something else than x.
func (r *fieldReader) tells(f, best *field, x *found) bool {
	switch f.role {
	case saying, ranking:
		return false
	case counting:
		switch {
		case f.broken:
			return true
		case f == best:
			return strings.HasSuffix(f.key, "timesteps") // which are a measure of work too
		case f.axis == epoch || f.axis == batch || f.v == x.step || f.moves.grown == 0 || f.index():
			return false
		}
	case measured:
		return f != best && !(r.logged && f.logger) && !(f.key == "v" && r.kind != nil)
	}
	return true
}

var partNames = [...]string{"", "train", "val", "test"}

func partIndex(part string) int { return max(0, slices.Index(partNames[:], part)) }

// series is where a number of the row goes.
func (r *fieldReader) series(p *Parser, f *field) *series {
	i := 0
	if r.part != "" && !f.name.fixed && f.name.part == "" {
		i = partIndex(r.part)
	}
	if f.last[i] == nil {
		key := f.key
		if i > 0 {
			key = r.part + "/" + key
		}
		f.last[i] = p.series.of(key)
	}
	return f.last[i]
}

// single returns the value of a row that is one value of a metric that it names, nil for other rows.
func (r *fieldReader) single() *field {
	if r.label == nil {
		return nil
	}
	for _, f := range r.numbers {
		if strings.EqualFold(f.key, "value") {
			return f
		}
	}
	return nil
}

// stepless reports whether such a row says that it has no step, by the least of numbers: ClearML's single values.
func (r *fieldReader) stepless() bool {
	return slices.ContainsFunc(r.numbers, func(f *field) bool { return f.role == counting && f.v == math.MinInt32 })
}

// named is the name of such a row's metric.
func (r *fieldReader) named(p *Parser) string {
	raw := r.label.text
	if r.variant != nil && len(r.variant.text) > 0 {
		raw = append(append(append(make([]byte, 0, 64), raw...), '/'), r.variant.text...)
	}
	if r.part != "" {
		raw = append(append(make([]byte, 0, 64), r.part+"/"...), raw...)
	}
	if t := p.series[string(raw)]; t != nil {
		return t.key
	}
	return logs.Clean(jsontext.Unquote(raw))
}

// inform tells what the row says of the run.
func (r *fieldReader) inform(to logs.Sink) {
	if r.kind != nil && r.run != nil {
		if name := logs.Clean(jsontext.Unquote(r.run)); name != "" && name != r.started {
			r.started = name
			to.Info(logs.Info{Name: name})
		}
	}
	if r.config == nil || bytes.Equal(r.config, r.told) {
		return
	}
	if config, err := jsontext.Flatten(r.config); err == nil && len(config) > 0 {
		r.told = append(r.told[:0], r.config...)
		to.Info(logs.Info{Config: config})
	}
}

// say reads the message of a row that has no numbers of its own, or shows the row.
func (r *fieldReader) say(p *Parser, text []byte, to logs.Sink) {
	if r.message == nil {
		if len(r.texts) > 0 && r.config == nil && r.label == nil {
			to.Line([]byte(logs.Clean(string(text))))
		}
		return
	}
	said := jsontext.Unquote(r.message.text)
	if r.title != nil {
		said = jsontext.Unquote(r.title) + ": " + said
	}
	for line := range strings.Lines(said) {
		if r.kind != nil { // an alert
			to.Line([]byte(logs.Clean(line)))
		} else {
			tell(p.read([]byte(strings.TrimRight(line, "\r\n")), to), to)
		}
	}
}

// trace follows the row for Explain.
func (r *fieldReader) trace(p *Parser, text []byte) {
	if len(r.numbers) == 0 {
		return
	}
	var keys []byte
	for _, f := range r.numbers {
		keys = append(append(keys, f.key...), 0)
	}
	t := r.traces[string(keys)]
	if t == nil && len(r.traces) < maxShapes {
		if r.traces == nil {
			r.traces = map[string]*trace{}
		}
		if text == nil {
			text = r.table.text
		}
		p.tally.follow(&t, nil, text)
		t.of = &form{fields: slices.Clone(r.numbers)}
		r.traces[string(keys)] = t
	}
	p.tally.of = t
}
