package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/krylov"
	"newtop/tui/style"
)

// Hint is a key and what it does, in a word or two.
type Hint struct{ key, text string }

func NewHint(key, text string) Hint { return Hint{key: key, text: text} }

// wheel moves through the list that is in front, as the arrows do.
func (a *App) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	switch msg.Button {
	case tea.MouseWheelUp:
		return a.press(tea.KeyPressMsg{Code: tea.KeyUp})
	case tea.MouseWheelDown:
		return a.press(tea.KeyPressMsg{Code: tea.KeyDown})
	}
	return nil
}

// Overlay puts a block of rows, all of one width, over the middle of a screen.
func Overlay(screen, block []string, w int) {
	if len(block) == 0 {
		return
	}
	bw := ansi.StringWidth(block[0])
	x, y := max(0, (w-bw)/2), max(0, (len(screen)-len(block))/2)
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

// DialogBox frames rows with a title, as an overlay.
func DialogBox(t *style.Pen, title string, rows []string, w int) []string {
	return Framed(t, style.Focus, []style.Part{style.Focus.Of(title)}, rows, w)
}

// Framed puts rows, cut and filled to one width, into a frame of w columns with a title.
func Framed(t *style.Pen, ink style.Token, title []style.Part, rows []string, w int) []string {
	top := t.Line(w)
	top.Put(ink, "╭─ ")
	head := t.Line(top.Left() - 2)
	for _, p := range title {
		head.Put(p.Token, p.Text)
	}
	top.Append(head).Put(ink, " ")
	top.Put(ink, style.Repeat("─", top.Left()-1)).Put(ink, "╮")
	out := []string{top.Full()}
	edge := t.Line(1)
	edge.Put(ink, "│")
	side := edge.Full()
	for _, r := range rows {
		out = append(out, side+" "+style.Fit(r, w-4)+" "+side)
	}
	bottom := t.Line(w)
	bottom.Put(ink, "╰"+style.Repeat("─", w-2)+"╯")
	return append(out, bottom.Full())
}

// Section is a part of the help: a heading, and rows of what stands for what.
type Section struct {
	title string
	rows  [][]style.Part
}

// Explain returns a row of a section, with so many columns for what it explains.
func Explain(t style.Token, what string, columns int, means string) []style.Part {
	return []style.Part{t.Of(style.Pad(what, columns)), style.Text.Of(means)}
}

// Sections draws sections one under the other.
func Sections(t *style.Pen, sections []Section, w int, headed bool) (rows []string) {
	put := func(parts ...style.Part) {
		l := t.Line(w)
		for _, p := range parts {
			l.Put(p.Token, p.Text)
		}
		rows = append(rows, l.Full())
	}
	for i, s := range sections {
		if headed && i > 0 {
			put()
		}
		if headed {
			put(style.Strong.Of(s.title))
		}
		for _, r := range s.rows {
			put(r...)
		}
	}
	return rows
}

// wordSections says what the letters, signs and words of the panes mean.
func (a *App) wordSections() []Section {
	stops := Section{title: "why an inner solve ended"}
	for _, s := range krylov.Stops() {
		stops.rows = append(stops.rows, Explain(stopToken(s), string(s.Letter()), 12, s.Words()))
	}
	words := Section{title: "in the panes"}
	for _, r := range [][2]string{
		{"▾ ▴ =", "less, more than an epoch before, the same"},
		{"line", "solid for training rows, dashed for test rows"},
		{"R", "trust-region radius, the longest step allowed"},
		{a.Glyphs.Rho, "actual over predicted reduction; 1 is perfect"},
		{"×", "step rejected, or a value was not finite"},
		{"‖r‖/‖g‖", "residual of the inner solve, 1 at its start"},
		{"‖s‖/R", "length of its step, 1 on the boundary"},
		{"curv, q", "curvature along its direction; promised gain"},
		{a.Glyphs.Lambda + strings.TrimRight(a.Glyphs.Within, " "), "eigenvalue; a true one is within the bound"},
		{"equivalents", "all work in units of one full gradient"},
	} {
		words.rows = append(words.rows, Explain(style.Muted, r[0], 12, r[1]))
	}
	return []Section{stops, words}
}
