package history

import (
	"math"

	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/tui/style"
)

// RunText say what a run is: its data, network or the program that has the model, and method, as far as they are
// known.
func RunText(e *event.RunEvent) (words []string) {
	words = append(words, style.Clean(e.Data.Name))
	if e.Model.Program != "" {
		words = append(words, style.Clean(e.Model.Program))
	}
	if s := e.Model.Shape(); s != "" {
		words = append(words, s)
	}
	if e.Optimizer != "" {
		words = append(words, style.Clean(e.Optimizer))
	}
	return words
}

// Ending says in words why a run ended.
func Ending(d *event.DoneEvent) string {
	s := style.Clean(d.Reason.Label())
	if d.Message != "" {
		s += ": " + style.Clean(d.Message)
	}
	return s
}

// StopToken is the colour of a stop reason; its letter says the same without one.
func StopToken(s krylov.Stop) style.Token {
	switch s {
	case krylov.NegativeCurvature:
		return style.NegativeCurvature
	case krylov.Boundary:
		return style.Boundary
	case krylov.Residual, krylov.Progress:
		return style.Residual
	case krylov.Limit:
		return style.Limit
	case krylov.NotFinite:
		return style.NotFinite
	}
	return style.Interrupted
}

// Spread returns the least and the greatest eigenvalue of an event.
func Spread(e *event.SpectrumEvent) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, f := range e.Eigenvalues {
		if v := float64(f); !math.IsNaN(v) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	return low, high, low <= high
}
