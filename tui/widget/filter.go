package widget

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// Filter is a text that narrows a list as it is typed.
type Filter struct {
	Text   string
	Typing bool // keys go into it
}

// Passes lists the keys that move through the list while a filter is typed.
var passes = []string{"up", "down", "pgup", "pgdown", "home", "end"}

// HandleKey edits the filter. passed says that the key is for the list.
func (f *Filter) HandleKey(k, text string) (passed bool) {
	switch {
	case k == "enter":
		f.Typing = false
	case k == "esc":
		f.Typing, f.Text = false, ""
	case k == "backspace" && f.Text != "":
		_, n := utf8.DecodeLastRuneInString(f.Text)
		f.Text = f.Text[:len(f.Text)-n]
	case k == "ctrl+u":
		f.Text = ""
	case k == "space":
		f.Add(" ")
	case slices.Contains(passes, k):
		return true
	case text != "" && k != "tab":
		f.Add(text)
	}
	return false
}

// Add appends what was typed or pasted.
func (f *Filter) Add(text string) {
	const longest = 200
	r := []rune(f.Text + text)
	f.Text = string(r[:min(len(r), longest)])
}

// Line is the filter while it is typed, and how many there are.
func (f *Filter) Line(v *style.Pen, w int, count string) string {
	l := v.Line(w).Write(style.Accent, " / ")
	about := " " + count + " · enter keeps · esc ends"
	text := style.Clean(f.Text)
	if over := style.Cells(text) - max(8, w-style.Cells(about)-5); over > 0 {
		text = ansi.TruncateLeft(text, over+1, "…")
	}
	return l.Write(style.Strong, text).Write(style.Accent, "▏").Write(style.Muted, about).Full()
}

// Matches reports whether a text in small letters has all of some words, and none of those with a minus before them.
func Matches(text string, words []string) bool {
	for _, w := range words {
		word, without := strings.CutPrefix(w, "-")
		if word != "" && strings.Contains(text, word) == without {
			return false
		}
	}
	return true
}
