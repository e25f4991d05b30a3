package pane

import (
	"newtop/trainer/feed"
	"newtop/tui/history"
	"newtop/tui/internal/tuitest"
)

// viewOf is what panes read of a run, without colours.
func viewOf(deltas ...feed.Delta) *View {
	v := &View{Pen: tuitest.Pen(), H: &history.History{}}
	for i := range deltas {
		v.H.Apply(&deltas[i])
	}
	return v
}
