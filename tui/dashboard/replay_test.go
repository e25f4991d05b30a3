package dashboard

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/dashboard/desk"
	"newtop/tui/history"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// newWatch returns an App that has taken in a scene.
func newWatch(deltas []feed.Delta, w, h int) *desk.App {
	a := newApp(&tuitest.Feed{}, screen.Options{NoColor: true, Environ: []string{"LANG=C.UTF-8"}}, tuitest.Methods())
	now := time.Unix(0, 0)
	a.Clock = func() time.Time { return now }
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	for _, d := range deltas {
		now = now.Add(500 * time.Millisecond)
		a.Update(came(d))
	}
	return a
}

// TestReplayScreens draws watched and recorded runs whole.
func TestReplayScreens(t *testing.T) {
	for _, c := range []struct {
		name, scene    string
		keys, retained []string
	}{
		{"live", "live", nil, []string{"120x40"}}, {"pipe", "pipe", nil, nil}, {"replay", "replay", nil, []string{"60x16", "80x24"}}, {"paused", "paused", nil, nil},
		{"ended", "ended", nil, nil}, {"loading", "loading", nil, nil}, {"stale", "stale", nil, nil}, {"resumed", "resumed", nil, nil},
		{"foreign", "foreign", nil, []string{"80x24", "120x40"}}, {"figures", "figures", nil, []string{"80x24"}}, {"recorded", "recorded", nil, nil},
		{"full-disk", "full-disk", nil, nil}, {"lost", "lost", nil, nil},
		{"save", "recorded", []string{"w"}, []string{"60x16", "80x24"}}, {"save-onnx", "recorded", []string{"w", "tab"}, []string{"80x24"}},
		{"save-wrong", "recorded", []string{"w", "backspace"}, []string{"80x24"}},
		{"go-to", "paused", []string{"u", "up"}, []string{"60x16", "80x24"}}, {"help-watched", "paused", []string{"?"}, []string{"60x16", "120x40"}},
		{"palette-watched", "paused", []string{":"}, []string{"60x16", "80x24"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range screenSizes {
				a := newWatch(replayScene(c.scene), size[0], size[1])
				press(a, c.keys...)
				addFrame(add, frameText(t, a), size, c.retained)
			}
		})
	}
	for _, name := range []string{"foreign", "figures"} {
		t.Run(name+"-zoomed", func(t *testing.T) {
			add := tuitest.Archive(t)
			for id, p := range desk.NewPanes() {
				a := newWatch(replayScene(name), 100, 30)
				a.Focus = layout.ID(id)
				press(a, "z")
				rows := strings.Split(frameText(t, a), "\n")
				add(p.Name(a.PaneView()), strings.Join(rows[layout.HeaderRows:], "\n"))
			}
		})
	}
}

