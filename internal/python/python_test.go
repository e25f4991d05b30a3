package python

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"newtop/internal/nightly"
	"newtop/trainer/event"
)

// program is a Python program in a directory with newtop.py.
type program struct {
	dir     string
	environ []string
}

// run returns what a program prints and what it ends with. It skips the test where no Python 3 can run it.
func (p program) run(t *testing.T, code string) (out, errs string, failed error) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, "newtop.py"), []byte(Module()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "train.py"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		cmd := exec.CommandContext(t.Context(), name, "train.py")
		for _, v := range os.Environ() { // without what a cluster or a user has set
			if !strings.HasPrefix(v, "NEWTOP") && !strings.HasPrefix(v, "SLURM_") && !strings.HasPrefix(v, "OMPI_") && !strings.HasPrefix(v, "PMI_") && !strings.HasPrefix(v, "RANK=") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		cmd.Env = append(append(cmd.Env, "PYTHONDONTWRITEBYTECODE=1"), p.environ...)
		var stdout, stderr bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &stdout, &stderr
		err := cmd.Run()
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || strings.Contains(stderr.String(), "ModuleNotFoundError") {
			continue
		}
		return stdout.String(), stderr.String(), err
	}
	t.Skip("there is no Python 3 that has what the program imports")
	return "", "", nil
}

var (
	clock = regexp.MustCompile(`"elapsed": [0-9.e-]+`)
	ident = regexp.MustCompile(`"id": "([^"]*)-\d{8}-\d{6}-\d+-(\d+)", "time": "20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"`)
)

// fixed replaces what is another every time.
func fixed(text string) string {
	return ident.ReplaceAllString(clock.ReplaceAllString(text, `"elapsed": T`), `"id": "$1-$2"`)
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got = fixed(got); got != want {
		t.Errorf("%s is\n%swant\n%s", what, got, want)
	}
}

const began = `{"type": "run", "version": 1, "id": "train.py-1", "data": {"name": "train.py"}}` + "\n"

func done(epochs int) string {
	return fmt.Sprintf(`{"type": "done", "reason": "epochs", "epochs": %d, "elapsed": T}`+"\n", epochs)
}

func TestLinesThroughAPipe(t *testing.T) {
	out, errs, err := program{dir: t.TempDir()}.run(t, `
import newtop
class Tensor:
    def __init__(self, *values): self.values = values
    def item(self):
        if len(self.values) != 1: raise ValueError("not one")
        return self.values[0]
from decimal import Decimal
print("starts")
newtop.log(loss=0.5, val_loss=float("nan"), lr=float("inf"))
print("goes on")
newtop.log({"train/loss": Tensor(0.25), "val": {"acc": Decimal("0.5")}}, n=3, ok=True, tag="warm up", nothing=None)
newtop.log(weights=Tensor(1, 2), other=[1], loss=1)
newtop.log(weights=Tensor(1, 2), loss=1)
newtop.log({"loss": 2, "step": 100})
newtop.log(val_loss=3, step=Tensor(100))
newtop.log(loss=1)
newtop.log(loss="NaN", step="seven")
newtop.log()
`)
	same(t, "the output", out, "starts\n"+began+
		`{"step": 1, "elapsed": T, "loss": 0.5, "val_loss": NaN, "lr": Infinity}
goes on
{"step": 2, "elapsed": T, "train/loss": 0.25, "val/acc": 0.5, "n": 3, "ok": true, "tag": "warm up"}
{"step": 3, "elapsed": T, "loss": 1}
{"step": 4, "elapsed": T, "loss": 1}
{"step": 100, "elapsed": T, "loss": 2}
{"step": 100, "elapsed": T, "val_loss": 3}
{"step": 101, "elapsed": T, "loss": 1}
{"step": 102, "elapsed": T, "loss": "NaN"}
{"step": 103, "elapsed": T}
`+done(103))
	same(t, "standard error", errs, "newtop: log: weights is a Tensor and not one number: it is left out\nnewtop: log: other is a list and not one number: it is left out\n")
	if err != nil {
		t.Error(err)
	}
}

