package inner

import (
	"cmp"
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// factorTable is the inner pane of a method that scales gradients by matrices, a factor for each side of a layer's
// weights: how far apart their eigenvalues lie, side by side on one scale, and over the epochs when it has the screen.
type factorTable struct {
	chart.Controls // of the zoomed pane's chart
	view           factorView
	chosen         int // which of those that are not left out, from 1; 0: none

	table, plot chart.Canvas
	first       int // the row that a zoomed table begins with
	point       rowArea
}

// rowArea is where in the body the rows of a zoomed table were drawn last: n of them from y on, each that many cells
// high.
type rowArea struct{ y, w, each, n int }

// factored reports whether the pane shows factors: the method has some, and no inner solves.
func factored(h *history.History) bool { return pane.NoSolves(h) && h.Factors.Reported() }

// factorRow is a factor with what the pane says of it.
type factorRow struct {
	*event.FactorMetrics
	block     string // of weights
	number    int    // of the block
	letter    int    // which it is of those that are not left out
	condition float64
}

// leftOut reports whether this side is not scaled.
func (r *factorRow) leftOut() bool { return len(r.Eigenvalues) == 0 }

// name is the block and its side.
func (r *factorRow) name() string { return r.block + " " + r.side() }

func (r *factorRow) side() string { return style.Clean(r.Side) }

// shape is the size of the factor.
func (r *factorRow) shape() string {
	n := format.Count(r.Size)
	return n + "×" + n
}

// conditionText is the condition number in at most that many columns.
func (r *factorRow) conditionText(columns int) string {
	long := columns >= len("singular")
	switch {
	case math.IsInf(r.condition, 1) && long:
		return "singular"
	case math.IsInf(r.condition, 1):
		return "sing."
	case math.IsNaN(r.condition) && long:
		return "all zero"
	case math.IsNaN(r.condition):
		return "zero"
	}
	return conditionText(r.condition, columns)
}

func conditionText(k float64, columns int) string {
	if k < 100 {
		return format.Tick(format.Significant(k, 3))
	}
	return format.CountWithin(k, columns)
}

// factorRows are the latest factors.
func factorRows(h *history.History) (rows []factorRow) {
	if h.Factors.Latest == nil {
		return nil
	}
	list := h.Factors.Latest.Factors
	name := blockNames(h, list)
	numbers, letters := map[[2]int]int{}, 0
	for i := range list {
		at := [2]int{list[i].To, list[i].From}
		if _, ok := numbers[at]; !ok {
			numbers[at] = len(numbers)
		}
		r := factorRow{&list[i], name(&list[i]), numbers[at], letters, list[i].Condition()}
		if !r.leftOut() {
			letters++
		}
		rows = append(rows, r)
	}
	return rows
}

// blockNames names the blocks of weights by the sizes of the layers that they join, with a number where two have the
// same sizes, and those of a model that another program has by its tensors.
func blockNames(h *history.History, list []event.FactorMetrics) func(f *event.FactorMetrics) string {
	var model event.ModelInfo
	if h.Run != nil {
		model = h.Run.Model
	}
	sizes := func(f *event.FactorMetrics) string {
		n := func(layer int) string {
			if layer >= 0 && layer < len(model.Layers) {
				return format.Count(model.Layers[layer])
			}
			return "layer " + format.Count(layer)
		}
		return n(f.From) + "→" + n(f.To)
	}
	blocks, twice := map[string][2]int{}, false
	for i := range list {
		f := &list[i]
		at := [2]int{f.To, f.From}
		if before, ok := blocks[sizes(f)]; ok && before != at {
			twice = true
		}
		blocks[sizes(f)] = at
	}
	return func(f *event.FactorMetrics) string {
		switch {
		case f.From >= 0 && f.From < len(model.Blocks):
			return style.Tail(style.Clean(model.Blocks[f.From].Name), 24)
		case twice:
			return format.Count(f.To) + ": " + sizes(f)
		}
		return sizes(f)
	}
}

// head reports how often the factors were refreshed in the latest epoch, and which part of its time that took.
func (p *factorTable) header(v *pane.View, l *style.Line) {
	f := &v.H.Factors
	if f.Latest == nil {
		return
	}
	at := ""
	if f.Epoch != v.H.Latest.Epoch {
		at = " at " + format.Count(f.Epoch)
	}
	times := format.Counted(f.Latest.Refreshes, "refresh")
	if f.Latest.Refreshes != 1 {
		times = format.Count(f.Latest.Refreshes) + " refreshes"
	}
	var says [][]style.Part // ever shorter
	say := func(parts ...style.Part) { says = append(says, append([]style.Part{style.Strong.Of(times)}, parts...)) }
	if part := style.Text.Of(format.Percent(f.Share)); format.Finite(f.Share) && f.Latest.Refreshes > 0 {
		say(style.Muted.Of(cmp.Or(at, " this epoch")+", "), part, style.Muted.Of(" of its time"))
		say(style.Muted.Of(at+", "), part, style.Muted.Of(" of the time"))
		say(style.Muted.Of(at+"  "), part)
	} else {
		say(style.Muted.Of(cmp.Or(at, " this epoch")))
	}
	say(style.Muted.Of(at))
	said := slices.ContainsFunc(says, func(parts []style.Part) bool { return l.Group(parts...) })
	if said && !v.H.Curves.Step.Empty() {
		l.Group(style.Muted.Of("  ‖Δw‖ "), style.Text.Of(format.Number(v.H.Curves.Step.Last())))
	}
}

// small draws the factors into a pane beside others.
func (p *factorTable) small(v *pane.View, w, h int) []string {
	rows := factorRows(v.H)
	if len(rows) == 0 {
		return centred(v, factorsToCome, w, h)
	}
	p.table.Resize(w, h)
	t := factorDrawing{v: v, c: &p.table, rows: rows, scale: scaleOf(rows), w: w}
	t.fit(h)
	return p.table.Rows(&v.Pen)
}

// factorsToCome stands where factors were given up by going back.
const factorsToCome = "the factors come with the next epoch"

// centred writes a text in the middle of the pane.
func centred(v *pane.View, text string, w, h int) []string {
	rows := make([]string, max(h, 1))
	rows[(len(rows)-1)/2] = v.Line(w).To((w-style.Cells(text))/2).Write(style.Muted, text).Full()
	return rows
}

// strip puts the figures at the left, over them what is under way, and the spectra at the right.
func (p *factorTable) strip(v *pane.View, name, live string, w, h int) []string {
	const margin, column = 11, 32
	factors, room := factorRows(v.H), max(w-column-1, 0)
	p.table.Resize(room, h)
	d := factorDrawing{v: v, c: &p.table, rows: factors, scale: scaleOf(factors), w: room}
	d.pairs(0, h, false)
	picture := p.table.Rows(&v.Pen)
	rows := make([]string, 0, h)
	for i := range h {
		text := v.Line(column - margin - 1)
		label := ""
		switch {
		case i == 0:
			label = name
			p.header(v, text)
		case i == 1:
			if words := conditionRange(factors); words != "" {
				text.Write(style.Muted, "cond. ").Write(style.Text, words)
			}
		case i == h-1:
			text.Raw(live, column-margin-1)
		}
		l := v.Label(v.Line(w), label).Append(text).To(column)
		rows = append(rows, l.Raw(picture[i], room).Full())
	}
	return rows
}

// conditionRange says between which condition numbers the factors are.
func conditionRange(rows []factorRow) string {
	low, high, singular := math.Inf(1), 0.0, false
	for i := range rows {
		if k := rows[i].condition; math.IsInf(k, 1) {
			singular = true
		} else if k > 0 {
			low, high = math.Min(low, k), math.Max(high, k)
		}
	}
	switch {
	case high == 0 && singular:
		return "singular"
	case high == 0:
		return ""
	}
	text := conditionText(low, 5)
	if top := conditionText(high, 5); top != text {
		text += " to " + top
	}
	return text
}

// blocksOf groups rows by their blocks of weights: the outputs' side and the inputs', −1 for none.
func blocksOf(rows []factorRow) (blocks [][2]int) {
	for i := range rows {
		for rows[i].number >= len(blocks) {
			blocks = append(blocks, [2]int{-1, -1})
		}
		side := 1
		if rows[i].Side == event.SideOutputs {
			side = 0
		}
		blocks[rows[i].number][side] = i
	}
	return blocks
}