// TestReplayKeys presses keys at the paused replay of 40 epochs at the 20th.
func TestReplayKeys(t *testing.T) {
	readOnly := feed.ErrReadOnly.Error()
	for _, c := range []struct {
		keys []string
		want string // what is sent, or what the footer says
	}{
		{[]string{"space"}, "{On:false}"}, {[]string{"s"}, "{}"}, {[]string{"."}, "{Epoch:21}"}, {[]string{","}, "{Epoch:19}"},
		{[]string{">"}, "{Epoch:24}"}, {[]string{"<"}, "{Epoch:16}"}, {[]string{"home"}, "{Epoch:0}"},
		{[]string{"+"}, "{Factor:2}"}, {[]string{"-"}, "{Factor:0.5}"}, {[]string{"="}, "{Factor:2}"},
		{[]string{"u", "up", "enter"}, "{Epoch:21}"}, {[]string{"u", "1", "2", "enter"}, "{Epoch:12}"}, {[]string{"u", "3", "9", "enter"}, "{Epoch:39}"}, {[]string{"u", "3", "enter"}, "{Epoch:3}"},
		{[]string{"z", "."}, "{Epoch:21}"}, {[]string{"z", "<"}, "{Epoch:16}"},
		{[]string{"i"}, readOnly}, {[]string{"o"}, readOnly}, {[]string{"1"}, readOnly}, {[]string{"9"}, readOnly}, {[]string{"e"}, readOnly},
		{[]string{"f"}, readOnly}, {[]string{"k"}, readOnly}, {[]string{"w"}, readOnly},
		{[]string{"tab", "tab", "z", "l"}, readOnly}, {[]string{"shift+tab", "shift+tab", "shift+tab", "shift+tab", "z", "v"}, readOnly},
		{[]string{"shift+tab", "shift+tab", "shift+tab", "shift+tab", "z", "r"}, readOnly},
	} {
		a := newWatch(replayScene("paused"), 120, 40)
		last := len(c.keys) - 1
		press(a, c.keys[:last]...)
		if c.want == readOnly {
			a.Close() // a note's expiry is not waited for
			update(a, screentest.Typed(c.keys[last]))
		}
		cmd := press(a, c.keys[last:]...)
		got := ""
		if cmd != nil && a.Notice.Text == "" {
			got = sent(a, cmd)
		}
		if got == "" {
			got = a.Notice.Text
		}
		if got != c.want || a.Dialog != nil {
			t.Errorf("%v: %q, want %q, overlay %T", c.keys, got, c.want, a.Dialog)
		}
	}
	for _, c := range [][2]string{{"pipe", "this source can't be played back"}, {"loading", "the record is still being read"}} {
		a := newWatch(replayScene(c[0]), 120, 40)
		for _, k := range []string{"space", "s", ".", "home", "+", "u"} {
			if press(a, k); a.Notice.Text != c[1] {
				t.Errorf("%s, %s: %q", c[0], k, a.Notice.Text)
			}
			a.Notice = style.Part{}
		}
	}
	for _, name := range []string{"paused", "live", "ended", "pipe"} {
		if a := newWatch(replayScene(name), 120, 40); !screentest.Quits(press(a, "q")) {
			t.Errorf("%s: q stays", name)
		}
	}
}

// TestReplaySeeksAddUp presses keys faster than the player answers.
func TestReplaySeeksAddUp(t *testing.T) {
	a := newWatch(replayScene("paused"), 120, 40)
	f := a.Feed.(*tuitest.Feed)
	cmd := press(a, ".")
	press(a, ".", ".", ".", "+", "+", ",")
	for cmd != nil {
		_, cmd = a.Update(cmd())
	}
	want := []event.Command{event.Seek{Epoch: 21}, event.Seek{Epoch: 24}, event.Speed{Factor: 4}, event.Seek{Epoch: 23}}
	if fmt.Sprint(f.Commands) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", f.Commands, want)
	}
}

