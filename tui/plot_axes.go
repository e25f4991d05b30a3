package tui

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/format"
	"newtop/tui/style"
)

// gutter is how many columns the y axis takes.
func (p *Plot) gutter(labels []string, w, h int) int {
	if w < 24 || h < 3 {
		return 0
	}
	widest := 0
	for _, s := range labels {
		widest = max(widest, style.Cells(s))
	}
	if gutter := max(widest+1, p.margin); w-gutter >= 12 {
		return gutter
	}
	return 0
}

// axis is the width of the y axis that the plot would draw.
func (p *Plot) axis(w, h int) int {
	a, ok := p.scale()
	if !ok {
		return 0
	}
	_, labels := p.yTicks(a, h)
	return p.gutter(labels, w, h)
}

func (p *Plot) yTicks(a Area, h int) (at []float64, labels []string) {
	if p.log {
		at = Decades(a.low, a.high, max(2, (h-1)/2))
	} else {
		at = Steps(a.low, a.high, max(2, (h+1)/3))
	}
	label := p.label
	if label == nil {
		label = format.Tick
	}
	labels = make([]string, len(at))
	for i, v := range at {
		labels[i] = label(v)
	}
	return at, distinct(at, labels)
}

// distinct writes labels with more digits where short ones do not tell the ticks apart, and drops those that still
// do not.
func distinct(at []float64, labels []string) []string {
	alike := func() bool {
		return len(slices.Compact(slices.Clone(labels))) < len(labels)
	}
	for digits := 7; digits <= 10 && alike(); digits++ {
		for i, v := range at {
			unit, part := "", v
			if strings.HasSuffix(labels[i], "%") {
				unit, part = "%", 100*v
			}
			labels[i] = format.Brief(strconv.FormatFloat(part, 'g', digits, 64)) + unit
		}
	}
	for i := len(labels) - 1; i > 0; i-- {
		if labels[i] == labels[i-1] {
			labels[i] = ""
		}
	}
	return labels
}

func (c *Canvas) yLabels(v *style.Pen, p Plot, a Area, ticks []float64, labels []string) {
	taken := map[int]bool{}
	for i := len(ticks) - 1; i >= 0; i-- {
		row := a.row(v.Glyphs, ticks[i])
		if row < a.y || row >= a.y+a.h || taken[row] {
			continue
		}
		taken[row] = true
		c.write(a.x-1-style.Cells(labels[i]), row, labels[i], style.Muted)
		c.set(a.x-1, row, '┤', style.Grid)
	}
	if !p.detail || !p.log || float64(a.h) < 8*(a.high-a.low) {
		return
	}
	for _, y := range Powers(a.low, a.high, 9*a.h, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		if row := a.row(v.Glyphs, y); row >= a.y && row < a.y+a.h && !taken[row] {
			c.set(a.x-1, row, '├', style.Grid)
		}
	}
}

// rules draws guide lines and the marks of events under the curves.
func (c *Canvas) rules(v *style.Pen, p Plot, a Area) {
	for _, y := range p.rules {
		if row := a.row(v.Glyphs, y); (!a.log || y > 0) && a.dotY(v.Glyphs, y) >= 0 && row >= a.y && row < a.y+a.h {
			for x := a.x; x < a.x+a.w; x++ {
				c.set(x, row, '╌', style.Grid)
			}
		}
	}
	for _, m := range p.marks {
		if !a.has(m.x) {
			continue
		}
		x := a.cellX(v.Glyphs, m.x)
		for y := a.y; y < a.y+a.h; y++ {
			c.set(x, y, '┊', style.Accent)
		}
	}
}

// markNames writes what the marks are, over the curves: a name cut in two would read as another. A chart with
// detail has them on several rows, at its top where they would hide a curve at its bottom; the box at the cursor
// has those that find no room.
func (c *Canvas) markNames(v *style.Pen, p Plot, a Area) {
	if a.h < 6 {
		return
	}
	rows := []int{a.y + a.h - 1}
	for k := 1; p.detail && k <= a.h/8; k++ {
		rows = append(rows, a.y+a.h-1-k)
	}
	for k := 0; p.detail && k <= a.h/8; k++ {
		rows = append(rows, a.y+k)
	}
	ends := map[int]int{}
	for i := len(p.marks) - 1; i >= 0; i-- { // the newest matter most
		m := p.marks[i]
		x := a.cellX(v.Glyphs, m.x) + 1
		n := style.Cells(m.text)
		if m.text == "" || !a.has(m.x) || x+n >= a.x+a.w {
			continue
		}
		var free [][2]int
		for _, row := range rows {
			if end, ok := ends[row]; !ok || x+n < end {
				free = append(free, [2]int{x, row})
			}
		}
		const bearable = 5
		if at, hidden := c.emptiest(n, 1, free); len(free) > 0 && (!p.detail || hidden <= bearable) {
			ends[at[1]] = x
			c.write(x, at[1], m.text, style.Muted)
		}
	}
}

