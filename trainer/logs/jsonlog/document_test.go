package jsonlog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/files/filestest"
)

// sink writes down what it is given.
type sink struct {
	strings.Builder
}

func (s *sink) Row(r *logs.Row) {
	words := []string{}
	for _, c := range []logs.Value{{Key: "step", V: r.Step}, {Key: "epoch", V: r.Epoch}, {Key: "wall", V: r.Wall}, {Key: "elapsed", V: r.Elapsed}} {
		if !math.IsNaN(c.V) {
			words = append(words, fmt.Sprintf("@%s=%v", c.Key, c.V))
		}
	}
	for _, v := range r.Values {
		words = append(words, fmt.Sprintf("%s=%v", v.Key, v.V))
	}
	s.WriteString(strings.Join(words, " ") + "\n")
}

func (s *sink) Info(i logs.Info) {
	fmt.Fprintf(s, "info name=%q steps=%v program=%q config=%v\n", i.Name, i.Steps, i.Program, i.Config)
}
func (s *sink) Line(text []byte)                { fmt.Fprintf(s, "line %s\n", text) }
func (s *sink) End(st logs.State, words string) { fmt.Fprintf(s, "end %v %s\n", st, words) }

// counter counts rows.
type counter int

func (c *counter) Row(*logs.Row)          { *c++ }
func (c *counter) Info(logs.Info)         {}
func (c *counter) Line([]byte)            {}
func (c *counter) End(logs.State, string) {}

// follower reads a document as its writer rewrites it.
type follower struct {
	filestest.Memory
	t    *testing.T
	path string
	r    logs.Reader
}

func (f *follower) write(text string) { f.Write(f.path, text) }

// read returns what comes until there is no more.
func (f *follower) read() string {
	f.t.Helper()
	s := &sink{}
	for {
		more, err := f.r.Read(context.Background(), s)
		if errors.Is(err, logs.ErrRestart) {
			s.WriteString("anew\n")
			continue
		}
		if err != nil {
			f.t.Fatal(err)
		}
		if !more {
			return s.String()
		}
	}
}

func (f *follower) want(step, want string) {
	f.t.Helper()
	if got := f.read(); got != want {
		f.t.Errorf("%s: got\n%swant\n%s", step, got, want)
	}
}

func newFollower(t *testing.T, path string) *follower {
	f := &follower{t: t, path: path}
	f.Time = time.Unix(1_700_000_000, 0) // far enough from now for files' times to tell
	return f
}

const state = `{
  "best_metric": 0.1,
  "epoch": 0.5,
  "global_step": %d,
  "log_history": [%s],
  "max_steps": 30,
  "trial_params": null
}`

const (
	first  = `{"epoch": 0.25, "grad_norm": NaN, "loss": 2.5, "step": 10}`
	second = `{"epoch": 0.5, "eval_loss": 2.25, "step": 20}`
)

func TestTrainerState(t *testing.T) {
	f := newFollower(t, "trainer_state.json")
	f.write(fmt.Sprintf(state, 10, first))
	var err error
	if f.r, err = OpenTrainerState(f.Path(f.path)); err != nil {
		t.Fatal(err)
	}
	info := "info name=\"\" steps=30 program=\"Hugging Face\" config=map[]\n"
	f.want("first", info+"@step=10 @epoch=0.25 grad_norm=NaN loss=2.5\n")
	f.want("unchanged", "")
	whole := fmt.Sprintf(state, 20, first+","+second)
	f.write(whole[:100])
	f.want("half written", "")
	if w := f.r.Warning(); !strings.Contains(w, "found its beginning only") {
		t.Errorf("warning %q", w)
	}
	f.write(whole)
	f.want("longer", info+"@step=20 @epoch=0.5 eval_loss=2.25\n")
	if w := f.r.Warning(); w != "" {
		t.Errorf("warning %q", w)
	}
	f.write(fmt.Sprintf(state, 10, second))
	f.want("another", "anew\n"+info+"@step=20 @epoch=0.5 eval_loss=2.25\n")
	f.Remove(f.path)
	f.want("gone", "")
	if w := f.r.Warning(); w == "" {
		t.Error("no warning")
	}
	if err := f.r.Close(); err != nil {
		t.Error(err)
	}
}

