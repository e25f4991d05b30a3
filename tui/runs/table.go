package runs

import (
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

const (
	minName = 19  // columns of a name where there is no room
	roomy   = 100 // columns of a list that has room
)

// drawTable has a heading and the rows that have room, around the selected one.
func drawTable(m *Model, r layout.Rect) []string {
	framed := m.Width >= 80 && m.Height >= 18
	at := r
	if framed {
		at = layout.Rect{X: r.X + 2, Y: r.Y + 1, W: r.W - 4, H: r.H - 2}
	}
	name, count := m.table.Column(nameColumn), m.table.Column(countColumn)
	defer func(n, c column) { *name, *count = n, c }(*name, *count)
	if at.W < roomy {
		name.Max, count.Max = minName, 0
	}
	name.Cell = cutName(m.rows[max(0, m.position-r.H):min(m.position+r.H, len(m.rows))])
	rows := m.table.Draw(&m.Pen, at, m.rows, m.position)
	if len(m.rows) == 0 {
		rows = append(rows, m.Line(at.W).Write(style.Muted, "  "+emptyText(m)).Full())
	}
	if !framed {
		return style.Block(rows, r.W, r.H)
	}
	return style.Block(widget.Framed(&m.Pen, style.Focus, widget.TitleParts(title(m), r.W-6),
		style.Block(rows, at.W, at.H), r.W), r.W, r.H)
}

// cutName writes names as they differ from those around them.
func cutName(rows []*row) func(r *row, w int) style.Part {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.name()
	}
	return func(r *row, w int) style.Part { return style.Text.Of(widget.Cut(r.name(), w, names)) }
}

// title names the order, and what is seen of how many.
func title(m *Model) []style.Part {
	out := []style.Part{style.Focus.Of("runs")}
	by := "  latest first"
	if c := m.table.Column(m.table.Sorted); c != nil {
		by = "  by " + c.Title
		if m.table.Reversed {
			by += ", reversed"
		}
	}
	out = append(out, style.Muted.Of(by))
	if span := m.table.Span(len(m.rows)); span != "" {
		out = append(out, style.Muted.Of(span))
	}
	if m.filter.Text != "" {
		out = append(out, style.Accent.Of("  /"+style.Clean(m.filter.Text)))
	}
	return out
}

// emptyWords says why there is no run to see.
func emptyText(m *Model) string {
	switch {
	case !m.read && m.err == nil:
		return "reading"
	case m.filter.Text != "":
		return "no run has /" + style.Clean(m.filter.Text) + ": esc shows all"
	}
	return "no run is recorded yet: newtop and newtop train record every one"
}

// mark writes what stands before a row: whether it is marked, and the sign of a search or a trial.
func drawMark(m *Model, l *style.Line, r *row) {
	if m.marked[r.key] {
		l.Write(style.Accent, "✓")
	}
	sign := " "
	switch {
	case r.sweep != nil && m.opened[r.key]:
		sign = "▾"
	case r.sweep != nil:
		sign = "▸"
	case r.trial:
		sign = "·"
	}
	l.To(2).Write(style.Muted, sign)
}
