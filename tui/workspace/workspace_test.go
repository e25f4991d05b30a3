package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"newtop/internal/format"
	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// typed are the keys of a text.
func typed(s string) []string { return strings.Split(s, "") }

// scenes are keys that lead to what the workspace can show.
var scenes = map[string][]string{
	"begin": nil, "charts": {"tab", "right", "down"}, "hidden": {"space", "down", "space"}, "solo": {"down", "down", "s"}, "pinned": {"down", "*", "down"},
	"filter": append([]string{"/"}, typed("opt=adam lr>0.005")...), "filtered": append(append([]string{"/"}, typed("test_loss<0.3 -lion")...), "enter"),
	"wrong": append([]string{"/"}, typed("lr>x")...), "unknown": append([]string{"/"}, typed("depht>20")...), "none": {"a", "a"}, "by-value": {"S", "S", "down"},
	"cursor": {"tab", ".", "<", "<", "<"}, "chart": {"tab", "right", "enter"}, "alone": {"z"}, "help": {"?"}, "palette": append([]string{":"}, typed("acc")...),
	"metrics-filter": append([]string{"tab", "/"}, typed("^val")...), "colour": {"c", "c"}, "grouped": {"tab", "g", "down"}, "column": append(append([]string{"C"}, typed("val/acc")...), "down", "enter"), "groups": append(append([]string{"g"}, typed("opt")...), "enter"), "grouping": {"g", "down"}, "differences": {"d", "down", "+"},
}

func TestScreens(t *testing.T) {
	for name, keys := range scenes {
		t.Run(name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
				m := newTest(9, screen.Options{NoColor: true}, size[0], size[1])
				m.View()
				press(m, keys...)
				if picture := text(t, m); size[0] == 120 || name == "begin" || size[0] == 60 && (name == "charts" || name == "filter") {
					add(fmt.Sprintf("%dx%d", size[0], size[1]), picture)
				}
			}
		})
	}
}

// trained is what a run that newtop recorded has: the i-th of some, of which number 3 is judged by another measure and
// number 4 has not begun.
func trained(i int) feed.Delta {
	r := feed.NewRelay(nil)
	f := r.Feed()
	defer f.Close()
	opening := event.RunEvent{ID: fmt.Sprintf("20261121-12000%d-abc00%d", i, i), Optimizer: []string{"tr-gn", "adam", "scg", "adam"}[i%4],
		Data:  event.DataInfo{Name: "letters", TrainRows: 10, TestRows: 5, Classes: 26},
		Model: event.ModelInfo{Layers: []int{16, 70, 26}, Parameters: 6066}, Settings: map[string]any{"radius": 1 + i/2}}
	if i == 3 {
		opening.Data.Classes = 0
	}
	var events []event.Event
	if i != 4 {
		events = append(events, opening)
		for k := range 40 + i {
			e := event.UnknownEpoch(k)
			e.Loss, e.GradientNorm, e.Elapsed, e.GradientEquivalents = event.Float(3/float64(k+1)), 1, event.Float(float64(k)/2), event.Float(7*k)
			e.TestError, e.TestRMSE = event.Float(0.9*math.Pow(float64(k+1), -0.7-0.2*float64(i))), e.Loss
			e.Inner = []event.InnerSummary{{Iterations: k}}
			events = append(events, e)
		}
		events = append(events, event.SettingEvent{Epoch: 20, Key: "radius", Value: 3},
			event.DoneEvent{Reason: []event.Reason{event.ReasonEpochs, event.ReasonTarget}[i%2], Epochs: 39 + i})
	}
	r.Show(events, func(s *event.Status) { s.Replay = &event.Replay{Source: "x", Live: true, Speed: 1} })
	d, err := f.Wait(context.Background())
	if err != nil {
		panic(err)
	}
	return d
}

// newComparison is the screen of n recorded runs.
func newComparison(n int, o screen.Options, w, h int) *model {
	var runs []Watched
	for i := range n {
		runs = append(runs, Watched{Name: []string{"baseline", "adam 0.01", "scg", "adam on numbers", "late"}[i], Source: fmt.Sprint("run ", i), Feed: silent{}})
	}
	m := Compare(runs, o).(*model)
	m.Cancel()
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	for i, r := range m.runs {
		m.Update(newsMsg{came: []came{{run: r, delta: trained(i)}}})
	}
	return m
}

