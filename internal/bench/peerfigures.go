package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
)

// PeerFigure is a time that peers and newtop took in each pair of runs.
type PeerFigure struct {
	What   string     `json:"what"`
	Times  []*PeerRow `json:"times"`        // of one peer or method each, the best that it had in a pair; infinite: it never got there
	Ratios []*PeerRow `json:"ratios"`       // how many times as fast as each peer newtop's best of the same precision is, or of any
	Load   []*PeerRow `json:"foreign_load"` // the share of all processors that others used while the peer ran, and newtop
}

// PeerRow has a value of each pair, and what they come to; Absent where there is none.
type PeerRow struct {
	Name   string        `json:"name"`
	Newtop string        `json:"newtop,omitempty"` // of a ratio: newtop's row
	Pairs  []event.Float `json:"pairs"`
	Median event.Float   `json:"median"`
	Least  event.Float   `json:"least"`
	Most   event.Float   `json:"most"`

	dtype string
}

func newRow(name, dtype string, pairs int) *PeerRow {
	return &PeerRow{Name: name, dtype: dtype, Pairs: slices.Repeat([]event.Float{event.Absent}, pairs)}
}

// own reports whether a row is newtop's.
func (r *PeerRow) own() bool { return strings.HasPrefix(r.Name, newtop) }

// summarize fills in what the pairs come to.
func (r *PeerRow) summarize() {
	r.Median, r.Least, r.Most = event.Absent, event.Absent, event.Absent
	there := slices.DeleteFunc(slices.Sorted(slices.Values(r.Pairs)), func(v event.Float) bool { return v != v })
	if n := len(there); n > 0 {
		r.Median, r.Least, r.Most = (there[(n-1)/2]+there[n/2])/2, there[0], there[n-1]
	}
}

// peerTimes are the times that lines may have.
var peerTimes = []string{"gradient_ms", "hv_kept_ms", "hv_fresh_ms", "step_ms", "epoch_60000_s", "seconds_to_target"}

// table has the figures of a work.
type table struct {
	work    string
	figures []*PeerFigure
	load    []*PeerRow
}

func newTable(work string, pairs int) *table {
	return &table{work: work, load: []*PeerRow{newRow("foreign load, peer", "", pairs), newRow("foreign load, newtop", "", pairs)}}
}

// add takes the times of a line, null being never, and reports whether it has any.
func (t *table) add(pair int, line map[string]any) (understood bool) {
	work := t.work
	if batch := line["batch"]; batch != nil {
		work += fmt.Sprintf(", batches of %v", batch)
	}
	dtype, _ := line["dtype"].(string)
	name := format.Printable(strings.TrimSpace(fmt.Sprint(line["peer"], " ", dtype)))
	for _, key := range peerTimes {
		value, there := line[key]
		took, _ := value.(float64)
		if there && value == nil {
			took = math.Inf(1)
		}
		if !(took > 0) {
			continue
		}
		what := work + ": " + key
		f := at(&t.figures, func(f *PeerFigure) bool { return f.What == what }, &PeerFigure{What: what, Load: t.load})
		row := at(&f.Times, func(r *PeerRow) bool { return r.Name == name }, newRow(name, dtype, len(t.load[0].Pairs)))
		if is := &row.Pairs[pair]; *is != *is || event.Float(took) < *is {
			*is = event.Float(took)
		}
		understood = true
	}
	return understood
}

// at returns the first of a list that is what is asked for, or another one, which it appends.
func at[T any](list *[]T, is func(T) bool, other T) T {
	i := slices.IndexFunc(*list, is)
	if i < 0 {
		i = len(*list)
		*list = append(*list, other)
	}
	return (*list)[i]
}

// compared returns the figures that newtop has beside a peer, complete.
func (t *table) compared() []*PeerFigure {
	for _, f := range t.figures {
		for _, row := range slices.Concat(f.Times, f.Load) {
			row.summarize()
		}
		for _, peer := range f.Times {
			own := f.newtop(peer.dtype)
			if peer.own() || own == nil {
				continue
			}
			ratio := newRow(peer.Name, "", len(peer.Pairs))
			ratio.Newtop = own.Name
			for i, took := range peer.Pairs {
				if r := took / own.Pairs[i]; r == r { // one of both got there
					ratio.Pairs[i] = r
				}
			}
			ratio.summarize()
			f.Ratios = append(f.Ratios, ratio)
		}
	}
	return slices.DeleteFunc(t.figures, func(f *PeerFigure) bool { return f.Ratios == nil })
}

// newtop returns newtop's best row of a precision, of any if it has none; nil: it has nothing.
func (f *PeerFigure) newtop(dtype string) (best *PeerRow) {
	for _, r := range f.Times {
		if !r.own() {
			continue
		}
		if alike := r.dtype == dtype; best == nil || alike && best.dtype != dtype || alike == (best.dtype == dtype) && r.Median < best.Median {
			best = r
		}
	}
	return best
}
