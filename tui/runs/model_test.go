package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// scenes are keys that lead to what the list can show.
var scenes = map[string][]string{
	"begin": nil, "filter": {"/", "a", "d", "a", "m"}, "marked": {"down", "space", "space", "down"}, "help": {"?"}, "columns": {"C", "down", "down", "space"},
	"note": {"down", "down", "n"}, "tags": {"down", "down", "t"}, "sorted": {"S", "S", "S", "s"}, "search": {"down", "down", "down", "right", "down"}, "palette": {":", "s", "o", "r", "t"},
	"removed": {"down", "down", "d"}, "refused": {"d"}, "end": {"end"}, "nothing": {"/", "z", "z", "enter"},
}

func TestScreens(t *testing.T) {
	for name, keys := range scenes {
		t.Run(name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range [][2]int{{40, 10}, {60, 16}, {80, 24}, {120, 40}, {200, 60}} {
				m := newTest(30, screen.Options{NoColor: true}, size[0], size[1])
				press(m, keys...)
				if text := text(t, m); size[0] == 80 || name == "begin" || size[0] < 80 && (name == "note" || name == "columns") {
					add(fmt.Sprintf("%dx%d", size[0], size[1]), text)
				}
			}
		})
	}
}

// TestSizes draws every scene with every set of glyphs at sizes around those where the screen changes.
func TestSizes(t *testing.T) {
	for _, keys := range scenes {
		for g := style.GlyphsBraille; g < style.GlyphsCount; g++ {
			m := newTest(30, screen.Options{Glyphs: g}, 100, 30)
			press(m, keys...)
			for k, size := range [][2]int{{1, 1}, {24, 5}, {30, 8}, {59, 15}, {79, 17}, {149, 16}, {150, 15}, {150, 16}, {300, 90}} {
				if (k+int(g))%2 == 0 && !nightly.On() {
					continue
				}
				m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				text(t, m)
			}
		}
	}
}

// library is the list of a store with runs, whose commands are carried out.
type library struct {
	*Model
	t     *testing.T
	store *store.Store
	asked []string  // what the host was asked to open
	other []tea.Msg // what is for the program
}

func newLibrary(t *testing.T, o screen.Options) *library {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "runs.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l := &library{t: t, store: s}
	for i, id := range []string{"old", "adam-run", "third"} {
		r := recorder.New(s, recorder.About{Name: map[int]string{1: "fast"}[i]})
		e := fakeRun(i + 1).Opening
		if e == nil {
			e = fakeRun(1).Opening
		}
		opening := *e
		opening.ID, opening.Time = id, today.Add(time.Duration(i)*time.Hour)
		events := []event.Event{opening}
		for k := range 5 {
			e := event.UnknownEpoch(k)
			e.TestError, e.Loss = event.Float(0.5/float64(k+1+i)), 1
			events = append(events, e)
		}
		for _, e := range append(events, event.DoneEvent{Reason: event.ReasonEpochs, Epochs: 4}) {
			if err := r.Record(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	open := func(what string) (screen.Layer, func(), error) {
		l.asked = append(l.asked, what)
		return nil, nil, errors.New("opened " + what)
	}
	o.Environ = append(o.Environ, "LANG=C.UTF-8")
	l.Model = New(s, Host{MaxCompared: 2,
		Watch: func(_ context.Context, id string) (screen.Layer, func(), error) { return open("watch " + id) },
		Compare: func(_ context.Context, ids []string) (screen.Layer, func(), error) {
			return open("compare " + strings.Join(ids, " "))
		},
		Search:      func(_ context.Context, name string) (screen.Layer, func(), error) { return open("search " + name) },
		Unresumable: func(r *store.Run) string { return map[string]string{"old": "old has reached its 4 epochs"}[r.ID] },
	}, o)
	l.now = func() time.Time { return today.Add(5 * time.Hour) }
	t.Cleanup(l.Cancel)
	l.Update(tea.WindowSizeMsg{Width: 160, Height: 24})
	l.do(l.load())
	return l
}

// do carries a command out, with all that comes of it, but for what waits, in a bubble.
func (l *library) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	came := make(chan tea.Msg, 1)
	go func() { came <- cmd() }()
	var msg tea.Msg
	select {
	case msg = <-came:
	case <-time.After(500 * time.Millisecond):
		return
	}
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			l.do(c)
		}
	default:
		if reflect.TypeOf(msg).PkgPath() == reflect.TypeFor[tea.QuitMsg]().PkgPath() {
			l.other = append(l.other, msg)
			return
		}
		_, next := l.Update(msg)
		if _, read := msg.(foundMsg); read { // whose command waits for a change
			l.drawing = false
			l.do(readCurves(l.Model))
			return
		}
		l.do(next)
	}
}

