package workspace

import (
	"cmp"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// differences is the pane of what the shown runs reached, what that took, and what was chosen for them: a row for each,
// a column a run.
type differences struct {
	open    bool
	all     bool    // what the runs have in common too
	at      int     // the selected row
	from    int     // the first run in sight
	target  float64 // a value of the measure; 0: the hardest that all runs reach
	table   widget.Table[line]
	version int // runs in sight
}

// line is a row: what each run has of something.
type line struct {
	name  string
	cells []style.Part
}

// ranked are the runs that are shown, by the best value of their measure; what has none comes last. An error and an
// RMSE can't be compared: those of the other kind than the first run's come after.
func (l *list) ranked() []*run {
	var runs []*run
	for _, r := range l.shown() {
		runs = append(runs, r.each()...)
	}
	if len(runs) == 0 {
		return nil
	}
	first := runs[0].h.Measure
	slices.SortStableFunc(runs, func(a, b *run) int { return a.compareBest(b, first) })
	return runs
}

// compareBest orders two runs by the best value of a measure.
func (r *run) compareBest(other *run, by event.Measure) int {
	rank := func(r *run) int {
		if r.measure().Quantity == by.Quantity {
			return 0
		}
		return 1
	}
	return cmp.Or(rank(r)-rank(other), cmp.Compare(history.LastIfMissing(r.best()),
		history.LastIfMissing(other.best())))
}

// best is the best value of the run's measure, or on average of a group's runs, NaN for none.
func (r *run) best() float64 {
	if len(r.members) > 0 {
		var values []float64
		for _, of := range r.members {
			if of.h.Best.Known {
				values = append(values, of.h.Best.Value)
			}
		}
		mean, _ := chart.Average(values)
		return mean
	}
	if !r.h.Best.Known {
		return math.NaN()
	}
	return r.h.Best.Value
}

// targets are round values of the first run's measure between the best of the best run and the first values, falling.
func targets(runs []*run) []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range runs {
		if r.h.Best.Known && r.h.Measure.Quantity == runs[0].h.Measure.Quantity {
			low, high = min(low, r.best()), max(high, r.h.First())
		}
	}
	if !(low > 0) || !(high > low) || math.IsInf(high, 0) {
		return nil
	}
	out := chart.Powers(math.Log10(low), math.Log10(high), 1000, []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9})
	slices.Reverse(out)
	return out
}

// reach is what a run had when it had so small a value of the first run's measure.
func reach(runs []*run, r *run, target float64) (history.Best, bool) {
	if r.h.Measure.Quantity != runs[0].h.Measure.Quantity {
		return history.Best{}, false
	}
	return r.h.Reach(target)
}

// targetOf is the target that the user chose, or the hardest that all runs reach which reach the easiest one.
func (d *differences) targetOf(runs []*run) (target float64, ok bool) {
	all := targets(runs)
	if len(all) == 0 {
		return 0, false
	}
	if d.target > 0 {
		return d.target, true
	}
	reached := func(target float64) (n int) {
		for _, r := range runs {
			if _, ok := reach(runs, r, target); ok {
				n++
			}
		}
		return n
	}
	most := reached(all[0])
	for _, t := range all {
		if reached(t) < most {
			break
		}
		target = t
	}
	return target, true
}

// aim moves to a harder target, or back to an easier one.
func aim(m *model, k string) tea.Cmd {
	runs := m.ranked()
	now, ok := m.differences.targetOf(runs)
	if !ok {
		return m.Notify(style.Muted, "the runs have no common values to aim at")
	}
	all := targets(runs)
	by := 1
	if k == "-" || k == "_" {
		by = -1
	}
	at := slices.IndexFunc(all, func(t float64) bool { return t <= now*(1+1e-9) })
	m.differences.target = all[max(0, min(at+by, len(all)-1))]
	return nil
}

// aimedAt is the target that the charts mark, 0 for none.
func aimedAt(m *model) float64 {
	runs := m.ranked()
	if !m.differences.open || len(runs) == 0 {
		return 0
	}
	target, _ := m.differences.targetOf(runs)
	return target
}

