package tuning

import (
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// The panes of a search, in the order of tab.
const (
	tuneTable    layout.ID = iota // the leaderboard
	tuneProgress                  // what the search found, over its time
	tuneCurves                    // the trials' learning curves
	tuneSlice                     // what was found, over one hyperparameter
	tuneMatters                   // which of them matter
	tunePanes
	tuneDetails // all of the selected trial, without keys
)

// tuneHeader is how many rows stand over the panes.
const tuneHeader = 2

// tuneLayout places the panes; none on a screen below the least size. focus has the keys, and side is the chart that is
// shown where not all have room.
func tuneLayout(w, h int, focus, side layout.ID, zoomed bool) []layout.Place {
	if w < layout.MinWidth || h < layout.MinHeight {
		return nil
	}
	body := layout.Rect{X: 0, Y: tuneHeader, W: w, H: h - tuneHeader - layout.FooterRows}
	bare := w < 80 || h < 24
	part := func(percent int) int { return body.H * percent / 100 }
	switch {
	case zoomed:
		return []layout.Place{{Pane: focus, Rect: body, Bare: bare}}
	case bare:
		top := max(5, part(40))
		return layout.Stack(body, bare, []layout.Row{{H: top, Panes: []layout.ID{side}},
			{H: body.H - top, Panes: []layout.ID{tuneTable}}})
	case w >= 165 && h >= 44:
		return tuneWide(body)
	case h >= 34:
		top, low := part(35), part(29)
		return layout.Stack(body, bare, []layout.Row{{H: top, Panes: []layout.ID{tuneProgress, tuneCurves}},
			{H: body.H - top - low, Panes: []layout.ID{tuneTable}},
			{H: low, Panes: []layout.ID{tuneSlice, tuneMatters}}})
	case w >= 150:
		top := part(45)
		return layout.Stack(body, bare, []layout.Row{{H: top,
			Panes: []layout.ID{tuneProgress, tuneCurves, tuneSlice, tuneMatters}},
			{H: body.H - top, Panes: []layout.ID{tuneTable}}})
	}
	top := part(43)
	pair := []layout.ID{tuneProgress, side}
	if side == tuneProgress {
		pair[1] = tuneSlice
	}
	return layout.Stack(body, bare, []layout.Row{{H: top, Panes: pair},
		{H: body.H - top, Panes: []layout.ID{tuneTable}}})
}

// tuneWide has the charts over the leaderboard, and what matters and the details beside it.
func tuneWide(body layout.Rect) []layout.Place {
	top := body.H * 40 / 100
	out := layout.Stack(layout.Rect{X: body.X, Y: body.Y, W: body.W, H: top}, false,
		[]layout.Row{{H: top, Panes: []layout.ID{tuneProgress, tuneCurves, tuneSlice}}})
	side := body.W * 34 / 100
	rest := layout.Rect{X: body.X, Y: body.Y + top, W: body.W - side, H: body.H - top}
	out = append(out, layout.Stack(rest, false, []layout.Row{{H: rest.H, Panes: []layout.ID{tuneTable}}})...)
	matters := min(12, rest.H*2/5)
	return append(out, layout.Stack(layout.Rect{X: rest.X + rest.W, Y: rest.Y, W: side, H: rest.H}, false,
		[]layout.Row{{H: matters, Panes: []layout.ID{tuneMatters}},
			{H: rest.H - matters, Panes: []layout.ID{tuneDetails}}})...)
}

// drawPane draws one of them: exactly its rectangle.
func drawPane(m *model, p *layout.Place) []string {
	at := layout.Rect{X: p.X + 2, Y: p.Y + 1, W: p.W - 4, H: p.H - 2}
	if p.Bare {
		at = layout.Rect{X: p.X + 1, Y: p.Y + 1, W: p.W - 1, H: p.H - 1}
	}
	var title []style.Part
	var rows []string
	switch p.Pane {
	case tuneTable:
		title, rows = drawTable(m, at)
	case tuneProgress:
		title, rows = drawProgress(m, at)
	case tuneCurves:
		title, rows = drawCurves(m, at)
	case tuneSlice:
		title, rows = drawSlice(m, at)
	case tuneMatters:
		title, rows = drawMatters(m, at)
	case tuneDetails:
		title, rows = []style.Part{style.Strong.Of("selected")}, details(m, at.W)
	}
	rows = style.Block(rows, at.W, at.H)
	if !p.Bare {
		ink := style.Border
		if p.Pane == m.focus {
			ink, title[0].Token = style.Focus, style.Focus
		}
		return widget.Framed(&m.Pen, ink, widget.TitleParts(title, p.W-6), rows, p.W)
	}
	arrow := " "
	if p.Pane == m.focus {
		arrow = "▸"
	}
	l := m.Line(p.W).Put(style.Focus, arrow)
	for _, t := range widget.TitleParts(title, p.W-2) {
		l.Put(t.Token, t.Text)
	}
	out := []string{l.Full()}
	for _, row := range rows {
		out = append(out, " "+row)
	}
	return out
}