// TestReplayEnd: end follows the run, also one that is paused, and does not play one that is over from the start.
func TestReplayEnd(t *testing.T) {
	for name, want := range map[string]string{"paused": "[{On:false} {Epoch:40}]", "replay": "[{Epoch:40}]", "ended": "[{Epoch:40}]", "stale": "[{Epoch:33}]"} {
		a := newWatch(replayScene(name), 120, 40)
		sent(a, press(a, "end"))
		if got := fmt.Sprintf("%+v", a.Feed.(*tuitest.Feed).Commands); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestReplayClick clicks along the bar, and beside it.
func TestReplayClick(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {120, 40}} {
		a := newWatch(replayScene("paused"), size[0], size[1])
		a.View()
		for _, c := range []struct{ part, epoch int }{{0, 0}, {barOf(a).W - 1, 40}, {(barOf(a).W - 1) / 2, 20}} {
			_, cmd := a.Update(tea.MouseClickMsg{X: barOf(a).X + c.part, Y: barOf(a).Y, Button: tea.MouseLeft})
			if cmd == nil {
				t.Fatal("a click on the bar does nothing")
			}
			answer(a)
			var epoch int
			if _, err := fmt.Sscanf(sent(a, cmd), "{Epoch:%d}", &epoch); err != nil || math.Abs(float64(epoch-c.epoch)) > 1 {
				t.Errorf("%v: epoch %d, want %d, %v", size, epoch, c.epoch, err)
			}
			a.Feed.(*tuitest.Feed).Commands = nil
		}
		if _, cmd := a.Update(tea.MouseClickMsg{X: barOf(a).X + 1, Y: barOf(a).Y + 5}); cmd != nil {
			t.Error("a click elsewhere goes to an epoch")
		}
	}
}

// TestRestart: after a Restart the screen is that of a program which has seen nothing else, but for where it looks.
func TestRestart(t *testing.T) {
	full := tuitest.Script{Epochs: 40, Spectra: true, Skips: true, SwitchAt: 12, Fate: "done"}
	back := replayOf(full, 9, event.Paused, event.Replay{Source: "x", Seekable: true, Speed: 1})
	back[0].Restart = true
	for _, keys := range [][]string{nil, {"z"}, {"tab", "tab", "z", "left"}, {"y", "tab"}, {"shift+tab", "shift+tab", "z", "up"}} {
		a := newWatch(append(replayOf(full, 40, event.Ended, event.Replay{Source: "x", Seekable: true, Speed: 1}), feed.Delta{
			Status: back[0].Status, Rewinds: []event.RewindEvent{{Epoch: 40, To: 3}}, Errors: []event.ErrorsEvent{tuitest.ErrorsAt(40, 26, 0)}}), 120, 40)
		press(a, keys...)
		frameText(t, a)
		b := newWatch(nil, 120, 40)
		press(b, keys...)
		b.Focus, b.Zoomed = a.Focus, a.Zoomed // a pane without anything to walk through leaves its keys to others
		for _, d := range back {
			a.Update(came(d))
			b.Update(came(d))
		}
		if got, want := frameText(t, a), frameText(t, b); got != want {
			t.Errorf("%v: after a restart\n%s\nfrom nothing\n%s", keys, got, want)
		}
		if a.H.Done != nil || len(a.H.Curves.AllMarks(chart.Epochs)) != 0 || a.H.Analyses.Errors != nil {
			t.Errorf("%v: the end, %d marks or errors of what is void are still there", keys, len(a.H.Curves.AllMarks(chart.Epochs)))
		}
		if _, ok := a.H.Earlier.Epochs[30]; !ok {
			t.Error("the list of epochs to go to has forgotten one that was shown")
		}
	}
	a := newWatch(replayOf(full, 40, event.Ended, event.Replay{Source: "x", Seekable: true, Speed: 1}), 120, 40)
	run := *back[0].Run
	run.ID = "another"
	back[0].Run = &run
	a.Update(came(back[0]))
	if len(a.H.Earlier.Epochs) > 0 {
		t.Error("epochs of another run are remembered")
	}
}

// TestRewindsAtOnce: a viewer who gets a run's past at once sees what one has seen who was there: the spectra and the
// changes of what was given up are gone, those that came after are there.
func TestRewindsAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	epochs := func(from, to int) (out []event.Event) {
		for e := from; e <= to; e++ {
			out = append(out, tuitest.Epoch(e, 1, r))
		}
		return out
	}
	spectrum := func(e int) event.Event {
		return event.SpectrumEvent{Epoch: e, Eigenvalues: []event.Float{2, -1}, Residuals: []event.Float{0, 0}}
	}
	events := []event.Event{event.RunEvent{ID: "a", Data: event.DataInfo{Name: "letters", Classes: 26}}}
	events = append(append(events, epochs(0, 5)...), spectrum(5), event.SwitchEvent{Epoch: 5, From: "tr-newton", To: "adam"})
	events = append(append(events, epochs(6, 10)...), spectrum(8), event.SettingEvent{Epoch: 9, Key: "rate", Value: 0.25}, event.RewindEvent{Epoch: 10, To: 6})
	events = append(append(events, epochs(7, 8)...), spectrum(8), event.SettingEvent{Epoch: 8, Key: "rate", Value: 0.5})
	seen := func(at ...int) string {
		relay := feed.NewRelay(nil)
		feed := relay.Feed()
		h, from := &history.History{}, 0
		for _, n := range append(at, len(events)) {
			relay.Show(events[from:n], func(*event.Status) {})
			d, err := feed.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			h.Apply(&d)
			from = n
		}
		text := ""
		for _, s := range h.Spectra {
			text += fmt.Sprint("spectrum ", s.Epoch, ", ")
		}
		for _, n := range h.Curves.AllMarks(chart.Epochs) {
			text += fmt.Sprint(n.Text, " at ", n.X, ", ")
		}
		return text
	}
	one := make([]int, len(events)-1)
	for i := range one {
		one[i] = i + 1
	}
	want := "spectrum 5, spectrum 8, adam at 5, back to 6 at 6, rate = 0.5 at 8, "
	for _, at := range [][]int{one, nil, {4}, {12, 17}, {15}} {
		if got := seen(at...); got != want {
			t.Errorf("in parts up to %v: %s\nwant %s", at, got, want)
		}
	}
}

