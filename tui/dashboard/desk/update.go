package desk

import (
	tea "charm.land/bubbletea/v2"

	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// Close ends what waits on the feed. The feed itself stays open.
func (a *App) Close() { a.Cancel() }

// Throttle has news come rarer while nobody types.
func (a *App) Throttle() {
	a.touched = a.Clock()
	if a.hold = chartHold; a.Viewer != nil || screen.Remote(a.Environ) {
		a.hold = remoteHold
	}
}

// Touch notes that the user did something: charts follow every change for a while.
func (a *App) Touch() {
	a.touched = a.Clock()
	a.hurry()
}

// Init asks for the background and arms the wait for the first Delta.
func (a *App) Init() tea.Cmd {
	return tea.Batch(a.Opening(), a.Wait(0), sampleMachine(a))
}

// Update delegates.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.Redraws++
	case tea.KeyPressMsg:
		a.Touch()
		return a, tea.Batch(a.press(msg), a.Touched(a), a.askForPane())
	case tea.PasteMsg:
		if a.Dialog != nil {
			msg.Content = style.Clean(msg.Content)
			cmd, _ := screen.ToDialog(&a.Dialog, a, msg)
			return a, cmd
		}
	case tea.MouseMsg:
		if a.Dialog != nil {
			a.Touch()
			cmd := screen.MouseToDialog(&a.Dialog, a, msg)
			return a, tea.Batch(cmd, a.Touched(a), a.askForPane())
		}
		if msg, ok := msg.(tea.MouseWheelMsg); ok && Racing(a) {
			return a, wheel(a, msg)
		}
		return a, a.mouse(msg)
	case DeltaMsg:
		return a, tea.Batch(a.receive(msg), a.askForPane())
	case pane.AskMsg:
		if reason := Unsteerable(a); reason != "" {
			return a, a.Notify(style.Warn, reason)
		}
		return a, a.Send(msg.Command)
	case ReplyMsg:
		return a, a.replied(msg)
	case StoppedMsg:
		return a, a.stopped(msg.Err)
	case TickMsg:
		a.trained.ticking = false
		return a, tick(a)
	case MachineMsg:
		return a, applySample(a, msg)
	case stayMsg:
		a.leaving = false
	case DrawMsg:
		return a, redrawn(a)
	}
	return a, a.Other(a, msg)
}

// press gives a key to the dialog in front, then to the table of bindings.
func (a *App) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch {
	case k == "ctrl+c" || k == "ctrl+z" || k == "ctrl+l":
	case a.Dialog != nil:
		msg.Text = style.Clean(msg.Text)
		if cmd, passed := screen.ToDialog(&a.Dialog, a, msg); !passed {
			return cmd
		}
	case Racing(a):
		if cmd, taken := a.Race.Press(a, k); taken {
			return cmd
		}
	}
	if p, ok := a.Panes[a.Focus].(pane.Keyed); ok && a.Zoomed && !Racing(a) {
		if pane.Binds(p, k) {
			a.Claim(a.Focus)
		}
		if cmd, taken := pane.Press(p, a.PaneView(), k); taken {
			a.Changes++
			return cmd
		}
	}
	return screen.Press(a.Bindings, a, k)
}

// View draws the screen from the panes' kept pictures.
func (a *App) View() tea.View {
	v := a.Base.View(a.Rows(), a.WindowTitle(), tea.MouseModeNone)
	v.MouseMode = a.MouseMode()
	return v
}

// MouseMode is what the terminal should tell of the mouse.
func (a *App) MouseMode() tea.MouseMode {
	if a.NoMouse {
		return tea.MouseModeNone
	}
	if _, ok := a.Panes[a.Focus].(pane.Moused); ok && a.Zoomed {
		return tea.MouseModeAllMotion
	}
	return tea.MouseModeCellMotion
}

// WindowTitle is what the terminal puts over its window.
func (a *App) WindowTitle() string {
	if a.H.Run == nil {
		return a.Title
	}
	return a.Title + " · " + style.Clean(a.H.Run.Data.Name)
}

// Rows returns exactly the terminal's rows, each exactly as wide as it.
func (a *App) Rows() []string {
	s := Division(a, a.Zoomed)
	if len(s.Slots) == 0 {
		return strip(a)
	}
	rows := make([]string, 0, a.Height)
	rows = append(rows, header(a, a.Width)...)
	if Racing(a) {
		rows = append(rows, a.Race.Draw(a.PaneView(), a.Width, a.Height-s.Header.H-layout.FooterRows)...)
	} else {
		rows = append(rows, a.body(&s)...)
	}
	return a.Draw(rows, Hints(a), screen.InFront(a.Dialog, a))
}

// body joins the panes' rows.
func (a *App) body(s *layout.Screen) []string {
	drawn := make([][]string, len(s.Slots))
	for i := range s.Slots {
		drawn[i] = drawPane(a, &s.Slots[i])
	}
	return layout.Join(s.Slots, drawn, s.W, s.Header.H, s.H-s.Header.H-layout.FooterRows)
}

// wheel moves through the table of a race, as the arrows do.
func wheel(a *App, msg tea.MouseWheelMsg) tea.Cmd {
	switch msg.Button {
	case tea.MouseWheelUp:
		return a.press(tea.KeyPressMsg{Code: tea.KeyUp})
	case tea.MouseWheelDown:
		return a.press(tea.KeyPressMsg{Code: tea.KeyDown})
	}
	return nil
}
