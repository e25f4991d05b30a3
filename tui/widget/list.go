package widget

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// List is where the rows of a list stand on the screen, and which of them are in sight.
type List struct {
	layout.Rect
	First int // line of the rect that has the first row in sight
	Top   int // that row
	Rows  int // in sight
}

// Show brings row at of n into sight, in a list that has room for some, and scrolls no further than that takes.
func (l *List) Show(at, n, room int) {
	l.Rows = max(0, min(n, room))
	l.Top = max(0, min(max(l.Top, at-l.Rows+1), at, n-l.Rows))
}

// MoveKeys are the keys that move through a list.
var MoveKeys = []string{"up", "down", "k", "j", "pgup", "pgdown", "home", "end"}

// Move returns the row of n that a key leads to from row at, −1 in an empty list. Other keys stay there.
func (l *List) Move(k string, at, n int) int {
	page := max(1, l.Rows-1)
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
		at = n
	}
	return min(max(0, at), n-1)
}

// Row is the row at a cell of the screen.
func (l *List) Row(x, y int) (row int, ok bool) {
	line := y - l.Y - l.First
	return l.Top + line, l.Contains(x, y) && line >= 0 && line < l.Rows
}

// Span says which of n rows are in sight, "" if all are.
func (l *List) Span(n int) string {
	if n <= l.Rows {
		return ""
	}
	return "  " + format.Count(l.Top+1) + " to " + format.Count(l.Top+l.Rows) + " of " + format.Count(n)
}

// Scroll is a part of a list of rows that is longer than the screen.
type Scroll struct{ top int }

// HandleKey reports whether a key moves the list.
func (s *Scroll) HandleKey(k string, page int) bool {
	switch k {
	case "down", "j":
		s.top++
	case "up", "k":
		s.top--
	case "pgdown", "space":
		s.top += page
	case "pgup":
		s.top -= page
	case "home":
		s.top = 0
	case "end":
		s.top = 1 << 20
	default:
		return false
	}
	return true
}

// Cut returns the rows in sight and what the title says of them.
func (s *Scroll) Cut(rows []string, room int) (shown []string, title string) {
	if len(rows) <= room {
		s.top = 0
		return rows, ""
	}
	s.top = max(0, min(s.top, len(rows)-room))
	return rows[s.top : s.top+room], " · ↑↓ rows " + format.Count(s.top+1) + " to " + format.Count(s.top+room) +
		" of " + format.Count(len(rows))
}

// Window is the list of a dialog, whose rect is in the dialog's own cells.
type Window struct {
	List
	At    int  // the chosen row
	Ticks bool // the space bar ticks the chosen row: enter is for all that are ticked

	all int // rows of the list
}

// Show has the window show at most h of a list's rows, in lines of w columns that begin at line y of the dialog. Of
// another list the chosen row is in the middle. It returns the rows from first to before end.
func (l *Window) Show(at, n, h, y, w int) (first, end int) {
	if n != l.all {
		l.Top = max(0, at-h/2)
	}
	l.List.Show(at, n, h)
	l.At, l.all, l.Rect = at, n, layout.Rect{X: 2, Y: y, W: w, H: l.Rows}
	return l.Top, l.Top + l.Rows
}

// TitleParts leaves out the parts of a title that have no room.
func TitleParts(title []style.Part, room int) []style.Part {
	out := title[:1:1]
	for _, p := range title[1:] {
		if style.Width(out)+style.Cells(p.Text) <= room {
			out = append(out, p)
		}
	}
	return out
}

// CutRows clips rows and says at the end how many are missing.
func CutRows(v *style.Pen, rows []string, n int) []string {
	if len(rows) <= n || n < 2 {
		return style.Clip(rows, n)
	}
	more := "… " + format.Count(len(rows)-n+1) + " more rows on a taller screen"
	return append(rows[:n-1:n-1], v.Line(ansi.StringWidth(rows[n-1])).Write(style.Muted, more).Full())
}

// WheelKey is the key that does the same as the wheel.
func WheelKey(msg tea.MouseWheelMsg) tea.KeyPressMsg {
	if msg.Button == tea.MouseWheelUp {
		return tea.KeyPressMsg{Code: tea.KeyUp}
	}
	return tea.KeyPressMsg{Code: tea.KeyDown}
}
