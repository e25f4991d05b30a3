package tuning

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// column is a column of the leaderboard, whose rows are the indices of trials.
type column = widget.Column[int]

// The columns that are more than text.
const (
	trialColumn = "trial"
	curveColumn = "curve"
)

// dash stands for what a trial does not have.
var dash = style.Muted.Of("–")

// columnsOf lists the columns of the leaderboard, from the left.
func columnsOf(m *model, long bool) []column {
	trial := func(i int) *tune.Trial { return &m.leaderboard.Trials[i] }
	of := func(title string, width, rank int, text func(t *tune.Trial) string) column {
		return column{Title: title, Width: width, Rank: rank, Cell: func(i, _ int) style.Part {
			if s := text(trial(i)); s != dash.Text {
				return style.Text.Of(s)
			}
			return dash
		}}
	}
	n := style.Cells(format.Count(len(m.leaderboard.Trials)))
	state := column{Width: 2, Left: true}
	if long {
		state.Title, state.Width = "state", m.wide
	}
	state.Cell = func(i, _ int) style.Part { return stateOf(trial(i), long) }
	number := of("trial", n+1, 1, func(t *tune.Trial) string { return "#" + format.Count(t.Number) })
	number.Key = trialColumn
	out := []column{{Title: "rank", Width: n, Rank: 3, Cell: func(i, _ int) style.Part { return rankText(m, i) }},
		number, state}
	for k := range m.dims {
		out = append(out, choiceColumn(m, k))
	}
	name, wide := m.measure(), 6
	if !long {
		name = name[strings.LastIndex(name, " ")+1:]
	}
	if !m.leaderboard.Share() {
		wide = 9
	}
	out = append(out, of(name, wide, 0, func(t *tune.Trial) string { return m.text(float64(t.Best)) }))
	if m.leaderboard.Test != "" {
		out = append(out, of("test", wide, 2, func(t *tune.Trial) string { return m.text(float64(t.Test)) }))
	}
	if m.leaderboard.Target > 0 {
		out = append(out, column{Title: "to " + m.targetText(), Width: 7, Rank: 1, Cell: func(i, _ int) style.Part {
			if s := float64(trial(i).TargetSeconds); format.Finite(s) {
				return style.Strong.Of(format.Span(s))
			}
			return dash
		}})
	}
	out = append(out, column{Key: curveColumn, Title: "curve", Width: 8, Grow: 16, Rank: 5, Left: true,
		Cell: func(i, w int) style.Part { return style.Text.Of(spark(m, trial(i), w)) }},
		of("epochs", style.Cells(format.Count(m.epochs)), 8, func(t *tune.Trial) string {
			return format.Count(t.Epochs)
		}),
		of("work", 6, 7, func(t *tune.Trial) string { return format.CountWithin(t.Equivalents, 6) }),
		of("time", 7, 6, func(t *tune.Trial) string { return format.Elapsed(t.Seconds) }))
	if m.leaderboard.Program != nil { // whose work nobody knows
		out = slices.Delete(out, len(out)-2, len(out)-1)
		out[len(out)-2].Title = m.counts() + "s"
	}
	if m.hasReasons {
		out = append(out, column{Title: "reason", Width: 20, Left: true, Rest: true,
			Cell: func(i, _ int) style.Part { return style.Muted.Of(style.Clean(trial(i).Error)) }})
	}
	return out
}

// rankText is a trial's place in the search's order.
func rankText(m *model, i int) style.Part {
	if m.rank[i] == 0 {
		return dash
	}
	return style.Text.Of(format.Count(m.rank[i]))
}

// choiceColumn has the choices of a dimension. That which leads stays the longest, and of the others the first;
// those that few trials have go before.
func choiceColumn(m *model, k int) column {
	const widest = 16
	d := &m.dims[k]
	rank := min(2+k, 5)
	switch {
	case k == m.lead:
		rank = 0
	case 2*d.users < len(m.leaderboard.Trials):
		rank = 6
	}
	return column{Title: ansi.Truncate(style.Clean(d.key), widest, "…"), Width: min(max(d.wide, 3), widest), Rank: rank,
		Left: d.names != nil, Cell: func(i, _ int) style.Part {
			if s := style.Clean(d.chosen(&m.leaderboard.Trials[i])); s != "" {
				return style.Text.Of(s)
			}
			return dash
		}}
}

