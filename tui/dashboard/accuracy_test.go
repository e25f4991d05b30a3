package dashboard

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// TestAccuracy: a key turns the error into the accuracy everywhere on the screen, and back; the choice is kept until
// it is taken back.
func TestAccuracy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ui.toml")
	a := newTest(tuitest.Script{Epochs: 40, Fate: "done"}, screen.Options{Preferences: path}, 120, 40)
	wrong := frameText(t, a)
	settleAll(a, press(a, "A"))
	right := frameText(t, a)
	for _, want := range []string{"─ accuracy  train 99.6 %▴", "100 %┤", "loss, accuracy", "best test accuracy 95"} {
		if !strings.Contains(right, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if again := newTest(tuitest.Script{Epochs: 3}, screen.Options{Preferences: path}, 120, 40); !again.ShowsAccuracy() {
		t.Error("the choice is not kept")
	}
	settleAll(a, press(a, ":", "a", "c", "c", "u", "r", "enter"))
	if frameText(t, a) != wrong {
		t.Error("the command's word does not bring the error back")
	}
	if text, _ := os.ReadFile(path); len(text) > 0 {
		t.Errorf("what is shown by itself is kept as a choice: %s", text)
	}
	r := newTest(tuitest.Script{Epochs: 20, Regression: true}, screen.Options{}, 120, 40)
	if press(r, "A"); r.ShowsAccuracy() {
		t.Error("a regression has an accuracy")
	}
}

// TestLoggedAccuracy: a log's accuracy stands under its name and in its direction, as does what it calls the
// validation loss.
func TestLoggedAccuracy(t *testing.T) {
	d := feed.Delta{Run: &event.RunEvent{Data: event.DataInfo{Name: "keras"}},
		Status: event.Status{Phase: event.Running, Epoch: 3, Replay: &event.Replay{Source: "log", Live: true, Epoch: 3, Last: 3}}}
	for i := range 3 {
		e, acc := event.UnknownEpoch(i+1), event.Float(0.867+0.01*float64(i))
		e.Loss, e.ValidationLoss, e.Error, e.ValidationError = 1, 2, 1-acc, 1.1-acc
		of := func(key, of string, v event.Float) {
			e.Metrics = append(e.Metrics, event.Metric{Key: key, MetricNote: &event.MetricNote{Of: of}, Value: v})
		}
		of("acc", "error", acc)
		of("val_acc", "validation_error", acc-0.1)
		of("val_loss", "validation_loss", 2)
		d.Epochs = append(d.Epochs, e)
	}
	a := newWatch([]feed.Delta{d}, 120, 40)
	text := frameText(t, a)
	for _, want := range []string{"─ acc  valid 78.7 %▴  train 88.7 %▴  best 78.7 % at 3", "val_loss 2.000  acc 88.7 %  val_acc 78.7 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	press(a, "A")
	if text := frameText(t, a); !strings.Contains(text, "─ error  valid 21.3 %▾") || !strings.Contains(text, "error 11.3 %") {
		t.Errorf("no errors in\n%s", text)
	}
}

// TestCommandsAreFound by the words that a person would type.
func TestCommandsAreFound(t *testing.T) {
	own := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 120, 40)
	watched := newWatch(replayScene("live"), 120, 40)
	for _, c := range []struct {
		a    *desk.App
		word string
	}{
		{own, "accuracy"}, {own, "validation"}, {own, "smaller"}, {own, "larger"}, {watched, "slower"}, {watched, "faster"},
		{own, "theme"}, {own, "save"}, {own, "optimizer"}, {own, "race"}, {own, "zoom"}, {own, "quit"},
	} {
		if !slices.ContainsFunc(paletteEntries(c.a), func(e paletteEntry) bool {
			return strings.Contains(e.Text+" "+e.Also, c.word) && e.Do != nil
		}) {
			t.Errorf("nothing is found by %q", c.word)
		}
	}
}
