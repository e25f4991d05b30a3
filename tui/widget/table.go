package widget

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/tui/layout"
	"newtop/tui/style"
)

// ColumnGap is the space between the columns of a table.
const ColumnGap = 2

// Column is a column of a table whose rows are of a type R.
type Column[R any] struct {
	Key   string // names it among the others, where that is asked
	Title string
	Color style.Token // of the title; Text: that of all titles
	About string      // what it has, for help and choice
	Width int         // of the screen's columns; it has no fewer than its title
	Max   int         // it is as wide as its widest text, up to that; 0: its texts do not widen it
	Grow  int         // how much more it takes of what is left over
	Rank  int         // where there is no room, columns of the highest rank are left out first
	Left  bool        // its texts start in one column; else they end in one
	Rest  bool        // it takes all that is left over, and is left out where that is less than Width
	Off   bool        // it is not shown
	// Cell is what a row has there, in a column of w. It is cut where it is longer.
	Cell func(r R, w int) style.Part
	// Compare orders rows by the column, nil for a column that nothing is sorted by.
	Compare func(a, b R) int
	// Missing reports whether a row has nothing there: it stands last in either order. Nil: every row has something.
	Missing func(r R) bool

	widest int
}

// align cuts or fills the text of a cell.
func (c *Column[R]) align(s string) string {
	if s = ansi.Truncate(s, c.Width, "…"); c.Left {
		return style.Pad(s, c.Width)
	}
	return style.Right(s, c.Width)
}

// Table shows rows under the titles of its columns, as many of both as have room.
type Table[R any] struct {
	List
	Columns  []Column[R]
	Lead     int    // columns before the first one of the table: an arrow, and what Mark writes
	Sorted   string // key of the column that the rows are sorted by, "" for none
	Reversed bool   // the other way round
	// Mark writes what stands before a row, after the arrow; nil for nothing.
	Mark func(l *style.Line, r R)
	// Color is the colour of a cell that has one of its own; nil leaves it.
	Color func(c *Column[R], r R, chosen bool, own style.Token) style.Token

	titles []title
}

// title is where the title of a column stands, for the mouse.
type title struct {
	from, to int
	key      string
}

// Column returns the column of a key, nil for none.
func (t *Table[R]) Column(key string) *Column[R] {
	i := slices.IndexFunc(t.Columns, func(c Column[R]) bool { return c.Key == key })
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

// Measure finds the widest texts of the columns that follow them.
func (t *Table[R]) Measure(rows []R) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.widest = 0; c.Off || c.Max == 0 {
			continue
		}
		for _, r := range rows {
			c.widest = max(c.widest, style.Cells(c.Cell(r, c.Max).Text))
		}
	}
}

// Widest is the width of the widest text of a column that was measured.
func (c *Column[R]) Widest() int { return c.widest }

// fit leaves out columns until the others have room, and deals out what is left over.
func (t *Table[R]) fit(room int) (out []Column[R]) {
	var rest *Column[R]
	for i := range t.Columns {
		c := t.Columns[i]
		c.Width = max(c.Width, style.Cells(c.Title), min(c.widest, c.Max))
		switch {
		case c.Off:
		case c.Rest:
			rest = &c
		default:
			out = append(out, c)
		}
	}
	left := 0
	for {
		left = room - t.Lead + ColumnGap
		worst := 0
		for i := range out {
			left -= out[i].Width + ColumnGap
			if out[i].Rank >= out[worst].Rank {
				worst = i
			}
		}
		if left >= 0 || len(out) <= 1 {
			break
		}
		out = slices.Delete(out, worst, worst+1)
	}
	if len(out) == 1 && left < 0 {
		out[0].Width = max(1, out[0].Width+left)
	}
	reserved := 0
	if rest != nil && left >= rest.Width+ColumnGap {
		reserved = rest.Width + ColumnGap
	}
	for i := range out {
		more := max(0, min(left-reserved, out[i].Grow))
		out[i].Width, left = out[i].Width+more, left-more
	}
	if reserved > 0 {
		rest.Width = left - ColumnGap
		out = append(out, *rest)
	}
	return out
}