// TestDifferences: the pane says what runs reached, what that took, what it took to reach the target, and what they chose.
func TestDifferences(t *testing.T) {
	add := tuitest.Archive(t)
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}} {
		m := newComparison(5, screen.Options{NoColor: true}, size[0], size[1])
		m.View()
		press(m, "d")
		add(fmt.Sprintf("%dx%d", size[0], size[1]), text(t, m))
	}
	m := newComparison(4, screen.Options{}, 160, 60)
	row := func(name string) []string {
		t.Helper()
		runs := m.ranked()
		for _, f := range facts(m, runs) {
			if f.name == name {
				var out []string
				for i := range runs {
					out = append(out, f.cells[i].Text)
				}
				return out
			}
		}
		return nil
	}
	if r := m.ranked(); r[0] != m.runs[2] || r[2] != m.runs[0] || r[3] != m.runs[3] {
		t.Errorf("%s is the best, and %s the last", r[0].name, r[3].name)
	}
	before := row("≤ 7 % in epoch")
	if target, ok := m.differences.targetOf(m.ranked()); !ok || target != 0.07 || before == nil || before[3] != "" {
		t.Errorf("the target is %v, reached in %q", target, before)
	}
	press(m, "d", "+")
	if hard := row("≤ 6 % in epoch"); hard == nil || hard[0] <= before[0] && len(hard[0]) <= len(before[0]) || hard[2] != "" {
		t.Errorf("the harder target is reached in %q, the easier one in %q", hard, before)
	}
	if got := row("radius"); fmt.Sprint(got) != "[2 1 1 2]" {
		t.Errorf("radius %q", got)
	}
	if got := row("changed later"); !strings.Contains(fmt.Sprint(got), "radius = 3 at 20") {
		t.Errorf("changed %q", got)
	}
	if row("data") != nil {
		t.Error("what is the same is shown")
	}
	if press(m, "a"); row("data") == nil {
		t.Error("what is the same is not to be had")
	}
	press(m, "down", "right", "esc", "space", "f", "p")
	if len(m.ranked()) != 3 || !m.faded || m.differences.open {
		t.Errorf("%d runs, faded %v, differences %v", len(m.ranked()), m.faded, m.differences.open)
	}
}

// TestGroups: runs with one value of a choice are a row and a curve, the mean of theirs; enter has their runs, esc the groups again.
func TestGroups(t *testing.T) {
	m := newTest(8, screen.Options{}, 160, 50)
	press(m, append(append([]string{"g"}, typed("lr")...), "enter")...)
	if m.by != "lr" || len(m.rows) != 4 || m.rows[0].name != "lr=0.1  ×2" || len(m.shown()) != 4 {
		t.Fatalf("by %q: %d rows, the first is %q", m.by, len(m.rows), m.rows[0].name)
	}
	m.View()
	v, text := m.value(m.rows[0])
	a, b := m.runs[0].h.Curves.Loss.Last(), m.runs[4].h.Curves.Loss.Last()
	if want := (a + b) / 2; math.Abs(v-want) > 1e-15 || text != format.Number(want)+" ±"+format.Number(math.Abs(a-b)/math.Sqrt2) {
		t.Errorf("the group has %s, its runs %v and %v", text, a, b)
	}
	if got, want := m.rows[0].h.Curves.Loss.At(chart.Epochs, 30), (m.runs[0].h.Curves.Loss.At(chart.Epochs, 30)+m.runs[4].h.Curves.Loss.At(chart.Epochs, 30))/2; got != want {
		t.Errorf("at epoch 30 the mean is %v, not %v", got, want)
	}
	e := event.UnknownEpoch(30)
	e.Epoch, e.Loss = 61, 7
	for _, r := range []*run{m.runs[0], m.runs[4]} {
		m.Update(newsMsg{came: []came{{run: r, delta: feed.Delta{Status: r.h.Status, Epochs: []event.EpochEvent{e}}}}})
	}
	if m.View(); m.rows[0].h.Curves.Loss.Last() != 7 {
		t.Error("the mean does not follow its runs")
	}
	press(m, "b", "enter")
	if m.spread != chart.Range || len(m.rows) != 2 || m.rows[1] != m.runs[4] {
		t.Errorf("%v, and %d runs in the group", m.spread, len(m.rows))
	}
	press(m, "esc", "/", "s", "g", "d", "enter")
	if len(m.rows) != 4 || m.rows[0].name != "lr=0.1  ×1" {
		t.Errorf("%d groups of what the filter left, the first is %q", len(m.rows), m.rows[0].name)
	}
	press(m, "esc", "g", "enter")
	if len(m.rows) != 8 || m.by != "" {
		t.Errorf("%d rows without groups", len(m.rows))
	}
}

