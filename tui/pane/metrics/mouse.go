package metrics

import tea "charm.land/bubbletea/v2"

// HandleMouse gets what the mouse does at a cell of what Draw returned, and reports whether it took it: a click selects
// a chart, one on the selected chart gives it all the room, the wheel turns pages, and motion moves the cursor.
func (g *Grid) HandleMouse(m tea.MouseMsg, x, y int) bool {
	if g.whole {
		taken := g.Controls.HandleMouse(m, x, y)
		if taken {
			g.changes++
		}
		return taken
	}
	switch m := m.(type) {
	case tea.MouseWheelMsg:
		switch m.Button {
		case tea.MouseWheelUp:
			g.turn(-1)
		case tea.MouseWheelDown:
			g.turn(1)
		}
		return true
	case tea.MouseClickMsg:
		at := g.under(x, y)
		if m.Button != tea.MouseLeft || at < 0 {
			return false
		}
		if at == g.at {
			g.enter("")
		} else {
			g.choose(at)
		}
		return true
	case tea.MouseMotionMsg:
		if g.Controls.HandleMouse(m, x, y) {
			g.changes++
			return true
		}
	}
	return false
}

// under is the item at a cell, -1 for none.
func (g *Grid) under(x, y int) int {
	if !g.place.Contains(x, y) || g.page >= len(g.pages) {
		return -1
	}
	top := 0
	for _, r := range g.pages[g.page] {
		if y < top+r.h {
			if r.heading {
				return r.first
			}
			if at := r.first + x/(g.wide+gap); at < r.end {
				return at
			}
			return -1
		}
		top += r.h
	}
	return -1
}
