package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"go.uber.org/goleak"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/history"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

func testView() *View {
	return &View{style.Pen{Palette: style.ThemeAuto.Palette(true, colorprofile.ASCII, true), Glyphs: style.GlyphsBraille.Set(nil)}, &history.History{}}
}

// newTest returns an App that has taken in a run, with a clock that stands still.
func newTest(s tuitest.Script, o screen.Options, w, h int) *App {
	o.Environ = append(o.Environ, "LANG=C.UTF-8")
	a := newApp(&tuitest.Feed{}, o, tuitest.Methods())
	a.clock = func() time.Time { return time.Unix(0, 0) }
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	for _, d := range tuitest.NewRun(s) {
		a.Update(came(d))
	}
	return a
}

func came(d feed.Delta) deltaMsg { return deltaMsg{deltas: []feed.Delta{d}} }

func typed(s string) tea.KeyPressMsg {
	special := map[string]rune{"tab": tea.KeyTab, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "left": tea.KeyLeft, "right": tea.KeyRight,
		"up": tea.KeyUp, "down": tea.KeyDown, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "delete": tea.KeyDelete}
	if c, ok := special[s]; ok {
		return tea.KeyPressMsg{Code: c}
	}
	if rest, ok := strings.CutPrefix(s, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	if s == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	return tea.KeyPressMsg{Code: []rune(s)[0], Text: s}
}

func press(a *App, keys ...string) (last tea.Cmd) {
	for _, k := range keys {
		_, last = a.Update(typed(k))
	}
	return last
}

// frameText is the screen without escape sequences, its size checked.
func frameText(t *testing.T, a *App) string {
	t.Helper()
	content := a.View().Content
	rows := strings.Split(content, "\n")
	if a.Height == 0 {
		return content
	}
	if len(rows) != a.Height {
		t.Fatalf("%d×%d: %d rows", a.Width, a.Height, len(rows))
	}
	for i, r := range rows {
		if n := ansi.StringWidth(r); n != a.Width {
			t.Fatalf("%d×%d: row %d is %d wide: %q", a.Width, a.Height, i, n, ansi.Strip(r))
		}
	}
	return ansi.Strip(content)
}

func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		for _, c := range []struct {
			name string
			s    tuitest.Script
			keys []string
		}{
			{"empty", tuitest.Script{Epochs: -1}, nil},
			{"running", tuitest.Script{Epochs: 33, Spectra: true, Skips: true}, nil},
			{"switched", tuitest.Script{Epochs: 33, SwitchAt: 20}, nil},
			{"ended", tuitest.Script{Epochs: 40, Fate: "done"}, nil},
			{"diverged", tuitest.Script{Epochs: 12, Fate: "nan"}, nil},
			{"diverged-at-once", tuitest.Script{Adam: true, Fate: "dead"}, nil},
			{"adam", tuitest.Script{Epochs: 33, Adam: true}, nil},
			{"regression", tuitest.Script{Epochs: 20, Regression: true}, nil},
			{"zoomed", tuitest.Script{Epochs: 33}, []string{"z"}},
			{"picker", tuitest.Script{Epochs: 3}, []string{"o", "down"}},
			{"help", tuitest.Script{Epochs: 3}, []string{"?"}},
		} {
			t.Run(fmt.Sprintf("%s-%dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				a := newTest(c.s, screen.Options{NoColor: true}, size[0], size[1])
				press(a, c.keys...)
				golden.RequireEqual(t, []byte(frameText(t, a)))
			})
		}
	}
}

// TestPanes draws every pane alone, as wide as in the screens of three sizes.
func TestPanes(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 33, Spectra: true, Skips: true}, screen.Options{NoColor: true}, 120, 40)
	for _, w := range []int{40, 80, 120} {
		for id, p := range a.panes {
			t.Run(fmt.Sprintf("%d-%s-%d", id, p.name(a.paneView()), w), func(t *testing.T) {
				rows := new(Cache).draw(p, a.paneView(), layout.Rect{X: 0, Y: 0, W: w, H: 14}, CacheKey{})
				for i, r := range rows {
					if n := ansi.StringWidth(r); n != w {
						t.Errorf("row %d is %d wide", i, n)
					}
				}
				golden.RequireEqual(t, []byte(ansi.Strip(strings.Join(rows, "\n"))))
			})
		}
	}
}

