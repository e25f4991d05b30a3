package widget

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/layout"
	"newtop/tui/style"
)

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
	case "home", "g":
		s.top = 0
	case "end", "G":
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

// Window is the part of a list that a dialog shows, and where in the dialog.
type Window struct {
	layout.Rect
	First int  // row of the list that the first line has
	At    int  // the chosen one
	Ticks bool // the space bar ticks the chosen row: enter is for all that are ticked

	rows int // of the list
	held bool
}

// Show has the window show at most h of a list's rows with the chosen one in the middle, in lines of w columns that
// begin at line y of the dialog. It returns the rows from first to before end.
func (l *Window) Show(at, rows, h, y, w int) (first, end int) {
	if l.held = l.held && at == l.At && rows == l.rows; !l.held {
		l.First = at - h/2
	}
	l.First = max(0, min(l.First, rows-h))
	end = min(l.First+h, rows)
	l.At, l.rows, l.Rect = at, rows, layout.Rect{X: 2, Y: y, W: w, H: end - l.First}
	return l.First, end
}

// Hold keeps the window where it is while a row of it that was clicked is the chosen one, so that the row stays under
// the mouse.
func (l *Window) Hold(row int) { l.At, l.held = row, true }

// TableView is where the table of the runs stands on the screen and which of them it shows.
type TableView struct {
	layout.Rect
	First int // row of the rect that has the best run in sight
	Top   int // of the ranking
	Rows  int
}

const ColumnGap = 2 // between columns

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
	return append(rows[:n-1:n-1], v.Line(ansi.StringWidth(rows[n-1])).Put(style.Muted, more).Full())
}

// WheelKey is the key that does the same as the wheel.
func WheelKey(msg tea.MouseWheelMsg) tea.KeyPressMsg {
	if msg.Button == tea.MouseWheelUp {
		return tea.KeyPressMsg{Code: tea.KeyUp}
	}
	return tea.KeyPressMsg{Code: tea.KeyDown}
}
