package render

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"newtop/tui/style"
)

// TestColumns holds the quick count against ansi's, for every character of the first plane and for rows.
func TestColumns(t *testing.T) {
	for r := rune(0x20); r < 0x10000; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		s := "a\x1b[31m" + string(r) + "\x1b[m"
		if got, want := style.Columns(s), ansi.StringWidth(s); got != want {
			t.Errorf("%U takes %d columns, expected %d", r, got, want)
		}
		if style.Narrow(r) && ansi.StringWidth(string(r)) != 1 {
			t.Errorf("%U is not narrow", r)
		}
	}
	for _, s := range []string{"", "\x1b", "\x1b[", "\x1b[3", "\x1b]2;title\x07x", "\x1b[31", "e\u0301", "👩\u200d👩", "\xff\xfe", "日本 ●", "a\tb", "\x1b[1\x1b[mx"} {
		if got, want := style.Columns(s), ansi.StringWidth(s); got != want {
			t.Errorf("%q takes %d columns, expected %d", s, got, want)
		}
	}
}

// emulated is what an emulator shows after some output, with its styles.
func emulated(w, h int, output string) string {
	e := vt.NewEmulator(w, h)
	defer e.Close()
	_, _ = e.WriteString(output)
	return e.Render()
}

// rendered draws frames one after another on a terminal and returns its screen.
func rendered(frames [][]string, w int, profile colorprofile.Profile) string {
	var out bytes.Buffer
	p := NewRenderer(&out, nil, nil)
	p.plain, p.patch.profile = false, profile
	for _, rows := range frames {
		if err := p.Draw(Frame{Rows: rows, Width: w}); err != nil {
			return err.Error()
		}
	}
	return emulated(w, len(frames[len(frames)-1]), out.String())
}

// wholeFrame is a frame as one would write it without looking at the one before.
func wholeFrame(rows []string) string {
	var b strings.Builder
	for y, r := range rows {
		fmt.Fprintf(&b, "\x1b[%d;1H%s\x1b[m", y+1, r)
	}
	return b.String()
}

