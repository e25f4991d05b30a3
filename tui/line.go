package tui

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// token names what a piece of the screen means; the theme alone knows how that looks.
type token uint8

const (
	tokText   token = iota // what is read
	tokStrong              // what is read first
	tokMuted               // units, labels, hints
	tokBorder              // frames
	tokGrid                // axes and guide lines
	tokFocus               // the frame that has the keys
	tokAccent              // keys, the current choice
	tokTrain               // of the training rows
	tokTest                // of the test rows
	tokGood                // accepted, running, done
	tokWarn                // paused, rejected, refused
	tokBad                 // diverged, not finite, negative
	tokAlarm               // a whole line that must not be overlooked
	tokDone                // a whole line that closes a run
	tokChosen              // the highlighted row of a list
	tokNegativeCurvature
	tokBoundary
	tokResidual
	tokLimit
	tokInterrupted
	tokNotFinite
	tokenCount
)

// of is text that means this.
func (t token) of(s string) part { return part{t: t, s: s} }

// part is text with its meaning.
type part struct {
	t token
	s string
}

func width(parts []part) int {
	n := 0
	for _, p := range parts {
		n += cells(p.s)
	}
	return n
}

// pen is what everything is drawn with: the inks of a theme and the characters of a glyph set.
type pen struct {
	th *theme
	gl *glyphs
}

func (p *pen) line(room int) *line { return &line{th: p.th, room: max(room, 0)} }

// label begins the first row of a strip: a name in a column of its own.
func (v *pen) label(l *line, s string) *line {
	return l.put(tokText, " ").put(tokMuted, s).to(11)
}

// progress draws a share of w columns as a bar.
func (v *pen) progress(l *line, share float64, w int) {
	w = min(w, l.left())
	n := int(math.Round(math.Max(0, math.Min(share, 1)) * float64(w)))
	l.put(tokAccent, repeat("━", n)).put(tokGrid, repeat("─", w-n))
}

// line builds one row of the screen that never gets wider than its room.
type line struct {
	th   *theme
	b    strings.Builder
	w    int
	room int
}

// put appends text in a token's ink, cutting what does not fit.
func (l *line) put(t token, s string) *line {
	n := cells(s)
	if l.w+n > l.room {
		s = ansi.Truncate(s, l.room-l.w, "")
		n = cells(s)
	}
	if n == 0 {
		return l
	}
	l.run(t, s, n)
	return l
}

// run appends text that is known to fit and to be n columns wide.
func (l *line) run(t token, s string, n int) {
	if n == 0 {
		return
	}
	l.inked(l.th.ink[t], s, n)
}

// inked appends text that is known to fit and to be n columns wide, after an escape sequence that switches its ink on;
// "" for the terminal's own.
func (l *line) inked(ink, s string, n int) {
	l.w += n
	if ink == "" || n == 0 {
		l.b.WriteString(s)
		return
	}
	l.b.WriteString(ink)
	l.b.WriteString(s)
	l.b.WriteString(ansi.ResetStyle)
}

// left is how many columns are still free.
func (l *line) left() int { return l.room - l.w }

// group appends parts that are only worth showing together.
func (l *line) group(parts ...part) bool {
	n := 0
	for _, p := range parts {
		n += cells(p.s)
	}
	if n > l.left() {
		return false
	}
	for _, p := range parts {
		l.put(p.t, p.s)
	}
	return true
}

// to fills with spaces up to a column.
func (l *line) to(column int) *line {
	if n := min(column, l.room) - l.w; n > 0 {
		l.b.WriteString(spaces(n))
		l.w += n
	}
	return l
}

// raw appends text that is drawn already and known to be w columns wide.
func (l *line) raw(s string, w int) *line {
	if w > l.left() {
		s = ansi.Truncate(s, l.left(), "")
		w = l.left()
	}
	l.b.WriteString(s)
	l.w += w
	return l
}

// full returns the row filled to its room.
func (l *line) full() string { return l.to(l.room).b.String() }

// racerInks tell the racers apart, together with their letters and with every second line dashed.
var racerInks = [...]token{tokTrain, tokTest, tokResidual, tokNegativeCurvature, tokLimit, tokText, tokNotFinite, tokMuted}

func racerInk(i int) token { return racerInks[i%len(racerInks)] }

func racerLetter(i int) string { return string(rune('A' + i%26)) }
