package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// fakeCompared are n made-up recorded runs. The fourth diverged, the sixth is of another seed and was switched.
func fakeCompared(n int) []Recorded {
	methods := []string{"tr-gn", "adam", "scg", "tr-newton", "lbfgs", "tr-gn", "dogleg", "sgd"}
	r := rand.New(rand.NewPCG(5, 6))
	var out []Recorded
	for i := range n {
		epochs, speed := 30+10*i, float64(4+2*i)
		c := Recorded{ID: fmt.Sprintf("20261121-12000%d-abcdef", i), State: "epochs", Run: &event.RunEvent{
			Version: 1, Optimizer: methods[i], Seed: 1 + uint64(i/5), Epochs: epochs, Time: time.Date(2026, 11, 21, 12, 0, i, 0, time.UTC), Kernel: "avx512",
			Data:     event.DataInfo{Name: "letters", TrainRows: 16000, TestRows: 4000, Inputs: 16, Outputs: 26, Classes: 26},
			Model:    event.ModelInfo{Layers: []int{16, 70, 50, 26}, Activations: []string{"tanh", "tanh", "softmax"}, Loss: "xent", Parameters: 6066},
			Settings: map[string]any{"xi": 0.1, "radius": float64(1 + i)},
		}}
		for e := range epochs + 1 {
			x := float64(e)
			ev := tuitest.Epoch(e, 1, r)
			ev.Loss = event.Float(3.2*math.Exp(-x/speed) + 0.01*float64(i+1))
			ev.TestLoss = ev.Loss*1.1 + 0.02
			ev.Error = event.Float(0.95*math.Exp(-x/speed) + 0.002*float64(i+1))
			ev.TestError = event.Float(0.95*math.Exp(-x/speed) + 0.03 + 0.004*math.Abs(float64(i)-2))
			ev.Elapsed, ev.GradientEquivalents = event.Float(x*0.3*float64(n-i)), event.Float(x*12*float64(i+1))
			if i == 3 && e >= 40 {
				ev.Loss, ev.TestLoss, ev.TestError = event.NotFinite, event.NotFinite, event.NotFinite
			}
			if methods[i] == "adam" || methods[i] == "sgd" {
				ev.Inner, ev.Radius = nil, tuitest.NaN
			}
			c.Epochs = append(c.Epochs, ev)
		}
		c.Done = &event.DoneEvent{Reason: event.ReasonEpochs, Epochs: epochs}
		switch i {
		case 3:
			c.Diverged, c.Done.Reason = &event.DivergedEvent{Epoch: 40, Reason: "the loss is not finite"}, event.ReasonDiverged
		case 5:
			c.Switches = []event.SwitchEvent{{Epoch: 20, From: "tr-gn", To: "adam"}}
			c.Settings = []event.SettingEvent{{Epoch: 25, Key: "rate", Value: 0.5}}
			c.Done, c.State = nil, "interrupted"
		}
		out = append(out, c)
	}
	return out
}

func newCompareTest(runs []Recorded, o screen.Options, w, h int) *model {
	o.Environ = append(o.Environ, "LANG=C.UTF-8")
	m := newComparison(runs, o)
	m.Cancel() // notes then stay until the next one
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

func comparePress(m *model, keys ...string) (last tea.Cmd) {
	for _, k := range keys {
		m.View() // keys act on what is on the screen
		_, last = m.Update(screentest.Typed(k))
	}
	return last
}

// compareText is the screen without escape sequences, its size checked.
func compareText(t *testing.T, m *model) string {
	t.Helper()
	return screentest.Plain(t, strings.Split(m.View().Content, "\n"), m.Width, m.Height, m.Glyphs.ASCII)
}

// compareKeys lead to what a comparison can show.
var compareKeys = map[string][]string{
	"begin": nil, "seconds": {"x", "down", "y"}, "view": {"v", "V", "v"}, "cursor": {"right", "left", "left", "left"}, "hidden": {"space", "+", "f"},
	"zoomed": {"z", "m", "home"}, "differences": {"d"}, "choices": {"d", "a", "right"}, "help": {"?"}, "window": {"]", "]"},
}

func TestCompareScreens(t *testing.T) {
	for name, keys := range compareKeys {
		t.Run(name, func(t *testing.T) {
			add := tuitest.Archive(t)
			n := 3
			if name == "begin" || name == "choices" || name == "seconds" {
				n = 8
			}
			for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
				m := newCompareTest(fakeCompared(n), screen.Options{NoColor: true}, size[0], size[1])
				comparePress(m, keys...)
				if text := compareText(t, m); size[0] < 120 || name == "begin" || name == "help" && size[0] == 120 {
					add(fmt.Sprintf("%dx%d", size[0], size[1]), text)
				}
			}
		})
	}
}

