package compare

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/internal/rundiff"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// compareHelp is every key with what it does.
func compareHelp() *screen.HelpDialog[*model] {
	return &screen.HelpDialog[*model]{Left: 60, Right: 56, Narrow: 66, Sections: helpSections}
}

func helpSections(m *model) (_, _ []widget.Section) {
	const columns = 8
	keys, charts, words := widget.Section{Title: "comparison"}, widget.Section{Title: "charts"}, widget.Section{Title: "in the table"}
	for i := range m.bindings {
		b := m.bindings[i].Help()
		if b.Key != "x" { // it is the charts'
			keys.Rows = append(keys.Rows, widget.Explain(style.Accent, b.Key, columns, b.Desc))
		}
	}
	for _, k := range m.charts.view.Keys() {
		charts.Rows = append(charts.Rows, widget.Explain(style.Accent, k.Show, columns, k.Help))
	}
	for _, r := range [][2]string{
		{"A B C", "the runs, on the curves' newest points too"},
		{"best", "least " + m.runs[0].measure.Info().Name + " so far, and what it took"},
		{"≤", "what it took to get there first; a line in the chart"},
		{"work", "in gradient equivalents: units of one full gradient"},
		{"┊", "changes of method and settings of the selected run"},
		{"×", "a value was not finite; behind a name: the run diverged or failed"},
	} {
		words.Rows = append(words.Rows, widget.Explain(style.Muted, r[0], columns, r[1]))
	}
	return []widget.Section{keys}, []widget.Section{charts, words}
}

// compareDifferences is a table of what was chosen for the runs.
type compareDifferences struct {
	widget.Scroll
	all  bool // what they have in common too
	from int  // the first run in sight
	fits int  // runs that had room
}

// Handle scrolls down and across.
func (o *compareDifferences) Handle(m *model, msg tea.Msg) (screen.Answer, tea.Cmd) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return screen.Stay, nil
	}
	switch k := k.String(); k {
	case "esc", "d", "q", "enter":
		return screen.Close, nil
	case "a":
		o.all = !o.all
	case "right", "l", "tab":
		o.from = max(0, min(o.from+1, len(m.runs)-o.fits))
	case "left", "h", "shift+tab":
		o.from = max(0, o.from-1)
	default:
		o.Scroll.HandleKey(k, max(1, m.Height-5))
	}
	return screen.Stay, nil
}

// Hints implements Dialog.
func (o *compareDifferences) Hints(*model) []widget.Hint {
	word := "all choices"
	if o.all {
		word = "differences only"
	}
	return []widget.Hint{widget.NewHint("esc", "close"), widget.NewHint("a", word), widget.NewHint("↑↓", "scroll"),
		widget.NewHint("←→", "runs")}
}

// Draw implements Dialog.
func (o *compareDifferences) Draw(m *model, w, h int) []string {
	table := choicesOf(m)
	names, same := 0, 0
	var rows []rundiff.Row
	for _, r := range table {
		if !r.Differs {
			same++
		}
		if r.Differs || o.all {
			rows = append(rows, r)
			names = max(names, style.Cells(r.Name))
		}
	}
	slices.SortStableFunc(rows, func(a, b rundiff.Row) int { return rowRank(&a) - rowRank(&b) })
	const least, enough, most = 10, 18, 30
	names = min(max(names, 8), 18)
	room := w - 6 - names
	widest := least
	for _, r := range rows {
		for _, v := range r.Values {
			widest = min(max(widest, style.Cells(v)+2), most)
		}
	}
	widest = min(widest, max(enough, room/len(m.runs))) // rather a cut value than a run out of sight
	o.fits = max(1, min(len(m.runs), room/widest))
	o.from = max(0, min(o.from, len(m.runs)-o.fits))
	inner := names + o.fits*widest
	title := "what differs"
	if o.all {
		title = "what was chosen"
	}
	inner = max(inner, min(w-6, 44))
	head := m.Line(inner).To(names)
	for i := o.from; i < o.from+o.fits; i++ {
		head.Put(style.Text, "  ").Put(style.RacerToken(i), style.RacerLetter(i)).Put(
			style.Muted, " "+ansi.Truncate(m.runs[i].label, widest-5, "…")).To(names + (i-o.from+1)*widest)
	}
	var list []string
	for _, r := range rows {
		list = append(list, o.row(m, &r, names, widest, inner))
	}
	if len(rows) == 0 {
		list = append(list, m.Line(inner).Put(style.Muted, "nothing that was chosen: the runs are alike").Full())
	}
	if !o.all && same > 0 {
		list = append(list, m.Line(inner).Put(style.Muted, fmt.Sprintf(
			"%d choices are the same; a shows them", same)).Full())
	}
	list, more := o.Cut(list, max(1, h-3))
	if o.fits < len(m.runs) {
		title += " · " + m.Glyphs.Keys("←→") + " runs " + style.RacerLetter(o.from) + " to " +
			style.RacerLetter(o.from+o.fits-1) + " of " + format.Count(len(m.runs))
	}
	return widget.DialogBox(&m.Pen, title+more, append([]string{head.Full()}, list...), inner+4)
}

// rowRank puts what runs chose differently before what only some of them have, and that before what is the same.
func rowRank(r *rundiff.Row) int {
	switch {
	case r.Contested():
		return 0
	case r.Differs:
		return 1
	}
	return 2
}

// row has a choice; a value that is not the first run's stands out.
func (o *compareDifferences) row(m *model, r *rundiff.Row, names, wide, inner int) string {
	l := m.Line(inner).Put(style.Muted, ansi.Truncate(r.Name, names, "…")).To(names)
	for i := o.from; i < o.from+o.fits; i++ {
		ink, v := style.Text, r.Values[i]
		if r.Differs && v != r.Values[0] {
			ink = style.Strong
		}
		if v == "" {
			ink, v = style.Muted, "–"
		}
		l.Put(style.Text, "  ").Put(ink, ansi.Truncate(v, wide-2, "…")).To(names + (i-o.from+1)*wide)
	}
	return l.Full()
}

// choicesOf are the runs' choices, and what was changed in them later.
func choicesOf(m *model) []rundiff.Row {
	openings := make([]*event.RunEvent, len(m.runs))
	for i := range m.runs {
		openings[i] = m.runs[i].Run
	}
	rows := rundiff.Table(openings)
	for i := range rows {
		rows[i].Name = style.Clean(rows[i].Name)
		for k := range rows[i].Values {
			rows[i].Values[k] = style.Clean(rows[i].Values[k])
		}
	}
	changed := rundiff.Row{Name: "changed later", Values: make([]string, len(m.runs))}
	some := false
	for i := range m.runs {
		for _, n := range m.runs[i].notes {
			if changed.Values[i] != "" {
				changed.Values[i] += "; "
			}
			changed.Values[i] += n.Text + " at " + format.Count(int(n.At[chart.Epochs]))
			some = true
		}
		changed.Differs = changed.Differs || changed.Values[i] != changed.Values[0]
	}
	if some {
		rows = append(rows, changed)
	}
	return rows
}
