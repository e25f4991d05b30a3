package screen

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// What rings goes to the terminal as it is.
func TestRing(t *testing.T) {
	b := NewBase(&Options{})
	defer b.Cancel()
	cmd := b.Handle(RingMsg("\x1b]9;over\a"))
	if cmd == nil {
		t.Fatal("no command")
	}
	if raw, ok := cmd().(tea.RawMsg); !ok || raw.Msg != "\x1b]9;over\a" {
		t.Errorf("%#v", cmd())
	}
}
