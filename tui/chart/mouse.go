package chart

import (
	"math"

	tea "charm.land/bubbletea/v2"
)

// HandleMouse reports whether it took what the mouse did: a click or a movement sets the cursor, dragging moves the
// window, and the wheel zooms around the pointer.
func (cv *Controls) HandleMouse(m tea.MouseMsg, x, y int) bool {
	at := viewportAt(cv.Shown, x, y)
	if at == nil || cv.blank() {
		cv.drag.on = false
		return false
	}
	switch m := m.(type) {
	case tea.MouseClickMsg:
		if m.Button != tea.MouseLeft {
			return false
		}
		cv.drag = drag{on: true, x: x, window: cv.Window}
		return cv.point(at, x)
	case tea.MouseReleaseMsg:
		cv.drag.on = false
		return false
	case tea.MouseMotionMsg:
		if cv.drag.on && cv.Zoomed() {
			return cv.pull(at, x)
		}
		return cv.point(at, x)
	case tea.MouseWheelMsg:
		switch m.Button {
		case tea.MouseWheelUp:
			cv.zoomBy(0.7, at.Value(x))
		case tea.MouseWheelDown:
			cv.zoomBy(1/0.7, at.Value(x))
		case tea.MouseWheelLeft:
			cv.pan(-0.1)
		case tea.MouseWheelRight:
			cv.pan(0.1)
		}
		return true
	}
	return false
}

// viewportAt returns the chart at a cell, nil for none.
func viewportAt(shown []Viewport, x, y int) *Viewport {
	for i := range shown {
		if shown[i].Covers(x, y) {
			return &shown[i]
		}
	}
	return nil
}

// point sets the cursor to the point nearest to a column; false if it is there.
func (cv *Controls) point(at *Viewport, x int) bool {
	near, ok := cv.Main.Find(cv.By, at.Value(x))
	if !ok || cv.LogX && near[cv.By] <= 0 || cv.On && near == cv.Cursor {
		return false
	}
	_, last, _ := cv.Main.Extent()
	cv.On, cv.Cursor, cv.latest = true, near, near == last
	return true
}

// pull moves the window with the pointer.
func (cv *Controls) pull(at *Viewport, x int) bool {
	a := cv.scale()
	left, right := a.across(cv.drag.window[0]), a.across(cv.drag.window[1])
	by := float64(cv.drag.x-x) / math.Max(1, float64(at.W-1)) * (right - left)
	before := cv.Window
	cv.setWindow(left+by, right+by)
	return cv.Window != before
}
