package event

import "fmt"

// Command is what a viewer can ask of a running session. A command takes effect between two inner
// units (CG iterations or batches), so within one product, and its answer comes at once after that.
type Command interface{ command() }

// Pause stops the clock between two inner units (On) or lets the run continue.
type Pause struct{ On bool }

// StepEpoch runs to the end of the current epoch, or through the next one, and pauses.
type StepEpoch struct{}

// StepInner runs one inner unit and pauses.
type StepInner struct{}

// Switch hands the weights to another optimizer with its default settings. An outer iteration under
// way is given up.
type Switch struct{ Optimizer string }

// Set changes a hyperparameter of the current optimizer, without a reset.
type Set struct{ Key, Value string }

// Scale multiplies the current optimizer's primary hyperparameter: its rate or its radius.
type Scale struct{ Factor float64 }

// Spectrum asks for the Hessian's extreme eigenvalues at the current weights, or as soon as the current
// inner solve is over.
type Spectrum struct{}

// Slice asks for a SliceEvent: the loss along the last step that was proposed, beside its models.
type Slice struct{}

// ShowWeights asks for a WeightsEvent of one block, as the weights are now.
type ShowWeights struct{ To, From int }

// ShowErrors asks for an ErrorsEvent over the test rows, or over the training rows, with that many of the worst rows.
type ShowErrors struct {
	Train bool
	Worst int
}

// ShowImage asks for an image that a watched log has.
type ShowImage struct {
	Key  string
	Step int
}

// Rewind goes back to the weights after an earlier epoch that Status.Kept names. The method begins again with the
// settings that it has; work, time and random numbers continue. An outer iteration in progress is given up.
type Rewind struct{ Epoch int }

// Race begins a race from the current weights. Each racer's budget is in gradient equivalents or seconds of
// training, whichever is spent first; 0: no bound by that one. The current method races with the settings that it has,
// another with its defaults, each as if it had just taken over; Set changes those. The run's own outer iteration waits.
// When all have ended the run pauses until one is picked.
type Race struct {
	Racers      []Racer
	Equivalents float64
	Seconds     float64
}

// Pick ends a race. The run continues as if the racer had been it all along, or with −1 as if there had been no race,
// but for the work and time that went into it.
type Pick struct{ Racer int }

// Save writes the current weights to a file, in the format that its extension names: .safetensors or .onnx. The run
// continues at once; a SavedEvent and the answer follow when the file is there. What is there already is replaced as a
// whole. A run that has ended can still be saved, with the weights that it ended with.
type Save struct{ File string }

// Seek shows a recorded run as it was after an epoch, and continues replaying from there.
type Seek struct{ Epoch int }

// Speed sets how many times faster than it ran a recorded run is replayed.
type Speed struct{ Factor float64 }

// Stop ends the run after the inner unit in progress. What was computed stays on the screen.
type Stop struct{}

func (Pause) command()     {}
func (StepEpoch) command() {}
func (StepInner) command() {}
func (Switch) command()    {}
func (Set) command()       {}
func (Scale) command()     {}
func (Spectrum) command()  {}
func (Stop) command()      {}

func (Slice) command()       {}
func (ShowWeights) command() {}
func (ShowErrors) command()  {}
func (ShowImage) command()   {}
func (Rewind) command()      {}
func (Race) command()        {}
func (Pick) command()        {}
func (Save) command()        {}
func (Seek) command()        {}
func (Speed) command()       {}

// CommandError says why a command was refused. The run is as it was before.
type CommandError struct{ Reason string }

func (e *CommandError) Error() string { return e.Reason }

// Refuse returns the refusal of a command for a reason.
func Refuse(format string, args ...any) error {
	return &CommandError{Reason: fmt.Sprintf(format, args...)}
}
