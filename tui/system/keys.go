package system

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// bindings is the table of the keys, in the order of the footer.
func bindings() []*screen.Binding[*Model] {
	on := func(show, help string, keys ...string) *screen.Binding[*Model] {
		return screen.Bind[*Model]("", show, help, keys...)
	}
	use := func(help string, v screen.Verb) *screen.Binding[*Model] { return screen.Use[*Model]("", help, v) }
	pause := func(m *Model) string {
		if m.paused {
			return "go on"
		}
		return "pause"
	}
	return []*screen.Binding[*Model]{
		use("back to the screen beneath, or quit", screen.Back).On(func(*Model, string) tea.Cmd { return tea.Quit }),
		screen.QuitKey[*Model]("", "quit, or back to the screen beneath"),
		use("this help", screen.ShowHelp).
			Then(func(m *Model, _ string) { m.dialog = screen.Help(helpSections) }).DefaultFooter(),
		screen.CommandsKey("", func(m *Model) {
			m.dialog = screen.NewPalette(screen.Commands(m.bindings, m), "commands")
		}),
		on("↑ ↓", "select another host", widget.MoveKeys...).On((*Model).move),
		use("pause, and go on", screen.Toggle).On((*Model).pause).FooterBy(pause),
		on("+ -", "look more seldom, or more often", "+", "=", "-", "_").On((*Model).pace).Footer("interval").
			By([2]string{"+", "look more seldom"}, [2]string{"-", "look more often"}),
		on("[ ]", "the curves show more, or less", "[", "]").On((*Model).widen).Footer("time").
			By([2]string{"[", "the curves show more"}, [2]string{"]", "the curves show less"}),
		screen.ScreenshotKey("newtop-machine-screen", (*Model).screen),
		screen.ThemeKey[*Model]().DefaultFooter(),
		screen.GlyphsKey[*Model](),
		screen.MouseKey[*Model](),
		screen.RedrawKey[*Model](),
		screen.SuspendKey[*Model](""),
	}
}

// press gives a key to what stands in front, and then to the table of bindings.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	if m.dialog != nil && k != "ctrl+c" && k != "ctrl+z" {
		if cmd, passed := screen.ToDialog(&m.dialog, m, msg); !passed {
			return cmd
		}
	}
	return screen.Press(m.bindings, m, k)
}

// move selects another machine.
func (m *Model) move(k string) tea.Cmd {
	m.watched = m.all[max(0, min(m.table.Move(k, slices.Index(m.all, m.watched), len(m.all)), len(m.all)-1))]
	return nil
}

// pause stops looking at the machine, or continues at once.
func (m *Model) pause(string) tea.Cmd {
	m.paused = !m.paused
	for _, h := range m.all {
		h.turn++
	}
	if m.paused {
		return nil
	}
	return m.sampleAll()
}

// pace changes how often the machine is looked at.
func (m *Model) pace(k string) tea.Cmd {
	by := 1
	if k == "-" || k == "_" {
		by = -1
	}
	m.every = max(0, min(m.every+by, len(intervals)-1))
	var waits []tea.Cmd
	for _, h := range m.all {
		waits = append(waits, m.wait(h))
	}
	return tea.Batch(append(waits, m.Notify(style.Text, "every "+format.Tick(intervals[m.every].Seconds())+" s"))...)
}

// widen changes how much of the past the curves show.
func (m *Model) widen(k string) tea.Cmd {
	by, text := map[string]int{"[": 1, "]": -1}[k], ""
	for _, h := range m.all {
		text = h.panel.Widen(by)
	}
	return m.Notify(style.Text, "the curves show "+text)
}

// hints are what the footer names.
func (m *Model) hints() []widget.Hint {
	if m.dialog != nil {
		return m.dialog.Hints(m)
	}
	return screen.Hints(m.bindings, m)
}

// helpSections are the keys with what they do, and what the signs mean.
func helpSections(m *Model) []widget.Section {
	const wide = 10
	keys := screen.HelpOf(m.bindings, wide, "")
	keys[0].Title = "machine"
	return append(keys, widget.Explained("on the screen", wide,
		[2]string{"load", "processes that run or wait, over a minute"},
		[2]string{"may use", "cores that this container is allowed"},
		[2]string{"memory", "used of all that there is, or is allowed"},
		[2]string{"used by", "processes on a GPU, as nvidia-smi reports"},
		[2]string{"!", "all but used up"},
		[2]string{"–", "not told"}))
}
