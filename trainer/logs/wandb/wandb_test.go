package wandb

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

func message(n protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), bytes.Join(parts, nil))
}

func text(n protowire.Number, s string) []byte { return message(n, []byte(s)) }

func varint(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}

func double(n protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), math.Float64bits(v))
}

// item is one of a history, as wandb-core writes it: "a/b" is one label, and "a|b" is nested.
func item(field protowire.Number, key, value string) []byte {
	var parts []byte
	for _, k := range strings.Split(key, "|") {
		parts = append(parts, text(2, k)...)
	}
	return message(field, parts, text(16, value))
}

func history(pairs ...string) []byte {
	var items []byte
	for i := 0; i < len(pairs); i += 2 {
		items = append(items, item(1, pairs[i], pairs[i+1])...)
	}
	return message(2, items)
}

// told is a sink that writes down what it is given.
type told struct {
	log    []string
	config map[string]any
	axes   map[string]string
	rows   int
	values int
}

func (s *told) Row(r *logs.Row) {
	s.rows++
	s.values += len(r.Values)
	var b strings.Builder
	for _, c := range []struct {
		name string
		v    float64
	}{{"step", r.Step}, {"epoch", r.Epoch}, {"wall", r.Wall}, {"elapsed", r.Elapsed}} {
		if !math.IsNaN(c.v) {
			fmt.Fprintf(&b, "%s %.10g ", c.name, c.v)
		}
	}
	for _, v := range r.Values {
		fmt.Fprintf(&b, "%s=%g ", v.Key, v.V)
	}
	s.log = append(s.log, strings.TrimSpace(b.String()))
}

func (s *told) Info(i logs.Info) {
	began := ""
	if !i.Began.IsZero() {
		began = i.Began.UTC().Format(" 2006-01-02 15:04:05.0")
	}
	s.log = append(s.log, i.Program+" "+i.Name+began)
	s.config, s.axes = i.Config, i.Axes
}

func (s *told) Line(text []byte) { s.log = append(s.log, "| "+string(text)) }
func (s *told) End(e logs.State, message string) {
	s.log = append(s.log, fmt.Sprintf("end %d %s", e, message))
}