func (l *library) press(keys ...string) {
	for _, k := range keys {
		l.View()
		_, cmd := l.Update(screentest.Typed(k))
		l.do(cmd)
	}
}

func (l *library) names() (out []string) {
	for i := range l.rows {
		out = append(out, l.rows[i].label())
	}
	return out
}

func (l *library) shows(want ...string) {
	l.t.Helper()
	if got := l.names(); !slices.Equal(got, want) {
		l.t.Errorf("the list has %q, not %q", got, want)
	}
}

func (l *library) says(want string) {
	l.t.Helper()
	if !strings.Contains(l.Notice.Text, want) {
		l.t.Errorf("it says %q, not %q", l.Notice.Text, want)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, screen.Options{})
		l.shows("third", "fast", "old")
		if len(l.curves["third"].epochs) != 5 || l.curves["third"].points != detailPoints {
			t.Errorf("curves %+v", l.curves["third"])
		}
		l.press("down", "enter")
		l.says("opened watch adam-run")
		l.press("/", "f", "a", "enter")
		l.shows("fast")
		l.press("esc")
		l.shows("third", "fast", "old")
		if l.selected().key != "adam-run" {
			t.Errorf("%s is selected", l.selected().key)
		}
		l.press("c")
		l.says("two marked runs")
		l.press("home", "space", "space", "space")
		l.says("no more than 2 runs")
		l.press("c")
		l.says("opened compare third adam-run")
		l.press("end", "r")
		l.says("old has reached its 4 epochs")
		l.press("Y")
		if len(l.other) == 0 || fmt.Sprint(l.other[len(l.other)-1]) != "old" {
			t.Errorf("copied %v", l.other)
		}
		l.press("home", "r")
		if l.Resume() != "third" || len(l.other) != 2 {
			t.Errorf("%q is gone on with: %v", l.Resume(), l.other)
		}
	})
}

func TestSort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, screen.Options{})
		l.sortBy("best")
		l.shows("third", "fast", "old")
		l.sortBy("best")
		l.shows("old", "fast", "third")
		l.sortBy("name")
		l.shows("fast", "old", "third")
		l.View()
		for x := range l.Width {
			if l.table.TitleAt(x, l.table.Y) == "age" {
				l.Update(tea.MouseClickMsg{X: x, Y: l.table.Y, Button: tea.MouseLeft})
				break
			}
		}
		l.shows("third", "fast", "old")
		l.Update(tea.MouseClickMsg{X: 10, Y: l.table.Y + 1 + 2, Button: tea.MouseLeft})
		if l.selected().key != "old" {
			t.Errorf("a click selects %s", l.selected().key)
		}
		l.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
		if l.selected().key != "adam-run" {
			t.Errorf("the wheel selects %s", l.selected().key)
		}
	})
}

