//go:build unix

package screen

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestKeysThatCameTogether(t *testing.T) {
	var x terminal
	more := make(chan tea.Msg, 1)
	send := func(m tea.Msg) { more <- m }
	if k, ok := x.filter(tea.KeyPressMsg{Code: tea.KeyEscape, Mod: tea.ModAlt}, send).(tea.KeyPressMsg); !ok || k.String() != "esc" {
		t.Errorf("two escapes begin with %v", k)
	}
	if k, ok := (<-more).(tea.KeyPressMsg); !ok || k.String() != "esc" {
		t.Errorf("two escapes end with %v", k)
	}
	if k, ok := x.filter(tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}, send).(tea.KeyPressMsg); !ok || k.String() != "enter" {
		t.Errorf("a line's end is %v", k)
	}
	if k := x.filter(tea.KeyPressMsg{Code: 'j', Text: "j"}, send).(tea.KeyPressMsg); k.String() != "j" {
		t.Errorf("j is %v", k)
	}
}
