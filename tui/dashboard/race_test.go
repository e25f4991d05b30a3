package dashboard

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

func newRaceTest(n, laps int, state string, w, h int) *desk.App {
	a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, w, h)
	a.Update(came(tuitest.RaceDelta(a.H.Status, n, laps, state)))
	return a
}

func TestRaceScreens(t *testing.T) {
	for _, c := range []struct {
		name     string
		n        int
		laps     int
		state    string
		keys     []string
		retained []string
	}{
		{"begun", 2, 0, "begun", nil, []string{"80x24"}},
		{"running", 6, 12, "begun", []string{"down"}, []string{"60x16", "80x24", "120x40"}},
		{"over", 3, 20, "over", nil, nil},
		{"seconds", 3, 20, "over", []string{"x", "r", "y"}, []string{"80x24"}},
		{"abandoning", 3, 9, "begun", []string{"esc"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range screenSizes {
				a := newRaceTest(c.n, c.laps, c.state, size[0], size[1])
				press(a, c.keys...)
				addFrame(add, frameText(t, a), size, c.retained)
			}
		})
	}
}

// TestRaceOfValidationRows: what racers are ranked by is called by the rows that it is of.
func TestRaceOfValidationRows(t *testing.T) {
	a := newWatch(validated("running"), 120, 40)
	a.Update(came(tuitest.RaceDelta(a.H.Status, 2, 12, "begun")))
	if s := frameText(t, a); !strings.Contains(s, "ranked by best valid error") || strings.Contains(s, "test error") {
		t.Error(s)
	}
}

// dialogKeys open each overlay.
var dialogKeys = map[string][]string{
	"race-form": {"f", "down", "space"}, "save": {"w"}, "rewind": {"u", "down"}, "palette": {":"}, "palette-typed": {":", "z", "o", "o"}, "form": {"e"},
	"form-wrong": {"e", "backspace", "-", "down"}, "help-zoomed": {"tab", "z", "?"},
}

func withKept(a *desk.App) {
	s := a.H.Status
	s.RewindEpochs = []int{0, 1, 2, 4, 8, 9, 10, 11, 12}
	a.Update(came(feed.Delta{Status: s}))
}

func TestDialogs(t *testing.T) {
	for name, keys := range dialogKeys {
		t.Run(name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range screenSizes[:3] {
				a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true, DataSets: []string{"letters", "mnist"}}, size[0], size[1])
				withKept(a)
				press(a, keys...)
				frameText(t, a)
				rows := append(a.Dialog.Draw(a, size[0], size[1]-layout.FooterRows), a.Footer(size[0], desk.Hints(a)))
				add(fmt.Sprintf("%dx%d", size[0], size[1]), ansi.Strip(strings.Join(rows, "\n")))
			}
		})
	}
}

// TestRaceCommands presses keys in a race and in its form, and reads what the feed was asked for.
func TestRaceCommands(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string // of %+v; "" for nothing
	}{
		{[]string{"enter"}, "{Racer:0}"}, {[]string{"down", "enter"}, "{Racer:1}"}, {[]string{"esc", "enter"}, "{Racer:-1}"},
		{[]string{"u", "y"}, "{Racer:-1}"}, {[]string{"esc", "esc"}, ""}, {[]string{"o"}, ""}, {[]string{"space"}, "{On:true}"}, {[]string{"s"}, "{}"},
	} {
		a := newRaceTest(3, 20, "begun", 120, 40)
		if got := sent(a, press(a, c.keys...)); got != c.want {
			t.Errorf("%v: %s, want %s", c.keys, got, c.want)
		}
	}
}

// sent runs a command and returns the first thing that the feed was asked for.
func sent(a *desk.App, cmd tea.Cmd) string {
	f := a.Feed.(*tuitest.Feed)
	f.Mu.Lock() // a pause before may still have to come into force
	f.Deltas, f.At = tuitest.NewRun(tuitest.Script{Epochs: 1}), 1
	f.Mu.Unlock()
	pump(a, cmd, 3)
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if len(f.Commands) == 0 {
		return ""
	}
	return fmt.Sprintf("%+v", f.Commands[0])
}