func (s *told) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(s.log, want) {
		t.Errorf("read\n%s\nexpected\n%s", strings.Join(s.log, "\n"), strings.Join(want, "\n"))
	}
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, data []byte) (logs.Reader, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run-x.wandb")
	write(t, path, data)
	r, err := Open(files.Here(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, path
}

func drain(t testing.TB, r logs.Reader, to logs.Sink) {
	t.Helper()
	for {
		more, err := r.Read(context.Background(), to)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

func TestRun(t *testing.T) {
	config := message(5, item(1, "lr", "0.1"), item(1, "net|widths", "[784, 10]"), item(1, "opt", `{"name": "sgd", "wd": NaN, "deep": {"x": true}}`),
		item(1, "_wandb", `{"a": 1}`), item(1, "none", "null"))
	run := message(17, text(1, "g9dvvkua"), message(4, item(1, "seed", "7")), text(8, "brisk-sea-1"), message(17, varint(1, 1700000000), varint(2, 500000000)))
	r, _ := open(t, wandbFile(message(21), run, config,
		history("train/loss", "0.25", "acc", "NaN", "net|grad", "-Infinity", "name", `"0.5"`, "_runtime", "1.5", "_timestamp", "1700000002", "_step", "3", "_x", "1"),
		history("epoch", "2", "loss", "1e400", "ok", "true", "img|_type", `"image-file"`, "img|size", "12", "hist", `{"_type":"histogram","n":3}`, "_step", "4"),
		message(2, message(1, text(1, "network"), text(16, `{"sent": 5, "recv": NaN, "why": "1"}`)), message(2, varint(1, 9))),
		history("_step", "10"),
		message(7, message(2, varint(1, 1700000003)), message(3, text(1, "gpu.0.temp"), text(16, "61.0")), message(3, text(1, "disk./home.usageGB"), text(16, "7"))),
		message(13, varint(1, 1), text(3, "\x1b[1mEpo")), message(13, text(3, "warn\n")), message(13, varint(1, 1), text(3, "ch 1\x1b[0m\r 5%\r50%\r\ndone\n")),
		message(18, varint(1, uint64(1<<64-9))), message(20), message(7, message(3, text(1, "cpu"), text(16, "1"))), message(22)).Bytes())
	if w := r.Warning(); !strings.Contains(w, "blocks of 32 kB") {
		t.Errorf("before it was read: %q", w)
	}
	var s told
	drain(t, r, &s)
	s.expect(t, "W&B brisk-sea-1 2023-11-14 22:13:20.5",
		"step 3 wall 1700000002 elapsed 1.5 train/loss=0.25 acc=NaN net/grad=-Inf",
		"step 4 epoch 2 loss=+Inf",
		"step 9 network/sent=5 network/recv=NaN",
		"wall 1700000003 system/gpu/0/temp=61 system/disk/home/usageGB=7",
		"| warn", "| 50%", "| done", "system/cpu=1", "end 2 exit code -9")
	wd, _ := s.config["opt/wd"].(float64)
	delete(s.config, "opt/wd")
	if want := map[string]any{"seed": 7., "lr": 0.1, "net/widths": "[784, 10]", "opt/name": "sgd", "opt/deep/x": true}; !reflect.DeepEqual(s.config, want) || !math.IsNaN(wd) {
		t.Errorf("config %v, wd %v: expected %v and NaN", s.config, wd, want)
	}
	if r.Warning() != "" || r.Progress() != 1 {
		t.Errorf("at the end: %q, %g", r.Warning(), r.Progress())
	}
}

// A program that says what counts its steps is believed: W&B's own count the calls of log.
func TestStepMetric(t *testing.T) {
	r, _ := open(t, wandbFile(message(12, text(2, "*"), text(4, "train/global_step")),
		history("loss", "1", "train/global_step", "500", "_step", "1"), history("eval", "2", "_step", "2"), message(18)).Bytes())
	var s told
	drain(t, r, &s)
	s.expect(t, "step 500 loss=1", "step 500 eval=2", "end 1 ")
}

// Metrics that are counted by another one stand at its values, in their order; a name counts more than a pattern.
func TestOwnAxes(t *testing.T) {
	define := func(n protowire.Number, metrics, step string) []byte {
		return message(12, text(n, metrics), text(4, step))
	}
	r, _ := open(t, wandbFile(define(2, "val/*", "round"), define(1, "val/f1", "samples"),
		history("_step", "0", "loss", "3", "val/loss", "9"),
		history("_step", "10", "val/loss", "2", "val/f1", "0.5", "loss", "1", "round", "0", "samples", "64"),
		history("_step", "20", "val/loss", "1", "round", "1")).Bytes())
	var got told
	drain(t, r, &got)
	got.expect(t, "step 0 loss=3 val/loss=9", "W&B ", "step 0 val/loss=2", "step 64 val/f1=0.5", "step 10 loss=1 samples=64",
		"step 1 val/loss=1")
	if want := map[string]string{"val/loss": "round", "val/f1": "samples"}; !maps.Equal(got.axes, want) {
		t.Errorf("axes %v, not %v", got.axes, want)
	}
}

// What a program says of its run at the end is kept, and what W&B repeats of the history is not.
func TestSummary(t *testing.T) {
	r, _ := open(t, wandbFile(history("_step", "0", "loss", "3"), message(3, item(1, "loss", "3"), item(1, "best", "0.5"), item(1, "_wandb", "{}")),
		message(3, item(1, "best", "0.25"))).Bytes())
	var got told
	drain(t, r, &got)
	if want := map[string]any{"summary/best": 0.25}; !reflect.DeepEqual(got.config, want) {
		t.Errorf("%v", got.config)
	}
}

// The folders of a run that was resumed are one run.
func TestSessions(t *testing.T) {
	dir := t.TempDir()
	session := func(date string, records ...[]byte) {
		write(t, filepath.Join(dir, "offline-run-"+date+"-abc", "run-abc.wandb"), wandbFile(records...).Bytes())
	}
	named := message(17, text(1, "abc"), text(8, "owl"))
	session("20260102_000000", named, history("_step", "1", "loss", "2"), message(18, varint(1, 0)))
	session("20260101_000000", named, history("_step", "0", "loss", "3"), message(18, varint(1, 255)))
	write(t, filepath.Join(dir, "run-20260101_000000-zabc", "run-zabc.wandb"), wandbFile(history("_step", "9", "loss", "9")).Bytes())
	r, err := OpenRun(files.Here(dir), "abc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { r.Close() }()
	var got told
	drain(t, r, &got)
	got.expect(t, "W&B owl", "step 0 loss=3", "end 3 ", "W&B owl", "step 1 loss=2", "end 1 ")
	session("20260103_000000", named, history("_step", "2", "loss", "1"))
	got.log = nil
	drain(t, r, &got)
	got.expect(t, "W&B owl", "step 2 loss=1")
	if name := NameOf(files.Here(filepath.Join(dir, "offline-run-20260101_000000-abc", "run-abc.wandb"))); name != "owl" {
		t.Errorf("%q", name)
	}
	if _, err := OpenRun(files.Here(dir), "none"); err == nil {
		t.Error("expected an error")
	}
}

func TestSwanLab(t *testing.T) {
	w := newWriter(":SWL", 0xe1d6, 2)
	scalar := func(key string, step uint64, v float64) []byte {
		return message(13, text(1, key), varint(2, step), message(4, varint(1, 1700000001)), message(5, double(1, v)))
	}
	for _, r := range [][]byte{message(10, text(4, "seal-1"), text(10, "id"), message(12, varint(1, 1700000000))), scalar("loss", 1, 0.5), scalar("acc", 1, math.NaN()),
		scalar("__swanlab__.cpu.pct", 1, 9), scalar("loss", 2, 0.25), message(16, text(1, "a line")), message(11, varint(1, 2), text(2, "broken"))} {
		w.record(r)
	}
	r, _ := open(t, w.Bytes())
	var s told
	drain(t, r, &s)
	s.expect(t, "SwanLab seal-1 2023-11-14 22:13:20.0", "step 1 wall 1700000001 loss=0.5 acc=NaN", "wall 1700000001 system/cpu/pct=9", "| a line", "step 2 wall 1700000001 loss=0.25", "end 2 broken")
}

// While the run's file has nothing, what the program prints comes from files/output.log, and not again later.
func TestOutputLog(t *testing.T) {
	r, path := open(t, wandbFile().Bytes())
	log := filepath.Join(filepath.Dir(path), "files", "output.log")
	write(t, log, []byte("one\ntw"))
	var s told
	drain(t, r, &s)
	write(t, log, []byte("one\ntwo\n"))
	write(t, path, wandbFile(message(13, text(3, "one\ntwo\n")), history("a", "1")).Bytes())
	drain(t, r, &s)
	s.expect(t, "| one", "a=1", "| two")
	if w := r.Watch(); len(w) != 3 || w[0].Name != path || w[2].Name != log {
		t.Errorf("watches %q", w)
	}
}

// W&B writes a bar that is drawn again in the place of its line.
func TestLinesThatAreDrawnAgain(t *testing.T) {
	r, path := open(t, wandbFile().Bytes())
	log := filepath.Join(filepath.Dir(path), "files", "output.log")
	var s told
	for i, text := range []string{"begin\n 5%\n", "begin\n 50%\n", "begin\n 50%\n", "begin\n100%\nend\nend\n", "new\n" + strings.Repeat("x", 200_000) + "\nend\nlast\n"} {
		write(t, log, []byte(text))
		os.Chtimes(log, time.Time{}, time.Unix(int64(i), 0))
		drain(t, r, &s)
	}
	if n := len(s.log); n > 0 && s.log[n-1] != "| last" || !slices.Equal(s.log[:min(n, 6)], []string{"| begin", "|  5%", "|  50%", "| 100%", "| end", "| end"}) {
		t.Errorf("read %.200q", s.log)
	}
}

func TestInterrupted(t *testing.T) {
	r, _ := open(t, wandbFile(message(18, varint(1, 255))).Bytes())
	var s told
	drain(t, r, &s)
	s.expect(t, fmt.Sprintf("end %d ", logs.Stopped))
}

func TestOpenRefusesOthers(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"step,loss\n1,2\n", `begins with "step,lo": expected a run of W&B, which begins with ":W&B", or of SwanLab, with ":SWL"`},
		{"x", `begins with "x": expected`},
		{":W&B\xe1\xbe\x01", "a W&B file with the magic number 0xbee1 and version 1: expected 0xbee1 and 0"},
	} {
		path := filepath.Join(t.TempDir(), "run-x.wandb")
		write(t, path, []byte(c.data))
		if _, err := Open(files.Here(path)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%q: %v: expected %s", c.data, err, c.want)
		}
	}
	if !Sniff([]byte(":W&B\xe1\xbe\x00...")) || !Sniff([]byte(":SWL...")) || Sniff([]byte(":W&")) {
		t.Error("Sniff takes one for another")
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb \r": "a b", "50%\r100%": "100%", "abc\b\bX": "aX", "\x1b]0;title\agreen \x1b[32mtext\x1b[0m\x1b": "green text", "\x1b]8;;u\x1b\\link": "link", "\xff": "", "\x1b[1": "",
	} {
		if got := clean([]byte(in)); got != want {
			t.Errorf("%q became %q, expected %q", in, got, want)
		}
	}
}
