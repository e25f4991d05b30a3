//go:build unix

package cli

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/peer/peertest"
)

// torchModel is the path of one of internal/python's programs.
func torchModel(name string) string { return filepath.Join("..", "python", "testdata", name) }

// torchRun is how a script is trained in these tests.
func torchRun(script, opt string) []string {
	return []string{"--model", script, "--opt", opt, "--epochs", "5", "--threads", "1", "--set", "spectrum-every=5"}
}

// A convnet and a transformer are trained by a method of second order and one of first, saved by their parameters' names, and
// loaded to the same loss by a program that knows nothing of newtop. A run that was stopped, or whose program was killed, goes on
// to the digits of one that was not. By day the convnet is trained by the second-order method, and saved.
func TestTorchModelsAreTrained(t *testing.T) {
	peertest.Torch(t)
	for _, script := range []string{"digits.py", "chars.py"}[:nightly.Of(2, 1)] {
		for _, opt := range []string{"tr-newton", "adam"}[:nightly.Of(2, 1)] {
			t.Run(script+" by "+opt, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "w.safetensors")
				whole := decode(t, succeed(t, slices.Concat([]string{"train", "--format", "jsonl", "--record", "off", "--save", file}, torchRun(torchModel(script), opt))...))
				last := learnt(t, whole)
				switch {
				case !nightly.On():
				case opt == "tr-newton":
					loaded(t, script, file, last)
					if script == "digits.py" {
						killedAndResumed(t, figures(whole))
					}
				case script == "chars.py":
					stoppedAndResumed(t, torchRun(torchModel(script), opt), figures(whole))
				}
			})
		}
	}
}

// learnt checks that a run's losses fell, and the spectrum at its end. It returns the last loss.
func learnt(t *testing.T, events []event.Event) float64 {
	t.Helper()
	all := epochs(events)
	if len(all) != 6 {
		t.Fatalf("%d epochs", len(all))
	}
	first, last := all[0], all[5]
	if !(last.Loss < first.Loss && last.TestLoss < first.TestLoss && last.Error <= first.Error) {
		t.Errorf("loss %g to %g, test loss %g to %g, error %g to %g", first.Loss, last.Loss, first.TestLoss, last.TestLoss, first.Error, last.Error)
	}
	spectra := slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { _, ok := e.(event.SpectrumEvent); return !ok })
	if len(spectra) != 1 {
		t.Fatalf("%d spectra", len(spectra))
	}
	s := spectra[0].(event.SpectrumEvent)
	for i, v := range s.Eigenvalues {
		if r := s.Residuals[i]; !(r >= 0 && r < 0.02*s.Eigenvalues[0]) || i > 0 && v > s.Eigenvalues[i-1] {
			t.Errorf("eigenvalue %d is %g ± %g", i, v, r)
		}
	}
	return float64(last.Loss)
}

// loader is a newtop module that loads weights into the model of a script, strictly, and prints the loss.
const loader = `
import json, os, struct, sys, torch
def seed(default=0): return 12345
def serve(model, loss_fn, batch, **_):
    data = open(os.environ["WEIGHTS"], "rb").read()
    size, = struct.unpack("<Q", data[:8])
    told = json.loads(data[8:8 + size])
    told.pop("__metadata__", None)
    types = {"F64": torch.float64, "F32": torch.float32}
    read = lambda d: torch.frombuffer(bytearray(data[8 + size + d["data_offsets"][0]:8 + size + d["data_offsets"][1]]), dtype=types[d["dtype"]]).view(d["shape"])
    known = {name for name, _ in model.named_parameters()}
    assert set(told) == known, set(told) ^ known
    model.load_state_dict({name: read(d) for name, d in told.items()}, strict=False)
    print("%.17g" % loss_fn(model(batch[0]), batch[1]).item())
    sys.exit()
`

// loaded checks that a script's model has a loss with the weights of a file.
func loaded(t *testing.T, script, file string, want float64) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "newtop.py"), []byte(loader), 0o600); err != nil {
		t.Fatal(err)
	}
	run := fmt.Sprintf("import runpy, sys; sys.path[:0] = [%q, %q]; runpy.run_path(%q)", dir, torchModel(""), torchModel(script))
	cmd := exec.Command(peertest.Torch(t), "-c", run)
	cmd.Env = append(os.Environ(), "WEIGHTS="+file)
	out, err := cmd.CombinedOutput()
	text := lines(string(out))
	var got float64
	if _, scanned := fmt.Sscan(text[len(text)-1], &got); err != nil || scanned != nil || got != want {
		t.Errorf("%s: the saved weights have loss %.17g, and the run %.17g: %v\n%s", script, got, want, err, out)
	}
}

// stoppedAndResumed stops a run after two epochs, goes on with it, and expects the digits of one that was not stopped.
func stoppedAndResumed(t *testing.T, args, want []string) {
	t.Helper()
	db := database(t)
	id := recordedRun(t, db, append(args, "--epochs", "2")...)
	succeed(t, "resume", id, "--epochs", "5", "--record", db)
	same(t, "recorded", figures(decode(t, recordedEvents(t, db, id))), want)
}