// pump runs commands and what they lead to. A note's expiry is not waited for.
func pump(a *desk.App, cmd tea.Cmd, depth int) {
	if cmd == nil || depth == 0 || a.Notice.Text != "" {
		return
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			pump(a, c, depth)
		}
		return
	}
	if _, ok := msg.(desk.ReplyMsg); ok {
		_, next := a.Update(msg)
		pump(a, next, depth)
	}
}

func write(a *desk.App, text string) {
	for _, r := range text {
		k := string(r)
		if k == " " {
			k = "space"
		}
		m := screentest.Typed(k)
		m.Text = string(r)
		a.Update(m)
	}
}

func TestRaceForm(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, 120, 40)
	press(a, "f")
	if text := frameText(t, a); !strings.Contains(text, "1 racer so far") {
		t.Errorf("one method:\n%s", text)
	}
	write(a, "adam")
	press(a, "space", "tab")
	write(a, "rate=0.001,0.003,0.01")
	press(a, "tab", "backspace", "backspace", "backspace", "backspace", "backspace")
	write(a, "50 2s")
	sent(a, press(a, "enter"))
	f := a.Feed.(*tuitest.Feed)
	if len(f.Commands) != 1 || a.Dialog != nil {
		t.Fatalf("sent %v", f.Commands)
	}
	c, _ := f.Commands[0].(event.Race)
	if len(c.Racers) != 4 || c.Equivalents != 50 || c.Seconds != 2 {
		t.Fatalf("%+v", c)
	}
	if r := c.Racers[3]; r.Name != "adam rate=0.01" || r.Optimizer != "adam" || fmt.Sprint(r.Set) != "[rate=0.01]" {
		t.Errorf("%+v", r)
	}
	if r := c.Racers[0]; r.Name != "tr-newton" || len(r.Set) != 1 || !strings.HasPrefix(r.Set[0], "radius=") {
		t.Errorf("the current method: %+v", r)
	}
}

// TestRaceSize draws races of every size into rooms of every size.
func TestRaceSize(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range nightly.Of(120, 24) {
		a := newRaceTest(1+r.IntN(6), r.IntN(30), []string{"begun", "over", "picked"}[r.IntN(3)], layout.MinWidth+r.IntN(180), layout.MinHeight+r.IntN(60))
		for _, k := range []string{"down", "x", "y", "r", "esc"}[:r.IntN(6)] {
			press(a, k)
		}
		frameText(t, a)
	}
}

// TestOverlaySize opens every overlay in rooms of every size, with wide and strange text.
func TestOverlaySize(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for i := range nightly.Of(70, 14) {
		a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: i%2 == 0, Glyphs: style.Glyphs(i % 4), DataSets: []string{tuitest.RandomText(r)}}, layout.MinWidth+r.IntN(160), layout.MinHeight+r.IntN(50))
		withKept(a)
		press(a, []string{"f", "u", ":", "e", "?", "o", "/"}[i%7])
		for range 12 {
			k := []string{"down", "up", "space", "tab", "a", "数", "é", "backspace", "pgdown", "enter"}[r.IntN(9)]
			press(a, k)
			frameText(t, a)
		}
	}
}

func TestRewind(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, 120, 40)
	if press(a, "u"); a.Dialog != nil || !strings.Contains(a.Notice.Text, "no epoch is kept") {
		t.Errorf("opened, with the note %q", a.Notice.Text)
	}
	a.Note(style.Text, "")
	withKept(a)
	press(a, "u")
	if got := sent(a, press(a, "down", "enter")); got != "{Epoch:10}" {
		t.Error(got)
	}
	press(a, "u", "4")
	f := a.Feed.(*tuitest.Feed)
	f.Commands, a.Busy = nil, false
	if got := sent(a, press(a, "enter")); got != "{Epoch:4}" {
		t.Error(got)
	}
}

