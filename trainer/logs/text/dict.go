package text

import (
	"bytes"
	"math"

	"newtop/trainer/logs"
)

// dict joins the lines of a Python dict or a JSON object, and knows the bar that stands before those that the Trainer of
// Hugging Face prints: it tells the step, which the dict does not.
type dict struct {
	text  []byte
	open  bool // the text goes on in the next line
	lines int

	before    found // what stands on the line before the dict: Step 5 {…
	near      int   // lines for which the bar below is the one just before
	n, m      float64
	locked    float64 // the m of the bar of training, 0: not known yet
	perEpoch  float64 // steps
	noBar     bool    // the first dict had none: epochs are the axis
	lastStep  float64
	lastEpoch float64

	fields []field // of the newest dict
}

// field is a part of a dict.
type field struct {
	key   string
	value any
}

const (
	mostDictLines = 64
	mostDict      = 1 << 14
)

func (d *dict) bar(n, m float64) { d.n, d.m, d.near = n, m, 2 }

var namespace = []byte("Namespace(")

// brackets reads a line that is a dict or holds one, or a part of it, and reports whether it is.
func (p *Parser) brackets(line []byte, last bool, to logs.Sink) bool {
	d := &p.dict
	if !last {
		return false
	}
	if d.open {
		if len(bytes.Trim(line, "0123456789.,+-e:[]{} \t")) > 0 && !bytes.ContainsAny(line, `'"}`) {
			d.open = false
			return false
		}
		d.text = append(append(d.text, ' '), line...)
		d.lines++
	} else {
		i := bytes.IndexByte(line, '{')
		if i >= 0 {
			rest := bytes.TrimLeft(line[i+1:], " \t")
			if len(rest) == 0 && i > 0 || len(rest) > 0 && rest[0] != '\'' && rest[0] != '"' {
				return false
			}
			p.pairs.read(line[:i])
			f := &p.pairs.found
			if f.bar && f.n == f.n && f.m == f.m {
				d.bar(f.n, f.m)
			}
			if f.lead == f.lead { // srun's label
				p.labelled = true
				if !p.lowest(f.lead) {
					return true
				}
			}
			d.before = *f
		} else if i = bytes.Index(line, namespace); i >= 0 {
			config := make(map[string]any)
			fields(line[i+len(namespace):], "", 0, func(k string, v any) { config[k] = v })
			to.Info(logs.Info{Config: config})
			return true
		} else {
			return false
		}
		d.text, d.lines = append(d.text[:0], line[i:]...), 1
	}
	whole := closes(d.text)
	d.open = !whole && d.lines < mostDictLines && len(d.text) < mostDict
	if whole {
		p.object(d.text, to)
	}
	return whole || d.open
}

// closes reports whether the brace that opens the text is closed in it.
func closes(s []byte) bool {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}

// object gives the numbers of a dict. One without a step, an epoch and a known metric is the run's configuration.
func (p *Parser) object(s []byte, to logs.Sink) {
	f := &p.pairs.found
	f.clear()
	f.epoch, f.step, f.part = p.dict.before.epoch, p.dict.before.step, p.dict.before.part
	p.dict.fields = p.dict.fields[:0]
	summary, eval := false, false
	fields(s[1:], "", 0, func(key string, v any) {
		if len(p.dict.fields) < 1024 {
			p.dict.fields = append(p.dict.fields, field{key, v})
		}
		k := p.pairs.of([]byte(key))
		x, ok := asNumber(v)
		if !ok {
			return
		}
		summary = summary || key == "train_runtime"
		eval = eval || len(key) > 5 && key[:5] == "eval_"
		f.id = f.id*1000003 + k.id
		switch {
		case k.class == epochs:
			f.epoch = x
		case k.class == steps || k.class == batches:
			f.step = x
		case k == unheard || logs.AxisOf(key) != logs.Metric || hard[key] || bytes.HasSuffix([]byte(key), []byte("_runtime")) || len(f.values) >= 1024:
		default:
			f.strong = f.strong || k.class == metric && k.key != "lr" && k.key != "learning_rate"
			f.values = append(f.values, reading{name: k, part: f.part, v: x, mean: math.NaN()})
		}
	})
	if summary || len(p.dict.fields) == 0 {
		return
	}
	if !f.counts() && !f.strong && !p.again(f.id) {
		config := make(map[string]any)
		for _, f := range p.dict.fields {
			config[f.key] = f.value
		}
		to.Info(logs.Info{Config: config})
		return
	}
	if len(f.values) == 0 {
		return
	}
	if f.epoch == f.epoch && f.step != f.step && !eval {
		f.step, f.steps = p.dict.step(f.epoch)
	}
	f.strong = true
	p.tell(to)
}

// step is where a dict stands that tells only its epoch: what the bar before it says, or else as far on as its epoch is.
func (d *dict) step(epoch float64) (n, m float64) {
	near := d.near > 0 && (d.locked == 0 || d.m == d.locked)
	switch {
	case d.noBar, !near && d.locked == 0:
		d.noBar = true
		return math.NaN(), math.NaN()
	case near && (d.locked == 0 || d.n > d.lastStep || epoch <= d.lastEpoch):
		d.locked, d.lastStep, d.lastEpoch = d.m, d.n, epoch
		if epoch > 0 {
			d.perEpoch = d.n / epoch
		}
	default:
		d.lastStep, d.lastEpoch = max(d.lastStep, math.Round(epoch*d.perEpoch)), epoch
	}
	return d.lastStep, d.locked
}
