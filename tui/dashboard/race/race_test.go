package race

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/internal/tuitest"
	"newtop/tui/pane"
	"newtop/tui/style"
)

func TestLead(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		rates     bool
		want      string
	}{{0.0767, 0.0798, true, "0.31 points"}, {0.07, 0.07001, true, "less than 0.01 points"}, {1, 2, false, "50 %"}, {-1, 0, false, "1.000"}} {
		if got := lead(c.low, c.high, c.rates); got != c.want {
			t.Errorf("%v below %v: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

// TestForeignNames: names of racers, which a log has, stand on the screen without what a terminal would obey.
func TestForeignNames(t *testing.T) {
	h := &history.History{}
	h.Race.Racers = []history.Racer{{Racer: event.Racer{Name: "a\x1b]0;x\a\x1b[2Jm"}}}
	pen := style.Pen{Palette: style.ThemeMono.Palette(true, colorprofile.ASCII, true), Glyphs: style.GlyphsASCII.Set(nil)}
	v := &pane.View{Pen: pen, H: h}
	c := columnWidths{name: 11, unit: format.Percent}
	for _, text := range []string{racerName(h, 0), new(View).row(v, &c, 0, 0, false, 80)} {
		if plain := ansi.Strip(text); !strings.Contains(plain, "a]0;x[2Jm") {
			t.Errorf("%q", text)
		}
	}
}

// TestDivergedRacer: its last values do not decide what the charts show of the others.
func TestDivergedRacer(t *testing.T) {
	lap := func(racer, epoch int, loss float64, ended string) event.LapEvent {
		e := event.EpochEvent{Epoch: epoch, Loss: event.Float(loss), Error: 0.5, TestError: tuitest.NaN, GradientEquivalents: event.Float(epoch)}
		return event.LapEvent{Racer: racer, Lap: e, Ended: ended}
	}
	h := &history.History{}
	h.Apply(tuitest.DeltaOf(h.Status, event.RaceEvent{State: "begun", Racers: make([]event.Racer, 2)}))
	h.Apply(&feed.Delta{Laps: []event.LapEvent{lap(0, 0, 1, ""), lap(1, 0, 1, ""), lap(0, 1, 0.5, ""), lap(1, 1, 1e40, "diverged: it rose")}})
	loss := func(r *history.Racer) *chart.Series { return &r.Loss[history.ByEquivalents] }
	if got := h.Race.Bounds(loss); got != [2]float64{0, 1.2} {
		t.Errorf("bounds %v", got)
	}
	h.Race.Racers[1].Ended = ""
	if got := h.Race.Bounds(loss); got != [2]float64{} {
		t.Errorf("bounds %v without a racer that diverged", got)
	}
}

// TestRaceLogged: what a race says stands before the epochs after it, though all came at once.
func TestRaceLogged(t *testing.T) {
	h := &history.History{}
	racers := make([]event.Racer, 2)
	h.Apply(&feed.Delta{
		Races:  []event.RaceEvent{{Epoch: 0, State: "begun", Racers: racers}, {Epoch: 0, State: "picked", Racers: racers}},
		Epochs: []event.EpochEvent{{Epoch: 1}},
	})
	var said []string
	for _, e := range h.Log.Entries {
		said = append(said, e.Text)
	}
	if got := strings.Join(said, "|"); !strings.HasPrefix(got, "race of 2 begins|race ends") || !strings.HasSuffix(got, "|") {
		t.Errorf("%q", got)
	}
}

func TestSweeps(t *testing.T) {
	methods := tuitest.Methods()
	for text, want := range map[string]string{
		"": "", "rate=1": "", "rate=1,2 radius=3": "", "adam.rate=0.1": "", "rate": "expected KEY=VALUE", "rate=": "expected KEY=VALUE",
		"rate=-1": "rate = -1: expected a number > 0", "rate=x": "rate = x", "warp=9": "none of these has a setting warp", "lm.rate=1": "none of these",
	} {
		if _, got := parseSweeps(text, methods); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	sweeps, _ := parseSweeps("radius=1,2 xi=0.1,0.2,0.3", methods)
	if n := len(expand(methods[0], sweeps, &event.Status{})); n != 6 {
		t.Errorf("2 × 3 values make %d racers", n)
	}
}

func TestBudget(t *testing.T) {
	for text, want := range map[string][2]float64{"200": {200, 0}, "30s": {0, 30}, "1m 5": {5, 60}, "": {}, "-3": {}, "soon": {}, "inf": {}} {
		e, s, problem := parseBudget(text)
		if e != want[0] || s != want[1] || (problem == "") != (want != [2]float64{}) {
			t.Errorf("%q: %g, %g, %q", text, e, s, problem)
		}
	}
}
