package tui

import "newtop/tui/layout"

// newPanes makes the panes in the order of the tab key.
func newPanes() [layout.Panes]Pane {
	return [layout.Panes]Pane{
		layout.Loss:     &Loss{log: true},
		layout.Accuracy: &Accuracy{},
		layout.Inner:    &Inner{},
		layout.Spectrum: &Spectrum{},
		layout.Topology: &Topology{},
		layout.Region:   &Region{log: true},
		layout.Errors:   &Errors{},
		layout.Work:     &Work{},
		layout.Log:      &Log{},
	}
}

// What the panes do beyond the contract. Interfaces that are met by promotion and asked for by assertion are lost without
// an error when a type changes, so each is stated.
var (
	_ Keyed = (*Loss)(nil)
	_ Keyed = (*Accuracy)(nil)
	_ Keyed = (*Region)(nil)
	_ Keyed = (*Work)(nil)
	_ Keyed = (*Inner)(nil)
	_ Keyed = (*Spectrum)(nil)
	_ Keyed = (*Topology)(nil)
	_ Keyed = (*Errors)(nil)
	_ Keyed = (*Log)(nil)

	_ Moused = (*Loss)(nil)
	_ Moused = (*Accuracy)(nil)
	_ Moused = (*Region)(nil)
	_ Moused = (*Work)(nil)
	_ Moused = (*Inner)(nil)
	_ Moused = (*Topology)(nil)

	_ Asker = (*Topology)(nil)
	_ Asker = (*Errors)(nil)

	_ Pictured = (*Loss)(nil)
	_ Pictured = (*Accuracy)(nil)
	_ Pictured = (*Region)(nil)
	_ Pictured = (*Inner)(nil)
	_ Pictured = (*Spectrum)(nil)
	_ Pictured = (*Work)(nil)

	_ Restarter = (*Inner)(nil)
	_ Restarter = (*Log)(nil)
)