// TestCompareMatrix draws every screen in every theme on every kind of terminal and with every set of glyphs: themes
// and colours change no text.
func TestCompareMatrix(t *testing.T) {
	runs := fakeCompared(6)
	for name, keys := range compareKeys {
		for g := style.GlyphsBraille; g < style.GlyphsCount; g++ {
			m := newCompareTest(runs, screen.Options{Glyphs: g}, 100, 30)
			comparePress(m, keys...)
			m.Notice = style.Part{}
			want := ""
			for theme := style.ThemeAuto; theme < style.ThemeCount; theme++ {
				for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI, colorprofile.ASCII} {
					m.ThemeChoice = theme
					m.Update(tea.ColorProfileMsg{Profile: profile})
					got := compareText(t, m)
					if want == "" {
						want = got
					}
					if got != want {
						t.Fatalf("%s, %v, %v, %v says\n%s\nnot\n%s", name, g, theme, profile, got, want)
					}
				}
			}
		}
	}
}

func TestCompareSmall(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {1, 1}, {59, 40}, {200, 15}, {20, 3}} {
		m := newCompareTest(fakeCompared(2), screen.Options{}, size[0], size[1])
		if size[1] > 0 {
			compareText(t, m)
		}
		comparePress(m, "z", "d", "down", "]", "left")
		m.View()
	}
	m := newCompareTest(fakeCompared(2), screen.Options{}, 40, 10)
	if text := compareText(t, m); !strings.Contains(text, "runs compared") {
		t.Errorf("a small screen says %q", text)
	}
}

// TestCompareFigures holds the table against figures found by going through all epochs.
func TestCompareFigures(t *testing.T) {
	runs := fakeCompared(8)
	m := newCompareTest(runs, screen.Options{}, 200, 60)
	for i := range runs {
		best := -1
		for k := range runs[i].Epochs {
			v := float64(runs[i].Epochs[k].TestError)
			if !math.IsNaN(v) && (best < 0 || v < float64(runs[i].Epochs[best].TestError)) {
				best = k
			}
		}
		if got := m.runs[i].best; got != &runs[i].Epochs[best] {
			t.Errorf("run %d: best is epoch %v, not %d", i, got, best)
		}
		for _, target := range m.targets {
			want := -1
			for k := range runs[i].Epochs {
				if float64(runs[i].Epochs[k].TestError) <= target {
					want = k
					break
				}
			}
			got := m.runs[i].reach(target, m.runs[0].measure)
			if (got == nil) != (want < 0) || got != nil && got != &runs[i].Epochs[want] {
				t.Errorf("run %d: %g is reached at %v, not %d", i, target, got, want)
			}
		}
	}
	for k := 1; k < len(m.order); k++ {
		if a, b := &m.runs[m.order[k-1]], &m.runs[m.order[k]]; a.value(a.best) > b.value(b.best) {
			t.Errorf("place %d has %g before %g", k, a.value(a.best), b.value(b.best))
		}
	}
	target := m.targets[m.target]
	for i := range m.runs {
		if m.runs[i].reach(target, m.runs[0].measure) == nil {
			t.Errorf("the first target, %g, is not reached by run %d", target, i)
		}
	}
}

