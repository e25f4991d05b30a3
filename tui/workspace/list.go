package workspace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/internal/rundiff"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/pane/metrics"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// order is how the list is sorted.
type order uint8

const (
	asGiven order = iota
	byName
	byValue // of the selected metric, the best first
	byState
	byBest // of the run's measure
	orders
)

func (o order) String() string {
	return [...]string{"as given", "by name", "by value", "by state", "by best"}[o]
}

// list is which runs there are, in which order, and what was chosen of them.
type list struct {
	grouping
	runs    []*run // as they came
	rows    []*run // of the list: those that match, in order
	hidden  map[*run]bool
	at      *run // the selected one, nil for none
	pinned  *run // that the others are compared with
	solo    *run // that alone is shown
	filter  widget.Filter
	invalid string // why the filter can't be read
	sorted  order
	column  column
	table   widget.List

	choices []rundiff.Row     // of the runs
	started []*event.RunEvent // as they were then
}

// enter takes in a run, one of that many.
func (l *list) enter(w Watched, of int) {
	most := max(minBuckets, min(chart.MaxBuckets, sharedBuckets/max(of, 1)/2*2))
	r := &run{name: cmp.Or(style.Clean(w.Name), style.Clean(w.Source), "run"), source: style.Clean(w.Source),
		host: w.Host, tags: w.Tags, number: len(l.runs), colour: len(l.runs),
		feed: w.Feed, open: w.Open, buckets: most, h: history.Coarse(most)}
	l.runs = append(l.runs, r)
}

// leave gives up a run.
func (l *list) leave(r *run) {
	l.runs = slices.DeleteFunc(l.runs, func(other *run) bool { return other == r })
	for _, at := range []**run{&l.at, &l.pinned, &l.solo} {
		if *at == r {
			*at = nil
		}
	}
}

// shown are the runs that the charts show.
func (l *list) shown() (out []*run) {
	for _, r := range l.units {
		if l.isShown(r) {
			out = append(out, r)
		}
	}
	return out
}

func (l *list) isShown(r *run) bool {
	if l.solo != nil {
		return r == l.solo
	}
	return !r.off && !l.hidden[r]
}

// arrange filters and sorts the runs. A filter that can't be read leaves them as they were.
func (m *model) arrange() {
	look(m)
	hidden, err := filtered(m.runs, m.filter.Text)
	if m.invalid = ""; err != nil {
		m.invalid = style.Clean(err.Error())
	} else {
		m.hidden = hidden
	}
	m.units = m.runs
	if m.by != "" {
		m.units = grouped(&m.list)
	}
	if m.within != nil && len(m.within.members) > 0 {
		m.units = m.within.members
	}
	m.rows = m.rows[:0]
	for _, r := range m.units {
		if !m.hidden[r] {
			m.rows = append(m.rows, r)
		}
	}
	switch m.sorted {
	case byName:
		slices.SortStableFunc(m.rows, func(a, b *run) int { return strings.Compare(a.name, b.name) })
	case byState:
		words := map[*run]string{}
		for _, r := range m.rows {
			_, words[r] = r.state()
		}
		slices.SortStableFunc(m.rows, func(a, b *run) int { return strings.Compare(words[a], words[b]) })
	case byValue:
		sortByValue(m)
	case byBest:
		if len(m.rows) > 0 {
			first := m.runs[0].h.Measure
			slices.SortStableFunc(m.rows, func(a, b *run) int { return a.compareBest(b, first) })
		}
	}
	if !slices.Contains(m.rows, m.at) {
		if m.at = nil; len(m.rows) > 0 {
			m.at = m.rows[0]
		}
	}
	if m.solo != nil && m.hidden[m.solo] {
		m.solo = nil
	}
}

