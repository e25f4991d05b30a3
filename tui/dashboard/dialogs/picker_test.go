package dialogs

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/optim/methods"
	"newtop/tui/internal/panetest"
)

// TestFilterPrefersNames: what is typed finds the method of that name before those that have its letters
// somewhere.
func TestFilterPrefersNames(t *testing.T) {
	for text, want := range map[string]string{"scg": "scg", "cg": "scg", "gn": "tr-gn", "adam": "adam", "lm": "lm", "marq": "lm", "SGD": "sgd", "fd": "scg-fd", "": "tr-newton", "polyak": "momentum"} {
		p := NewPicker(methods.All(), "")
		p.filter.SetValue(text)
		p.match()
		if len(p.shown) == 0 || p.methods[p.shown[0]].Name != want {
			t.Errorf("%q finds %v first: expected %s", text, p.shown, want)
		}
	}
}

// TestPickerShowsEveryMethod chooses each method at each size: the list scrolls to it, its paper is there, and
// what has no room is told.
func TestPickerShowsEveryMethod(t *testing.T) {
	methods := methods.All()
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		v, p := panetest.View(), NewPicker(methods, "")
		for i, m := range methods {
			p.at = i
			rows := p.box(v, size[0], size[1])
			text := ansi.Strip(strings.Join(rows, "\n"))
			words := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' || r == '│' }), " ")
			paper, _, _ := strings.Cut(m.Paper, " ")
			if len(rows) > size[1] || !strings.Contains(words, m.Name) || !strings.Contains(words, paper) {
				t.Errorf("%d × %d, %s:\n%s", size[0], size[1], m.Name, text)
			}
			if n := len(m.Parameters); !strings.Contains(words, "more rows") && !strings.Contains(words, m.Parameters[n-1].Key+" ") {
				t.Errorf("%d × %d, %s: the last setting is missing without a word:\n%s", size[0], size[1], m.Name, text)
			}
		}
	}
}

// TestPickerShowsEverySetting: a method that was searched for is told with all of its settings on a screen of 80 × 24.
func TestPickerShowsEverySetting(t *testing.T) {
	for _, m := range methods.All() {
		v, p := panetest.View(), NewPicker(methods.All(), "")
		p.filter.SetValue(m.Name)
		p.match()
		text := ansi.Strip(strings.Join(p.box(v, 80, 22), "\n"))
		for i := range m.Parameters {
			if !strings.Contains(text, " "+m.Parameters[i].Key+" ") {
				t.Errorf("%s without %s:\n%s", m.Name, m.Parameters[i].Key, text)
			}
		}
	}
}
