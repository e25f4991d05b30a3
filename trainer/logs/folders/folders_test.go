package folders

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files/filestest"
)

// sink writes down what it is given.
type sink struct {
	strings.Builder
}

func (s *sink) Row(r *logs.Row) {
	words := []string{}
	for _, c := range []logs.Value{{Key: "step", V: r.Step}, {Key: "epoch", V: r.Epoch}, {Key: "wall", V: r.Wall}} {
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
	words := []string{"info"}
	if i.Program != "" {
		words = append(words, i.Program)
	}
	if i.Name != "" {
		words = append(words, i.Name)
	}
	if !i.Began.IsZero() {
		words = append(words, i.Began.UTC().Format(time.RFC3339))
	}
	if len(i.Config) > 0 {
		words = append(words, fmt.Sprint(i.Config))
	}
	s.WriteString(strings.Join(words, " ") + "\n")
}
func (s *sink) Line(text []byte)                { fmt.Fprintf(s, "line %s\n", text) }
func (s *sink) End(st logs.State, words string) { fmt.Fprintf(s, "end %v %s\n", st, words) }

// tree is a directory whose files the test writes as a program would.
type tree struct {
	filestest.Memory
	t *testing.T
	r logs.Reader
}

func newTree(t *testing.T) *tree {
	f := &tree{t: t}
	f.Time = time.Unix(1_700_000_000, 0) // far enough from now for files' times to tell
	return f
}

func (f *tree) open(path string) {
	f.t.Helper()
	var ok bool
	if f.r, ok = Open(f.Path(path)); !ok {
		f.t.Fatalf("nothing found in %s", path)
	}
}

func (f *tree) want(step, want string) {
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
			break
		}
	}
	if s.String() != want {
		f.t.Errorf("%s: got\n%swant\n%s", step, s, want)
	}
}

const sacredRun = `{
  "command": "main",
  "experiment": {"base_dir": "/x", "name": "mnist", "sources": []},
  "fail_trace": %s,
  "heartbeat": "2026-11-23T10:00:%02d",
  "result": NaN,
  "start_time": "2026-11-23T09:00:00.123456",
  "status": %q
}`

func TestSacred(t *testing.T) {
	f := newTree(t)
	f.Write("10/run.json", fmt.Sprintf(sacredRun, "[]", 1, "RUNNING"))
	f.Write("10/config.json", "{\n  \"lr\": 0.5,\n  \"net\": {\"sizes\": [\n 8,\n 4]},\n  \"seed\": 3\n}")
	f.Append("10/cout.txt", "begin\nhalf a ")
	f.open("10")
	f.want("begun",
		"info Sacred\ninfo mnist 2026-11-23T09:00:00Z\ninfo map[lr:0.5 net/sizes:[ 8, 4] seed:3]\nline begin\n")
	f.Write("10/metrics.json", `{"training.loss": {"steps": [1], "timestamps": ["1970-01-01T00:00:01"], "values": [0.5`)
	f.Append("10/cout.txt", "line\n")
	f.want("metrics half written", "line half a line\n")
	f.Write("10/metrics.json", `{"training.loss": {"steps": [1], "timestamps": ["1970-01-01T00:00:01"], "values": [0.5]}}`)
	f.want("metrics", "@step=1 @wall=1 training.loss=0.5\n")
	f.Write("10/metrics.json", `{"training.loss": {"steps": [1, 2], "timestamps": ["1970-01-01T00:00:01", "1970-01-01T00:00:02"], "values": [0.5, NaN]}}`)
	f.Write("10/run.json", fmt.Sprintf(sacredRun, "[]", 11, "RUNNING"))
	f.want("a heartbeat", "@step=2 @wall=2 training.loss=NaN\n")
	f.Write("10/run.json", fmt.Sprintf(sacredRun, `["Traceback (most recent call last):\n", "ValueError: too  bad\n"]`, 21, "FAILED"))
	f.want("failed", "end 2 ValueError: too bad\n")
	f.Write("10/cout.txt", "anew\n")
	f.want("cut short",
		"anew\ninfo Sacred\ninfo mnist 2026-11-23T09:00:00Z\ninfo map[lr:0.5 net/sizes:[ 8, 4] seed:3]\n"+
			"@step=1 @wall=1 training.loss=0.5\n@step=2 @wall=2 training.loss=NaN\nline anew\nend 2 ValueError: too bad\n")
	if w := f.r.Warning(); w != "" {
		t.Error(w)
	}
	for status, want := range map[string]string{"COMPLETED": "end 1 \n", "INTERRUPTED": "end 3 interrupted\n",
		"RUNNING": ""} {
		f.Write("10/run.json", fmt.Sprintf(sacredRun, "[]", 31, status))
		f.want(status, want)
	}
}