// TestASCII looks for anything beyond 7 bits.
func TestASCII(t *testing.T) {
	for _, keys := range [][]string{nil, {"z"}, {"tab", "tab", "z"}, {"o"}, {"?"}} {
		a := newTest(tuitest.Script{Epochs: 33, Spectra: true, Skips: true}, screen.Options{NoColor: true, Glyphs: style.GlyphsASCII}, 120, 40)
		press(a, keys...)
		text := frameText(t, a)
		for _, r := range text {
			if r > 0x7e {
				t.Fatalf("%v: %q in\n%s", keys, r, text)
			}
		}
		if a.dialog == nil && strings.Count(text, "?") != 1 {
			t.Errorf("%v: a character without a counterpart in\n%s", keys, text)
		}
	}
}

var colour = regexp.MustCompile(`\x1b\[[0-9;:]*(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])[0-9;:]*m`)

func TestNoColor(t *testing.T) {
	for name, o := range map[string]screen.Options{"option": {NoColor: true}, "environment": {Environ: []string{"NO_COLOR=yes"}}} {
		a := newTest(tuitest.Script{Epochs: 33, Spectra: true, Fate: "nan"}, o, 120, 40)
		a.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		for _, k := range []string{"", "o", "esc", "?", "esc", "z"} {
			if k != "" {
				press(a, k)
			}
			if m := colour.FindString(a.View().Content); m != "" {
				t.Errorf("%s, after %q: colour %q", name, k, m)
			}
		}
	}
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 120, 40)
	if !colour.MatchString(a.View().Content) {
		t.Error("no colours without NO_COLOR either")
	}
}

// TestBackgrounds checks that light, dark and sixteen-colour terminals differ in escape codes only.
func TestBackgrounds(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 33, Spectra: true}, screen.Options{}, 120, 40)
	want := frameText(t, a)
	seen := map[string]bool{a.View().Content: true}
	for _, m := range []tea.Msg{
		tea.BackgroundColorMsg{Color: ansi.BrightWhite}, tea.ColorProfileMsg{Profile: colorprofile.ANSI}, tea.BackgroundColorMsg{Color: ansi.Black},
	} {
		a.Update(m)
		if got := frameText(t, a); got != want {
			t.Errorf("%T changed the text", m)
		}
		if seen[a.View().Content] {
			t.Errorf("%T changed no colour", m)
		}
		seen[a.View().Content] = true
	}
}

// TestSpectrumUnderWay: who asks for what is being computed is told so, and the run is not asked.
func TestSpectrumUnderWay(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 120, 40)
	a.h.Status.Computing = "spectrum"
	press(a, "k")
	if f := a.feed.(*tuitest.Feed); len(f.Commands) > 0 || a.Notice != (style.Text.Of("a spectrum is being computed")) {
		t.Errorf("the run was asked for %v, and the footer says %q", f.Commands, a.Notice.Text)
	}
}

// TestCommands presses keys and reads what the feed was asked for.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want event.Command
	}{
		{[]string{"space"}, event.Pause{On: true}},
		{[]string{"s"}, event.StepEpoch{}}, {[]string{"i"}, event.StepInner{}}, {[]string{"k"}, event.Spectrum{}},
		{[]string{"+"}, event.Scale{Factor: 2}}, {[]string{"="}, event.Scale{Factor: 2}}, {[]string{"-"}, event.Scale{Factor: 0.5}}, {[]string{"_"}, event.Scale{Factor: 0.5}},
		{[]string{"2"}, event.Switch{Optimizer: "tr-gn"}}, {[]string{"o", "4"}, event.Switch{Optimizer: "sgd"}},
		{[]string{"o", "a", "d", "a", "m", "enter"}, event.Switch{Optimizer: "adam"}}, {[]string{"o", "down", "enter"}, event.Switch{Optimizer: "tr-gn"}},
		{[]string{"o", "q", "esc", "s"}, event.StepEpoch{}}, {[]string{"?", "esc", "i"}, event.StepInner{}},
		{[]string{"q"}, event.Stop{}}, {[]string{"ctrl+c"}, event.Stop{}}, {[]string{"o", "ctrl+c"}, event.Stop{}},
	} {
		t.Run(strings.Join(c.keys, " "), func(t *testing.T) {
			a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 120, 40)
			f := a.feed.(*tuitest.Feed)
			f.Deltas, f.At = tuitest.NewRun(tuitest.Script{Epochs: 1}), 1
			cmd := press(a, c.keys...)
			if cmd == nil {
				t.Fatal("nothing was sent")
			}
			cmd()
			if len(f.Commands) != 1 || f.Commands[0] != c.want {
				t.Errorf("%#v, want %#v", f.Commands, c.want)
			}
		})
	}
}

// TestCommandOrder presses keys faster than the feed answers.
func TestCommandOrder(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 120, 40)
	f := a.feed.(*tuitest.Feed)
	cmd := press(a, "s")
	if press(a, "i") != nil || press(a, "2") != nil {
		t.Fatal("a command overtook the one before it")
	}
	for cmd != nil {
		_, cmd = a.Update(cmd())
	}
	want := []event.Command{event.StepEpoch{}, event.StepInner{}, event.Switch{Optimizer: "tr-gn"}}
	if fmt.Sprint(f.Commands) != fmt.Sprint(want) {
		t.Errorf("%#v", f.Commands)
	}
}

