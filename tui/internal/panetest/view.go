// Package panetest has what tests of panes share.
package panetest

import (
	"newtop/trainer/feed"
	"newtop/tui/history"
	"newtop/tui/internal/tuitest"
	"newtop/tui/pane"
)

// View is what panes read of a run, without colours.
func View(deltas ...feed.Delta) *pane.View {
	v := &pane.View{Pen: tuitest.Pen(), H: &history.History{}}
	for i := range deltas {
		v.H.Apply(&deltas[i])
	}
	return v
}