// TestColumn: the list has a metric's best value or a setting in its column, and is sorted by it.
func TestColumn(t *testing.T) {
	m := newTest(5, screen.Options{}, 160, 50)
	m.View()
	press(m, append(append([]string{"C"}, typed("train/acc")...), "down", "enter")...)
	if m.columnTitle() != "train/acc max" || m.sorted != byValue {
		t.Errorf("the column is %q, sorted %v", m.columnTitle(), m.sorted)
	}
	for i, r := range m.rows[1:] {
		if a, _ := m.value(m.rows[i]); !(a >= first(m.value(r))) {
			t.Errorf("row %d has %v", i, a)
		}
	}
	press(m, append(append([]string{"C"}, typed("lr")...), "down", "down", "enter")...)
	var got []string
	for _, r := range m.rows {
		_, text := m.value(r)
		got = append(got, text)
	}
	if s := fmt.Sprint(got); s != "[0.003 0.01 0.03 0.1 0.1]" || !strings.Contains(text(t, m), " lr ") {
		t.Error(s)
	}
	press(m, append(append([]string{"g"}, typed("opt")...), "enter")...)
	if v, text := m.value(m.rows[len(m.rows)-1]); v == v || text != "…" {
		t.Errorf("a group of several rates has %q", text)
	}
}

func first(v float64, _ string) float64 { return v }

