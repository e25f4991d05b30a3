package jsonlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/logs"
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
func (s *sink) Line(text string)                { fmt.Fprintf(s, "line %s\n", text) }
func (s *sink) End(st logs.State, words string) { fmt.Fprintf(s, "end %v %s\n", st, words) }

func TestLines(t *testing.T) {
	const wrong = "error expected a JSON object with numbers, as {\"step\":1,\"loss\":0.5}\n"
	for _, c := range []struct{ name, text, want string }{
		{"flat", `{"step":1,"loss":0.5,"val_loss":0.4}`, "@step=1 loss=0.5 val_loss=0.4\n"},
		{"nested", `{"epoch": 2, "train": {"loss": 1, "acc": {"top1": 0.5}}, "lr": 1e-3}`, "@epoch=2 train/loss=1 train/acc/top1=0.5 lr=0.001\n"},
		{"words of Python", `{"step":1,"a":NaN,"b":Infinity,"c":-Infinity}`, "@step=1 a=NaN b=+Inf c=-Inf\n"},
		{"words in strings", `{"step":1,"a":"NaN","b":"nan","c":"Infinity","d":"inf","e":"-inf","f":"-Infinity"}`, "@step=1 a=NaN b=NaN c=+Inf d=+Inf e=-Inf f=-Inf\n"},
		{"Hugging Face 5", `{"loss": "2.163", "grad_norm": "nan", "learning_rate": "9.966e-05", "epoch": "0.3556"}`, "@epoch=0.3556 loss=2.163 grad_norm=NaN learning_rate=9.966e-05\n"},
		{"no metrics", `{"step":1,"loss":null,"ok":true,"off":false,"phase":"train","per_class":[0.1,[2]],"x":3}`, "@step=1 x=3\n"},
		{"config", `{"config":{"lr":0.1,"model":{"name":"mlp","sizes":[8, 4]},"amp":true,"seed":null}}`, "info name=\"\" steps=0 program=\"\" config=map[amp:true lr:0.1 model/name:mlp model/sizes:[8, 4]]\n"},
		{"ClearML", `[{"timestamp": 1700000000500, "type": "training_stats_scalar", "task": "offline-1f", "iter": 3, "metric": "loss", "variant": "train", "value": 0.5}, {"type": "training_stats_scalar", "task": "offline-1f", "iter": 3, "metric": "acc", "variant": "val", "value": 0.9}]`,
			"@step=3 @wall=1.7000000005e+09 loss/train=0.5\n@step=3 acc/val=0.9\n"},
		{"ClearML's console", `[{"timestamp": 1700000000500, "type": "log", "task": "1", "level": "info", "worker": "w", "msg": "one\n\u001b[1mtwo\u001b[0m"}]`, "line one\nline two\n"},
		{"long form", `{"name":"run","key":"loss","value":0.5,"step":3,"rank":0}` + "\n" + `{"tag":"a/b","value":"nan","step":4}` + "\n" + `{"name":"loss","value":null,"step":3}`, "@step=3 loss=0.5\n@step=4 a/b=NaN\n"},
		{"a name alone", `{"name":"resnet","loss":0.5}`, "loss=0.5\n"},
		{"trackio", `{"v":1,"kind":"metric","project":"p","run":"fox-1","run_id":"12","metrics":{"loss":0.5,"val":{"acc":"Infinity"}},"step":3,"timestamp":"1970-01-01T00:01:00+00:00","config":{"lr":1}}`,
			"info name=\"fox-1\" steps=0 program=\"\" config=map[]\ninfo name=\"\" steps=0 program=\"\" config=map[lr:1]\n@step=3 @wall=60 loss=0.5 val/acc=+Inf\n"},
		{"trackio's alert", `{"v":1,"kind":"alert","run":"r","title":"NaN","text":"loss is NaN","step":3}`, "info name=\"r\" steps=0 program=\"\" config=map[]\nline NaN: loss is NaN\n"},
		{"words only", `{"msg":"hello\tworld"}` + "\n" + `{"level":"info","ts":1700000000.5,"msg":"begun"}` + "\n" + `{"status":"done"}` + "\n{}\n", "line hello world\nline begun\nline {\"status\":\"done\"}\n"},
		{"keys with escapes", `{"a\"\u00e9\n":1,"é":2}`, "a\"é=1 é=2\n"},
		{"newtop's own", `{"type":"epoch","epoch":1,"loss":0.5,"inner":{"rounds":3}}`, "@epoch=1 loss=0.5 inner/rounds=3\n"},
		{"blank", "\xef\xbb\xbf{\"a\":1}\r\n\n  \n", "a=1\n"},
		{"wrong", "loss 0.5\n3\n{\"a\":1\n{\"a\":1}}\n{\"a\" 1}\n{\"a\":1,}\n[1,2]\n[{\"a\":1}\n{\"a\":Nan}\n", strings.Repeat(wrong, 9)},
	} {
		p, s := New(), &sink{}
		for line := range strings.Lines(c.text) {
			if err := p.Line([]byte(strings.TrimSuffix(line, "\n")), s); err != nil {
				fmt.Fprintf(s, "error %v\n", err)
			}
		}
		p.Flush(s)
		if s.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, s, c.want)
		}
	}
}

