package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models/modelfile"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/objective"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// testErrors counts how many test rows of a problem a saved model gets wrong, by what it makes of their raw values.
func testErrors(t *testing.T, file string, p *objective.Problem) (wrong int) {
	t.Helper()
	m := readModel(t, file)
	raw := rawTest(p)
	rows, _ := raw.Dims()
	out := mat.NewDense(rows, len(m.Outputs), nil)
	m.PredictTo(out, raw)
	return mistakes(out, p.Data.Test.Labels)
}

func mistakes(out *mat.Dense, labels []int) (wrong int) {
	for i, label := range labels {
		if floats.MaxIdx(out.RawRowView(i)) != label {
			wrong++
		}
	}
	return wrong
}

// rawTest returns the test rows as they were before they were scaled, with the features that gates look at.
func rawTest(p *objective.Problem) *mat.Dense {
	x := mat.DenseCopyOf(p.Test.Inputs)
	for i := range p.Test.Rows() {
		row := x.RawRowView(i)[:p.Data.Inputs()]
		p.Data.InputScaling.RawTo(row, row)
	}
	return x
}

func mustPrepare(t *testing.T, c config.Config) *objective.Problem {
	t.Helper()
	p, err := workplace.Prepare(&c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drawWeights draws a net's first weights as a run does.
func drawWeights(p *objective.Problem, w []float64, seed uint64) {
	(&workplace.Workplace{Problem: p}).DrawWeights(w, seed)
}

// share is a number of rows as an event has it.
func share(wrong, rows int) event.Float { return event.Float(float64(wrong) / float64(rows)) }

func TestSavedAtTheEnd(t *testing.T) {
	for name, c := range map[string]config.Config{
		"a net":        {Data: "spirals", Optimizer: "tr-gn", Epochs: 8, Save: "m.safetensors"},
		"a committee":  {Data: "spirals", Optimizer: "adam", Epochs: 5, Committee: 3, Save: "m.onnx"},
		"a mixture":    {Data: "spirals", Optimizer: "adam", Epochs: 5, Experts: 3, ExpertHidden: []int{6}, Gate: "1", Save: "m.onnx"},
		"tanh outputs": {Data: "spirals", Optimizer: "tr-gn", Epochs: 5, Out: "tanh", Save: "m.SafeTensors"},
	} {
		t.Run(name, func(t *testing.T) {
			c.Save = filepath.Join(t.TempDir(), c.Save)
			m := train(t, c)
			p := mustPrepare(t, c)
			done := m.events[len(m.events)-1].(event.DoneEvent)
			if got := share(testErrors(t, c.Save, p), p.Test.Rows()); got != done.TestError {
				t.Errorf("the file's test error is %g, the run's %g", float64(got), float64(done.TestError))
			}
			e, ok := m.events[len(m.events)-2].(event.SavedEvent)
			info, err := os.Stat(c.Save)
			if err != nil || !ok || e.Epoch != c.Epochs || e.File != c.Save || e.Bytes != info.Size() {
				t.Errorf("before the end came %+v for %v, %v", m.events[len(m.events)-2], info, err)
			}
			file := readModel(t, c.Save)
			run := of[event.RunEvent](m)[0]
			if file.Meta["run"] != run.ID || file.Meta["epoch"] != fmt.Sprint(c.Epochs) || file.Meta["optimizer"] != c.Optimizer || file.Meta["data"] != "spirals" {
				t.Errorf("the file says %v", file.Meta)
			}
		})
	}
}

func TestSavedForEveryReason(t *testing.T) {
	for name, end := range map[string]func(*Session, context.CancelFunc) error{
		"stopped":   func(s *Session, _ context.CancelFunc) error { return s.Do(context.Background(), event.Stop{}) },
		"cancelled": func(_ *Session, cancel context.CancelFunc) error { cancel(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "m.onnx")
			m := &memory{}
			s := mustNew(t, config.Config{Data: "spirals", Optimizer: "adam", Save: file}, m)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx) }()
			box := s.Subscribe()
			defer box.Close()
			follow(t, box, func(all *feed.Delta) bool { return len(all.Epochs) > 2 })
			if err := end(s, cancel); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if _, err := modelfile.Read(file); err != nil {
				t.Error(err)
			}
			if len(of[event.SavedEvent](m)) != 1 {
				t.Errorf("%d files were announced", len(of[event.SavedEvent](m)))
			}
		})
	}
}

