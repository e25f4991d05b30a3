package tuning

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/tune"
	"newtop/tui/history"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

func newTuneTest(b *tune.Leaderboard, o screen.Options, w, h int) *model {
	o.Environ = append(o.Environ, "LANG=C.UTF-8")
	s := newFakeSearch(b)
	s.holds = b.Phase == "searching"
	m := newTuning(s, nil, o)
	m.Cancel() // notes then stay until the next one
	at := time.Unix(1e9, 0)
	m.now = func() time.Time { return at }
	m.received = at
	m.ended = b.Phase == "done" || b.Phase == "stopped"
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

func tunePress(m *model, keys ...string) (last tea.Cmd) {
	for _, k := range keys {
		m.View() // keys act on what is on the screen
		_, last = m.Update(screentest.Typed(k))
	}
	return last
}

// tuneText is the screen without escape sequences, its size checked.
func tuneText(t *testing.T, m *model) string {
	t.Helper()
	return screentest.Plain(t, strings.Split(m.View().Content, "\n"), m.Width, m.Height, m.Glyphs.ASCII)
}

// tuneScreens are boards, and keys that lead to what can be shown of them.
var tuneScreens = map[string]struct {
	board func() *tune.Leaderboard
	keys  []string
}{
	"empty":      {func() *tune.Leaderboard { return &tune.Leaderboard{} }, nil},
	"one":        {func() *tune.Leaderboard { return fakeBoard(1, 0.001, 0) }, nil},
	"early":      {func() *tune.Leaderboard { return fakeBoard(60, 0.2, 0.05) }, nil},
	"searching":  {func() *tune.Leaderboard { return fakeBoard(60, 0.6, 0.05) }, []string{"tab", "tab"}},
	"done":       {func() *tune.Leaderboard { return fakeBoard(60, 1, 0.05) }, nil},
	"measure":    {func() *tune.Leaderboard { return fakeBoard(60, 1, 0.05) }, []string{"v", "x", "y", "down", "down"}},
	"untargeted": {func() *tune.Leaderboard { return fakeBoard(60, 1, 0) }, []string{"right", "S", "S", "end", "shift+tab"}},
	"regression": {fakeRegression, []string{"shift+tab", "shift+tab"}},
	"filtered":   {func() *tune.Leaderboard { return fakeBoard(60, 1, 0.05) }, []string{"/", "a", "d", "a", "m", "space", "-", "p", "r", "u"}},
	"zoomed":     {func() *tune.Leaderboard { return fakeBoard(60, 1, 0.05) }, []string{"tab", "z"}},
	"slice":      {func() *tune.Leaderboard { return fakeBoard(60, 0.9, 0) }, []string{"tab", "tab", "tab", "right", "z"}},
	"parallel":   {func() *tune.Leaderboard { return fakeBoard(60, 0.9, 0) }, []string{"down", "a"}},
	"curves":     {func() *tune.Leaderboard { return fakeBoard(60, 0.9, 0) }, []string{"tab", "tab", "z", "down"}},
	"matters":    {func() *tune.Leaderboard { return fakeBoard(60, 0.9, 0) }, []string{"shift+tab", "z"}},
	"details":    {func() *tune.Leaderboard { return fakeBoard(60, 1, 0.05) }, []string{"down", "d"}},
	"command":    {func() *tune.Leaderboard { return fakeBoard(60, 1, 0.05) }, []string{"c"}},
	"help":       {func() *tune.Leaderboard { return fakeBoard(60, 1, 0.05) }, []string{"?"}},
	"asking":     {func() *tune.Leaderboard { return fakeBoard(60, 0.6, 0.05) }, []string{"q"}},
}

func TestTuneScreens(t *testing.T) {
	for name, c := range tuneScreens {
		t.Run(name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
				m := newTuneTest(c.board(), screen.Options{NoColor: true}, size[0], size[1])
				tunePress(m, c.keys...)
				if text := tuneText(t, m); size[0] < 120 || name == "done" || name == "slice" && size[0] == 120 {
					add(fmt.Sprintf("%dx%d", size[0], size[1]), text)
				}
			}
		})
	}
}

