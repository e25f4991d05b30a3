package compare

import (
	"strings"
	"testing"

	"newtop/internal/format/formattest"
	"newtop/tui/screen"
)

// TestHostileTexts: nothing that runs say acts on the terminal.
func TestHostileTexts(t *testing.T) {
	for _, text := range formattest.Hostile() {
		runs := fakeCompared(3)
		formattest.Spoil(&runs, text)
		formattest.Fill(&runs[0].Diverged, text)
		formattest.Fill(&runs[1].Done, text)
		m := newCompareTest(runs, screen.Options{Title: text}, 120, 40)
		for _, k := range strings.Fields("down d esc a esc z down x ? esc : esc") {
			comparePress(m, k)
			compareText(t, m)
			v := m.View()
			if place := formattest.Acts(v.Content, true) + formattest.Acts(v.WindowTitle, false); place != "" {
				t.Fatalf("%q: after %s: %s", text, k, place)
			}
		}
	}
}