// Draw draws the titles and the rows around the chosen one, −1 for none, into a rect of the screen.
func (t *Table[R]) Draw(p *style.Pen, at layout.Rect, rows []R, chosen int) []string {
	t.Rect, t.First = at, 1
	t.Show(max(0, chosen), len(rows), at.H-1)
	columns := t.fit(at.W)
	out := []string{t.header(p, columns)}
	for i := t.Top; i < t.Top+t.Rows; i++ {
		out = append(out, t.row(p, columns, rows[i], i == chosen))
	}
	return out
}

// header has the titles, and an arrow at the one that the rows are sorted by.
func (t *Table[R]) header(p *style.Pen, columns []Column[R]) string {
	l := p.Line(t.W).To(t.Lead)
	t.titles = t.titles[:0]
	for i := range columns {
		c := &columns[i]
		if i > 0 {
			l.Write(style.Text, style.Spaces(ColumnGap))
		}
		text, color := c.Title, style.Muted
		if c.Color != style.Text {
			color = c.Color
		}
		if c.Key == t.Sorted && t.Sorted != "" {
			arrow := "▴"
			if t.Reversed {
				arrow = "▾"
			}
			text, color = ansi.Truncate(text, c.Width-1, "")+arrow, style.Accent
		}
		t.titles = append(t.titles, title{t.X + l.Width, t.X + l.Width + c.Width, c.Key})
		l.Write(color, c.align(text))
	}
	return l.Full()
}

// row draws a row. Only the text of a cell has its colour, and not the space around it.
func (t *Table[R]) row(p *style.Pen, columns []Column[R], r R, chosen bool) string {
	arrow := " "
	if chosen {
		arrow = "▸"
	}
	l := p.Line(t.W).Write(style.Accent, arrow)
	if t.Mark != nil {
		t.Mark(l, r)
	}
	l.To(t.Lead)
	for i := range columns {
		c := &columns[i]
		if i > 0 {
			l.Write(style.Text, style.Spaces(ColumnGap))
		}
		cell := c.Cell(r, c.Width)
		if t.Color != nil {
			cell.Token = t.Color(c, r, chosen, cell.Token)
		}
		s := c.align(cell.Text)
		from := len(s) - len(strings.TrimLeft(s, " "))
		inner := strings.TrimSpace(s)
		l.Write(style.Text, s[:from]).Write(cell.Token, inner).Write(style.Text, s[from+len(inner):])
	}
	return l.Full()
}

// InSight is how many columns had room.
func (t *Table[R]) InSight() int { return len(t.titles) }

// TitleAt is the key of the column whose title is at a cell of the screen, "" for none.
func (t *Table[R]) TitleAt(x, y int) string {
	for _, c := range t.titles {
		if y == t.Y && x >= c.from && x < c.to {
			return c.key
		}
	}
	return ""
}

// SortBy sorts by a column, or by the same one the other way round; "" is as the rows came.
func (t *Table[R]) SortBy(key string) {
	t.Reversed = key == t.Sorted && key != "" && !t.Reversed
	t.Sorted = key
}

// SortNext moves to the next column that is shown and can be sorted by, and after the last one to none.
func (t *Table[R]) SortNext() {
	at := slices.IndexFunc(t.Columns, func(c Column[R]) bool { return c.Key == t.Sorted && t.Sorted != "" }) + 1
	t.Sorted, t.Reversed = "", false
	for _, c := range t.Columns[at:] {
		if !c.Off && c.Compare != nil {
			t.Sorted = c.Key
			return
		}
	}
}

// Order orders two rows by the column that the table is sorted by; 0 where that decides nothing.
func (t *Table[R]) Order(a, b R) int {
	c := t.Column(t.Sorted)
	if c == nil || c.Compare == nil {
		return 0
	}
	if c.Missing != nil {
		if none, other := c.Missing(a), c.Missing(b); none != other {
			if none {
				return 1
			}
			return -1
		}
	}
	if t.Reversed {
		return -c.Compare(a, b)
	}
	return c.Compare(a, b)
}