func TestRefusal(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{NoColor: true}, 120, 40)
	a.Update(press(a, "+")())
	if text := frameText(t, a); strings.Count(text, "refused: radius = -1:") != 2 {
		t.Errorf("not in the footer and the log:\n%s", text)
	}
}

func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, ok := cmd().(tea.QuitMsg)
	return ok
}

func TestQuit(t *testing.T) {
	done := tuitest.Ended(event.Status{}, event.ReasonStopped)
	t.Run("when the run has ended", func(t *testing.T) {
		a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 80, 24)
		if quits(press(a, "q")) {
			t.Fatal("did not wait for the run")
		}
		if _, cmd := a.Update(came(done)); !quits(cmd) {
			t.Error("stayed")
		}
	})
	t.Run("twice", func(t *testing.T) {
		a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 80, 24)
		if press(a, "q"); !quits(press(a, "q")) {
			t.Error("stayed")
		}
	})
	t.Run("after the end", func(t *testing.T) {
		a := newTest(tuitest.Script{Epochs: 3, Fate: "done"}, screen.Options{}, 80, 24)
		if !quits(press(a, "q")) {
			t.Error("stayed")
		}
	})
	t.Run("a feed that only shows", func(t *testing.T) {
		a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 80, 24)
		if _, cmd := a.Update(stoppedMsg{feed.ErrReadOnly}); !quits(cmd) {
			t.Error("stayed")
		}
	})
	t.Run("a stop that was refused", func(t *testing.T) {
		a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 80, 24)
		press(a, "q")
		if a.Update(stoppedMsg{errors.New("no")}); a.stopping {
			t.Error("still stopping")
		}
	})
}

func TestFeedCloses(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{NoColor: true}, 120, 40)
	if _, cmd := a.Update(deltaMsg{err: io.EOF}); cmd != nil {
		t.Error("waits on")
	}
	if !strings.Contains(frameText(t, a), "feed closed") {
		t.Error("says nothing")
	}
	if !quits(press(a, "q")) {
		t.Error("q stays")
	}
}

// TestUnchangedPanesAreKept compares pictures by identity: an inner iteration redraws no chart.
func TestUnchangedPanesAreKept(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 33}, screen.Options{}, 120, 40)
	a.View()
	before := a.kept
	d := feed.Delta{Status: a.h.Status, Inner: []event.InnerEvent{tuitest.InnerIteration(34, 13, 1)}}
	a.Update(came(d))
	a.View()
	for id := range layout.Panes {
		if before[id].rows == nil {
			continue // without a place on this screen
		}
		same := &before[id].rows[0] == &a.kept[id].rows[0]
		want := id != layout.Inner
		if same != want {
			t.Errorf("pane %d: kept %v", id, same)
		}
	}
}

// TestRun drives a whole program over pipes and checks that it ends with its context, and leaves nothing.
func TestRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(context.Background())
	in, keys := io.Pipe()
	defer keys.Close()
	errs := make(chan error, 1)
	f := &tuitest.Feed{Deltas: tuitest.NewRun(tuitest.Script{Epochs: 4})}
	go func() {
		errs <- Run(ctx, f, screen.Options{Input: in, Output: io.Discard, Environ: []string{"TERM=xterm-256color"}})
	}()
	time.Sleep(150 * time.Millisecond)
	cancel()
	select {
	case err := <-errs:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("still running")
	}
}

func BenchmarkUpdateInner(b *testing.B) {
	a := newTest(tuitest.Script{Epochs: 33, Spectra: true}, screen.Options{}, 120, 40)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		a.Update(came(feed.Delta{Status: a.h.Status, Inner: []event.InnerEvent{tuitest.InnerIteration(34, i%40, 1)}}))
		a.View()
	}
}

func BenchmarkUpdateEpoch(b *testing.B) {
	a := newTest(tuitest.Script{Epochs: 33, Spectra: true}, screen.Options{}, 120, 40)
	r := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for i := 34; b.Loop(); i++ {
		a.Update(came(feed.Delta{Status: a.h.Status, Epochs: []event.EpochEvent{tuitest.Epoch(i, 1, r)}}))
		a.View()
	}
}

func BenchmarkViewUnchanged(b *testing.B) {
	a := newTest(tuitest.Script{Epochs: 33, Spectra: true}, screen.Options{}, 120, 40)
	for b.Loop() {
		a.View()
	}
}
