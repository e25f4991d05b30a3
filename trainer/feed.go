package trainer

import (
	"context"
	"errors"
)

// Feed is a run as a viewer sees it: a live session, a recorded run or a stream.
type Feed interface {
	// Wait blocks until something is new and returns it. It returns io.EOF when the feed was closed,
	// and the context's error when that ended. After a run's Done it blocks: nothing is new.
	Wait(ctx context.Context) (Delta, error)
	// Do asks for a command and returns when it was taken or refused. A feed that can't be steered answers ErrReadOnly, a run that ended ErrEnded.
	Do(ctx context.Context, c Command) error
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
	Restart  bool            // what came before is void: a recorded run was sought through
	Run      *RunEvent       // set once
	Status   Status          // always the newest
	Epochs   []EpochEvent    // in order; thinned (minima and maxima kept) when the viewer is far behind
	Inner    []InnerEvent    // of the newest outer iterations, oldest dropped first
	Spectra  []SpectrumEvent // in order, thinned like Epochs
	Switches []SwitchEvent   // in order
	Settings []SettingEvent  // in order
	Slices   []SliceEvent    // the newest few, like all looks
	Weights  []WeightsEvent
	Errors   []ErrorsEvent
	Rewinds  []RewindEvent  // in order
	Races    []RaceEvent    // in order
	Laps     []LapEvent     // in order, oldest dropped first
	Resumes  []ResumeEvent  // in order
	Saved    []SavedEvent   // in order
	Diverged *DivergedEvent // never dropped
	Done     *DoneEvent     // never dropped
	Thinned  int            // how many epochs this Delta leaves out
}
