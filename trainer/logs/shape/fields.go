package shape

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/jsontext"
)

// role is what a field's numbers are.
type role uint8

const (
	measured role = iota
	counting
	timing
	ranking // which process wrote the row
	saying  // nothing of the training
)

// speech is what a field's strings are.
type speech uint8

const (
	noWord    speech = iota
	isList           // numbers
	isName           // of what the row's value is a value of, from the weakest on
	isKey            //
	isTag            //
	isMetric         //
	isVariant        // what comes behind such a name
	isMessage        // what was said, perhaps with numbers
	isPart           // of which part of the rows the numbers are, if it is a word for one
	isLevel          // of a logger
	isKind           // trackio's
	isRun
	isTitle
	isID
	isConfig // of an object: it holds settings
)

// field is a number or a word that rows have under a name: a key of objects, by its path, or a column.
type field struct {
	raw         string            // the key as it is written, without the objects it is in
	outer       *field            // the object it is in
	fields      map[string]*field // of an object
	first, next *field            // what an object began with when it came last, and what followed there

	key    string // its name by path, as it is given
	name   *name
	role   role
	says   speech
	axis   axis // it counts, or may count
	epochs bool // it counts epochs
	length bool // it says how many there will be, unless it grows
	logger bool // a logger says it of itself
	time   logs.Axis
	moves  count
	opens  int // rows that it was the first number of
	rows   int // that had its number
	total  int // among the first lines of the log
	broken bool

	row     int // the newest that has it
	v, of   float64
	text    []byte     // raw
	last    [4]*series // by the part of the row
	crowded [4]bool    // several rows of a part have the same epoch
}

// rests reports whether the field has stood still for as long as tells something. The first lines of the log are read
// twice.
func (f *field) rests() bool {
	return max(f.total, f.moves.lines-f.total) > 2 && f.moves.grown == 0 && f.moves.less == 0
}

// maxFields bounds the fields that are remembered; others are passed over.
const maxFields = 1 << 16

// fieldReader reads rows of numbers that have names of their own: objects of JSON, and the rows of a table with a
// separator.
type fieldReader struct {
	root    field
	all     []*field
	base    *field // the object whose name says nothing, as all metrics are in it
	row     int    // number of the row
	total   int    // rows among the first lines
	given   int    // of them, or of what they said
	numbers []*field
	texts   []*field
	label   *field
	variant *field
	message *field
	part    string // train, val or test
	logged  bool   // a logger wrote the row
	ranked  bool   // some field says which process wrote the row
	listed  bool   // some field was a list of numbers
	config  []byte
	kind    []byte
	run     []byte
	title   []byte
	started string // the run that was told
	told    []byte // the settings that were told
	least   float64
	table   delimited
	traces  map[string]*trace
}

func (r *fieldReader) begin() {
	r.row++
	r.numbers, r.texts = r.numbers[:0], r.texts[:0]
	r.label, r.variant, r.message, r.part, r.logged = nil, nil, nil, "", false
	r.config, r.kind, r.run, r.title = nil, nil, nil, nil
}

// restart begins the rows again, after a trial that said whether some row has an x.
func (r *fieldReader) restart(v *votes) {
	r.total, r.least = r.given, math.Inf(1)
	var base *field
	shared := false
	for _, f := range r.all {
		if f.epochs && f.axis != epoch && f.moves.less > 0 && 2*f.moves.less >= f.moves.grown { // how many each run had
			f.role, f.axis, f.moves.axis, f.epochs, f.length = measured, noAxis, noAxis, false, false
			v.axis = slices.ContainsFunc(r.all, func(f *field) bool { return f.role == counting && f.moves.grown > 0 })
			v.steps = v.steps && v.axis
		}
		for i, t := range f.last {
			f.crowded[i] = t != nil && t.lines > 2 && 2*t.collides >= t.lines-1
		}
		if f.rows > 2 && f.rows == r.given && f.moves.grown == f.rows-1 && !v.axis && !f.broken &&
			(f.opens == f.rows || len(f.raw) == 1) {
			f.role, f.axis, f.moves.axis = counting, step, step
			v.axis, v.steps = true, true
		}
		if f.last != [4]*series{} {
			if !shared {
				base, shared = f.outer, true
			}
			base = common(base, f.outer)
		}
		f.total, f.rows, f.opens, f.row, f.last = f.rows, 0, 0, 0, [4]*series{}
		f.moves.last = math.NaN()
	}
	for base != nil && (base.says == isList || base.names()) {
		base = base.outer
	}
	if base != nil && base != &r.root {
		r.base = base
		for _, f := range r.all {
			f.key = r.path(f)
		}
	}
	r.row, r.given, r.started, r.told = 0, 0, "", nil
	r.table.restart()
}