// TestResumedAfterTheEnd: a run that had ended goes on in the same record.
func TestResumedAfterTheEnd(t *testing.T) {
	full := tuitest.Script{Epochs: 12, Fate: "done"}
	deltas := replayOf(full, 12, event.Ended, event.Replay{Source: "x", Seekable: true, Speed: 1})
	s := deltas[len(deltas)-1].Status
	s.Phase, s.Epoch = event.Running, 13
	more := feed.Delta{Status: s, Resumes: []event.ResumeEvent{{Epoch: 12}}, Epochs: []event.EpochEvent{tuitest.Epoch(13, 1, rand.New(rand.NewPCG(1, 1)))}}
	a := newWatch(append(deltas, more), 120, 40)
	more.Run, more.Done = deltas[0].Run, deltas[len(deltas)-1].Done
	b := newWatch([]feed.Delta{more}, 120, 40) // the same for a viewer who comes late
	for _, app := range []*desk.App{a, b} {
		if text := frameText(t, app); app.H.Over() || strings.Contains(text, "target reached ·") || !strings.Contains(text, "resumed") {
			t.Errorf("over %v:\n%s", app.H.Over(), text)
		}
	}
}

// TestReplayRace: a race in a record has the screen, and nobody can be picked.
func TestReplayRace(t *testing.T) {
	a := newRaceTest(3, 20, "begun", 120, 40)
	s := a.H.Status
	s.Replay = &event.Replay{Source: "x", Seekable: true, Epoch: 12, Last: 40, Speed: 1}
	a.Update(came(feed.Delta{Status: s}))
	if text := frameText(t, a); !desk.Racing(a) || strings.Contains(text, "abandon") || strings.Contains(text, "go on with") {
		t.Errorf("racing %v:\n%s", desk.Racing(a), text)
	}
	for k, want := range map[string]string{".": "{Epoch:13}", "space": "{On:true}", "x": "", "down": ""} {
		answer(a)
		a.Feed.(*tuitest.Feed).Commands = nil
		if got := sent(a, press(a, k)); got != want {
			t.Errorf("%s: %q, want %q", k, got, want)
		}
	}
	if press(a, "enter"); a.Notice.Text != feed.ErrReadOnly.Error() {
		t.Errorf("enter: %q", a.Notice.Text)
	}
	if press(a, "u"); a.Dialog == nil {
		t.Error("u opens no list of epochs")
	}
}

// TestReplayClockStands: a record's time is its own.
func TestReplayClockStands(t *testing.T) {
	for _, name := range []string{"live", "replay", "paused", "ended"} {
		a := newWatch(replayScene(name), 120, 40)
		before := frameText(t, a)
		a.Clock = func() time.Time { return time.Unix(1000, 0) }
		if _, cmd := a.Update(desk.TickMsg{}); cmd != nil || frameText(t, a) != before {
			t.Errorf("%s: the time goes on", name)
		}
	}
}

