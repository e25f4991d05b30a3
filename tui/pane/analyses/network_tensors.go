package analyses

import (
	"math"
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

// grouped puts tensors together by the beginnings of their names until there are no more rows than asked for, where the
// names allow it. What is left of room goes to the next finer groups, in runs: h.0–2 are the layers h.0 to h.2.
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
	return finer
}

// together joins neighbours whose names have the same first parts.
func together(all []tensors, depth int) (out []tensors) {
	for i := range all {
		name := beginning(all[i].name, depth)
		if n := len(out); n > 0 && out[n-1].name == name {
			out[n-1].join(&all[i])
			continue
		}
		out = append(out, all[i])
		out[len(out)-1].name = name
	}
	return out
}

// beginning returns the first parts of a name, of which there are points between, and never its last part alone: a
// tensor with a shorter name keeps it but for "weight" or "bias", that its module's tensors may stand together.
func beginning(name string, depth int) string {
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
	t.weight, t.gradient, t.step = math.Hypot(t.weight, o.weight), math.Hypot(t.gradient, o.gradient), math.Hypot(t.step, o.step)
}

// shared deals the rows that coarse groups leave out to the finer ones within, in proportion to how many each has.
func shared(coarse, finer []tensors, rows int) (out []tensors) {
	spare, more := rows-len(coarse), len(finer)-len(coarse)
	at, dealt, passed := 0, 0, 0
	for i := range coarse {
		var within []tensors
		for ; at < len(finer) && finer[at].first < coarse[i].first+coarse[i].n; at++ {
			within = append(within, finer[at])
		}
		passed += len(within) - 1
		runs := 1 + passed*spare/max(more, 1) - dealt
		dealt += runs - 1
		if runs == 1 {
			out = append(out, coarse[i])
			continue
		}
		for k := range runs {
			from, to := k*len(within)/runs, (k+1)*len(within)/runs
			run := within[from]
			for j := from + 1; j < to; j++ {
				run.join(&within[j])
			}
			if to-from > 1 {
				run.name += "–" + within[to-1].name[strings.LastIndexByte(within[to-1].name, '.')+1:]
			}
			out = append(out, run)
		}
	}
	return out
}

// tensorHead says in the frame whose the model is, and how large.
func tensorHead(v *pane.View, l *style.Line) {
	m := &v.H.Run.Model
	l.Group(style.Strong.Of(style.Clean(m.Program)))
	if s := m.Shape(); s != "" {
		l.Group(style.Text.Of("  " + s))
	}
	l.Group(style.Muted.Of("  " + format.Counted(m.Parameters, "weight")))
	if m.Loss != "" {
		l.Group(style.Muted.Of("  " + style.Clean(m.Loss)))
	}
}

// tensorBody lists the tensors with their norms, together where there are more than rows. Zoomed each has a row, and the
// chosen one is among those in sight.
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
		chosen = p.look.at
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
	p.look.listed = tensorList{first, len(shown)}
	out := tensorTable(v, shown, rows, chosen-first, w)
	if !zoomed && left > 0 {
		out = append(out, v.Line(w).Put(style.Muted, "… "+format.Count(left)+" more rows, zoomed they scroll").Full())
	}
	if keys {
		out = append(style.Block(out, w, h), p.tensorKeys(v, &rows[chosen], len(rows), w))
	}
	return out
}

// tensorKeys names the zoomed table's keys, and which tensor is chosen.
func (p *Topology) tensorKeys(v *pane.View, t *tensors, n, w int) string {
	l := v.Line(w)
	put := func(k, what string) { l.Group(style.Accent.Of(v.Glyphs.Keys(k)), style.Muted.Of(" "+what+"   ")) }
	put("↑↓", "tensor "+format.Count(t.first+1)+" of "+format.Count(n))
	put("enter", "weights of "+t.name)
	return l.Full()
}

// tensorList is which tensors the zoomed table showed last.
type tensorList struct{ first, n int }

// column is one of the table of tensors.
type column struct {
	title string
	wide  int
	text  func(t *tensors) string
	bar   func(t *tensors) float64 // from 0 to 1; nil: a text
	right bool                     // the text stands at its end
}

// decades is how many powers of ten a bar is long.
const decades = 4

