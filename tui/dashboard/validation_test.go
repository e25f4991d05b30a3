package dashboard

import (
	"math"
	"strings"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/tuitest"
)

// validated is a run whose validation error rises after epoch 15, ended by its patience.
func validated(fate string) []feed.Delta {
	deltas := tuitest.NewRun(tuitest.Script{Epochs: 26, Fate: fate})
	for i := range deltas {
		d := &deltas[i]
		if d.Run != nil {
			run := *d.Run
			run.Data.TrainRows, run.Data.ValidationRows = 13600, 2400
			d.Run = &run
		}
		for e := range d.Status.Epoch + 1 {
			d.Status.RewindEpochs = append(d.Status.RewindEpochs, e)
		}
		for k := range d.Epochs {
			e := &d.Epochs[k]
			past := 0.004 * math.Abs(float64(e.Epoch-15))
			e.ValidationLoss = e.Loss + event.Float(0.05+past)
			e.ValidationError = event.Float(0.9*math.Exp(-float64(min(e.Epoch, 15))/5) + 0.03 + past)
			e.ValidationRMSE = event.Float(math.Sqrt(float64(e.ValidationLoss)))
		}
		if d.Done != nil {
			done := *d.Done
			done.Reason, done.Message, done.BestEpoch, done.Weights = event.ReasonPatience, "no better epoch for 11", 15, event.WeightsBest
			d.Done = &done
		}
	}
	return deltas
}

// TestValidationScreens draws a run with validation rows whole: all three curves, and the best epoch by the validation
// rows.
func TestValidationScreens(t *testing.T) {
	for _, c := range []struct {
		name     string
		fate     string
		keys     []string
		retained []string
	}{
		{"ended", "done", nil, []string{"60x16", "80x24", "120x40"}}, {"loss", "done", []string{"1", "enter"}, []string{"80x24"}}, {"rewind", "running", []string{"u", "up", "up"}, []string{"80x24", "120x40"}}, {"save", "done", []string{"w"}, []string{"80x24"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range screenSizes {
				a := newWatch(validated(c.fate), size[0], size[1])
				press(a, c.keys...)
				addFrame(add, frameText(t, a), size, c.retained)
			}
		})
	}
	a := newWatch(validated("done"), 120, 40)
	if a.H.Best.Epoch != 15 || !strings.Contains(frameText(t, a), "ends with epoch 15, validation error 7.48 %") {
		t.Errorf("best: %+v", a.H.Best)
	}
}
