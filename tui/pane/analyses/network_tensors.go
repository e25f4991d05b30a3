package analyses

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/format"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// tensors are neighbouring tensors of a model that another program has, in one row of the table: one of them, or those
// whose names begin alike.
type tensors struct {
	name                   string
	first, n               int // of the model's tensors
	weights                int
	weight, gradient, step float64 // the norms of all together; NaN where one is not known
}

// relative is how far the last step moved them, as a part of their norm.
func (t *tensors) relative() float64 { return t.step / t.weight }

// tensorsOf returns the model's tensors, one a row.
func tensorsOf(h *history.History) []tensors {
	blocks := h.Run.Model.Blocks
	rows := make([]tensors, len(blocks))
	for i := range blocks {
		nan := math.NaN()
		rows[i] = tensors{style.Clean(blocks[i].Name), i, 1, blocks[i].Weights(), nan, nan, nan}
	}
	for _, b := range h.Latest.Blocks {
		if i := b.From; i >= 0 && i < len(rows) && b.To == i+1 {
			rows[i].weight, rows[i].gradient, rows[i].step = float64(b.Weight), float64(b.Gradient), float64(b.Step)
		}
	}
	return rows
}

// grouped puts tensors together by the beginnings of their names until there are no more rows than asked for. What is
// left of room goes to numbered groups, in runs: h.0–2 are the layers h.0 to h.2.
func grouped(all []tensors, rows int) []tensors {
	if len(all) <= rows || rows < 1 {
		return all
	}
	depth := 0
	for i := range all {
		depth = max(depth, strings.Count(all[i].name, "."))
	}
	finer := all
	for ; depth > 0; depth-- {
		coarse := together(all, depth)
		if len(coarse) <= rows {
			return shared(coarse, finer, rows)
		}
		finer = coarse
	}
	if numbered(finer) {
		return inRuns(finer, rows)
	}
	return small(finer, rows)
}

// small joins the neighbours that have the fewest weights together until there are that many rows.
func small(list []tensors, rows int) []tensors {
	list = slices.Clone(list)
	for len(list) > rows {
		least := 0
		for i := range list[1:] {
			if list[i].weights+list[i+1].weights < list[least].weights+list[least+1].weights {
				least = i
			}
		}
		run := list[least]
		run.join(&list[least+1])
		run.name = list[least].opening() + "–" + list[least+1].closing()
		list = slices.Replace(list, least, least+2, run)
	}
	return list
}

// opening and closing are the ends of a run's name.
func (t *tensors) opening() string {
	s, _, _ := strings.Cut(t.name, "–")
	return s
}

func (t *tensors) closing() string {
	if at := strings.LastIndex(t.name, "–"); at >= 0 {
		return t.name[at+len("–"):]
	}
	return t.name
}

// together joins neighbours whose names have the same first parts.
func together(all []tensors, depth int) (out []tensors) {
	for i := range all {
		name := prefix(all[i].name, depth)
		if n := len(out); n > 0 && out[n-1].name == name {
			out[n-1].join(&all[i])
			continue
		}
		out = append(out, all[i])
		out[len(out)-1].name = name
	}
	return out
}

// prefix returns the first parts of a name, of which there are points between, and never its last part alone: a
// tensor with a shorter name keeps it but for "weight" or "bias", that its module's tensors may stand together.
func prefix(name string, depth int) string {
	at := 0
	for range depth {
		k := strings.IndexByte(name[at:], '.')
		if k < 0 {
			if last := strings.LastIndexByte(name, '.'); last > 0 {
				return name[:last]
			}
			return name
		}
		at += k + 1
	}
	return name[:at-1]
}

// join takes in the next tensors.
func (t *tensors) join(o *tensors) {
	t.n, t.weights = t.n+o.n, t.weights+o.weights
	t.weight, t.gradient, t.step = math.Hypot(t.weight, o.weight), math.Hypot(t.gradient, o.gradient), math.Hypot(
		t.step, o.step)
}

