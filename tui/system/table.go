package system

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	host "newtop/internal/machine"
	"newtop/tui/layout"
	"newtop/tui/pane/machine"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// list is which processes are shown, in which order, and which one is selected.
type list struct {
	rows     []host.Process
	filter   widget.Filter
	sort     int  // of columns
	reversed bool // the other way round
	at       int  // the number of the selected process
	place    int  // where that is, and where it was once it has ended
	table    widget.List
	heads    []head
}

// head is where the title of a column stands, for the mouse.
type head struct{ from, to, column int }

// column is a column of the table; figures end alike, words begin alike.
type column struct {
	title string
	wide  int
	left  bool
	text  func(p *host.Process) string
	// compare orders what the column is sorted by: the most first, words from a on.
	compare func(a, b *host.Process) int
}

// The columns that are named.
const (
	byCPU        = 2
	gpuColumn    = 4
	commandRoom  = 12 // columns that a command has at least
	tableMargins = 4  // of a frame and its spaces
)

var columns = [...]column{
	{"pid", 7, false, func(p *host.Process) string { return strconv.Itoa(p.PID) },
		func(a, b *host.Process) int { return cmp.Compare(a.PID, b.PID) }},
	{"user", 8, true, func(p *host.Process) string { return p.User },
		func(a, b *host.Process) int { return cmp.Compare(a.User, b.User) }},
	{"cpu", 6, false, func(p *host.Process) string { return busy(p.CPU) },
		func(a, b *host.Process) int { return most(a.CPU, b.CPU) }},
	{"mem", 8, false, func(p *host.Process) string { return machine.Memory(float64(p.RSS)) },
		func(a, b *host.Process) int { return cmp.Compare(b.RSS, a.RSS) }},
	{"gpu mem", 8, false, func(p *host.Process) string {
		if p.GPUMemory == 0 {
			return ""
		}
		return machine.Memory(float64(p.GPUMemory))
	}, func(a, b *host.Process) int { return cmp.Compare(b.GPUMemory, a.GPUMemory) }},
	{"time", 8, false, func(p *host.Process) string { return format.Clock(p.Time) },
		func(a, b *host.Process) int { return most(a.Time, b.Time) }},
	{"command", 0, true, func(p *host.Process) string { return p.Command },
		func(a, b *host.Process) int { return cmp.Compare(a.Command, b.Command) }},
}

// most orders the greater number first, what is not told last.
func most(a, b float64) int { return cmp.Compare(b, a) }

