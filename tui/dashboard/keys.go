package dashboard

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// bindings is the table, in the order of the footer: what matters most first.
func bindings(s *saves, b *bar) []screen.Binding[*App] {
	return slices.Concat(mainBindings(), []screen.Binding[*App]{b.playBinding()}, b.bindings(), zoomBindings(),
		runBindings(s), viewBindings())
}

func uncovered(a *App) bool { return covered(a) == "" }

func changeable(a *App) bool { return unchangeable(a) == "" }

// resting reports whether the run waits to be told to go on: it pauses, or has come to its end.
func resting(a *App) bool {
	return a.h.Status.Phase == event.Paused || a.h.Status.Phase == event.Ended
}

// mainBindings are those that a footer should never be without.
func mainBindings() []screen.Binding[*App] {
	pauseWord := func(a *App) string {
		if resting(a) {
			return "go on"
		}
		return "pause"
	}
	return []screen.Binding[*App]{
		use(groupHelp, "stop the run, then quit; twice: at once", screen.Quit).
			On(func(a *App, _ string) tea.Cmd { return a.quit() }).FootBy(quitWord).Only(owns),
		use(groupHelp, "quit, and leave the run alone", screen.Quit).
			On(func(a *App, _ string) tea.Cmd { return a.quit() }).FootBy(quitWord).Only(
			func(a *App) bool { return !owns(a) && !a.program }),
		use(groupHelp, "quit; a program that runs ends, after a second q", screen.Quit).
			On(func(a *App, _ string) tea.Cmd { return a.quit() }).FootBy(quitWord).Only(
			func(a *App) bool { return !owns(a) && a.program }),
		use(groupHelp, "this help", screen.ShowHelp).
			On(func(a *App, _ string) tea.Cmd { a.dialog = help(); return nil }).Foot("help"),
		screen.CommandsKey(groupHelp, openPalette),
		use(groupRun, "pause, and go on", screen.Toggle).
			On(func(a *App, _ string) tea.Cmd {
				return a.command(event.Pause{On: !resting(a)})
			}).FootBy(pauseWord).While(steerable).Unless(unsteerable).Only(trains),
	}
}

// zoomBindings give one pane the screen, and take it back.
func zoomBindings() []screen.Binding[*App] {
	return []screen.Binding[*App]{
		use(groupView, "zoom the focused pane; also enter", screen.Zoom, screen.Open).
			On(func(a *App, _ string) tea.Cmd { return a.zoom(!a.zoomed) }).
			Foot("zoom").While(func(a *App) bool { return uncovered(a) && !a.zoomed }).Unless(covered),
		use(groupView, "back to the screen beneath", screen.Back).
			On(func(a *App, _ string) tea.Cmd { return a.quit() }).Only(
			func(a *App) bool { return a.Over && !a.zoomed }),
		use(groupView, "back to all panes", screen.Back).
			On(func(a *App, _ string) tea.Cmd { return a.zoom(false) }).
			Foot("back").While(func(a *App) bool { return uncovered(a) && a.zoomed }).Unless(covered),
	}
}