// A click chooses a column, a second one shows or hides it, and one beside the dialog closes it.
func TestColumnsByMouse(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		m := newTest(3, screen.Options{NoColor: true}, size[0], size[1])
		press(m, "C")
		was := m.table.Columns[2].Off
		y := slices.IndexFunc(strings.Split(text(t, m), "\n"), func(row string) bool { return strings.Contains(row, "▸ [") })
		for range 2 {
			m.Update(tea.MouseClickMsg{X: 40, Y: y + 2, Button: tea.MouseLeft})
			text(t, m)
		}
		if m.table.Columns[2].Off == was || m.dialog == nil {
			t.Errorf("%v: the third column is hidden: %v, as before", size, was)
		}
		m.Update(tea.MouseClickMsg{X: 0, Y: 1, Button: tea.MouseLeft})
		if m.dialog != nil {
			t.Errorf("%v: a click beside the dialog leaves it open", size)
		}
	}
}

// What is removed is gone from the list at once, and from the store when it can't be had back any more.
func TestRemove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, screen.Options{})
		l.press("down", "d")
		l.shows("third", "old")
		l.says("removed fast: u undoes")
		l.press("u")
		l.shows("third", "fast", "old")
		if l.selected().key != "adam-run" {
			t.Errorf("%s is selected", l.selected().key)
		}
		l.press("d", "d")
		l.shows("third")
		_, cmd := l.Update(expiredMsg(l.pending[0].number))
		l.do(cmd)
		stored := func(want ...string) {
			t.Helper()
			runs, err := l.store.Runs(t.Context(), store.Filter{})
			var got []string
			for _, r := range runs {
				got = append(got, r.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("the store has %q, not %q: %v", got, want, err)
			}
		}
		stored("third", "old")
		l.do(l.load())
		l.shows("third")
		if err := l.Flush(); err != nil {
			t.Fatal(err)
		}
		stored("third")
		live := recorder.New(l.store, recorder.About{Name: "live"})
		if err := live.Record(*fakeRun(1).Opening); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); len(l.rows) < 2 && time.Now().Before(deadline); {
			l.do(l.load())
		}
		l.sortBy("name")
		l.press("home", "d")
		l.says("live is being trained")
		l.press("r")
		l.says("live is being trained")
		if err := live.Flush(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOneMeaning(t *testing.T) {
	t.Parallel()
	m := newTest(3, screen.Options{}, 80, 24)
	screentest.OneMeaning(t, m.bindings, m)
}

// R opens the list over a run's screen, and leaves it again; alone the list has no such key.
func TestBackByItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, over := range []bool{false, true} {
			l := newLibrary(t, screen.Options{})
			l.Over = over
			l.press("R")
			if left := len(l.other) == 1; left != over {
				t.Errorf("over another screen %v, left %v", over, left)
			}
		}
	})
}

func TestNotesAndTags(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, screen.Options{})
		l.press("n", "h", "i", "enter", "t", "a")
		l.Update(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
		l.press("b", "enter")
		r, err := l.store.Find(t.Context(), "third")
		if err != nil || r.Note != "hi" || !slices.Equal(r.Tags, []string{"a", "b"}) {
			t.Fatalf("%q, %q: %v", r.Note, r.Tags, err)
		}
		l.press("n", "!", "esc")
		if s := l.selected(); s.run.Note != "hi" {
			t.Errorf("the list has %q", s.run.Note)
		}
		l.press("N", "x", "y", "enter")
		if _, err := l.store.Find(t.Context(), "xy"); err != nil {
			t.Error(err)
		}
		l.press("/", "h", "i", "enter")
		l.shows("xy")
	})
}

// Columns and order are the user's for good.
func TestPreferences(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "ui.toml")
		l := newLibrary(t, screen.Options{Preferences: file})
		l.press("C", "down", "space", "esc", "S", "s")
		written, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(written), "run-columns = 'name data method epochs best curve age tags'") || !strings.Contains(string(written), "run-sort = '-name'") {
			t.Fatalf("%s: %v", written, err)
		}
		again := newLibrary(t, screen.Options{Preferences: file})
		again.shows("third", "old", "fast")
		again.View()
		if !again.table.Column("state").Off {
			t.Errorf("the column is back:\n%s", text(t, again.Model))
		}
	})
}