// shared deals the rows that coarse groups leave out to the numbered ones within, in proportion to how many each has.
func shared(coarse, finer []tensors, rows int) (out []tensors) {
	within := make([][]tensors, len(coarse))
	at, more := 0, 0
	for i := range coarse {
		from := at
		for at < len(finer) && finer[at].first < coarse[i].first+coarse[i].n {
			at++
		}
		if numbered(finer[from:at]) {
			within[i] = finer[from:at]
			more += at - from - 1
		}
	}
	spare, dealt, passed := min(rows-len(coarse), more), 0, 0
	for i := range coarse {
		if len(within[i]) < 2 {
			out = append(out, coarse[i])
			continue
		}
		passed += len(within[i]) - 1
		runs := 1 + passed*spare/more - dealt
		dealt += runs - 1
		if runs == 1 {
			out = append(out, coarse[i])
		} else {
			out = append(out, inRuns(within[i], runs)...)
		}
	}
	return out
}

// numbered reports whether the last parts of all names are numbers.
func numbered(list []tensors) bool {
	return !slices.ContainsFunc(list, func(t tensors) bool {
		_, err := strconv.Atoi(t.name[strings.LastIndexByte(t.name, '.')+1:])
		return err != nil
	})
}

// inRuns joins neighbours to that many runs of about the same length.
func inRuns(list []tensors, runs int) (out []tensors) {
	for k := range runs {
		within := list[k*len(list)/runs : (k+1)*len(list)/runs]
		run := within[0]
		for j := range within[1:] {
			run.join(&within[1+j])
		}
		if len(within) > 1 {
			last := within[len(within)-1].name
			if at := strings.LastIndexByte(last, '.') + 1; strings.HasPrefix(run.name, last[:at]) {
				last = last[at:]
			}
			run.name += "–" + last
		}
		out = append(out, run)
	}
	return out
}

// tensorHeader says in the frame whose the model is, and how large.
func tensorHeader(v *pane.View, l *style.Line) {
	m := &v.H.Run.Model
	parts := []style.Part{style.Strong.Of(style.Clean(m.Program))}
	if s := m.Shape(); s != "" {
		parts = append(parts, style.Text.Of("  "+s))
	}
	parts = append(parts, style.Muted.Of("  "+format.Counted(m.Parameters, "weight")))
	if m.Loss != "" {
		parts = append(parts, style.Muted.Of("  "+style.Clean(m.Loss)))
	}
	for _, p := range parts {
		if !l.Group(p) {
			return
		}
	}
}

// tensorBody lists the tensors with their norms, together where there are more than rows. Zoomed each has a row, and
// the chosen one is among those in sight.
func (p *Topology) tensorBody(v *pane.View, w, h int, zoomed bool) []string {
	rows := tensorsOf(v.H)
	keys := zoomed && h > 6
	if keys {
		h--
	}
	room := max(h-1, 1)
	first, chosen := 0, -1
	if zoomed {
		p.block(v.H)
		chosen = p.view.at
		first = max(0, min(chosen-room/2, len(rows)-room))
	} else {
		rows = grouped(rows, room)
	}
	shown := rows[first:min(first+room, len(rows))]
	left := len(rows) - len(shown)
	if !zoomed && left > 0 && len(shown) > 1 {
		shown = shown[:len(shown)-1]
		left++
	}
	p.view.listed = tensorList{first, len(shown)}
	out := tensorTable(v, shown, rows, chosen-first, w)
	if !zoomed && left > 0 {
		out = append(out, v.Line(w).Write(style.Muted, "… "+format.Count(left)+" more rows, zoomed they scroll").Full())
	}
	if keys {
		out = append(style.Block(out, w, h), p.tensorKeys(v, &rows[chosen], len(rows), w))
	}
	return out
}

// tensorKeys names the zoomed table's keys, and which tensor is chosen.
func (p *Topology) tensorKeys(v *pane.View, t *tensors, n, w int) string {
	l := v.Line(w)
	put := func(k, what string) bool { return l.Group(style.Accent.Of(v.Glyphs.Keys(k)), style.Muted.Of(" "+what)) }
	put("↑↓", "tensor "+format.Count(t.first+1)+" of "+format.Count(n)+"   ")
	if !put("enter", "weights of "+t.name) {
		put("enter", "its weights")
	}
	return l.Full()
}

// tensorList is which tensors the zoomed table showed last.
type tensorList struct{ first, n int }