// TestTuneMatrix draws the screen with every set of glyphs. Themes change no text.
func TestTuneMatrix(t *testing.T) {
	for _, name := range []string{"done", "curves"} {
		t.Run(name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for g := style.GlyphsBraille; g < style.GlyphsCount; g++ {
				m := newTuneTest(tuneScreens[name].board(), screen.Options{Glyphs: g}, 100, 30)
				tunePress(m, tuneScreens[name].keys...)
				m.Notice = style.Part{}
				want := tuneText(t, m)
				for theme := style.ThemeAuto; theme < style.ThemeCount; theme++ {
					m.ThemeChoice = theme
					m.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
					if got := tuneText(t, m); got != want {
						t.Fatalf("%v says\n%s\nnot\n%s", theme, got, want)
					}
				}
				add(g.String(), want)
			}
		})
	}
}

func TestTuneSmall(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {1, 1}, {59, 40}, {200, 15}, {20, 3}} {
		m := newTuneTest(fakeBoard(20, 1, 0.05), screen.Options{}, size[0], size[1])
		if size[1] > 0 {
			tuneText(t, m)
		}
		tunePress(m, "z", "d", "down", "esc", "tab", "/", "a")
		m.View()
	}
	m := newTuneTest(fakeBoard(20, 1, 0.05), screen.Options{}, 40, 10)
	if text := tuneText(t, m); !strings.Contains(text, "newtop  tune") {
		t.Errorf("a small screen says %q", text)
	}
}

// TestTuneLayout: at every size the panes cover the body once, and what has the focus is among them.
func TestTuneLayout(t *testing.T) {
	for w := layout.MinWidth; w <= 220; w += 7 {
		for h := layout.MinHeight; h <= 70; h += 3 {
			for focus := range tunePanes {
				side := max(focus, tuneProgress)
				for _, zoomed := range []bool{false, true} {
					covered, found := make([]int, w*h), false
					for _, p := range arrange(w, h, focus, side, zoomed) {
						found = found || p.Pane == focus
						for y := p.Y; y < p.Y+p.H; y++ {
							for x := p.X; x < p.X+p.W; x++ {
								covered[y*w+x]++
							}
						}
					}
					for i, n := range covered {
						want := 1
						if y := i / w; y < headerRows || y == h-layout.FooterRows {
							want = 0
						}
						if n != want {
							t.Fatalf("%d × %d, focus %d, zoomed %t: cell %d, %d is covered %d times", w, h, focus, zoomed, i%w, i/w, n)
						}
					}
					if !found {
						t.Errorf("%d × %d, zoomed %t: pane %d has the focus and no place", w, h, zoomed, focus)
					}
				}
			}
		}
	}
}

func TestTuneKeys(t *testing.T) {
	b := fakeBoard(60, 1, 0.05)
	m := newTuneTest(b, screen.Options{}, 120, 40)
	first := b.Trials[b.Order[0]].Number
	if m.number != first {
		t.Errorf("#%d is selected, not the best one, #%d", m.number, first)
	}
	tunePress(m, "down", "down", "up")
	if want := b.Trials[b.Order[1]].Number; m.number != want {
		t.Errorf("down, down, up selects #%d, not #%d", m.number, want)
	}
	tunePress(m, "end")
	if want := b.Trials[b.Order[len(b.Order)-1]].Number; m.number != want || !m.picked {
		t.Errorf("end selects #%d, not #%d", m.number, want)
	}
	if tunePress(m, "home"); m.number != first || m.picked {
		t.Errorf("home selects #%d, picked %t", m.number, m.picked)
	}
	seen := map[layout.ID]bool{}
	for range tunePanes {
		tunePress(m, "tab")
		seen[m.focus] = true
	}
	if len(seen) != int(tunePanes) || m.focus != tuneTable {
		t.Errorf("tab goes through %d of %d panes", len(seen), tunePanes)
	}
	dims := map[string]bool{}
	for range fakeOver {
		tunePress(m, "right")
		dims[slicedDim(m).key] = true
	}
	if len(dims) != len(fakeOver) {
		t.Errorf("right goes through %v", dims)
	}
	if tunePress(m, "z"); !m.zoomed {
		t.Error("z does not zoom")
	}
	if tunePress(m, "esc"); m.zoomed {
		t.Error("esc does not go back")
	}
	for _, k := range []string{"q", "ctrl+c"} {
		if !screentest.Quits(tunePress(m, k)) {
			t.Errorf("%s does not quit after the end", k)
		}
	}
	tunePress(m, "d")
	if screentest.Quits(tunePress(m, "q")) || m.dialog != nil {
		t.Error("q over the details should close them")
	}
	if tunePress(m, "?", "x"); m.dialog != nil || !m.charts.work {
		t.Error("a key that has no meaning in the help does not do what it does elsewhere")
	}
	tunePress(m, "?")
	if !screentest.Quits(tunePress(m, "ctrl+c")) {
		t.Error("ctrl+c over the help does not quit")
	}
}

