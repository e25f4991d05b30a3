package dashboard

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/dashboard/race"
	"newtop/tui/dashboard/replay"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// bindings is the table, in the order of the footer: what matters most first.
func bindings(s *dialogs.Saves, b *replay.Bar) []*screen.Binding[*desk.App] {
	return slices.Concat(mainBindings(), []*screen.Binding[*desk.App]{b.PlayBinding()}, b.Bindings(), zoomBindings(),
		runBindings(s), viewBindings())
}

func uncovered(a *desk.App) bool { return desk.Covered(a) == "" }

func changeable(a *desk.App) bool { return desk.Unchangeable(a) == "" }

// resting reports whether the run waits to be told to continue: it pauses, or has come to its end.
func resting(a *desk.App) bool {
	return a.H.Status.Phase == event.Paused || a.H.Status.Phase == event.Ended
}

// mainBindings are those that a footer should never be without.
func mainBindings() []*screen.Binding[*desk.App] {
	pauseWord := func(a *desk.App) string {
		if resting(a) {
			return "go on"
		}
		return "pause"
	}
	quit := func(help string, only func(*desk.App) bool) *screen.Binding[*desk.App] {
		return desk.Use(desk.GroupHelp, help, screen.Quit).
			On(func(a *desk.App, _ string) tea.Cmd { return a.Quit() }).FooterBy(desk.QuitWord).Only(only)
	}
	return []*screen.Binding[*desk.App]{
		quit("stop the run, then quit; twice: at once", desk.Owns),
		quit("quit, and leave the run alone", func(a *desk.App) bool { return !desk.Owns(a) && !a.Program }),
		quit("quit; a program that runs ends, after a second q",
			func(a *desk.App) bool { return !desk.Owns(a) && a.Program }),
		desk.Use(desk.GroupHelp, "this help", screen.ShowHelp).
			On(func(a *desk.App, _ string) tea.Cmd {
				if a.First {
					a.First = false
					return beginTour(a)
				}
				a.Dialog = screen.Help(helpSections)
				return nil
			}).FooterBy(func(a *desk.App) string {
			if a.First {
				return "tour"
			}
			return "help"
		}),
		screen.CommandsKey(desk.GroupHelp, openPalette),
		desk.Use(desk.GroupRun, "pause, and go on", screen.Toggle).
			On(func(a *desk.App, _ string) tea.Cmd { return a.Send(event.Pause{On: !resting(a)}) }).
			FooterBy(pauseWord).While(desk.Steerable).Unless(desk.Unsteerable).Only(desk.Trains),
	}
}

// zoomBindings give one pane the screen, and take it back.
func zoomBindings() []*screen.Binding[*desk.App] {
	return []*screen.Binding[*desk.App]{
		desk.Use(desk.GroupView, "zoom the focused pane; also enter", screen.Zoom, screen.Open).
			Then(func(a *desk.App, _ string) { a.Zoomed = !a.Zoomed }).
			Footer("zoom").While(func(a *desk.App) bool { return uncovered(a) && !a.Zoomed }).Unless(desk.Covered),
		desk.Use(desk.GroupView, "back to the screen beneath", screen.Back).
			On(func(a *desk.App, _ string) tea.Cmd { return a.Quit() }).Only(
			func(a *desk.App) bool { return a.Over && !a.Zoomed }),
		desk.Use(desk.GroupView, "back to all panes", screen.Back).
			Then(func(a *desk.App, _ string) { a.Zoomed = false }).
			Footer("back").While(func(a *desk.App) bool { return uncovered(a) && a.Zoomed }).Unless(desk.Covered),
	}
}

