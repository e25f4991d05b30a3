package tuning

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"newtop/trainer/tune"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// TestTuneOdd: texts that would move a terminal's cursor, choices of any kind, and figures that are none.
func TestTuneOdd(t *testing.T) {
	b := fakeBoard(12, 1, 0.05)
	b.Name, b.Data, b.Warning = "\x1b[2Jevil\r\n\u202e", "数据集", strings.Repeat("long ", 60)
	b.Trials[0].Choices[0].Value, b.Trials[0].Error, b.Trials[0].Run = "数据\x07", "a\x1b]0;x\x07b", "\x1b[H"
	b.Trials[1].Choices = nil
	b.Trials[2].Best, b.Trials[2].Seconds, b.Trials[2].Equivalents = 1e300, math.Inf(1), math.NaN()
	b.Trials[3].Curve = []tune.Point{{Seconds: math.NaN(), Equivalents: -1, Value: 0}, {Value: tuitest.NaN}}
	b.Order = append(b.Order, 99, -1, b.Order[0])
	b.Importances = append(b.Importances, tune.Importance{Key: strings.Repeat("k", 90), Share: math.NaN(), Trend: strings.Repeat("t", 200)}, tune.Importance{Key: "x", Share: 7, Spread: -3})
	b.Command = strings.Repeat("'", 7) + "\x1b[2J"
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {160, 30}} {
		m := newTuneTest(b, screen.Options{}, size[0], size[1])
		tuneText(t, m)
		for _, k := range []string{"c", "esc", "d", "esc", "x", "y", "v", "right", "right", "z", "tab", "tab", "tab", "tab", "end", "S", "S", "p", "?"} {
			tunePress(m, k)
			tuneText(t, m)
		}
	}
}

// TestTuneZero: a measure of zero is the best there is, and stands at the bottom of a logarithmic scale, not over it.
func TestTuneZero(t *testing.T) {
	b := fakeBoard(20, 1, 0)
	best := &b.Trials[b.Order[0]]
	best.Best = 0
	m := newTuneTest(b, screen.Options{}, 120, 40)
	tuneText(t, m)
	for _, pane := range []layout.ID{tuneProgress, tuneSlice} {
		dots, low, at := &m.charts.dots[pane], 0, -1
		for k, c := range dots.cells {
			low = max(low, c[1])
			if b.Trials[dots.trials[k]].Number == best.Number {
				at = c[1]
			}
		}
		if at != low {
			t.Errorf("pane %d: the best stands in row %d, the lowest in row %d", pane, at, low)
		}
	}
	if last := bestSoFar(m, true).Last(); last != m.floor || !(last > 0) {
		t.Errorf("the best so far ends at %g", last)
	}
}

// TestTuneMethods: what several methods have under one name is one column and one axis.
func TestTuneMethods(t *testing.T) {
	b := &tune.Leaderboard{Measure: "test error", Over: []tune.Dimension{{Key: "opt", Choices: []string{"adam", "tr-gn"}}, {Key: "adam.rate", Low: 1e-4, High: 1e-2, Log: true},
		{Key: "nag.rate", Low: 1e-3, High: 1e-1, Log: true}, {Key: "tr-gn.blocks", Choices: []string{"1", "2"}}, {Key: "scg.blocks", Choices: []string{"2", "4"}}, {Key: "act", Choices: []string{"tanh"}}}}
	for i := range 6 {
		b.Trials = append(b.Trials, tune.Trial{Number: i + 1, Best: 0.1, Choices: []tune.Choice{{Key: "opt", Value: "adam"}, {Key: []string{"adam.rate", "nag.rate"}[i%2], Value: "0.002"},
			{Key: "scg.blocks", Value: "4"}, {Key: "act", Value: "tanh"}}})
	}
	s := newStanding(b)
	var keys []string
	for i := range s.dims {
		keys = append(keys, s.dims[i].key)
	}
	if got := strings.Join(keys, " "); got != "opt rate blocks" {
		t.Errorf("the dimensions are %s", got)
	}
	if d := &s.dims[1]; d.low != 1e-4 || d.high != 1e-1 || !d.log || d.position(&b.Trials[1]) != 0.002 {
		t.Errorf("the rate is %+v", d)
	}
	if d := &s.dims[2]; !slices.Equal(d.names, []string{"1", "2", "4"}) || d.position(&b.Trials[0]) != 2 {
		t.Errorf("the blocks are %+v", d)
	}
}

