package stream

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/internal/tfevents"
	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

// eventWriter appends scalars to an event file, as a training program does.
type eventWriter struct {
	t *testing.T
	f *os.File
	w *tfevents.Writer
}

func newEventWriter(t *testing.T, path string, wall float64) *eventWriter {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := tfevents.NewWriter(f, wall)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &eventWriter{t, f, w}
}

// put writes a value into a file that will be written for a while yet, however busy the machine is.
func (w *eventWriter) put(tag string, step int64, wall, value float64) {
	w.t.Helper()
	if err := w.w.Write(tfevents.Scalar{Tag: tag, Step: step, Wall: wall, Value: value}); err != nil {
		w.t.Fatal(err)
	}
	w.written(time.Hour)
}

// old makes a file one that is no longer written.
func (w *eventWriter) old() { w.written(-time.Minute) }

func (w *eventWriter) written(after time.Duration) {
	w.t.Helper()
	if err := os.Chtimes(w.f.Name(), time.Time{}, time.Now().Add(after)); err != nil {
		w.t.Fatal(err)
	}
}

func openBoard(t *testing.T, dir string) Source {
	t.Helper()
	s, err := TensorBoard(files.Here(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// text writes what the tests look at.
func text(events []event.Event) string {
	var b strings.Builder
	for _, e := range events {
		switch e := e.(type) {
		case event.RunEvent:
			fmt.Fprintf(&b, "run %s; ", e.ID)
		case event.CutEvent:
			fmt.Fprintf(&b, "cut %s %d; ", e.Metric, e.From)
		case event.RewindEvent:
			fmt.Fprintf(&b, "back %d→%d; ", e.Epoch, e.To)
		case event.EpochEvent:
			fmt.Fprintf(&b, "%d", e.Epoch)
			for _, f := range []struct {
				name  string
				value event.Float
			}{{"loss", e.Loss}, {"test", e.TestLoss}, {"valid", e.ValidationLoss}, {"err", e.Error}, {"terr", e.TestError}, {"verr", e.ValidationError}, {"rate", e.Rate}, {"g", e.GradientNorm}, {"rmse", e.RMSE}} {
				if !math.IsNaN(float64(f.value)) {
					fmt.Fprintf(&b, " %s=%.4g", f.name, f.value)
				}
			}
			for _, f := range e.Metrics {
				if f.Note().Of != "" {
					continue
				}
				if f.Late() {
					f.Key += fmt.Sprint("@", *f.X)
				}
				fmt.Fprintf(&b, " [%s=%.4g]", f.Key, f.Value)
			}
			fmt.Fprintf(&b, " @%.4g; ", e.Elapsed)
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

const fileName = "events.out.tfevents.1700000000.host"

func TestTensorBoardOfPyTorch(t *testing.T) {
	dir := t.TempDir()
	w := newEventWriter(t, filepath.Join(dir, "runs", "Nov14_host", fileName), 1e9)
	for i := range int64(3) {
		at := 1e9 + 10*float64(i)
		w.put("Loss/train", i, at, 1/float64(1+i))
		w.put("Accuracy/train", i, at, 0.5)
		w.put("Loss/test", i, at+1, 2)
		w.put("Accuracy/test", i, at+1, 90) // per cent
		w.put("lr", i, at+1, 0.125)
		w.put("weights/max", i, at+2, 3)
	}
	w.old()
	s := openBoard(t, filepath.Join(dir, "runs"))
	events, err := all(t, s)
	if !errors.Is(err, ErrNone) {
		t.Fatal(err)
	}
	const want = "run Nov14_host; 0 loss=1 test=2 err=0.5 terr=0.1 rate=0.125 [weights/max=3] @2; " +
		"1 loss=0.5 test=2 err=0.5 terr=0.1 rate=0.125 [weights/max=3] @12; 2 loss=0.3333 test=2 err=0.5 terr=0.1 rate=0.125 [weights/max=3] @22"
	if got := text(events); got != want {
		t.Errorf("read\n%s\nexpected\n%s", got, want)
	}
	if name := s.Name(); filepath.Base(name) != "Nov14_host" || s.Read() != 1 {
		t.Errorf("named %s, %v read", name, s.Read())
	}
}

// Keras has one writer for training and one for validation, which are flushed when they like.
func TestTensorBoardOfKeras(t *testing.T) {
	dir := t.TempDir()
	train := newEventWriter(t, filepath.Join(dir, "train", fileName), 1e9)
	validation := newEventWriter(t, filepath.Join(dir, "validation", fileName), 1e9)
	for i := range int64(2) {
		train.put("epoch_loss", i, 1e9+float64(i), 0.5)
		train.put("epoch_accuracy", i, 1e9+float64(i), 0.75)
	}
	for i := range int64(2) {
		validation.put("epoch_loss", i, 1e9+float64(i)+0.5, 0.25)
	}
	train.old()
	validation.old()
	s := openBoard(t, dir)
	events, _ := all(t, s)
	want := "run " + filepath.Base(s.Name()) + "; 0 loss=0.5 valid=0.25 err=0.25 @0.5; 1 loss=0.5 valid=0.25 err=0.25 @1.5"
	if got := text(events); got != want {
		t.Errorf("read\n%s\nexpected\n%s", got, want)
	}
}

func TestTensorBoardSteps(t *testing.T) {
	type point struct {
		tag   string
		step  int64
		value float64
	}
	for _, c := range []struct {
		name   string
		points []point // a second apart
		want   string
	}{
		{"no steps", []point{{"loss", 0, 3}, {"acc", 0, 1}, {"loss", 0, 2}, {"acc", 0, 1}, {"loss", 0, 1}},
			"run x; 0 loss=3 err=0 @1; 1 loss=2 err=0 @3; 2 loss=1 @4"},
		{"steps of another count", []point{{"train/loss", 100, 4}, {"train/loss", 200, 3}, {"val/loss", 1, 9}, {"train/loss", 300, 2}, {"train/loss", 400, 1}, {"val/loss", 2, 8}},
			"run x; 100 loss=4 @0; 200 loss=3 [validation_loss@1=9] @2; 300 loss=2 @3; 400 loss=1 [validation_loss@2=8] @5"},
		{"went on from a checkpoint", []point{{"loss", 1, 4}, {"loss", 2, 3}, {"loss", 3, 5}, {"acc", 3, 1}, {"loss", 2, 2}, {"acc", 2, 1}, {"loss", 3, 1}},
			"run x; 1 loss=4 @0; 2 loss=3 @1; 3 loss=5 err=0 @3; back 3→1; 2 loss=2 err=0 @5; 3 loss=1 @6"},
		{"began again", []point{{"loss", 1, 4}, {"loss", 2, 3}, {"loss", 1, 2}, {"loss", 2, 1}},
			"run x; 1 loss=4 @0; 2 loss=3 @1; run x (2); 1 loss=2 @0; 2 loss=1 @1"},
		{"both counts go back", []point{{"loss", 100, 4}, {"val_loss", 1, 4}, {"loss", 200, 3}, {"val_loss", 2, 3}, {"loss", 200, 2}, {"val_loss", 1, 1}},
			"run x; 100 loss=4 [validation_loss@1=4] @1; 200 loss=2 [validation_loss@2=3] @4; cut validation_loss 1; cut val_loss 1; 200 [validation_loss@1=1] @5"},
		{"two losses", []point{{"loss", 1, 4}, {"train_loss", 1, 3}, {"grad_norm", 1, 2}, {"error", 1, 7}, {"rmse", 1, 8}},
			"run x; 1 loss=4 g=2 rmse=8 [train_loss=3] [error.2=7] @4"},
	} {
		dir := filepath.Join(t.TempDir(), "x")
		w := newEventWriter(t, filepath.Join(dir, fileName), 1e9)
		for i, p := range c.points {
			w.put(p.tag, p.step, 1e9+float64(i), p.value)
		}
		w.old()
		events, _ := all(t, openBoard(t, dir))
		if got := text(events); got != c.want {
			t.Errorf("%s: read\n%s\nexpected\n%s", c.name, got, c.want)
		}
	}
}

func TestTagsThatAreKnown(t *testing.T) {
	of := func(q event.Quantity) event.Tag { return event.Tag{Known: true, Quantity: q} }
	accuracy := func(q event.Quantity) event.Tag { return event.Tag{Known: true, Quantity: q, Accuracy: true} }
	for tag, want := range map[string]event.Tag{
		"loss": of(event.Loss), "train/loss": of(event.Loss), "Loss/train": of(event.Loss), "train_loss_step": of(event.Loss), "trainLoss": of(event.Loss),
		"val_loss": of(event.ValidationLoss), "loss/val": of(event.ValidationLoss), "Loss/test": of(event.TestLoss), "eval/loss": of(event.ValidationLoss), "validation/epoch_loss": of(event.ValidationLoss),
		"accuracy": accuracy(event.Error), "val_acc": accuracy(event.ValidationError), "validation/epoch_sparse_categorical_accuracy": accuracy(event.ValidationError), "Accuracy/Top1": {},
		"test error": of(event.TestError), "training's binary_logloss": of(event.Loss), "lm loss": of(event.Loss), "training.loss": of(event.Loss), "validation_0-logloss": of(event.ValidationLoss), "f": of(event.Loss), "objective": of(event.Loss), "\u635f\u5931": of(event.Loss), "lr": of(event.Rate), "train/learning_rate": of(event.Rate), "lr-Adam": {}, "train/grad_norm": of(event.GradientNorm),
		"train/perplexity": {}, "evaluation_loss_vs_iterations": {}, "loss/regularization": {}, "": {}, "epoch": {}, "val/rmse": of(event.ValidationRMSE),
		"step/radius": of(event.Radius), "step/gradient_norm": of(event.GradientNorm), "work/seconds": of(event.Seconds), "seconds": {},
	} {
		if got := event.ParseTag(tag); got != want {
			t.Errorf("%q goes to %+v: expected %+v", tag, got, want)
		}
	}
}

func TestTensorBoardIsFollowed(t *testing.T) {
	dir := t.TempDir()
	w := newEventWriter(t, filepath.Join(dir, "a", fileName), 1e9)
	w.put("loss", 1, 1e9, 3)
	w.put("acc", 1, 1e9, 0.5)
	w.put("loss", 2, 1e9+1, 2)
	s := openBoard(t, dir)
	if got := text([]event.Event{take(t, s), take(t, s)}); got != "run a; 1 loss=3 err=0.5 @0" {
		t.Errorf("read %s", got)
	}
	all(t, s)
	w.put("acc", 2, 1e9+1, 0.75) // now step 2 has what step 1 had
	if got := text([]event.Event{take(t, s)}); got != "2 loss=2 err=0.25 @1" {
		t.Errorf("read %s", got)
	}
	// Half a record, then a run that begins later.
	if _, err := w.f.Write([]byte{24, 0, 0}); err != nil {
		t.Fatal(err)
	}
	all(t, s)
	later := newEventWriter(t, filepath.Join(dir, "b", "train", strings.Replace(fileName, "17", "18", 1)), 1e9)
	later.put("loss", 1, 1e9, 7)
	later.put("loss", 2, 1e9, 6)
	ctx := limit(t)
	for {
		_, err := s.Next(ctx)
		if errors.Is(err, ErrRestart) {
			break
		}
		if !errors.Is(err, ErrNone) {
			t.Fatal(err)
		}
		if err := s.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := text([]event.Event{take(t, s), take(t, s)}); got != "run b; 1 loss=7 @0" {
		t.Errorf("read %s", got)
	}
}

// A value that is flushed after its step was given is told late, by the newest step.
func TestTensorBoardLateValues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	train := newEventWriter(t, filepath.Join(dir, "train", fileName), 1e9)
	validation := newEventWriter(t, filepath.Join(dir, "validation", fileName), 1e9)
	train.put("loss", 1, 1e9, 3)
	train.put("loss", 2, 1e9+2, 2)
	s := openBoard(t, dir)
	all(t, s)
	validation.put("loss", 1, 1e9+1, 9)
	train.old()
	validation.old()
	events, _ := all(t, s)
	if got := text(events); got != "2 [validation_loss@1=9] @2" {
		t.Errorf("read %s", got)
	}
}

// A step waits for the values that took long in the one before.
func TestStepPatience(t *testing.T) {
	for _, c := range []struct {
		late, expected float64
	}{{0, 2}, {1, 2}, {10, 15}, {1000, 60}, {1e308, 60}} {
		j := newStepAssembler("run")
		j.join("train/loss", tfevents.Scalar{Step: 1, Wall: 100, Value: 1})
		j.join("validation/loss", tfevents.Scalar{Step: 1, Wall: 100 + c.late, Value: 1})
		if got := j.patience().Seconds(); got != c.expected {
			t.Errorf("values %g s apart: waits %g s, expected %g", c.late, got, c.expected)
		}
	}
}

func TestTensorBoardThatIsNone(t *testing.T) {
	dir := t.TempDir()
	if _, err := TensorBoard(files.Here(dir)); err == nil || !strings.Contains(err.Error(), "no event file: expected files named events.out.tfevents") {
		t.Errorf("an empty directory gave %v", err)
	}
	if _, err := TensorBoard(files.Here(filepath.Join(dir, "none"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory gave %v", err)
	}
	bad := filepath.Join(dir, fileName)
	if err := os.WriteFile(bad, []byte("this is no event file"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := all(t, openBoard(t, dir))
	var format *tfevents.FormatError
	if !errors.As(err, &format) || format.File != bad {
		t.Errorf("a file of something else gave %v", err)
	}
	// Beside a good one it is a warning.
	w := newEventWriter(t, filepath.Join(dir, fileName+".2"), 1e9)
	w.put("loss", 1, 1e9, 3)
	w.old()
	s := openBoard(t, dir)
	events, err := all(t, s)
	if len(events) != 2 || !errors.Is(err, ErrNone) || !strings.HasPrefix(s.(warner).Warning(), bad+": byte 0: ") {
		t.Errorf("read %s (%v), warns %q", text(events), err, s.(warner).Warning())
	}
}

// Whatever is written in whatever order, epochs ascend but for returns, which name epochs that there were, each
// metric's own epochs do but for what was cut, and every event can be written.
func FuzzStepAssembler(f *testing.F) {
	f.Add([]byte{0, 1, 1, 1, 1, 1, 0, 2, 1, 1, 2, 1, 0, 1, 1}, uint8(2))
	f.Add([]byte{0, 9, 200, 1, 1, 200, 0, 0, 0, 0, 0, 0, 2, 255, 3}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, caughtUp uint8) {
		tags := []string{"loss", "val_loss", "accuracy", "lr", "x", "error"}
		j := newStepAssembler("x")
		wall := 1e9
		newest, given := math.MinInt, map[int]bool{}
		told := map[string][]int{} // of each metric, the epochs that it has values of
		tell := func(key string, x int) {
			if xs := told[key]; len(xs) > 0 && x <= xs[len(xs)-1] {
				t.Fatalf("%s: %d after %d", key, x, xs[len(xs)-1])
			}
			told[key] = append(told[key], x)
		}
		cut := func(key string, from int) {
			told[key] = slices.DeleteFunc(told[key], func(x int) bool { return x >= from })
		}
		check := func() {
			for e := j.next(); e != nil; e = j.next() {
				if _, err := event.EncodeEvent(e); err != nil {
					t.Fatal(err)
				}
				switch e := e.(type) {
				case event.RunEvent:
					newest, given = math.MinInt, map[int]bool{}
					clear(told)
				case event.CutEvent:
					cut(e.Metric, e.From)
				case event.RewindEvent:
					for key := range told {
						cut(key, e.To+1)
					}
					if e.Epoch != newest || !given[e.To] || e.To >= e.Epoch {
						t.Fatalf("%+v at epoch %d", e, newest)
					}
					newest = e.To
				case event.EpochEvent:
					if e.Epoch < newest {
						t.Fatalf("epoch %d after %d", e.Epoch, newest)
					}
					newest = e.Epoch
					given[newest] = true
					for q := range event.QuantityCount {
						if q != event.Elapsed && q != event.Seconds && !q.Of(&e).Absent() {
							tell(q.Info().Key, newest)
						}
					}
					for i := range e.Metrics {
						tell(e.Metrics[i].Key, e.Metrics[i].At(newest))
					}
				}
			}
		}
		for n := 0; len(data) >= 3; n++ {
			j.caughtUp = j.caughtUp || n == int(caughtUp)
			wall += float64(int8(data[2]))
			j.join(tags[int(data[0])%len(tags)], tfevents.Scalar{Step: int64(int8(data[1])), Wall: wall, Value: float64(int8(data[0]))})
			if data[2]%5 == 0 {
				j.flush()
			}
			check()
			data = data[3:]
		}
		j.flush()
		check()
	})
}
