package event

import "testing"

// TestWords: every command has words of its own.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		Command
		want   string
		steers bool
	}{
		{Pause{On: true}, "pause", true}, {Pause{}, "go on", true}, {StepEpoch{}, "run one epoch", true}, {StepInner{}, "run one inner iteration", true},
		{Switch{Optimizer: "adam"}, "switch to adam", true}, {Set{Key: "radius", Value: "2"}, "set radius 2", true}, {Scale{Factor: 0.5}, "scale radius, rate or damping by 0.5", true},
		{Spectrum{}, "compute the spectrum", true}, {Slice{}, "compute the loss along the last step", false},
		{ShowWeights{To: 2, From: 1}, "show the weights from layer 1 to 2", false}, {ShowErrors{}, "show the errors of the test rows", false},
		{ShowErrors{Train: true}, "show the errors of the training rows", false}, {Rewind{Epoch: 3}, "go back to epoch 3", true},
		{Race{Racers: []Racer{{Optimizer: "adam"}, {Optimizer: "tr-gn"}}}, "race adam, tr-gn", true}, {Pick{Racer: 1}, "go on with racer B", true},
		{Pick{Racer: -1}, "abandon the race", true}, {Save{File: "a.onnx"}, "save a.onnx", true}, {Seek{Epoch: 4}, "show epoch 4", true},
		{Speed{Factor: 2}, "replay at 2 times the speed", true}, {Stop{}, "stop the run", true},
	} {
		if got := Label(c.Command); got != c.want || seen[got] || Steers(c.Command) != c.steers {
			t.Errorf("%#v: %q, steers %v", c.Command, got, Steers(c.Command))
		}
		seen[c.want] = true
	}
}