// facts are the rows of the pane.
func facts(m *model, runs []*run) (out []line) {
	if len(runs) == 0 {
		return nil
	}
	add := func(name string, of func(r *run) string) {
		f := line{name: name}
		for _, r := range runs {
			f.cells = append(f.cells, style.Text.Of(of(r)))
		}
		out = append(out, f)
	}
	value := func(r *run, v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		_, text := quantityOf(m, r, v)
		return text
	}
	took := func(prefix string, of func(r *run) (history.Best, bool)) {
		at := func(r *run, text func(b history.Best) string) string {
			if b, ok := of(r); ok {
				return text(b)
			}
			return ""
		}
		add(prefix+m.counted(), func(r *run) string {
			return at(r, func(b history.Best) string { return format.Count(b.Epoch) })
		})
		add(prefix+"time", func(r *run) string {
			return at(r, func(b history.Best) string { return format.Elapsed(b.At[chart.Seconds]) })
		})
		add(prefix+"work", func(r *run) string {
			return at(r, func(b history.Best) string { return format.CountWithin(b.At[chart.Equivalents], 6) })
		})
	}
	name, _ := quantityOf(m, runs[0], 0)
	add("best "+name, func(r *run) string { return value(r, r.best()) })
	took("  at ", func(r *run) (history.Best, bool) { return r.h.Best, r.h.Best.Known })
	if target, ok := m.differences.targetOf(runs); ok {
		sign, shown, share := "≤ ", target, runs[0].h.Measure.Info().Share
		if share && accurate(m) {
			sign, shown = "≥ ", 1-target
		}
		took(sign+format.Target(shown, share)+" in ", func(r *run) (history.Best, bool) {
			return reach(runs, r, target)
		})
	}
	add("last", func(r *run) string {
		if r.h.Epochs == 0 {
			return ""
		}
		return value(r, r.h.Measure.Value(&r.h.Latest))
	})
	add(m.counted()+"s", func(r *run) string { return format.Count(r.h.Latest.Epoch) })
	add("state", (*run).ending)
	if slices.ContainsFunc(runs, func(r *run) bool { return r.h.Curves.Changes() != "" }) {
		add("changed later", func(r *run) string { return r.h.Curves.Changes() })
	}
	return append(out, choicesOf(m, runs)...)
}

// quantityOf names what a run is judged by, and writes one of its values.
func quantityOf(m *model, r *run, v float64) (name, text string) {
	w := pane.View{H: r.h, Accuracy: accurate(m)}
	return w.Quantity(r.h.Measure.Quantity, r.h.Measure.Info().Name, v)
}

// choicesOf are what was chosen for runs: first what they chose differently, then what only some of them have, and
// where that is wanted what is the same.
func choicesOf(m *model, runs []*run) (out []line) {
	m.compareChoices()
	var ranks [3][]line
	for i := range m.choices {
		var values []string // of the runs that have begun
		f := line{name: style.Clean(m.choices[i].Name)}
		for _, r := range runs {
			v := m.choices[i].Values[slices.Index(m.runs, r)]
			if r.h.Run != nil {
				values = append(values, v)
			}
			f.cells = append(f.cells, style.Text.Of(v))
		}
		rank := 0
		switch {
		case !slices.ContainsFunc(values, func(v string) bool { return v != values[0] }):
			rank = 2
		case slices.Contains(values, ""):
			rank = 1
		}
		ranks[rank] = append(ranks[rank], f)
	}
	out = append(ranks[0], ranks[1]...)
	if m.differences.all {
		out = append(out, ranks[2]...)
	}
	return out
}

// chartsHeight is how many of some rows the charts have over the pane: at least half of them.
func chartsHeight(m *model, of int) int {
	if !m.differences.open {
		return of
	}
	rows := 2 // without a run
	if runs := m.ranked(); len(runs) > 0 {
		rows = len(facts(m, runs)) + 2
	}
	return of - min(rows, of/2)
}