// tensorTable writes the table's heading and rows in the columns that there is room for; among all are the rows that bars compare
// with.
func tensorTable(v *pane.View, rows, all []tensors, chosen, w int) []string {
	mark := ""
	if chosen >= 0 {
		mark = "  "
	}
	columns := tensorColumns(v, all, w-style.Cells(mark))
	line := func(ink style.Token, mark string, put func(l *style.Line, c *column)) string {
		l := v.Line(w)
		l.Put(ink, mark)
		at := style.Cells(mark)
		for i := range columns {
			if l.To(at); l.Left() < columns[i].wide {
				break
			}
			put(l, &columns[i])
			at += columns[i].wide + 2
		}
		return l.Full()
	}
	out := []string{line(style.Muted, mark, func(l *style.Line, c *column) {
		title := c.title
		if c.right {
			title = style.Right(title, c.wide)
		}
		l.Put(style.Muted, title)
	})}
	for i := range rows {
		ink, before := style.Text, mark
		if i == chosen {
			ink, before = style.Focus, "▸ "
		}
		out = append(out, line(ink, before, func(l *style.Line, c *column) {
			switch {
			case c.bar != nil:
				l.Put(style.Accent, style.Repeat("━", int(math.Round(c.bar(&rows[i])*float64(c.wide)))))
			case c.right:
				l.Put(ink, style.Right(c.text(&rows[i]), c.wide))
			default:
				l.Put(ink, shortened(c.text(&rows[i]), c.wide))
			}
		}))
	}
	return out
}

// tensorColumns are those that there is room for: what moved comes first, then how steep it is, then how large.
func tensorColumns(v *pane.View, all []tensors, w int) []column {
	blocks := v.H.Run.Model.Blocks
	shape := func(t *tensors) string {
		if t.n == 1 {
			return blocks[t.first].ShapeText()
		}
		return format.Counted(t.n, "tensor")
	}
	names, shapes, steepest := 6, 5, 0.0
	for i := range all {
		names, shapes = max(names, style.Cells(all[i].name)), max(shapes, style.Cells(shape(&all[i])))
		if g := all[i].gradient; format.Finite(g) {
			steepest = max(steepest, g)
		}
	}
	number := func(of func(t *tensors) float64) func(t *tensors) string {
		return func(t *tensors) string { return format.Number(of(t)) }
	}
	const name, form, moved, bar, gradient, gradientBar, weight, count, step, last = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	list := [last]column{
		name:  {title: "tensor", wide: min(names, max(10, w/3)), text: func(t *tensors) string { return t.name }},
		form:  {title: "shape", wide: min(shapes, 16), text: shape},
		count: {title: "weights", wide: 9, text: func(t *tensors) string { return format.Count(t.weights) }, right: true},

		weight:   {title: "‖w‖", wide: 8, text: number(func(t *tensors) float64 { return t.weight }), right: true},
		gradient: {title: "‖g‖", wide: 8, text: number(func(t *tensors) float64 { return t.gradient }), right: true},
		step:     {title: "‖Δw‖", wide: 8, text: number(func(t *tensors) float64 { return t.step }), right: true},
		moved:    {title: "Δw/w", wide: 8, text: func(t *tensors) string { return format.Percent(t.relative()) }, right: true},

		gradientBar: {title: "‖g‖ log", wide: 8, bar: func(t *tensors) float64 { return barShare(t.gradient / steepest) }},
		bar:         {title: "log", wide: 6, bar: func(t *tensors) float64 { return barShare(t.relative()) }},
	}
	left := w - list[name].wide
	has := [last]bool{name: true}
	for _, k := range []int{moved, form, bar, gradient, weight, gradientBar, step, count} {
		if need := list[k].wide + 2; need <= left {
			has[k], left = true, left-need
		}
	}
	if more := min(left, names-list[name].wide); more > 0 {
		list[name].wide, left = list[name].wide+more, left-more
	}
	if has[bar] {
		if has[gradientBar] {
			list[gradientBar].wide += left / 2
			left -= left / 2
		}
		list[bar].wide += left
	}
	var out []column
	for _, k := range []int{name, form, count, weight, gradient, gradientBar, step, moved, bar} {
		if has[k] {
			out = append(out, list[k])
		}
	}
	return out
}

// barShare is how long a bar is, of its room, for a part of the whole.
func barShare(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return max(0, min(1, 1+math.Log10(x)/decades))
}

// shortened cuts a name's beginning, as its end tells tensors apart.
func shortened(s string, w int) string {
	if style.Cells(s) <= w {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && style.Cells(string(runes)) > w-1 {
		runes = runes[1:]
	}
	return "…" + string(runes)
}