// TestTuneSort holds every order against the figures.
func TestTuneSort(t *testing.T) {
	for _, target := range []float64{0, 0.05} {
		b := fakeBoard(60, 1, target)
		m := newTuneTest(b, screen.Options{}, 120, 40)
		for by := range tuneSorts {
			value := func(i int) float64 {
				t := &b.Trials[i]
				switch {
				case by == sortMeasure:
					return history.LastIfMissing(float64(t.Best))
				case by == sortTime && target > 0:
					return history.LastIfMissing(float64(t.TargetSeconds))
				case by == sortTime:
					return t.Seconds
				case by == sortNumber:
					return -float64(t.Number)
				}
				return float64(slices.Index(b.Order, i))
			}
			if m.sort != by || len(m.rows) != len(b.Trials) {
				t.Errorf("order %d shows %d of %d trials", m.sort, len(m.rows), len(b.Trials))
			}
			for k := 1; k < len(m.rows); k++ {
				if value(m.rows[k-1]) > value(m.rows[k]) {
					t.Errorf("target %g, order %d: row %d is out of order", target, by, k)
				}
			}
			tunePress(m, "S")
		}
		if m.sort != sortRank {
			t.Errorf("S does not go round: %d", m.sort)
		}
	}
}

func TestTuneFilter(t *testing.T) {
	b := fakeBoard(60, 1, 0.05)
	of := func(keep func(t *tune.Trial) bool) (n int) {
		for i := range b.Trials {
			if keep(&b.Trials[i]) {
				n++
			}
		}
		return n
	}
	opt := func(t *tune.Trial) string { return t.Choices[0].Value }
	for filter, want := range map[string]int{
		"":               len(b.Trials),
		"adam":           of(func(t *tune.Trial) bool { return opt(t) == "adam" }),
		"OPT=adam final": of(func(t *tune.Trial) bool { return opt(t) == "adam" && t.Final }),
		"-adam":          of(func(t *tune.Trial) bool { return opt(t) != "adam" }),
		"diverged":       of(func(t *tune.Trial) bool { return t.State == tune.Diverged }),
		"batch=64 -":     of(func(t *tune.Trial) bool { return len(t.Choices) > 2 && t.Choices[2].Value == "64" }),
		"nothing at all": 0,
	} {
		m := newTuneTest(b, screen.Options{}, 120, 40)
		tunePress(m, "/")
		m.Update(tea.PasteMsg{Content: filter})
		tunePress(m, "enter")
		if len(m.rows) != want || m.filter.Typing {
			t.Errorf("%q shows %d trials, not %d", filter, len(m.rows), want)
		}
		tunePress(m, "esc")
		if len(m.rows) != len(b.Trials) {
			t.Errorf("esc leaves %d trials", len(m.rows))
		}
	}
}

// TestTuneNews: a selection by hand stays with its trial, the other one with the best, whatever comes.
func TestTuneNews(t *testing.T) {
	early, late := fakeBoard(60, 0.3, 0.05), fakeBoard(60, 1, 0.05)
	for _, picked := range []bool{false, true} {
		m := newTuneTest(early, screen.Options{}, 100, 30)
		want := late.Trials[late.Order[0]].Number
		if picked {
			tunePress(m, "down", "down")
			want = m.number
		}
		m.Update(leaderboardMsg{late, nil})
		if m.number != want {
			t.Errorf("picked %t: #%d is selected, not #%d", picked, m.number, want)
		}
		tuneText(t, m)
	}
}