func TestNewestCheckpoint(t *testing.T) {
	if _, err := OpenTrainerState(files.Here(t.TempDir())); err == nil || !strings.Contains(err.Error(), "expected checkpoint-*/trainer_state.json") {
		t.Errorf("error %v", err)
	}
	f := newFollower(t, "checkpoint-900/trainer_state.json")
	f.write(fmt.Sprintf(state, 10, second))
	f.Time = f.Time.Add(time.Hour)
	f.path = "checkpoint-10/trainer_state.json"
	f.write(fmt.Sprintf(state, 10, first))
	var err error
	if f.r, err = OpenTrainerState(f.Path(".")); err != nil {
		t.Fatal(err)
	}
	info := "info name=\"\" steps=30 program=\"Hugging Face\" config=map[]\n"
	f.want("written last", info+"@step=10 @epoch=0.25 grad_norm=NaN loss=2.5\n")
	f.path = "checkpoint-20/trainer_state.json"
	f.write(fmt.Sprintf(state, 20, first+","+second))
	f.want("next checkpoint", info+"@step=20 @epoch=0.5 eval_loss=2.25\n")
	if n := len(f.r.Watch()); n != 4 {
		t.Errorf("watches %v", f.r.Watch())
	}
	f.path = "checkpoint-30/trainer_state.json"
	f.write(fmt.Sprintf(state, 20, first+","+second)[:100])
	f.want("the newest is torn", "")
	if w := f.r.Warning(); !strings.Contains(w, "checkpoint-30") || !strings.Contains(w, "found its beginning only") {
		t.Errorf("warning %q", w)
	}
	f.write(fmt.Sprintf(state, 30, first+","+second+`,{"step": 30, "epoch": 0.75, "loss": 1}`))
	f.want("and then whole", info+"@step=30 @epoch=0.75 loss=1\n")
}

// Of checkpoints that were copied, the times say nothing.
func TestCopiedCheckpoints(t *testing.T) {
	f := newFollower(t, "")
	for _, step := range []int{1000, 900, 20} {
		f.path = fmt.Sprintf("checkpoint-%d/trainer_state.json", step)
		f.write(fmt.Sprintf(state, step, fmt.Sprintf(`{"step": %d, "loss": 1}`, step)))
	}
	paths, err := states(f.Path("."), []files.Path{f.Path("checkpoint-20"), f.Path("checkpoint-1000"), f.Path("checkpoint-900")})
	var order []string
	for _, path := range paths {
		order = append(order, path.Dir().Base())
	}
	if got := strings.Join(order, " "); err != nil || got != "checkpoint-1000 checkpoint-900 checkpoint-20" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestDocuments(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"Keras' History", `{"loss": [0.5, NaN], "val_loss": [0.6]}`, "@epoch=1 loss=0.5 val_loss=0.6\n@epoch=2 loss=NaN\n"},
		{"with its epochs", `{"epoch": [0, 1], "history": {"loss": ["0.5", null], "acc": [1, 2]}}`, "@epoch=0 loss=0.5 acc=1\n@epoch=1 acc=2\n"},
		{"nested", `{"train": {"loss": [1]}, "val": {"loss": [2]}, "args": {"lr": 0.1}, "names": ["a"]}`,
			"info name=\"\" steps=0 program=\"\" config=map[lr:0.1]\n@epoch=1 train/loss=1 val/loss=2\n"},
		{"list", `[{"step": 1, "loss": 0.5, "eval": {"acc": "0.9"}}, {"time": "1970-01-01T00:00:07Z", "f1": 0.4}]`,
			"@step=1 loss=0.5 eval/acc=0.9\n@step=1 @wall=7 f1=0.4\n"},
		{"pandas, by columns", `{"epoch": {"0": 3, "1": 4}, "loss": {"0": 0.5, "1": 0.25}}`, "@epoch=3 loss=0.5\n@epoch=4 loss=0.25\n"},
		{"pandas, split", `{"columns": ["step", "loss"], "index": [0, 1], "data": [[10, 0.5], [20, null]]}`, "@step=10 loss=0.5\n"},
		{"rows in a member", `{"schema": {"fields": []}, "data": [{"step": 1, "loss": 0.5}]}`, "@step=1 loss=0.5\n"},
		{"Sacred", `{"training.loss": {"steps": [0, 1], "timestamps": ["1970-01-01T00:00:01", "1970-01-01T00:00:03.5"], "values": [1.5, Infinity]},
			"acc": {"steps": [0], "timestamps": ["1970-01-01T00:00:02"], "values": [0.5]}}`,
			"@step=0 @wall=1 training.loss=1.5\n@step=0 @wall=2 acc=0.5\n@step=1 @wall=3.5 training.loss=+Inf\n"},
		{"nothing yet", `{}`, ""},
		{"torn", `{"loss": [0.5, 0.`, ""},
	} {
		f := newFollower(t, "history.json")
		f.write(c.text)
		var err error
		if f.r, err = OpenFile(f.Path(f.path)); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f.want(c.name, c.want)
	}
	for _, text := range []string{`{"name": "x"}`, `3`, `{"loss" [1]}`, `{"loss": [1]} and more`} {
		f := newFollower(t, "x.json")
		f.write(text)
		if _, err := OpenFile(f.Path(f.path)); err == nil || !strings.Contains(err.Error(), "expected ") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

func TestLongDocumentComesInBatches(t *testing.T) {
	f := newFollower(t, "history.json")
	f.write(`{"loss": [` + strings.Repeat("0.5,", 10_000) + `1]}`)
	r, err := OpenFile(f.Path(f.path))
	if err != nil {
		t.Fatal(err)
	}
	var c counter
	for calls := 1; ; calls++ {
		more, err := r.Read(context.Background(), &c)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			if c != 10_001 || calls != 3 {
				t.Errorf("%d rows in %d calls", c, calls)
			}
			return
		}
		if p := r.Progress(); p <= 0 || p >= 1 {
			t.Errorf("progress %v", p)
		}
	}
}
