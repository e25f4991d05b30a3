package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/krylov"
)

// overlay is what stands in front of the panes and has the keys.
type overlay interface {
	// handle takes a key or pasted text; it closes the overlay by setting the App's to nil.
	handle(a *App, msg tea.Msg) tea.Cmd
	// draw returns rows of one width, at most h of at most w columns.
	draw(a *App, w, h int) []string
	// hints are the keys that the footer names meanwhile.
	hints(a *App) []hint
}

// hint is a key and what it does, in a word or two.
type hint struct{ key, text string }

func newHint(key, text string) hint { return hint{key: key, text: text} }

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

// lay puts a block of rows, all of one width, over the middle of a screen.
func lay(screen, block []string, w int) {
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
		left, right := fit(ansi.Truncate(under, x, ""), x), ansi.TruncateLeft(under, x+bw, "")
		right = spaces(w-x-bw-ansi.StringWidth(right)) + right
		screen[y+i] = fit(left+ansi.ResetStyle+row+ansi.ResetStyle+right, w)
	}
}

// dialogBox frames rows with a title, as an overlay.
func dialogBox(t *pen, title string, rows []string, w int) []string {
	return withFrame(t, tokFocus, []part{tokFocus.of(title)}, rows, w)
}

// withFrame puts rows, cut and filled to one width, into a frame of w columns with a title.
func withFrame(t *pen, ink token, title []part, rows []string, w int) []string {
	top := t.line(w)
	top.put(ink, "╭─ ")
	head := t.line(top.left() - 2)
	for _, p := range title {
		head.put(p.t, p.s)
	}
	top.raw(head.b.String(), head.w).put(ink, " ")
	top.put(ink, repeat("─", top.left()-1)).put(ink, "╮")
	out := []string{top.full()}
	edge := t.line(1)
	edge.put(ink, "│")
	side := edge.full()
	for _, r := range rows {
		out = append(out, side+" "+fit(r, w-4)+" "+side)
	}
	bottom := t.line(w)
	bottom.put(ink, "╰"+repeat("─", w-2)+"╯")
	return append(out, bottom.full())
}

// section is a part of the help: a heading, and rows of what stands for what.
type section struct {
	title string
	rows  [][]part
}

// explain returns a row of a section, with so many columns for what it explains.
func explain(t token, what string, columns int, means string) []part {
	return []part{t.of(pad(what, columns)), tokText.of(means)}
}

// stackSections draws sections one under the other.
func stackSections(t *pen, sections []section, w int, headed bool) (rows []string) {
	put := func(parts ...part) {
		l := t.line(w)
		for _, p := range parts {
			l.put(p.t, p.s)
		}
		rows = append(rows, l.full())
	}
	for i, s := range sections {
		if headed && i > 0 {
			put()
		}
		if headed {
			put(tokStrong.of(s.title))
		}
		for _, r := range s.rows {
			put(r...)
		}
	}
	return rows
}

// wordSections says what the letters, signs and words of the panes mean.
func (a *App) wordSections() []section {
	stops := section{title: "why an inner solve ended"}
	for _, s := range krylov.Stops() {
		stops.rows = append(stops.rows, explain(stopToken(s), string(s.Letter()), 12, s.Words()))
	}
	words := section{title: "in the panes"}
	for _, r := range [][2]string{
		{"▾ ▴ =", "less, more than an epoch before, the same"},
		{"line", "solid for training rows, dashed for test rows"},
		{"R", "trust-region radius, the longest step allowed"},
		{a.gl.rho, "actual over predicted reduction; 1 is perfect"},
		{"×", "step rejected, or a value was not finite"},
		{"‖r‖/‖g‖", "residual of the inner solve, 1 at its start"},
		{"‖s‖/R", "length of its step, 1 on the boundary"},
		{"curv, q", "curvature along its direction; promised gain"},
		{a.gl.lambda + strings.TrimRight(a.gl.within, " "), "eigenvalue; a true one is within the bound"},
		{"equivalents", "all work in units of one full gradient"},
	} {
		words.rows = append(words.rows, explain(tokMuted, r[0], 12, r[1]))
	}
	return []section{stops, words}
}
