package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	host "newtop/internal/machine"
	"newtop/tui/layout"
	"newtop/tui/pane/machine"
	"newtop/tui/screen"
)

// machineMsg brings a sample of the machine, nil when it was waited for.
type machineMsg struct{ sample *host.Sample }

// machineEvery is how often the machine is looked at.
const machineEvery = time.Second

// stripHeight is from how many rows on a watched run's screen has a row about the machine.
const stripHeight = 30

// sampleMachine returns the command that reads how the machine does; nil where that is not told.
func (a *App) sampleMachine() tea.Cmd {
	if a.machine == nil {
		return nil
	}
	read, ctx := a.machine, a.Ctx
	return func() tea.Msg {
		s, err := read(ctx)
		if err != nil {
			return nil
		}
		return machineMsg{&s}
	}
}

// takeMachine takes in a sample and waits for the next one.
func (a *App) takeMachine(msg machineMsg) tea.Cmd {
	if msg.sample == nil {
		return a.sampleMachine()
	}
	a.machinePane().Take(*msg.sample)
	return screen.After(a.Ctx, machineEvery, machineMsg{})
}

func (a *App) machinePane() *machine.Pane { return a.panes[layout.Machine].(*machine.Pane) }

// machineRows is how many rows of the header are about the machine.
func machineRows(a *App) int {
	if a.machine != nil && a.h.Watched() && a.Height >= stripHeight {
		return 1
	}
	return 0
}

// headerRows is how many the header has in all.
func headerRows(a *App) int { return layout.HeaderRows + barRows(a) + machineRows(a) }

// absent reports whether a pane has nothing to show: nobody tells of the machine, or the run prints nothing. Tab passes
// it by.
func (a *App) absent(id layout.ID) bool {
	return id == layout.Machine && a.machine == nil || id == layout.Console && len(a.h.Console.Lines) == 0
}