// xLabels writes the ends of the x axis, the newest x always, and what fits between them. The label at the right
// has the unit.
func (c *Canvas) xLabels(v *style.Pen, p Plot, a Area, row int) {
	if len(p.names) > 0 {
		c.nameLabels(v, p, a, row)
		return
	}
	newest := p.last()
	if a.right > a.left {
		newest = math.Max(a.back(a.left), math.Min(newest, a.back(a.right)))
	}
	var at []float64
	if a.right > a.left {
		at = p.xTicks(a)
	}
	epochs := p.whole && p.by == Epochs
	if epochs {
		if x := math.Floor(newest + 1e-6); a.has(x) || a.right <= a.left { // a logarithm and back may be a little less
			newest = x
		}
		at = slices.DeleteFunc(at, func(x float64) bool { return x != math.Trunc(x) })
	}
	unit := ""
	if p.detail && !p.clocked(a) {
		unit = p.by.unit()
	}
	label := func(x float64) string {
		if x == newest && epochs && x == math.Trunc(x) {
			return format.Count(int(x))
		}
		return p.xLabel(a, x)
	}
	said := map[string]bool{}
	taken := make([]bool, c.w+2)
	put := func(x float64, unit string) {
		s := label(x)
		n := style.Cells(s + unit)
		from := max(a.x, min(a.cellX(v.Glyphs, x)-(n-1)/2, a.x+a.w-n))
		room := taken[from:min(from+n+2, len(taken))] // a cell before, and one after
		if said[s] || slices.Contains(room, true) {
			return
		}
		said[s] = true
		for i := range room[:len(room)-1] {
			taken[from+1+i] = true
		}
		c.write(from, row, s+unit, style.Muted)
		c.notch(v, p, a, x, row)
	}
	if k := len(at) - 1; k >= 0 && c.apart(v, a, newest, at[k], label(newest), label(at[k])+unit) {
		put(at[k], unit)
		unit = ""
	}
	put(newest, unit)
	for _, x := range at {
		put(x, "")
	}
}

// apart reports whether the label of a later x, which may end at the right edge, leaves room for that of an x.
func (c *Canvas) apart(v *style.Pen, a Area, x, later float64, s, further string) bool {
	return later > x && a.cellX(v.Glyphs, x)+style.Cells(s)/2+2 < min(a.cellX(v.Glyphs, later)-(style.Cells(further)-1)/2, a.x+a.w-style.Cells(further))
}

// notch marks on the axis where a label belongs.
func (c *Canvas) notch(v *style.Pen, p Plot, a Area, x float64, row int) {
	if p.detail && row == a.y+a.h+1 {
		c.set(a.cellX(v.Glyphs, x), a.y+a.h, '┬', style.Grid)
	}
}

func (p *Plot) xTicks(a Area) []float64 {
	n := max(2, a.w/10)
	switch {
	case p.logX:
		return Decades(a.left, a.right, n)
	case p.clocked(a):
		return clockSteps(a.left, a.right, n)
	}
	return Steps(a.left, a.right, n)
}

// clocked reports whether x are written as minutes and hours.
func (p *Plot) clocked(a Area) bool { return p.by == Seconds && !p.logX && a.right >= 100 }

// xLabel writes an x without its unit.
func (p *Plot) xLabel(a Area, x float64) string {
	switch {
	case p.clocked(a):
		return format.Clock(x)
	case p.by == Epochs:
		return format.Tick(x)
	}
	return format.Tick(format.Significant(x, 4))
}

// unit follows the last label of an axis.
func (by Axis) unit() string { return [AxisCount]string{" epochs", " s", " equivalents"}[by] }

// Words names an axis.
func (by Axis) Words() string {
	return [AxisCount]string{"epochs", "seconds", "gradient equivalents"}[by]
}

// last is the newest x.
func (p *Plot) last() float64 {
	last := math.Inf(-1)
	for i := range p.curves {
		if _, x, ok := p.curves[i].series.extent(); ok {
			last = math.Max(last, x[p.by])
		}
	}
	if len(p.curves) == 0 && p.window[1] > p.window[0] {
		return p.window[1]
	}
	_, last = p.dotReach(0, last)
	return last
}
