package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// watchedRich is RichRun as a record shows it, after it was sought through.
func watchedRich() []feed.Delta {
	deltas := tuitest.RichRun(false, true)
	for i := range deltas {
		deltas[i].Status.Replay = &event.Replay{Source: "x", Seekable: true, Epoch: i, Last: len(deltas), Speed: 1}
	}
	again := deltas[len(deltas)/2]
	again.Restart = true
	return append(append(deltas, again), deltas...)
}

// TestMatrix draws every pane, small and zoomed, of every kind of run with every set of glyphs on every kind of terminal,
// and one run in every theme too, by day with one set of glyphs. Themes change no text but in heat maps; each text is kept
// once.
func TestMatrix(t *testing.T) {
	for name, deltas := range map[string][]feed.Delta{
		"running": tuitest.RichRun(false, false), "diverged": tuitest.RichRun(false, true), "regression": tuitest.RichRun(true, false), "watched": watchedRich(),
		"foreign": tuitest.ExternalRun(43, false), "figures": tuitest.ExternalRun(43, true),
		"peer": tuitest.PeerRun(20, tuitest.Transformer(12)), "factors": tuitest.FactorRun("shampoo", 20, 784, 70, 50, 26), "sampled": tuitest.SampledRun(20, 8),
	} {
		if testing.Short() && name != "running" {
			continue
		}
		v := panetest.View(deltas...)
		for id, p := range desk.NewPanes() {
			t.Run(name+"/"+p.Name(v), func(t *testing.T) {
				add := func(string, string) {}
				if name == "running" {
					add = tuitest.Archive(t)
				}
				for _, w := range []int{40, 80, 120} {
					if w != 80 && (name == "watched" || v.H.External() || v.H.Elsewhere()) {
						continue // the other widths are those of newtop's own runs
					}
					for g := style.GlyphsBraille; g < style.GlyphsCount; g++ {
						v.Glyphs = g.Set(nil)
						themes := style.ThemeAuto + 1
						if name == "running" && g == style.GlyphsBraille || nightly.On() {
							themes = style.ThemeCount
						}
						if text := matrixText(t, v, layout.ID(id), w, themes); w == 80 || g == style.GlyphsBraille {
							add(fmt.Sprintf("%d columns, %v", w, g), text)
						}
					}
				}
			})
		}
	}
}

// matrixText draws a pane small, bare and zoomed in so many themes and returns the text, which they share; but a heat
// map is of shades where there are too few colours for it.
func matrixText(t *testing.T, v *pane.View, id layout.ID, w int, themes style.Theme) string {
	t.Helper()
	texts := map[bool]string{}
	for theme := style.ThemeAuto; theme < themes; theme++ {
		for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI, colorprofile.ASCII} {
			v.Palette = theme.Palette(profile != colorprofile.ANSI, profile, false)
			now := ""
			for _, c := range []struct {
				h   int
				key pane.CacheKey
			}{{12, pane.CacheKey{}}, {w / 3, pane.CacheKey{Zoomed: true, Focused: true}}, {2, pane.CacheKey{Bare: true}}} {
				rows := new(pane.Cache).Draw(desk.NewPanes()[id], v, layout.Rect{X: 0, Y: 0, W: w, H: c.h}, c.key)
				now += screentest.Plain(t, rows, w, c.h, v.Glyphs.ASCII)
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

// TestScreensInASCII has all that can be in front on screens of all sizes in 7 bits, and watched runs of every kind.
func TestScreensInASCII(t *testing.T) {
	for _, size := range screenSizes {
		for name, keys := range dialogKeys {
			a := newTest(tuitest.Script{Epochs: 12}, screen.Options{NoColor: true, Glyphs: style.GlyphsASCII}, size[0], size[1])
			withKept(a)
			press(a, keys...)
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				screentest.Plain(t, strings.Split(a.View().Content, "\n"), size[0], size[1], true)
			})
		}
		watched := []*desk.App{newRaceTest(6, 12, "begun", size[0], size[1]), newWatch(replayScene("live"), size[0], size[1])}
		for _, name := range replayScenes {
			if size[0] == 120 {
				watched = append(watched, newWatch(replayScene(name), size[0], size[1]))
			}
		}
		for _, a := range watched {
			a.SetGlyphs(style.GlyphsASCII)
			screentest.Plain(t, strings.Split(a.View().Content, "\n"), size[0], size[1], true)
		}
	}
}