func TestDVCLive(t *testing.T) {
	f := newTree(t)
	const dir = "dvclive/plots/metrics/"
	f.Write("dvclive/params.yaml", "lr: 0.01\nname: 'mlp'\namp: true\nsizes:\n- 8\nnested:\n  a: 1\nempty: {}\n")
	f.Write(dir+"train/loss.tsv",
		"timestamp\tstep\tloss\n1700000000000\t0\t0.5\n1700000001000\t1\t0.25\n1700000002000\t2\tnan\n")
	f.Write(dir+"acc.tsv", "step\tacc\n0\t0.9\n2\t0.")
	f.open("dvclive")
	f.want("begun", "info DVCLive\ninfo map[amp:true lr:0.01 name:mlp nested/a:1]\n@step=0 @wall=1.7e+09 acc=0.9 train/loss=0.5\n"+
		"@step=1 @wall=1.700000001e+09 train/loss=0.25\n@step=2 @wall=1.700000002e+09 train/loss=NaN\n")
	f.Append(dir+"acc.tsv", "95\n")
	f.Write(dir+"lr.tsv", "step\tlr\n")
	f.want("the rest of a line", "@step=2 acc=0.95\n")
	f.Append(dir+"lr.tsv", "3\t0.01\n")
	f.want("a new file", "@step=3 lr=0.01\n")
	f.want("nothing new", "")
	if n := len(f.r.Watch()); n != 3 {
		t.Errorf("watches %v", f.r.Watch())
	}
	f.Remove(dir)
	f.Write(dir+"acc.tsv", "step\tacc\n0\t0.5\n")
	f.want("begun anew", "anew\ninfo DVCLive\ninfo map[amp:true lr:0.01 name:mlp nested/a:1]\n@step=0 acc=0.5\n")
}

func TestClearML(t *testing.T) {
	f := newTree(t)
	const dir = "offline/offline-2a/"
	f.Write(dir+"task.json", `{"name": "fine tuning", "type": "training", "hyperparams": {"Args": {"lr": {"name": "lr", "section": "Args", "value": "0.5"}, "opt": {"value": "adam"}}}}`)
	event := `{"timestamp": 1700000000500, "type": "training_stats_scalar", "task": "offline-2a", "iter": %d, "metric": "loss", "variant": "train", "value": 0.5}`
	f.Write(dir+"metrics.jsonl", "["+fmt.Sprintf(event, 1)+", "+fmt.Sprintf(event, 2)+"]\n["+fmt.Sprintf(event, 3))
	f.Write(dir+"log.jsonl", `[{"timestamp": 1, "type": "log", "task": "offline-2a", "level": "info", "worker": "w", "msg": "one\ntwo"}]`+"\n")
	f.open(dir)
	f.want("begun",
		"info ClearML\ninfo fine tuning map[Args/lr:0.5 Args/opt:adam]\n@step=1 @wall=1.7000000005e+09 loss/train=0.5\n@step=2 @wall=1.7000000005e+09 loss/train=0.5\nline one\nline two\n")
	f.Append(dir+"metrics.jsonl", "]\nwhat\n")
	f.want("the rest of a line", "@step=3 @wall=1.7000000005e+09 loss/train=0.5\nline what\n")
}

func TestNothingIsNoFolder(t *testing.T) {
	f := newTree(t)
	f.Write("run.json", "{}")
	f.Write("1/metrics.jsonl", "{}")
	for _, path := range []string{".", "1", "none", "run.json"} {
		if _, ok := Open(f.Path(path)); ok {
			t.Errorf("%s is a folder", path)
		}
	}
}

func TestLongFilesAreReadInParts(t *testing.T) {
	f := newTree(t)
	var b strings.Builder
	b.WriteString("step\tloss\n")
	const rows = 20_000
	for i := range rows {
		fmt.Fprintf(&b, "%d\t0.5\n", i)
	}
	f.Write("plots/metrics/a.tsv", b.String())
	f.Write("plots/metrics/b.tsv", b.String()+strings.Repeat(
		"x", 200_000)) // a torn line that is longer than what is read at once
	f.open(".")
	s := &sink{}
	for more := true; more; {
		var err error
		if more, err = f.r.Read(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(s.String(), "a=0.5 b=0.5\n"); n != rows {
		t.Errorf("%d rows", n)
	}
	f.Append("plots/metrics/b.tsv", "\n20000\t1\n")
	f.want("after the long line", "@step=20000 b=1\n")
}

func BenchmarkManyMetrics(b *testing.B) {
	var m filestest.Memory
	var text strings.Builder
	text.WriteString("step\tx\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, "%d\t%.6f\n", i, 1/float64(i+1))
	}
	for i := range 200 {
		m.Write(fmt.Sprintf("plots/metrics/m%d.tsv", i), text.String())
	}
	b.ReportAllocs()
	for b.Loop() {
		r, _ := Open(m.Path("."))
		for more := true; more; {
			var err error
			if more, err = r.Read(context.Background(), logs.Nobody{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func FuzzFolders(f *testing.F) {
	f.Add(`{"status": "FAILED", "fail_trace": ["x\n"], "start_time": "2026-11-23T09:00:00"}`, `{"a": {"steps": [1], "values": [2], "timestamps": [3]}}`, "step\ta\n1\t2\n", "a: 1\n")
	f.Add(`[]`, `[{"a":1}]`, "a\r\n", "\x1b[1m")
	f.Fuzz(func(t *testing.T, run, table, lines, words string) {
		var m filestest.Memory
		for name, text := range map[string]string{
			"run.json": run, "config.json": run, "metrics.json": table, "cout.txt": words, "plots/metrics/a.tsv": lines,
			"params.yaml": words,
			"task.json":   run, "metrics.jsonl": table + "\n", "log.jsonl": words + "\n",
		} {
			m.Write(name, text)
		}
		for _, kind := range kinds {
			r := kind.open(m.Path("."))
			for more, calls := true, 0; more; calls++ {
				var err error
				if more, err = r.Read(context.Background(), logs.Nobody{}); err != nil || calls > 10 {
					t.Fatal(calls, err)
				}
			}
			r.Warning()
		}
	})
}