// drawDifferences draws the pane.
func drawDifferences(m *model, at layout.Rect) []string {
	d, runs := &m.differences, m.ranked()
	d.table.Rect = layout.Rect{}
	title := m.Line(at.W).Write(style.Text, " ")
	if m.focus == onDifferences {
		title.Write(style.Focus, "differences")
	} else {
		title.Write(style.Strong, "differences")
	}
	if len(runs) == 0 {
		return style.Block([]string{title.Full(), m.Line(at.W).Write(style.Muted, "   no run is shown").Full()}, at.W,
			at.H)
	}
	rows := facts(m, runs)
	d.from = max(0, min(d.from, len(runs)-max(1, d.version)))
	d.at = max(0, min(d.at, len(rows)-1))
	d.table.Lead, d.table.Columns = 2, d.table.Columns[:0]
	d.table.Columns = append(d.table.Columns, widget.Column[line]{Width: 10, Max: 28, Left: true,
		Cell: func(f line, _ int) style.Part { return style.Muted.Of(f.name) }})
	for i, r := range runs {
		drawn := m.unitOf(r)
		d.table.Columns = append(d.table.Columns, widget.Column[line]{Title: drawn.letter() + " " + r.name,
			Color: drawn.token(), Max: 24, Rank: i + 1, Off: i < d.from,
			Cell: func(f line, _ int) style.Part { return f.cell(i) }})
	}
	d.table.Measure(rows)
	for i := range d.table.Columns[1:] { // a long name is cut, and not a run left out for it
		c := &d.table.Columns[1+i]
		c.Title = ansi.Truncate(c.Title, max(12, min(c.Widest(), c.Max)), "…")
	}
	chosen := -1
	if m.focus == onDifferences {
		chosen = d.at
	}
	out := d.table.Draw(&m.Pen, layout.Rect{X: at.X, Y: at.Y + 1, W: at.W, H: at.H - 1}, rows, chosen)
	d.version = d.table.InSight() - 1
	if d.version < len(runs) {
		title.Write(style.Muted, "  runs "+format.Count(d.from+1)+" to "+format.Count(d.from+d.version)+" of "+
			format.Count(len(runs)))
	}
	title.Write(style.Muted, d.table.Span(len(rows)))
	return style.Block(append([]string{title.Full()}, out...), at.W, at.H)
}

// cell is what a run has; what is not the first run's stands out.
func (f *line) cell(i int) style.Part {
	p := f.cells[i]
	switch {
	case p.Text == "":
		return style.Muted.Of("–")
	case p.Text != f.cells[0].Text:
		p.Token = style.Strong
	}
	p.Text = style.Clean(p.Text)
	return p
}

// ending says in a word or two what became of the run.
func (r *run) ending() string {
	_, word := r.state()
	switch done := r.h.Done; {
	case r.h.Diverged != nil:
		return "diverged"
	case done != nil && done.Reason == event.ReasonEpochs:
		return "done"
	case done != nil:
		return string(done.Reason)
	}
	return word
}

// openDifferences opens the pane, which gets the keys, or closes it.
func openDifferences(m *model, _ string) {
	d := &m.differences
	if d.open = !d.open || m.focus != onDifferences; d.open {
		m.focus, m.alone = onDifferences, false
	} else {
		m.focus = onList
	}
}

// pageDifferences selects another row, or brings other runs into sight.
func pageDifferences(m *model, k string) {
	d := &m.differences
	switch k {
	case "left":
		d.from--
	case "right":
		d.from++
	default:
		d.at = d.table.Move(k, d.at, len(facts(m, m.ranked())))
	}
}

// subject is what all runs have in common: data, program and net.
func (l *list) subject() (out []string) {
	for _, of := range []func(*event.RunEvent) string{
		func(r *event.RunEvent) string { return r.Data.Name },
		func(r *event.RunEvent) string { return r.Model.Program },
		func(r *event.RunEvent) string { return r.Model.Shape() },
	} {
		var all []string
		for _, r := range l.runs {
			if r.h.Run != nil {
				all = append(all, style.Clean(of(r.h.Run)))
			}
		}
		if slices.Sort(all); len(all) > 0 && all[0] == all[len(all)-1] && strings.TrimSpace(all[0]) != "" {
			out = append(out, all[0])
		}
	}
	return out
}
