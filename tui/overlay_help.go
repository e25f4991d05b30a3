package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/tui/style"
)

// helpOverlay is every key with what it does, and what stands in the panes, scrolled by so many rows.
type helpOverlay struct{ top int }

func (o *helpOverlay) handle(a *App, msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	page := max(1, a.height-5)
	switch k.String() {
	case "esc", "?", "q", "enter":
		a.overlay = nil
	case "down", "j":
		o.top++
	case "up", "k":
		o.top--
	case "pgdown", "space":
		o.top += page
	case "pgup":
		o.top -= page
	case "home", "g":
		o.top = 0
	case "end", "G":
		o.top = 1 << 20
	default:
		a.overlay = nil
		return a.press(k)
	}
	return nil
}

func (o *helpOverlay) hints(*App) []Hint {
	return []Hint{NewHint("esc", "close"), NewHint("↑↓", "scroll"), NewHint(":", "search commands")}
}

// draw puts the keys beside the words on a wide screen, and over them on a narrow one, scrolled.
func (o *helpOverlay) draw(a *App, w, h int) []string {
	const left, right = 57, 57
	keys, words := a.keySections(), a.wordSections()
	var rows []string
	bw := left + right + 6
	if w >= bw {
		if last := len(keys) - 1; len(Sections(&a.Pen, keys, left, true)) > h-2 { // the other column is the shorter one
			keys, words = keys[:last], append(words, keys[last])
		}
		rows = style.Beside(Sections(&a.Pen, keys, left, true), left, Sections(&a.Pen, words, right, true))
	} else {
		bw = min(w-2, 66)
		rows = Sections(&a.Pen, append(keys, words...), bw-4, true)
	}
	room := max(1, h-2)
	title := "help · esc closes"
	if n := len(rows); n > room {
		o.top = max(0, min(o.top, n-room))
		title += " · ↑↓ scroll · rows " + format.Count(o.top+1) + " to " + format.Count(o.top+room) + " of " + format.Count(n)
		rows = rows[o.top : o.top+room]
	} else {
		o.top = 0
	}
	return DialogBox(&a.Pen, title, rows, bw)
}

// idleWhy is why the keys that steer do nothing.
func idleWhy(a *App) string {
	if a.h.viewer {
		return "you are a viewer"
	}
	return "it is only watched"
}

// keySections has the keys by group, as the table of bindings has them, and before them those of what has the
// screen.
func (a *App) keySections() (out []Section) {
	const columns = 10
	own := Section{}
	switch p, ok := a.panes[a.focus].(explained); {
	case a.racing():
		own.title = "in the race"
		for _, h := range a.race.hints(a) {
			if h.key != "?" && h.key != "q" && h.key != "space" {
				own.rows = append(own.rows, Explain(style.Accent, h.key, columns, h.text))
			}
		}
	case ok && a.zoomed:
		own.title = a.panes[a.focus].name(a.paneView()) + ", zoomed"
		for _, k := range p.ownKeys() {
			own.rows = append(own.rows, Explain(style.Accent, k[0], columns, k[1]))
		}
	}
	if len(own.rows) > 0 {
		out = append(out, own)
	}
	for _, g := range groups {
		s := Section{title: g}
		var idle []string
		for i := range a.bindings {
			switch b := &a.bindings[i]; {
			case b.group != g || b.absent(a):
			case replays(a) && b.group == groupRun, a.h.viewer && (b.group == groupRun || b.lacking(a) == viewerOnly):
				idle = append(idle, b.Help().Key)
			default:
				s.rows = append(s.rows, Explain(style.Accent, b.Help().Key, columns, b.Help().Desc))
			}
		}
		if len(idle) > 0 {
			s.rows = append(s.rows, []style.Part{style.Muted.Of(strings.Join(idle, " ") + "  not here: " + idleWhy(a))})
		}
		if len(s.rows) > 0 {
			out = append(out, s)
		}
	}
	return out
}
