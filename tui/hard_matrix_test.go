package tui

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// richRun is a made-up run in which everything has happened that a pane can show: solves iteration by iteration,
// densities, a look along a step, weights, errors, a setting, a switch, a race that was picked from, a way back,
// values that are no numbers, and at the end divergence.
func richRun(regression, over bool) []feed.Delta {
	s := script{epochs: 30, spectra: true, skips: true, regression: regression, fate: "running"}
	if over {
		s.fate = "nan"
	}
	deltas := fakeRun(s)
	st := deltas[0].Status
	for i := range deltas {
		d := &deltas[i]
		st = d.Status
		for j := range d.Spectra {
			p := &d.Spectra[j]
			p.Rows, p.Selection = 2048, "evenly spaced"
			p.Density, p.Trace = fakeDensity(p.Epoch)
		}
		if len(d.Epochs) != 1 {
			continue
		}
		switch e := &d.Epochs[0]; e.Epoch {
		case 7:
			e.Loss, e.TestLoss = 4000, nan
		case 13:
			d.Settings = []event.SettingEvent{{Epoch: 13, Key: "radius", Value: 2.5}}
		case 18:
			race := fakeRace(st, 3, 9, "picked")
			for j := range race.Races {
				race.Races[j].Epoch, race.Races[j].Picked = 18, 0
			}
			d.Races, d.Laps = race.Races, race.Laps
		case 25:
			d.Rewinds = []event.RewindEvent{{Epoch: 25, To: 21}}
		}
	}
	classes := 26
	if regression {
		classes = 0
	}
	solve, _ := stagedEvents(31, 0, 14, krylov.NegativeCurvature)
	looks := feed.Delta{Status: st, Inner: solve, Slices: []event.SliceEvent{lookAlong("tr-newton", 0.1)},
		Weights: []event.WeightsEvent{fakeWeights(1, 0, 70, 17, 0)}, Errors: []event.ErrorsEvent{fakeErrors(30, classes, 0)}}
	if !over {
		return append(deltas, looks)
	}
	end := len(deltas) - 1
	return append(deltas[:end:end], looks, deltas[end])
}

// watchedRich is richRun as a record shows it, after it was sought through.
func watchedRich() []feed.Delta {
	deltas := richRun(false, true)
	for i := range deltas {
		deltas[i].Status.Replay = &event.Replay{Source: "x", Seekable: true, Epoch: i, Last: len(deltas), Speed: 1}
	}
	again := deltas[len(deltas)/2]
	again.Restart = true
	return append(append(deltas, again), deltas...)
}

// plain fails if a row of a frame has anything but printable text and the sequences that colour it.
func plain(t *testing.T, rows []string, w, h int, ascii bool) (text string) {
	t.Helper()
	if len(rows) != h {
		t.Fatalf("%d rows, not %d", len(rows), h)
	}
	for i, row := range rows {
		if ascii {
			for _, r := range row {
				if r > unicode.MaxASCII && strings.Contains(style.ToASCII(string(r)), "?") {
					t.Fatalf("row %d has %q, which has no counterpart: %q", i, r, row)
				}
			}
			row = style.ToASCII(row)
		}
		if n := ansi.StringWidth(row); n != w {
			t.Fatalf("row %d is %d wide, not %d: %q", i, n, w, ansi.Strip(row))
		}
		stripped := ansi.Strip(row)
		for _, r := range stripped {
			if !unicode.IsGraphic(r) || ascii && r > unicode.MaxASCII {
				t.Fatalf("row %d has %q: %q", i, r, stripped)
			}
		}
		text += stripped + "\n"
	}
	return text
}

// TestMatrix draws every pane, small and zoomed, in every theme on every kind of terminal, and with every set of
// glyphs. Themes change no text but in heat maps; each text is kept once.
func TestMatrix(t *testing.T) {
	for name, deltas := range map[string][]feed.Delta{
		"running": richRun(false, false), "diverged": richRun(false, true), "regression": richRun(true, false), "watched": watchedRich(),
		"foreign": foreignRun(43, false), "figures": foreignRun(43, true),
	} {
		if testing.Short() && name != "running" {
			continue
		}
		v := watched(deltas)
		for id, p := range newPanes() {
			for _, w := range []int{40, 80, 120} {
				if w != 80 && (name == "watched" || v.h.external()) {
					continue // the other widths are those of newtop's own runs
				}
				for g := style.GlyphsBraille; g < style.GlyphsCount; g++ {
					t.Run(fmt.Sprintf("%s/%s-%d-%v", name, p.name(v), w, g), func(t *testing.T) {
						v.Glyphs = g.Set(nil)
						text := matrixText(t, v, layout.ID(id), w)
						if name == "running" {
							golden.RequireEqual(t, []byte(text))
						}
					})
				}
			}
		}
	}
}

// matrixText draws a pane small, bare and zoomed in all themes and returns the text, which they share; but a heat
// map is of shades where there are too few colours for it.
func matrixText(t *testing.T, v *view, id layout.ID, w int) string {
	t.Helper()
	texts := map[bool]string{}
	for theme := style.ThemeAuto; theme < style.ThemeCount; theme++ {
		for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI, colorprofile.ASCII} {
			v.Palette = theme.Palette(profile != colorprofile.ANSI, profile, false)
			now := ""
			for _, c := range []struct {
				h   int
				key drawnKey
			}{{12, drawnKey{}}, {w / 3, drawnKey{zoomed: true, focused: true}}, {2, drawnKey{bare: true}}} {
				rows := new(drawn).draw(newPanes()[id], v, layout.Rect{X: 0, Y: 0, W: w, H: c.h}, c.key)
				now += plain(t, rows, w, c.h, v.Glyphs.ASCII)
			}
			rich := v.Palette.Shaded()
			if texts[rich] == "" {
				texts[rich] = now
			}
			if now != texts[rich] {
				t.Fatalf("%v, %v says\n%s\nnot\n%s", theme, profile, now, texts[rich])
			}
		}
	}
	return texts[false]
}

// TestScreensInASCII has all that can be in front on screens of all sizes in 7 bits.
func TestScreensInASCII(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		for name, keys := range overlayKeys {
			a := newTest(script{epochs: 12}, screen.Options{NoColor: true, Glyphs: style.GlyphsASCII}, size[0], size[1])
			withKept(a)
			press(a, keys...)
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				plain(t, strings.Split(a.View().Content, "\n"), size[0], size[1], true)
			})
		}
		a := newRaceTest(6, 12, "begun", size[0], size[1])
		a.SetGlyphs(style.GlyphsASCII)
		plain(t, strings.Split(a.View().Content, "\n"), size[0], size[1], true)
	}
}
