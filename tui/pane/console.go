package pane

import (
	"regexp"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/history"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Console shows the lines that the program which trains has printed, the latest at the bottom. A line that is wider
// than the pane is cut.
type Console struct {
	Linear
	search  search
	version int // lines that there were when it was scrolled, those included that are gone
	left    int // columns that the lines are shifted by
}

var (
	_ Blank     = (*Console)(nil)
	_ Keyed     = (*Console)(nil)
	_ Restarter = (*Console)(nil)
)

// shift is how many columns ← and → go.
const shift = 16

func (*Console) Name(*View) string { return "console" }

func (*Console) Version(h *history.History) uint64 { return h.Console.Gen + h.Gen.Run }

// Blank reports whether there are no lines.
func (*Console) Blank(h *history.History) bool { return len(h.Console.Lines) == 0 }

func (*Console) Header(v *View, l *style.Line) {
	if c := &v.H.Console; len(c.Lines) > 0 {
		l.Group(style.Muted.Of(format.Counted(c.Dropped+len(c.Lines), "line")))
	}
}

func (p *Console) Body(v *View, w, h int, zoomed bool) []string {
	lines := v.H.Console.Lines
	if len(lines) == 0 {
		return []string{v.Line(w).Write(style.Muted, "the program has printed nothing").Full()}
	}
	if !zoomed || h < 3 {
		return p.rows(v, latestOf(len(lines), h), 0, w)
	}
	found := p.matching(v)
	p.follow(v, len(found)-(h-1))
	end := len(found) - p.search.up
	rows := p.rows(v, found[max(0, end-h+1):max(end, 0)], p.left, w)
	for len(rows) < h-1 {
		rows = append(rows, "")
	}
	return append(rows, p.search.line(v, w, len(found), " · "+v.Glyphs.Keys("←→")+" shift"))
}

func (p *Console) Strip(v *View, w, h int) []string { return Indented(p.Body(v, w-2, h, false)) }

// Indented are rows without a frame as far from the screen's edge as those within one.
func Indented(rows []string) []string {
	for i := range rows {
		rows[i] = " " + rows[i]
	}
	return rows
}

// latestOf are the places of the last n of a list.
func latestOf(all, n int) (out []int) {
	for i := max(0, all-n); i < all; i++ {
		out = append(out, i)
	}
	return out
}

// follow keeps what is looked at in its place while lines come, unless it is the latest; most is how far up there are
// lines to see.
func (p *Console) follow(v *View, most int) {
	now := v.H.Console.Dropped + len(v.H.Console.Lines)
	if p.search.up > 0 && p.search.text == "" {
		p.search.up += max(now-p.version, 0)
	}
	p.version, p.search.up = now, max(0, min(p.search.up, most))
}

// matching are the places of the lines that have what is searched for.
func (p *Console) matching(v *View) []int {
	lines := v.H.Console.Lines
	if p.search.text == "" {
		return latestOf(len(lines), len(lines))
	}
	out := make([]int, 0, len(lines))
	for i, s := range lines {
		if widget.Has(s, p.search.text) {
			out = append(out, i)
		}
	}
	return out
}

// rows draws lines from a column on, with a sign at an end beyond which one continues.
func (p *Console) rows(v *View, lines []int, left, w int) []string {
	out := make([]string, len(lines))
	for i, at := range lines {
		text := v.H.Console.Lines[at]
		color := style.Text
		if failure.MatchString(text) {
			color = style.Bad
		}
		l := v.Line(w)
		if left > 0 && text != "" {
			l.Write(style.Muted, "‹")
			text = ansi.TruncateLeft(text, left+1, "")
		}
		if style.Cells(text) > l.Left() {
			l.Write(color, ansi.Truncate(text, l.Left()-1, "")).Write(style.Muted, "›")
		} else {
			l.Write(color, text)
		}
		out[i] = l.Full()
	}
	return out
}

// failure finds what programs print when they fail.
var failure = regexp.MustCompile(`Traceback \(most recent call last\)|\b[A-Za-z_.]*(Error|Exception)\b|` +
	`\b(ERROR|FATAL|CRITICAL|panic:|out of memory|Segmentation fault|Killed)\b|CUDA error|panic:`)

// Search begins to search.
func (p *Console) Search() { p.search = search{typing: true} }

// Restart forgets the place in the lines of a run that is over.
func (p *Console) Restart() { p.search.up, p.left, p.version = 0, 0, 0 }

func (p *Console) scroll(v *View, k string) { p.search.scroll(k, len(p.matching(v))) }

func (p *Console) Keys() []Key {
	return []Key{
		{Do: func(v *View, k string) (tea.Cmd, bool) {
			return nil, p.search.press(k, func(k string) { p.scroll(v, k) })
		}},
		{Show: "↑ ↓", Help: "scroll, as k and j; pgup and pgdn by ten, home and end",
			Names: []string{"up", "down", "k", "j", "pgup", "pgdown", "home", "end"},
			Do: func(v *View, k string) (tea.Cmd, bool) {
				p.scroll(v, k)
				return nil, true
			}},
		{Show: "← →", Help: "shift wide lines", Names: []string{"left", "right"},
			Do: func(_ *View, k string) (tea.Cmd, bool) {
				if p.left -= shift; k == "right" {
					p.left += 2 * shift
				}
				p.left = max(0, min(p.left, 4096))
				return nil, true
			}},
		{Show: "/", Help: "search: type to narrow, enter keeps, esc ends", Names: []string{"esc"},
			Do: func(*View, string) (tea.Cmd, bool) {
				some := p.search.text != "" || p.search.up != 0 || p.left != 0
				p.search, p.left = search{}, 0
				return nil, some
			}},
	}
}
