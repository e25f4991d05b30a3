package dashboard

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// TestKeysOfAnEmptiedChart: a way back to before the first epoch that was seen leaves no points under the cursor,
// and keys and the mouse come before the next picture.
func TestKeysOfAnEmptiedChart(t *testing.T) {
	for _, k := range []string{"left", "right", "home", "end", "]", "[", "<", ">", "0", "x", "X", "m", "c", "esc"} {
		a := newTest(tuitest.Script{Epochs: 33}, screen.Options{NoColor: true}, 120, 40)
		press(a, "z", "left", "]")
		frameText(t, a)
		a.H.Apply(&feed.Delta{Status: a.H.Status, Rewinds: []event.RewindEvent{{Epoch: 33, To: -1}}})
		press(a, k)
		for _, m := range []tea.MouseMsg{tea.MouseClickMsg{X: 60, Y: 20}, tea.MouseMotionMsg{X: 70, Y: 20}, tea.MouseWheelMsg{X: 60, Y: 20, Button: tea.MouseWheelUp}} {
			a.Update(m)
		}
		frameText(t, a)
	}
}