// busy writes how much of a core a process takes.
func busy(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case x < 0.0995:
		return strconv.FormatFloat(100*x, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(100*x, 'f', 0, 64) + " %"
}

// arrange filters and sorts the newest processes, and finds the selected one again.
func (m *Model) arrange() {
	words := strings.Fields(strings.ToLower(m.filter.Text))
	m.rows = m.rows[:0]
	for _, p := range m.board.Newest.Processes {
		if widget.Matches(strings.ToLower(strconv.Itoa(p.PID)+" "+p.User+" "+p.Name+" "+p.Command), words) {
			m.rows = append(m.rows, p)
		}
	}
	by := columns[m.sort].compare
	slices.SortStableFunc(m.rows, func(a, b host.Process) int {
		order := by(&a, &b)
		if m.reversed {
			order = -order
		}
		return cmp.Or(order, most(a.CPU, b.CPU), cmp.Compare(a.PID, b.PID))
	})
	if at := slices.IndexFunc(m.rows, func(p host.Process) bool { return p.PID == m.at }); at >= 0 && m.place > 0 {
		m.choose(at)
	} else {
		m.choose(m.place)
	}
}

// choose selects the row nearest to a place. The first place stays the first, whichever process that is.
func (l *list) choose(at int) {
	l.at, l.place = 0, 0
	if n := len(l.rows); n > 0 {
		l.place = max(0, min(at, n-1))
		l.at = l.rows[l.place].PID
	}
}

// move selects another row.
func (m *Model) move(k string) {
	m.choose(m.table.Move(k, m.place, len(m.rows)))
}

// resort sorts by the next column, or the other way round.
func (m *Model) resort(k string) {
	if k == "s" {
		m.sortBy(m.sort)
		return
	}
	next := (m.sort + 1) % len(columns)
	if next == gpuColumn && !m.onGPU() {
		next++
	}
	m.sortBy(next)
}

// sortBy sorts by a column, or by the same one the other way round.
func (m *Model) sortBy(k int) {
	m.reversed = k == m.sort && !m.reversed
	m.sort = k
	m.place = 0
	m.arrange()
}

// onGPU reports whether the memory that processes have on GPUs is told.
func (m *Model) onGPU() bool {
	return slices.ContainsFunc(m.board.Newest.Processes, func(p host.Process) bool { return p.GPUMemory > 0 })
}

// shown are the columns that have room: the time gives way first, then the user, then memory.
func (m *Model) shown(w int) (out []int) {
	for k := range columns {
		if k != gpuColumn || m.onGPU() {
			out = append(out, k)
		}
	}
	for _, gives := range []int{5, 1, 4, 3} {
		used := commandRoom
		for _, k := range out {
			used += columns[k].wide + widget.ColumnGap
		}
		if used <= w {
			break
		}
		out = slices.DeleteFunc(out, func(k int) bool { return k == gives && k != m.sort })
	}
	return out
}

// drawTable has a heading and the processes that have room, around the selected one.
func (m *Model) drawTable(r layout.Rect) []string {
	framed := r.W >= 60 && r.H >= 6
	at := r
	if framed {
		at = layout.Rect{X: r.X + 2, Y: r.Y + 1, W: r.W - tableMargins, H: r.H - 2}
	}
	shown, n := m.shown(at.W), len(m.rows)
	m.table.Rect, m.table.First = at, 1
	m.table.Show(m.place, n, at.H-1)
	rows := []string{m.drawHead(shown, at)}
	for i := m.table.Top; i < m.table.Top+m.table.Rows; i++ {
		rows = append(rows, m.drawRow(shown, &m.rows[i], i == m.place, at.W))
	}
	if n == 0 {
		rows = append(rows, m.Line(at.W).Put(style.Muted, " "+m.emptyWords()).Full())
	}
	if !framed {
		return style.Block(rows, r.W, r.H)
	}
	title := []style.Part{style.Focus.Of("processes"), style.Muted.Of("  by " + columns[m.sort].title)}
	if m.reversed {
		title[1].Text += ", reversed"
	}
	if span := m.table.Span(n); span != "" {
		title = append(title, style.Muted.Of(span))
	}
	if m.filter.Text != "" {
		title = append(title, style.Accent.Of("  /"+style.Clean(m.filter.Text)))
	}
	return style.Block(widget.Framed(&m.Pen, style.Focus, widget.TitleParts(title, r.W-6),
		style.Block(rows, at.W, at.H), r.W), r.W, r.H)
}

// emptyWords says why there is no process to see.
func (m *Model) emptyWords() string {
	switch {
	case m.board.Samples() == 0:
		return "reading"
	case m.filter.Text != "":
		return "no process has /" + style.Clean(m.filter.Text) + ": esc shows all"
	}
	return "the processes are not told"
}

// aligned cuts or fills the text of a cell. The last column has what is left.
func (c *column) aligned(text string, left int) string {
	wide := c.wide
	if wide == 0 {
		wide = left
	}
	text = ansi.Truncate(style.Clean(text), wide, "…")
	if c.left {
		return style.Pad(text, wide)
	}
	return style.Right(text, wide)
}

// drawHead has the titles, and an arrow at the one that the table is sorted by.
func (m *Model) drawHead(shown []int, r layout.Rect) string {
	l := m.Line(r.W).To(1)
	m.heads = m.heads[:0]
	for i, k := range shown {
		if i > 0 {
			l.Put(style.Text, style.Spaces(widget.ColumnGap))
		}
		title, ink := columns[k].title, style.Muted
		if k == m.sort {
			ink = style.Accent
			arrow := "▾"
			if m.reversed {
				arrow = "▴"
			}
			title += arrow
		}
		from := r.X + l.Width
		l.Put(ink, columns[k].aligned(title, l.Left()))
		m.heads = append(m.heads, head{from, r.X + l.Width, k})
	}
	return l.Full()
}

// drawRow draws a process.
func (m *Model) drawRow(shown []int, p *host.Process, chosen bool, w int) string {
	l := m.Line(w)
	ink, arrow := style.Text, " "
	if chosen {
		ink, arrow = style.Strong, "▸"
	}
	l.Put(style.Accent, arrow)
	for i, k := range shown {
		if i > 0 {
			l.Put(style.Text, style.Spaces(widget.ColumnGap))
		}
		l.Put(ink, columns[k].aligned(columns[k].text(p), l.Left()))
	}
	return l.Full()
}