// drawTable has a heading, the trials that have room, around the selected one, and what is said about that.
func drawTable(m *model, r layout.Rect) (title []style.Part, rows []string) {
	about := 1
	if shows(m, tuneDetails) {
		about = 0
	} else if r.H >= 12 {
		about = 2
	}
	at := r
	at.H -= about
	m.table.Columns, m.table.Lead = columnsOf(m, r.W >= 96), 3
	m.table.Mark = func(l *style.Line, i int) {
		tag := m.tag(&m.leaderboard.Trials[i])
		l.Write(tag.Token, tag.Text)
	}
	m.table.Color = func(c *column, i int, chosen bool, own style.Token) style.Token {
		return cellColor(m, c, i, chosen, own)
	}
	rows = m.table.Draw(&m.Pen, at, m.rows, m.row(&m.standing))
	if len(m.rows) == 0 {
		rows = append(rows, m.Line(r.W).Write(style.Muted, "   "+emptyText(m)).Full())
	}
	for len(rows) < r.H-about {
		rows = append(rows, style.Spaces(r.W))
	}
	return tableTitle(m), append(rows, aboutTrial(m, r.W, about)...)
}

// emptyText says why there is no trial to see.
func emptyText(m *model) string {
	if m.filter.Text != "" && len(m.leaderboard.Trials) > 0 {
		return "no trial has all of this; esc shows them all"
	}
	return "no trial has begun yet"
}

// tableTitle says what the leaderboard is.
func tableTitle(m *model) []style.Part {
	title := []style.Part{style.Strong.Of("leaderboard"), style.Muted.Of("  by " + sortedBy(m))}
	n, all := len(m.rows), len(m.leaderboard.Trials)
	if m.filter.Text != "" {
		title = append(title, style.Accent.Of("  / "+ansi.Truncate(style.Clean(m.filter.Text), 24, "…")),
			style.Muted.Of("  "+format.Count(n)+" of "+format.Count(all)))
	}
	if span := m.table.Span(n); span != "" {
		title = append(title, style.Muted.Of(span))
	}
	return title
}

// cellColor is the colour of a cell. A trial that is behind stands back, and the selected one stands out by its name.
func cellColor(m *model, c *column, i int, chosen bool, own style.Token) style.Token {
	t := &m.leaderboard.Trials[i]
	behind := t.State == tune.Pruned || t.State == tune.Paused || t.State == tune.Stopped || t.State == tune.Waiting
	switch {
	case c.Key == curveColumn && (chosen || t.Final || t.State == tune.Running):
		return m.tag(t).Token
	case c.Key == curveColumn:
		return style.Muted
	case chosen && c.Key == trialColumn:
		return style.Chosen
	case chosen && own == style.Text:
		return style.Strong
	case behind && own == style.Text:
		return style.Muted
	}
	return own
}

// spark is a trial's curve in one row, whatever its length, on a logarithmic scale that all trials share.
func spark(m *model, t *tune.Trial, w int) string {
	n := len(t.Curve)
	used := min(n, w)
	low, high := math.Log(m.floor), math.Log(m.max)
	heights, rises := make([]float64, used), m.accurate()
	for x := range heights {
		v := float64(t.Curve[(x+1)*n/used-1].Value)
		heights[x] = (math.Log(max(v, 0)) - low) / (high - low) // NaN, as good as 0, if all values are the same
		if rises {
			heights[x] = 1 - heights[x]
		}
	}
	out := m.charts.blocks.Sparkline(m.Glyphs, heights)
	for x := range out {
		if !format.Finite(float64(t.Curve[(x+1)*n/used-1].Value)) {
			out[x] = '×'
		}
	}
	return string(out)
}

// aboutTrial tells of the selected trial what the table may have no room for.
func aboutTrial(m *model, w, rows int) []string {
	t := selected(m)
	if t == nil || rows == 0 {
		return style.Block(nil, w, rows)
	}
	tag, state := m.tag(t), stateOf(t, true)
	first, second := m.Line(w), m.Line(w).Write(style.Text, "   ")
	first.Write(tag.Token, " "+tag.Text).Write(style.Text, " #"+format.Count(t.Number)+" ").Write(
		state.Token, state.Text)
	if t.Error != "" {
		first.Write(style.Muted, ": "+style.Clean(t.Error))
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
	return slices.ContainsFunc(m.slots, func(s layout.Slot) bool { return s.Pane == p })
}