// sortByValue puts the best value of the column first, or the least of a setting, and what has none last.
func sortByValue(m *model) {
	values, texts := map[*run]float64{}, map[*run]string{}
	better := m.grid.Better(m.grid.Selected())
	for _, r := range m.rows {
		v, text := m.value(r)
		if texts[r] = text; !math.IsNaN(v) {
			if m.column.setting == "" && better == event.MoreBetter {
				v = -v
			}
			values[r] = v
		}
	}
	slices.SortStableFunc(m.rows, func(a, b *run) int {
		x, has := values[a]
		y, other := values[b]
		if has != other {
			if has {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x, y), strings.Compare(texts[a], texts[b]))
	})
}

// choose selects the run of a row, or the nearest.
func (l *list) choose(row int) {
	if len(l.rows) > 0 {
		l.at = l.rows[max(0, min(row, len(l.rows)-1))]
	}
}

// column is what the list has of each run beside its name: a setting, or the selected metric.
type column struct {
	setting string // "" for the metric
	best    bool   // of its values the least, or the greatest where more is better, and not the latest
}

// title names the column.
func (m *model) columnTitle() string {
	switch {
	case m.column.setting != "":
		return m.column.setting
	case m.column.best && m.grid.Better(m.grid.Selected()) == event.MoreBetter:
		return m.grid.Selected() + " max"
	case m.column.best:
		return m.grid.Selected() + " min"
	}
	return m.grid.Selected()
}