func TestCompareKeys(t *testing.T) {
	m := newCompareTest(fakeCompared(3), screen.Options{}, 120, 40)
	first := m.at
	comparePress(m, "down")
	if m.at != m.order[1] {
		t.Errorf("down selects %d", m.at)
	}
	comparePress(m, "tab", "tab")
	if m.at != first {
		t.Errorf("tab does not go round: %d", m.at)
	}
	comparePress(m, "space", "down", "space", "down", "space")
	hidden := 0
	for i := range m.runs {
		if m.runs[i].hidden {
			hidden++
		}
	}
	if hidden != 2 || !strings.Contains(m.Notice.Text, "one run") {
		t.Errorf("%d of 3 runs are hidden, and the note says %q", hidden, m.Notice.Text)
	}
	before := m.targets[m.target]
	comparePress(m, "-")
	if after := m.targets[m.target]; after <= before {
		t.Errorf("- goes from %g to %g", before, after)
	}
	comparePress(m, "+")
	if m.targets[m.target] != before {
		t.Errorf("+ does not go back")
	}
	seen := map[int]bool{}
	for range m.charts.shown {
		seen[m.charts.quantity(0)], seen[m.charts.quantity(1)] = true, true
		comparePress(m, "v")
	}
	if len(seen) != len(m.charts.shown) {
		t.Errorf("v shows %d of %d quantities", len(seen), len(m.charts.shown))
	}
	for _, k := range []string{"q", "ctrl+c"} {
		if !screentest.Quits(comparePress(m, k)) {
			t.Errorf("%s does not quit", k)
		}
	}
	comparePress(m, "d")
	if screentest.Quits(comparePress(m, "q")) || m.dialog != nil {
		t.Errorf("q over the differences should close them")
	}
	if comparePress(m, "d", "f", "V"); m.faded {
		t.Errorf("keys over the differences reach what is under them")
	}
	if comparePress(m, "esc", "?", "f"); !m.faded || m.dialog != nil {
		t.Errorf("a key that has no meaning in the help does not do what it does elsewhere")
	}
	comparePress(m, "?")
	if !screentest.Quits(comparePress(m, "ctrl+c")) {
		t.Errorf("ctrl+c over the help does not quit")
	}
}

// TestCompareBindings: no key is bound twice, and all stand in the help.
func TestCompareBindings(t *testing.T) {
	m := newCompareTest(fakeCompared(2), screen.Options{}, 200, 60)
	comparePress(m, "?")
	help, seen := compareText(t, m), map[string]bool{}
	for _, b := range m.bindings {
		if !strings.Contains(help, b.Help().Desc) && b.Help().Key != "x" {
			t.Errorf("the help lacks %q", b.Help().Desc)
		}
		for _, k := range b.Keys() {
			if seen[k] {
				t.Errorf("%s is bound twice", k)
			}
			seen[k] = true
		}
	}
}

func TestCompareMouse(t *testing.T) {
	m := newCompareTest(fakeCompared(5), screen.Options{}, 120, 40)
	text := strings.Split(compareText(t, m), "\n")
	for place, i := range m.order {
		y := -1
		for row, s := range text {
			if row >= m.table.Y && strings.Contains(s, " "+style.RacerLetter(i)+" "+m.runs[i].label) || strings.Contains(s, "▸"+style.RacerLetter(i)+" ") {
				y = row
				break
			}
		}
		m.Update(tea.MouseClickMsg{X: 10, Y: y, Button: tea.MouseLeft})
		if m.at != i {
			t.Errorf("a click on row %d selects %d, not %d", y, m.at, m.order[place])
		}
		text = strings.Split(compareText(t, m), "\n")
	}
	m.Update(tea.MouseWheelMsg{X: 10, Y: m.table.Y + 2, Button: tea.MouseWheelUp})
	if m.at != m.order[len(m.order)-2] {
		t.Errorf("the wheel over the table selects %d", m.at)
	}
	m.Update(tea.MouseWheelMsg{X: 90, Y: 10, Button: tea.MouseWheelUp})
	if !m.charts.view.Zoomed() {
		t.Error("the wheel over a chart does not zoom")
	}
	m.Update(tea.MouseClickMsg{X: 30, Y: 10, Button: tea.MouseLeft})
	if m.View(); !m.charts.view.On {
		t.Error("a click on a chart sets no cursor")
	}
	if text := compareText(t, m); !strings.Contains(text, "test loss at ") {
		t.Error("the table does not tell the values at the cursor")
	}
}