func TestSaveWhileTraining(t *testing.T) {
	c := config.Config{Data: "spirals", Optimizer: "adam"}
	p := mustPrepare(t, c)
	m := &memory{}
	s := mustNew(t, c, m)
	background(t, s)
	box := s.Subscribe()
	defer box.Close()
	follow(t, box, func(all *feed.Delta) bool { return len(all.Epochs) > 3 })
	dir := t.TempDir()
	do(t, s, event.Save{File: filepath.Join(dir, "running.onnx")})
	do(t, s, event.StepEpoch{})
	all := follow(t, box, func(all *feed.Delta) bool { return all.Status.Phase == event.Paused })
	file := filepath.Join(dir, "paused.safetensors")
	do(t, s, event.Save{File: file})
	last := all.Epochs[len(all.Epochs)-1]
	if got := share(testErrors(t, file, p), p.Test.Rows()); got != last.TestError {
		t.Errorf("the file's test error is %g, that of epoch %d %g", float64(got), last.Epoch, float64(last.TestError))
	}
	for _, bad := range []string{filepath.Join(dir, "model.pt"), filepath.Join(dir, "none", "m.onnx"), dir + "/.onnx/"} {
		var refused *event.CommandError
		if err := s.Do(context.Background(), event.Save{File: bad}); !errors.As(err, &refused) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	do(t, s, event.Stop{})
	<-s.ended
	if e := of[event.SavedEvent](m); len(e) != 2 || e[0].Format != modelfile.ONNX || e[1].Epoch != last.Epoch || e[1].Bytes == 0 {
		t.Errorf("the record has %+v", e)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}

// A trust-region method has moved nothing before its step is over, and a race leaves the run's own weights where they are.
func TestSaveInTheMiddle(t *testing.T) {
	d := steer(t, config.Config{Data: "spirals", Hidden: []int{9}, Optimizer: "tr-newton"})
	file := filepath.Join(t.TempDir(), "m.safetensors")
	saved := func() []float64 {
		do(t, d.s, event.Save{File: file})
		return readModel(t, file).Weights[0]
	}
	d.do(event.StepEpoch{})
	d.do(event.StepInner{})
	before := saved()
	if at := d.do(event.StepInner{}); at.Unit != 2 || !slices.Equal(before, saved()) {
		t.Errorf("the weights moved before inner iteration %d", at.Unit)
	}
	do(t, d.s, event.Race{Racers: []event.Racer{{Optimizer: "tr-newton"}, {Optimizer: "adam"}}})
	if at := d.do(event.StepInner{}); !at.Racing || !slices.Equal(before, saved()) {
		t.Error("the weights are not those before the race")
	}
}

func TestSaveAfterTheEnd(t *testing.T) {
	c := config.Config{Data: "spirals", Optimizer: "tr-gn", Epochs: 3}
	m := &memory{}
	s := mustNew(t, c, m)
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	box := s.Subscribe()
	defer box.Close()
	if _, err := box.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "late.safetensors")
	do(t, s, event.Save{File: file})
	p := mustPrepare(t, c)
	done := m.events[len(m.events)-1].(event.DoneEvent)
	if got := share(testErrors(t, file, p), p.Test.Rows()); got != done.TestError {
		t.Errorf("the file's test error is %g, the run's %g", float64(got), float64(done.TestError))
	}
	d, err := box.Wait(context.Background())
	if err != nil || len(d.Saved) != 1 || d.Saved[0].Epoch != 3 || d.Status.Phase != event.Ended {
		t.Errorf("viewers are told %+v, %v", d, err)
	}
	if err := s.Do(context.Background(), event.Pause{On: true}); err != feed.ErrEnded {
		t.Errorf("another command after the end: %v", err)
	}
	var refused *event.CommandError
	if err := s.Do(context.Background(), event.Save{File: filepath.Join(file, "m.onnx")}); !errors.As(err, &refused) {
		t.Errorf("a path through a file: %v", err)
	}
}

func TestUnwritableIsSaidBeforeTraining(t *testing.T) {
	c := config.Config{Data: "nothing/of/that/name.csv", Save: filepath.Join(t.TempDir(), "none", "m.onnx")}
	var early *PrepareError
	if err := mustNew(t, c).Run(context.Background()); !errors.As(err, &early) || !strings.Contains(err.Error(), "Save: write "+c.Save) {
		t.Errorf("got %v", err)
	}
	c.Save = "m.pt"
	var wrong *config.ConfigError
	if _, err := New(c); !errors.As(err, &wrong) || wrong.Field != "Save" {
		t.Errorf("got %v", err)
	}
}

func TestSaveErrorNamesTheFileOnce(t *testing.T) {
	err := error(&SaveError{File: "m.onnx", Err: &fs.PathError{Op: "write", Path: "m.onnx", Err: syscall.ENOSPC}, Run: errors.New("apart")})
	if got := err.Error(); got != "apart; m.onnx was not saved: no space left on device" || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %q", got)
	}
}

// Weights that the format can't hold are not written over a file that is there.
func TestDivergedIsNotSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustNew(t, config.Config{Data: "sine", Act: "identity", Optimizer: "sgd", Set: []string{"rate=1e200"}, Epochs: 20, Save: file})
	err := s.Run(context.Background())
	var apart *trajectory.DivergedError
	var missing *SaveError
	if !errors.As(err, &apart) || !errors.As(err, &missing) || !strings.Contains(err.Error(), "m.onnx was not saved: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "old" {
		t.Errorf("the old file is %q, %v", text, err)
	}
}