// TestTuneWaits: Boards come one after another, none is missed at the end, and what ends them is told.
func TestTuneWaits(t *testing.T) {
	boards := []*tune.Leaderboard{{Phase: "searching"}, fakeBoard(20, 0.3, 0.05), fakeBoard(20, 0.7, 0.05), fakeBoard(20, 1, 0.05)}
	m := newTuning(newFakeSearch(boards...), nil, screen.Options{Environ: []string{"LANG=C.UTF-8"}})
	defer m.Cancel()
	for _, want := range boards[1:] {
		m.receive(m.wait(0)().(leaderboardMsg))
		if m.leaderboard != want || m.ended {
			t.Fatalf("has the Leaderboard of %g s, not of %g s", m.leaderboard.Seconds, want.Seconds)
		}
	}
	if m.receive(m.wait(0)().(leaderboardMsg)); !m.ended || m.err != nil || !strings.Contains(m.Notice.Text, "over") {
		t.Errorf("after the last one: ended %t, %v, %q", m.ended, m.err, m.Notice.Text)
	}
	m = newTuning(newFakeSearch(boards...), nil, screen.Options{Environ: []string{"LANG=C.UTF-8"}})
	defer m.Cancel()
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	m.Update(leaderboardMsg{nil, errors.New("the disk\nis full")})
	if text := tuneText(t, m); !strings.Contains(text, "the disk is full") || !strings.Contains(text, "failed") {
		t.Errorf("an error says\n%s", text)
	}
}

// TestTuneStop: q asks, q again stops the search, and the program ends with its last Leaderboard; a third q does not wait.
func TestTuneStop(t *testing.T) {
	for _, last := range []string{"", "q", "ctrl+c"} {
		s := newFakeSearch(fakeBoard(20, 0.5, 0.05))
		s.holds = true
		m := newTuning(s, nil, screen.Options{Environ: []string{"LANG=C.UTF-8"}})
		defer m.Cancel()
		m.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
		if tunePress(m, "q"); m.dialog == nil {
			t.Fatal("q does not ask")
		}
		if tunePress(m, "esc"); m.dialog != nil || m.leaving {
			t.Fatal("esc does not go on")
		}
		if tunePress(m, "/", "ctrl+c"); m.filter.Typing || m.dialog == nil {
			t.Fatal("ctrl+c does not ask while a filter is typed")
		}
		cmd := tunePress(m, "ctrl+c")
		if msg := cmd(); msg != nil || !m.leaving {
			t.Fatal("the search is not stopped")
		}
		if last != "" {
			if !screentest.Quits(tunePress(m, last)) {
				t.Errorf("%s does not leave a search that is stopping", last)
			}
			continue
		}
		if cmd := m.receive(m.wait(0)().(leaderboardMsg)); screentest.Quits(cmd) || m.leaderboard.Phase != "stopped" {
			t.Errorf("the phase is %q", m.leaderboard.Phase)
		}
		if !screentest.Quits(m.receive(m.wait(0)().(leaderboardMsg))) {
			t.Error("the program does not end with the search")
		}
	}
}

// startTuning runs a program and waits for its first bytes.
func startTuning(t *testing.T, ctx context.Context, s Search, bytes int64) *screentest.Running {
	t.Helper()
	return screentest.Start(t, ctx, bytes, func(o screen.Options) (*screen.Base, tea.Model) {
		m := newTuning(s, nil, o)
		return &m.Base, m
	})
}

// TestTuneRests: a search that is over is written once, and then nothing.
func TestTuneRests(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := startTuning(t, ctx, newFakeSearch(fakeBoard(60, 1, 0.05)), 1000)
	r.Out.Rest(t)
	cancel()
	<-r.Ended
}

// TestTuneEnds ends programs in every way and looks for goroutines.
func TestTuneEnds(t *testing.T) {
	for _, c := range []struct {
		keys   string
		cancel bool
		want   error
	}{{keys: "qq"}, {keys: "tzd\x03\x03"}, {keys: "?", cancel: true, want: context.Canceled}} {
		t.Run(fmt.Sprintf("%q", c.keys), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := newFakeSearch(fakeBoard(10, 0.2, 0), fakeBoard(20, 0.5, 0.05))
			s.holds = true
			r := startTuning(t, ctx, s, 100)
			r.Press(t, c.keys)
			if c.cancel {
				cancel()
			}
			r.EndsWith(t, c.want)
			if s.stopped == c.cancel {
				t.Errorf("the search was stopped: %t", s.stopped)
			}
		})
	}
}

