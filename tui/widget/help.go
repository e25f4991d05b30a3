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

// Explained is a section of what stands for what, with that many columns for the first.
func Explained(title string, columns int, rows ...[2]string) Section {
	s := Section{Title: title}
	for _, r := range rows {
		s.Rows = append(s.Rows, Explain(style.Muted, r[0], columns, r[1]))
	}
	return s
}

// SectionsWidth is how many columns sections take whose rows are not broken.
func SectionsWidth(sections []Section) (w int) {
	for _, s := range sections {
		w = max(w, style.Cells(s.Title))
		for _, r := range s.Rows {
			w = max(w, style.Width(r))
		}
	}
	return w
}

// Sections draws sections one under the other, with what is too long in several rows.
func Sections(t *style.Pen, sections []Section, w int) (rows []string) {
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
		if i > 0 {
			put()
		}
		put(style.Strong.Of(s.Title))
		for _, r := range s.Rows {
			n := len(r) - 1
			first, last, indent := r[:n:n], r[n], style.Width(r[:n])
			for _, text := range style.Wrapped(last.Text, max(w-indent, 1)) {
				put(append(first, last.Token.Of(text))...)
				first = []style.Part{last.Token.Of(style.Spaces(indent))}
			}
		}
	}
	return rows
}
