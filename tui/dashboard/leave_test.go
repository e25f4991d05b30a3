package dashboard

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// A program that is watched ends with the screen, so that q says so first. Once it is over, one q is enough.
func TestQuitOfAProgram(t *testing.T) {
	quits := func(cmd tea.Cmd) bool {
		if cmd == nil {
			return false
		}
		_, ok := cmd().(tea.QuitMsg)
		return ok
	}
	e := event.UnknownEpoch(3)
	e.Loss = 1
	a := newWatch([]feed.Delta{{Run: &event.RunEvent{Data: event.DataInfo{Name: "train.py"}}, Epochs: []event.EpochEvent{e},
		Status: event.Status{Phase: event.Running, Epoch: 3, Replay: &event.Replay{Live: true}}}}, 80, 24)
	a.program = true
	if !strings.Contains(quitWord(a), "end the program") {
		t.Errorf("the footer says %q", quitWord(a))
	}
	a.quit()
	if !a.leaving || stateParts(a)[0].Text != "■ q again ends the program" {
		t.Errorf("after one q: %q", stateParts(a)[0].Text)
	}
	a.Update(stayMsg{})
	if a.leaving {
		t.Error("it is not taken back")
	}
	a.quit()
	if !quits(a.quit()) {
		t.Error("the second q does not quit")
	}
	a.leaving = false
	a.h.Apply(&feed.Delta{Done: &event.DoneEvent{Reason: event.ReasonFinished, Epochs: 3}, Status: event.Status{Phase: event.Ended, Epoch: 3, Replay: &event.Replay{}}})
	if !quits(a.quit()) {
		t.Error("one q does not quit after the end")
	}
}
