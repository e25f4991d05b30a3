package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// compareColumn is a column of the table, all but the first as wide as its title or its widest text.
type compareColumn struct {
	title string
	rank  int // those of low rank are left out last
	text  func(r *comparedRun) style.Part
}

// columnsOf lists the columns from the left, apart from the runs' names.
func columnsOf(m *model) []compareColumn {
	plain := func(s string) style.Part { return style.Text.Of(s) }
	of := func(pick func(r *comparedRun) *event.EpochEvent, text func(r *comparedRun, e *event.EpochEvent) string) func(
		*comparedRun) style.Part {
		return func(r *comparedRun) style.Part {
			e := pick(r)
			if e == nil {
				return style.Muted.Of("–")
			}
			return plain(text(r, e))
		}
	}
	best := func(r *comparedRun) *event.EpochEvent { return r.best }
	last := func(r *comparedRun) *event.EpochEvent { return r.last }
	value := func(r *comparedRun, e *event.EpochEvent) string { return r.text(r.value(e)) }
	epoch := func(_ *comparedRun, e *event.EpochEvent) string { return format.Count(e.Epoch) }
	took := func(_ *comparedRun, e *event.EpochEvent) string { return format.Elapsed(float64(e.Elapsed)) }
	work := func(_ *comparedRun, e *event.EpochEvent) string {
		return format.CountWithin(float64(e.GradientEquivalents), 6)
	}
	bestText := func(r *comparedRun) style.Part {
		p := of(best, value)(r)
		if p.Token == style.Text {
			p.Token = style.Strong
		}
		return p
	}
	columns := []compareColumn{{"best", 0, bestText}, {"at epoch", 3, of(best, epoch)}, {"time", 2, of(best, took)},
		{"work", 7, of(best, work)}}
	if m.target >= 0 {
		target := m.targets[m.target]
		sought := func(r *comparedRun) *event.EpochEvent { return r.reach(target, m.runs[0].measure) }
		columns = append(columns, compareColumn{"≤ " + targetText(m) + " in", 1, of(sought, took)},
			compareColumn{"work", 5, of(sought, work)})
	}
	columns = append(columns, cursorColumns(m)...)
	return append(columns, compareColumn{"last", 4, of(last, value)}, compareColumn{"epochs", 6, of(last, epoch)},
		compareColumn{"state", 8, (*comparedRun).state})
}

// cursorColumns are what the charts' cursor is at.
func cursorColumns(m *model) (out []compareColumn) {
	c := &m.charts
	if !c.view.On || len(c.shown) == 0 {
		return nil
	}
	x := c.view.Cursor[c.view.By]
	at := [chart.AxisCount]string{format.Count(int(x)), format.Elapsed(x), format.CountWithin(x, 6)}[c.view.By]
	for side := range c.sides() {
		k := c.quantity(side)
		out = append(out, compareColumn{comparedQuantities[k].Name + " at " + at, 1 + side,
			func(r *comparedRun) style.Part {
				if s := c.here(r, k); s != "" {
					return style.Accent.Of(s)
				}
				return style.Muted.Of("–")
			}})
	}
	return out
}

// targetText writes the target as short as it is round.
func targetText(m *model) string {
	return format.Target(m.targets[m.target], m.runs[0].measure.Info().Share)
}

// fitted is the columns that have room, with their widths.
type fitted struct {
	name    int // the width of the runs' names
	columns []compareColumn
	widths  []int
}

// fitColumns leaves out columns, those of the highest rank first, until the names have enough room.
func fitColumns(m *model, w int) (f fitted) {
	const lead = 3 // arrow, letter and a space
	f.columns = columnsOf(m)
	for {
		longest := 8
		for i := range m.runs {
			longest = max(longest, style.Cells(m.runs[i].label+m.runs[i].suffix(&f)))
		}
		f.widths = f.widths[:0]
		used := lead
		for _, c := range f.columns {
			wide := style.Cells(c.title)
			for i := range m.runs {
				wide = max(wide, style.Cells(c.text(&m.runs[i]).Text))
			}
			f.widths = append(f.widths, wide)
			used += widget.ColumnGap + wide
		}
		f.name = min(longest, w-used)
		if f.name >= min(longest, 24) || len(f.columns) <= 1 {
			f.name = max(f.name, 1)
			return f
		}
		worst := 0
		for i, c := range f.columns {
			if c.rank > f.columns[worst].rank {
				worst = i
			}
		}
		f.columns = append(f.columns[:worst:worst], f.columns[worst+1:]...)
	}
}