// Every set says all that a saved model needs.
func TestEverySetCanBeSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(file, []byte("size,colour,price\n1,red,10\n2,blue,20\n3,red,30\n4,green,41\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{file}
	for _, info := range datasets.List() {
		if info.Kind == datasets.Generated && !(testing.Short() && info.Rows > 5000) {
			names = append(names, info.Name)
		}
	}
	for _, name := range names {
		p := mustPrepare(t, config.Config{Data: name, Hidden: []int{2}})
		m := trajectory.DescribeModel(p, [][]float64{make([]float64, p.Network.Dim())}, map[string]string{})
		if err := modelfile.WriteSafetensors(io.Discard, m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == file {
			want := []modelfile.Field{{Name: "size", Fill: []float64{2}, Range: []float64{1, 3}}, {Name: "colour", Words: []string{"blue", "green", "red"}}}
			if fmt.Sprint(m.Table) != fmt.Sprint(want) || m.Meta["target"] != "price" || m.Meta["target_column"] != "3" ||
				m.Meta["header"] != "yes" || m.Meta["missing"] != "indicator" {
				t.Errorf("the table is %v with %v, expected %v", m.Table, m.Meta, want)
			}
		}
	}
	p := mustPrepare(t, config.Config{Data: "recipes", Experts: 2, ExpertHidden: []int{3}, Gate: "hue"})
	m := trajectory.DescribeModel(p, [][]float64{make([]float64, p.Network.Dim())}, map[string]string{})
	if last := m.Inputs[len(m.Inputs)-1]; len(m.Inputs) != 17 || last.Name != "hue" || last.Scale != 1 {
		t.Errorf("the gates' feature is %+v of %d", last, len(m.Inputs))
	}
}

// The real letters, trained, saved as ONNX, and read again; .ci/onnx reads them in a runtime that shares nothing with newtop.
func TestRealLettersInAnotherRuntime(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(filepath.Join(dir, "letter-recognition.data")); err != nil {
		t.Skip("no ../shared/data with the UCI letter data")
	}
	if testing.Short() {
		t.Skip("takes seconds with the race detector")
	}
	to := os.Getenv("NEWTOP_ONNX_DIR")
	if to == "" {
		to = t.TempDir()
	}
	c := config.Config{Data: "letter", DataDir: dir, Optimizer: "adam", Set: []string{"rate=0.003"}, Batch: 64, Epochs: 10,
		Save: filepath.Join(to, "letter.onnx")}
	begun := time.Now()
	m := train(t, c)
	done := m.events[len(m.events)-1].(event.DoneEvent)
	t.Logf("trained to a test error of %.4f in %v", float64(done.TestError), time.Since(begun))
	p := mustPrepare(t, c)
	raw := rawTest(p)
	rows, columns := raw.Dims()
	wrong := testErrors(t, c.Save, p)
	if got := share(wrong, rows); got != done.TestError || done.TestError > 0.15 {
		t.Errorf("the file's test error is %g, the run's %g", float64(got), float64(done.TestError))
	}
	raw.Apply(func(_, _ int, v float64) float64 { return math.Round(v) }, mat.DenseCopyOf(raw)) // whole numbers from 0 to 15
	text, err := json.Marshal([]map[string]any{{
		"file": "letter.onnx", "type": "float32", "rows": rows, "columns": columns, "outputs": 26,
		"raw": raw.RawMatrix().Data, "labels": p.Data.Test.Labels, "wrong": wrong,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "letter.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestExportOfACheckpoint(t *testing.T) {
	dir := t.TempDir()
	c := config.Config{Data: "spirals", Optimizer: "adam", Epochs: 3, Committee: 2, Save: filepath.Join(dir, "end.safetensors")}
	k := keepAll(t, c)
	run := of[event.RunEvent](&k.memory)[0]
	file := filepath.Join(dir, "export.safetensors")
	e, err := Export(c, k.last(t), &run, file)
	if err != nil || e.Epoch != 3 || e.Format != modelfile.Safetensors || e.Bytes == 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	end := readModel(t, c.Save)
	got := readModel(t, file)
	if fmt.Sprint(got.Weights, got.Inputs, got.Classes) != fmt.Sprint(end.Weights, end.Inputs, end.Classes) {
		t.Error("the checkpoint's weights are not those of the end")
	}
	got.Meta["time"] = end.Meta["time"]
	if !maps.Equal(got.Meta, end.Meta) {
		t.Errorf("the checkpoint's file says %v, that of the end %v", got.Meta, end.Meta)
	}
	var other *checkpoint.CheckpointError
	c.Data = "parity"
	if _, err := Export(c, k.last(t), nil, file); !errors.As(err, &other) {
		t.Errorf("of other data: %v", err)
	}
}
