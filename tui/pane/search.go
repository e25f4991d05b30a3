package pane

import (
	"unicode/utf8"

	"newtop/internal/format"
	"newtop/tui/style"
)

// search is how far a zoomed list of lines is scrolled, and what its lines are searched for.
type search struct {
	text   string
	typing bool // keys go into the text
	up     int  // lines above the latest
}

// scroll moves by a key among that many lines that were found.
func (s *search) scroll(k string, found int) {
	by := map[string]int{"up": 1, "k": 1, "down": -1, "j": -1, "pgup": 10, "pgdown": -10, "home": found,
		"end": -found}[k]
	s.up = max(0, min(s.up+by, found-1))
}

// line is the bottom row: the keys, or what is typed. more are keys of the list's own.
func (s *search) line(v *View, w, found int, more string) string {
	l := v.Line(w)
	arrows := v.Glyphs.Keys("↑↓")
	switch {
	case s.typing:
		l.Write(style.Accent, "/ ").Write(style.Strong, style.Clean(s.text)).Write(style.Accent, "▏").Write(
			style.Muted, "  "+format.Count(found)+" found · enter keeps · esc ends")
	case s.text != "":
		l.Write(style.Accent, "/ ").Write(style.Strong, style.Clean(s.text)).Write(
			style.Muted, "  "+format.Count(found)+" found · "+arrows+" scroll · esc ends")
	case s.up > 0:
		l.Write(style.Muted, format.Count(s.up)+" newer below · "+arrows+" scroll · end: latest · / search"+more)
	default:
		l.Write(style.Muted, arrows+" scroll · / search"+more)
	}
	return l.Full()
}

// press takes a key of a text that is searched for, while it is typed; scroll moves among what is found.
func (s *search) press(k string, scroll func(k string)) (taken bool) {
	switch {
	case !s.typing:
		return false
	case k == "enter":
		s.typing = false
	case k == "esc":
		*s = search{}
	case k == "backspace" && s.text != "":
		_, n := utf8.DecodeLastRuneInString(s.text)
		s.text = s.text[:len(s.text)-n]
	case k == "space":
		s.text += " "
	case utf8.RuneCountInString(k) == 1:
		s.text, s.up = s.text+k, 0
	case k == "up" || k == "down" || k == "pgup" || k == "pgdown":
		scroll(k)
	}
	return true
}
