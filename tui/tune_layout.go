package tui

import "newtop/tui/style"

// The panes of a search, in the order of tab.
const (
	tuneTable    ID = iota // the leaderboard
	tuneProgress           // what the search found, over its time
	tuneCurves             // the trials' learning curves
	tuneSlice              // what was found, over one hyperparameter
	tuneMatters            // which of them matter
	tunePanes
	tuneDetails // all of the selected trial, without keys
)

// tuneHeader is how many rows stand over the panes.
const tuneHeader = 2

// tuneLayout places the panes; none on a screen below the least size. focus has the keys, and side is the chart that is
// shown where not all have room.
func tuneLayout(w, h int, focus, side ID, zoomed bool) []Place {
	if w < MinWidth || h < MinHeight {
		return nil
	}
	body := Rect{0, tuneHeader, w, h - tuneHeader - FooterRows}
	bare := w < 80 || h < 24
	part := func(percent int) int { return body.h * percent / 100 }
	switch {
	case zoomed:
		return []Place{{pane: focus, Rect: body, bare: bare}}
	case bare:
		top := max(5, part(40))
		return Stack(body, bare, []Row{{top, []ID{side}}, {body.h - top, []ID{tuneTable}}})
	case w >= 165 && h >= 44:
		return tuneWide(body)
	case h >= 34:
		top, low := part(35), part(29)
		return Stack(body, bare, []Row{{top, []ID{tuneProgress, tuneCurves}}, {body.h - top - low, []ID{tuneTable}},
			{low, []ID{tuneSlice, tuneMatters}}})
	case w >= 150:
		top := part(45)
		return Stack(body, bare, []Row{{top, []ID{tuneProgress, tuneCurves, tuneSlice, tuneMatters}}, {body.h - top, []ID{tuneTable}}})
	}
	top := part(43)
	pair := []ID{tuneProgress, side}
	if side == tuneProgress {
		pair[1] = tuneSlice
	}
	return Stack(body, bare, []Row{{top, pair}, {body.h - top, []ID{tuneTable}}})
}

// tuneWide has the charts over the leaderboard, and what matters and the details beside it.
func tuneWide(body Rect) []Place {
	top := body.h * 40 / 100
	out := Stack(Rect{body.x, body.y, body.w, top}, false, []Row{{top, []ID{tuneProgress, tuneCurves, tuneSlice}}})
	side := body.w * 34 / 100
	rest := Rect{body.x, body.y + top, body.w - side, body.h - top}
	out = append(out, Stack(rest, false, []Row{{rest.h, []ID{tuneTable}}})...)
	matters := min(12, rest.h*2/5)
	return append(out, Stack(Rect{rest.x + rest.w, rest.y, side, rest.h}, false,
		[]Row{{matters, []ID{tuneMatters}}, {rest.h - matters, []ID{tuneDetails}}})...)
}

// pane draws one of them: exactly its rectangle.
func (m *tuning) pane(p *Place) []string {
	at := Rect{p.x + 2, p.y + 1, p.w - 4, p.h - 2}
	if p.bare {
		at = Rect{p.x + 1, p.y + 1, p.w - 1, p.h - 1}
	}
	var title []style.Part
	var rows []string
	switch p.pane {
	case tuneTable:
		title, rows = m.drawTable(at)
	case tuneProgress:
		title, rows = m.drawProgress(at)
	case tuneCurves:
		title, rows = m.drawCurves(at)
	case tuneSlice:
		title, rows = m.drawSlice(at)
	case tuneMatters:
		title, rows = m.drawMatters(at)
	case tuneDetails:
		title, rows = []style.Part{style.Strong.Of("selected")}, m.details(at.w)
	}
	rows = style.Block(rows, at.w, at.h)
	if !p.bare {
		ink := style.Border
		if p.pane == m.focus {
			ink, title[0].Token = style.Focus, style.Focus
		}
		return withFrame(&m.Pen, ink, roomFor(title, p.w-6), rows, p.w)
	}
	arrow := " "
	if p.pane == m.focus {
		arrow = "▸"
	}
	l := m.Line(p.w).Put(style.Focus, arrow)
	for _, t := range roomFor(title, p.w-2) {
		l.Put(t.Token, t.Text)
	}
	out := []string{l.Full()}
	for _, row := range rows {
		out = append(out, " "+row)
	}
	return out
}

// roomFor leaves out the parts of a title that have no room.
func roomFor(title []style.Part, room int) []style.Part {
	out := title[:1:1]
	for _, p := range title[1:] {
		if style.Width(out)+style.Cells(p.Text) <= room {
			out = append(out, p)
		}
	}
	return out
}
