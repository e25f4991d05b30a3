package dashboard

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/dashboard/race"
	"newtop/tui/dashboard/replay"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// bindings is the table, in the order of the footer: what matters most first.
func bindings(s *dialogs.Saves, b *replay.Bar) []screen.Binding[*desk.App] {
	return slices.Concat(mainBindings(), []screen.Binding[*desk.App]{b.PlayBinding()}, b.Bindings(), zoomBindings(),
		runBindings(s), viewBindings())
}

func uncovered(a *desk.App) bool { return desk.Covered(a) == "" }

func changeable(a *desk.App) bool { return desk.Unchangeable(a) == "" }

// resting reports whether the run waits to be told to go on: it pauses, or has come to its end.
func resting(a *desk.App) bool {
	return a.H.Status.Phase == event.Paused || a.H.Status.Phase == event.Ended
}

// mainBindings are those that a footer should never be without.
func mainBindings() []screen.Binding[*desk.App] {
	pauseWord := func(a *desk.App) string {
		if resting(a) {
			return "go on"
		}
		return "pause"
	}
	return []screen.Binding[*desk.App]{
		desk.Use(desk.GroupHelp, "stop the run, then quit; twice: at once", screen.Quit).
			On(func(a *desk.App, _ string) tea.Cmd { return a.Quit() }).FootBy(desk.QuitWord).Only(desk.Owns),
		desk.Use(desk.GroupHelp, "quit, and leave the run alone", screen.Quit).
			On(func(a *desk.App, _ string) tea.Cmd { return a.Quit() }).FootBy(desk.QuitWord).Only(
			func(a *desk.App) bool { return !desk.Owns(a) && !a.Program }),
		desk.Use(desk.GroupHelp, "quit; a program that runs ends, after a second q", screen.Quit).
			On(func(a *desk.App, _ string) tea.Cmd { return a.Quit() }).FootBy(desk.QuitWord).Only(
			func(a *desk.App) bool { return !desk.Owns(a) && a.Program }),
		desk.Use(desk.GroupHelp, "this help", screen.ShowHelp).
			On(func(a *desk.App, _ string) tea.Cmd { a.Dialog = help(); return nil }).Foot("help"),
		screen.CommandsKey(desk.GroupHelp, openPalette),
		desk.Use(desk.GroupRun, "pause, and go on", screen.Toggle).
			On(func(a *desk.App, _ string) tea.Cmd {
				return a.Send(event.Pause{On: !resting(a)})
			}).FootBy(pauseWord).While(desk.Steerable).Unless(desk.Unsteerable).Only(desk.Trains),
	}
}

// zoomBindings give one pane the screen, and take it back.
func zoomBindings() []screen.Binding[*desk.App] {
	return []screen.Binding[*desk.App]{
		desk.Use(desk.GroupView, "zoom the focused pane; also enter", screen.Zoom, screen.Open).
			On(func(a *desk.App, _ string) tea.Cmd { a.Zoomed = !a.Zoomed; return nil }).
			Foot("zoom").While(func(a *desk.App) bool { return uncovered(a) && !a.Zoomed }).Unless(desk.Covered),
		desk.Use(desk.GroupView, "back to the screen beneath", screen.Back).
			On(func(a *desk.App, _ string) tea.Cmd { return a.Quit() }).Only(
			func(a *desk.App) bool { return a.Over && !a.Zoomed }),
		desk.Use(desk.GroupView, "back to all panes", screen.Back).
			On(func(a *desk.App, _ string) tea.Cmd { a.Zoomed = false; return nil }).
			Foot("back").While(func(a *desk.App) bool { return uncovered(a) && a.Zoomed }).Unless(desk.Covered),
	}
}

