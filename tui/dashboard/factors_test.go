package dashboard

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
)

// newFactorTest is a run of soap on the letter net, half of which is done.
func newFactorTest(w, h int) *desk.App {
	a := newTest(tuitest.Script{}, screen.Options{NoColor: true}, w, h)
	for _, d := range tuitest.FactorRun("soap", 30, 16, 70, 50, 26) {
		a.Update(came(d))
	}
	return a
}

// TestFactorScreens draws a run whose method has factors and a schedule, and one whose epochs have several inner
// solves.
func TestFactorScreens(t *testing.T) {
	add := tuitest.Archive(t)
	for _, size := range screenSizes {
		addFrame(add, frameText(t, newFactorTest(size[0], size[1])), size, []string{"60x16", "80x24", "120x40"})
	}
	for _, size := range screenSizes {
		addFrame(add, "sampled\n"+frameText(t, newWatch(tuitest.SampledRun(30, 8), size[0], size[1])), size, []string{"60x16", "120x40"})
	}
}

// TestHelpOfFactors: the help has the keys of what the pane shows and no others, and says what the words mean.
func TestHelpOfFactors(t *testing.T) {
	text := func(a *desk.App) string {
		press(a, "tab", "tab", "z", "?")
		return ansi.Strip(strings.Join(a.Dialog.Draw(a, 120, 60), "\n"))
	}
	factors, solves := text(newFactorTest(120, 60)), text(newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 120, 60))
	for _, want := range []string{"factors, zoomed", "choose a factor, or none", "zoom x out and in", "in the factors", "condition"} {
		if !strings.Contains(factors, want) || strings.Contains(solves, want) {
			t.Errorf("%q belongs to the factors alone", want)
		}
	}
	for _, want := range []string{"inner, zoomed", "iteration before and after", "why an inner solve ended"} {
		if strings.Contains(factors, want) || !strings.Contains(solves, want) {
			t.Errorf("%q belongs to the solves alone", want)
		}
	}
}

// TestFactorsOfAnotherProgram: a program that tells factors gets a place for them, and else none.
func TestFactorsOfAnotherProgram(t *testing.T) {
	for _, size := range screenSizes {
		for _, told := range []bool{false, true} {
			deltas := tuitest.ExternalRun(40, false)
			for i := range deltas[0].Epochs {
				if e := &deltas[0].Epochs[i]; told {
					e.Preconditioner = tuitest.FactorsAt(e.Epoch, []int{0, 64, 10}, 512, 0)
				}
			}
			a := newWatch(deltas, size[0], size[1])
			has := false
			for _, p := range desk.Division(a, false).Slots {
				has = has || p.Pane == layout.Inner
			}
			place := told && size[0] >= 80 // on less a key leads there
			if text := frameText(t, a); has != place || strings.Contains(text, "layer 0→layer 1") != told && size[0] > 80 {
				t.Errorf("%v: told %v, has %v\n%s", size, told, has, text)
			}
		}
	}
}

// TestRateOfAWatchedSchedule: the setting stands in the header, and the rate that it led to in the pane.
func TestRateOfAWatchedSchedule(t *testing.T) {
	deltas := tuitest.FactorRun("soap", 30, 16, 70, 26)
	for i := range deltas {
		deltas[i].Status.Replay = &event.Replay{Source: "x", Live: true, Seekable: true, Last: 30, Speed: 1}
	}
	text := frameText(t, newWatch(deltas, 120, 40))
	if !strings.Contains(text, " soap  rate 0.01 ") || !strings.Contains(text, "rate  0.0050") {
		t.Errorf("the screen is\n%s", text)
	}
}
