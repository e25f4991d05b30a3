package dashboard

import (
	"strings"
	"testing"

	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
)

// TestNoEmptyPanes: a run that tells its figures alone has no pane of what it does not tell, on no screen, and tab goes
// to none.
func TestNoEmptyPanes(t *testing.T) {
	for name, bare := range map[string]bool{"losses and errors": false, "figures": true} {
		a := newWatch(tuitest.ExternalRun(43, bare), 120, 40)
		for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
			a.Width, a.Height = size[0], size[1]
			s := frameText(t, a)
			for _, empty := range []string{"no inner", "network", "region", "spectrum", "has no", "waiting"} {
				if strings.Contains(s, empty) {
					t.Errorf("%s, %v: %q in\n%s", name, size, empty, s)
				}
			}
			if !strings.Contains(s, "momentum") || !bare && !strings.Contains(s, "error") {
				t.Errorf("%s, %v: not all that is told in\n%s", name, size, s)
			}
		}
		seen := map[layout.ID]bool{}
		for range layout.Panes {
			press(a, "tab")
			seen[a.Focus] = true
		}
		for _, id := range []layout.ID{layout.Inner, layout.Spectrum, layout.Topology, layout.Region, layout.Errors} {
			if seen[id] {
				t.Errorf("%s: tab goes to pane %d", name, id)
			}
		}
		if seen[layout.Loss] == bare || !seen[layout.Metrics] || !seen[layout.Log] {
			t.Errorf("%s: tab goes to %v", name, seen)
		}
	}
}

// A run with inner solves has the metrics behind its panes, in the place of the log.
func TestMetricsOfNative(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 20}, screen.Options{NoColor: true}, 120, 40)
	if strings.Contains(frameText(t, a), "metrics") {
		t.Error("the metrics have a place by themselves")
	}
	press(a, "shift+tab")
	if s := frameText(t, a); a.Focus != layout.Metrics || !strings.Contains(s, "╭─ metrics") {
		t.Errorf("pane %d has the focus:\n%s", a.Focus, s)
	}
	press(a, "z", "/", "g", "r", "a", "d", "enter")
	if s := frameText(t, a); !strings.Contains(s, "gradient norm") || strings.Contains(s, "radius log") || !strings.Contains(s, "1 of 7 metrics") {
		t.Errorf("filtered:\n%s", s)
	}
	press(a, "esc", "enter", "esc", "esc")
	if a.Zoomed {
		t.Error("esc does not come back")
	}
}
