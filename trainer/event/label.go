package event

import (
	"fmt"
	"strconv"
	"strings"
)

// Label says in a clause what a command asks for, for those who did not give it: "switch to adam". Names and values are
// as they were given.
func Label(c Command) string {
	switch c := c.(type) {
	case Pause:
		if c.On {
			return "pause"
		}
		return "go on"
	case StepEpoch:
		return "run one epoch"
	case StepInner:
		return "run one inner iteration"
	case Switch:
		return "switch to " + c.Optimizer
	case Set:
		return "set " + c.Key + " " + c.Value
	case Scale:
		return "scale radius, rate or damping by " + strconv.FormatFloat(c.Factor, 'g', 4, 64)
	case Spectrum:
		return "compute the spectrum"
	case Slice:
		return "compute the loss along the last step"
	case ShowWeights:
		return fmt.Sprintf("show the weights from layer %d to %d", c.From, c.To)
	case ShowErrors:
		if c.Train {
			return "show the errors of the training rows"
		}
		return "show the errors of the test rows"
	case ShowImage:
		return fmt.Sprintf("show the image %s of step %d", c.Key, c.Step)
	case Rewind:
		return fmt.Sprintf("go back to epoch %d", c.Epoch)
	case Race:
		names := make([]string, len(c.Racers))
		for i := range c.Racers {
			names[i] = c.Racers[i].Optimizer
		}
		return "race " + strings.Join(names, ", ")
	case Pick:
		if c.Racer < 0 {
			return "abandon the race"
		}
		return "go on with racer " + string(rune('A'+c.Racer%26))
	case Save:
		return "save " + c.File
	case Seek:
		return fmt.Sprintf("show epoch %d", c.Epoch)
	case Speed:
		return "replay at " + strconv.FormatFloat(c.Factor, 'g', 4, 64) + " times the speed"
	case Stop:
		return "stop the run"
	}
	return fmt.Sprintf("%T", c)
}

// Steers reports whether a command changes a run or takes its time on purpose. Those that only look at it don't: panes
// give them by themselves while they are on a screen.
func Steers(c Command) bool {
	switch c.(type) {
	case Slice, ShowWeights, ShowErrors, ShowImage:
		return false
	}
	return true
}

// Label says why a run has ended, or the reason itself, which another program gave.
func (r Reason) Label() string {
	switch r {
	case ReasonEpochs:
		return "all epochs done"
	case ReasonTarget:
		return "target reached"
	case ReasonTime:
		return "time limit reached"
	case ReasonStalled:
		return "no further progress possible"
	}
	return string(r)
}
