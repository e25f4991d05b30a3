package text

import (
	"slices"
	"strings"

	"newtop/trainer/logs"
)

// held is the newest state of a progress bar, or of a pass through rows for testing. It is given when its step is over.
type held struct {
	row   logs.Row
	any   bool
	eval  bool
	epoch bool         // of an epoch as a whole, as Keras' finished bar
	given []logs.Value // of the bar, newest of each key
}

// hold takes the parser's row in place of what is held, which is given before if its step is over.
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
	if !h.eval && !h.epoch && !h.news() {
		return
	}
	p.give(&h.row, to)
}

// news drops what bars repeat until it changes, as the validation loss of the last epoch, and reports whether any value
// differs from the bar before.
func (h *held) news() bool {
	changed := false
	kept := h.row.Values[:0]
	for _, v := range h.row.Values {
		i := slices.IndexFunc(h.given, func(g logs.Value) bool { return g.Key == v.Key })
		old := i >= 0 && same(h.given[i].V, v.V)
		if i < 0 && len(h.given) < 256 {
			h.given = append(h.given, v)
		} else if i >= 0 {
			h.given[i].V = v.V
		}
		changed = changed || !old
		if !old || !rare(v.Key) {
			kept = append(kept, v)
		}
	}
	h.row.Values = kept
	return changed
}

// rare reports whether a key is of what changes once an epoch.
func rare(key string) bool {
	for _, w := range pieces(strings.ToLower(strings.ReplaceAll(key, " ", "_"))) {
		if w == "epoch" || parts[w] != "" && parts[w] != "train" {
			return true
		}
	}
	return false
}

// same reports whether two numbers are equal, or both NaN.
func same(a, b float64) bool { return a == b || a != a && b != b }
