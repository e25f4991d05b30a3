package tui

import (
	"strings"

	"newtop/tui/style"
)

// tunePane names a pane of a search; the order is that of tab.
type tunePane uint8

const (
	tuneTable    tunePane = iota // the leaderboard
	tuneProgress                 // what the search found, over its time
	tuneCurves                   // the trials' learning curves
	tuneSlice                    // what was found, over one hyperparameter
	tuneMatters                  // which of them matter
	tunePanes
	tuneDetails // all of the selected trial, without keys
)

// tunePlace is a pane's place on the screen.
type tunePlace struct {
	pane tunePane
	rect
	bare bool // without a frame
}

// tuneHeader is how many rows stand over the panes.
const tuneHeader = 2

// tuneLayout places the panes; none on a screen below the least size. focus has the keys, and side is the chart that is
// shown where not all have room.
func tuneLayout(w, h int, focus, side tunePane, zoomed bool) []tunePlace {
	if w < minWidth || h < minHeight {
		return nil
	}
	body := rect{0, tuneHeader, w, h - tuneHeader - footerRows}
	bare := w < 80 || h < 24
	part := func(percent int) int { return body.h * percent / 100 }
	switch {
	case zoomed:
		return []tunePlace{{focus, body, bare}}
	case bare:
		top := max(5, part(40))
		return stackOf(body, bare, []tuneBand{{top, []tunePane{side}}, {body.h - top, []tunePane{tuneTable}}})
	case w >= 165 && h >= 44:
		return tuneWide(body)
	case h >= 34:
		top, low := part(35), part(29)
		return stackOf(body, bare, []tuneBand{{top, []tunePane{tuneProgress, tuneCurves}}, {body.h - top - low, []tunePane{tuneTable}},
			{low, []tunePane{tuneSlice, tuneMatters}}})
	case w >= 150:
		top := part(45)
		return stackOf(body, bare, []tuneBand{{top, []tunePane{tuneProgress, tuneCurves, tuneSlice, tuneMatters}}, {body.h - top, []tunePane{tuneTable}}})
	}
	top := part(43)
	pair := []tunePane{tuneProgress, side}
	if side == tuneProgress {
		pair[1] = tuneSlice
	}
	return stackOf(body, bare, []tuneBand{{top, pair}, {body.h - top, []tunePane{tuneTable}}})
}

// tuneWide has the charts over the leaderboard, and what matters and the details beside it.
func tuneWide(body rect) []tunePlace {
	top := body.h * 40 / 100
	out := stackOf(rect{body.x, body.y, body.w, top}, false, []tuneBand{{top, []tunePane{tuneProgress, tuneCurves, tuneSlice}}})
	side := body.w * 34 / 100
	rest := rect{body.x, body.y + top, body.w - side, body.h - top}
	out = append(out, stackOf(rest, false, []tuneBand{{rest.h, []tunePane{tuneTable}}})...)
	matters := min(12, rest.h*2/5)
	return append(out, stackOf(rect{rest.x + rest.w, rest.y, side, rest.h}, false,
		[]tuneBand{{matters, []tunePane{tuneMatters}}, {rest.h - matters, []tunePane{tuneDetails}}})...)
}

// tuneBand is a row of panes of equal widths.
type tuneBand struct {
	h     int
	panes []tunePane
}

// stackOf puts bands under one another.
func stackOf(r rect, bare bool, bands []tuneBand) (out []tunePlace) {
	y := r.y
	for _, b := range bands {
		shares := make([]int, len(b.panes))
		for i := range shares {
			shares[i] = 1
		}
		x := r.x
		for i, w := range divide(r.w, shares) {
			out = append(out, tunePlace{b.panes[i], rect{x, y, w, b.h}, bare})
			x += w
		}
		y += b.h
	}
	return out
}

// joined puts the rows of places together that cover h rows of the screen from top on.
func joined(places []tunePlace, drawn [][]string, w, top, h int) []string {
	rows := make([]string, h)
	for y := range rows {
		var b strings.Builder
		for x := 0; x < w; {
			next := w
			for i := range places {
				if p := &places[i]; p.contains(x, y+top) {
					b.WriteString(drawn[i][y+top-p.y])
					next = p.x + p.w
					break
				}
			}
			x = next
		}
		rows[y] = b.String()
	}
	return rows
}

// pane draws one of them: exactly its rectangle.
func (m *tuning) pane(p *tunePlace) []string {
	at := rect{p.x + 2, p.y + 1, p.w - 4, p.h - 2}
	if p.bare {
		at = rect{p.x + 1, p.y + 1, p.w - 1, p.h - 1}
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