// mortal runs digits.py, which dies once, in the middle of a forward pass.
const mortal = `
import os, runpy, signal, sys, torch
sys.path.insert(0, %[1]q)
calls, forward = 0, torch.nn.Sequential.forward
def dying(self, x):
    global calls
    calls += 1
    if calls == 25 and not os.path.exists(%[2]q):
        open(%[2]q, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return forward(self, x)
torch.nn.Sequential.forward = dying
runpy.run_path(os.path.join(%[1]q, "digits.py"))
`

// killedAndResumed has the program killed in the middle of a run. One line says how to go on: to the digits of one that was not.
func killedAndResumed(t *testing.T, want []string) {
	t.Helper()
	db := database(t)
	testdata, err := filepath.Abs(torchModel(""))
	if err != nil {
		t.Fatal(err)
	}
	script := write(t, "mortal.py", fmt.Sprintf(mortal, testdata, filepath.Join(t.TempDir(), "died")))
	_, errs, code := newtop(slices.Concat([]string{"train", "--name", "mine", "--record", db}, torchRun(script, "tr-newton"))...)
	last := lines(errs)[strings.Count(errs, "\n")-1]
	if how := ": killed; to continue: newtop resume mine --record " + format.Quote(db); code != print.ExitFailed || !strings.HasPrefix(last, "newtop: mortal.py ended at ") || !strings.HasSuffix(last, how) {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	died := newest(t, db)
	if died.Last.Epoch == 0 || died.Last.Epoch >= 5 {
		t.Errorf("it died in epoch %d", died.Last.Epoch)
	}
	succeed(t, "resume", "mine", "--record", db)
	same(t, "recorded", figures(decode(t, recordedEvents(t, db, died.ID))), want)
}

// watched runs a program with newtop watch, which may look at its model as often as the program offers, and returns what it prints
// and the spectra by their steps.
func watched(t *testing.T, script string, args ...string) (printed []string, spectra map[int]event.SpectrumEvent) {
	t.Helper()
	python := peertest.Torch(t)
	spectra = map[int]event.SpectrumEvent{}
	out := succeed(t, slices.Concat([]string{"watch", "--format", "jsonl", "--probe-share", "100%", "--", python, torchModel(script)}, args)...)
	for _, e := range decode(t, out) {
		switch e := e.(type) {
		case event.ConsoleEvent:
			printed = append(printed, e.Text)
		case event.SpectrumEvent:
			spectra[e.Epoch] = e
		}
	}
	return printed, spectra
}

// A loop has the same losses to the bit whether it is looked into or not.
func TestTorchLoopIsNotDisturbed(t *testing.T) {
	nightly.Only(t, "a loop twice, 11 s; TestTorchHessianIsLookedAt watches one")
	python := peertest.Torch(t)
	printed, spectra := watched(t, "loop.py", "30", "5")
	printed = slices.DeleteFunc(printed, func(s string) bool { return strings.HasPrefix(s, "newtop: ") })
	cmd := exec.Command(python, torchModel("loop.py"), "30", "5")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+torchModel(".."))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if alone := lines(string(out)); len(alone) != 30 || !slices.Equal(alone, printed) {
		t.Errorf("alone it prints\n%s\nwatched\n%s", out, strings.Join(printed, "\n"))
	}
	if spectra[5].Eigenvalues == nil { // the first look, which is taken whatever it costs
		t.Errorf("%d spectra, and none of the first look", len(spectra))
	}
}

// Looks find the eigenvalues of the Hessian that torch has as a matrix.
func TestTorchHessianIsLookedAt(t *testing.T) {
	printed, spectra := watched(t, "dense.py")
	compared := 0
	for _, line := range printed {
		words := strings.Fields(line)
		var step int
		if _, err := fmt.Sscan(line, &step); err != nil {
			continue
		}
		s, ok := spectra[step]
		if !ok {
			continue
		}
		for i, v := range s.Eigenvalues {
			at := len(words) - 1 - i
			if i >= len(s.Eigenvalues)/2 {
				at = len(s.Eigenvalues) - i
			}
			var want float64
			if _, err := fmt.Sscan(words[at], &want); err != nil {
				t.Fatal(err)
			}
			tolerance := 1e-10 // of the outermost; the others may have more to go
			if i > 0 && i < len(s.Eigenvalues)-1 {
				tolerance += float64(s.Residuals[i])
			}
			if math.Abs(float64(v)-want) > tolerance {
				t.Errorf("step %d: eigenvalue %d is %.12g ± %.2g, in the matrix %.12g", step, i, float64(v), float64(s.Residuals[i]), want)
			}
			compared++
		}
	}
	if compared < 6 {
		t.Errorf("%d eigenvalues; printed\n%s", compared, strings.Join(printed, "\n"))
	}
}
