package widget

import (
	"strings"

	"newtop/tui/style"
)

// Hint is a key and what it does, in a word or two.
type Hint struct{ Key, Text string }

// NewHint names a key in the footer.
func NewHint(key, text string) Hint { return Hint{Key: key, Text: text} }

// Section is a part of the help: a heading, and rows of what stands for what.
type Section struct {
	Title string
	Rows  [][]style.Part
}

// Explain returns a row of a section, with that many columns for what it explains.
func Explain(t style.Token, what string, columns int, means string) []style.Part {
	return []style.Part{t.Of(style.Pad(what, columns)), style.Text.Of(means)}
}

// Sections draws sections one under the other.
func Sections(t *style.Pen, sections []Section, w int, headed bool) (rows []string) {
	put := func(parts ...style.Part) {
		l := t.Line(w)
		for i, p := range parts {
			if i == 0 { // the keys
				p.Text = style.Pad(t.Glyphs.Keys(strings.TrimRight(p.Text, " ")), style.Cells(p.Text))
			}
			l.Write(p.Token, p.Text)
		}
		rows = append(rows, l.Full())
	}
	for i, s := range sections {
		if headed && i > 0 {
			put()
		}
		if headed {
			put(style.Strong.Of(s.Title))
		}
		for _, r := range s.Rows {
			put(r...)
		}
	}
	return rows
}