// TestView: the view that V keeps is that of the next runs, as far as they have what it names, and V forgets it.
func TestView(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ui.toml")
	keep := func(keys ...string) screen.Preferences {
		m := newTest(8, screen.Options{Preferences: file}, 120, 40)
		m.View()
		press(m, keys...)
		m.Prefs.Flush()
		p, err := screen.ReadPreferences(file)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	keep(append(append([]string{"g"}, typed("lr")...), "enter", "b", "S", "S", "tab", "/", "a", "c", "c", "enter", "*", "tab", "V")...)
	m := newTest(8, screen.Options{Preferences: file}, 120, 40)
	m.View()
	if m.by != "lr" || len(m.rows) != 4 || m.spread != chart.Range || m.sorted != byValue || m.grid.Selected() != "train/acc" || m.wanted != nil {
		t.Errorf("by %q, %d rows, %v, %v, %s", m.by, len(m.rows), m.spread, m.sorted, m.grid.Selected())
	}
	if p := keep("V"); p.View != "" {
		t.Errorf("%q is not forgotten", p.View)
	}
}

// TestGroupNames: the settings but the seed put together what differs by chance alone.
func TestGroupNames(t *testing.T) {
	l := &list{}
	for i := range 4 {
		l.enter(Watched{Name: fmt.Sprintf("net-lr%d-seed_%d/metrics.csv", i/2, i%2), Source: "x"}, 4)
		l.runs[i].h.Run = &event.RunEvent{Data: event.DataInfo{Name: fmt.Sprint(i)}, Settings: map[string]any{"lr": i / 2, "decay": i / 2, "random_seed": i % 2, "a_path": i / 2, "log_dir": i}}
		l.runs[i].h.Status.Replay = &event.Replay{}
	}
	for by, want := range map[string]string{
		butSeed: "[decay=0 decay=0 decay=1 decay=1]", "lr": "[lr=0 lr=0 lr=1 lr=1]", namesNumber: "[net-lr0 net-lr0 net-lr1 net-lr1]",
	} {
		if got := fmt.Sprint(groupsBy(l, by)); got != want {
			t.Errorf("%s: %s, not %s", by, got, want)
		}
	}
	for name, want := range map[string]string{"adam-5": "adam", "run3": "run3", "a": "a", "lr0.1-seed5": "lr0.1", "7": "7", "x_12.csv": "x"} {
		if got := withoutNumber(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

func TestEmpty(t *testing.T) {
	m := newTest(0, screen.Options{NoColor: true}, 80, 24)
	if s := text(t, m); !strings.Contains(s, "waiting for a run") || !strings.Contains(s, "no run is shown") {
		t.Error(s)
	}
	for _, k := range []string{"space", "s", "*", "c", "enter", "S", "a", "g", "enter", "b", "down", "end", "tab", "enter", "pgdown", ".", "x", ":", "down", "enter"} {
		press(m, k)
		text(t, m)
	}
}

// TestSizes draws every scene with every set of glyphs at sizes around those where the screen changes.
func TestSizes(t *testing.T) {
	for _, keys := range scenes {
		for g := style.GlyphsBraille; g < style.GlyphsCount; g++ {
			m := newTest(9, screen.Options{Glyphs: g}, 100, 30)
			m.View()
			press(m, keys...)
			for k, size := range [][2]int{{1, 1}, {24, 5}, {30, 8}, {59, 15}, {79, 17}, {80, 6}, {100, 30}, {300, 90}} {
				if (k+int(g))%2 == 0 && !nightly.On() {
					continue
				}
				m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				text(t, m)
			}
		}
	}
}

func TestFilter(t *testing.T) {
	m := newTest(9, screen.Options{}, 120, 40)
	for filter, want := range map[string]string{
		"": "0 1 2 3 4 5 6 7 8", "adam": "0 1 2 3", "-adam": "4 5 6 7 8", "lr>0.01": "0 1 4 5 8", "lr>=0.01 opt=SGD": "4 5 6", "lr=1e-1": "0 4 8", "lr!=0.1 -sgd": "1 2 3",
		"name~-lr0.1": "0 4 8", "depth=34": "1 4 7", "model.depth>40": "2 5 8", "state=failed": "5", "source~exp00 epoch>55": "0 1 2 3 4", "seed=3": "3", "data=cifar10 opt~LIO": "8",
		"val/acc<0.9": "3 7", "acc>2": "", "nothing": "",
	} {
		hidden, err := filtered(m.runs, filter)
		if err != nil {
			t.Errorf("%q: %v", filter, err)
			continue
		}
		var got []string
		for i, r := range m.runs {
			if !hidden[r] {
				got = append(got, fmt.Sprint(i))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q finds %q, not %q", filter, s, want)
		}
	}
	for filter, want := range map[string]string{
		"lr>": "lr>: expected a value after it", "lr>abc": "lr>abc: expected a number after >", ">3": ">3: expected a name before it", "lr!3": "lr!3: expected one of != >= <= = > < ~",
		"depht=18": "no run has depht",
	} {
		if _, err := filtered(m.runs, filter); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, not %q", filter, err, want)
		}
	}
}

// A run that is hidden has no curve, and one that alone is shown has its parts in common charts.
func TestShown(t *testing.T) {
	m := newTest(4, screen.Options{}, 120, 40)
	press(m, "space")
	if n := len(m.shown()); n != 3 || m.isShown(m.runs[0]) {
		t.Errorf("%d runs are shown", n)
	}
	press(m, "down", "s")
	if n := len(m.shown()); n != 1 || m.shown()[0] != m.runs[1] || !strings.Contains(text(t, m), "only adam-lr0.03-1") {
		t.Errorf("%d runs are shown", n)
	}
	press(m, "s", "a")
	if n := len(m.shown()); n != 4 {
		t.Errorf("%d runs are shown of all", n)
	}
	press(m, "a")
	if n := len(m.shown()); n != 0 {
		t.Errorf("%d runs are shown of none", n)
	}
	press(m, "d", "down", "end")
}

// TestCursor: all runs tell what they had where the cursor is.
func TestCursor(t *testing.T) {
	m := newTest(3, screen.Options{}, 120, 40)
	m.View()
	press(m, "tab", ".", "<", "<")
	at := m.grid.Cursor[0]
	s := text(t, m)
	for _, r := range m.runs {
		if v := r.h.Curves.Loss.At(0, at); !strings.Contains(s, fmt.Sprintf("%.4f", v)) {
			t.Errorf("%s had %.4f at %v:\n%s", r.name, v, at, s)
		}
	}
}

// TestMouse hides a run by its sign, selects one, and goes to the charts.
func TestMouse(t *testing.T) {
	m := newTest(4, screen.Options{}, 120, 40)
	m.View()
	m.Update(tea.MouseClickMsg{X: 1, Y: 4, Button: tea.MouseLeft})
	if m.at != m.runs[2] || !m.runs[2].off {
		t.Errorf("run %v is selected, hidden %v", m.at.name, m.runs[2].off)
	}
	m.Update(tea.MouseClickMsg{X: 10, Y: 3, Button: tea.MouseLeft})
	if m.at != m.runs[1] || m.runs[1].off {
		t.Errorf("run %v is selected", m.at.name)
	}
	m.Update(tea.MouseWheelMsg{X: 10, Y: 3, Button: tea.MouseWheelDown})
	if m.at != m.runs[2] {
		t.Errorf("run %v is selected by the wheel", m.at.name)
	}
	m.View()
	m.Update(tea.MouseClickMsg{X: 100, Y: 10, Button: tea.MouseLeft})
	if m.focus != onCharts || m.grid.Selected() == "loss" {
		t.Errorf("%q is selected, list %v", m.grid.Selected(), m.focus)
	}
	m.View()
	m.Update(tea.MouseMotionMsg{X: 60, Y: 5})
	if !m.grid.On {
		t.Error("motion sets no cursor")
	}
}

// program runs the commands of a model as Bubble Tea does, one message at a time.
func program(ctx context.Context, m *model, until func() bool) {
	msgs := make(chan tea.Msg, 64)
	var start func(cmd tea.Cmd)
	start = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		go func() {
			msg := cmd()
			if batch, ok := msg.(tea.BatchMsg); ok {
				for _, c := range batch {
					start(c)
				}
				return
			}
			select {
			case msgs <- msg:
			case <-ctx.Done():
			}
		}()
	}
	start(m.Init())
	for !until() {
		select {
		case msg := <-msgs:
			if msg != nil {
				_, cmd := m.Update(msg)
				start(cmd)
			}
		case <-ctx.Done():
			return
		}
	}
}

// TestFollows: what feeds bring is seen, runs that are found later come, a feed that breaks says so, and nothing stays behind.
func TestFollows(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	relays := []*feed.Relay{feed.NewRelay(nil), feed.NewRelay(nil), feed.NewRelay(nil)}
	var runs []Watched
	for i, r := range relays[:2] {
		w := fakeWatched(i)
		w.Feed = r.Feed()
		defer w.Feed.Close()
		runs = append(runs, w)
	}
	more := make(chan Watched, 1)
	m := newModel(append(runs, Watched{Name: "broken", Feed: broken{}}), more, screen.Options{})
	defer m.Cancel()
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	late := fakeWatched(2)
	late.Feed = relays[2].Feed()
	defer late.Feed.Close()
	more <- late
	close(more)
	for i, r := range relays {
		go func() {
			for _, e := range fakeEvents(i, 40, 1) {
				r.Add(e)
			}
		}()
	}
	program(ctx, m, func() bool {
		if len(m.runs) < 4 || m.runs[2].err == nil || m.more != nil {
			return false
		}
		return m.runs[0].h.Latest.Epoch == 40 && m.runs[1].h.Done != nil && m.runs[3].h.Latest.Epoch == 38
	})
	if ctx.Err() != nil {
		t.Fatal("not all came")
	}
	m.left = 5
	s := text(t, m)
	for _, want := range []string{"4 runs", "5 older ones left out", "● 2 running", "adam-lr0.01-2", "broken"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

// broken is a feed that ends at once.
type broken struct{ silent }

func (broken) Wait(context.Context) (feed.Delta, error) {
	return feed.Delta{}, errors.New("the file is\x1b[2J gone")
}

// TestProgram runs the screen in a program, and ends it in every way.
func TestProgram(t *testing.T) {
	for _, c := range []struct {
		keys   string
		cancel bool
		want   error
	}{{keys: "q"}, {keys: "\tls?\x03"}, {keys: "/", cancel: true, want: context.Canceled}} {
		t.Run(fmt.Sprintf("%q", c.keys), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			relay := feed.NewRelay(nil)
			w := fakeWatched(0)
			w.Feed = relay.Feed()
			defer w.Feed.Close()
			for _, e := range fakeEvents(0, 30, 2) {
				relay.Add(e)
			}
			r := screentest.Start(t, ctx, 2000, func(o screen.Options) (*screen.Base, tea.Model) {
				m := newModel([]Watched{w}, nil, o)
				return &m.Base, m
			})
			r.Press(t, c.keys)
			if c.cancel {
				cancel()
			}
			r.EndsWith(t, c.want)
		})
	}
}

// layer is a screen that stands over the workspace.
type layer struct{ *model }

// TestOpen opens the run's own screen, or says why not.
func TestOpen(t *testing.T) {
	m := newTest(2, screen.Options{}, 120, 40)
	opened := 0
	m.runs[0].open = func(context.Context) (screen.Layer, func(), error) { opened++; return layer{}, nil, nil }
	m.runs[1].open = func(context.Context) (screen.Layer, func(), error) { return nil, nil, io.ErrUnexpectedEOF }
	_, cmd := m.Update(screentest.Typed("enter"))
	batch, _ := cmd().(tea.BatchMsg)
	for _, c := range append(batch, cmd) {
		if c != nil && len(batch) > 0 {
			c()
		}
	}
	if opened == 0 {
		t.Error("the run was not opened")
	}
	if msg := m.open2(1); msg != screen.RefusedMsg(io.ErrUnexpectedEOF.Error()) {
		t.Errorf("%v", msg)
	}
}

func (m *model) open2(i int) tea.Msg { m.at = m.runs[i]; return open(m, "")() }

func TestOneMeaning(t *testing.T) {
	m := newTest(2, screen.Options{}, 120, 40)
	for _, m.focus = range []focus{onList, onCharts, onDifferences} {
		screentest.OneMeaning(t, m.bindings, m)
	}
}

// FuzzWorkspace throws keys, mice, sizes and Deltas at the screen. No frame may overflow.
func FuzzWorkspace(f *testing.F) {
	f.Add(uint64(1), []byte("jjspcaof lr>1\x01ttGGz\x90\x91??::"))
	f.Add(uint64(2), []byte("\tllxxmm..<<++g/abc\x95\x96ppoo"))
	f.Add(uint64(9), []byte{0, 1, 2, 3, 20, 21, 22, 250, 251, 252, 253, 254, 255})
	special := []string{"up", "down", "left", "right", "tab", "shift+tab", "enter", "esc", "home", "end", "space", "pgup", "pgdown", "backspace", "ctrl+u", "ctrl+p", "g"}
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		r := rand.New(rand.NewPCG(seed, 8))
		m := newTest(r.IntN(4), screen.Options{Glyphs: style.Glyphs(seed % uint64(style.GlyphsCount)), NoColor: seed%2 == 0}, 24+r.IntN(160), 5+r.IntN(50))
		for _, b := range steps[:min(len(steps), 60)] {
			switch {
			case b < 8:
				m.Update(tea.WindowSizeMsg{Width: r.IntN(220), Height: r.IntN(70)})
			case b < 24 && len(m.runs) > 0:
				m.Update(newsMsg{came: []came{{run: m.runs[r.IntN(len(m.runs))], delta: tuitest.RandomDelta(r)}}})
			case b < 28:
				m.Update(newsMsg{more: []Watched{{Name: tuitest.RandomText(r), Source: tuitest.RandomText(r), Feed: silent{}}}})
			case b < 32:
				m.Update(tea.PasteMsg{Content: tuitest.RandomText(r)})
			case b >= 0xe0:
				mouse := tea.Mouse{X: r.IntN(200), Y: r.IntN(60), Button: []tea.MouseButton{tea.MouseLeft, tea.MouseWheelUp, tea.MouseWheelDown}[r.IntN(3)]}
				m.Update([]tea.Msg{tea.MouseClickMsg(mouse), tea.MouseWheelMsg(mouse), tea.MouseMotionMsg(mouse), tea.MouseReleaseMsg(mouse)}[b%4])
			case b >= 0x80:
				m.Update(screentest.Typed(special[int(b)%len(special)]))
			default:
				m.Update(screentest.Typed(string(rune(b))))
			}
			if m.Width > 0 && m.Height > layout.FooterRows { // wide characters of the data have no counterpart in ASCII
				screentest.Plain(t, m.Finished(m.screen()), m.Width, m.Height, m.Glyphs.ASCII)
			}
		}
	})
}

// large is a workspace of so many runs of so many metrics.
func large(runs, metrics, epochs int) *model {
	m := newTest(0, screen.Options{}, 200, 60)
	var n newsMsg
	for i := range runs {
		w := fakeWatched(i)
		m.enter(w, runs)
		r := m.runs[len(m.runs)-1]
		n.came = append(n.came, came{run: r, delta: deltaOf(i, epochs+runs, metrics-6)})
	}
	m.Update(n)
	return m
}

// BenchmarkScreen draws 50 runs of 40 metrics and 1,000 epochs after one of them told another epoch.
func BenchmarkScreen(b *testing.B) {
	m := large(50, 40, 1000)
	m.View()
	b.ResetTimer()
	for i := range b.N {
		e := event.UnknownEpoch(2000 + i)
		e.Loss = 1
		r := m.runs[i%50]
		r.h.Apply(&feed.Delta{Status: r.h.Status, Epochs: []event.EpochEvent{e}})
		m.View()
	}
}

// accuracyLog is a log of three steps with accuracies, the i-th.
func accuracyLog(i int) feed.Delta {
	d := feed.Delta{Run: &event.RunEvent{ID: fmt.Sprint(i), Data: event.DataInfo{Name: "keras"}},
		Status: event.Status{Phase: event.Running, Epoch: 3, Replay: &event.Replay{Source: "log", Live: true, Epoch: 3, Last: 3}}}
	for k := range 3 + i {
		e, acc := event.UnknownEpoch(k+1), event.Float(0.8+0.01*float64(k+i))
		e.Loss, e.Error, e.ValidationError = 1, 1-acc, 1.1-acc
		for _, m := range [][2]string{{"acc", "error"}, {"val_acc", "validation_error"}} {
			e.Metrics = append(e.Metrics, event.Metric{Key: m[0], MetricNote: &event.MetricNote{Of: m[1]}, Value: acc})
		}
		d.Epochs = append(d.Epochs, e)
	}
	return d
}

// TestAccuracy: what logs have as accuracies stands under their names, in their direction, for runs and groups, in charts,
// the list and the differences; a key shows errors, and keeps the choice.
func TestAccuracy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ui.toml")
	var runs []Watched
	for i := range 4 {
		runs = append(runs, Watched{Name: fmt.Sprint("r", i), Tags: []string{[]string{"wide", "deep"}[i%2]}, Feed: silent{}})
	}
	m := newModel(runs, nil, screen.Options{Preferences: file})
	m.Cancel()
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 50})
	for i, r := range m.runs {
		m.Update(newsMsg{came: []came{{run: r, delta: accuracyLog(i)}}})
	}
	m.View()
	if names := fmt.Sprint(m.grid.Names()); names != "[loss acc val_acc]" {
		t.Fatalf("the charts are %s", names)
	}
	shows := func(want ...string) {
		t.Helper()
		for _, s := range want {
			if all := text(t, m); !strings.Contains(all, s) {
				t.Errorf("no %q in\n%s", s, all)
			}
		}
	}
	press(m, append(append([]string{"C"}, typed("val_acc")...), "down", "enter")...) // the best
	if m.rows[0] != m.runs[3] || m.columnTitle() != "val_acc max" {
		t.Errorf("%s is the best by %s", m.rows[0].name, m.columnTitle())
	}
	press(m, "d")
	shows("best val_acc", "78.0 %", "≥ ")
	press(m, append(append([]string{"d", "g"}, typed("tags")...), "enter", "S", "S")...)
	if m.column.best = false; len(m.rows) != 2 {
		t.Fatalf("%d groups", len(m.rows))
	}
	m.View()
	for _, g := range m.rows {
		v, text := m.value(g)
		if end := 1 - g.h.Curves.ValidationMetric.Last(); v != end || !strings.Contains(text, "±2.83 %") {
			t.Errorf("%s: the list has %s, the chart ends at %v", g.name, text, end)
		}
	}
	press(m, "d")
	shows("A r0", "B r1", "A r2", "B r3")
	press(m, "A")
	shows("error ──", "valid error", "best validation error", "≤ ")
	m.Prefs.Flush()
	if p, err := screen.ReadPreferences(file); err != nil || p.Accuracy == nil || *p.Accuracy {
		t.Errorf("the choice is not kept: %v, %v", p.Accuracy, err)
	}
}

// TestWords: each word over a chart or the list is in the logs or in the list of docs/screen.md.
func TestWords(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		m := newTest(8, screen.Options{}, size[0], size[1])
		m.View()
		titles := append(slices.Clone(m.grid.Names()), m.header(200))
		press(m, append(append([]string{"g"}, typed("lr")...), "enter")...)
		for range 4 { // all bands
			press(m, "b")
			titles = append(titles, m.header(200))
		}
		press(m, "d")
		for _, f := range facts(m, m.ranked())[:8] {
			titles = append(titles, f.name)
		}
		tuitest.CheckWords(t, append(titles, m.header(200)), []string{"newtop cifar10 train/acc val/acc lr layers.0.grad_norm layers.1.grad_norm layers.2.grad_norm layers.3.grad_norm"})
	}
}