// runBindings steer the run.
func runBindings(s *dialogs.Saves) []*screen.Binding[*desk.App] {
	paused := func(a *desk.App) bool { return desk.Steerable(a) && resting(a) && !a.H.Over() }
	send := func(c event.Command) func(*desk.App, string) tea.Cmd {
		return func(a *desk.App, _ string) tea.Cmd { return a.Send(c) }
	}
	scalable := func(a *desk.App) bool { return changeable(a) && a.H.Primary() != nil }
	scaled := func(a *desk.App) string { return style.Clean(a.H.Primary().Key) }
	unscalable := func(a *desk.App) string {
		reason := desk.Unchangeable(a)
		if reason == "" && a.H.Status.Optimizer != "" && a.H.Primary() == nil {
			reason = style.Clean(a.H.Status.Optimizer) + " has no radius, rate or damping to scale"
		}
		return reason
	}
	unkept := func(a *desk.App) string {
		reason := desk.Unchangeable(a)
		if reason == "" && len(a.H.Status.RewindEpochs) == 0 {
			reason = "no epoch is kept to go back to"
		}
		return reason
	}
	run := func(show, help string, keys ...string) *screen.Binding[*desk.App] {
		return desk.Bind(desk.GroupRun, show, help, keys...)
	}
	return []*screen.Binding[*desk.App]{
		run("s", "run one epoch", "s").On(send(event.StepEpoch{})).Footer("one epoch").While(paused).
			Unless(desk.Unsteerable).Only(desk.Trains),
		run("i", "run one inner iteration, or one batch", "i").On(send(event.StepInner{})).Footer("one inner").
			While(paused).Unless(desk.Unsteerable),
		inFooter(run("o", "choose an optimizer from a list", "o").
			Then(func(a *desk.App, _ string) { dialogs.OpenPicker(a) }), "optimizer", desk.Unchangeable),
		run("1…9", "switch to an optimizer by its number", "1", "2", "3", "4", "5", "6", "7", "8", "9").
			On(func(a *desk.App, k string) tea.Cmd { return dialogs.SwitchTo(a, int(k[0]-'1')) }).
			Unless(desk.Unchangeable),
		inFooter(run("e", "edit the settings in a form", "e").
			On(func(a *desk.App, _ string) tea.Cmd { return dialogs.OpenForm(a, "") }), "settings", desk.Unchangeable),
		run("+ -", "double or halve the radius, rate or damping", "+", "=", "-", "_").
			On(func(a *desk.App, k string) tea.Cmd {
				if k == "-" || k == "_" {
					return a.Send(event.Scale{Factor: 0.5})
				}
				return a.Send(event.Scale{Factor: 2})
			}).FooterBy(scaled).While(scalable).Unless(unscalable).
			By([2]string{"+", "double the radius, rate or damping, larger"},
				[2]string{"-", "halve the radius, rate or damping, smaller"}).Only(desk.Trains),
		inFooter(run("f", "fork: race methods or settings from here", "f").
			Then(func(a *desk.App, _ string) { race.Open(a) }), "race", desk.Unchangeable),
		inFooter(run("u", "go back to an earlier epoch", "u").
			Then(func(a *desk.App, _ string) { dialogs.OpenRewind(a, rewind) }), "go back", unkept).Only(desk.Trains),
		inFooter(run("k", "compute the spectrum at the current weights", "k").
			On(func(a *desk.App, _ string) tea.Cmd { return askSpectrum(a) }), "spectrum", desk.Unchangeable),
		run("w", "save the model, as safetensors or ONNX", "w").Then(func(a *desk.App, _ string) { s.Open(a) }).
			Footer("save").While(func(a *desk.App) bool { return dialogs.Unsavable(a) == "" && a.H.Over() }).
			Unless(dialogs.Unsavable),
	}
}

// inFooter names a key in the footer while nothing keeps it from acting; reason says what does.
func inFooter(b *screen.Binding[*desk.App], foot string, reason func(*desk.App) string) *screen.Binding[*desk.App] {
	return b.Footer(foot).While(func(a *desk.App) bool { return reason(a) == "" }).Unless(reason)
}

// unclassified is why there is no accuracy to show.
func unclassified(a *desk.App) string {
	if a.H.Regression() {
		return "a regression has no accuracy"
	}
	return ""
}

// rewind sends a run back to an epoch.
func rewind(a *desk.App, epoch int) tea.Cmd { return a.Send(event.Rewind{Epoch: epoch}) }

// viewBindings change what is seen.
func viewBindings() []*screen.Binding[*desk.App] {
	return []*screen.Binding[*desk.App]{
		inFooter(desk.Bind(desk.GroupView, "tab ←↑→↓", "another pane; shift+tab goes back",
			"tab", "shift+tab", "left", "right", "up", "down").
			Then(move).By([2]string{"tab", "next pane"}, [2]string{"shift+tab", "previous pane"}),
			"pane", desk.Covered),
		inFooter(desk.Use(desk.GroupView, "logarithmic or linear scale", screen.Scale).
			On(func(a *desk.App, _ string) tea.Cmd { return toggleLog(a) }), "log", desk.Covered),
		screen.AccuracyKey(func(a *desk.App) bool { return pane.LogsAccuracy(a.H) }).Unless(unclassified).
			While(func(a *desk.App) bool { return a.Focus == layout.Accuracy && unclassified(a) == "" }),
		desk.Use(desk.GroupView, "what is known of the run: settings, machine, summary", screen.Overview).
			Then(func(a *desk.App, _ string) {
				a.Dialog = screen.NewOverview[*desk.App](history.Overview(a.H), "the run")
			}),
		desk.Use(desk.GroupView, "search the log, or what the program printed", screen.Filter).
			On(func(a *desk.App, _ string) tea.Cmd { return searchLog(a) }).Unless(desk.Covered),
		desk.Bind(desk.GroupView, "R", "the recorded runs, and back", "R").
			On(func(a *desk.App, _ string) tea.Cmd { return openRuns(a) }).Footer("runs").Only(
			func(a *desk.App) bool { return a.Browse != nil }),
		screen.ThemeKey[*desk.App](),
		screen.GlyphsKey[*desk.App](),
		screen.MouseKey[*desk.App](),
		desk.Use(desk.GroupView, "picture of the focused chart, as SVG", screen.Picture).
			On(func(a *desk.App, _ string) tea.Cmd { return chartPicture(a, "svg") }).
			Footer("picture").While(func(a *desk.App) bool { return desk.Unpicturable(a) == "" && a.H.Over() }).Unless(
			desk.Unpicturable),
		desk.Use(desk.GroupView, "picture of the screen, as SVG and PNG", screen.Screenshot).
			On(func(a *desk.App, _ string) tea.Cmd { return screenPicture(a) }).Unless(func(a *desk.App) string {
			if a.OnlyViews() {
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