// The list follows the store, and does nothing while that stays as it is.
func TestFollow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, screen.Options{})
		came := make(chan tea.Msg, 1)
		cmd := l.follow()
		go func() { came <- cmd() }()
		select {
		case msg := <-came:
			t.Fatalf("%v without a change", msg)
		case <-time.After(1200 * time.Millisecond):
		}
		if err := l.store.Rename(t.Context(), "old", "renamed"); err != nil {
			t.Fatal(err)
		}
		select {
		case msg := <-came:
			_, next := l.Update(msg)
			l.do(next)
			l.shows("third", "fast", "renamed")
		case <-time.After(time.Minute):
			t.Fatal("the change is not seen")
		}
	})
}

// TestSettingColumns: settings in which runs differ are columns to choose and to sort by; a marks all that are listed, then none.
func TestSettingColumns(t *testing.T) {
	m := newTest(3, screen.Options{NoColor: true}, 120, 24)
	for i, v := range []any{0.03, "auto", 0.1} {
		m.runs[i].Opening = &event.RunEvent{Settings: map[string]any{"rate": v, "same": 1}}
	}
	m.wanted = "=rate"
	m.arrange()
	if c := m.table.Column("=rate"); c == nil || c.Off || m.table.Column("=same") != nil {
		t.Fatalf("the column is %v", c)
	}
	m.sortBy("=rate")
	var got []string
	for _, r := range m.rows {
		if r.run != nil {
			got = append(got, m.table.Column("=rate").Cell(r, 9).Text)
		}
	}
	if s := strings.Join(got, " "); s != "0.03 0.1 auto" {
		t.Error(s)
	}
	if markAll(m, ""); len(m.marked) != 3 {
		t.Errorf("%d marked", len(m.marked))
	}
	if markAll(m, ""); len(m.marked) != 0 {
		t.Errorf("%d marked", len(m.marked))
	}
}

// TestAccuracy: a run whose log has accuracies is listed with them; a key shows errors, and of newtop's own runs
// accuracies.
func TestAccuracy(t *testing.T) {
	m := newTest(3, screen.Options{}, 200, 40)
	e := event.UnknownEpoch(9)
	e.Error = 0.11
	e.Metrics = []event.Metric{{Key: "acc", MetricNote: &event.MetricNote{Of: "error"}, Value: 0.89}}
	f := fakeFound(3)
	f.runs[0].First, f.runs[0].Best, f.runs[0].Last, f.runs[0].Opening = &e, &e, &e, &event.RunEvent{Unit: "step", Data: event.DataInfo{Classes: 2}}
	m.Update(foundMsg{f, nil})
	r := slices.IndexFunc(m.rows, func(r *row) bool { return r.key == f.runs[0].ID })
	m.selectRow(r)
	if s := text(t, m); !strings.Contains(s, "acc 89.0 %") || !strings.Contains(s, "acc 89.0 % in step 9") {
		t.Errorf("the log's accuracy is not told in\n%s", s)
	}
	press(m, "A")
	if s := text(t, m); strings.Contains(s, "acc 89.0 %") || !strings.Contains(s, "error 11.0 % in step 9") {
		t.Errorf("no errors in\n%s", s)
	}
	press(m, "A", "j")
	tuitest.CheckWords(t, tuitest.Titles(text(t, m)), strings.Fields(m.selected().label()))
}

// TestNamesKeepWhatTellsThemApart: a name that is cut keeps its end.
func TestNamesKeepWhatTellsThemApart(t *testing.T) {
	rows := []*row{{run: &store.Run{Name: "tune-20261129-131422-86aa2e"}}, {run: &store.Run{Name: "tune-20261129-131407-3020d1"}}}
	for i, want := range []string{"…1129-131422-86aa2e", "…1129-131407-3020d1"} {
		if got := cutName(rows)(rows[i], minName).Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