// Python's own writer says what a line of Python is.
func TestPythonsLines(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: its json module writes the lines")
	}
	out, err := exec.Command(python, "-c", `
import json
print(json.dumps({"step": 1, "loss": float("nan"), "é": 0.1 + 0.2, "a": {"b": float("-inf"), "c": 1e-07, "d": [1], "e": None}}))
print(json.dumps({"step": 10**6, "big": 1e22, "t": True}, ensure_ascii=False))`).Output()
	if err != nil {
		t.Fatal(err)
	}
	p, s := New(), &sink{}
	for line := range bytes.Lines(out) {
		if err := p.Line(line, s); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if want := "@step=1 loss=NaN é=0.30000000000000004 a/b=-Inf a/c=1e-07\n@step=1e+06 big=1e+22\n"; s.String() != want {
		t.Errorf("got\n%swant\n%s", s, want)
	}
}

func TestConfigIsToldOnce(t *testing.T) {
	p, s := New(), &sink{}
	for range 2 {
		if err := p.Line([]byte(`{"args":{"lr":NaN},"loss":1}`), s); err != nil {
			t.Fatal(err)
		}
	}
	if want := "info name=\"\" steps=0 program=\"\" config=map[lr:NaN]\nloss=1\nloss=1\n"; s.String() != want {
		t.Error(s)
	}
}

func TestSniff(t *testing.T) {
	long := `{"loss":0.5,"weights":[` + strings.Repeat("0.25,", 20000)
	for text, want := range map[string][2]bool{
		"{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"lo":              {true, false},
		`{"step":1,"loss":NaN}`:                                    {true, false},
		`{"msg":"begun"}` + "\n":                                   {true, false},
		`[{"metric":"a","variant":"b","iter":1,"value":2}]` + "\n": {true, false},
		`[{"metric":"a","variant":"b","iter":1,"value":2}]`:        {false, true},
		long[:65536]: {true, false},
		`{"loss":[0.5,0.4],"val_loss":[0.6,NaN]}`:                {false, true},
		"{\n  \"best_metric\": null,\n  \"epoch\": 1.0,\n  \"lo": {false, true},
		"[\n{\"loss\":1},\n{\"loss\":2}\n]\n":                    {false, true},
		"loss: 0.5\n":                                            {false, false},
		"{'loss': 0.5}\n":                                        {false, false},
		"":                                                       {false, false},
		"[0] train-rmse:0.5\n":                                   {false, false},
	} {
		if got := [2]bool{Sniff([]byte(text)), SniffFile([]byte(text))}; got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

func TestLinesCostNoAllocation(t *testing.T) {
	p, s := New(), counter(0)
	line := []byte(`{"step":1,"loss":0.5,"train":{"acc":0.30000000000000004,"lr":"1e-3"},"phase":"x"}`)
	if n := testing.AllocsPerRun(100, func() { p.Line(line, &s) }); n > 1 {
		t.Errorf("%v allocations a line", n)
	}
}

func BenchmarkMillionLines(b *testing.B) {
	var text bytes.Buffer
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "{\"step\":%d,\"loss\":%.6f,\"val_loss\":%.17g}\n", i, 1/float64(i+1), 2/float64(i+3))
	}
	b.ReportAllocs()
	for b.Loop() {
		p, c := New(), counter(0)
		for rest := text.Bytes(); len(rest) > 0; {
			i := bytes.IndexByte(rest, '\n')
			p.Line(rest[:i], &c)
			rest = rest[i+1:]
		}
		if c != 1_000_000 {
			b.Fatal(c)
		}
	}
}

