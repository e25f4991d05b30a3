package system

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	host "newtop/internal/machine"
	"newtop/internal/nightly"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
	"newtop/tui/style"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newTest returns a screen that has taken in samples.
func newTest(list []host.Sample, o screen.Options, w, h int) *Model {
	o.Environ = append(o.Environ, "LANG=C.UTF-8")
	m := New([]Host{{Name: "box",
		Read: func(context.Context) (host.Sample, error) { return host.Sample{}, errors.New("not asked for") }}}, o)
	m.Cancel() // notes then stay until the next one
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	for i := range list {
		m.Update(sampleMsg{list[i], nil, m.turn, m.watched})
	}
	return m
}

func press(m *Model, keys ...string) (last tea.Cmd) {
	for _, k := range keys {
		m.View() // keys act on what is on the screen
		_, last = m.Update(screentest.Typed(k))
	}
	return last
}

// text is the screen without escape sequences, its size checked.
func text(t *testing.T, m *Model) string {
	t.Helper()
	return screentest.Plain(t, strings.Split(m.View().Content, "\n"), m.Width, m.Height, m.Glyphs.ASCII)
}

func TestScreens(t *testing.T) {
	for _, c := range []struct {
		name  string
		gpus  int
		keys  []string
		sizes [][2]int
	}{
		{"cpu", 0, nil, [][2]int{{60, 16}, {80, 24}, {120, 40}}},
		{"gpus", 2, nil, [][2]int{{60, 16}, {80, 24}, {120, 40}}},
		{"help", 1, []string{"?"}, [][2]int{{80, 24}, {140, 40}}},
		{"paused", 8, []string{"p", "["}, [][2]int{{120, 40}, {30, 8}, {20, 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range c.sizes {
				m := newTest(tuitest.MachineSamples(200, c.gpus), screen.Options{NoColor: true}, size[0], size[1])
				press(m, c.keys...)
				add(fmt.Sprintf("%dx%d", size[0], size[1]), text(t, m))
				if c.name != "help" {
					tuitest.CheckWords(t, append(tuitest.Titles(text(t, m)), strings.SplitN(text(t, m), "\n", 2)[0]), []string{"newtop box"})
				}
			}
		})
	}
}

// TestHosts: each machine has a row, one that is away says so, and what is wrong is called once.
func TestHosts(t *testing.T) {
	away, called := "", ""
	var list []Host
	for _, name := range []string{"gpu1", "g\x1b[31mpu2", "gpu3"} {
		list = append(list, Host{Name: name, Away: func() string { return "" },
			Trouble: func(name, text string) { called += name + ": " + text + "\n" }})
	}
	list[2].Away = func() string { return away }
	m := New(list, screen.Options{NoColor: true, Environ: []string{"LANG=C.UTF-8"}})
	m.Cancel()
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 30})
	away = "gpu3 is away: no route"
	for _, s := range tuitest.MachineSamples(20, 2) {
		s.DiskUsed = s.DiskTotal
		m.Update(sampleMsg{s, nil, m.turn, m.watched})
	}
	press(m, "down")
	add := tuitest.Archive(t)
	add("120x30", text(t, m))
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 12})
	add("60x12", text(t, m))
	if called != "gpu1: disk 100 % full\n" {
		t.Errorf("called for %q", called)
	}
}