// TestPatches draws random frames after one another: the terminal shows the last one as if it were the only one.
func TestPatches(t *testing.T) {
	const w, h = 30, 6
	r := rand.New(rand.NewPCG(1, 1))
	pieces := []string{" ", "  ", "a", "bc", "●", "⣿", "─", "\x1b[31m", "\x1b[1m", "\x1b[38;5;110m", "\x1b[38;2;1;2;3m", "\x1b[m", "日", "\x1b[7m \x1b[m"}
	row := func() string {
		var b strings.Builder
		for style.Columns(b.String()) < w-1 {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return style.Fit(b.String()+"\x1b[m", w)
	}
	for range 120 {
		frames := [][]string{make([]string, h)}
		for y := range h {
			frames[0][y] = row()
		}
		for range 1 + r.IntN(4) {
			next := append([]string(nil), frames[len(frames)-1]...)
			for range 1 + r.IntN(4) {
				next[r.IntN(h)] = row()
			}
			frames = append(frames, next)
		}
		last := frames[len(frames)-1]
		if got, want := rendered(frames, w, colorprofile.TrueColor), emulated(w, h, wholeFrame(last)); got != want {
			t.Fatalf("the terminal shows\n%q\nexpected\n%q\nafter %q", got, want, frames)
		}
	}
}

// TestTerminalGivenBack: whatever ends a painter, no mode of the terminal is left on.
func TestTerminalGivenBack(t *testing.T) {
	for name, frames := range map[string][]Frame{
		"end":   {{Rows: []string{"ab"}, Width: 2, Title: "x", Mouse: tea.MouseModeAllMotion}},
		"panic": {{Rows: []string{"ab"}, Width: 2, Mouse: tea.MouseModeCellMotion}, {Rows: []string{"ab", "cd"}, Width: 2, Title: "boom"}},
	} {
		var out bytes.Buffer
		p := NewRenderer(&out, []string{"TERM=xterm"}, nil)
		if name == "panic" {
			p.out = breaking{&out}
		}
		go p.Run()
		for _, f := range frames {
			p.Frames <- f
		}
		if name == "end" {
			close(p.Frames)
		}
		<-p.Ended
		modes := map[string]bool{"7": true, "25": true}
		for _, m := range regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`).FindAllStringSubmatch(out.String(), -1) {
			for mode := range strings.SplitSeq(m[1], ";") {
				modes[mode] = m[2] == "h"
			}
		}
		for mode, on := range modes {
			if on != (mode == "7" || mode == "25") {
				t.Errorf("%s: mode %s is left %v", name, mode, on)
			}
		}
		if !strings.Contains(out.String(), saveTitle) || !strings.Contains(out.String(), oldTitle) {
			t.Errorf("%s: the title is not kept and given back", name)
		}
	}
}

// breaking is a writer that panics once.
type breaking struct{ *bytes.Buffer }

func (b breaking) Write(p []byte) (int, error) {
	n, err := b.Buffer.Write(p)
	if bytes.Contains(p, []byte("boom")) {
		panic("a writer broke")
	}
	return n, err
}

// FuzzPatch has rows that nobody would draw. An emulator shows them as if each were drawn alone, where they are of text
// and styles and the width of the screen.
func FuzzPatch(f *testing.F) {
	const w = 12
	f.Add("abc", "abd")
	f.Add("\x1b[31ma\x1b[mb", "\x1b[1m\x1b[31ma")
	f.Add("日本語", "a日b")
	f.Add("\x1b[", "\x1b]0;x\x07")
	f.Add("", "\xff\xc3\x28")
	f.Add("\x1b[31mab\x1b[1mcd\x1b[mef", "\x1b[31mab\x1b[1mcx\x1b[0mef")
	f.Add("abcdefghijkl", "\x1b[7m   \x1b[m")
	f.Add("0", "\x1b[b0\x1b[m")
	f.Fuzz(func(t *testing.T, was, now string) {
		var p diff
		p.profile = colorprofile.ANSI256
		p.row(0, was, now, false)
		p.row(0, "", now, true)
		was, now = style.Fit(was+"\x1b[m", w), style.Fit(now+"\x1b[m", w)
		_, drawn := cellsOf(nil, was)
		_, draws := cellsOf(nil, now)
		if drawn && draws {
			if got, want := rendered([][]string{{was}, {now}}, w, colorprofile.TrueColor), emulated(w, 1, wholeFrame([]string{now})); got != want {
				t.Errorf("%q after %q shows %q, expected %q", now, was, got, want)
			}
		}
		if style.Columns(now) != ansi.StringWidth(now) {
			t.Errorf("%q: %d columns, expected %d", now, style.Columns(now), ansi.StringWidth(now))
		}
	})
}

// TestColours checks what a terminal is taken to have.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		environ string
		want    colorprofile.Profile
	}{
		{"TERM=xterm-256color COLORTERM=truecolor", colorprofile.TrueColor}, {"TERM=xterm-256color", colorprofile.ANSI256},
		{"TERM=xterm", colorprofile.ANSI}, {"TERM=linux", colorprofile.ANSI}, {"TERM=vt100", colorprofile.ASCII}, {"TERM=vt220", colorprofile.ASCII},
		{"TERM=dumb", colorprofile.ASCII}, {"", colorprofile.ASCII}, {"TERM=xterm-256color COLORTERM=truecolor NO_COLOR=yes", colorprofile.ASCII},
		{"TERM=tmux-256color COLORTERM=truecolor TMUX=/x", colorprofile.ANSI256},
	} {
		if got := style.ColorProfile(strings.Fields(c.environ)); got != c.want {
			t.Errorf("%s: %v, expected %v", c.environ, got, c.want)
		}
	}
}