// runBindings steer the run.
func runBindings(s *dialogs.Saves) []screen.Binding[*desk.App] {
	paused := func(a *desk.App) bool { return desk.Steerable(a) && resting(a) }
	send := func(c event.Command) func(*desk.App, string) tea.Cmd {
		return func(a *desk.App, _ string) tea.Cmd { return a.Send(c) }
	}
	scalable := func(a *desk.App) bool { return changeable(a) && a.H.Primary() != nil }
	scaled := func(a *desk.App) string { return style.Clean(a.H.Primary().Key) }
	unscalable := func(a *desk.App) string {
		why := desk.Unchangeable(a)
		if why == "" && a.H.Status.Optimizer != "" && a.H.Primary() == nil {
			why = style.Clean(a.H.Status.Optimizer) + " has no radius, rate or damping to scale"
		}
		return why
	}
	unkept := func(a *desk.App) string {
		why := desk.Unchangeable(a)
		if why == "" && len(a.H.Status.RewindEpochs) == 0 {
			why = "no epoch is kept to go back to"
		}
		return why
	}
	return []screen.Binding[*desk.App]{
		desk.Bind(desk.GroupRun, "s", "run one epoch", "s").On(send(event.StepEpoch{})).Foot("one epoch").While(paused).Unless(
			desk.Unsteerable).Only(desk.Trains),
		desk.Bind(desk.GroupRun, "i", "run one inner iteration, or one batch", "i").
			On(send(event.StepInner{})).Foot("one inner").While(paused).Unless(desk.Unsteerable),
		desk.Bind(desk.GroupRun, "o", "choose an optimizer from a list", "o").
			On(func(a *desk.App, _ string) tea.Cmd { dialogs.OpenPicker(a); return nil }).Foot("optimizer").While(changeable).Unless(
			desk.Unchangeable),
		desk.Bind(desk.GroupRun, "1…9", "switch to an optimizer by its number", "1", "2", "3", "4", "5", "6", "7", "8", "9").
			On(func(a *desk.App, k string) tea.Cmd { return dialogs.SwitchTo(a, int(k[0]-'1')) }).Unless(desk.Unchangeable),
		desk.Bind(desk.GroupRun, "e", "edit the settings in a form", "e").
			On(func(a *desk.App, _ string) tea.Cmd { return dialogs.OpenForm(a, "") }).Foot("settings").While(changeable).Unless(
			desk.Unchangeable),
		desk.Bind(desk.GroupRun, "+ -", "double or halve the radius, rate or damping", "+", "=", "-", "_").
			On(func(a *desk.App, k string) tea.Cmd {
				if k == "-" || k == "_" {
					return a.Send(event.Scale{Factor: 0.5})
				}
				return a.Send(event.Scale{Factor: 2})
			}).FootBy(scaled).While(scalable).Unless(unscalable).
			By([2]string{"+", "double the radius, rate or damping"},
				[2]string{"-", "halve the radius, rate or damping"}).Only(desk.Trains),
		desk.Bind(desk.GroupRun, "f", "fork: race methods or settings from here", "f").
			On(func(a *desk.App, _ string) tea.Cmd { race.Open(a); return nil }).Foot("race").While(changeable).Unless(
			desk.Unchangeable),
		desk.Bind(desk.GroupRun, "u", "go back to an earlier epoch", "u").
			On(func(a *desk.App, _ string) tea.Cmd { dialogs.OpenRewind(a, rewind); return nil }).
			Foot("go back").While(func(a *desk.App) bool { return unkept(a) == "" }).Unless(unkept).Only(desk.Trains),
		desk.Bind(desk.GroupRun, "k", "compute the spectrum at the current weights", "k").
			On(func(a *desk.App, _ string) tea.Cmd { return askSpectrum(a) }).Foot("spectrum").While(changeable).Unless(
			desk.Unchangeable),
		desk.Bind(desk.GroupRun, "w", "save the model, as safetensors or ONNX", "w").
			On(func(a *desk.App, _ string) tea.Cmd { s.Open(a); return nil }).
			Foot("save").While(func(a *desk.App) bool { return dialogs.Unsavable(a) == "" && a.H.Over() }).Unless(dialogs.Unsavable),
	}
}

// rewind sends a run back to an epoch.
func rewind(a *desk.App, epoch int) tea.Cmd { return a.Send(event.Rewind{Epoch: epoch}) }

// viewBindings change what is seen.
func viewBindings() []screen.Binding[*desk.App] {
	return []screen.Binding[*desk.App]{
		desk.Bind(desk.GroupView, "tab ←↑→↓", "another pane; shift+tab goes back", "tab", "shift+tab", "left", "right", "up",
			"down").
			On(func(a *desk.App, k string) tea.Cmd { move(a, k); return nil }).Foot("pane").While(uncovered).Unless(desk.Covered).
			By([2]string{"tab", "next pane"}, [2]string{"shift+tab", "previous pane"}),
		desk.Use(desk.GroupView, "logarithmic or linear scale", screen.Scale).
			On(func(a *desk.App, _ string) tea.Cmd { return toggleLog(a) }).Foot("log").While(uncovered).Unless(desk.Covered),
		desk.Use(desk.GroupView, "search the log", screen.Filter).
			On(func(a *desk.App, _ string) tea.Cmd { return searchLog(a) }).Unless(desk.Covered),
		desk.Bind(desk.GroupView, "R", "the recorded runs, and back", "R").
			On(func(a *desk.App, _ string) tea.Cmd { return openRuns(a) }).Foot("runs").Only(
			func(a *desk.App) bool { return a.Browse != nil }),
		screen.ThemeKey[*desk.App](),
		screen.GlyphsKey[*desk.App](),
		screen.MouseKey[*desk.App](),
		desk.Use(desk.GroupView, "picture of the focused chart, as SVG", screen.Picture).
			On(func(a *desk.App, _ string) tea.Cmd { return chartPicture(a, "svg") }).
			Foot("picture").While(func(a *desk.App) bool { return desk.Unpicturable(a) == "" && a.H.Over() }).Unless(
			desk.Unpicturable),
		desk.Use(desk.GroupView, "picture of the screen, as SVG and PNG", screen.Screenshot).
			On(func(a *desk.App, _ string) tea.Cmd { return screenPicture(a) }).Unless(func(a *desk.App) string {
			if a.Onlooker() {
				return desk.ViewerOnly
			}
			return ""
		}),
		desk.Bind(desk.GroupView, "Y", "copy the run's name to the clipboard", "Y").
			On(func(a *desk.App, _ string) tea.Cmd { return copyName(a) }).Only(
			func(a *desk.App) bool { return a.Viewer == nil }),
		desk.Use(desk.GroupView, "draw the screen anew", screen.Redraw).
			On(func(a *desk.App, _ string) tea.Cmd { a.Redraws++; return tea.ClearScreen }),
		screen.SuspendKey[*desk.App](desk.GroupHelp).Only(func(a *desk.App) bool { return a.Viewer == nil }),
	}
}
