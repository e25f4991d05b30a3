package tui

import (
	"newtop/trainer/event"
	"newtop/trainer/krylov"
)

// runWords say what a run is: its data, network and method, as far as they are known.
func runWords(e *event.RunEvent) (words []string) {
	words = append(words, clean(e.Data.Name))
	if len(e.Model.Layers) > 0 {
		words = append(words, e.Model.Shape())
	}
	if e.Optimizer != "" {
		words = append(words, clean(e.Optimizer))
	}
	return words
}

// ending says in words why a run ended.
func ending(d *event.DoneEvent) string {
	words := map[event.Reason]string{
		event.ReasonEpochs:   "all epochs done",
		event.ReasonTarget:   "target reached",
		event.ReasonTime:     "time limit reached",
		event.ReasonStopped:  "stopped",
		event.ReasonStalled:  "no further progress possible",
		event.ReasonDiverged: "diverged",
		event.ReasonFailed:   "failed",
	}
	s, ok := words[d.Reason]
	if !ok {
		s = clean(string(d.Reason))
	}
	if d.Message != "" {
		s += ": " + clean(d.Message)
	}
	return s
}

// stopToken is the colour of a stop reason; its letter says the same without one.
func stopToken(s krylov.Stop) token {
	switch s {
	case krylov.NegativeCurvature:
		return tokNegativeCurvature
	case krylov.Boundary:
		return tokBoundary
	case krylov.Residual:
		return tokResidual
	case krylov.Limit:
		return tokLimit
	case krylov.NotFinite:
		return tokNotFinite
	}
	return tokInterrupted
}
