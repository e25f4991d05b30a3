package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/krylov"
)

// overlay is what stands in front of the panes.
type overlay uint8

const (
	overlayNone overlay = iota
	overlayHelp
	overlayPicker
)

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
		screen[y+i] = fit(ansi.Truncate(under, x, "")+ansi.ResetStyle+row+ansi.ResetStyle+ansi.TruncateLeft(under, x+bw, ""), w)
	}
}

// boxed frames rows of equal width with a title.
func (t *theme) boxed(title string, rows []string, w int) []string {
	top := t.line(w)
	top.put(tokFocus, "╭─ "+title+" ")
	top.put(tokFocus, repeat("─", top.left()-1)).put(tokFocus, "╮")
	out := []string{top.full()}
	edge := t.line(1)
	edge.put(tokFocus, "│")
	side := edge.full()
	for _, r := range rows {
		out = append(out, side+" "+fit(r, w-4)+" "+side)
	}
	bottom := t.line(w)
	bottom.put(tokFocus, "╰"+repeat("─", w-2)+"╯")
	return append(out, bottom.full())
}

// section is a part of the help: a heading, and rows of what stands for what.
type section struct {
	title string
	rows  [][]part
}

// explain returns a row of a section, with so many columns for what it explains.
func explain(t token, what string, columns int, means string) []part {
	return []part{{t, pad(what, columns)}, {tokText, means}}
}

// help is every key with what it does, and what stands in the panes: in two columns on a wide screen,
// otherwise as much as the height has room for, the keys first.
func (a *App) help(w, h int) []string {
	const title = "keys · esc closes"
	const left, right = 57, 57
	keys, words := a.keySections(), a.wordSections()
	if w >= left+right+6 {
		rows := beside(a.th.stack(keys, left, true), left, a.th.stack(words, right, true))
		return a.th.boxed(title, clip(rows, h-2), left+right+6)
	}
	all := append(keys, words...)
	inner := min(w-6, 62)
	for n := len(all); n >= len(keys); n-- {
		for _, headed := range []bool{true, false} {
			if rows := a.th.stack(all[:n], inner, headed); len(rows) <= h-2 {
				return a.th.boxed(title, rows, inner+4)
			}
		}
	}
	return a.th.boxed(title, clip(a.th.stack(keys, inner, false), max(1, h-2)), inner+4)
}

// stack draws sections one under the other.
func (t *theme) stack(sections []section, w int, headed bool) (rows []string) {
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
			put(part{tokStrong, s.title})
		}
		for _, r := range s.rows {
			put(r...)
		}
	}
	return rows
}

// keySections has the keys by group, as the table of bindings has them.
func (a *App) keySections() (out []section) {
	for _, g := range []string{groupRun, groupView, groupHelp} {
		s := section{title: g}
		for i := range a.bindings {
			if b := &a.bindings[i]; b.group == g {
				s.rows = append(s.rows, explain(tokAccent, b.Help().Key, 10, b.Help().Desc))
			}
		}
		out = append(out, s)
	}
	return out
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
