package tuning

import (
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// tuneColumn is a column of the leaderboard.
type tuneColumn struct {
	title string
	wide  int
	rank  int  // those of the highest are left out first
	left  bool // words; else figures, which end alike
	kind  tuneKind
	text  func(i int, t *tune.Trial) style.Part
}

// tuneKind is what a column is beside text.
type tuneKind uint8

const (
	plainColumn  tuneKind = iota
	numberColumn          // names the trial
	curveColumn           // has the curve, and grows
)

// dash stands for what a trial does not have.
var dash = style.Muted.Of("–")

// columnsOf lists the columns of the leaderboard, from the left.
func columnsOf(m *model, long bool) []tuneColumn {
	figure := func(of func(t *tune.Trial) string) func(int, *tune.Trial) style.Part {
		return func(_ int, t *tune.Trial) style.Part {
			if s := of(t); s != dash.Text {
				return style.Text.Of(s)
			}
			return dash
		}
	}
	n := style.Cells(format.Count(len(m.board.Trials)))
	out := []tuneColumn{
		{"rank", n, 3, false, plainColumn, func(i int, _ *tune.Trial) style.Part { return rankText(m, i) }},
		{"trial", n + 1, 1, false, numberColumn, func(_ int, t *tune.Trial) style.Part {
			return style.Text.Of(
				"#" + format.Count(t.Number))
		}},
		{"", 2, 0, true, plainColumn, func(_ int, t *tune.Trial) style.Part { return stateOf(t, false) }},
	}
	if long {
		out[2] = tuneColumn{"state", m.wide, 0, true, plainColumn,
			func(_ int, t *tune.Trial) style.Part { return stateOf(t, true) }}
	}
	for k := range m.dims {
		out = append(out, choiceColumn(m, k))
	}
	name := m.measure()
	if !long {
		name = name[strings.LastIndex(name, " ")+1:]
	}
	best := tuneColumn{name, 6, 0, false, plainColumn, figure(
		func(t *tune.Trial) string { return m.text(float64(t.Best)) })}
	if !m.board.Share() {
		best.wide = 9
	}
	out = append(out, best)
	if m.board.Test != "" {
		out = append(out, tuneColumn{"test", best.wide, 2, false, plainColumn,
			figure(func(t *tune.Trial) string { return m.text(float64(t.Test)) })})
	}
	if m.board.Target > 0 {
		out = append(out, tuneColumn{"to " + m.targetText(), 7, 1, false, plainColumn,
			func(_ int, t *tune.Trial) style.Part {
				if s := float64(t.TargetSeconds); format.Finite(s) {
					return style.Strong.Of(format.Span(s))
				}
				return dash
			}})
	}
	return append(out,
		tuneColumn{"curve", 8, 5, true, curveColumn, nil},
		tuneColumn{"epochs", style.Cells(format.Count(m.epochs)), 8, false, plainColumn,
			figure(func(t *tune.Trial) string { return format.Count(t.Epochs) })},
		tuneColumn{"work", 6, 7, false, plainColumn, figure(func(
			t *tune.Trial) string {
			return format.CountWithin(t.Equivalents, 6)
		})},
		tuneColumn{"time", 7, 6, false, plainColumn, figure(func(
			t *tune.Trial) string {
			return format.Elapsed(t.Seconds)
		})})
}

// rankText is a trial's place in the search's order.
func rankText(m *model, i int) style.Part {
	if m.rank[i] == 0 {
		return dash
	}
	return style.Text.Of(format.Count(m.rank[i]))
}

// choiceColumn has the choices of a dimension. That which leads stays the longest, and of the others the first.
func choiceColumn(m *model, k int) tuneColumn {
	const widest = 16
	d := &m.dims[k]
	rank := min(2+k, 5)
	if k == m.lead {
		rank = 0
	}
	return tuneColumn{ansi.Truncate(style.Clean(d.key), widest, "…"), min(max(d.wide, 3), widest), rank, d.names != nil,
		plainColumn, func(_ int, t *tune.Trial) style.Part {
			if s := style.Clean(d.chosen(t)); s != "" {
				return style.Text.Of(s)
			}
			return dash
		}}
}

// fitColumns leaves out columns until the rest has room. What is left over goes to the curves, and then to the reasons.
func fitColumns(m *model, room int) []tuneColumn {
	const lead, why = 3, 20 // lead: an arrow, a letter and a space
	list := columnsOf(m, room >= 96)
	for {
		used, worst := lead-widget.ColumnGap, 0
		for i := range list {
			list[i].wide = max(list[i].wide, style.Cells(list[i].title))
			used += list[i].wide + widget.ColumnGap
			if list[i].rank >= list[worst].rank {
				worst = i
			}
		}
		if used > room && len(list) > 1 {
			list = append(list[:worst:worst], list[worst+1:]...)
			continue
		}
		left := room - used
		whys := m.whys && left >= why+widget.ColumnGap
		for i := range list {
			if list[i].kind == curveColumn {
				more := min(left, 16)
				if whys {
					more = min(left-why-widget.ColumnGap, 16)
				}
				list[i].wide, left = list[i].wide+more, left-more
			}
		}
		if whys {
			list = append(list, tuneColumn{"why", left - widget.ColumnGap, 0, true, plainColumn,
				func(_ int, t *tune.Trial) style.Part { return style.Muted.Of(style.Clean(t.Why)) }})
		}
		return list
	}
}

// drawTable has a heading, the trials that have room, around the selected one, and what is said about that.
func drawTable(m *model, r layout.Rect) (title []style.Part, rows []string) {
	list := fitColumns(m, r.W)
	about := 1
	if shows(m, tuneDetails) {
		about = 0
	} else if r.H >= 12 {
		about = 2
	}
	n := len(m.rows)
	m.table.Rect, m.table.First = r, 1
	m.table.Rows = max(0, min(n, r.H-1-about))
	at := max(0, m.place(&m.standing))
	m.table.Top = min(max(m.table.Top, at-m.table.Rows+1), at, n-m.table.Rows)
	head := m.Line(r.W).Put(style.Text, "   ")
	for i := range list {
		head.Put(style.Muted, list[i].align(list[i].title, i == 0))
	}
	rows = append(rows, head.Full())
	for _, i := range m.rows[m.table.Top : m.table.Top+m.table.Rows] {
		rows = append(rows, tableRow(m, list, i, r.W))
	}
	if n == 0 {
		rows = append(rows, m.Line(r.W).Put(style.Muted, "   "+emptyWords(m)).Full())
	}
	for len(rows) < r.H-about {
		rows = append(rows, style.Spaces(r.W))
	}
	return tableTitle(m), append(rows, aboutTrial(m, r.W, about)...)
}

// emptyWords says why there is no trial to see.
func emptyWords(m *model) string {
	if m.filter.Text != "" && len(m.board.Trials) > 0 {
		return "no trial has all of this; esc shows them all"
	}
	return "no trial has begun yet"
}

// tableTitle says what the leaderboard is.
func tableTitle(m *model) []style.Part {
	title := []style.Part{style.Strong.Of("leaderboard"), style.Muted.Of("  by " + sortedBy(m))}
	n, all := len(m.rows), len(m.board.Trials)
	if m.filter.Text != "" {
		title = append(title, style.Accent.Of("  / "+ansi.Truncate(style.Clean(m.filter.Text), 24, "…")),
			style.Muted.Of("  "+format.Count(n)+" of "+format.Count(all)))
	}
	if m.table.Rows < n {
		title = append(title, style.Muted.Of("  "+format.Count(m.table.Top+1)+" to "+format.Count(
			m.table.Top+m.table.Rows)+" of "+format.Count(n)))
	}
	return title
}

// align puts text into a column.
func (c *tuneColumn) align(s string, first bool) string {
	gap := widget.ColumnGap
	if first {
		gap = 0
	}
	s = ansi.Truncate(s, c.wide, "…")
	if c.left {
		return style.Spaces(gap) + style.Pad(s, c.wide)
	}
	return style.Spaces(gap) + style.Right(s, c.wide)
}

// tableRow is a trial in the leaderboard. One that is behind stands back, and the selected one stands out by its name.
func tableRow(m *model, list []tuneColumn, i, w int) string {
	t := &m.board.Trials[i]
	chosen := t.Number == m.number
	behind := t.State == tune.Pruned || t.State == tune.Paused || t.State == tune.Stopped || t.State == tune.Waiting
	tag := m.tag(t)
	arrow := " "
	if chosen {
		arrow = "▸"
	}
	l := m.Line(w).Put(style.Accent, arrow).Put(tag.Token, tag.Text).Put(style.Text, " ")
	for k := range list {
		c := &list[k]
		if c.kind == curveColumn {
			ink := style.Muted
			if chosen || t.Final || t.State == tune.Running {
				ink = tag.Token
			}
			l.Put(style.Text, style.Spaces(widget.ColumnGap)).Put(ink, spark(m, t, c.wide))
			continue
		}
		p := c.text(i, t)
		switch {
		case chosen && c.kind == numberColumn:
			p.Token = style.Chosen
		case chosen && p.Token == style.Text:
			p.Token = style.Strong
		case behind && p.Token == style.Text:
			p.Token = style.Muted
		}
		s := c.align(p.Text, k == 0)
		from := len(s) - len(strings.TrimLeft(s, " "))
		word := strings.TrimSpace(s)
		l.Put(style.Text, s[:from]).Put(p.Token, word).Put(style.Text, s[from+len(word):])
	}
	return l.Full()
}

// spark is a trial's curve in one row, whatever its length, on a logarithmic scale that all trials share.
func spark(m *model, t *tune.Trial, w int) string {
	n := len(t.Curve)
	used := min(n, w)
	low, high := math.Log(m.floor), math.Log(m.most)
	heights := make([]float64, used)
	for x := range heights {
		v := float64(t.Curve[(x+1)*n/used-1].Value)
		heights[x] = (math.Log(max(v, 0)) - low) / (high - low) // NaN, as good as 0, if all values are the same
	}
	out := m.charts.blocks.Sparkline(m.Glyphs, heights)
	for x := range out {
		if !format.Finite(float64(t.Curve[(x+1)*n/used-1].Value)) {
			out[x] = '×'
		}
	}
	return style.Pad(string(out), w)
}

// aboutTrial tells of the selected trial what the table may have no room for.
func aboutTrial(m *model, w, rows int) []string {
	t := selected(m)
	if t == nil || rows == 0 {
		return style.Block(nil, w, rows)
	}
	tag, state := m.tag(t), stateOf(t, true)
	first, second := m.Line(w), m.Line(w).Put(style.Text, "   ")
	first.Put(tag.Token, " "+tag.Text).Put(style.Text, " #"+format.Count(t.Number)+" ").Put(state.Token, state.Text)
	if t.Why != "" {
		first.Put(style.Muted, ": "+style.Clean(t.Why))
	}
	rest, sep := first, " · "
	if rows > 1 {
		rest, sep = second, ""
	}
	for _, s := range aboutGroups(t) {
		if rest.Group(style.Muted.Of(sep + s)) {
			sep = " · "
		}
	}
	return []string{first.Full(), second.Full()}[:rows]
}

// aboutGroups are what a trial is, in the order of what matters.
func aboutGroups(t *tune.Trial) (out []string) {
	choices := make([]string, len(t.Choices))
	for i, c := range t.Choices {
		choices[i] = style.Clean(c.Key) + "=" + style.Clean(c.Value)
	}
	if len(choices) > 0 {
		out = append(out, strings.Join(choices, " "))
	}
	if t.Run != "" {
		out = append(out, "newtop runs show "+style.Clean(t.Run))
	}
	return append(out, "seed "+strconv.FormatUint(t.Seed, 10))
}

// shows reports whether a pane is on the screen.
func shows(m *model, p layout.ID) bool {
	for i := range m.places {
		if m.places[i].Pane == p {
			return true
		}
	}
	return false
}
