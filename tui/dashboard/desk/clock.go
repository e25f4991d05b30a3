package desk

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
)

// trainedClock tells the seconds of training between two statuses.
type trainedClock struct {
	ticking  bool      // a tickMsg is under way
	received time.Time // when the latest status came
	shown    float64   // elapsed seconds on the screen
}

// TickMsg moves the clock of the header on.
type TickMsg struct{}

// tick moves the clock on, twice a second where news come as often, and only while a run is running here: that of a
// record is the record's.
func tick(a *App) tea.Cmd {
	if a.H.Status.Phase != event.Running || a.H.Offline() || a.Closed || a.trained.ticking {
		return nil
	}
	a.trained.ticking = true
	return a.later(max(500*time.Millisecond, 2*a.every), TickMsg{})
}

// elapsed is the training time now: what the status said, and what has gone by since.
func elapsed(a *App) float64 {
	if a.H.Status.Phase != event.Running || a.H.Offline() || a.Closed || a.H.Status.Computing != "" {
		return a.trained.shown
	}
	return a.trained.shown + max(0, a.Clock().Sub(a.trained.received).Seconds())
}
