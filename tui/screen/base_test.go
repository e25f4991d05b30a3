package screen

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// What rings goes to the terminal as it is, and stands in the notice.
func TestRing(t *testing.T) {
	rings := make(chan RingMsg, 1)
	b := NewBase(&Options{Rings: rings})
	defer b.Cancel()
	rings <- RingMsg{Sequence: "\x1b]9;over\a", Text: "over"}
	batch, ok := b.Handle(b.Opening()())().(tea.BatchMsg)
	if !ok || b.Notice.Text != "over" {
		t.Fatalf("%v, notice %q", ok, b.Notice.Text)
	}
	if raw, ok := batch[1]().(tea.RawMsg); !ok || raw.Msg != "\x1b]9;over\a" {
		t.Errorf("%#v", batch[1]())
	}
}
