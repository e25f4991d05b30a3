package pane

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/internal/tuitest"
	"newtop/tui/style"
)

// scheduled is a run of soap with a schedule, after so many of its 60 epochs.
func scheduled(epochs int) *View { return viewOf(tuitest.FactorRun("soap", epochs, 16, 70, 26)...) }

// TestPlannedRate draws what is planned ahead of the rate, and nothing where nothing is.
func TestPlannedRate(t *testing.T) {
	add := tuitest.Archive(t)
	for _, size := range [][2]int{{32, 10}, {36, 5}, {40, 12}, {80, 5}, {80, 20}} {
		v := scheduled(18)
		rows := NewRegion().Body(v, size[0], size[1], size[1] == 20)
		for i, r := range rows {
			if n := ansi.StringWidth(r); n > size[0] {
				t.Errorf("%v: row %d has %d columns", size, i, n)
			}
		}
		add(fmt.Sprintf("%dx%d", size[0], size[1]), ansi.Strip(strings.Join(rows, "\n")))
	}
	v := scheduled(18)
	v.Glyphs = style.GlyphsASCII.Set(nil)
	if text := style.ToASCII(strings.Join(NewRegion().Body(v, 60, 12, false), "\n")); !strings.Contains(text, "... planned") || strings.Contains(text, "?") {
		t.Errorf("in ASCII:\n%s", text)
	}
	v.H.Apply(&feed.Delta{Status: v.H.Status, Done: &event.DoneEvent{Epochs: 18}})
	if text := strings.Join(NewRegion().Body(v, 60, 12, false), "\n"); strings.Contains(text, "planned") {
		t.Errorf("after the end:\n%s", text)
	}
}

// TestRatesAhead: a plan leads from the newest epoch to the run's last, or as far as leaves room for what was, and there is none
// where the rate stays as it is.
func TestRatesAhead(t *testing.T) {
	set := func(v *View, key, text string) {
		s := v.H.Status
		s.Settings = append([]event.Setting{}, s.Settings...)
		for i := range s.Settings {
			if s.Settings[i].Key == key {
				s.Settings[i].Text = text
			}
		}
		v.H.Apply(&feed.Delta{Status: s})
	}
	ends := func(v *View) (first, last chart.Point, n int) {
		plan := ratesAhead(nil, v.H)
		if len(plan) == 0 {
			return first, last, 0
		}
		return plan[0], plan[len(plan)-1], len(plan)
	}
	v := scheduled(20)
	if first, last, _ := ends(v); first.X != 20 || last.X != 60 || math.Abs(first.Y-0.01*40/60) > 1e-12 || last.Y != 0 {
		t.Errorf("the plan leads from %v to %v", first, last)
	}
	if _, last, _ := ends(scheduled(2)); last.X != 16 {
		t.Errorf("after two epochs the plan leads to %g", last.X)
	}
	set(v, "end-rate", "0.5")
	if _, last, _ := ends(v); last.Y != 0.005 {
		t.Errorf("the floor is %g", last.Y)
	}
	set(v, "schedule", "constant")
	if _, _, n := ends(v); n != 0 {
		t.Error("a constant rate has a plan")
	}
	set(v, "warmup", "30")
	if first, last, _ := ends(v); math.Abs(first.Y-0.01*20/30) > 1e-12 || last.Y != 0.01 {
		t.Errorf("the warm-up leads from %v to %v", first, last)
	}
}