// TestForeign looks for what newtop's own runs would be told loudly and other programs' must not be.
func TestForeign(t *testing.T) {
	for _, name := range []string{"foreign", "figures"} {
		for id := range layout.Panes {
			for _, zoom := range []bool{false, true} {
				a := newWatch(replayScene(name), 120, 40)
				a.Focus, a.Zoomed = id, zoom
				text := frameText(t, a)
				for _, bad := range []string{"NaN", "reject", "×", "seed", "0 weights", "0 rows", "waiting", "k computes", "enter computes", " –"} {
					if strings.Contains(text, bad) && !(bad == " –" && id == layout.Log || bad == " –" && !zoom) {
						t.Errorf("%s, pane %d, zoomed %v: %q in\n%s", name, id, zoom, bad, text)
					}
				}
			}
		}
	}
	a := newWatch(tuitest.ExternalRun(43, false), 120, 40)
	d := feed.Delta{Status: a.H.Status, Epochs: tuitest.ExternalRun(44, false)[0].Epochs[43:]}
	d.Epochs[0].Loss = tuitest.NaN
	a.Update(came(d))
	if text := frameText(t, a); !strings.Contains(text, "train 0.1155▾") || strings.Contains(text, "×") {
		t.Errorf("a loss that is not told is shown as one that is no number:\n%s", text)
	}
	d.Epochs[0].Epoch, d.Epochs[0].Loss = 44, event.NotFinite
	a.Update(came(d))
	if text := frameText(t, a); !strings.Contains(text, "train 0.1155 ×") {
		t.Errorf("a loss that is no number any more is not shown loudly:\n%s", text)
	}
}

// TestForeignEnd: what the last line of a program leaves out is told by its epochs, and nothing is where nobody knows.
func TestForeignEnd(t *testing.T) {
	done := &event.DoneEvent{Reason: event.ReasonEpochs, Loss: tuitest.NaN, Error: tuitest.NaN, TestError: tuitest.NaN, TestRMSE: tuitest.NaN, BestTestError: tuitest.NaN, BestTestRMSE: tuitest.NaN, Elapsed: tuitest.NaN}
	for name, want := range map[string]string{
		"foreign": " all epochs done · best test error 6.54 % at epoch 40 · 43 epochs in 30.1 s · loss 0.1155 ",
		"figures": " all epochs done · 43 epochs ",
	} {
		a := newWatch(replayScene(name), 120, 40)
		s := a.H.Status
		s.Phase = event.Ended
		a.Update(came(feed.Delta{Status: s, Done: done}))
		if row := strings.Split(frameText(t, a), "\n")[1]; strings.TrimRight(row, " ")+" " != want {
			t.Errorf("%s: %q", name, row)
		}
	}
}

// TestFiguresPages goes through the figures of a program.
func TestFiguresPages(t *testing.T) {
	a := newWatch(tuitest.ExternalRun(43, false), 100, 30)
	a.Focus = layout.Region
	press(a, "z")
	if text := frameText(t, a); !strings.Contains(text, "lr") || !strings.Contains(text, "momentum") || strings.Contains(text, "bleu  ") {
		t.Errorf("first page:\n%s", text)
	}
	press(a, "v")
	if text := frameText(t, a); !strings.Contains(text, "bleu") || !strings.Contains(text, "these are 2 and 3 of 3") {
		t.Errorf("second page:\n%s", text)
	}
}

func TestRecordingInLog(t *testing.T) {
	scene := replayScene("full-disk")
	a := newWatch(scene, 120, 40)
	well := scene[len(scene)-1].Status
	well.Recording = event.Recording{Run: well.Recording.Run, Lost: 7}
	a.Update(came(feed.Delta{Status: well}))
	a.Focus = layout.Log
	press(a, "z")
	text := frameText(t, a)
	for _, want := range []string{"not recorded: no space left on device (runs.db)", "recorded again, without 7 events"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is in the log %d times:\n%s", want, strings.Count(text, want), text)
		}
	}
	if header := strings.SplitN(text, "\n", 2)[0]; !strings.Contains(header, "the record lacks 7 events") || strings.Contains(header, "not recorded") {
		t.Error(header)
	}
}