// names reports whether the name of an object says of which rows the numbers in it are, or whether that of one that it
// is in does.
func (f *field) names() bool {
	return f.outer != nil && (parts[strings.ToLower(f.raw)] != "" || f.outer.names())
}

// common is the innermost object that two are in.
func common(a, b *field) *field {
	for x := a; x != nil; x = x.outer {
		for y := b; y != nil; y = y.outer {
			if x == y {
				return x
			}
		}
	}
	return nil
}

// path is the name of a field behind those of the objects it is in, but for what says nothing.
func (r *fieldReader) path(f *field) string {
	name := logs.Clean(jsontext.Unquote([]byte(f.raw)))
	if f.outer == &r.root || f.outer == r.base || f.outer.raw == "metrics" && f.outer.outer == &r.root {
		return name
	}
	return r.path(f.outer) + "/" + name
}

// of returns the field of a key in an object, nil if there are too many.
func (r *fieldReader) of(outer *field, raw []byte) *field {
	f := outer.fields[string(raw)]
	if f != nil || len(r.all) >= maxFields {
		return f
	}
	f = &field{raw: string(raw), outer: outer, of: math.NaN()}
	f.key = r.path(f)
	f.describe(outer == &r.root)
	r.ranked = r.ranked || f.role == ranking
	if outer.fields == nil {
		outer.fields = map[string]*field{}
	}
	outer.fields[f.raw] = f
	r.all = append(r.all, f)
	return f
}

var (
	// loggers are names of what a logger says of itself in any row, and inLogs in the rows of a logger alone.
	loggers = set(`lineno levelno pid tid process thread msecs relativecreated process_id thread_id process/id
		thread/id level/no processname threadname seed`)
	inLogs = set("line level lvl seq version v no id exc_info stack_info created")
	// instants are names of times of day that logs.AxisOf does not know.
	instants = set("created wall_time asctime time_stamp @timestamp")
	ranks    = set("rank local_rank global_rank process_index")
	configs  = set("config hparams hyperparameters args params")
	// without are words of numbers that end like a counter and count nothing.
	without = set("per best last since every")
	sizes   = set("total max num n target planned")
)

// stringWords are what strings of some names are, in an object that is in no other.
var stringWords = map[string]speech{
	"metric": isMetric, "tag": isTag, "key": isKey, "variable": isKey, "name": isName, "variant": isVariant,
	"msg": isMessage, "message": isMessage, "text": isMessage, "log": isMessage, "event": isMessage,
	"record/message": isMessage, "mode": isPart, "split": isPart, "phase": isPart, "stage": isPart, "type": isPart,
	"subset": isPart, "part": isPart, "dataset": isPart, "set": isPart, "level": isLevel, "levelname": isLevel,
	"severity": isLevel, "logger": isLevel, "lvl": isLevel, "kind": isKind, "run": isRun, "title": isTitle,
	"id": isID, "run_id": isID, "run_name": isID, "project": isID, "task": isID, "version": isID,
}

// describe says what the name of a field means.
func (f *field) describe(outermost bool) {
	low := strings.ToLower(strings.TrimSpace(f.key))
	under := strings.ReplaceAll(low, " ", "_")
	last := under[strings.LastIndexByte(under, '/')+1:]
	if f.says = stringWords[low]; strings.HasSuffix(low, "level/name") {
		f.says = isLevel
	}
	if outermost && configs[low] {
		f.says = isConfig
	}
	f.name = newName(f.key)
	words := strings.FieldsFunc(last, func(r rune) bool { return strings.ContainsRune("_-. ", r) })
	f.logger = inLogs[last]
	if f.time = logs.AxisOf(under); f.time == logs.Metric || f.time <= logs.Epochs {
		f.time = logs.AxisOf(last)
	}
	switch {
	case strings.HasSuffix(under, "elapsed/seconds"):
		f.role, f.time = timing, logs.Elapsed
	case instants[last]:
		f.role, f.time = timing, logs.Wall
	case loggers[last], loggers[under], strings.HasSuffix(under, "process/id"), strings.HasSuffix(under, "thread/id"),
		f.time == logs.Ignored:
		f.role = saying
	case ranks[last]:
		f.role = ranking
	case f.index():
		f.axis, f.role = total, counting
	case f.time >= logs.Wall:
		f.role = timing
	case len(words) > 0 && f.name.class != metric:
		f.count(words)
	}
	f.moves.axis = f.axis
}