// TestSamples follows the commands from one sample to the next.
func TestSamples(t *testing.T) {
	calls := 0
	m := New([]Host{{Read: func(context.Context) (host.Sample, error) {
		calls++
		return tuitest.MachineSamples(calls, 0)[calls-1], nil
	}}}, screen.Options{})
	defer m.Cancel()
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(m.sample(m.watched)())
	due := dueMsg{m.turn, m.watched}
	if _, read := m.Update(due); read == nil {
		t.Fatal("no sample is read when it is due")
	}
	old := m.sample(m.watched)
	press(m, "+")
	if _, read := m.Update(due); read != nil {
		t.Error("a wait that another one has replaced brought a sample")
	}
	m.Update(old())
	if m.panel.Samples() != 1 {
		t.Error("a sample of an older wait was taken")
	}
	if press(m, "space"); !m.paused {
		t.Error("not paused")
	}
	if m.wait(m.watched) != nil {
		t.Error("a paused screen waits for a sample")
	}
	if _, read := m.Update(dueMsg{m.turn, m.watched}); read != nil {
		t.Error("a paused screen reads a sample")
	}
	press(m, "space")
	m.Update(m.sample(m.watched)())
	if m.panel.Samples() != 2 || m.paused {
		t.Errorf("%d samples, paused %v", m.panel.Samples(), m.paused)
	}
	m.Update(sampleMsg{host.Sample{}, errors.New("no \x1bsensors"), m.turn, m.watched})
	if !strings.Contains(text(t, m), "no sensors") {
		t.Error("an error is not told")
	}
	for range 9 {
		press(m, "-")
	}
	if intervals[m.every] != intervals[0] {
		t.Errorf("every %v", intervals[m.every])
	}
	if !screentest.Quits(press(m, "q")) || !screentest.Quits(press(m, "esc")) {
		t.Error("q and esc do not quit")
	}
}

// TestAnything types and clicks at random, at every size and with samples that tell strange things.
func TestAnything(t *testing.T) {
	keys := []string{"x", "1", "-", "+", "esc", "enter", "up", "down", "space", "[", "]", "?", ":", "G", "T", "M", "backspace"}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 3))
		m := newTest(tuitest.MachineSamples(2, int(seed%4)), screen.Options{}, 80, 24)
		for range nightly.Of(100, 40) {
			switch r.IntN(4) {
			case 0:
				m.Update(tea.WindowSizeMsg{Width: r.IntN(160), Height: r.IntN(60)})
			case 1:
				m.Update(tea.MouseClickMsg{X: r.IntN(160), Y: r.IntN(60), Button: tea.MouseLeft})
			case 2:
				s := m.panel.Latest
				s.At = s.At.Add(time.Second)
				s.GPUUsers = append([]host.GPUUser(nil), s.GPUUsers[:r.IntN(len(s.GPUUsers)+1)]...)
				for i := range s.GPUUsers {
					u := &s.GPUUsers[i]
					u.GPU, u.PID, u.Name, u.User, u.Memory = r.IntN(4), r.IntN(1e6), tuitest.RandomText(r), tuitest.RandomText(r), r.Uint64()
				}
				m.Update(sampleMsg{s, nil, m.turn, m.watched})
			default:
				press(m, keys[r.IntN(len(keys))])
			}
			if m.Width > 0 && m.Height > 0 {
				text(t, m)
			}
		}
	}
}

// TestColours: themes and glyphs change no width.
func TestColours(t *testing.T) {
	for theme := style.ThemeAuto; theme < style.ThemeCount; theme++ {
		for g := style.GlyphsBraille; g < style.GlyphsCount; g++ {
			text(t, newTest(tuitest.MachineSamples(50, 2), screen.Options{Theme: theme, Glyphs: g}, 100, 30))
		}
	}
}

// TestProgram runs the screen in a program of its own, on this machine.
func TestProgram(t *testing.T) {
	s := host.NewSampler(host.Options{GPUUsers: true})
	defer s.Close()
	r := screentest.Start(t, t.Context(), 1000, func(o screen.Options) (*screen.Base, tea.Model) {
		m := New([]Host{{Name: "box", Read: s.Sample}}, o)
		return &m.Base, m
	})
	r.Press(t, "] ")
	r.Out.Rest(t) // paused, nothing is written
	r.Press(t, " q")
	r.EndsWith(t, nil)
}

func TestOneMeaning(t *testing.T) {
	m := newTest(nil, screen.Options{}, 80, 24)
	screentest.OneMeaning(t, m.bindings, m)
}