// drawTable has a heading, the runs, best first, and a line about the selected one. Where the screen is low, it shows
// the part of the ranking that has the selected run.
func drawTable(m *model, w, h int, framed bool) []string {
	edge, inner := 0, w
	if framed {
		edge, inner = 2, w-4
	}
	n := len(m.runs)
	m.table.Rows = max(2, min(n, h/2-2-edge))
	m.table.Rows = min(m.table.Rows, n)
	place := place(m)
	m.table.Top = max(0, min(m.table.Top, place, n-m.table.Rows))
	m.table.Top = max(m.table.Top, place-m.table.Rows+1)
	f := fitColumns(m, inner)
	l := m.Line(inner).Put(style.Text, "   ").Put(style.Muted, style.Pad("run", f.name))
	for i, c := range f.columns {
		l.Put(style.Muted, align(m, &f, i, c.title))
	}
	rows := []string{l.Full()}
	m.table.First = len(rows) + edge/2
	for _, i := range m.order[m.table.Top : m.table.Top+m.table.Rows] {
		rows = append(rows, tableRow(m, &f, i, inner))
	}
	rows = append(rows, aboutRun(m, inner))
	if !framed {
		return rows
	}
	return widget.Framed(&m.Pen, style.Border, tableTitle(m, w-6), rows, w)
}

// suffix says behind a run's name what must be known of it, and that it diverged or failed where its state has no room.
func (r *comparedRun) suffix(f *fitted) (s string) {
	stated := slices.ContainsFunc(f.columns, func(c compareColumn) bool { return c.title == "state" })
	if !stated && r.state().Token == style.Bad {
		s = " ×"
	}
	if r.hidden {
		s += " (hidden)"
	}
	return s
}

// place is where the selected run stands in the ranking.
func place(m *model) int {
	for k, i := range m.order {
		if i == m.at {
			return k
		}
	}
	return 0
}

// align puts text into a column: words to the left, all else to the right.
func align(m *model, f *fitted, i int, s string) string {
	if f.columns[i].title == "state" {
		return style.Spaces(widget.ColumnGap) + s
	}
	return style.Spaces(widget.ColumnGap) + style.Right(s, f.widths[i])
}

func tableRow(m *model, f *fitted, i, w int) string {
	r := &m.runs[i]
	l := m.Line(w)
	arrow, ink, letter, tone := " ", style.Text, style.RacerToken(i), style.Bad
	if i == m.at {
		arrow, ink = "▸", style.Chosen
	}
	if r.hidden {
		letter, tone = style.Muted, style.Muted
		if i != m.at {
			ink = style.Muted
		}
	}
	suffix := r.suffix(f)
	name := ansi.Truncate(r.label, max(1, f.name-style.Cells(suffix)), "…")
	l.Put(style.Accent, arrow).Put(letter, style.RacerLetter(i)).Put(style.Text, " ").Put(ink, name)
	l.Put(tone, ansi.Truncate(suffix, f.name-style.Cells(name), "")).To(3 + f.name)
	for k, c := range f.columns {
		p := c.text(r)
		if r.hidden {
			p.Token = style.Muted
		}
		l.Put(p.Token, align(m, f, k, p.Text))
	}
	return l.Full()
}

// tableTitle says what the table is.
func tableTitle(m *model, room int) []style.Part {
	parts := []style.Part{style.Strong.Of("runs")}
	add := func(s string) {
		if style.Width(parts)+style.Cells(s) <= room {
			parts = append(parts, style.Muted.Of(s))
		}
	}
	add("  by " + measuredName(m))
	add("  time in training, work in gradient equivalents")
	if m.table.Rows < len(m.runs) {
		add("  " + format.Count(m.table.Top+1) + " to " + format.Count(m.table.Top+m.table.Rows) + " of " +
			format.Count(len(m.runs)))
	}
	return parts
}

// aboutRun tells of the selected run what the table has no room for.
func aboutRun(m *model, w int) string {
	r := &m.runs[m.at]
	l := m.Line(w).Put(style.RacerToken(m.at), " "+style.RacerLetter(m.at)+" ")
	groups := []style.Part{style.Text.Of(style.Clean(r.ID)), r.state()}
	if e := r.Run; e != nil {
		groups = append(groups, style.Text.Of(style.Clean(e.Optimizer)), style.Muted.Of(e.Seeds()))
		if !e.Time.IsZero() {
			groups = append(groups, style.Muted.Of(e.Time.Format("2006-01-02 15:04")))
		}
		if e.Precision != "" {
			groups = append(groups, style.Muted.Of(style.Clean(e.Precision)))
		}
		if e.Kernel != "" {
			groups = append(groups, style.Muted.Of(style.Clean(e.Kernel)))
		}
	}
	if r.last != nil && !math.IsNaN(float64(r.last.Elapsed)) {
		groups = append(groups, style.Muted.Of("trained "+format.Elapsed(float64(r.last.Elapsed))))
	}
	sep := ""
	for _, p := range groups {
		if strings.TrimSpace(p.Text) != "" && l.Group(style.Muted.Of(sep), p) {
			sep = " · "
		}
	}
	return l.Full()
}
