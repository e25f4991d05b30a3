package runs

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/store"
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// head is where the title of a column stands, for the mouse.
type head struct{ from, to, column int }

// fitted is a column with the room that it has.
type fitted struct {
	column
	place int // in allColumns
}

// lead is what stands before the columns: an arrow, a mark, and the sign of a search.
const lead = 4

// leastState is what a state keeps of its sign and word where there is no room.
const leastState = 8

// fit leaves out columns until the rest has room. What is left over goes to states that are cut, and then to the
// curves.
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
			case stateColumn:
				out[i].wide = min(out[i].wide, leastState)
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
			m.spare(out, room-used)
			return out, long
		}
		if len(out) == 1 {
			out[0].wide = max(1, room-lead)
			return out, long
		}
		out = slices.Delete(out, worst, worst+1)
	}
}

// spare gives what is left over to states that are cut, and then to the curves.
func (m *Model) spare(out []fitted, left int) {
	for _, key := range []string{stateColumn, curveColumn} {
		for i := range out {
			if c := &out[i]; c.key == key {
				want := curvePoints
				if key == stateColumn {
					want = min(m.wide[c.place], c.most)
				}
				more := max(0, min(left, want-c.wide))
				c.wide, left = c.wide+more, left-more
			}
		}
	}
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
	return style.Block(widget.Framed(&m.Pen, style.Focus, widget.TitleParts(m.title(), r.W-6),
		style.Block(rows, at.W, at.H), r.W), r.W, r.H)
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
		out = append(out, style.Muted.Of("  "+format.Count(m.table.Top+1)+" to "+format.Count(
			m.table.Top+m.table.Rows)+" of "+format.Count(n)))
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
