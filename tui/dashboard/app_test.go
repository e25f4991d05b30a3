package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/dashboard/replay"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// newTest returns an App that has taken in a run, with a clock that stands still.
func newTest(s tuitest.Script, o screen.Options, w, h int) *desk.App {
	o.Environ = append(o.Environ, "LANG=C.UTF-8")
	a := newApp(&tuitest.Feed{}, o, tuitest.Methods())
	a.Clock = func() time.Time { return time.Unix(0, 0) }
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	for _, d := range tuitest.NewRun(s) {
		a.Update(came(d))
	}
	return a
}

func came(d feed.Delta) desk.DeltaMsg { return desk.DeltaMsg{Delta: d} }

func press(a *desk.App, keys ...string) (last tea.Cmd) {
	for _, k := range keys {
		_, last = a.Update(screentest.Typed(k))
	}
	return last
}

// frameText is the screen without escape sequences, its size checked.
func frameText(t *testing.T, a *desk.App) string {
	t.Helper()
	content := a.View().Content
	if a.Height == 0 {
		return content
	}
	return strings.TrimSuffix(screentest.Plain(t, strings.Split(content, "\n"), a.Width, a.Height, false), "\n")
}

func TestScreens(t *testing.T) {
	for _, c := range []struct {
		name     string
		s        tuitest.Script
		keys     []string
		retained []string // sizes whose picture is kept whole; of the others the header and the footer
	}{
		{"empty", tuitest.Script{Epochs: -1}, nil, []string{"80x24"}},
		{"running", tuitest.Script{Epochs: 33, Spectra: true, Skips: true}, nil, []string{"60x16", "80x24", "120x40", "200x60"}},
		{"switched", tuitest.Script{Epochs: 33, SwitchAt: 20}, nil, []string{"120x40"}},
		{"ended", tuitest.Script{Epochs: 40, Fate: "done"}, nil, nil},
		{"diverged", tuitest.Script{Epochs: 12, Fate: "nan"}, nil, []string{"80x24"}},
		{"diverged-at-once", tuitest.Script{Adam: true, Fate: "dead"}, nil, nil},
		{"adam", tuitest.Script{Epochs: 33, Adam: true}, nil, []string{"120x40"}},
		{"regression", tuitest.Script{Epochs: 20, Regression: true}, nil, []string{"80x24"}},
		{"zoomed", tuitest.Script{Epochs: 33}, []string{"z"}, []string{"60x16"}},
		{"picker", tuitest.Script{Epochs: 3}, []string{"o", "down"}, []string{"60x16", "80x24"}},
		{"help", tuitest.Script{Epochs: 3}, []string{"?"}, []string{"60x16", "80x24", "120x40"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range screenSizes {
				a := newTest(c.s, screen.Options{NoColor: true}, size[0], size[1])
				press(a, c.keys...)
				addFrame(add, frameText(t, a), size, c.retained)
			}
		})
	}
}

func TestOneMeaning(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 80, 24)
	screentest.OneMeaning(t, a.Bindings, a)
}

var screenSizes = [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}}

// addFrame keeps the picture of a screen whole at some sizes, and its header and footer at the others.
func addFrame(add func(name, text string), text string, size [2]int, retained []string) {
	name := fmt.Sprintf("%dx%d", size[0], size[1])
	if slices.Contains(retained, name) {
		add(name, text)
		return
	}
	rows := strings.Split(text, "\n")
	add(name+", header and footer", strings.Join(append(rows[:layout.HeaderRows:layout.HeaderRows], rows[len(rows)-2:]...), "\n"))
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
	a.H.Status.Computing = "spectrum"
	press(a, "k")
	if f := a.Feed.(*tuitest.Feed); len(f.Commands) > 0 || a.Notice != (style.Text.Of("a spectrum is being computed")) {
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
			f := a.Feed.(*tuitest.Feed)
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
	f := a.Feed.(*tuitest.Feed)
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

func TestQuit(t *testing.T) {
	for name, c := range map[string]struct {
		then  tea.Msg // after q
		quits bool
	}{
		"when the run has ended":  {came(tuitest.Ended(event.Status{}, event.ReasonStopped)), true},
		"twice":                   {screentest.Typed("q"), true},
		"a feed that only shows":  {desk.StoppedMsg{Err: feed.ErrReadOnly}, true},
		"a stop that was refused": {desk.StoppedMsg{Err: errors.New("no")}, false},
	} {
		a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 80, 24)
		if screentest.Quits(press(a, "q")) {
			t.Errorf("%s: did not wait for the run", name)
		}
		if _, cmd := a.Update(c.then); c.quits && !screentest.Quits(cmd) || !c.quits && a.Stopping {
			t.Errorf("%s: quits %v, stopping %v", name, !c.quits, a.Stopping)
		}
	}
	if a := newTest(tuitest.Script{Epochs: 3, Fate: "done"}, screen.Options{}, 80, 24); !screentest.Quits(press(a, "q")) {
		t.Error("stays after the end")
	}
}

func TestFeedCloses(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{NoColor: true}, 120, 40)
	if _, cmd := a.Update(desk.DeltaMsg{Err: io.EOF}); cmd != nil {
		t.Error("waits on")
	}
	if !strings.Contains(frameText(t, a), "feed closed") {
		t.Error("says nothing")
	}
	if !screentest.Quits(press(a, "q")) {
		t.Error("q stays")
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
	case <-time.After(time.Minute):
		t.Fatal("still running")
	}
}

func BenchmarkUpdateEpoch(b *testing.B) {
	a := newTest(tuitest.Script{Epochs: 33, Spectra: true}, screen.Options{}, 120, 40)
	r := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for i := 34; b.Loop(); i++ {
		a.Update(came(feed.Delta{Status: a.H.Status, Epochs: []event.EpochEvent{tuitest.Epoch(i, 1, r)}}))
		a.View()
	}
}

func BenchmarkViewUnchanged(b *testing.B) {
	a := newTest(tuitest.Script{Epochs: 33, Spectra: true}, screen.Options{}, 120, 40)
	for b.Loop() {
		a.View()
	}
}

// TestNothingToScale: a method without a primary setting has no + and − in the footer.
func TestNothingToScale(t *testing.T) {
	for _, primary := range []bool{true, false} {
		a := newTest(tuitest.Script{}, screen.Options{NoColor: true}, 200, 40)
		d := feed.Delta{Status: event.Status{Phase: event.Running, Optimizer: "x", Settings: []event.Setting{{Key: "relative-rate", Text: "1", Primary: primary}}}}
		a.Update(came(d))
		if footer := ansi.Strip(a.Footer(200, desk.Hints(a))); strings.Contains(footer, "+ -") != primary || strings.Contains(footer, "relative-rate") != primary {
			t.Errorf("primary %v: %s", primary, footer)
		}
	}
}

func savesOf(a *desk.App) *dialogs.Saves { return a.Observers[0].(*dialogs.Saves) }

func barOf(a *desk.App) *replay.Bar { return a.Bar.(*replay.Bar) }