// The first and the last line are events.
func TestRun(t *testing.T) {
	out, _, err := program{dir: t.TempDir()}.run(t, `
import argparse, newtop
newtop.run(name="mnist", config={"lr": 0.1, "betas": [0.9, float("nan")], "path": argparse.ArgumentParser}, epochs=3)
newtop.log(loss=1)
newtop.run(config=argparse.Namespace(depth=3))
newtop.log(loss=2, step=7.5)
raise ValueError("no\nmore")
`)
	if err == nil {
		t.Error("the exception was swallowed")
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 6 {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	decode := func(i int) event.Event {
		e, err := event.DecodeForeign([]byte(lines[i]))
		if err != nil {
			t.Fatalf("%s: %v", lines[i], err)
		}
		return e
	}
	first, again := decode(0).(event.RunEvent), decode(3).(event.RunEvent)
	if first.Version != 1 || first.Data.Name != "mnist" || first.Epochs != 3 || first.Settings["lr"] != 0.1 || first.Time.IsZero() || !first.External() {
		t.Errorf("the run is %+v", first)
	}
	if again.ID == first.ID || again.Data.Name != "train.py" || again.Settings["depth"] != 3.0 || again.Epochs != 0 {
		t.Errorf("the other run is %+v", again)
	}
	if d := decode(2).(event.DoneEvent); d.Reason != event.ReasonEpochs || d.Epochs != 1 || !d.Loss.Absent() || d.Message != "" {
		t.Errorf("it ends with %+v", d)
	}
	if d := decode(5).(event.DoneEvent); d.Reason != event.ReasonFailed || d.Message != "ValueError: no more" || d.Epochs != 7 {
		t.Errorf("the other one ends with %+v", d)
	}
}

func TestInterrupted(t *testing.T) {
	out, _, _ := program{dir: t.TempDir()}.run(t, "import newtop\nnewtop.log(loss=1)\nraise KeyboardInterrupt\n")
	same(t, "the output", out, began+`{"step": 1, "elapsed": T, "loss": 1}`+"\n"+`{"type": "done", "reason": "stopped", "epochs": 1, "elapsed": T}`+"\n")
}

func TestFiles(t *testing.T) {
	const code = "import newtop, sys\nif len(sys.argv) > 9: print(1)\nnewtop.log(loss=1)\n"
	line := `{"step": 1, "elapsed": T, "loss": 1}` + "\n"
	for _, c := range []struct {
		name, code, file string
		environ          []string
		errs             string
		want             string
	}{
		{"named", code, "log/a.jsonl", []string{"NEWTOP_LOG=log/a.jsonl"}, "", "before\n" + began + line + done(1)},
		{"a notebook", "import io, sys\nsys.stdout = io.StringIO()\n" + code, "newtop.jsonl", nil, "newtop: writes to newtop.jsonl: newtop watch newtop.jsonl\n", began + line + done(1)},
		{"the first rank", code, "log/a.jsonl", []string{"NEWTOP_LOG=log/a.jsonl", "RANK=0", "SLURM_PROCID=4"}, "", "before\n" + began + line + done(1)},
		{"another rank", code, "log/a.jsonl", []string{"NEWTOP_LOG=log/a.jsonl", "OMPI_COMM_WORLD_RANK=2"}, "", "before\n"},
		{"all ranks", code, "log/a.rank2.jsonl", []string{"NEWTOP_LOG=log/a.jsonl", "RANK=2", "NEWTOP_ALL_RANKS=1"}, "", began + line + done(1)},
		{"all ranks, unnamed", code, "newtop.rank2.jsonl", []string{"SLURM_PROCID=2", "NEWTOP_ALL_RANKS=1"}, "newtop: writes to newtop.rank2.jsonl: newtop watch newtop.rank2.jsonl\n", began + line + done(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "log"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "log", "a.jsonl"), []byte("before\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs, err := program{dir: dir, environ: c.environ}.run(t, c.code)
			if out != "" || errs != c.errs || err != nil {
				t.Errorf("printed %q and %q: %v", out, errs, err)
			}
			text, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			same(t, c.file, string(text), c.want)
		})
	}
}

// What can't be written is said once, and the loop goes on.
func TestUnwritable(t *testing.T) {
	loop := "import newtop\nfor i in range(3):\n    newtop.log(loss=i)\nnewtop.run()\nnewtop.watch(None)\nimport sys\nprint('trained', file=sys.stderr)\n"
	for path, want := range map[string]string{
		"no/such/directory": "No such file or directory: 'no/such/directory': nothing more is logged\ntrained\n",
		"/dev/full":         "No space left on device: nothing more is logged\ntrained\n",
	} {
		if _, err := os.Stat("/dev/full"); err != nil && path == "/dev/full" {
			continue
		}
		_, errs, err := program{dir: t.TempDir(), environ: []string{"NEWTOP_LOG=" + path}}.run(t, loop)
		if err != nil || !strings.HasSuffix(errs, want) || strings.Count(errs, "\n") != 2 {
			t.Errorf("%s: %v: %s", path, err, errs)
		}
	}
	_, errs, err := program{dir: t.TempDir()}.run(t, "import os\nr, w = os.pipe()\nos.close(r)\nos.dup2(w, 1)\n"+loop)
	if err != nil || !strings.HasSuffix(errs, "Broken pipe: nothing more is logged\ntrained\n") {
		t.Errorf("nobody reads: %v: %s", err, errs)
	}
	_, errs, err = program{dir: t.TempDir()}.run(t, "import newtop\nnewtop.log(3)\nnewtop.run(config=3)\nnewtop.log(loss=1)\n")
	if err != nil || strings.Count(errs, "\n") != 1 {
		t.Errorf("misuse: %v: %s", err, errs)
	}
}

// Lines are whole and counted once whatever writes them, and a child neither hangs nor ends the run of its parent.
func TestThreadsAndForks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no fork")
	}
	out, errs, err := program{dir: t.TempDir()}.run(t, `
import newtop, os, threading
newtop.log(loss=0)
def work():
    for i in range(200):
        newtop.log(loss=i)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for i in range(5):
    if os.fork() == 0:
        newtop.log(child=i)
        raise SystemExit(0)
    os.wait()
for t in threads: t.join()
`)
	if err != nil || strings.Contains(errs, "Error") {
		t.Fatalf("%v: %s", err, errs)
	}
	lines, steps, children := strings.Split(strings.TrimSpace(fixed(out)), "\n"), map[string]bool{}, 0
	for i, line := range lines {
		switch {
		case i == 0 || i == len(lines)-1:
		case strings.Contains(line, `"child"`):
			children++
		case regexp.MustCompile(`^\{"step": \d+, "elapsed": T, "loss": \d+\}$`).MatchString(line):
			steps[line[:strings.IndexByte(line, ',')]] = true
		default:
			t.Errorf("line %d is %q", i+1, line)
		}
	}
	if lines[0]+"\n" != began || lines[len(lines)-1]+"\n" != done(801) || len(steps) != 801 || children != 5 {
		t.Errorf("%d steps and %d lines of children, from %s to %s", len(steps), children, lines[0], lines[len(lines)-1])
	}
}

