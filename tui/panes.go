package tui

import (
	"newtop/tui/layout"

	tea "charm.land/bubbletea/v2"
)

// newPanes makes the panes in the order of the tab key.
func newPanes() [layout.Panes]Pane {
	return [layout.Panes]Pane{
		layout.Loss:     NewLoss(),
		layout.Accuracy: &Accuracy{},
		layout.Inner:    &Inner{},
		layout.Spectrum: &Spectrum{},
		layout.Topology: &Topology{},
		layout.Region:   NewRegion(),
		layout.Errors:   &Errors{},
		layout.Work:     &Work{},
		layout.Log:      &Log{},
	}
}

// searchLog gives the log the screen and the keys.
func (a *App) searchLog() tea.Cmd {
	p, ok := a.panes[layout.Log].(*Log)
	if !ok {
		return nil
	}
	a.focus = layout.Log
	p.Search()
	a.Changes++
	return a.zoom(true)
}