// index reports whether the field is the index of a frame of pandas, which numbers rows where nothing else does.
func (f *field) index() bool { return f.raw == "" || f.raw == "Unnamed: 0" }

// count says what a field counts whose name is some words.
func (f *field) count(words []string) {
	last := words[len(words)-1]
	f.epochs = last == "epoch" || last == "epochs" || last == "ep"
	if f.axis = axisOf(words); f.axis != noAxis {
		f.role, f.length = counting, f.axis == total
		return
	}
	if len(words) > 1 && axes[last] != noAxis {
		for _, w := range words {
			if without[w] || known[w] {
				return
			}
		}
		f.axis, f.length = total, sizes[words[0]]
		if f.length {
			f.role = counting
		}
	}
}

// number notes a number of the row.
func (r *fieldReader) number(f *field, v, of float64) {
	if f.row != r.row {
		f.row = r.row
		r.numbers = append(r.numbers, f)
	}
	f.v, f.of = v, of
}

// string notes a string of the row, as it is written: a number, a time, or a word that says what the row is.
func (r *fieldReader) string(f *field, raw []byte) {
	f.text = raw
	switch f.says {
	case noWord, isConfig:
	case isName, isKey, isTag, isMetric:
		if r.label == nil || f.says > r.label.says {
			r.label = f
		}
		return
	case isVariant:
		r.variant = f
		return
	case isMessage:
		if r.part = cmp.Or(r.part, parts[string(raw)]); parts[string(raw)] != "" {
			return
		}
		r.logged = r.logged || f.raw == "msg" || f.raw == "message"
		if r.message == nil || len(raw) > len(r.message.text) {
			r.message = f
		}
		return
	case isPart:
		part := parts[string(raw)]
		if part == "" && len(raw) > 0 && raw[0] < 'a' {
			part = parts[string(bytes.ToLower(raw))]
		}
		if part != "" {
			r.part = part
			return
		}
	case isLevel:
		r.logged = true
		return
	case isKind:
		r.kind = raw
		return
	case isRun:
		r.run = raw
		return
	case isTitle:
		r.title = raw
		return
	case isID:
		return
	}
	if v, of, ok := cellNumber(raw, false); ok {
		r.number(f, v, of)
		return
	}
	r.texts = append(r.texts, f)
}

// cellNumber reads a number with what programs put around it, as tensor(0.5, device='cuda:0') and 12/100. comma: 0,125
// is an eighth.
func cellNumber(text []byte, comma bool) (v, of float64, ok bool) {
	of = math.NaN()
	i := -1
	if comma {
		i = bytes.IndexByte(text, ',')
	} else if len(text) > 3 && (text[1] == ',' && text[0] == '0' || text[2] == ',' && text[1] == '0' && text[0] < '0') {
		i = 1 // 0,125
	}
	if i < 0 {
		if v, ok = logs.ParseNumber(text); ok {
			return v, of, true
		}
	}
	if len(text) == 0 || len(text) > 80 {
		return 0, of, false
	}
	if letter(text[0]) {
		open := bytes.IndexByte(text, '(')
		if open < 0 || bytes.IndexByte(text[:open], ' ') >= 0 {
			return 0, of, false
		}
		text = text[open+1:]
		if end := bytes.IndexAny(text, ",)"); end > 0 {
			text = text[:end]
		}
	}
	if len(text) == 0 || !startsNumber(text, 0) && notFinite(text) == 0 {
		return 0, of, false
	}
	if n, m, cut := bytes.Cut(text, []byte("/")); cut {
		v, ok = logs.ParseNumber(n)
		of, valid := logs.ParseNumber(m)
		return v, of, ok && valid
	}
	var c scanner
	c.comma = true
	if dot, i := bytes.IndexByte(text, '.'), bytes.LastIndexByte(text, ','); dot >= 0 && dot < i { // 1.234,5
		text = bytes.ReplaceAll(text, []byte("."), nil)
	}
	var t token
	c.number(&t, text)
	return t.value(text), of, t.kind == number && t.end == len(text)
}
