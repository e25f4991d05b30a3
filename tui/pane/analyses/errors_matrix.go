package analyses

import (
	"cmp"
	"math"
	"sort"
	"strconv"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// matrixPlan says how a confusion matrix stands in its room.
type matrixPlan struct {
	label   int  // columns of the class names at the left
	cell    int  // columns of a class; 0 where classes share them
	tall    int  // rows of a class
	rows    int  // rows of cells
	cols    int  // columns of cells
	each    bool // a class has a row of its own
	numbers bool // counts are written
}

// planMatrix gives every class a row and as many columns as its counts need, if they fit; else two classes share a
// row of cells, else as many as must.
func planMatrix(e *event.ErrorsEvent, w, h, halves int) matrixPlan {
	n := len(e.Confusion)
	p := matrixPlan{label: 2}
	most := 0
	for i, row := range e.Confusion {
		p.label = max(p.label, min(style.Cells(class(e, i)), 10)+1)
		for j, k := range row {
			if i != j {
				most = max(most, k)
			}
		}
	}
	if p.label == 2 && n > h {
		p.label = 3 // the names of two classes
	}
	p.label = min(p.label, max(2, w/4))
	digits := len(strconv.Itoa(most)) + 1
	room := max(w-p.label, 1)
	p.cell = min(room/max(n, 1), max(digits, 5))
	p.cols = p.cell * n
	if p.cell == 0 {
		p.cols = room
	}
	p.each = n <= h
	p.numbers = p.each && p.cell >= digits
	switch {
	case p.each:
		p.tall = min(2, h/max(n, 1))
		p.rows = p.tall * n
	default:
		p.rows = min((n+halves-1)/halves, h)
	}
	return p
}

// matrixHeader is how many rows stand above the matrix: what it is, and the names.
const matrixHeader = 2

// confusionWidth is how many of w columns the matrix takes.
func confusionWidth(e *event.ErrorsEvent, w, h int) int {
	p := planMatrix(e, w*7/10, h-matrixHeader-1, 2)
	return max(min(p.label+p.cols, w), min(w, 34))
}

// confusionRows draws the matrix: a row for each class, a column for what the net says, shaded by the counts of the
// wrong ones alone; what is right stands apart.
func confusionRows(v *pane.View, e *event.ErrorsEvent, w, h int) []string {
	m := chart.NewCellGrid(&v.Pen, w, h)
	n := len(e.Confusion)
	p := planMatrix(e, w, h-matrixHeader-1, chart.RowsPerCell(&v.Pen))
	most := 0
	if c := confusions(e); len(c) > 0 {
		most = c[0].n
	}
	sc := chart.Scale{Ramp: style.RampHeat, Low: 0, High: float64(max(most, 1))}
	for _, s := range []string{"rows: the class; columns: what the net says", "rows: the class; columns: said"} {
		if style.Cells(s) <= w {
			m.Write(0, 0, style.Muted, s)
			break
		}
	}
	p.names(m, e)
	if p.numbers {
		p.counts(m, e, sc)
	} else {
		r := chart.NewRaster(n, n)
		for i, row := range e.Confusion {
			for j := range min(n, len(row)) {
				r.Values[i*n+j] = float64(row[j])
				if i == j {
					r.Values[i*n+j] = math.Inf(1)
				}
			}
		}
		fit := r.Fitted(p.cols, p.rows*chart.RowsPerCell(&v.Pen), true)
		m.Paint(p.label, matrixHeader, &fit, sc)
	}
	if y := matrixHeader + p.rows; y < h {
		x := m.Key(0, y, min(8, most+1), sc)
		if !p.numbers {
			x = m.Write(x, y, style.Muted, "   right ")
			one := chart.Raster{W: 1, H: chart.RowsPerCell(&v.Pen),
				Values: []float64{math.Inf(1), math.Inf(1)}[:chart.RowsPerCell(&v.Pen)]}
			m.Paint(x, y, &one, sc)
		}
	}
	return m.Rows()
}

// names writes the classes above and at the left, as many as there is room for.
func (p *matrixPlan) names(m *chart.CellGrid, e *event.ErrorsEvent) {
	n := len(e.Confusion)
	free := 0
	for i := range n {
		name := class(e, i)
		x := p.label + p.cell*i + p.cell - 1
		if p.cell == 0 {
			x = p.label + i*p.cols/n
		}
		if p.cell > 1 {
			if style.Cells(name) > p.cell-1 {
				name = cutTo(name, p.cell-1)
			}
			x -= style.Cells(name) - 1
		}
		gap := 1
		if style.Cells(name) == 1 && p.cell == 1 {
			gap = 0
		}
		if x >= free+gap || i == 0 {
			if p.cell <= 1 && x+style.Cells(name) > p.label+p.cols {
				continue
			}
			free = m.Write(x, 1, style.Text, name)
		}
	}
	for y := 0; y < p.rows; y += max(p.tall, 1) {
		from, to := chart.Portion(y, p.rows, n)
		name := class(e, from)
		if to-from == 2 && style.Cells(name) == 1 && style.Cells(class(e, from+1)) == 1 && p.label > 2 {
			name += class(e, from+1)
		}
		m.Write(0, matrixHeader+y, style.Text, cutTo(name, p.label-1))
	}
}

// cutTo shortens a name to that many columns.
func cutTo(s string, w int) string {
	if style.Cells(s) <= w {
		return s
	}
	out := ""
	for _, r := range s {
		if style.Cells(out+string(r)) > w {
			break
		}
		out += string(r)
	}
	return out
}

// counts writes the numbers upon their shades.
func (p *matrixPlan) counts(m *chart.CellGrid, e *event.ErrorsEvent, sc chart.Scale) {
	for i, row := range e.Confusion {
		for j, n := range row {
			x, y := p.label+p.cell*j, matrixHeader+p.tall*i
			text := style.Right(strconv.Itoa(n), p.cell)
			switch {
			case i == j && style.Cells(text) > p.cell:
				m.Write(x, y, style.Good, style.Right("\\", p.cell))
			case i == j:
				m.Write(x, y, style.Good, text)
			case n == 0:
				m.Write(x, y, style.Grid, style.Right("·", p.cell))
			case chart.RowsPerCell(m.Pen) == 2:
				m.Over(x, y, text, float64(n), sc, style.Strong)
				if p.tall > 1 {
					m.Over(x, y+1, style.Spaces(p.cell), float64(n), sc, style.Text)
				}
			default:
				m.Write(x, y, style.Strong, text)
			}
		}
	}
}

// confusionText says which classes are taken for which, and beside that, if there is room, how much of each
// class is wrong.
func confusionText(v *pane.View, e *event.ErrorsEvent, w, h int) []string {
	list := confusions(e)
	if len(list) == 0 {
		return []string{v.Line(w).Write(style.Good, "none is wrong").Full()}
	}
	classes, _ := byClass(e)
	size := map[int]int{}
	name := 1
	for _, c := range classes {
		size[c.class] = c.rows
		name = max(name, min(style.Cells(class(e, c.class)), 12))
	}
	left := w
	if w >= 3*name+43 {
		left = min(w-name-24, 2*name+36)
	}
	rows := make([]string, 0, h)
	for i := range min(h, len(list)) {
		rows = append(rows, confusionLine(v, e, list[i], size[list[i].is], name, left))
	}
	if left == w {
		if len(rows) == h && h > 1 {
			rows = rows[:h-1]
		}
		return append(rows, worstClass(v, e, classes[0], w))
	}
	side := make([]string, 0, h)
	for i := range min(h, len(classes)) {
		c := classes[i]
		l := v.Line(w-left).Write(style.Text, style.Pad(cutTo(class(e, c.class), name), name)+" ")
		l.Write(style.Strong, style.Right(format.Percent(c.rate()), 6))
		l.Group(style.Muted.Of(" wrong of " + format.Count(c.rows)))
		side = append(side, l.Full())
	}
	return style.Beside(style.Block(rows, left-2, len(rows)), left-2, side)
}

func confusionLine(v *pane.View, e *event.ErrorsEvent, c confusion, of, name, w int) string {
	l := v.Line(w)
	l.Write(style.Text, style.Pad(cutTo(class(e, c.is), name), name)).Write(style.Muted, " taken for ")
	l.Write(style.Text, cutTo(class(e, c.said), name)+": ").Write(style.Strong, format.Count(c.n))
	l.To(2*name + 17).Group(style.Muted.Of(" " + style.Right(format.Percent(float64(c.n)/float64(max(of, 1))), 6)))
	l.Group(style.Muted.Of(" of " + format.Count(of)))
	return l.Full()
}

func worstClass(v *pane.View, e *event.ErrorsEvent, c classErrors, w int) string {
	l := v.Line(w)
	l.Group(style.Muted.Of("worst class "), style.Strong.Of(class(e, c.class)), style.Muted.Of(": "),
		style.Text.Of(format.Percent(c.rate())),
		style.Muted.Of(" wrong"))
	l.Group(style.Muted.Of(" of " + format.Count(c.rows)))
	return l.Full()
}

// confusion is an entry of the matrix that should be zero.
type confusion struct{ is, said, n int }

// confusions returns them, the most frequent first.
func confusions(e *event.ErrorsEvent) (out []confusion) {
	for i, row := range e.Confusion {
		for j, n := range row {
			if i != j && n > 0 {
				out = append(out, confusion{i, j, n})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[j].n < out[i].n })
	return out
}

// classErrors counts how many rows of a class there are and how many are wrong.
type classErrors struct{ class, misclassified, rows int }

func (c classErrors) rate() float64 { return float64(c.misclassified) / float64(max(c.rows, 1)) }

// byClass returns the classes that have rows, that with the greatest part of them wrong first, and their sum.
func byClass(e *event.ErrorsEvent) (out []classErrors, all classErrors) {
	for i, row := range e.Confusion {
		c := classErrors{class: i}
		for j, n := range row {
			c.rows += n
			if i != j {
				c.misclassified += n
			}
		}
		all.rows, all.misclassified = all.rows+c.rows, all.misclassified+c.misclassified
		if c.rows > 0 {
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return cmp.Less(out[j].rate(), out[i].rate()) })
	return out, all
}