// randomBoard is a search of anything.
func randomBoard(r *rand.Rand) *tune.Leaderboard {
	f := func() float64 { return float64(tuitest.RandomFloat(r)) }
	b := &tune.Leaderboard{Name: tuitest.RandomText(r), Data: tuitest.RandomText(r), Measure: []string{"test error", "test RMSE", ""}[r.IntN(3)], Target: []float64{0, 0.05, f()}[r.IntN(3)],
		Phase: []string{"", "searching", "finals", "done", "stopped", tuitest.RandomText(r)}[r.IntN(6)], Seconds: f(), Budget: f(), Spent: f(), MaxWork: f(),
		Planned: r.IntN(90), Parallel: r.IntN(5), Threads: r.IntN(5), Command: tuitest.RandomText(r), Warning: tuitest.RandomText(r)}
	keys := []string{"opt", "rate", "batch", tuitest.RandomText(r), "net"}
	for _, k := range keys[:r.IntN(len(keys)+1)] {
		d := tune.Dimension{Key: k, Low: f(), High: f(), Log: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			d.Choices = []string{"adam", tuitest.RandomText(r), "64"}[:r.IntN(4)]
		}
		b.Over = append(b.Over, d)
	}
	for i := range r.IntN(40) {
		t := tune.Trial{Number: i + r.IntN(3), Seed: r.Uint64(), State: tune.State(r.IntN(9)), Error: tuitest.RandomText(r), Run: tuitest.RandomText(r), Rung: r.IntN(3), Final: r.IntN(5) == 0,
			Epochs: r.IntN(1e6), Best: tuitest.RandomFloat(r), Last: tuitest.RandomFloat(r), Loss: tuitest.RandomFloat(r), Seconds: f(), Equivalents: f(), Started: f(), Ended: f(), EndedAt: f(),
			TargetSeconds: tuitest.RandomFloat(r), TargetEquivalents: tuitest.RandomFloat(r)}
		for _, k := range keys[:r.IntN(len(keys)+1)] {
			t.Choices = append(t.Choices, tune.Choice{Key: k, Value: []string{"adam", "64", strconv.FormatFloat(f(), 'g', -1, 64), tuitest.RandomText(r)}[r.IntN(4)], Number: f()})
		}
		for range r.IntN(30) {
			t.Curve = append(t.Curve, tune.Point{Seconds: f(), Equivalents: f(), Value: tuitest.RandomFloat(r)})
		}
		b.Trials = append(b.Trials, t)
		b.Order = append(b.Order, r.IntN(50)-2)
		b.Importances = append(b.Importances, tune.Importance{Key: keys[r.IntN(len(keys))], Share: f(), Spread: f(), Trend: tuitest.RandomText(r)})
	}
	b.Importances = b.Importances[:min(len(b.Importances), r.IntN(8))]
	return b
}

// FuzzTune throws Boards, keys, mice and sizes at the screen. No frame may overflow, or have a sequence of the data's.
func FuzzTune(f *testing.F) {
	f.Add(uint64(1), []byte("xxyvd\x01zz\tss//ab\x02mMcX0"))
	f.Add(uint64(2), []byte("\x03\x03\x03ddaa??\x09\x0a\x0bccffpPtgqq"))
	f.Add(uint64(9), []byte{0, 1, 2, 3, 8, 9, 10, 11, 250, 251, 252, 253, 254, 255})
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		r := rand.New(rand.NewPCG(seed, 8))
		m := newTuneTest(randomBoard(r), screen.Options{Glyphs: style.Glyphs(seed % uint64(style.GlyphsCount)), NoColor: seed%2 == 0}, 60+r.IntN(80), 16+r.IntN(30))
		for _, b := range steps[:min(len(steps), 40)] {
			tuneStorm(m, r, b)
			if m.Height == 0 || m.Width == 0 {
				m.View()
				continue
			}
			tuneText(t, m)
		}
	})
}

// tuneStorm lets one thing happen.
func tuneStorm(m *model, r *rand.Rand, b byte) {
	special := []string{"up", "down", "left", "right", "tab", "shift+tab", "enter", "esc", "home", "end", "space", "pgup", "pgdown", "backspace"}
	switch {
	case b < 8:
		m.Update(tea.WindowSizeMsg{Width: r.IntN(220), Height: r.IntN(70)})
	case b < 16:
		m.Update(leaderboardMsg{randomBoard(r), nil})
	case b < ' ':
		m.Update(tea.PasteMsg{Content: tuitest.RandomText(r)})
	case b >= 0xe0:
		mouse := tea.Mouse{X: r.IntN(220), Y: r.IntN(60), Button: []tea.MouseButton{tea.MouseLeft, tea.MouseWheelUp, tea.MouseWheelDown}[r.IntN(3)]}
		m.Update([]tea.Msg{tea.MouseClickMsg(mouse), tea.MouseWheelMsg(mouse), tea.MouseMotionMsg(mouse), tea.MouseReleaseMsg(mouse)}[b%4])
	case b >= 0x80:
		m.Update(screentest.Typed(special[int(b)%len(special)]))
	default:
		m.Update(screentest.Typed(string(rune(b))))
	}
}