// runBindings steer the run.
func runBindings(s *saves) []screen.Binding[*App] {
	paused := func(a *App) bool { return steerable(a) && resting(a) }
	send := func(c event.Command) func(*App, string) tea.Cmd {
		return func(a *App, _ string) tea.Cmd { return a.command(c) }
	}
	scalable := func(a *App) bool { return changeable(a) && a.h.Primary() != nil }
	scaled := func(a *App) string { return style.Clean(a.h.Primary().Key) }
	unscalable := func(a *App) string {
		why := unchangeable(a)
		if why == "" && a.h.Status.Optimizer != "" && a.h.Primary() == nil {
			why = style.Clean(a.h.Status.Optimizer) + " has no radius, rate or damping to scale"
		}
		return why
	}
	unkept := func(a *App) string {
		why := unchangeable(a)
		if why == "" && len(a.h.Status.Kept) == 0 {
			why = "no epoch is kept to go back to"
		}
		return why
	}
	return []screen.Binding[*App]{
		bind(groupRun, "s", "run one epoch", "s").On(send(event.StepEpoch{})).Foot("one epoch").While(paused).Unless(
			unsteerable).Only(trains),
		bind(groupRun, "i", "run one inner iteration, or one batch", "i").
			On(send(event.StepInner{})).Foot("one inner").While(paused).Unless(unsteerable),
		bind(groupRun, "o", "choose an optimizer from a list", "o").
			On(func(a *App, _ string) tea.Cmd { openPicker(a); return nil }).Foot("optimizer").While(changeable).Unless(
			unchangeable),
		bind(groupRun, "1…9", "switch to an optimizer by its number", "1", "2", "3", "4", "5", "6", "7", "8", "9").
			On(func(a *App, k string) tea.Cmd { return switchTo(a, int(k[0]-'1')) }).Unless(unchangeable),
		bind(groupRun, "e", "edit the settings in a form", "e").
			On(func(a *App, _ string) tea.Cmd { return openForm(a, "") }).Foot("settings").While(changeable).Unless(
			unchangeable),
		bind(groupRun, "+ -", "double or halve the radius, rate or damping", "+", "=", "-", "_").
			On(func(a *App, k string) tea.Cmd {
				if k == "-" || k == "_" {
					return a.command(event.Scale{Factor: 0.5})
				}
				return a.command(event.Scale{Factor: 2})
			}).FootBy(scaled).While(scalable).Unless(unscalable).
			By([2]string{"+", "double the radius, rate or damping"},
				[2]string{"-", "halve the radius, rate or damping"}).Only(trains),
		bind(groupRun, "f", "fork: race methods or settings from here", "f").
			On(func(a *App, _ string) tea.Cmd { openRace(a); return nil }).Foot("race").While(changeable).Unless(
			unchangeable),
		bind(groupRun, "u", "go back to an earlier epoch", "u").
			On(func(a *App, _ string) tea.Cmd { openRewind(a, rewind); return nil }).
			Foot("go back").While(func(a *App) bool { return unkept(a) == "" }).Unless(unkept).Only(trains),
		bind(groupRun, "k", "compute the spectrum at the current weights", "k").
			On(func(a *App, _ string) tea.Cmd { return askSpectrum(a) }).Foot("spectrum").While(changeable).Unless(
			unchangeable),
		bind(groupRun, "w", "save the model, as safetensors or ONNX", "w").
			On(func(a *App, _ string) tea.Cmd { s.open(a); return nil }).
			Foot("save").While(func(a *App) bool { return unsavable(a) == "" && a.h.Over() }).Unless(unsavable),
	}
}

// rewind sends a run back to an epoch.
func rewind(a *App, epoch int) tea.Cmd { return a.command(event.Rewind{Epoch: epoch}) }

// viewBindings change what is seen.
func viewBindings() []screen.Binding[*App] {
	return []screen.Binding[*App]{
		bind(groupView, "tab ←↑→↓", "another pane; shift+tab goes back", "tab", "shift+tab", "left", "right", "up",
			"down").
			On(func(a *App, k string) tea.Cmd { move(a, k); return nil }).Foot("pane").While(uncovered).Unless(covered).
			By([2]string{"tab", "next pane"}, [2]string{"shift+tab", "previous pane"}),
		use(groupView, "logarithmic or linear scale", screen.Scale).
			On(func(a *App, _ string) tea.Cmd { return toggleLog(a) }).Foot("log").While(uncovered).Unless(covered),
		use(groupView, "search the log", screen.Filter).
			On(func(a *App, _ string) tea.Cmd { return searchLog(a) }).Unless(covered),
		bind(groupView, "R", "the recorded runs, and back", "R").
			On(func(a *App, _ string) tea.Cmd { return openRuns(a) }).Foot("runs").Only(
			func(a *App) bool { return a.browse != nil }),
		screen.ThemeKey[*App](),
		screen.GlyphsKey[*App](),
		screen.MouseKey[*App](),
		use(groupView, "picture of the focused chart, as SVG", screen.Picture).
			On(func(a *App, _ string) tea.Cmd { return chartPicture(a, "svg") }).
			Foot("picture").While(func(a *App) bool { return unpicturable(a) == "" && a.h.Over() }).Unless(
			unpicturable),
		use(groupView, "picture of the screen, as SVG and PNG", screen.Screenshot).
			On(func(a *App, _ string) tea.Cmd { return screenPicture(a) }).Unless(func(a *App) string {
			if a.onlooker() {
				return viewerOnly
			}
			return ""
		}),
		bind(groupView, "Y", "copy the run's name to the clipboard", "Y").
			On(func(a *App, _ string) tea.Cmd { return copyName(a) }).Only(
			func(a *App) bool { return a.viewer == nil }),
		use(groupView, "draw the screen anew", screen.Redraw).
			On(func(a *App, _ string) tea.Cmd { a.redraws++; return tea.ClearScreen }),
		screen.SuspendKey[*App](groupHelp).Only(func(a *App) bool { return a.viewer == nil }),
	}
}
