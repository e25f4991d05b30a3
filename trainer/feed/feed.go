// Package feed hands a run's events to those who look at it: a Broadcaster keeps the history and one Mailbox for each
// viewer, whose contents stay bounded however slow the viewer is; a Relay does the same for a run of another process.
package feed

import (
	"context"
	"errors"

	"newtop/trainer/event"
)

// Feed is a run as a viewer sees it: a live session, a recorded run or a stream.
type Feed interface {
	// Wait blocks until something is new and returns it. It returns io.EOF when the feed was closed,
	// and the context's error when that ended. After a run's Done it blocks: nothing is new.
	Wait(ctx context.Context) (Delta, error)
	// Do asks for a command and returns when it was taken or refused. A feed that can't be steered answers ErrReadOnly,
	// a run that ended ErrEnded.
	Do(ctx context.Context, c event.Command) error
	// Close ends the feed, not the run.
	Close()
}

// ErrReadOnly is the answer of a feed that only shows.
var ErrReadOnly = errors.New("read-only: this run can't be steered from here")

// ErrEnded is the answer to a command for a run that is over.
var ErrEnded = errors.New("the run has ended")

// Delta is what is new since the last one. Its slices of events belong to the receiver; what an event
// points to is shared by all who got it and is never changed. The first Delta of a feed holds the history so
// far.
type Delta struct {
	Restart  bool                  // what came before is void: a recorded run was sought through
	Cuts     []event.CutEvent      // of what came before; Epochs are without what is void
	Run      *event.RunEvent       // set once
	Status   event.Status          // always the newest
	Epochs   []event.EpochEvent    // in order; downsampled (minima and maxima kept) when the viewer is far behind
	Inner    []event.InnerEvent    // of the newest outer iterations, oldest dropped first
	Spectra  []event.SpectrumEvent // in order, downsampled like Epochs
	Switches []event.SwitchEvent   // in order
	Settings []event.SettingEvent  // in order
	Slices   []event.SliceEvent    // the newest few, like all looks
	Weights  []event.WeightsEvent
	Errors   []event.ErrorsEvent
	Rewinds  []event.RewindEvent  // in order
	Races    []event.RaceEvent    // in order
	Laps     []event.LapEvent     // in order, oldest dropped first
	Resumes  []event.ResumeEvent  // in order
	Saved    []event.SavedEvent   // in order
	Console  []event.ConsoleEvent // lines that the program printed, the newest
	Machine  []event.MachineEvent // in order, oldest dropped first
	Diverged *event.DivergedEvent // never dropped
	Done     *event.DoneEvent     // never dropped
	Thinned  int                  // how many epochs this Delta leaves out
}
