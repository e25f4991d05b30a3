package dashboard

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
	"newtop/tui/style"
)

func click(a *desk.App, x, y int) tea.Cmd {
	_, cmd := a.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	return cmd
}

// cell returns where a text begins on the screen, from a column on.
func cell(t *testing.T, a *desk.App, text string, from int) (x, y int) {
	t.Helper()
	frame := frameText(t, a)
	for y, row := range strings.Split(frame, "\n") {
		if i := strings.Index(string([]rune(row)[from:]), text); i >= 0 {
			return from + len([]rune(string([]rune(row)[from:])[:i])), y
		}
	}
	t.Fatalf("there is no %q:\n%s", text, frame)
	return
}

// TestClicksInLists clicks the lists of dialogs: the row that was clicked is chosen and stays under the mouse, a second
// click is its enter (in a list to tick, its space bar), and a click beside the dialog closes it.
func TestClicksInLists(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		for _, c := range []struct {
			key, title string
			column     int // of the arrow
			done       func(a *desk.App, cmd tea.Cmd) bool
		}{
			{"o", "╭─ optimizers", 2, func(a *desk.App, cmd tea.Cmd) bool { return sent(a, cmd) == "{Optimizer:tr-gn-jacobi}" }},
			{"u", "╭─ back to an epoch", 2, func(a *desk.App, cmd tea.Cmd) bool { return sent(a, cmd) == "{Epoch:9}" }},
			{":", "╭─ commands", 2, func(a *desk.App, _ tea.Cmd) bool { return a.ThemeChoice == style.ThemeLight }},
			{"f", "╭─ race", 4, func(a *desk.App, _ tea.Cmd) bool {
				return strings.Contains(ansi.Strip(a.View().Content), "[×] tr-gn-jacobi")
			}},
		} {
			a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, size[0], size[1])
			open := func() {
				press(a, c.key)
				if c.key == ":" {
					write(a, "theme colours")
				}
			}
			withKept(a)
			open()
			left, top := cell(t, a, c.title, 0)
			_, y := cell(t, a, "▸", left+c.column)
			x := left + c.column + 3
			a.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
			a.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
			a.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelUp})
			a.View()
			_, y = cell(t, a, "▸", left+c.column)
			for _, by := range []int{-1, 2} {
				y += by
				click(a, x, y)
				if _, got := cell(t, a, "▸", left+c.column); got != y || a.Dialog == nil {
					t.Fatalf("%v %s: row %d was clicked, %d is chosen:\n%s", size, c.key, y, got, frameText(t, a))
				}
			}
			click(a, x, top)
			a.Update(tea.MouseClickMsg{X: 0, Y: 1, Button: tea.MouseRight})
			if _, got := cell(t, a, "▸", left+c.column); got != y || a.Dialog == nil {
				t.Errorf("%v %s: clicks on the frame and of the right button do something", size, c.key)
			}
			if cmd := click(a, x, y); !c.done(a, cmd) {
				t.Errorf("%v %s: a second click does nothing:\n%s", size, c.key, frameText(t, a))
			}
			if open(); a.Dialog == nil {
				t.Fatalf("%v %s: it does not open again", size, c.key)
			}
			if click(a, 0, 1); a.Dialog != nil {
				t.Errorf("%v %s: a click beside the dialog leaves it open", size, c.key)
			}
		}
	}
}

// TestClickInALongList: a row that was clicked stays under the mouse, where the keys would have it in the middle.
func TestClickInALongList(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true}, 80, 24)
	press(a, ":", "pgdown", "pgdown")
	left, top := cell(t, a, "╭─ commands", 0)
	rows := strings.Split(frameText(t, a), "\n")
	for _, y := range []int{top + 3, len(rows) - top - 3} {
		click(a, left+20, y)
		if _, got := cell(t, a, "▸", left); got != y || !slices.EqualFunc(rows[top+1:], strings.Split(frameText(t, a), "\n")[top+1:], func(a, b string) bool {
			return strings.ReplaceAll(a, "▸", " ")[:20] == strings.ReplaceAll(b, "▸", " ")[:20]
		}) {
			t.Errorf("row %d was clicked, %d is chosen", y, got)
		}
	}
}
