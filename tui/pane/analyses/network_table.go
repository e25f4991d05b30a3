package analyses

import (
	"math"

	"newtop/internal/format"
	"newtop/tui/pane"
	"newtop/tui/style"
)

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

// tensorTable writes the table's heading and rows in the columns that there is room for; among all are the rows that
// bars compare with.
func tensorTable(v *pane.View, rows, all []tensors, chosen, w int) []string {
	mark := ""
	if chosen >= 0 {
		mark = "  "
	}
	columns := tensorColumns(v, all, w-style.Cells(mark))
	line := func(color style.Token, mark string, put func(l *style.Line, c *column)) string {
		l := v.Line(w)
		l.Write(color, mark)
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
		l.Write(style.Muted, title)
	})}
	for i := range rows {
		color, before := style.Text, mark
		if i == chosen {
			color, before = style.Focus, "▸ "
		}
		out = append(out, line(color, before, func(l *style.Line, c *column) {
			switch {
			case c.bar != nil:
				l.Write(style.Accent, style.Repeat("━", int(math.Round(c.bar(&rows[i])*float64(c.wide)))))
			case c.right:
				l.Write(color, style.Right(c.text(&rows[i]), c.wide))
			default:
				l.Write(color, style.Tail(c.text(&rows[i]), c.wide))
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
		name: {title: "tensor", wide: min(names, max(10, w/3)), text: func(t *tensors) string { return t.name }},
		form: {title: "shape", wide: min(shapes, 16), text: shape},
		count: {title: "weights", wide: 9, text: func(t *tensors) string { return format.Count(t.weights) },
			right: true},

		weight:   {title: "‖w‖", wide: 8, text: number(func(t *tensors) float64 { return t.weight }), right: true},
		gradient: {title: "‖g‖", wide: 8, text: number(func(t *tensors) float64 { return t.gradient }), right: true},
		step:     {title: "‖Δw‖", wide: 8, text: number(func(t *tensors) float64 { return t.step }), right: true},
		moved: {title: "Δw/w", wide: 8, text: func(t *tensors) string { return format.Percent(t.relative()) },
			right: true},

		gradientBar: {title: "log", wide: 6, bar: func(t *tensors) float64 { return barShare(t.gradient / steepest) }},
		bar:         {title: "log", wide: 5, bar: func(t *tensors) float64 { return barShare(t.relative()) }},
	}
	left := w - list[name].wide
	has := [last]bool{name: true}
	for _, k := range []int{moved, form, bar, gradient, weight, gradientBar, step, count} {
		if need := list[k].wide + 2; need <= left && (k != gradientBar || has[gradient]) {
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
