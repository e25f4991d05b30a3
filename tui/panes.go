package tui

import "newtop/tui/layout"

// newPanes makes the panes in the order of the tab key.
func newPanes() [layout.Panes]pane {
	return [layout.Panes]pane{
		layout.Loss:     &lossPane{log: true},
		layout.Accuracy: &accuracyPane{},
		layout.Inner:    &innerPane{},
		layout.Spectrum: &spectrumPane{},
		layout.Topology: &topologyPane{},
		layout.Region:   &regionPane{log: true},
		layout.Errors:   &errorsPane{},
		layout.Work:     &workPane{},
		layout.Log:      &logPane{},
	}
}

// What the panes do beyond the contract. Interfaces that are met by promotion and asked for by assertion are lost without
// an error when a type changes, so each is stated.
var (
	_ keyed = (*lossPane)(nil)
	_ keyed = (*accuracyPane)(nil)
	_ keyed = (*regionPane)(nil)
	_ keyed = (*workPane)(nil)
	_ keyed = (*innerPane)(nil)
	_ keyed = (*spectrumPane)(nil)
	_ keyed = (*topologyPane)(nil)
	_ keyed = (*errorsPane)(nil)
	_ keyed = (*logPane)(nil)

	_ moused = (*lossPane)(nil)
	_ moused = (*accuracyPane)(nil)
	_ moused = (*regionPane)(nil)
	_ moused = (*workPane)(nil)
	_ moused = (*innerPane)(nil)
	_ moused = (*topologyPane)(nil)

	_ glancer = (*topologyPane)(nil)
	_ glancer = (*errorsPane)(nil)

	_ pictured = (*lossPane)(nil)
	_ pictured = (*accuracyPane)(nil)
	_ pictured = (*regionPane)(nil)
	_ pictured = (*innerPane)(nil)
	_ pictured = (*spectrumPane)(nil)
	_ pictured = (*workPane)(nil)

	_ restarted = (*innerPane)(nil)
	_ restarted = (*logPane)(nil)
)
