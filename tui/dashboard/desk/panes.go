package desk

import (
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/pane/analyses"
	"newtop/tui/pane/inner"
	"newtop/tui/pane/machine"
	"newtop/tui/pane/metrics"
)

// NewPanes makes the panes in the order of the tab key, which is that of their IDs; in a run of metrics alone these are
// second. The layout gives the named ones their places; one that has no name there, and stands behind them, takes the
// place of the log while it has the focus.
func NewPanes() []pane.Pane {
	return []pane.Pane{
		layout.Loss:     pane.NewLoss(),
		layout.Accuracy: &pane.Accuracy{},
		layout.Inner:    &inner.Pane{},
		layout.Spectrum: &analyses.Spectrum{},
		layout.Topology: &analyses.Topology{},
		layout.Region:   pane.NewRegion(),
		layout.Errors:   &analyses.Errors{},
		layout.Work:     &pane.Work{},
		layout.Log:      &pane.Log{},
		layout.Machine:  &machine.Pane{},
		layout.Metrics:  metrics.New(),
		layout.Console:  &pane.Console{},
		layout.Images:   &pane.Images{},
	}
}
