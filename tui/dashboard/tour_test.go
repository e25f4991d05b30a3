package dashboard

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// TestTour goes through the scenes, and asks the run for what they speak of. A key ends the tour.
func TestTour(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{Tour: true}, 80, 24)
	f := a.Feed.(*tuitest.Feed)
	for i, s := range scenes {
		if rows := strings.Split(frameText(t, a), "\n"); !strings.HasSuffix(strings.TrimRight(rows[2], " "), s.text) {
			t.Errorf("scene %d: the third row is %q", i+1, rows[2])
		}
		_, cmd := a.Update(sceneMsg(i + 1))
		if i+1 == len(scenes) || len(scenes[i+1].does) == 0 {
			continue
		}
		for _, cmd := range cmd().(tea.BatchMsg)[1:] { // the first one waits
			for cmd != nil {
				_, cmd = a.Update(cmd())
			}
		}
	}
	if a.Caption != "" {
		t.Errorf("after the last scene stands %q", a.Caption)
	}
	want := []event.Command{event.Pause{On: true}, event.Switch{Optimizer: "soap"}, event.Pause{On: false}, event.Spectrum{}}
	for i, c := range want {
		if i >= len(f.Commands) || f.Commands[i] != c {
			t.Fatalf("the run was asked for %#v, want %#v first", f.Commands, want)
		}
	}
	if _, ok := f.Commands[len(want)].(event.Race); !ok || len(f.Commands) != len(want)+1 {
		t.Errorf("and then for %#v, want a race", f.Commands[len(want):])
	}

	a = newTest(tuitest.Script{Epochs: 3}, screen.Options{First: true}, 80, 24)
	if text := frameText(t, a); !strings.Contains(text, "? tour") {
		t.Errorf("the first footer has no tour:\n%s", text)
	}
	if a.Update(press(a, "?")()); !strings.HasPrefix(a.Caption, "tour 1/") || a.Dialog != nil {
		t.Errorf("the first ? shows %q", a.Caption)
	}
	if press(a, "?"); a.Dialog == nil {
		t.Error("the second ? is no help")
	}

	a = newTest(tuitest.Script{Epochs: 3}, screen.Options{Tour: true}, 60, 16)
	if text := frameText(t, a); !strings.Contains(text, "tour 1/6") {
		t.Errorf("a small screen shows no scene:\n%s", text)
	}
	press(a, "tab")
	if a.Update(sceneMsg(1)); a.Caption != "" {
		t.Errorf("after a key stands %q", a.Caption)
	}
}