const layers = `
class Tensor:
    def __init__(self, n): self.n, self.grad = n, None
    def detach(self): return self
    def norm(self): return Tensor(self.n)
    def __float__(self): return float(self.n)
class Model:
    def __init__(self): self.p = {"body.a.weight": Tensor(3), "body.a.bias": Tensor(4), "body.b.weight": Tensor(12), "body.c": Tensor(1)}
    def named_parameters(self): return self.p.items()
    def backward(self):
        for name, p in self.p.items():
            if name != "body.c": p.grad = Tensor(2 * p.n)
`

func TestNorms(t *testing.T) {
	out, errs, _ := program{dir: t.TempDir()}.run(t, layers+`
import newtop
m, n = Model(), Model()
newtop.watch(m, every=2)
newtop.watch(n, name="net")
m.backward()
newtop.log(loss=1)
newtop.log(loss=2)
n.backward()
del m
newtop.log(loss=3)
`)
	same(t, "the output", out, began+`{"step": 1, "elapsed": T, "loss": 1}
{"step": 2, "elapsed": T, "loss": 2, "grad_norm": 26.0, "grad_norm/a": 10.0, "grad_norm/b": 24.0, "weight_norm/a": 5.0, "weight_norm/b": 12.0}
{"step": 3, "elapsed": T, "loss": 3, "net/grad_norm": 26.0, "net/grad_norm/a": 10.0, "net/grad_norm/b": 24.0, "net/weight_norm/a": 5.0, "net/weight_norm/b": 12.0}
`+done(3))
	if errs != "" {
		t.Error(errs)
	}
}

