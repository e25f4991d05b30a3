package runs

import (
	"math/rand/v2"
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/nightly"
	"newtop/tui/internal/screentest"
	"newtop/tui/screen"
)

// TestFuzz presses keys, clicks and resizes at random: every frame has its size and nothing in it that acts on a terminal.
func TestFuzz(t *testing.T) {
	keys := []string{"up", "down", "pgup", "pgdown", "home", "end", "left", "right", "enter", "esc", "space", "backspace", "tab", "/", "?", ":", "C", "s", "S", "d",
		"u", "n", "N", "t", "y", "c", "r", "T", "g", "M", "a", "x", "ä", "-"}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := newTest([]int{0, 1, 7, 60}[seed%4], screen.Options{}, 100, 30)
		for range nightly.Of(150, 60) {
			switch r.IntN(12) {
			case 0:
				m.Update(tea.WindowSizeMsg{Width: 1 + r.IntN(220), Height: 1 + r.IntN(70)})
			case 1:
				m.Update(tea.MouseClickMsg{X: r.IntN(220), Y: r.IntN(70), Button: tea.MouseLeft})
			case 2:
				m.Update(tea.MouseWheelMsg{Button: []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}[r.IntN(2)]})
			case 3:
				m.Update(foundMsg{fakeFound(r.IntN(70)), nil})
			case 4:
				m.Update(tea.PasteMsg{Content: "a\x1b[2Jb\n"})
			case 5:
				if n := len(m.pending); n > 0 {
					m.Update(expiredMsg(m.pending[r.IntN(n)].number))
				}
			default:
				m.Update(screentest.Typed(keys[r.IntN(len(keys))]))
			}
			text(t, m)
		}
	}
}