// TestTuneOfAProgram: what a program counts are steps in the table, over the curves and of a trial, and it has no equivalents.
func TestTuneOfAProgram(t *testing.T) {
	for program, want := range map[*tune.Program][]string{nil: {"epochs", "by gradient equivalents", "at epoch 30", "30 epochs, 3.90 s, 45 equivalents"},
		{}: {"steps", "by steps", "at step 30", "30 steps, 3.90 s"}} {
		b := fakeBoard(9, 1, 0)
		b.Program = program
		m := newTuneTest(b, screen.Options{}, 200, 60)
		m.number, m.picked = 1, true
		m.charts.work = program == nil

		text := tuneText(t, m) + strings.Join(details(m, 80), "\n")
		for _, word := range want {
			if !strings.Contains(text, word) {
				t.Errorf("%v: no %q in\n%s", program, word, text)
			}
		}
		if strings.Contains(text, "epoch") == (program != nil) || strings.Contains(text, "equivalents") == (program != nil) {
			t.Errorf("%v:\n%s", program, text)
		}
	}
}

func TestOneMeaning(t *testing.T) {
	m := newTuneTest(fakeBoard(3, 1, 0), screen.Options{}, 80, 24)
	screentest.OneMeaning(t, m.bindings, m)
}

// TestTuneShares: a click on a share turns the slice to it.
func TestTuneShares(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {200, 60}, {160, 30}} {
		m := newTuneTest(fakeBoard(60, 1, 0.05), screen.Options{}, size[0], size[1])
		for y, row := range strings.Split(tuneText(t, m), "\n") {
			for _, d := range fakeOver {
				if x := strings.Index(row, style.Pad(d.Key, 5)+" ━"); x >= 0 {
					m.Update(tea.MouseClickMsg{X: style.Cells(row[:x]), Y: y, Button: tea.MouseLeft})
					if got := slicedDim(m).key; got != d.Key || m.focus != tuneMatters {
						t.Errorf("%v: a click on %s turns to %s", size, d.Key, got)
					}
				}
			}
		}
		if m.focus != tuneMatters {
			t.Errorf("%v: no shares are on the screen", size)
		}
	}
}

// TestTuneSliceBegins over a range that trials with a value have.
func TestTuneSliceBegins(t *testing.T) {
	for _, target := range []float64{0, 0.05} {
		b := fakeBoard(60, 1, target)
		b.Importances = nil
		if m := newTuneTest(b, screen.Options{}, 80, 24); slicedDim(m).key != "rate" {
			t.Errorf("target %v: over %s, expected the first range", target, slicedDim(m).key)
		}
		for i := range b.Trials {
			if tr := &b.Trials[i]; len(tr.Choices) < 3 { // those without a batch are the only ones with a rate, and have no value
				tr.Best, tr.TargetSeconds, tr.TargetEquivalents = tuitest.NaN, tuitest.NaN, tuitest.NaN
			} else {
				tr.Choices[1].Value = ""
			}
		}
		if m := newTuneTest(b, screen.Options{}, 80, 24); slicedDim(m).key != "batch" {
			t.Errorf("target %v: over %s, which no trial with a value has", target, slicedDim(m).key)
		}
	}
}

func TestTuneMouse(t *testing.T) {
	b := fakeBoard(60, 1, 0.05)
	m := newTuneTest(b, screen.Options{}, 120, 40)
	text := strings.Split(tuneText(t, m), "\n")
	for row := range m.table.Rows {
		y := m.table.Y + m.table.First + row
		m.Update(tea.MouseClickMsg{X: 30, Y: y, Button: tea.MouseLeft})
		if want := fmt.Sprintf(" #%d ", m.number); !strings.Contains(text[y], want) {
			t.Errorf("a click on %q selects%s", text[y], want)
		}
	}
	m.Update(tea.MouseWheelMsg{X: 30, Y: m.table.Y + 3, Button: tea.MouseWheelUp})
	if want := b.Trials[b.Order[m.table.Rows-2]].Number; m.number != want {
		t.Errorf("the wheel selects #%d, not #%d", m.number, want)
	}
	for _, pane := range []layout.ID{tuneProgress, tuneSlice} {
		for k, cell := range m.charts.dots[pane].cells {
			at := m.charts.dots[pane].at
			covered := false // by a dot that is drawn later
			for _, other := range m.charts.dots[pane].cells[k+1:] {
				covered = covered || other == cell
			}
			m.Update(tea.MouseClickMsg{X: at.X + cell[0], Y: at.Y + cell[1], Button: tea.MouseLeft})
			if want := b.Trials[m.charts.dots[pane].trials[k]].Number; !covered && m.number != want {
				t.Errorf("pane %d: a click on #%d selects #%d", pane, want, m.number)
			}
			if m.focus != pane {
				t.Fatalf("a click into pane %d focuses %d", pane, m.focus)
			}
		}
	}
}

