package desk

import (
	"newtop/internal/format"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// chartedStrip is from how many rows on a strip has a chart.
const chartedStrip = 8

// strip is the screen of a terminal that is too small for panes: how the run is, then its values, what its method does,
// and the keys, as far as there are rows; the focused pane without a frame where there are more.
func strip(a *App) []string {
	w, h := a.Width, a.Height
	v := a.PaneView()
	rows := []string{stripState(a, v, w, h == 1)}
	for _, of := range [][]layout.ID{{layout.Loss, layout.Accuracy}, {layout.Region, layout.Inner, layout.Spectrum}} {
		if len(rows) < h && (h < 3 || len(rows) < 3) {
			if l := stripValues(a, v, w, of...); l.Width > 0 {
				rows = append(rows, l.Full())
			}
		}
	}
	if room := h - len(rows) - layout.FooterRows; h >= chartedStrip {
		rows = append(rows, style.Block(a.Panes[a.Focus].Body(v, w, room, false), w, room)...)
	}
	if h <= len(rows) && a.Dialog == nil && a.Notice.Text == "" { // the keys give way
		return style.Block(rows, w, h)
	}
	return a.Small(rows, Hints(a), screen.InFront(a.Dialog, a))
}

// stripState says what is trained, by what, and how far it is; alone it has the values too.
func stripState(a *App, v *pane.View, w int, alone bool) string {
	l, s := a.Line(w), &a.H.Status
	l.Write(style.Text, " ")
	l.Group(stateParts(a)...)
	if s.Optimizer != "" {
		l.Group(style.Text.Of("  "), style.Strong.Of(style.Clean(s.Optimizer)))
	}
	if a.H.Run != nil {
		epoch := "  " + a.H.Run.Counted() + " " + format.Count(s.Epoch)
		if s.EpochLimit > 0 {
			epoch += " of " + format.Count(s.EpochLimit)
		}
		l.Group(style.Text.Of(epoch))
		if alone {
			l.Write(style.Text, "  ")
			a.Panes[layout.Accuracy].Header(v, l)
		}
		l.Group(style.Muted.Of("  " + format.Clock(elapsed(a))))
		if left := a.H.Remaining(); left == left {
			l.Group(style.Muted.Of("  left "), style.Text.Of(format.Clock(left)))
		}
		l.Group(style.Muted.Of("  " + style.Clean(a.H.Run.Data.Name)))
	}
	if alone && a.Notice.Text != "" {
		l.Group(style.Text.Of("  "), a.Notice)
	}
	return l.Full()
}

// stripValues are the values that stand in the frames of panes.
func stripValues(a *App, v *pane.View, w int, of ...layout.ID) *style.Line {
	l := a.Line(w)
	for _, id := range of {
		if !isBlank(a, id) && !IsIdle(a, id) && l.Group(style.Muted.Of(" "+a.Panes[id].Name(v)+" ")) {
			a.Panes[id].Header(v, l)
			l.Group(style.Text.Of("  "))
		}
	}
	return l
}
