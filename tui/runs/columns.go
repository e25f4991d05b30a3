package runs

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// column is a column of the list.
type column struct {
	key, title, about string
	wide              int  // columns of the screen
	most              int  // as wide as its widest text up to that; 0: of one width
	rank              int  // where there is no room, those of the highest are left out first
	left              bool // words; else figures, which end alike
	usual             bool // shown unless the user chose otherwise
	text              func(m *Model, r *row, long bool) style.Part
	compare           func(a, b *row) int
	missing           func(r *row) bool // nil: every row has it
}

// The columns that are more than text.
const (
	nameColumn  = "name"
	stateColumn = "state"
	curveColumn = "curve"
)

// dash stands for what a run does not have.
var dash = style.Muted.Of("–")

// allColumns are the columns from the left.
var allColumns = newColumns()

func newColumns() []column {
	word := func(of func(r *row) string) func(*Model, *row, bool) style.Part {
		return func(_ *Model, r *row, _ bool) style.Part {
			if s := style.Clean(of(r)); s != "" {
				return style.Text.Of(s)
			}
			return dash
		}
	}
	byWord := func(of func(r *row) string) func(a, b *row) int {
		return func(a, b *row) int { return cmp.Compare(strings.ToLower(of(a)), strings.ToLower(of(b))) }
	}
	byNumber := func(of func(r *row) float64) func(a, b *row) int {
		return func(a, b *row) int { return orderMissing(of(a), of(b)) }
	}
	words := func(key, about string, most, rank int, usual bool, of func(r *row) string) column {
		return column{key: key, title: key, about: about, wide: style.Cells(key), most: most, rank: rank, left: true,
			usual: usual,
			text:  word(of), compare: byWord(of), missing: func(r *row) bool { return of(r) == "" }}
	}
	best := column{key: "best", title: "best", about: "best test error, or what else it is judged by", wide: 6,
		most: 10, rank: 0, usual: true,
		text: func(_ *Model, r *row, _ bool) style.Part {
			if math.IsNaN(r.best) {
				return dash
			}
			return style.Text.Of(measureText(r.measure, r.best))
		},
		compare: func(a, b *row) int {
			return cmp.Or(cmp.Compare(a.measure.Quantity, b.measure.Quantity), orderMissing(a.best, b.best))
		}, missing: func(r *row) bool { return math.IsNaN(r.best) }}
	return []column{
		words(nameColumn, "name, or the end of the ID", 24, 0, true, (*row).name),
		{key: stateColumn, title: "state", about: "what has become of it", wide: 5, most: 13, rank: 1, left: true,
			usual: true,
			text:  func(_ *Model, r *row, _ bool) style.Part { return r.state() }, compare: byWord((*row).stateWord)},
		words("data", "data set", 16, 3, true, (*row).data),
		words("net", "layers of the net", 20, 9, false, (*row).net),
		words("method", "optimizer it began with", 14, 2, true, (*row).method),
		{key: "seed", title: "seed", about: "random seed", wide: 4, most: 12, rank: 10, text: word((*row).seed),
			compare: byNumber(func(r *row) float64 {
				if r.run == nil {
					return math.NaN()
				}
				return float64(r.run.Config.Seed)
			})},
		{key: "epochs", title: "epochs", about: "epochs trained; trials of a search", wide: 6, most: 9, rank: 5,
			usual:   true,
			text:    func(_ *Model, r *row, long bool) style.Part { return style.Text.Of(r.epochs(long)) },
			compare: byNumber((*row).epoch)},
		best,
		{key: curveColumn, title: "curve", about: "that over the epochs, each on its own scale", wide: 8, rank: 4,
			left: true, usual: true,
			compare: best.compare, missing: best.missing},
		{key: "time", title: "time", about: "training time", wide: 7, rank: 8, text: word(func(r *row) string {
			if t := r.elapsed(); format.Finite(t) {
				return format.Elapsed(t)
			}
			return ""
		}), compare: byNumber((*row).elapsed), missing: func(r *row) bool { return math.IsNaN(r.elapsed()) }},
		{key: "age", title: "age", about: "since it began", wide: 6, rank: 6, usual: true,
			text: func(m *Model, r *row, _ bool) style.Part {
				return style.Text.Of(ageText(m.now().Sub(r.begun()), r.begun().IsZero()))
			},
			compare: func(a, b *row) int { return b.begun().Compare(a.begun()) }},
		words("tags", "your tags", 24, 7, true, (*row).tags),
		words("note", "your note", 40, 11, false, (*row).note),
		words("host", "where it was trained", 16, 12, false, func(r *row) string {
			if r.run == nil {
				return r.all.Host
			}
			return r.run.Host
		}),
	}
}

// columnOf is the place of a column, −1 for none.
func columnOf(key string) int {
	return slices.IndexFunc(allColumns, func(c column) bool { return c.key == key })
}

// recall takes the user's columns and order.
func (m *Model) recall(p *screen.Preferences) {
	if p.RunColumns != "" {
		chosen := strings.Fields(p.RunColumns)
		for k := range allColumns {
			m.columns[k] = slices.Contains(chosen, allColumns[k].key)
		}
	}
	key, back := strings.CutPrefix(p.RunSort, "-")
	if at := columnOf(key); at >= 0 {
		m.sort, m.reversed = at, back
	}
}

// chosenColumns are the columns for the preferences, sortText the order.
func (m *Model) chosenColumns() string {
	var out []string
	for k := range allColumns {
		if m.columns[k] {
			out = append(out, allColumns[k].key)
		}
	}
	return strings.Join(out, " ")
}

func (m *Model) sortText() string {
	switch {
	case m.sort < 0:
		return ""
	case m.reversed:
		return "-" + allColumns[m.sort].key
	}
	return allColumns[m.sort].key
}

// sortBy sorts by a column, or by the same one the other way round; −1 is as they came.
func (m *Model) sortBy(k int) {
	m.reversed = k == m.sort && k >= 0 && !m.reversed
	m.sort = k
	m.arrange()
}
