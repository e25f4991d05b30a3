package tui

import (
	"charm.land/bubbles/v2/key"
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

// help is every key with what it does, and what the letters of the inner pane mean, in as many columns as
// the height needs.
func (a *App) help(w, h int) []string {
	groups, of := a.helpGroups()
	var rows []string
	put := func(parts ...part) {
		l := a.th.line(min(w-6, 62))
		for _, p := range parts {
			l.put(p.t, p.s)
		}
		rows = append(rows, l.full())
	}
	legend := len(krylov.Stops()) + 1
	total := len(a.bindings) + len(groups) + legend
	roomy := h-4 >= total+len(groups)
	for i, g := range groups {
		if roomy && i > 0 {
			put()
		}
		if roomy {
			put(part{tokStrong, g})
		}
		for _, k := range of[g] {
			put(helpKey(k)...)
		}
	}
	if roomy {
		put()
		put(part{tokStrong, "why an inner solve ended"})
	}
	if roomy || h-4 >= len(rows)+legend {
		for _, s := range krylov.Stops() {
			put(part{stopToken(s), pad(string(s.Letter()), 9)}, part{tokText, s.Words()})
		}
	}
	if most := max(1, h-2); len(rows) > most {
		rows = rows[:most]
	}
	return a.th.boxed("keys · esc closes", rows, min(w-2, 66))
}

func helpKey(k key.Help) []part {
	return []part{{tokAccent, pad(k.Key, 9)}, {tokText, k.Desc}}
}