func TestPalette(t *testing.T) {
	for typed, want := range map[string]string{"adam": "{Optimizer:adam}", "spectrum weights": "{}", "halve": "{Factor:0.5}", "jacobi": "{Optimizer:tr-gn-jacobi}", "eigenvalues": "{}", "slower": "{Factor:0.5}"} {
		a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, 120, 40)
		press(a, ":")
		write(a, typed)
		if got := sent(a, press(a, "enter")); got != want || a.Dialog != nil {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
	a := newTest(tuitest.Script{Epochs: 12, Fate: "done"}, screen.Options{NoColor: true}, 120, 40)
	press(a, "ctrl+p")
	write(a, "adam")
	if press(a, "enter"); a.Dialog == nil || !strings.Contains(a.Notice.Text, "the run has ended") {
		t.Errorf("closed, with the note %q", a.Notice.Text)
	}
	press(a, "esc", ":")
	write(a, "zoom spectrum")
	if press(a, "enter"); !a.Zoomed || a.Focus != layout.Spectrum {
		t.Errorf("focus %d, zoomed %v", a.Focus, a.Zoomed)
	}
}

// TestEveryActionIsFound: the palette reaches each binding, by what the help says of it.
func TestEveryActionIsFound(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 12}, screen.Options{}, 120, 40)
	have := map[string]bool{}
	for _, e := range paletteEntries(a) {
		have[e.Key] = true
	}
	for i := range a.Bindings {
		k := a.Bindings[i].Keys[0]
		if !a.Bindings[i].Absent(a) && !have[k] && k != ":" {
			t.Errorf("%s is missing", k)
		}
	}
}

func TestFormHasTheLimits(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, 120, 40)
	d := feed.Delta{Status: a.H.Status}
	d.Status.Limits = []event.Setting{{Key: "epochs", Text: "30", Meaning: "end after so many", Range: "a whole number"}}
	a.Update(came(d))
	press(a, "e", "up")
	if text := frameText(t, a); !strings.Contains(text, "▸ epochs    30") {
		t.Errorf("the limit is not there:\n%s", text)
	}
	write(a, "45")
	if got := sent(a, press(a, "enter")); got != "{Key:epochs Value:45}" {
		t.Errorf("sent %s", got)
	}
}

// The first character that is typed replaces the value, unless the text was edited before.
func TestFormReplaces(t *testing.T) {
	for keys, want := range map[string]string{"": "{Key:radius Value:7}", "end": "{Key:radius Value:17}"} {
		a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, 120, 40)
		press(a, "e")
		press(a, "ctrl+d")
		if keys != "" {
			press(a, keys)
		}
		write(a, "7")
		if got := sent(a, press(a, "enter")); got != want {
			t.Errorf("after %q: sent %s, expected %s", keys, got, want)
		}
	}
}

// A terminal that is too small for panes has as much of the run as there is room for.
func TestStrip(t *testing.T) {
	for size, want := range map[[2]int][]string{
		{80, 1}:  {"● running", "tr-newton", "epoch 12 of 60", "test"},
		{120, 3}: {"● running", "loss", "error", "region", "inner"},
		{59, 15}: {"● running", "loss", "└", "q stop"},
		{100, 6}: {"region", "q stop"},
		{20, 2}:  {"● running"},
	} {
		a := newTest(tuitest.Script{Epochs: 12, Spectra: true}, screen.Options{NoColor: true}, size[0], size[1])
		text := frameText(t, a)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%v: no %q in\n%s", size, w, text)
			}
		}
		// of every dialog as much as there is room for
		for _, key := range []string{"?", "esc", "o", "esc", "z", "y", "tab", "u", "f"} {
			press(a, key)
			frameText(t, a)
		}
	}
}

// What was asked for shows at once, whatever the run takes to do it.
func TestUnderWay(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, 120, 40)
	press(a, "space")
	if text := frameText(t, a); !strings.Contains(text, "pausing …") {
		t.Errorf("not told:\n%s", text)
	}
	a.Update(desk.ReplyMsg{})
	if text := frameText(t, a); strings.Contains(text, "pausing …") {
		t.Errorf("told after the answer:\n%s", text)
	}
}

