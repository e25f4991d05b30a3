// Package widget has the pieces that dialogs and lists of all screens are made of: frames, scrolled rows, text fields,
// the sections of a help and the search in a list.
package widget

import (
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/layout"
	"newtop/tui/style"
)

// Framed puts rows, cut and filled to one width, into a frame of w columns with a title.
func Framed(t *style.Pen, color style.Token, title []style.Part, rows []string, w int) []string {
	top := t.Line(w)
	top.Write(color, "╭─ ")
	head := t.Line(top.Left() - 2)
	for _, p := range title {
		head.Write(p.Token, p.Text)
	}
	top.Append(head).Write(color, " ")
	top.Write(color, style.Repeat("─", top.Left()-1)).Write(color, "╮")
	out := []string{top.Full()}
	edge := t.Line(1)
	edge.Write(color, "│")
	side := edge.Full()
	for _, r := range rows {
		out = append(out, side+" "+style.Fit(r, w-4)+" "+side)
	}
	bottom := t.Line(w)
	bottom.Write(color, "╰"+style.Repeat("─", w-2)+"╯")
	return append(out, bottom.Full())
}

// DialogBox frames rows with a title, as a dialog.
func DialogBox(t *style.Pen, title string, rows []string, w int) []string {
	return Framed(t, style.Focus, []style.Part{style.Focus.Of(title)}, rows, w)
}

// Centered is where Overlay puts a block on a screen of w × h.
func Centered(block []string, w, h int) layout.Rect {
	if len(block) == 0 {
		return layout.Rect{}
	}
	bw := ansi.StringWidth(block[0])
	return layout.Rect{X: max(0, (w-bw)/2), Y: max(0, (h-len(block))/2), W: bw, H: len(block)}
}

// Overlay puts a block of rows, all of one width, over the middle of a screen.
func Overlay(screen, block []string, w int) {
	at := Centered(block, w, len(screen))
	x, y, bw := at.X, at.Y, at.W
	for i, row := range block {
		if y+i >= len(screen) {
			return
		}
		under := screen[y+i]
		// A wide character under an edge is cut in two: spaces take the place of its half.
		left, right := style.Fit(ansi.Truncate(under, x, ""), x), ansi.TruncateLeft(under, x+bw, "")
		right = style.Spaces(w-x-bw-ansi.StringWidth(right)) + right
		screen[y+i] = style.Fit(left+ansi.ResetStyle+row+ansi.ResetStyle+right, w)
	}
}
