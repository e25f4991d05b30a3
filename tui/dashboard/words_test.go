package dashboard

import (
	"errors"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/logs/files"
	"newtop/trainer/stream"
	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
)

// readLog is a log as a viewer gets it first.
func readLog(t *testing.T, name, text string) feed.Delta {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := stream.Open(files.Here(path), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all []event.Event
	for final := false; ; {
		e, err := s.Next(t.Context())
		switch {
		case err == nil:
			all = append(all, e)
			continue
		case errors.Is(err, stream.ErrNone) && !final:
			final = true
			stream.Final(s)
			continue
		case !errors.Is(err, stream.ErrNone):
			t.Fatal(err)
		}
		break
	}
	r := feed.NewRelay(nil)
	f := r.Feed()
	defer f.Close()
	r.Show(all, func(s *event.Status) {
		s.Replay = &event.Replay{Source: name, Live: true, Speed: 1, Last: s.Epoch, Epoch: s.Epoch}
	})
	d, err := f.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestWordsOfTitles: each word of a pane's title is a name that the log has, or in the list of docs/screen.md. What a
// title says of a log's errors and losses is in the log.
func TestWordsOfTitles(t *testing.T) {
	check := func(t *testing.T, open func(w, h int) *desk.App, names ...string) {
		for _, size := range screenSizes {
			a := open(size[0], size[1])
			titles := tuitest.Titles(frameText(t, a))
			for range layout.Panes {
				press(a, "tab", "z")
				titles = append(titles, tuitest.Titles(frameText(t, a))...)
				press(a, "esc")
			}
			tuitest.CheckWords(t, titles, names)
		}
	}
	for name, s := range map[string]tuitest.Script{
		"own": {Epochs: 30, Spectra: true}, "regression": {Epochs: 30, Regression: true}, "ended": {Epochs: 30, Fate: "done"},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, func(w, h int) *desk.App { return newTest(s, screen.Options{}, w, h) }, "16-70-26")
		})
	}
	for name, deltas := range map[string][]feed.Delta{
		"rich": tuitest.RichRun(false, false), "factors": tuitest.FactorRun("shampoo", 20, 784, 70, 50, 26),
		"sampled": tuitest.SampledRun(20, 8), "peer": tuitest.PeerRun(20, tuitest.ConvNet),
	} {
		t.Run(name, func(t *testing.T) {
			check(t, func(w, h int) *desk.App { return newWatch(deltas, w, h) }, "PyTorch CPU")
		})
	}
	t.Run("images", func(t *testing.T) {
		d := readLog(t, "a.jsonl", `{"step": 1, "loss": 0.5}`+"\n"+`{"step": 2, "loss": 0.4}`)
		shown := event.ShowImage{Key: "digits", Step: 2}
		d.Status.Replay.Images = &event.Images{Names: []event.ImageName{{Key: "digits", Steps: []int{1, 2}}},
			Shown: []*event.Image{{ShowImage: shown, Width: 1, Height: 1, Pixels: image.NewRGBA(image.Rect(0, 0, 1, 1))}}}
		check(t, func(w, h int) *desk.App { return newWatch([]feed.Delta{d}, w, h) }, "digits")
	})
	t.Run("race", func(t *testing.T) {
		check(t, func(w, h int) *desk.App { return newRaceTest(4, 12, "begun", w, h) })
	})
	for name, l := range tuitest.Logs {
		t.Run(name, func(t *testing.T) {
			d := readLog(t, l.Name, l.Text)
			check(t, func(w, h int) *desk.App { return newWatch([]feed.Delta{d}, w, h) }, l.Named)
			a := newWatch([]feed.Delta{d}, 120, 40)
			for _, title := range tuitest.Titles(frameText(t, a)) {
				switch name, _, _ := strings.Cut(title, " "); name {
				case "error", "accuracy", "RMSE":
					if !slices.Contains(strings.Fields(l.Named), strings.ToLower(name)) {
						t.Errorf("%q, and the log has %s", title, l.Named)
					}
				case "loss":
					if !strings.Contains(l.Named, name) {
						t.Errorf("%q, and the log has %s", title, l.Named)
					}
				}
			}
		})
	}
}

// TestStripHasNoBlankRows: a small screen has no row of rows that a log says nothing of.
func TestStripHasNoBlankRows(t *testing.T) {
	l := tuitest.Logs["Keras"]
	a := newWatch([]feed.Delta{readLog(t, l.Name, l.Text)}, 60, 16)
	if s := frameText(t, a); !strings.Contains(s, "valid 0.6900") || strings.Contains(s, "test ") {
		t.Errorf("%s", s)
	}
}

// TestValidationAlone: a log whose only accuracy is of validation rows has its chart.
func TestValidationAlone(t *testing.T) {
	d := readLog(t, "a.jsonl", `{"step": 1, "loss": 0.5, "val_acc": 0.7}`+"\n"+`{"step": 2, "loss": 0.4, "val_acc": 0.8}`)
	if s := frameText(t, newWatch([]feed.Delta{d}, 120, 40)); !strings.Contains(s, "─ acc  valid 80.0 %") {
		t.Error(s)
	}
}