// TestComparePicture writes both pictures.
func TestComparePicture(t *testing.T) {
	dir := t.TempDir()
	m := newCompareTest(fakeCompared(4), screen.Options{Pictures: dir}, 120, 40)
	for key, want := range map[string]string{"p": "scg", "P": "by best test error"} {
		cmd := comparePress(m, key)
		msg, ok := cmd().(screen.PictureMsg)
		if !ok || msg.Err != nil {
			t.Fatalf("%s: %v", key, msg.Err)
		}
		text, err := os.ReadFile(msg.Path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "<svg") || !strings.Contains(string(text), want) {
			t.Errorf("%s has no %q", filepath.Base(msg.Path), want)
		}
		m.Update(msg)
		if !strings.Contains(m.Notice.Text, "wrote") {
			t.Errorf("the note says %q", m.Notice.Text)
		}
	}
	m.Pictures = ""
	if comparePress(m, "p"); !strings.Contains(m.Notice.Text, "can't") {
		t.Errorf("without a directory the note says %q", m.Notice.Text)
	}
}

// TestComparePreferences: a theme that is chosen here is kept, and what is kept is followed.
func TestComparePreferences(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ui.toml")
	m := newCompareTest(fakeCompared(2), screen.Options{Preferences: file}, 120, 40)
	comparePress(m, "T", "x")
	m.Prefs.Settle()
	p, err := screen.ReadPreferences(file)
	if err != nil || p.Theme != "dark" || p.XAxis != "seconds" {
		t.Errorf("kept %+v, %v", p, err)
	}
	next := newCompareTest(fakeCompared(2), screen.Options{Preferences: file}, 120, 40)
	if next.ThemeChoice != style.ThemeDark || next.charts.view.By != chart.Seconds {
		t.Errorf("follows %v, %v", next.ThemeChoice, next.charts.view.By)
	}
}

func TestCompareMisuse(t *testing.T) {
	for _, n := range []int{0, Most + 1} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "tui: ") {
					t.Errorf("%d runs: panics with %q", n, text)
				}
			}()
			newComparison(make([]Recorded, n), screen.Options{})
		}()
	}
}

// TestEightInks: as many runs as are compared have a colour each, in every theme that has colours.
func TestEightInks(t *testing.T) {
	for _, theme := range []style.Theme{style.ThemeDark, style.ThemeLight, style.ThemeSafe} {
		for _, dark := range []bool{true, false} {
			th := theme.Palette(dark, colorprofile.TrueColor, false)
			seen := map[string]string{}
			for i := range Most {
				ink := th.Ink[style.RacerToken(i)]
				if other := seen[ink]; other != "" {
					t.Errorf("theme %s, dark %t: runs %s and %s have one colour", theme, dark, other, style.RacerLetter(i))
				}
				seen[ink] = style.RacerLetter(i)
			}
		}
	}
}

func TestCompareCommands(t *testing.T) {
	m := newCompareTest(fakeCompared(2), screen.Options{}, 120, 40)
	comparePress(m, ":", "g", "l", "y", "p", "h", "enter")
	if m.dialog != nil || m.GlyphChoice == style.GlyphsAuto {
		t.Errorf("the search for commands left %T and glyphs %v", m.dialog, m.GlyphChoice)
	}
}
