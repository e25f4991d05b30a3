package dashboard

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format/formattest"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// spoiled is a run every text of which is another, as far as it has a meaning: the phases of a race.
func spoiled(text string) []feed.Delta {
	deltas := tuitest.RichRun(false, true)
	var told feed.Delta
	formattest.Fill(&told.Switches, text)
	formattest.Fill(&told.Settings, text)
	formattest.Fill(&told.Resumes, text)
	formattest.Fill(&told.Saved, text)
	formattest.Fill(&told.Status.Audience, text)
	formattest.Fill(&told.Status.Settings, text)
	told.Status.Recording = event.Recording{Run: text, Path: text, Warning: text}
	told.Status.Replay = &event.Replay{Seekable: true, Stale: text, Warning: text}
	told.Races = []event.RaceEvent{{Racers: make([]event.Racer, 3)}}
	ends := feed.Delta{Diverged: &event.DivergedEvent{}, Done: &event.DoneEvent{}}
	ends.Status.Phase = event.Ended
	deltas = append(deltas, told, ends)
	for i := range deltas {
		formattest.Spoil(&deltas[i], text)
		for k := range deltas[i].Races {
			deltas[i].Races[k].State = "begun"
		}
	}
	return deltas
}

// TestHostileTexts: nothing that a run says acts on the terminal, whatever is looked at.
func TestHostileTexts(t *testing.T) {
	for texts := range slices.Chunk(formattest.Hostile(), 2) {
		text := strings.Join(texts, " ")
		o := screen.Options{Title: text, DataSets: []string{text}, Environ: []string{"LANG=C.UTF-8"}}
		a := newApp(&tuitest.Feed{}, o, tuitest.Methods())
		a.Close()
		a.Update(tea.WindowSizeMsg{Width: 160, Height: 50})
		look := func(what string) {
			t.Helper()
			v := a.View()
			if place := formattest.Acts(v.Content, true) + formattest.Acts(v.WindowTitle, false); place != "" {
				t.Fatalf("%q: %s: %s", text, what, place)
			}
			frameText(t, a)
		}
		for i, d := range spoiled(text) {
			a.Update(came(d))
			if i%20 == 0 {
				look("events")
			}
		}
		look("all events")
		for range desk.NewPanes() {
			press(a, "z")
			look("a pane")
			press(a, "z", "tab")
		}
		for _, k := range strings.Fields("? esc : esc o esc R esc s esc W esc w esc b esc i esc g esc L esc c esc") {
			press(a, k)
			look("key " + k)
		}
	}
}
