package desk

import (
	"time"

	tea "charm.land/bubbletea/v2"

	host "newtop/internal/machine"
	"newtop/tui/layout"
	"newtop/tui/pane/machine"
	"newtop/tui/screen"
)

// MachineMsg brings a sample of the machine, nil when it was waited for.
type MachineMsg struct{ Sample *host.Sample }

// machineEvery is how often the machine is looked at.
const machineEvery = time.Second

// stripHeight is from how many rows on a watched run's screen has a row about the machine.
const stripHeight = 30

// sampleMachine returns the command that reads how the machine does; nil where that is not told.
func sampleMachine(a *App) tea.Cmd {
	if a.Machine == nil {
		return nil
	}
	read, ctx := a.Machine, a.Ctx
	return func() tea.Msg {
		s, err := read(ctx)
		if err != nil {
			return nil
		}
		return MachineMsg{&s}
	}
}

// applySample takes in a sample and waits for the next one.
func applySample(a *App, msg MachineMsg) tea.Cmd {
	if msg.Sample == nil {
		return sampleMachine(a)
	}
	machinePane(a).Add(*msg.Sample)
	return screen.After(a.Ctx, machineEvery, MachineMsg{})
}

func machinePane(a *App) *machine.Pane { return a.Panes[layout.Machine].(*machine.Pane) }

// machineRows is how many rows of the header are about the machine.
func machineRows(a *App) int {
	if a.Machine != nil && a.H.Watched() && a.Height >= stripHeight {
		return 1
	}
	return 0
}

// headerRows is how many the header has in all.
func headerRows(a *App) int { return layout.HeaderRows + BarRows(a) + machineRows(a) }

// Absent reports whether a pane has nothing to show: nobody tells of the machine, or the run prints nothing. Tab passes
// it by.
func Absent(a *App, id layout.ID) bool {
	return id == layout.Machine && a.Machine == nil && len(a.H.Curves.Machine.Series) == 0 ||
		id == layout.Console && len(a.H.Console.Lines) == 0 || id == layout.Images && isBlank(a, id)
}