// TestUnrecordedSaysWhyFirst: where the header is cut there is still the cause.
func TestUnrecordedSaysWhyFirst(t *testing.T) {
	for _, c := range [][3]string{
		{"/a/b/runs.db", "the run is not being recorded: /a/b/runs.db: the disk is full: the last 6 events are not recorded",
			"not recorded: the disk is full: the last 6 events are not recorded (/a/b/runs.db)"},
		{"/a/b/runs.db", "event 7 is not recorded: too large", "event 7 is not recorded: too large"},
		{"", "the pipe is closed", "not recorded: the pipe is closed"},
	} {
		if got := history.Unrecorded(&event.Recording{Path: c[0], Warning: c[1]}); got != c[2] {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
}

// TestBacklogShows: events that wait for the disk are worth a word when they wait longer than a moment.
func TestBacklogShows(t *testing.T) {
	a := newWatch(replayScene("recorded"), 200, 60)
	now := a.Clock()
	a.Clock = func() time.Time { return now }
	s := a.H.Status
	for _, c := range []struct {
		backlog int
		after   time.Duration
		want    bool
	}{{500, 0, false}, {400, 900 * time.Millisecond, false}, {300, 200 * time.Millisecond, true}, {0, 0, false}, {9, 0, false}} {
		now = now.Add(c.after)
		s.Recording.Backlog = c.backlog
		a.Update(came(feed.Delta{Status: s}))
		if text := frameText(t, a); strings.Contains(text, "events to record") != c.want {
			t.Errorf("%d after %v: %v", c.backlog, c.after, !c.want)
		}
	}
}

func TestSaveForm(t *testing.T) {
	a := newWatch(replayScene("recorded"), 120, 40)
	press(a, "w", "tab")
	if got := sent(a, press(a, "enter")); got != "{File:letters-e33.onnx}" || a.Dialog != nil {
		t.Errorf("sent %s", got)
	}
	a.Update(desk.ReplyMsg{})
	d := feed.Delta{Status: a.H.Status, Saved: []event.SavedEvent{{Epoch: 33, File: "letters-e33.onnx", Format: "onnx", Bytes: 48_211}}}
	a.Update(came(d))
	if a.Notice.Text != "saved letters-e33.onnx, 48.2 kB" || !strings.Contains(frameText(t, a), "saved letters-e33.onnx") {
		t.Errorf("notice %q", a.Notice.Text)
	}
	a.Notice = style.Part{}
	a.Update(came(d))
	if a.Notice.Text != "" {
		t.Error("a file that was not asked for here is noted")
	}
	press(a, "w")
	if text := frameText(t, a); !strings.Contains(text, "letters-e33.onnx") {
		t.Errorf("the format was forgotten:\n%s", text)
	}
	press(a, "backspace")
	if press(a, "enter"); a.Dialog == nil {
		t.Error("closed with a name that is not allowed")
	}
	press(a, "ctrl+u")
	write(a, "dir/x.SafeTensors")
	a.Busy, a.Feed.(*tuitest.Feed).Commands = false, nil
	if got := sent(a, press(a, "enter")); got != "{File:dir/x.SafeTensors}" {
		t.Errorf("sent %s", got)
	}
	_, cmd := a.Update(desk.ReplyMsg{Err: &event.CommandError{Reason: "dir: no such directory"}})
	if a.Notice.Text != "refused: dir: no such directory" || cmd == nil {
		t.Errorf("notice %q", a.Notice.Text)
	}
}

// answer has what was asked for be done.
func answer(a *desk.App) {
	a.Busy = false
	a.Update(came(feed.Delta{Status: a.H.Status}))
}

// fileOf is the name in the form that saves.
func fileOf(t *testing.T, a *desk.App) string {
	t.Helper()
	name := regexp.MustCompile(`│ file (\S*)`).FindStringSubmatch(strings.ReplaceAll(frameText(t, a), "▏", ""))
	if name == nil {
		t.Fatalf("no file in\n%s", frameText(t, a))
	}
	return name[1]
}

// TestSaveNameFollows: the suggested name tells the epoch whose weights are written, until somebody types one.
func TestSaveNameFollows(t *testing.T) {
	on := func(a *desk.App) string {
		s := a.H.Status
		s.Epoch++
		a.Update(came(feed.Delta{Status: s}))
		return fileOf(t, a)
	}
	for _, c := range []struct {
		keys []string
		want string
	}{
		{nil, "letters-e34.safetensors"}, {[]string{"tab"}, "letters-e34.onnx"}, {[]string{"backspace"}, "letters-e33.safetensor"},
		{[]string{"left"}, "letters-e33.safetensors"}, {[]string{"ctrl+u"}, ""},
	} {
		a := newWatch(replayScene("recorded"), 120, 40)
		press(a, append([]string{"w"}, c.keys...)...)
		if got := on(a); got != c.want {
			t.Errorf("%v: %q, want %q", c.keys, got, c.want)
		}
	}
}

// TestSaveAfterTheEnd: a run that is over can still be saved, and says so in the footer.
func TestSaveAfterTheEnd(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 40, Fate: "done"}, screen.Options{NoColor: true}, 120, 40)
	if text := frameText(t, a); !strings.Contains(text, "w save") {
		t.Errorf("the footer does not name it:\n%s", text)
	}
	press(a, "w")
	if got := sent(a, press(a, "enter")); got != "{File:letters-e40.safetensors}" {
		t.Errorf("sent %s", got)
	}
}