// TestTunePicture writes the pictures of all charts.
func TestTunePicture(t *testing.T) {
	dir := t.TempDir()
	m := newTuneTest(fakeBoard(60, 1, 0.05), screen.Options{Pictures: dir}, 120, 40)
	for _, c := range []struct{ keys, want string }{{"p", "best so far"}, {"tab tab p", "seconds"}, {"tab p", "rate"}, {"right right p", "tr-gn"}, {"P", "leaderboard"}} {
		cmd := tunePress(m, strings.Fields(c.keys)...)
		msg, ok := cmd().(screen.PictureMsg)
		if !ok || msg.Err != nil {
			t.Fatalf("%s: %v", c.keys, msg.Err)
		}
		text, err := os.ReadFile(msg.Path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "<svg") || !strings.Contains(string(text), c.want) {
			t.Errorf("%s has no %q", filepath.Base(msg.Path), c.want)
		}
	}
	if tunePress(m, "tab", "p"); !strings.Contains(m.Notice.Text, "nothing to draw") {
		t.Errorf("a pane without a chart says %q", m.Notice.Text)
	}
	m.Pictures = ""
	if tunePress(m, "shift+tab", "p"); !strings.Contains(m.Notice.Text, "can't") {
		t.Errorf("without a directory the note says %q", m.Notice.Text)
	}
}

// TestTuneCommand: the rows of the command line are one command to a shell, and c sends it to the clipboard.
func TestTuneCommand(t *testing.T) {
	b := fakeBoard(60, 1, 0.05)
	for _, w := range []int{10, 30, 60, 200} {
		rows := shellRows(b.Command, w)
		for i, row := range rows {
			if i < len(rows)-1 != strings.HasSuffix(row, " \\") {
				t.Errorf("%d wide: row %q of %d", i, row, len(rows))
			}
		}
		if got := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(rows, "\n"), " \\\n", " ")), " "); got != b.Command {
			t.Errorf("%d wide: %s", w, got)
		}
	}
	m := newTuneTest(b, screen.Options{}, 100, 30)
	batch, ok := tunePress(m, "c", "c")().(tea.BatchMsg)
	if !ok || len(batch) != 2 || fmt.Sprint(batch[0]()) != b.Command {
		t.Errorf("c does not copy the command line")
	}
	if m = newTuneTest(&tune.Leaderboard{}, screen.Options{}, 100, 30); !strings.Contains(tuneText(t, m), "no trial") {
		t.Error("an empty search has trials")
	}
	if tunePress(m, "c", "c"); !strings.Contains(m.Notice.Text, "nothing was found") {
		t.Errorf("without a best trial the note says %q", m.Notice.Text)
	}
}

// TestTunePreferences: a theme that is chosen here is kept, what other screens have chosen stays, and what is kept is
// followed.
func TestTunePreferences(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ui.toml")
	if err := (screen.Preferences{XAxis: "seconds", Save: "onnx"}).Write(file); err != nil {
		t.Fatal(err)
	}
	m := newTuneTest(fakeBoard(9, 1, 0), screen.Options{Preferences: file}, 120, 40)
	tunePress(m, "T", "x")
	m.Prefs.Flush()
	p, err := screen.ReadPreferences(file)
	if err != nil || p.Theme != "dark" || p.XAxis != "seconds" || p.Save != "onnx" {
		t.Errorf("kept %+v, %v", p, err)
	}
	if next := newTuneTest(fakeBoard(9, 1, 0), screen.Options{Preferences: file}, 120, 40); next.ThemeChoice != style.ThemeDark {
		t.Errorf("follows %v", next.ThemeChoice)
	}
}