// value is what a run has in the column, or what those of a group have on average.
func (m *model) value(r *run) (v float64, text string) {
	if m.column.setting != "" {
		return m.setting(r)
	}
	if len(r.members) == 0 {
		return m.grid.Value(r.h, m.column.best)
	}
	var values []float64
	together(&m.list, r)
	for _, of := range r.members {
		v := metrics.ValueBeside(&m.grid, r.h, of.h)
		if m.column.best {
			v, _ = m.grid.Value(of.h, true)
		}
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	mean, deviation := chart.Average(values)
	if v, text = m.grid.Value(r.h, false); m.column.best {
		v, text = mean, m.grid.Text(mean)
	}
	if deviation > 0 && text != "" {
		text += " ±" + m.grid.Text(deviation)
	}
	return v, text
}

// setting is what was chosen for a run, as a number too if it is one; what the runs of a group do not share is "…".
func (m *model) setting(r *run) (v float64, text string) {
	m.compareChoices()
	for i := range m.choices {
		if m.choices[i].Name != m.column.setting {
			continue
		}
		for k, of := range r.each() {
			if s := m.choices[i].Values[slices.Index(m.runs, of)]; k == 0 || s == text {
				text = s
			} else {
				return math.NaN(), "…"
			}
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		v = math.NaN()
	}
	return v, style.Clean(text)
}

// move selects another run.
func move(m *model, k string) {
	m.choose(m.table.Move(strings.ToLower(k), slices.Index(m.rows, m.at), len(m.rows)))
}

// drawList draws the list: a row a run, and under them what the selected one chose that others did not.
func drawList(m *model, at layout.Rect) []string {
	const most = 9
	var below []string
	if at.H >= 3*most {
		below = about(m, at.W, most)
	}
	room := at.H - 1 - len(below)
	m.table.Rect, m.table.First = at, 1
	m.table.Show(max(0, slices.Index(m.rows, m.at)), len(m.rows), room)
	c, values := columns{value: 7, epoch: 5}, map[*run]string{}
	for i := range m.table.Rows {
		r := m.rows[m.table.Top+i]
		_, values[r] = m.value(r)
		c.value, c.epoch = max(c.value, style.Cells(values[r])), max(c.epoch, style.Cells(r.epoch()))
	}
	if at.W < signs+minName+c.width()-c.epoch { // a group's mean without what its runs differ by
		c.value = 7
		for r, text := range values {
			values[r], _, _ = strings.Cut(text, " ±")
			c.value = max(c.value, style.Cells(values[r]))
		}
	}
	c.fit(at.W, m.names())
	rows := []string{listHeader(m, at.W, c)}
	for i := range m.table.Rows {
		r := m.rows[m.table.Top+i]
		rows = append(rows, listRow(m, r, at.W, c, values[r]))
	}
	if len(m.rows) == 0 {
		rows = append(rows, m.Line(at.W).Write(style.Muted, " "+m.noRow()).Full())
	}
	rows = style.Block(rows, at.W, at.H-len(below))
	return append(rows, style.Block(below, at.W, len(below))...)
}

func (l *list) noRow() string {
	if len(l.runs) == 0 {
		return "waiting for a run"
	}
	return "no run matches"
}

// columns are the widths of the two columns at the right of the names, 0 for none.
type columns struct{ value, epoch int }

// signs are the columns before a name: whether it is selected, the run's curve, and what the run is doing.
const signs = 6

// minName is the least width of a name beside other columns.
const minName = 11

// fit leaves out the columns that would leave too little of the names, and the epoch where it would cut one of them.
func (c *columns) fit(w int, names []string) {
	cut := func(name string) bool { return w < signs+min(style.Cells(name), 2*minName)+c.width() }
	if w < signs+minName+c.width() || slices.ContainsFunc(names, cut) {
		c.epoch = 0
	}
	if w < signs+minName+c.width() {
		c.value = 0
	}
}

// width is that of the columns with what is between them.
func (c *columns) width() int {
	n := 1
	for _, w := range [...]int{c.value, c.epoch} {
		if w > 0 {
			n += w + 1
		}
	}
	return n
}

// write writes the columns at the right end of a row.
func (c *columns) write(l *style.Line, epoch, value style.Part) string {
	if c.epoch > 0 {
		l.To(l.Room-c.width()+1).Write(epoch.Token, style.Right(epoch.Text, c.epoch))
	}
	if c.value > 0 {
		l.To(l.Room-c.value-1).Write(value.Token, style.Right(value.Text, c.value))
	}
	return l.Full()
}

// counted is what the runs count: "step" where all do.
func (l *list) counted() string {
	for _, r := range l.runs {
		if r.h.Run.Counted() != "step" {
			return "epoch"
		}
	}
	return "step"
}

// listHead names the columns.
func listHeader(m *model, w int, c columns) string {
	color := style.Muted
	if m.focus == onList {
		color = style.Focus
	}
	l := m.Line(w).To(3).Write(color, "runs ")
	if m.sorted != asGiven && l.Left() > c.width()+style.Cells(m.sorted.String()) {
		l.Write(style.Muted, m.sorted.String())
	}
	return c.write(l, style.Muted.Of(m.counted()), style.Muted.Of(
		widget.Cut(style.Clean(m.columnTitle()), c.value, m.grid.Names())))
}

func listRow(m *model, r *run, w int, c columns, text string) string {
	shown := m.isShown(r)
	arrow, color := " ", style.Text
	switch {
	case r == m.at && m.focus == onList:
		arrow, color = "▸", style.Chosen
	case r == m.at:
		arrow, color = "▸", style.Strong
	case !shown:
		color = style.Muted
	}
	sign, _ := r.state()
	mark := signOf(m, r, shown)
	l := m.Line(w).Write(style.Accent, arrow).Write(mark.Token, mark.Text).Write(style.Text, " ").Write(
		sign.Token, sign.Text).Write(style.Text, " ")
	if r == m.pinned {
		l.Write(style.Accent, "■ ")
	}
	l.Write(color, widget.Cut(r.name, max(1, w-l.Width-c.width()), m.names()))
	if color = r.token(); !shown {
		color = style.Muted
	}
	return c.write(l, style.Muted.Of(r.epoch()), color.Of(text))
}

// names are those of the runs.
func (l *list) names() (out []string) {
	for _, r := range l.runs {
		out = append(out, r.name)
	}
	return out
}

// listLine is the list in a row, where it has no room: the runs that are shown, the selected one first.
func listLine(m *model, w int) string {
	l := m.Line(w)
	runs := m.shown()
	if i := slices.Index(runs, m.at); i > 0 {
		runs = append([]*run{m.at}, slices.Delete(runs, i, i+1)...)
	}
	for i, r := range runs {
		mark := signOf(m, r, true)
		value := ""
		if r == m.at {
			_, value = m.value(r)
		}
		parts := []style.Part{style.Text.Of(" "), mark, style.Text.Of(" " + widget.Cut(r.name, 20, m.names()) + " ")}
		if value != "" {
			parts = append(parts, r.token().Of(value+" "))
		}
		if style.Width(parts) > l.Left()-8 {
			l.Write(style.Muted, fmt.Sprintf(" +%d", len(runs)-i))
			break
		}
		l.Group(parts...)
	}
	return l.Full()
}

// filterLine is the last row while the filter is typed.
func filterLine(m *model, w int) string {
	about := format.Count(len(m.rows)) + " of " + format.Counted(len(m.runs), "run")
	if m.invalid == "" {
		return m.filter.Line(&m.Pen, w, about+" · name, opt=adam, lr>0.01, note~big")
	}
	l := m.Line(w).Write(style.Accent, " / ").Write(style.Strong, style.Clean(m.filter.Text)).Write(style.Accent, "▏")
	return l.Write(style.Warn, " "+m.invalid).Full()
}

// about says in that many rows what the selected run is, and what it chose that others did not.
func about(m *model, w, n int) []string {
	if m.at == nil {
		return nil
	}
	rows := []string{m.Line(w).Write(style.Border, style.Repeat("─", w)).Full()}
	_, word := m.at.state()
	l := m.Line(w).Write(style.Text, " ").Write(style.Strong, ansi.Truncate(
		m.at.name, max(1, w-style.Cells(word)-4), "…")).Write(style.Muted, "  "+word)
	rows = append(rows, l.Full())
	if word == "away" {
		rows = append(rows, m.Line(w).Write(style.Warn, " "+style.Clean(m.at.h.Status.Replay.Warning)).Full())
	} else if m.at.source != "" && m.at.source != m.at.name {
		rows = append(rows, m.Line(w).Write(style.Muted, " "+style.Tail(m.at.source, w-2)).Full())
	}
	if left := m.at.remaining(); left != "" {
		rows = append(rows, m.Line(w).Write(style.Muted, " left ").Write(style.Text, left).Full())
	}
	for _, r := range m.at.members {
		_, value := m.value(r)
		rows = append(rows, m.Line(w).Write(style.Muted, " "+widget.Cut(r.name, w/2, m.names())+" ").Write(
			style.Text, value).Full())
	}
	for _, c := range m.chosen() {
		l := m.Line(w).Write(style.Muted, " "+ansi.Truncate(c[0], w/2, "…")+" ").Write(
			style.Text, ansi.Truncate(c[1], w, "…"))
		rows = append(rows, l.Full())
	}
	return style.Clip(rows, n)
}

// chosen is what the selected run chose: first what not all runs did.
func (l *list) chosen() (out [][2]string) {
	l.compareChoices()
	at := slices.Index(l.runs, l.at)
	if at < 0 { // a group
		return nil
	}
	for _, differs := range []bool{true, false} {
		for i := range l.choices {
			if r := &l.choices[i]; r.Values[at] != "" && r.Contested() == differs {
				out = append(out, [2]string{style.Clean(r.Name), style.Clean(r.Values[at])})
			}
		}
	}
	return out
}

// compareChoices finds what was chosen for the runs, once they are others.
func (l *list) compareChoices() {
	begun := make([]*event.RunEvent, len(l.runs))
	for i, r := range l.runs {
		begun[i] = r.h.Run
	}
	if !slices.Equal(begun, l.started) {
		openings := make([]*event.RunEvent, len(l.runs))
		for i, r := range l.runs {
			if r.h.Run != nil {
				opening := *r.h.Run
				opening.Settings = r.settings()
				openings[i] = &opening
			}
		}
		l.started, l.choices = begun, rundiff.Table(openings)
	}
}
