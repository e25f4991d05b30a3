package tui

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// logSearch is how far the zoomed log is scrolled, and what its rows are searched for.
type logSearch struct {
	text   string
	typing bool // keys go into the text
	up     int  // entries above the newest
}

// searchLog gives the log the screen and the keys.
func (a *App) searchLog() tea.Cmd {
	p, ok := a.panes[layout.Log].(*Log)
	if !ok {
		return nil
	}
	a.focus = layout.Log
	p.search = logSearch{typing: true}
	a.Changes++
	return a.zoom(true)
}

func (p *Log) restart() { p.search.up = 0 }

func (p *Log) scroll(v *View, k string) {
	by := map[string]int{"up": 1, "down": -1, "pgup": 10, "pgdown": -10, "home": len(v.H.Log.Entries), "end": -len(v.H.Log.Entries)}[k]
	p.search.up = max(0, min(p.search.up+by, len(p.matching(v))-1))
}

// matching lists the entries that have what is searched for.
func (p *Log) matching(v *View) []int {
	out := make([]int, 0, len(v.H.Log.Entries))
	for i := range v.H.Log.Entries {
		e := &v.H.Log.Entries[i]
		if p.search.text == "" || widget.Has(e.Text, p.search.text) || e.Text == "" && widget.Has(v.epochWords(e), p.search.text) {
			out = append(out, i)
		}
	}
	return out
}

// epochWords are the words that find an epoch's figures.
func (v *View) epochWords(e *history.Entry) string {
	s := "epoch " + format.Count(e.Epoch) + " " + e.Stats.Optimizer
	if e.Stop != 0 {
		s += " " + e.Stop.Words()
	}
	if !e.Stats.Accepted && v.H.HasVerdict(&e.Stats) {
		s += " rejected"
	}
	return s
}

// searchLine is the bottom row of the zoomed log: its keys, or what is typed.
func (p *Log) searchLine(v *View, w int) string {
	l, s := v.Line(w), &p.search
	n := len(p.matching(v))
	switch {
	case s.typing:
		l.Put(style.Accent, "/ ").Put(style.Strong, style.Clean(s.text)).Put(style.Accent, "▏").Put(style.Muted, "  "+format.Count(n)+" found · enter keeps · esc ends")
	case s.text != "":
		l.Put(style.Accent, "/ ").Put(style.Strong, style.Clean(s.text)).Put(style.Muted, "  "+format.Count(n)+" found · ↑↓ scroll · esc ends")
	case s.up > 0:
		l.Put(style.Muted, format.Count(s.up)+" newer below · ↑↓ scroll · end: newest · / search")
	default:
		l.Put(style.Muted, "↑↓ scroll · / search")
	}
	return l.Full()
}

func (p *Log) keys() []Key {
	return []Key{
		{Do: p.typed},
		{"↑ ↓", "scroll; pgup and pgdn by ten, home and end", []string{"up", "down", "pgup", "pgdown", "home", "end"}, func(v *View, k string) (tea.Cmd, bool) {
			p.scroll(v, k)
			return nil, true
		}},
		{"/", "search: type to narrow, enter keeps, esc ends", []string{"esc"}, func(*View, string) (tea.Cmd, bool) {
			some := p.search.text != "" || p.search.up != 0
			p.search = logSearch{}
			return nil, some
		}},
	}
}

// typed takes the keys of a text that is searched for, while it is typed.
func (p *Log) typed(v *View, k string) (tea.Cmd, bool) {
	s := &p.search
	switch {
	case !s.typing:
		return nil, false
	case k == "enter":
		s.typing = false
	case k == "esc":
		*s = logSearch{}
	case k == "backspace" && s.text != "":
		_, n := utf8.DecodeLastRuneInString(s.text)
		s.text = s.text[:len(s.text)-n]
	case k == "space":
		s.text += " "
	case utf8.RuneCountInString(k) == 1:
		s.text, s.up = s.text+k, 0
	case k == "up" || k == "down" || k == "pgup" || k == "pgdown":
		p.scroll(v, k)
	}
	return nil, true
}
