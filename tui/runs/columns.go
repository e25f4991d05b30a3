package runs

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
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
		return column{key: key, title: key, about: about, wide: style.Cells(key), most: most, rank: rank, left: true, usual: usual,
			text: word(of), compare: byWord(of), missing: func(r *row) bool { return of(r) == "" }}
	}
	best := column{key: "best", title: "best", about: "best test error, or what else it is judged by", wide: 6, most: 10, rank: 0, usual: true,
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
		{key: "state", title: "state", about: "what has become of it", wide: 5, most: 13, rank: 1, left: true, usual: true,
			text: func(_ *Model, r *row, long bool) style.Part { return r.state(long) }, compare: byWord((*row).stateWord)},
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
		{key: "epochs", title: "epochs", about: "epochs trained; trials of a search", wide: 6, most: 9, rank: 5, usual: true,
			text:    func(_ *Model, r *row, long bool) style.Part { return style.Text.Of(r.epochs(long)) },
			compare: byNumber((*row).epoch)},
		best,
		{key: curveColumn, title: "curve", about: "that over the epochs, each on its own scale", wide: 8, rank: 4, left: true, usual: true,
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

// shortID is the end of an ID, by which a run is known too.
func shortID(id string) string { return id[strings.LastIndexByte(id, '-')+1:] }

// label names a row to its user.
func (r *row) label() string {
	switch {
	case r.sweep != nil:
		return style.Clean(r.sweep.Name)
	case r.run.Name != "":
		return style.Clean(r.run.Name)
	}
	return style.Clean(shortID(r.run.ID))
}

func (r *row) name() string { return r.label() }

func (r *row) data() string {
	if r.run == nil {
		return r.all.Data
	}
	return r.run.DataName()
}

func (r *row) net() string {
	if r.run == nil || r.run.Opening == nil {
		return ""
	}
	return r.run.Opening.Model.Shape()
}

func (r *row) method() string {
	if r.run == nil {
		return "search"
	}
	return r.run.Method()
}

func (r *row) seed() string {
	if r.run == nil {
		return ""
	}
	return format.Count(int(r.run.Config.Seed))
}

func (r *row) epochs(long bool) string {
	switch {
	case r.run == nil && long:
		return format.Counted(r.all.Trials, "trial")
	case r.run == nil:
		return format.Count(r.all.Trials)
	}
	return format.Count(r.run.Epoch())
}

func (r *row) epoch() float64 {
	if r.run == nil {
		return math.NaN()
	}
	return float64(r.run.Epoch())
}

func (r *row) elapsed() float64 {
	switch {
	case r.run == nil:
		return r.all.Seconds
	case r.run.Last == nil:
		return math.NaN()
	}
	return float64(r.run.Last.Elapsed)
}

func (r *row) begun() time.Time {
	if r.run == nil {
		return r.all.Begun
	}
	return r.run.Begun
}

func (r *row) tags() string {
	if r.run == nil {
		return ""
	}
	return strings.Join(r.run.Tags, " ")
}

func (r *row) note() string {
	if r.run == nil {
		return ""
	}
	return r.run.Note
}

func (r *row) stateWord() string {
	switch {
	case r.run == nil:
		return r.sweep.State()
	case r.run.State == store.State(event.ReasonEpochs):
		return "done"
	}
	return string(r.run.State)
}

// states say what has become of a run or a search by a sign and a colour; the others are over in order.
var states = map[string]struct {
	sign string
	ink  style.Token
}{
	string(store.Running):        {"●", style.Good},
	"searching":                  {"●", style.Good},
	"finals":                     {"●", style.Good},
	string(store.Interrupted):    {"‖", style.Warn},
	string(event.ReasonTarget):   {"✓", style.Good},
	string(event.ReasonStopped):  {"–", style.Muted},
	string(event.ReasonStalled):  {"–", style.Warn},
	string(event.ReasonDiverged): {"×", style.Bad},
	string(event.ReasonFailed):   {"✗", style.Bad},
}

// state is what has become of it, with all of the word where there is room.
func (r *row) state(long bool) style.Part {
	word := r.stateWord()
	s, ok := states[word]
	if !ok {
		s.sign, s.ink = "■", style.Text
	}
	if r.run != nil && r.run.Damage != nil {
		word, s.ink = word+", damaged", style.Bad
	}
	if !long {
		word = ansi.Truncate(style.Clean(word), 6, "…")
	}
	return s.ink.Of(s.sign + " " + style.Clean(word))
}

// measureText writes a value of what a run is judged by.
func measureText(m event.Measure, v float64) string {
	if m.Info().Share {
		return format.Percent(v)
	}
	return format.Number(v)
}

// ageText writes how long ago something was, in one unit.
func ageText(d time.Duration, unknown bool) string {
	const day = 24 * time.Hour
	switch {
	case unknown:
		return dash.Text
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return format.Count(int(d/time.Minute)) + " min"
	case d < 2*day:
		return format.Count(int(d/time.Hour)) + " h"
	}
	return format.Count(int(d/day)) + " d"
}

// head is where the title of a column stands, for the mouse.
type head struct{ from, to, column int }

// fitted is a column with the room that it has.
type fitted struct {
	column
	place int // in allColumns
}

// lead is what stands before the columns: an arrow, a mark, and the sign of a search.
const lead = 4

// fit leaves out columns until the rest has room. What is left over goes to the curves, and then to tags and notes.
func (m *Model) fit(room int) (out []fitted, long bool) {
	for k := range allColumns {
		if c := allColumns[k]; m.columns[k] || c.key == nameColumn {
			if c.most > 0 {
				c.wide = max(c.wide, min(m.wide[k], c.most))
			}
			out = append(out, fitted{c, k})
		}
	}
	if long = room >= 100; !long {
		for i := range out {
			switch out[i].key {
			case "state":
				out[i].wide = min(out[i].wide, 8)
			case "epochs":
				out[i].wide = style.Cells(out[i].title)
			}
		}
	}
	for {
		used, worst := lead-widget.ColumnGap, 0
		for i := range out {
			used += out[i].wide + widget.ColumnGap
			if out[i].rank >= out[worst].rank {
				worst = i
			}
		}
		if used <= room {
			return spare(out, room-used), long
		}
		if len(out) == 1 {
			out[0].wide = max(1, room-lead)
			return out, long
		}
		out = slices.Delete(out, worst, worst+1)
	}
}

// spare gives what is left over to the curves.
func spare(out []fitted, left int) []fitted {
	for i := range out {
		if out[i].key == curveColumn {
			out[i].wide += min(left, curvePoints-out[i].wide)
		}
	}
	return out
}

// align cuts or fills the text of a cell.
func (c *fitted) align(s string) string {
	if s = ansi.Truncate(s, c.wide, "…"); c.left {
		return style.Pad(s, c.wide)
	}
	return style.Right(s, c.wide)
}

// drawTable has a heading and the rows that have room, around the selected one.
func (m *Model) drawTable(r layout.Rect) []string {
	framed := m.Width >= 80 && m.Height >= 18
	at := r
	if framed {
		at = layout.Rect{X: r.X + 2, Y: r.Y + 1, W: r.W - 4, H: r.H - 2}
	}
	columns, long := m.fit(at.W)
	n := len(m.rows)
	m.table.Rect, m.table.First = at, 1
	m.table.Rows = max(0, min(n, at.H-1))
	m.table.Top = max(0, min(max(m.table.Top, m.place-m.table.Rows+1), m.place, n-m.table.Rows))
	rows := []string{m.drawHead(columns, at)}
	for i := m.table.Top; i < m.table.Top+m.table.Rows; i++ {
		rows = append(rows, m.drawRow(columns, &m.rows[i], i == m.place, long, at.W))
	}
	if n == 0 {
		rows = append(rows, m.Line(at.W).Put(style.Muted, "  "+m.emptyWords()).Full())
	}
	if !framed {
		return style.Block(rows, r.W, r.H)
	}
	return style.Block(widget.Framed(&m.Pen, style.Focus, widget.TitleParts(m.title(), r.W-6), style.Block(rows, at.W, at.H), r.W), r.W, r.H)
}

// title names the order, and what is seen of how many.
func (m *Model) title() []style.Part {
	out := []style.Part{style.Focus.Of("runs")}
	by := "  newest first"
	if m.sort >= 0 {
		by = "  by " + allColumns[m.sort].title
		if m.reversed {
			by += ", reversed"
		}
	}
	out = append(out, style.Muted.Of(by))
	if n := len(m.rows); n > m.table.Rows {
		out = append(out, style.Muted.Of("  "+format.Count(m.table.Top+1)+" to "+format.Count(m.table.Top+m.table.Rows)+" of "+format.Count(n)))
	}
	if m.filter.Text != "" {
		out = append(out, style.Accent.Of("  /"+style.Clean(m.filter.Text)))
	}
	return out
}

// emptyWords says why there is no run to see.
func (m *Model) emptyWords() string {
	switch {
	case !m.read && m.err == nil:
		return "reading"
	case m.filter.Text != "":
		return "no run has /" + style.Clean(m.filter.Text) + ": esc shows all"
	}
	return "no run is recorded yet: newtop and newtop train record every one"
}

// drawHead has the titles, and an arrow at the one that the list is sorted by.
func (m *Model) drawHead(columns []fitted, r layout.Rect) string {
	l := m.Line(r.W).To(lead - widget.ColumnGap)
	m.heads = m.heads[:0]
	for i := range columns {
		c := &columns[i]
		l.Put(style.Text, style.Spaces(widget.ColumnGap))
		title, ink := c.title, style.Muted
		if c.place == m.sort {
			ink = style.Accent
			arrow := "▴"
			if m.reversed {
				arrow = "▾"
			}
			title = ansi.Truncate(title, c.wide-1, "") + arrow
		}
		m.heads = append(m.heads, head{r.X + l.Width, r.X + l.Width + c.wide, c.place})
		l.Put(ink, c.align(title))
	}
	return l.Full()
}

// drawRow draws a row of the list.
func (m *Model) drawRow(columns []fitted, r *row, chosen, long bool, w int) string {
	arrow, sign := " ", " "
	if chosen {
		arrow = "▸"
	}
	l := m.Line(w).Put(style.Accent, arrow)
	if m.marked[r.key] {
		l.Put(style.Accent, "✓")
	}
	l.To(2)
	switch {
	case r.sweep != nil && m.opened[r.key]:
		sign = "▾"
	case r.sweep != nil:
		sign = "▸"
	case r.trial:
		sign = "·"
	}
	l.Put(style.Muted, sign).To(lead)
	for i := range columns {
		c := &columns[i]
		if i > 0 {
			l.Put(style.Text, style.Spaces(widget.ColumnGap))
		}
		if c.key == curveColumn {
			ink := style.Muted
			if chosen || r.run != nil && r.run.State == store.Running {
				ink = style.Test
			}
			l.Put(ink, style.Pad(m.spark(r, c.wide), c.wide))
			continue
		}
		p := c.text(m, r, long)
		s := c.align(p.Text)
		switch {
		case chosen && c.key == nameColumn:
			p.Token = style.Chosen
		case chosen && p.Token == style.Text, c.key == nameColumn && r.sweep != nil:
			p.Token = style.Strong
		}
		from := len(s) - len(strings.TrimLeft(s, " "))
		inner := strings.TrimSpace(s)
		l.Put(style.Text, s[:from]).Put(p.Token, inner).Put(style.Text, s[from+len(inner):])
	}
	return l.Full()
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
