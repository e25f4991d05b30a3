package tuning

import (
	"newtop/tui/layout"
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

// headerRows is how many rows stand over the panes.
const headerRows = 2

// arrange places the panes; none on a screen below the least size. focus has the keys, and side is the chart that is
// shown where not all have room.
func arrange(w, h int, focus, side layout.ID, zoomed bool) []layout.Slot {
	if w < layout.MinWidth || h < layout.MinHeight {
		return nil
	}
	body := layout.Rect{X: 0, Y: headerRows, W: w, H: h - headerRows - layout.FooterRows}
	bare := w < 80 || h < 24
	part := func(percent int) int { return body.H * percent / 100 }
	switch {
	case zoomed:
		return []layout.Slot{{Pane: focus, Rect: body, Bare: bare}}
	case bare:
		top := max(5, part(40))
		return layout.Stack(body, bare, []layout.Row{{H: top, Panes: []layout.ID{side}},
			{H: body.H - top, Panes: []layout.ID{tuneTable}}})
	case w >= 165 && h >= 44:
		return arrangeWide(body)
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

// arrangeWide has the charts over the leaderboard, and what matters and the details beside it.
func arrangeWide(body layout.Rect) []layout.Slot {
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
