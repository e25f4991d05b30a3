package tune

import (
	"bytes"
	"testing"

	"newtop/internal/cli/clitest"
	"newtop/trainer/event"
	"newtop/trainer/tune"
)

// TestFoldReport has a cross-validation of three folds as text, as it goes on and as a whole, and as lines. Its spreads are those
// of numpy.
func TestFoldReport(t *testing.T) {
	b := &tune.Leaderboard{Name: "tune-x", Data: "letters", Measure: "validation error", Test: "test error", Folds: 3, Parallel: 2, Phase: "done", Order: []int{0, 1, 2}}
	for i, v := range []event.Float{0.1, 0.12, 0.17} {
		trial := sampleTrial(i+1, i+1, tune.Done, v, noFigure, "", "")
		trial.Choices = []tune.Choice{{Key: "fold", Value: string(rune('1' + i))}}
		trial.Test, trial.BestEpoch = trial.Best+0.01, 7+i
		b.Trials = append(b.Trials, trial)
	}
	var out, messages, whole, lines bytes.Buffer
	p := &foldReport{out: &out, messages: &messages, reported: map[int]bool{}}
	l := &foldLines{trialLines{out: &lines, reported: map[int]bool{}}}
	for _, err := range []error{p.board(b), p.board(b), p.end(b), printBoard(&whole, b, 10), l.board(b), l.end(b)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	clitest.Golden(t, "folds.txt", messages.String()+out.String())
	if whole.String() != out.String() {
		t.Errorf("shown later:\n%s\nexpected\n%s", &whole, &out)
	}
	clitest.Narrow(t, out.String())
	if types := clitest.Types(t, lines.String()); types["trial"] != 3 || types["folds"] != 1 {
		t.Errorf("%v", types)
	}
}
