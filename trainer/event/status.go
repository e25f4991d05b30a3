package event

import (
	"image"
	"time"
)

// Phase is what a session is doing.
type Phase uint8

// The phases.
const (
	Preparing Phase = iota // before the first epoch
	Running
	Paused
	Ended
)

// String names the phase.
func (p Phase) String() string {
	return [...]string{"preparing", "running", "paused", "ended"}[p]
}

// Setting is one hyperparameter as the settings show it.
type Setting struct {
	Key     string
	Text    string // the value
	Meaning string
	Range   string
	Primary bool // what + and − scale
}

// Status is the state of a session between two inner units.
type Status struct {
	Phase        Phase
	Held         bool // the run has ended, and continues if a command says so
	Epoch        int  // finished epochs
	EpochLimit   int  // 0 for none
	Optimizer    string
	Settings     []Setting
	Limits       []Setting // of the run, which Set changes too
	Unit         int       // inner units done in the outer iteration in progress
	Units        int       // how many it has; 0 if not known beforehand
	Elapsed      float64   // training seconds, pauses left out
	Equivalents  float64   // gradient equivalents spent by the optimizers
	Computing    string    // "spectrum", "slice" or "errors" while that is computed, else empty
	RewindEpochs []int     // epochs that Rewind can go back to, ascending; shared, never changed
	Racing       bool      // whether a race is on, or over and not picked from
	Recording    Recording
	Replay       *Replay   // how a recorded run is shown; nil for one that is trained here
	Audience     *Audience // who looks at a run that is served to several viewers; nil for one that is not
}

// Audience is who looks at a run, and what they did to it. Shared, never changed: a change is another Audience.
type Audience struct {
	Viewers []Viewer // in the order in which they joined
	Actions []Action // the newest few, in order
}

// Viewer is one who looks at a run.
type Viewer struct {
	Name    string // as they are called, for readers
	Key     string // the fingerprint of their key
	Control bool   // whether they may steer the run
	Since   time.Time
}

// Action is a command that a viewer gave.
type Action struct {
	Number  int // from 1, over the whole run
	At      time.Time
	Epoch   int    // that was done last
	By      string // the viewer's name
	What    string // the command in words, as in "switch to adam"
	Refused string // why it was not taken; empty if it was
}

// Replay is where a viewer is in a run that is trained or was trained elsewhere. It answers Pause, StepEpoch, Seek and
// Speed, as long as Seekable; every other command gets ErrReadOnly. Shared, never changed.
type Replay struct {
	Source   string  // what it is read from, for readers
	Loading  float64 // how much of it has been read, below 1 while it is; 0: unknown
	Live     bool    // following a run that continues, at its newest event
	Seekable bool
	Epoch    int       // the newest that is shown
	Last     int       // the newest that there is
	At       float64   // training seconds shown
	Length   float64   // training seconds that there are
	Speed    float64   // times as fast as it ran
	Thinned  int       // how many epochs are not kept, as there are too many
	Quiet    time.Time // when something was last written, where that is more than a minute ago; else zero
	Stale    string    // why nothing more may come, as that its writer is gone; empty else
	Warning  string    // what of it could not be read; empty else
	Images   *Images   // that its log has; nil: none
}

// Images are what a log has of images. Shared, never changed.
type Images struct {
	Names []ImageName // in the order in which they came first
	Shown []*Image    // the newest few that were asked for
	Gen   uint64      // counts the changes
}

// ImageName is what images were logged as. Those logged at once have a number behind the name.
type ImageName struct {
	Key   string
	Steps []int  // ascending
	Kind  string // what it is, if it is no image and can't be shown
}

// Image is one that was asked for.
type Image struct {
	ShowImage
	Width, Height int         // of the image as it was logged; 0: unknown
	Pixels        *image.RGBA // maybe reduced; nil where it can't be shown
	Note          string      // why not, or what is shown of it
}

// Recording is how a run's record is doing. The zero value is a run that is not recorded.
type Recording struct {
	Run     string // its name there
	Path    string // the file
	Backlog int    // events that are not written yet
	Lost    int    // events that were left out because too many waited; never epochs while inner iterations do
	Warning string // why nothing is being written; empty while all is well
}
