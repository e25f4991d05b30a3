package workspace

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/format"
	"newtop/tui/style"
)

// term is one condition on a run.
type term struct {
	key, op, value string
	number         float64 // the value, if it is one
	numeric        bool
	not            bool
}

// operators in the order in which they are looked for: the longer ones first.
var operators = []string{"!=", ">=", "<=", "=", ">", "<", "~"}

// parse reads a filter: words that names have, or have not after a minus, and conditions such as lr>0.01 opt=adam
// name~big. All of them hold. It says what it expected.
func parse(text string) (terms []term, err error) {
	for _, word := range strings.Fields(text) {
		t := term{key: "name", op: "~", value: word}
		at := strings.IndexAny(word, "!=<>~")
		switch {
		case at < 0:
			if rest, ok := strings.CutPrefix(word, "-"); ok && rest != "" {
				t.value, t.not = rest, true
			}
		case at == 0:
			return nil, fmt.Errorf("%s: expected a name before it, as in lr%s0.01", word, word)
		default:
			op := slices.IndexFunc(operators, func(op string) bool { return strings.HasPrefix(word[at:], op) })
			if op < 0 {
				return nil, fmt.Errorf("%s: expected one of %s", word, strings.Join(operators, " "))
			}
			t.key, t.op = strings.ToLower(word[:at]), operators[op]
			t.value = word[at+len(t.op):]
			if t.value == "" {
				return nil, fmt.Errorf("%s: expected a value after it", word)
			}
		}
		t.number, err = strconv.ParseFloat(t.value, 64)
		t.numeric = err == nil && !math.IsNaN(t.number)
		if !t.numeric && (strings.HasPrefix(t.op, "<") || strings.HasPrefix(t.op, ">")) {
			return nil, fmt.Errorf("%s: expected a number after %s", word, t.op)
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// matches reports whether a value meets a term.
func (t *term) matches(v any) bool {
	text := style.Clean(format.Setting(fmt.Sprint(v)))
	number, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	known := err == nil && !math.IsNaN(number)
	switch t.op {
	case "~":
		return strings.Contains(strings.ToLower(text), strings.ToLower(t.value))
	case "=", "!=":
		same := strings.EqualFold(text, t.value) || known && t.numeric && number == t.number
		return same == (t.op == "=")
	case ">":
		return known && number > t.number
	case ">=":
		return known && number >= t.number
	case "<":
		return known && number < t.number
	}
	return known && number <= t.number
}

// aliases are other words for what a filter can ask for.
var aliases = map[string]string{"opt": "optimizer", "method": "optimizer", "acc": "accuracy"}

// facts are what a filter can ask of a run: what it is, its settings and its latest metrics, by lower-case names.
func (r *run) facts() map[string]any {
	out := map[string]any{}
	put := func(key string, v float64) {
		if !math.IsNaN(v) {
			out[key] = v
		}
	}
	c := &r.h.Curves
	for i := range c.Metrics {
		put(strings.ToLower(c.Metrics[i].Key), c.Metrics[i].Series.Last())
	}
	put("loss", c.Loss.Last())
	put("val_loss", c.ValidationLoss.Last())
	put("test_loss", c.TestLoss.Last())
	name := "error"
	if r.h.Regression() {
		name = "rmse"
	}
	put(name, c.Metric.Last())
	put("val_"+name, c.ValidationMetric.Last())
	put("test_"+name, c.TestMetric.Last())
	put("rate", c.Rate.Last())
	put("lr", c.Rate.Last())
	maps.Copy(out, r.settings())
	_, state := r.state()
	out["name"], out["source"], out["state"], out["epoch"] = r.name, r.source, state, float64(r.h.Latest.Epoch)
	if e := r.h.Run; e != nil {
		out["data"], out["seed"] = e.Data.Name, e.Seed
		opt := r.h.Status.Optimizer
		if opt == "" {
			opt = e.Optimizer
		}
		if opt != "" {
			out["optimizer"] = opt
		}
	}
	return out
}

// fact finds what a key means: its own name, another word for it, or the last part of a longer name.
func fact(facts map[string]any, key string) (v any, ok bool) {
	if v, ok = facts[key]; ok {
		return v, true
	}
	if v, ok = facts[aliases[key]]; ok {
		return v, true
	}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if strings.HasSuffix(name, "."+key) || strings.HasSuffix(name, "/"+key) {
			return facts[name], true
		}
	}
	return nil, false
}

// filtered returns the runs that a filter hides, or what is wrong with it. A run that does not have what is asked for
// is hidden.
func filtered(runs []*run, text string) (hidden map[*run]bool, err error) {
	terms, err := parse(text)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	hidden = map[*run]bool{}
	known := make([]bool, len(terms))
	names := map[string]bool{}
	for _, r := range runs {
		facts := r.facts()
		for i := range terms {
			t := &terms[i]
			v, ok := fact(facts, t.key)
			known[i] = known[i] || ok
			if t.key == "name" {
				v = r.name + " " + r.source
			}
			if !ok || t.matches(v) == t.not {
				hidden[r] = true
			}
		}
		for name := range facts {
			names[name] = true
		}
	}
	for i, ok := range known {
		if !ok && len(runs) > 0 {
			all := slices.Sorted(maps.Keys(names))
			return nil, fmt.Errorf("no run has %s%s", terms[i].key, format.DidYouMean(terms[i].key, all))
		}
	}
	return hidden, nil
}
