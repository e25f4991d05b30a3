package compare

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"

	"newtop/trainer/event"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// TestCompareOdd: runs that did not begin, have one epoch, go back, are regressions, or have names that would move a
// terminal's cursor.
func TestCompareOdd(t *testing.T) {
	runs := fakeCompared(4)
	runs[0] = Recorded{ID: "empty", State: "failed"}
	runs[1].Name, runs[1].Epochs = "\x1b[2Jevil\r\n\u202e", runs[1].Epochs[:1]
	runs[2].Run.Optimizer, runs[2].ID = "数据\x07", "a\x1b]0;x\x07b"
	runs[2].Epochs = append(runs[2].Epochs[:20:20], runs[2].Epochs[10:]...) // back to epoch 9
	runs[3].Run.Data.Classes = 0
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}} {
		m := newCompareTest(runs, screen.Options{}, size[0], size[1])
		compareText(t, m)
		for _, k := range []string{"d", "a", "esc", "down", "down", "down", "x", "x", "z", "right"} {
			comparePress(m, k)
			compareText(t, m)
		}
	}
	only := newCompareTest([]Recorded{{ID: "empty"}}, screen.Options{}, 80, 24)
	if text := compareText(t, only); !strings.Contains(text, "no run has an epoch") || !strings.Contains(text, "did not begin") {
		t.Errorf("a comparison of nothing says\n%s", text)
	}
	comparePress(only, "z", "v", "y", "+", "p", "x", "left", "d")
	compareText(t, only)
}

// startComparing runs a program and waits for its first bytes.
func startComparing(t *testing.T, ctx context.Context, bytes int64, more ...tea.ProgramOption) *screentest.Running {
	t.Helper()
	return screentest.Start(t, ctx, bytes, func(o screen.Options) (*screen.Base, tea.Model) {
		m := newComparison(fakeCompared(3), o)
		return &m.Base, m
	}, more...)
}

// TestCompareRests: the screen is written once, and then nothing.
func TestCompareRests(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := startComparing(t, ctx, 1000, tea.WithWindowSize(120, 40))
	r.Out.Rest(t)
	cancel()
	<-r.Ended
}

// TestCompareEnds ends programs in every way and looks for goroutines.
func TestCompareEnds(t *testing.T) {
	for _, c := range []struct {
		keys   string
		cancel bool
		want   error
	}{{keys: "q"}, {keys: "tzd\x03"}, {keys: "?", cancel: true, want: context.Canceled}} {
		t.Run(fmt.Sprintf("%q", c.keys), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := startComparing(t, ctx, 100)
			r.Press(t, c.keys)
			if c.cancel {
				cancel()
			}
			r.EndsWith(t, c.want)
		})
	}
}

// randomCompared are runs of anything.
func randomCompared(r *rand.Rand) (out []Recorded) {
	for range 1 + r.IntN(Most) {
		c := Recorded{ID: tuitest.RandomText(r), Name: tuitest.RandomText(r), State: tuitest.RandomText(r)}
		if r.IntN(4) > 0 {
			c.Run = tuitest.RandomRun(r)
			c.Run.Settings = map[string]any{tuitest.RandomText(r): float64(tuitest.RandomFloat(r)), "x": tuitest.RandomText(r)}
		}
		for range r.IntN(30) {
			d := tuitest.RandomDelta(r)
			for i := range d.Epochs {
				d.Epochs[i].Epoch = r.IntN(40) + len(c.Epochs)
			}
			c.Epochs, c.Switches, c.Settings = append(c.Epochs, d.Epochs...), append(c.Switches, d.Switches...), append(c.Settings, d.Settings...)
			c.Diverged, c.Done = d.Diverged, d.Done
		}
		out = append(out, c)
	}
	return out
}

// FuzzCompare throws keys, mice and sizes at comparisons of anything. No frame may overflow, or have a sequence of the
// data's.
func FuzzCompare(f *testing.F) {
	f.Add(uint64(1), []byte("xxyvd\x01zz]][[,,\x02mMcX0"))
	f.Add(uint64(2), []byte("\x03\x03\x03ddaa??++++----ffpPtg"))
	f.Add(uint64(9), []byte{0, 1, 2, 3, 250, 251, 252, 253, 254, 255})
	special := []string{"up", "down", "left", "right", "tab", "shift+tab", "enter", "esc", "home", "end", "space", "pgup", "pgdown"}
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		r := rand.New(rand.NewPCG(seed, 8))
		m := newCompareTest(randomCompared(r), screen.Options{Glyphs: style.Glyphs(seed % uint64(style.GlyphsCount)), NoColor: seed%2 == 0}, 60+r.IntN(80), 16+r.IntN(30))
		for _, b := range steps[:min(len(steps), 60)] {
			switch {
			case b < 8:
				m.Update(tea.WindowSizeMsg{Width: r.IntN(140), Height: r.IntN(50)})
			case b >= 0xe0:
				mouse := tea.Mouse{X: r.IntN(140), Y: r.IntN(50), Button: []tea.MouseButton{tea.MouseLeft, tea.MouseWheelUp, tea.MouseWheelDown}[r.IntN(3)]}
				m.Update([]tea.Msg{tea.MouseClickMsg(mouse), tea.MouseWheelMsg(mouse), tea.MouseMotionMsg(mouse), tea.MouseReleaseMsg(mouse)}[b%4])
			case b >= 0x80:
				m.Update(screentest.Typed(special[int(b)%len(special)]))
			case b > ' ':
				m.Update(screentest.Typed(string(rune(b))))
			}
			if m.Height > 0 {
				if m.Width == 0 {
					m.View()
					continue
				}
				compareText(t, m)
			}
		}
	})
}

// BenchmarkCompare draws the screen of eight long runs.
func BenchmarkCompare(b *testing.B) {
	runs := fakeCompared(8)
	for i := range runs {
		one := runs[i].Epochs
		for len(runs[i].Epochs) < 20_000 {
			runs[i].Epochs = append(runs[i].Epochs, one...)
		}
		for k := range runs[i].Epochs {
			runs[i].Epochs[k].Epoch, runs[i].Epochs[k].Elapsed = k, event.Float(k)
		}
	}
	m := newCompareTest(runs, screen.Options{}, 120, 40)
	b.ResetTimer()
	for i := range b.N {
		m.at = i % 8
		_ = ansi.StringWidth(m.View().Content[:1])
	}
}