// flat is what encoding/json reads of an object: the numbers in the order of the text.
func flat(d *json.Decoder, key string, out *[]logs.Value) {
	token, _ := d.Token()
	switch v := token.(type) {
	case json.Delim:
		for d.More() {
			name := key
			if v == '{' {
				member, _ := d.Token()
				name = strings.TrimPrefix(key+"/"+member.(string), "/")
			}
			if v == '[' {
				flat(d, name, new([]logs.Value))
			} else {
				flat(d, name, out)
			}
		}
		d.Token()
	case json.Number:
		n, _ := logs.ParseNumber([]byte(v.String()))
		*out = append(*out, logs.Value{Key: key, V: n})
	case string:
		if n, ok := logs.ParseNumber([]byte(v)); ok {
			*out = append(*out, logs.Value{Key: key, V: n})
		}
	}
}

// keeper keeps the newest row.
type keeper struct {
	counter
	row  logs.Row
	rows int
}

func (k *keeper) Row(r *logs.Row) {
	k.rows++
	k.row = *r
	k.row.Values = slices.Clone(r.Values)
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{`{"step":1,"loss":0.5}`, `{"a":{"b":[1,{"c":2}],"d":"1e3"},"e":null,"":{"":-0.0}}`, `[{"metric":"a","variant":"b","iter":1,"value":2}]`,
		`{"a":NaN,"b":"-inf"}`, `{"config":{"a":[1]},"metrics":{"a":1}}`, `{"v":1,"kind":"metric"}`, `{"a\u0062é":1}`, `{"a":1e999,"b":01}`} {
		f.Add(s)
	}
	special := []string{"metric", "tag", "key", "name", "variant", "kind", "run", "title", "msg", "message", "text", "id", "project", "task", "type", "version",
		"config", "hparams", "hyperparameters", "args", "params", `\`}
	f.Fuzz(func(t *testing.T, line string) {
		Sniff([]byte(line))
		SniffFile([]byte(line))
		Flatten([]byte(line))
		parse([]byte(line))
		k := &keeper{}
		err := New().Line([]byte(line), k)
		trimmed := strings.TrimSpace(line)
		if !json.Valid([]byte(line)) || !strings.HasPrefix(trimmed, "{") {
			return
		}
		if err != nil {
			t.Fatalf("%q is JSON: %v", line, err)
		}
		if slices.ContainsFunc(special, func(word string) bool { return strings.Contains(line, word) }) {
			return
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var found []logs.Value
		flat(d, "", &found)
		var want logs.Row
		want.Clear()
		for _, v := range found {
			want.Set(logs.Clean(v.Key), v.V)
		}
		if (len(want.Values) > 0) != (k.rows > 0) || len(want.Values) > 0 && fmt.Sprint(want) != fmt.Sprint(k.row) {
			t.Fatalf("%q: %v, encoding/json %v", line, k.row, want)
		}
	})
}
