package tui

import "newtop/trainer"

// runWords say what a run is: its data, network and method, as far as they are known.
func runWords(e *trainer.RunEvent) (words []string) {
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
func ending(d *trainer.DoneEvent) string {
	words := map[trainer.Reason]string{
		trainer.ReasonEpochs:   "all epochs done",
		trainer.ReasonTarget:   "target reached",
		trainer.ReasonTime:     "time limit reached",
		trainer.ReasonStopped:  "stopped",
		trainer.ReasonStalled:  "no further progress possible",
		trainer.ReasonDiverged: "diverged",
		trainer.ReasonFailed:   "failed",
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
