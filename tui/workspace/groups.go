package workspace

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/internal/rundiff"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane/metrics"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// grouping puts runs together: each group is a row of the list and one curve, as a run is.
type grouping struct {
	by     string // a choice, "" for none
	spread chart.Spread
	groups map[string]*run // by what their runs have of the choice; they keep their colours
	within *run            // the group whose runs are shown in place of the groups, nil for none
	units  []*run          // what the list and the charts have: the groups, or the runs
}

// What runs can be grouped by beside a single choice.
const (
	butSeed     = "settings but the seed"
	namesNumber = "name but its number"
)

// group is what a group has beside a run.
type group struct {
	members []*run
	made    uint64 // of which histories of theirs the curves were made
}

// seedText are parts of the names of choices in which runs of one group differ: what makes them chance, and what only
// names them.
var seedText = []string{"seed", "name", "id", "dir", "path", "file", "output", "group",
	"tags"}

// chance reports whether a choice is one that makes no difference to what is tried.
func chance(name string) bool {
	if strings.HasPrefix(name, "summary/") || strings.HasPrefix(name, "environment/") ||
		strings.Contains(name, "random_state") {
		return true
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(" ._-/", r) })
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(seedText, word) })
}

// groupsBy is what each run has of a choice; "" for runs that have not begun.
func groupsBy(l *list, by string) []string {
	l.compareChoices()
	out := make([]string, len(l.runs))
	for i, r := range l.runs {
		if by == namesNumber {
			out[i] = withoutNumber(r.name)
		}
	}
	for k := range l.choices {
		c := &l.choices[k]
		if c.Name != by && (by != butSeed || !c.Contested() || chance(c.Name) || c.Name == "data" && external(l)) {
			continue
		}
		for i, v := range c.Values {
			if v != "" || c.Name == by {
				out[i] = strings.TrimLeft(out[i]+" "+c.Name+"="+cmp.Or(v, "–"), " ")
			}
		}
	}
	if by != butSeed {
		return out
	}
	for k := range l.choices { // one choice that says as much as all of them
		if c := &l.choices[k]; c.Contested() && !chance(c.Name) {
			if one := groupsBy(l, c.Name); samePartition(one, out) {
				return one
			}
		}
	}
	return out
}

// samePartition reports whether two lists of values put the same runs together.
func samePartition(a, b []string) bool {
	both := make([]string, len(a))
	for i := range a {
		both[i] = a[i] + "\x00" + b[i]
	}
	return distinct(both) == distinct(a) && distinct(a) == distinct(b)
}

// distinct counts how many of some values differ.
func distinct(values []string) int {
	return len(slices.Compact(slices.Sorted(slices.Values(values))))
}

// external reports whether other programs report the runs, whose data are what they are read from.
func external(l *list) bool {
	return slices.ContainsFunc(l.runs, func(r *run) bool { return r.h.Run != nil && r.h.External() })
}

// withoutNumber is a name before its last number, and before the word that says what that counts.
func withoutNumber(name string) string {
	end := strings.LastIndexAny(name, "0123456789")
	if end < 0 {
		return name
	}
	stem := strings.TrimRight(name[:end+1], "0123456789")
	for _, word := range []string{"seed", "run", "fold", "trial", "rep"} {
		stem = strings.TrimSuffix(strings.TrimRight(stem, "-_= ./"), word)
	}
	return cmp.Or(strings.TrimRight(stem, "-_= ./"), name)
}

// grouped are the groups of the runs that the filter and the user left, in the order of their first runs.
func grouped(l *list) (out []*run) {
	if l.groups == nil {
		l.groups = map[string]*run{}
	}
	for _, g := range l.groups {
		g.members = g.members[:0]
	}
	values := groupsBy(l, l.by)
	for i, r := range l.runs {
		if r.off || l.hidden[r] || r.h.Run == nil && l.by != namesNumber {
			continue
		}
		g := l.groups[values[i]]
		if g == nil {
			g = &run{number: len(l.groups), colour: len(l.groups), followed: true, h: &history.History{}}
			l.groups[values[i]] = g
		}
		if len(g.members) == 0 {
			out = append(out, g)
		}
		g.members = append(g.members, r)
	}
	for value, g := range l.groups {
		g.name = style.Clean(cmp.Or(value, "all runs")) + "  ×" + format.Count(len(g.members))
	}
	return out
}

// unitOf is what the charts draw of a run: its group, or itself.
func (l *list) unitOf(r *run) *run {
	for _, u := range l.units {
		if slices.Contains(u.members, r) {
			return u
		}
	}
	return r
}

// together makes the curves of a group, once those of its runs are others.
func together(l *list, g *run) {
	now := uint64(l.spread) + 1
	for _, r := range g.members {
		for _, n := range [...]uint64{uint64(r.number), r.h.Gen.Epoch, r.h.Gen.Run, r.h.Curves.Machine.Gen} {
			now = now*1099511628211 + n
		}
	}
	if now == g.made {
		return
	}
	var of []*history.History
	for _, r := range g.members {
		of = append(of, r.h)
	}
	g.made, g.h = now, history.Mean(of, l.spread)
}

