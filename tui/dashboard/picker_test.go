package dashboard

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/optim/methods"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// TestFilterPrefersNames: what is typed finds the method of that name before those that have its letters
// somewhere.
func TestFilterPrefersNames(t *testing.T) {
	for text, want := range map[string]string{"scg": "scg", "cg": "scg", "gn": "tr-gn", "adam": "adam", "lm": "lm", "marq": "lm", "SGD": "sgd", "fd": "scg-fd", "": "tr-newton", "polyak": "momentum"} {
		p := newPicker(methods.All(), "")
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
		v, p := panetest.View(), newPicker(methods, "")
		for i, m := range methods {
			p.at = i
			rows := p.draw(v, size[0], size[1])
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

// TestNothingToScale: a method without a primary setting has no + and − in the footer.
func TestNothingToScale(t *testing.T) {
	for _, primary := range []bool{true, false} {
		a := newTest(tuitest.Script{}, screen.Options{NoColor: true}, 200, 40)
		d := feed.Delta{Status: event.Status{Phase: event.Running, Optimizer: "x", Settings: []event.Setting{{Key: "relative-rate", Text: "1", Primary: primary}}}}
		a.Update(came(d))
		if foot := ansi.Strip(a.Footer(200, hints(a))); strings.Contains(foot, "+ -") != primary || strings.Contains(foot, "relative-rate") != primary {
			t.Errorf("primary %v: %s", primary, foot)
		}
	}
}

// TestPickerShowsEverySetting: a method that was searched for is told with all of its settings on a screen of 80 × 24.
func TestPickerShowsEverySetting(t *testing.T) {
	for _, m := range methods.All() {
		v, p := panetest.View(), newPicker(methods.All(), "")
		p.filter.SetValue(m.Name)
		p.match()
		text := ansi.Strip(strings.Join(p.draw(v, 80, 22), "\n"))
		for i := range m.Parameters {
			if !strings.Contains(text, " "+m.Parameters[i].Key+" ") {
				t.Errorf("%s without %s:\n%s", m.Name, m.Parameters[i].Key, text)
			}
		}
	}
}