// A run that is held takes every key that a pause does; q leaves it at once.
func TestHeld(t *testing.T) {
	for key, want := range map[string]string{"space": "{On:false}", "s": "{}", "+": "{Factor:2}"} {
		for _, held := range []bool{false, true} {
			a := newTest(tuitest.Script{Epochs: 12, Fate: "done"}, screen.Options{NoColor: true}, 120, 40)
			d := feed.Delta{Status: a.H.Status}
			d.Status.Held = held
			a.Update(came(d))
			switch got := sent(a, press(a, key)); {
			case held && got != want:
				t.Errorf("%s sends %s, expected %s", key, got, want)
			case !held && got != "":
				t.Errorf("%s sends %s to a run that is over", key, got)
			}
			text := frameText(t, a)
			if held != strings.Contains(text, "space go on") || !strings.Contains(text, "q quit") {
				t.Errorf("held %t, the footer:\n%s", held, text)
			}
			if cmd := press(a, "q"); cmd == nil || cmd() != tea.Quit() {
				t.Error("q does not leave it")
			}
		}
	}
}

func TestForm(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, 120, 40)
	press(a, "e")
	press(a, "ctrl+u")
	write(a, "-2")
	press(a, "tab")
	if text := frameText(t, a); !strings.Contains(text, "× expected a number > 0") {
		t.Errorf("no error beside the field:\n%s", text)
	}
	if got := sent(a, press(a, "enter")); got != "" || a.Dialog == nil || !strings.Contains(frameText(t, a), "▸*radius") {
		t.Errorf("sent %s:\n%s", got, frameText(t, a))
	}
	press(a, "backspace", "backspace")
	write(a, "2.5")
	if got := sent(a, press(a, "enter")); got != "{Key:radius Value:2.5}" || len(a.Feed.(*tuitest.Feed).Commands) != 1 {
		t.Errorf("sent %s", got)
	}
	press(a, "e", "backspace")
	if press(a, "esc"); a.Dialog != nil {
		t.Error("stays")
	}
}

func TestLogSearch(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 33, SwitchAt: 20}, screen.Options{NoColor: true}, 120, 40)
	press(a, "/")
	write(a, "→ adam")
	text := frameText(t, a)
	if !strings.Contains(text, "1 found") || !strings.Contains(text, "tr-newton → adam") || !a.Zoomed {
		t.Errorf("%s", text)
	}
	press(a, "enter", "esc", "esc")
	if a.Zoomed {
		t.Error("esc does not leave")
	}
}

// TestRaceFuzz feeds races that make no sense. No frame may overflow, and nothing may panic.
func TestRaceFuzz(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 11))
		a := newTest(tuitest.Script{Epochs: 3, Regression: seed == 1}, screen.Options{NoColor: true, Glyphs: style.Glyphs(seed)}, 90, 26)
		for range nightly.Of(150, 50) {
			d := feed.Delta{Status: a.H.Status}
			d.Status.Racing, d.Status.RewindEpochs = r.IntN(6) > 0, []int{0, r.IntN(9)}
			if r.IntN(6) == 0 {
				e := event.RaceEvent{State: []string{"begun", "over", "picked", "abandoned", "?"}[r.IntN(5)], Picked: r.IntN(9) - 1, Equivalents: tuitest.RandomFloat(r), Seconds: tuitest.RandomFloat(r)}
				for range r.IntN(9) {
					e.Racers = append(e.Racers, event.Racer{Name: tuitest.RandomText(r)})
				}
				d.Races = append(d.Races, e)
			}
			for range r.IntN(9) {
				d.Laps = append(d.Laps, event.LapEvent{Racer: r.IntN(9), Ended: []string{"", "budget", tuitest.RandomText(r)}[r.IntN(3)], Lap: event.EpochEvent{
					Epoch: r.IntN(9), Loss: tuitest.RandomFloat(r), TestError: tuitest.RandomFloat(r), TestRMSE: tuitest.RandomFloat(r), GradientEquivalents: tuitest.RandomFloat(r), Elapsed: tuitest.RandomFloat(r)}})
			}
			a.Update(came(d))
			press(a, []string{"up", "down", "x", "y", "r", "esc", "enter", "?", ":", "u"}[r.IntN(10)])
			a.Update(tea.WindowSizeMsg{Width: layout.MinWidth + r.IntN(150), Height: layout.MinHeight + r.IntN(40)})
			frameText(t, a)
		}
	}
}

func TestWheel(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 12}, screen.Options{}, 80, 24)
	press(a, ":")
	a.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	a.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	a.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	if p := a.Dialog.(*screen.Palette[*desk.App]); p.At() != 1 {
		t.Errorf("stands at %d", p.At())
	}
}