// openColumns has the user choose what the list has of each run, which it is then sorted by.
func openColumns(m *model) {
	var entries []screen.Entry[*model]
	add := func(kind, text, also string, metric string, c column) {
		entries = append(entries, screen.Entry[*model]{Kind: kind, Text: style.Clean(text), Also: also,
			Do: func(m *model) tea.Cmd {
				if m.column, m.sorted = c, byValue; metric != "" {
					m.grid.Select(metric)
				}
				m.arrange()
				return nil
			}})
	}
	for _, name := range m.grid.Names() {
		add("metric", name, "latest, or at the cursor", name, column{})
		best := [...]string{"min; its name doesn't say whether less or more is better", "best: min", "best: max"}
		add("metric", name, best[m.grid.Better(name)], name, column{best: true})
	}
	m.compareChoices()
	for i := range m.choices {
		if c := &m.choices[i]; c.Differs {
			add("setting", c.Name, "", "", column{setting: c.Name})
		}
	}
	m.dialog = screen.NewPalette(entries, "metrics and settings").Titled("column")
}

// groupBy puts the runs together by a choice; "" by none.
func groupBy(m *model, by string) {
	if m.by != by {
		m.groups = nil
	}
	m.by, m.within, m.solo, m.at, m.pinned, m.wanted = by, nil, nil, nil, nil, nil
	m.arrange()
}

// openGrouping has the user choose what the runs are grouped by: what makes more than one group, and fewer than there
// are runs.
func openGrouping(m *model) {
	entries := []screen.Entry[*model]{{Kind: "by", Text: "nothing", Also: "each run has its own curves",
		Do: func(m *model) tea.Cmd { groupBy(m, ""); return nil }}}
	m.compareChoices()
	names := []string{butSeed, namesNumber}
	for i := range m.choices {
		if name := m.choices[i].Name; !strings.HasPrefix(name, "summary/") {
			names = append(names, name)
		}
	}
	for _, by := range names {
		counts := map[string]int{}
		for _, v := range groupsBy(&m.list, by) {
			counts[v]++
		}
		if len(counts) == len(m.runs) || len(counts) < 2 && by != butSeed {
			continue
		}
		var about []string
		for _, v := range slices.Sorted(maps.Keys(counts)) {
			about = append(about, strings.TrimPrefix(v, by+"=")+" ×"+format.Count(counts[v]))
		}
		entries = append(entries, screen.Entry[*model]{Kind: "by", Text: style.Clean(by),
			Also: format.Counted(len(counts), "group") + ": " + style.Clean(strings.Join(about, ", ")),
			Do:   func(m *model) tea.Cmd { groupBy(m, by); return nil }})
	}
	m.dialog = screen.NewPalette(entries, "what runs are grouped by").Titled("group by")
}

// view is what the user keeps of how runs are looked at, for other runs too.
type view struct {
	By      string       `json:"by,omitempty"`
	Spread  chart.Spread `json:"band,omitempty"`
	X       string       `json:"x,omitempty"` // a metric
	Sorted  order        `json:"sort,omitempty"`
	Setting string       `json:"setting,omitempty"` // of the column
	Best    bool         `json:"best,omitempty"`
	Metrics string       `json:"metrics,omitempty"` // that the filter leaves
	Pinned  []string     `json:"pinned,omitempty"`
	Chosen  string       `json:"chosen,omitempty"` // the selected metric
}

// viewNow writes the view that the screen has.
func viewNow(m *model) string {
	v := view{By: m.by, Spread: m.spread, Sorted: m.sorted, Setting: m.column.setting, Best: m.column.best}
	v.X, v.Metrics, v.Pinned, v.Chosen = metrics.Chosen(&m.grid)
	text, err := json.Marshal(v)
	if err != nil {
		return "" // of a name that is no text
	}
	return string(text)
}

// keepView keeps the view for the next runs, or forgets it if it is the one that is kept.
func keepView(m *model, _ string) tea.Cmd {
	now := viewNow(m)
	if m.kept == now {
		m.kept = ""
		return m.Notify(style.Text, "the view is forgotten")
	}
	m.kept = now
	return m.Notify(style.Text, "the view is kept for other runs: V forgets it")
}

// views are what is kept of views.
type views struct {
	kept   string // as preferences have it
	wanted *view  // what the runs do not have yet of the one that was kept; nil for nothing
}

// recall takes the view that was kept. One that can't be read is none.
func recall(m *model, text string) {
	var v view
	if text == "" || json.Unmarshal([]byte(text), &v) != nil {
		return
	}
	m.kept, m.wanted = text, &v
	m.spread, m.sorted, m.column = v.Spread%chart.Spreads, v.Sorted%orders, column{v.Setting, v.Best}
	metrics.Choose(&m.grid, v.Metrics, v.Pinned, v.Chosen)
}

// look has the screen show a view, as far as the runs have what it names: what they do not have yet waits for more.
func look(m *model) {
	if m.wanted == nil {
		return
	}
	m.compareChoices()
	v := m.wanted
	if v.By != "" && (v.By == butSeed || v.By == namesNumber ||
		slices.ContainsFunc(m.choices, func(c rundiff.Row) bool { return c.Name == v.By })) {
		m.by, v.By = v.By, ""
	}
	if v.X != "" && slices.Contains(metrics.Axes(&m.grid), v.X) {
		metrics.SetOver(&m.grid, v.X)
		v.X = ""
	}
	if v.By == "" && v.X == "" {
		m.wanted = nil
	}
}
