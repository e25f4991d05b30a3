package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
)

// peerRun is a run of a model that another program has, which prints if it is told to.
func peerRun(printed bool) []feed.Delta {
	deltas := tuitest.PeerRun(33, tuitest.Transformer(12))
	if printed {
		end := &deltas[len(deltas)-1]
		end.Console = []event.ConsoleEvent{{Text: "loaded 48,000 rows"}, {Text: "using 2 threads"}}
	}
	return deltas
}

// TestPeerScreens draws runs of models that another program has.
func TestPeerScreens(t *testing.T) {
	add := tuitest.Archive(t)
	for _, size := range screenSizes {
		addFrame(add, frameText(t, newWatch(peerRun(false), size[0], size[1])), size, []string{"80x24", "120x40"})
	}
	for _, size := range screenSizes {
		addFrame(add, "prints\n"+frameText(t, newWatch(peerRun(true), size[0], size[1])), size, []string{"60x16", "80x24"})
	}
	for _, size := range screenSizes {
		addFrame(add, "a probe\n"+frameText(t, newWatch(probed(), size[0], size[1])), size, []string{"60x16", "80x24", "120x40"})
	}
}

// TestRaceOfPeers: without errors the losses have the whole width.
func TestRaceOfPeers(t *testing.T) {
	for _, size := range screenSizes {
		deltas := peerRun(false)
		race := tuitest.RaceDelta(deltas[len(deltas)-1].Status, 3, 9, "begun")
		for i := range race.Laps {
			e := &race.Laps[i].Lap
			e.Error, e.TestError, e.RMSE, e.TestRMSE, e.TestLoss = tuitest.NaN, tuitest.NaN, tuitest.NaN, tuitest.NaN, tuitest.NaN
		}
		text := frameText(t, newWatch(append(deltas, race), size[0], size[1]))
		if !strings.Contains(text, "loss  by") || strings.Contains(text, "RMSE  by") {
			t.Errorf("%v:\n%s", size, text)
		}
	}
}

// probed is a run that another program trains and that tells spectra beside its figures.
func probed() []feed.Delta {
	deltas := tuitest.ExternalRun(40, false)
	d := &deltas[0]
	for i := range d.Epochs {
		e := &d.Epochs[i]
		e.Metrics = append(e.Metrics, event.Metric{Key: "curvature/trace", Value: event.Float(10 + i)}, event.Metric{Key: "curvature/sharpness", Value: event.Float(3 + i/7)})
		if e.Epoch%5 == 0 {
			s := tuitest.SpectrumAt(e.Epoch)
			s.Density, s.Trace = tuitest.DensityAt(e.Epoch)
			d.Spectra = append(d.Spectra, s)
		}
	}
	return deltas
}

// TestPlacesOfPeers: what a model elsewhere can't have has no place but with the focus, and what its program prints has
// one where there are such.
func TestPlacesOfPeers(t *testing.T) {
	places := func(a *desk.App) map[layout.ID]bool {
		has := map[layout.ID]bool{}
		for _, p := range desk.Division(a, false).Slots {
			has[p.Pane] = true
		}
		return has
	}
	for _, size := range screenSizes {
		a := newWatch(peerRun(true), size[0], size[1])
		if has := places(a); has[layout.Errors] || has[layout.Accuracy] || !has[layout.Console] || !has[layout.Topology] {
			t.Errorf("%v: %v", size, has)
		}
		a.Focus = layout.Errors
		if has := places(a); !has[layout.Errors] || !strings.Contains(frameText(t, a), "the rows are another program's") {
			t.Errorf("%v: %v", size, has)
		}
		a = newWatch(probed(), size[0], size[1])
		if has := places(a); !has[layout.Spectrum] || !has[layout.Metrics] || has[layout.Inner] {
			t.Errorf("%v: %v", size, has)
		}
	}
}

// newPeerTest is a run of a model that another program has, which obeys.
func newPeerTest(w, h int) *desk.App {
	a := newTest(tuitest.Script{}, screen.Options{NoColor: true}, w, h)
	for _, d := range peerRun(false) {
		a.Update(came(d))
	}
	return a
}

// TestDialogsOfPeers: what can't be had of a model elsewhere is not offered, or a word says why.
func TestDialogsOfPeers(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"save", []string{"w"}}, {"methods", []string{"o", "down", "down"}}, {"race-form", []string{"f", "down", "space"}}, {"palette", []string{":", "a", "d", "a", "m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range screenSizes[:3] {
				a := newPeerTest(size[0], size[1])
				press(a, c.keys...)
				frameText(t, a)
				rows := append(a.Dialog.Draw(a, size[0], size[1]-layout.FooterRows), a.Footer(size[0], desk.Hints(a)))
				add(fmt.Sprintf("%dx%d", size[0], size[1]), ansi.Strip(strings.Join(rows, "\n")))
			}
		})
	}
}

// TestLackingMethods asks for methods that the model can and can't be trained by, in every way there is.
func TestLackingMethods(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string // what the feed was asked for, or what is said
	}{
		{[]string{"1"}, "{Optimizer:tr-newton}"}, {[]string{"2"}, "tr-gn: " + dialogs.Unsupported},
		{[]string{"o", "home", "down", "enter"}, "tr-gn: " + dialogs.Unsupported}, {[]string{"o", "1"}, "{Optimizer:tr-newton}"}, {[]string{"o", "2"}, "tr-gn: " + dialogs.Unsupported},
		{[]string{"f", "home", "down", "space"}, "tr-gn: " + dialogs.Unsupported},
		{[]string{":", "a", "d", "a", "m", "enter"}, dialogs.Unsupported},
	} {
		a := newPeerTest(120, 40)
		got := sent(a, press(a, c.keys...))
		if got == "" {
			got = a.Notice.Text
		}
		if got != c.want {
			t.Errorf("%v: %q, expected %q", c.keys, got, c.want)
		}
	}
}

// TestSaveOfPeers: a model elsewhere leaves as its parameters alone, and what was chosen for others stays chosen.
func TestSaveOfPeers(t *testing.T) {
	for typed, want := range map[string]string{"a.safetensors": "{File:a.safetensors}", "a.onnx": ""} {
		a := newPeerTest(120, 40)
		savesOf(a).Format = "onnx"
		press(a, "w", "ctrl+u")
		write(a, typed)
		if got := sent(a, press(a, "enter")); got != want || savesOf(a).Format != "onnx" {
			t.Errorf("%s: %s, then %s", typed, got, savesOf(a).Format)
		}
		if want == "" && !strings.Contains(frameText(t, a), "expected a name that ends in .safetensors ") {
			t.Error(frameText(t, a))
		}
	}
}
