package dashboard

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/render"
	"newtop/tui/screen"
)

// TestPaintedScreens draws the screens of a run as they follow one another.
func TestPaintedScreens(t *testing.T) {
	const w, h = 100, 30
	a := newTest(tuitest.Script{Epochs: 20, Spectra: true}, screen.Options{}, w, h)
	var frames [][]string
	for _, k := range []string{"z", "esc", "?", "esc", "tab", ":", "a", "esc", "T", "T", "T", "o", "esc"} {
		press(a, k)
		frames = append(frames, a.Finished(a.Rows()))
		if got, want := painted(t, frames, w, colorprofile.TrueColor), terminalOf(w, h, whole(frames[len(frames)-1])); got != want {
			t.Fatalf("after %q the terminal shows\n%s\nexpected\n%s", k, ansi.Strip(got), ansi.Strip(want))
		}
	}
	if got := painted(t, frames, w, colorprofile.ASCII); colour.MatchString(got) {
		t.Error("colours on a terminal without")
	}
	var out bytes.Buffer
	p := render.NewRenderer(&out, []string{"TERM=xterm-256color"}, nil)
	f := render.Frame{Rows: frames[0], Width: w}
	if p.Draw(f); out.Len() == 0 || strings.Contains(out.String(), "38;2;") {
		t.Errorf("%d bytes, or more colours than the terminal has", out.Len())
	}
	out.Reset()
	if p.Draw(f); out.Len() > 0 {
		t.Errorf("%d bytes for the same frame", out.Len())
	}
}

// paintedOn is a terminal that a painter draws on.
type paintedOn struct {
	*vt.Emulator
	renderer *render.Renderer
	profile  colorprofile.Profile
	out      bytes.Buffer
}

func newPaintedOn(t *testing.T, w, h int, profile colorprofile.Profile) *paintedOn {
	s := &paintedOn{Emulator: vt.NewEmulator(w, h), profile: profile}
	t.Cleanup(func() { s.Emulator.Close() })
	s.renderer = render.NewRenderer(&s.out, environOf[profile], nil)
	return s
}

// show draws a screen and returns what the terminal shows then, and what it should.
func (s *paintedOn) show(a *desk.App) (got, want string) {
	_ = s.renderer.Draw(desk.Frame(a))
	_, _ = s.Emulator.Write(s.out.Bytes())
	s.out.Reset()
	var b strings.Builder
	w := colorprofile.Writer{Forward: &b, Profile: s.profile}
	_, _ = w.WriteString(whole(a.Finished(a.Rows())))
	return s.Render(), terminalOf(a.Width, a.Height, b.String())
}

// TestPaintedEverything has one terminal of each kind follow a screen through every pane, form, list and size.
func TestPaintedEverything(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI} {
		a := newTest(tuitest.Script{Epochs: 20, Spectra: true}, screen.Options{}, 90, 28)
		s := newPaintedOn(t, 90, 28, profile)
		check := func(after string) {
			t.Helper()
			if got, want := s.show(a); got != want {
				t.Fatalf("%v, after %s the terminal shows\n%s\nexpected\n%s", profile, after, ansi.Strip(got), ansi.Strip(want))
			}
		}
		for pane := range layout.Panes {
			a.Focus = pane
			check(fmt.Sprint("pane ", pane))
			keys := []string{"z", "right", "down", "y", "T", "n", "esc"}
			if profile == colorprofile.ANSI {
				keys = []string{"z", "esc"}
			}
			for _, k := range keys {
				press(a, k)
				check(fmt.Sprint(k, " over pane ", pane))
			}
		}
		withKept(a)
		for _, k := range []string{"s", "o", "e", "f", "u", "w", ":", "?", "/"} {
			press(a, k)
			check(k)
			for _, then := range []string{"down", "x", "日", "tab", "enter", "esc", "esc"} {
				press(a, then)
				check(k + " " + then)
			}
			a.Dialog = nil
		}
		a.Update(came(tuitest.RaceDelta(a.H.Status, 6, 8, "begun")))
		check("a race")
		for _, size := range [][2]int{{60, 16}, {200, 60}, {59, 15}, {1, 1}, {80, 24}} {
			a.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			s.Resize(size[0], size[1])
			check(fmt.Sprint(size))
		}
	}
}

// TestPaintedAnew: a size that was gone before it was drawn, and ctrl+l, have the whole screen drawn.
func TestPaintedAnew(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 20}, screen.Options{Viewer: &screen.Viewer{Name: "lou"}}, 80, 24)
	s := newPaintedOn(t, 80, 24, colorprofile.TrueColor)
	s.show(a)
	a.Update(tea.WindowSizeMsg{Width: 60, Height: 16})
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.Resize(60, 16)
	s.Resize(80, 24)
	if got, want := s.show(a); got != want {
		t.Errorf("after two sizes the terminal shows\n%s", ansi.Strip(got))
	}
	_, _ = s.WriteString("\x1b[5;5Hwall: the system goes down")
	press(a, "ctrl+l")
	if got, want := s.show(a); got != want {
		t.Errorf("after ctrl+l the terminal shows\n%s", ansi.Strip(got))
	}
}

// TestGlyphsOfGuests: braille, but for a locale or a terminal that has none: the font of Linux' console has none in any locale.
func TestGlyphsOfGuests(t *testing.T) {
	for environ, ascii := range map[string]bool{
		"TERM=xterm-256color": false, "TERM=linux": true, "TERM=vt100": true, "TERM=linux LANG=de_DE.UTF-8": true, "TERM=xterm LC_ALL=C": true,
	} {
		a := New(&tuitest.Feed{}, screen.Options{Viewer: &screen.Viewer{}, Environ: strings.Fields(environ)})
		if a.Close(); a.Glyphs.ASCII != ascii {
			t.Errorf("%s: ASCII %v", environ, a.Glyphs.ASCII)
		}
	}
}

// environOf is the environment of a terminal with a profile.
var environOf = map[colorprofile.Profile][]string{
	colorprofile.TrueColor: {"TERM=xterm-256color", "COLORTERM=truecolor"},
	colorprofile.ANSI:      {"TERM=xterm"},
	colorprofile.ASCII:     {"TERM=xterm-256color", "NO_COLOR=1"},
}

// painted draws frames one after another on a terminal and returns its screen.
func painted(t *testing.T, frames [][]string, w int, profile colorprofile.Profile) string {
	s := newPaintedOn(t, w, len(frames[len(frames)-1]), profile)
	for _, rows := range frames {
		if err := s.renderer.Draw(render.Frame{Rows: rows, Width: w}); err != nil {
			t.Fatal(err)
		}
	}
	return terminalOf(w, len(frames[len(frames)-1]), s.out.String())
}

// terminalOf is what an emulator shows after some output, with its styles.
func terminalOf(w, h int, output string) string {
	e := vt.NewEmulator(w, h)
	defer e.Close()
	_, _ = e.WriteString(output)
	return e.Render()
}

// whole is a frame as one would write it without looking at the one before.
func whole(rows []string) string {
	var b strings.Builder
	for y, r := range rows {
		fmt.Fprintf(&b, "\x1b[%d;1H%s\x1b[m", y+1, r)
	}
	return b.String()
}
