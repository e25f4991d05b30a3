package runs

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"newtop/internal/format"
	"newtop/trainer/store"
	"newtop/tui/style"
)

// curvePoints is how many epochs of a run are read for the list, detailPoints for the selected one beside it.
const (
	curvePoints  = 24
	detailPoints = 160
)

// cellText is the cell of a row that has a text there.
func cellText(of func(r *row) string) func(*row, int) style.Part {
	return func(r *row, _ int) style.Part {
		if s := style.Clean(of(r)); s != "" {
			return style.Text.Of(s)
		}
		return dash
	}
}

func byText(of func(r *row) string) func(a, b *row) int {
	return func(a, b *row) int { return cmp.Compare(strings.ToLower(of(a)), strings.ToLower(of(b))) }
}

func byNumber(of func(r *row) float64) func(a, b *row) int {
	return func(a, b *row) int { return orderMissing(of(a), of(b)) }
}

// newColumns are the columns from the left, all that there are. value writes the best of a run, spark draws its curve,
// and now is the time.
func newColumns(value func(r *row) string, spark func(r *row, w int) string, now func() time.Time) []column {
	words := func(key, about string, most, rank int, of func(r *row) string) column {
		return column{Key: key, Title: key, About: about, Max: most, Rank: rank, Left: true, Cell: cellText(of),
			Compare: byText(of), Missing: func(r *row) bool { return of(r) == "" }}
	}
	best := column{Key: "best", Title: "best", About: "best test error, or what else it is judged by", Width: 6,
		Max: 10, Rank: 0,
		Cell: func(r *row, _ int) style.Part {
			if math.IsNaN(r.best) {
				return dash
			}
			return style.Text.Of(value(r))
		},
		Compare: func(a, b *row) int {
			return cmp.Or(cmp.Compare(a.measure.Quantity, b.measure.Quantity), orderMissing(a.best, b.best))
		}, Missing: func(r *row) bool { return math.IsNaN(r.best) }}
	return []column{
		words(nameColumn, "name, or the end of the ID", 24, 0, (*row).name),
		{Key: stateColumn, Title: "state", About: "what has become of it", Max: 13, Rank: 1, Left: true,
			Cell: func(r *row, _ int) style.Part { return r.state() }, Compare: byText((*row).stateWord)},
		words("data", "data set", 16, 3, (*row).data),
		off(words("net", "layers of the net", 20, 9, (*row).net)),
		words("method", "optimizer it began with", 14, 2, (*row).method),
		off(column{Key: "seed", Title: "seed", About: "random seed", Max: 12, Rank: 10, Cell: cellText((*row).seed),
			Compare: byNumber(func(r *row) float64 {
				if r.run == nil {
					return math.NaN()
				}
				return float64(r.run.Config.Seed)
			})}),
		{Key: countColumn, Title: "epochs", About: "epochs trained; trials of a search", Max: 9, Rank: 5,
			Cell:    func(r *row, w int) style.Part { return style.Text.Of(r.epochs(w)) },
			Compare: byNumber((*row).epoch)},
		best,
		{Key: curveColumn, Title: "curve", About: "that over the epochs, each on its own scale", Width: 8,
			Grow: curvePoints - 8, Rank: 4, Left: true,
			Cell:    func(r *row, w int) style.Part { return style.Muted.Of(spark(r, w)) },
			Compare: best.Compare, Missing: best.Missing},
		off(column{Key: "time", Title: "time", About: "training time", Width: 7, Rank: 8,
			Cell: cellText(func(r *row) string {
				if t := r.elapsed(); format.Finite(t) {
					return format.Elapsed(t)
				}
				return ""
			}), Compare: byNumber((*row).elapsed), Missing: func(r *row) bool { return math.IsNaN(r.elapsed()) }}),
		{Key: "age", Title: "age", About: "since it began", Width: 6, Rank: 6,
			Cell: func(r *row, _ int) style.Part {
				return style.Text.Of(ageText(now().Sub(r.started()), r.started().IsZero()))
			},
			Compare: func(a, b *row) int { return b.started().Compare(a.started()) }},
		words("tags", "your tags", 24, 7, (*row).tags),
		off(words("note", "your note", 40, 11, (*row).note)),
		off(words("host", "where it was trained", 16, 12, func(r *row) string {
			if r.run == nil {
				return r.all.Host
			}
			return r.run.Host
		})),
	}
}

// settingColumn is a column of what was chosen for the runs under a name.
func settingColumn(name string) column {
	text := func(r *row) string {
		if r.run == nil || r.run.Opening == nil || r.run.Opening.Settings[name] == nil {
			return ""
		}
		return format.Setting(fmt.Sprint(r.run.Opening.Settings[name]))
	}
	return off(column{Key: settingKey + name, Title: style.Clean(name), About: "a setting", Max: 14, Rank: 13,
		Cell: cellText(text), Missing: func(r *row) bool { return text(r) == "" },
		Compare: func(a, b *row) int {
			x, errX := strconv.ParseFloat(text(a), 64)
			y, errY := strconv.ParseFloat(text(b), 64)
			if errX == nil && errY == nil {
				return cmp.Compare(x, y)
			}
			return strings.Compare(text(a), text(b))
		}})
}

// settingKey is how keys of columns of settings begin.
const settingKey = "="

// off is a column that is shown only where the user chose it.
func off(c column) column { c.Off = true; return c }

// cellColor is the colour of a cell: the name of the selected row stands out, and its curve.
func cellColor(c *column, r *row, chosen bool, own style.Token) style.Token {
	switch {
	case c.Key == curveColumn && (chosen || r.run != nil && r.run.State == store.Running):
		return style.Test
	case c.Key == curveColumn:
	case chosen && c.Key == nameColumn:
		return style.Chosen
	case chosen && own == style.Text, c.Key == nameColumn && r.sweep != nil:
		return style.Strong
	}
	return own
}

// chooseColumns shows the columns of a preference, and the name in any case.
func (l *list) chooseColumns(keys string) {
	l.wanted = keys
	chosen := strings.Fields(keys)
	for k := range l.table.Columns {
		c := &l.table.Columns[k]
		c.Off = c.Key != nameColumn
		for _, key := range chosen {
			c.Off = c.Off && key != c.Key
		}
	}
}

// chosenColumns are the columns for the preferences.
func (l *list) chosenColumns() string {
	var out []string
	for _, c := range l.table.Columns {
		if !c.Off {
			out = append(out, c.Key)
		}
	}
	return strings.Join(out, " ")
}