func TestTuneCommands(t *testing.T) {
	m := newTuneTest(fakeBoard(20, 1, 0.05), screen.Options{}, 120, 40)
	tunePress(m, ":", "g", "l", "y", "p", "h", "enter")
	if m.dialog != nil || m.GlyphChoice == style.GlyphsAuto {
		t.Errorf("the search for commands left %T and glyphs %v", m.dialog, m.GlyphChoice)
	}
}

// TestTuneAccuracy: a key has the trials judged by their accuracy, in the table, the titles, the target and the charts,
// and none where nothing is classified.
func TestTuneAccuracy(t *testing.T) {
	m := newTuneTest(fakeBoard(60, 1, 0.05), screen.Options{NoColor: true}, 200, 60)
	before := tuneText(t, m)
	tunePress(m, "v", "A")
	after := tuneText(t, m)
	for _, want := range []string{"time to 95 % test accuracy", "found  test accuracy  by seconds ", "100 %┤", "accuracy"} {
		if !strings.Contains(after, want) {
			t.Errorf("no %q in\n%s", want, after)
		}
	}
	if b := &m.leaderboard.Trials[m.best]; m.text(float64(b.Best)) != format.Percent(1-float64(b.Best)) || m.widthText(0.01) != "1.00 %" {
		t.Errorf("the best is %s", m.text(float64(b.Best)))
	}
	if tunePress(m, "A", "v"); tuneText(t, m) != before {
		t.Error("the key does not bring the errors back")
	}
	r := newTuneTest(fakeRegression(), screen.Options{NoColor: true}, 120, 40)
	if tunePress(r, "A"); r.accurate() {
		t.Error("a regression has an accuracy")
	}
}

// TestTuneWords: each word of a title is in the search or in the list of docs/screen.md.
func TestTuneWords(t *testing.T) {
	for name, c := range tuneScreens {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
			if name == "help" || name == "command" || name == "details" || name == "asking" {
				continue
			}
			m := newTuneTest(c.board(), screen.Options{NoColor: true}, size[0], size[1])
			tunePress(m, c.keys...)
			names := strings.Fields(strings.ReplaceAll(m.filter.Text, "-", ""))
			for _, d := range m.dims {
				names = append(names, d.key)
			}
			titles := tuitest.Titles(tuneText(t, m))
			tunePress(m, "esc", "a") // parallel coordinates
			tuitest.CheckWords(t, append(titles, tuitest.Titles(tuneText(t, m))...), names)
		}
	}
}

// TestOpen: enter opens the run of the selected trial, or says why it can't be.
func TestOpen(t *testing.T) {
	m := newTuneTest(fakeBoard(60, 1, 0), screen.Options{}, 80, 24)
	var opened []string
	m.open = func(_ context.Context, t *tune.Trial) (screen.Layer, func(), error) {
		opened = append(opened, t.Run)
		return nil, nil, errors.New("it is gone")
	}
	cmd := tunePress(m, "down", "enter")
	m.Update(cmd())
	want := m.leaderboard.Trials[m.rows[1]].Run
	if len(opened) != 1 || opened[0] != want || !strings.Contains(tuneText(t, m), "it is gone") {
		t.Errorf("enter opens %q, not %q:\n%s", opened, want, tuneText(t, m))
	}
	m = newTuneTest(&tune.Leaderboard{}, screen.Options{}, 80, 24)
	tunePress(m, "enter")
	if !strings.Contains(tuneText(t, m), "no trial with a run") {
		t.Error(tuneText(t, m))
	}
}

// TestSeeds: what was run with several seeds has its mean and its spread in the header, and a band among the curves.
func TestSeeds(t *testing.T) {
	b := fakeBoard(60, 1, 0)
	var finals []int
	for i := range b.Trials {
		if f := &b.Trials[i]; f.Final {
			finals = append(finals, i)
			f.Setting, f.Best = b.Trials[finals[0]].Setting, event.Float(0.01*float64(1+len(finals)))
		}
	}
	b.Order = append(finals, slices.DeleteFunc(b.Order, func(i int) bool { return b.Trials[i].Final })...)
	m := newTuneTest(b, screen.Options{}, 120, 40)
	if text := tuneText(t, m); !strings.Contains(text, "± σ of 3 seeds") || !strings.Contains(text, "best 3.00 % ± 1.00 % by #") {
		t.Error(text)
	}
}