// Where torch tells of an optimizer's steps, gradients that are gone when log is called are seen all the same.
func TestNormsAtASteps(t *testing.T) {
	out, errs, _ := program{dir: t.TempDir()}.run(t, layers+`
import sys, types, newtop
hooks = []
class Handle:
    def remove(self): pass
def register(hook):
    hooks.append(hook)
    return Handle()
sys.modules["torch.optim.optimizer"] = types.SimpleNamespace(register_optimizer_step_pre_hook=register)
class Optimizer:
    def __init__(self, model): self.param_groups = [{"params": [p for _, p in model.named_parameters()]}]
    def step(self):
        for hook in hooks: assert hook(self, (), {}) is None
m, other = Model(), Model()
newtop.watch(m)
for model in m, other:
    model.backward()
    Optimizer(model).step()
    for p in model.p.values(): p.grad = None
    newtop.log(loss=1)
`)
	same(t, "the output", out, began+`{"step": 1, "elapsed": T, "loss": 1, "grad_norm": 26.0, "grad_norm/a": 10.0, "grad_norm/b": 24.0, "weight_norm/a": 5.0, "weight_norm/b": 12.0}
{"step": 2, "elapsed": T, "loss": 1}
`+done(2))
	if errs != "" {
		t.Error(errs)
	}
}

func TestNormsOfTorch(t *testing.T) {
	nightly.Only(t, "imports PyTorch, 3 s; TestNorms has a model without it")
	out, errs, _ := program{dir: t.TempDir()}.run(t, `
import torch, newtop
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
with torch.no_grad():
    for p in model.parameters(): p.fill_(0.5)
optimizer = torch.optim.SGD(model.parameters(), lr=0)
newtop.watch(model)
loss = model(torch.ones(3, 2)).sum()
loss.backward()
optimizer.step()
newtop.log(loss=loss, half=torch.tensor(0.5, dtype=torch.bfloat16))
want = sum(float(p.grad.norm()) ** 2 for p in model.parameters()) ** 0.5
import sys
print(want, file=sys.stderr)
`)
	var loss, total, a, b, wa, wb, want float64
	line := strings.Split(fixed(out), "\n")[1]
	if _, err := fmt.Sscanf(line, `{"step": 1, "elapsed": T, "loss": %g, "half": 0.5, "grad_norm": %g, "grad_norm/0": %g, "grad_norm/2": %g, "weight_norm/0": %g, "weight_norm/2": %g}`, &loss, &total, &a, &b, &wa, &wb); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if _, err := fmt.Sscan(errs, &want); err != nil {
		t.Fatal(err, errs)
	}
	near := func(x, y float64) bool { return x-y < 1e-5 && y-x < 1e-5 }
	if !near(total, want) || !near(total*total, a*a+b*b) || !near(wa*wa, 1.5) || !near(wb*wb, 0.75) {
		t.Errorf("%s, want a norm of %g", line, want)
	}
}

// The module is read by Python 3.8, what logs is as short as it says, and the whole stays a file that a person can read.
func TestModuleIsSmall(t *testing.T) {
	logging, models, ok := strings.Cut(Module(), "\n# Models for newtop")
	if n := strings.Count(strings.TrimRight(logging, "\n"), "\n") + 1; !ok || n > 250 {
		t.Errorf("%d lines that log", n)
	}
	if n := strings.Count(models, "\n"); n > 1750 {
		t.Errorf("%d lines for models", n)
	}
	if _, errs, err := (program{dir: t.TempDir()}).run(t, "import ast\nast.parse(open('newtop.py').read(), feature_version=(3, 8))\n"); err != nil {
		t.Error(err, errs)
	}
}

func TestModuleIsTheFile(t *testing.T) {
	if text, err := os.ReadFile("newtop.py"); err != nil || Module() != string(text) {
		t.Errorf("newtop.py.gz has another text than newtop.py (%v): go generate ./internal/python", err)
	}
}
