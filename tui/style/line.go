package style

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Part is text with its meaning.
type Part struct {
	Token Token
	Text  string
}

// Width is the width of parts beside each other.
func Width(parts []Part) int {
	n := 0
	for _, p := range parts {
		n += Cells(p.Text)
	}
	return n
}

// Pen is what everything is drawn with: the inks of a theme and the characters of a glyph set.
type Pen struct {
	Palette *Palette
	Glyphs  *GlyphSet
}

// Line returns an empty line of that many columns. As the screens call it in a thousand places it is not inlined, and
// neither are others below that they call as often: the program would be 80 kB larger.
//
//go:noinline
func (p *Pen) Line(room int) *Line { return &Line{palette: p.Palette, Room: max(room, 0)} }

// Label begins the first row of a strip: a name in a column of its own.
func (v *Pen) Label(l *Line, s string) *Line {
	return l.Write(Text, " ").Write(Muted, s).To(11)
}

// Progress draws a share of w columns as a bar.
func (v *Pen) Progress(l *Line, share float64, w int) {
	w = min(w, l.Left())
	n := int(math.Round(math.Max(0, math.Min(share, 1)) * float64(w)))
	l.Write(Accent, Repeat("━", n)).Write(Grid, Repeat("─", w-n))
}

// Line builds one row of the screen that never gets wider than its room.
type Line struct {
	palette *Palette
	text    strings.Builder
	Width   int
	Room    int
}

// Write appends text in a token's ink, clean, cutting what does not fit.
func (l *Line) Write(t Token, s string) *Line {
	s = Clean(s)
	n := Cells(s)
	if l.Width+n > l.Room {
		s = ansi.Truncate(s, l.Room-l.Width, "")
		n = Cells(s)
	}
	if n == 0 {
		return l
	}
	l.Run(t, s, n)
	return l
}

// Run appends text that is known to fit and to be n columns wide.
func (l *Line) Run(t Token, s string, n int) {
	if n == 0 {
		return
	}
	l.WriteCoded(l.palette.Codes[t], s, n)
}

// WriteCoded appends text that is known to fit and to be n columns wide, after an escape sequence that switches its ink
// on; "" for the terminal's own.
func (l *Line) WriteCoded(color, s string, n int) {
	l.Width += n
	if color == "" || n == 0 {
		l.text.WriteString(s)
		return
	}
	l.text.WriteString(color)
	l.text.WriteString(s)
	l.text.WriteString(ansi.ResetStyle)
}

// Left is how many columns are still free.
func (l *Line) Left() int { return l.Room - l.Width }

// Group appends parts that are only worth showing together.
func (l *Line) Group(parts ...Part) bool {
	n := 0
	for _, p := range parts {
		n += Cells(p.Text)
	}
	if n > l.Left() {
		return false
	}
	for _, p := range parts {
		l.Write(p.Token, p.Text)
	}
	return true
}

// To fills with spaces up to a column.
func (l *Line) To(column int) *Line {
	if n := min(column, l.Room) - l.Width; n > 0 {
		l.text.WriteString(Spaces(n))
		l.Width += n
	}
	return l
}

// Raw appends text that is drawn already and known to be w columns wide.
func (l *Line) Raw(s string, w int) *Line {
	if w > l.Left() {
		s = ansi.Truncate(s, l.Left(), "")
		w = l.Left()
	}
	l.text.WriteString(s)
	l.Width += w
	return l
}

// Append appends what another line holds.
func (l *Line) Append(other *Line) *Line { return l.Raw(other.text.String(), other.Width) }

// Full returns the row filled to its room.
//
//go:noinline
func (l *Line) Full() string { return l.To(l.Room).text.String() }