// TestTimeLeft shows the time to the end of a watched run, of newtop's and of others, with times and without.
func TestTimeLeft(t *testing.T) {
	limited := func(bare bool) []feed.Delta {
		all := tuitest.ExternalRun(30, bare)
		all[0].Status.EpochLimit = 60
		all[0].Status.Epoch = 29
		for i := range 30 { // one by one
			d := feed.Delta{Status: all[0].Status}
			d.Status.Epoch = i + 1
			all = append(all, d)
		}
		all[0].Status.Epoch = 0
		return all
	}
	for name, c := range map[string]struct {
		deltas []feed.Delta
		want   string
	}{
		"newtop": {replayScene("live"), "epoch 33 of 60 ━━━─── left 0:13"}, "times": {limited(false), "epoch 30 of 60  21.0 s  left 0:2"},
		"no times": {limited(true), "epoch 30 of 60  left 0:15"},
	} {
		for _, h := range []int{24, 40} {
			text := frameText(t, newWatch(c.deltas, 80, h))
			if !strings.Contains(strings.Join(strings.Split(text, "\n")[:3], "\n"), c.want) {
				t.Errorf("%s lacks %q:\n%s", name, c.want, text)
			}
		}
	}
}

// TestConsole: a run of figures that prints lines shows them in the place of the log, which tab still reaches; a run of
// newtop's has no console, and tab passes it by.
func TestConsole(t *testing.T) {
	a := newWatch(tuitest.ExternalRun(12, false), 120, 40)
	if text := frameText(t, a); strings.Contains(text, "console") {
		t.Errorf("a console without lines:\n%s", text)
	}
	a.Update(came(feed.Delta{Status: a.H.Status, Console: []event.ConsoleEvent{{Text: "loading data"}, {Text: "ValueError: no such file"}}}))
	if text := frameText(t, a); !strings.Contains(text, "─ console  2 lines") || !strings.Contains(text, "ValueError: no such file") || strings.Contains(text, "─ log") {
		t.Errorf("the console is not there:\n%s", text)
	}
	seen := map[layout.ID]bool{}
	for range layout.Panes {
		seen[a.Focus] = true
		if text := frameText(t, a); (a.Focus == layout.Log) != strings.Contains(text, "─ log") {
			t.Errorf("pane %d:\n%s", a.Focus, text)
		}
		press(a, "tab")
	}
	if !seen[layout.Console] || !seen[layout.Log] {
		t.Errorf("tab reaches %v", seen)
	}
	a.Focus = layout.Console
	press(a, "/")
	press(a, "V")
	if text := frameText(t, a); !strings.Contains(text, "1 found") {
		t.Errorf("searched:\n%s", text)
	}
	own := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 120, 40)
	for range layout.Panes {
		press(own, "tab")
		if own.Focus == layout.Console {
			t.Error("tab stops at a console that is none")
		}
	}
}
