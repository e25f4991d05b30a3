package inner

import (
	"strconv"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// factorDrawing draws factors on a canvas of w columns.
type factorDrawing struct {
	v      *pane.View
	c      *chart.Canvas
	rows   []factorRow
	scale  factorScale
	w      int
	chosen int  // which of the rows that are not left out, from 1; 0: none
	marked bool // rows begin with the letter and have the ink of their curves
}

// fit draws a row for each factor into h rows, or where there are not enough for that a row for each block.
func (d *factorDrawing) fit(h int) {
	n := len(d.rows)
	columns, ok := d.columns(d.rows)
	if n > h || !ok {
		d.pairs(0, h, true)
		return
	}
	y := 0
	if n < h {
		d.title(columns, y)
		y++
	}
	each := max(1, min(3, (h-y-1)/n))
	for i := range d.rows {
		d.row(i, columns, y, each)
		y += each
	}
	if y < h {
		d.footer(h - 1)
	}
}

// foot writes what the bars stand for.
func (d *factorDrawing) footer(y int) {
	for _, parts := range d.scale.text(d.v) {
		if style.Width(parts) <= d.w {
			d.write(0, y, parts...)
			return
		}
	}
}

// write puts parts one after the other.
func (d *factorDrawing) write(x, y int, parts ...style.Part) {
	for _, p := range parts {
		d.c.Write(x, y, p.Text, p.Token)
		x += style.Cells(p.Text)
	}
}

// right writes a text so that it ends before a column.
func (d *factorDrawing) right(end, y int, t style.Token, s string) {
	d.c.Write(end-style.Cells(s), y, s, t)
}

// factorColumns are where a row's parts begin, and how wide they are; one without width has no room.
type factorColumns struct{ name, size, strip, condition, damping, ends span }

type span struct{ x, w int }

// The widths of a row's parts.
const (
	minStrip       = 8 // columns of bars
	maxStrip       = 16
	conditionWidth = 9
	dampingWidth   = 9
	endsWidth      = 20
	gap            = 2
)

// columns places what there is room for: names, bars and condition numbers, then more bars, sizes, damping and the ends
// of the spectra. It is false where not even the first have room.
func (d *factorDrawing) columns(rows []factorRow) (c factorColumns, ok bool) {
	mark, size, damped := 0, 0, false
	if d.marked {
		mark = 4
	}
	for i := range rows {
		r := &rows[i]
		c.name.w, size = max(c.name.w, style.Cells(r.name())), max(size, style.Cells(r.shape()))
		damped = damped || r.Damping > 0
	}
	left := d.w - mark - c.name.w - 2*gap - conditionWidth - minStrip
	if left < 0 {
		return c, false
	}
	more := func(s *span, w int) {
		if w+gap <= left {
			s.w, left = w, left-w-gap
		}
	}
	bars := min(left, maxStrip-minStrip)
	left -= bars
	more(&c.size, size)
	if damped {
		more(&c.damping, dampingWidth)
	}
	more(&c.ends, endsWidth)
	if bars += minStrip; bars == maxStrip && left >= maxStrip {
		bars *= 2
	}
	c.strip.w, c.condition.w = bars, conditionWidth
	x := mark
	for _, s := range []*span{&c.name, &c.size, &c.strip, &c.condition, &c.damping, &c.ends} {
		if s.x = x; s.w > 0 {
			x += s.w + gap
		}
	}
	return c, true
}

// title names the columns.
func (d *factorDrawing) title(c factorColumns, y int) {
	d.c.Write(c.name.x, y, "factor", style.Muted)
	bars := d.v.Glyphs.Lambda + " by rank"
	if style.Cells(bars) > c.strip.w {
		bars = d.v.Glyphs.Lambda
	}
	d.c.Write(c.strip.x, y, bars, style.Muted)
	d.right(c.condition.x+c.condition.w, y, style.Muted, "condition")
	if c.size.w > 0 {
		d.right(c.size.x+c.size.w, y, style.Muted, "size")
	}
	if c.damping.w > 0 {
		d.right(c.damping.x+c.damping.w, y, style.Muted, "damping")
	}
	if c.ends.w > 0 {
		ends := "largest to least " + d.v.Glyphs.Lambda
		if style.Cells(ends) > c.ends.w {
			ends = d.v.Glyphs.Lambda
		}
		d.right(c.ends.x+c.ends.w, y, style.Muted, ends)
	}
}

// row draws a factor, its bars that many rows high.
func (d *factorDrawing) row(i int, c factorColumns, y, each int) {
	r := &d.rows[i]
	bars, text := style.Accent, style.Text
	if d.marked {
		bars = r.token()
	}
	if r.is(d.chosen) {
		text = style.Focus
		d.c.Write(0, y, "▸", style.Focus)
	}
	if d.marked && !r.leftOut() {
		d.c.Write(2, y, r.tag(), bars)
	}
	d.c.Write(c.name.x, y, r.name(), text)
	if r.leftOut() {
		d.c.Write(c.name.x+style.Cells(r.name())+gap, y, d.reason(r, d.w-c.name.x-style.Cells(r.name())-gap),
			style.Muted)
		return
	}
	d.bars(r, c.strip, y, each, bars)
	d.condition(r, c.condition, y)
	if c.size.w > 0 {
		d.right(c.size.x+c.size.w, y, style.Muted, r.shape())
	}
	if c.damping.w > 0 && r.Damping > 0 {
		d.right(c.damping.x+c.damping.w, y, style.Text, short(float64(r.Damping)))
	}
	switch ends := r.endsText(); {
	case c.ends.w > 0:
		d.right(c.ends.x+c.ends.w, y, style.Text, ends)
	case each > 1:
		if c.damping.w == 0 && r.Damping > 0 {
			ends += ", damped by " + short(float64(r.Damping))
		}
		if ends = d.v.Glyphs.Lambda + " " + ends; style.Cells(ends) < c.strip.x-c.name.x {
			d.c.Write(c.name.x, y+1, ends, style.Muted)
		}
	}
}

// condition writes a condition number, and in another ink that there is none.
func (d *factorDrawing) condition(r *factorRow, at span, y int) {
	t := style.Muted
	if format.Finite(r.condition) {
		t = style.Text
	}
	d.right(at.x+at.w, y, t, r.conditionText(at.w))
}

// reason says why a side has no factor, in that many columns.
func (d *factorDrawing) reason(r *factorRow, room int) string {
	what := format.Count(r.Size) + " " + r.side()
	if r.Size == 1 {
		what = "1 " + r.side()[:max(len(r.side())-1, 0)]
	}
	texts := []string{"left out: " + what, "left out"}
	if r.Damping > 0 { // it is a multiple of the identity
		texts = []string{"all " + what + " alike", "all alike"}
	}
	for _, s := range d.v.H.Status.Settings {
		if most, err := strconv.Atoi(s.Text); s.Key == "side" && err == nil && most < r.Size {
			texts = append([]string{texts[0] + ", longer than side=" + s.Text}, texts...)
		}
	}
	for _, s := range texts {
		if style.Cells(s) <= room {
			return s
		}
	}
	return ""
}

// bars draws a spectrum by rank, as wide as a whole number of columns for each eigenvalue allows, with a gap where
// those between the ends are not told.
func (d *factorDrawing) bars(r *factorRow, at span, y, each int, t style.Token) {
	n, room := len(r.Eigenvalues), at.w
	if r.Ends {
		room--
	}
	wide, shown := max(1, room/max(n, 1)), min(n, room)
	x := at.x
	for k := range shown {
		i := k * (n - 1) / max(shown-1, 1)
		if r.Ends {
			if i = k; k >= (shown+1)/2 {
				i = n - shown + k
			}
			if k == (shown+1)/2 {
				d.c.Write(x, y+each-1, "┊", style.Grid)
				x++
			}
		}
		d.bar(r, float64(r.Eigenvalues[i]), span{x, wide}, y, each, t)
		x += wide
	}
}

// bar draws an eigenvalue: a 0 where it can't be told from zero in double precision, and where it is not finite a ×.
func (d *factorDrawing) bar(r *factorRow, value float64, at span, y, each int, t style.Token) {
	const least = 1.0 / 8
	switch {
	case !format.Finite(value):
		d.c.Write(at.x, y+each-1, style.Repeat("×", at.w), style.NotFinite)
	case value <= r.zeroBound():
		d.c.Write(at.x, y+each-1, style.Repeat("0", at.w), style.Muted)
	default:
		height := least + (float64(each)-least)*d.scale.share(value)
		chart.DrawBar(d.c, d.v.Glyphs, at.x, y+each-1, at.w, height, func(int) (style.Token, rune) { return t, 0 })
	}
}

// pairs draws a row for each block into h rows from y on, both of its sides in it, and says how many find no room.
func (d *factorDrawing) pairs(y, h int, titled bool) {
	blocks := blocksOf(d.rows)
	names := 0
	for _, b := range blocks {
		names = max(names, style.Cells(d.rows[max(b[0], b[1])].block))
	}
	names = min(names, max(d.w/4, 8))
	const least = 4
	number := 5
	each := (d.w - names - 1) / 2
	if each < least+1+number+1 {
		number = -1 // the spectra matter more
	}
	bars := min(each-1-number-1, maxStrip)
	if titled && len(blocks) < h && bars >= len(event.SideOutputs)-number {
		for k, side := range []string{event.SideOutputs, event.SideInputs} {
			d.c.Write(names+1+k*each, y, side, style.Muted)
		}
		y, h = y+1, h-1
	}
	if n := len(blocks); n > h {
		d.more(n-h+1, y+h-1)
		blocks, titled = blocks[:max(h-1, 0)], false
	}
	for i, b := range blocks {
		d.c.Write(0, y+i, style.Tail(d.rows[max(b[0], b[1])].block, names), style.Text)
		for k, at := range b {
			if x := names + 1 + k*each; at >= 0 {
				d.half(&d.rows[at], x, y+i, bars, number)
			}
		}
	}
	if len(blocks) < h && titled {
		d.footer(y + h - 1)
	}
}

// half draws one side of a block: its spectrum, and its condition number where that has columns.
func (d *factorDrawing) half(r *factorRow, x, y, bars, number int) {
	if r.leftOut() {
		d.c.Write(x, y, d.reason(r, bars+1+number), style.Muted)
		return
	}
	if bars > 0 {
		d.bars(r, span{x, bars}, y, 1, style.Accent)
	}
	if number > 0 {
		d.condition(r, span{x + bars + 1, number}, y)
	}
}

// more says how many blocks have no room.
func (d *factorDrawing) more(n, y int) {
	text := "┊ " + format.Counted(n, "more block")
	if all := text + "; z shows them"; style.Cells(all) <= d.w {
		text = all
	}
	d.c.Write(0, y, text, style.Muted)
}
