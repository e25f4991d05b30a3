package runs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/tune"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/screen"
	"newtop/tui/widget"
)

// list is what the store has, which rows that makes, in which order, and which of them is selected.
type list struct {
	found
	undo
	rows     []*row
	live     int // runs that are being trained, and searches under way
	filter   widget.Filter
	table    table
	at       string // key of the selected row
	position int    // where that is, and where it was once it is gone
	wanted   string // columns, as preferences had them
	marked   map[string]bool
	opened   map[string]bool // searches whose trials are listed
}

// found is what the store has.
type found struct {
	read   bool // anything was read yet
	stamp  string
	took   time.Duration
	runs   []store.Run
	sweeps []tune.Sweep
	trials map[string][]store.Run // of the searches that are open, by key
}

// searchKey is the key of a search, whose names are apart from those of runs.
func searchKey(w *tune.Sweep) string { return "search " + w.Parts[0].ID }

// sweep is the search of a key, nil for none.
func (l *list) sweep(key string) *tune.Sweep {
	for i := range l.sweeps {
		if w := &l.sweeps[i]; searchKey(w) == key {
			return w
		}
	}
	return nil
}

// arrange makes the rows of what the store has: filtered, in order, and under each open search its trials.
func (l *list) arrange() {
	addSettings(l)
	top := make([]*row, 0, len(l.runs)+len(l.sweeps))
	l.live = 0
	for i := range l.runs {
		r := runRow(&l.runs[i])
		if r.run.State == store.Running {
			l.live++
		}
		if !l.removing(r.key) {
			top = append(top, r)
		}
	}
	for i := range l.sweeps {
		w := &l.sweeps[i]
		if underway(w) {
			l.live++
		}
		r := &row{key: searchKey(w), sweep: w, all: w.Joined(), best: math.NaN()}
		r.text = strings.ToLower(strings.Join([]string{w.Name, r.all.Data, "search", w.State()}, " "))
		if !l.removing(r.key) {
			top = append(top, r)
		}
	}
	slices.SortStableFunc(top, l.compare)
	words := strings.Fields(strings.ToLower(l.filter.Text))
	l.rows = l.rows[:0]
	for _, r := range top {
		var trials []*row
		if l.opened[r.key] {
			trials = l.trialRows(r.key, words)
		}
		if len(trials) > 0 || widget.Matches(r.text, words) {
			l.rows = append(append(l.rows, r), trials...)
		}
	}
	for key := range l.marked {
		if !slices.ContainsFunc(l.runs, func(r store.Run) bool { return r.ID == key }) && l.trialOf(key) == nil {
			delete(l.marked, key)
		}
	}
	l.table.Measure(l.rows)
	l.reselect()
}

// trialRows are the trials of an open search.
func (l *list) trialRows(key string, words []string) (out []*row) {
	for i := range l.trials[key] {
		r := runRow(&l.trials[key][i])
		if r.trial = true; !l.removing(r.key) && widget.Matches(r.text, words) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, l.compare)
	return out
}

// trialOf is the run of an ID among the trials that are listed, nil for none.
func (l *list) trialOf(id string) *store.Run {
	for _, trials := range l.trials {
		for i := range trials {
			if trials[i].ID == id {
				return &trials[i]
			}
		}
	}
	return nil
}

func runRow(r *store.Run) *row {
	out := &row{key: r.ID, run: r, measure: r.Measure(), best: math.NaN()}
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

// compare orders rows as the list is sorted: latest first where nothing else decides.
func (l *list) compare(a, b *row) int {
	return cmp.Or(l.table.Order(a, b), b.started().Compare(a.started()))
}

// reselect finds the selected row again, or takes the one in its place.
func (l *list) reselect() {
	at := slices.IndexFunc(l.rows, func(r *row) bool { return r.key == l.at })
	if at < 0 {
		at = l.position
	}
	l.selectRow(at)
}

// selectRow selects the row nearest to a place.
func (l *list) selectRow(at int) {
	l.at, l.position = "", 0
	if n := len(l.rows); n > 0 {
		l.position = max(0, min(at, n-1))
		l.at = l.rows[l.position].key
	}
}

// selected is the selected row, nil for none.
func (l *list) selected() *row {
	if len(l.rows) == 0 {
		return nil
	}
	return l.rows[l.position]
}

// move selects another row.
func (l *list) move(k string) { l.selectRow(l.table.Move(k, l.position, len(l.rows))) }

// sortBy sorts by a column, or by the same one the other way round; "" is as they came.
func (l *list) sortBy(key string) {
	l.table.SortBy(key)
	l.arrange()
}

// orderMissing ranks what a run does not have behind all others.
func orderMissing(a, b float64) int {
	return cmp.Compare(history.LastIfMissing(a), history.LastIfMissing(b))
}

// Model is the root model of the list. What it shows comes from the store by commands; nothing moves unless that
// changes.
type Model struct {
	screen.Base
	list
	store    *store.Store
	host     Host
	bindings []*screen.Binding[*Model]
	curves   map[string]curve
	drawing  bool // curves are being read
	detail   detail
	dialog   screen.Dialog[*Model]
	blocks   chart.Blocks
	resume   string
	turn     int // counts the waits for a change, of which the last one counts
	now      func() time.Time
	err      error
}

// Host opens the screens that stand over the list. They are called from commands, and what they return is closed by the
// function beside it, which may be nil.
type Host struct {
	// Watch opens a run, live or as it was.
	Watch func(ctx context.Context, id string) (screen.Layer, func(), error)
	// Compare opens several runs, at most Most.
	Compare func(ctx context.Context, ids []string) (screen.Layer, func(), error)
	// Search opens a search by the name of its sweep or its own.
	Search func(ctx context.Context, name string) (screen.Layer, func(), error)
	// Unresumable says why a run can't be resumed, "" if it can. Nil: none can from here, as it would end what
	// continues.
	Unresumable func(r *store.Run) string
	MaxCompared int
}

// detail is the selected run beside the list.
type detail struct{ canvas chart.Canvas }

// curve is what was read of a run's epochs, and what the run was then.
type curve struct {
	epochs  []event.EpochEvent
	changed time.Time
	points  int
}

// addSettings adds columns, which the user may choose, of the settings in which runs differ.
func addSettings(l *list) {
	values := map[string]string{}
	for i := range l.runs {
		if l.runs[i].Opening == nil {
			continue
		}
		settings := l.runs[i].Opening.Settings
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			text := fmt.Sprint(settings[name])
			if before, known := values[name]; known && before != text && l.table.Column(settingKey+name) == nil {
				c := settingColumn(name)
				c.Off = !slices.Contains(strings.Fields(l.wanted), c.Key)
				l.table.Columns = append(l.table.Columns, c)
			}
			values[name] = text
		}
	}
}
