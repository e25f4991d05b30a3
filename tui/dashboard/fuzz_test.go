package dashboard

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/dashboard/replay"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// TestFuzz throws random keys, text, sizes, mice, looks and Deltas at the model. No frame may overflow.
func TestFuzz(t *testing.T) {
	steps := nightly.Of(500, 120)
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		a := fuzzed(t, seed)
		for range steps {
			storm(t, a, r, byte(r.Uint32()))
		}
	}
}

// FuzzScreen does the same with what the fuzzer chooses.
func FuzzScreen(f *testing.F) {
	f.Add(uint64(1), []byte("\x03\x00zzzzz\x03?\x03:\x03\x03"))
	f.Add(uint64(2), []byte("aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ0123456789"))
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		r := rand.New(rand.NewPCG(seed, 7))
		a := fuzzed(t, seed)
		for _, b := range steps[:min(len(steps), 100)] {
			storm(t, a, r, b)
		}
	})
}

// fuzzed is a model whose program has ended, so that no command of it waits for anything.
func fuzzed(t *testing.T, seed uint64) *desk.App {
	t.Helper()
	a := newApp(&tuitest.Feed{}, screen.Options{Glyphs: style.Glyphs(seed % uint64(style.GlyphsCount)), NoColor: seed%2 == 0, DataSets: []string{"letters", "数据\n"}}, tuitest.Methods())
	if seed%2 == 1 {
		a.Throttle()
	}
	a.Close()
	frameText(t, a)
	return a
}

// fuzzKeys are all that something is bound to, and some that nothing is.
var fuzzKeys = func() []string {
	keys := strings.Fields("esc esc esc enter tab up down left right home end pgup pgdown backspace delete ctrl+p ctrl+n ctrl+u ctrl+k ctrl+w " +
		"a A b c C d g G h j l m n r R v w x X y [ ] < > , . 0 q é 数 👩")
	for _, b := range bindings(&dialogs.Saves{}, &replay.Bar{}) {
		keys = append(keys, b.Keys...)
	}
	return keys
}()

// storm lets one thing happen, what that asks for included, and looks at the screen.
func storm(t *testing.T, a *desk.App, r *rand.Rand, kind byte) {
	t.Helper()
	before := a.Dialog
	background := true // it is not the user's doing
	switch kind % 8 {
	case 0:
		w, h := r.IntN(301), r.IntN(101)
		if r.IntN(6) == 0 {
			w, h = r.IntN(3), r.IntN(3)
		}
		update(a, tea.WindowSizeMsg{Width: w, Height: h})
	case 1:
		if r.IntN(2) == 0 {
			update(a, tea.WindowSizeMsg{Width: layout.MinWidth + r.IntN(100), Height: layout.MinHeight + r.IntN(40)})
		}
		update(a, fromOutside(r))
	case 2:
		background = false
		randomMouse(a, r)
	case 3:
		background = false
		if r.IntN(6) == 0 { // from one thing in front, or from a run that is ending, to another
			a.Dialog, a.Stopping, a.Focus = nil, false, layout.ID(r.IntN(int(layout.Panes)))
			update(a, screentest.Typed([]string{"f", "e", "u", "?", "o", ":", "z", "w"}[r.IntN(8)]))
		}
		update(a, screentest.Typed(fuzzKeys[(int(kind)/8+r.IntN(len(fuzzKeys)))%len(fuzzKeys)]))
	case 4:
		background = false
		update(a, screentest.Typed([]string{"up", "down", "left", "right", "tab", "enter", "space"}[r.IntN(7)]))
	case 5:
		background = false
		update(a, tea.PasteMsg{Content: tuitest.RandomText(r)})
		a.SetGlyphs(style.Glyphs(1 + r.IntN(int(style.GlyphsCount)-1)))
		a.SetTheme(style.Theme(1 + r.IntN(int(style.ThemeCount)-1)))
	default:
		update(a, came(tuitest.RandomDelta(r)))
	}
	if background && a.Dialog != before {
		t.Fatalf("%T became %T by itself", before, a.Dialog)
	}
	frameText(t, a)
}

// fromOutside is something that comes from the terminal or from a timer.
func fromOutside(r *rand.Rand) tea.Msg {
	return []tea.Msg{
		tea.ColorProfileMsg{Profile: colorprofile.Profile(r.IntN(6))}, tea.BackgroundColorMsg{Color: ansi.BasicColor(r.IntN(16))},
		desk.DrawMsg{}, desk.TickMsg{}, pane.AskMsg{Command: event.Slice{}}, desk.ReplyMsg{}, desk.ReplyMsg{Err: errors.New(tuitest.RandomText(r))}, desk.StoppedMsg{Err: errors.New("no")}, screen.PictureMsg{},
	}[r.IntN(9)]
}

func randomMouse(a *desk.App, r *rand.Rand) {
	m := tea.Mouse{X: r.IntN(320) - 10, Y: r.IntN(120) - 10, Button: tea.MouseButton(r.IntN(9)), Mod: tea.KeyMod(r.IntN(8))}
	update(a, []tea.Msg{tea.MouseClickMsg(m), tea.MouseReleaseMsg(m), tea.MouseMotionMsg(m), tea.MouseWheelMsg(m)}[r.IntN(4)])
}

// update gives the model a message, and what its commands bring.
func update(a *desk.App, msg tea.Msg) {
	queue := []tea.Msg{msg}
	for n := 0; len(queue) > 0 && n < 50; n++ {
		msg, queue = queue[0], queue[1:]
		batch, ok := msg.(tea.BatchMsg)
		if !ok {
			_, cmd := a.Update(msg)
			batch = tea.BatchMsg{cmd}
		}
		for _, cmd := range batch {
			if cmd == nil {
				continue
			}
			if next := cmd(); next != nil {
				queue = append(queue, next)
			}
		}
	}
}
