package runs

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/tune"
	"newtop/tui/history"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// row is a line of the list: a run, or a search, which opens into the runs of its trials.
type row struct {
	key     string
	run     *store.Run  // nil for a search
	sweep   *tune.Sweep // nil for a run
	all     store.Search
	trial   bool
	measure event.Measure
	best    float64 // NaN for none
	text    string  // what the filter looks at
}

// list is which rows there are, in which order, and which of them is selected.
type list struct {
	rows     []row
	live     int // runs that are being trained, and searches under way
	filter   widget.Filter
	columns  []bool // of allColumns, those that are shown
	sort     int    // of allColumns; −1: as they came into the store
	reversed bool   // the other way round
	wide     []int  // of the widest text of each column
	at       string // key of the selected row
	place    int    // where that is, and where it was once it is gone
	marked   map[string]bool
	opened   map[string]bool // searches whose trials are listed
}

func newList() list {
	l := list{columns: make([]bool, len(allColumns)), sort: -1, wide: make([]int, len(allColumns)),
		marked: map[string]bool{}, opened: map[string]bool{}}
	for k := range allColumns {
		l.columns[k] = allColumns[k].usual
	}
	return l
}

// searchKey is the key of a search, whose names are apart from those of runs.
func searchKey(w *tune.Sweep) string { return "search " + w.Parts[0].ID }

// sweep is the search of a key, nil for none.
func (m *Model) sweep(key string) *tune.Sweep {
	for i := range m.sweeps {
		if w := &m.sweeps[i]; searchKey(w) == key {
			return w
		}
	}
	return nil
}

// arrange makes the rows of what the store has: filtered, in order, and under each open search its trials.
func (m *Model) arrange() {
	top := make([]row, 0, len(m.runs)+len(m.sweeps))
	m.live = 0
	for i := range m.runs {
		r := runRow(&m.runs[i])
		if r.run.State == store.Running {
			m.live++
		}
		if !m.removing(r.key) {
			top = append(top, r)
		}
	}
	for i := range m.sweeps {
		w := &m.sweeps[i]
		if underway(w) {
			m.live++
		}
		r := row{key: searchKey(w), sweep: w, all: w.Joined(), best: math.NaN()}
		r.text = strings.ToLower(strings.Join([]string{w.Name, r.all.Data, "search", w.State()}, " "))
		if !m.removing(r.key) {
			top = append(top, r)
		}
	}
	slices.SortStableFunc(top, m.compare)
	words := strings.Fields(strings.ToLower(m.filter.Text))
	m.rows = m.rows[:0]
	for _, r := range top {
		var trials []row
		if m.opened[r.key] {
			trials = m.trialRows(r.key, words)
		}
		if len(trials) > 0 || widget.Matches(r.text, words) {
			m.rows = append(append(m.rows, r), trials...)
		}
	}
	for key := range m.marked {
		if !slices.ContainsFunc(m.runs, func(r store.Run) bool { return r.ID == key }) && m.trialOf(key) == nil {
			delete(m.marked, key)
		}
	}
	m.measure()
	m.settle()
}

// trialRows are the trials of an open search.
func (m *Model) trialRows(key string, words []string) (out []row) {
	for i := range m.trials[key] {
		r := runRow(&m.trials[key][i])
		if r.trial = true; !m.removing(r.key) && widget.Matches(r.text, words) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, m.compare)
	return out
}

// trialOf is the run of an ID among the trials that are listed, nil for none.
func (m *Model) trialOf(id string) *store.Run {
	for _, trials := range m.trials {
		for i := range trials {
			if trials[i].ID == id {
				return &trials[i]
			}
		}
	}
	return nil
}

func runRow(r *store.Run) row {
	out := row{key: r.ID, run: r, measure: r.Measure(), best: math.NaN()}
	if r.Best != nil {
		out.best = out.measure.Value(r.Best)
	}
	words := append([]string{r.ID, r.Name, r.DataName(), r.Method(), out.stateWord(), string(r.State), r.Note},
		r.Tags...)
	if r.Opening != nil {
		words = append(words, r.Opening.Model.Program, r.Opening.Model.Shape())
	}
	out.text = strings.ToLower(strings.Join(words, " "))
	return out
}

func underway(w *tune.Sweep) bool {
	return slices.ContainsFunc(w.Parts, func(p tune.Part) bool { return p.Running })
}

// compare orders rows as the list is sorted: newest first where nothing else decides.
func (m *Model) compare(a, b row) int {
	by := 0
	if m.sort >= 0 {
		if by = allColumns[m.sort].compare(&a, &b); m.reversed {
			by = -by
		}
		// What has no value stands last either way.
		if missing := allColumns[m.sort].missing; missing != nil && missing(&a) != missing(&b) {
			by = 1
			if missing(&b) {
				by = -1
			}
		}
	}
	return cmp.Or(by, b.begun().Compare(a.begun()))
}

// measure finds how wide the columns are.
func (m *Model) measure() {
	for k := range allColumns {
		m.wide[k] = 0
		if !m.columns[k] || allColumns[k].most == 0 {
			continue
		}
		for i := range m.rows {
			m.wide[k] = max(m.wide[k], style.Cells(allColumns[k].text(m, &m.rows[i], true).Text))
		}
	}
}

// settle finds the selected row again, or takes the one in its place.
func (m *Model) settle() {
	at := slices.IndexFunc(m.rows, func(r row) bool { return r.key == m.at })
	if at < 0 {
		at = m.place
	}
	m.selectRow(at)
}

// selectRow selects the row nearest to a place.
func (m *Model) selectRow(at int) {
	m.at, m.place = "", 0
	if n := len(m.rows); n > 0 {
		m.place = max(0, min(at, n-1))
		m.at = m.rows[m.place].key
	}
}

// selected is the selected row, nil for none.
func (m *Model) selected() *row {
	if len(m.rows) == 0 {
		return nil
	}
	return &m.rows[m.place]
}

// move selects another row.
func (m *Model) move(k string) {
	page := max(1, m.table.Rows-1)
	at := m.place
	switch k {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup":
		at -= page
	case "pgdown":
		at += page
	case "home":
		at = 0
	case "end":
		at = len(m.rows) - 1
	}
	m.selectRow(at)
}

// orderMissing ranks what a run does not have behind all others.
func orderMissing(a, b float64) int {
	return cmp.Compare(history.LastIfMissing(a), history.LastIfMissing(b))
}
