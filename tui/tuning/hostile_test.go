package tuning

import (
	"slices"
	"strings"
	"testing"

	"newtop/internal/format/formattest"
	"newtop/tui/screen"
)

// TestHostileTexts: nothing that a search says acts on the terminal.
func TestHostileTexts(t *testing.T) {
	for texts := range slices.Chunk(formattest.Hostile(), 2) {
		text := strings.Join(texts, " ")
		for _, phase := range []string{"searching", "done"} {
			b := fakeBoard(12, 1, 0.05)
			formattest.Spoil(b, text)
			b.Phase = phase
			m := newTuneTest(b, screen.Options{Title: text}, 120, 40)
			for _, k := range strings.Fields("c esc d esc x y v right right z tab tab tab end s p ? esc : esc") {
				tunePress(m, k)
				tuneText(t, m)
				v := m.View()
				if place := formattest.Acts(v.Content, true) + formattest.Acts(v.WindowTitle, false); place != "" {
					t.Fatalf("%q: after %s: %s", text, k, place)
				}
			}
		}
	}
}
