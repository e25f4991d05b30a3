package stream

import (
	"testing"
	"time"
)

// TestWitness: a log has ended when a process had it open and nobody has any more; one that nobody was seen with may be
// opened for each line.
func TestWitness(t *testing.T) {
	start := time.Unix(1e6, 0)
	type moment struct {
		at, written int // seconds
		open        bool
		want        string
	}
	for name, moments := range map[string][]moment{
		"a writer ends":      {{0, 0, true, "alive"}, {8, 5, true, "alive"}, {30, 20, true, "alive"}, {45, 20, false, "gone"}, {600, 20, false, "gone"}},
		"another goes on":    {{0, 0, true, "alive"}, {40, 20, false, "gone"}, {60, 58, true, "alive"}},
		"seen while writing": {{0, 0, false, ""}, {20, 19, true, "alive"}, {40, 19, false, "gone"}},
		"a slow epoch":       {{600, 0, true, "alive"}, {1200, 0, true, "alive"}},
		"nobody":             {{0, 0, false, ""}, {20, 15, false, ""}, {600, 15, false, ""}},
	} {
		open, asked := false, 0
		w := witness{writer: func(string) (int, bool) { asked++; return 1, open }}
		for _, m := range moments {
			open = m.open
			alive, gone := w.look("log", start.Add(time.Duration(m.written)*time.Second), start.Add(time.Duration(m.at)*time.Second))
			got := ""
			if alive {
				got = "alive"
			} else if gone {
				got = "gone"
			}
			if got != m.want {
				t.Errorf("%s, at %d s: %q, expected %q", name, m.at, got, m.want)
			}
		}
		if asked > len(moments) {
			t.Errorf("%s: asked %d times", name, asked)
		}
	}
}
