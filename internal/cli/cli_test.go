package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/datasets"
	"newtop/internal/cli/print"
	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/optim/methods"
)

// numbersWithAWord is a CSV file of 40 rows whose 21st has a word among its numbers.
func numbersWithAWord() string {
	var b strings.Builder
	b.WriteString("height,width,price\n")
	for i := range 40 {
		width := fmt.Sprint(i % 7)
		if i == 20 {
			width = "3.wide"
		}
		fmt.Fprintf(&b, "%d,%s,%d.5\n", i, width, i*i)
	}
	return b.String()
}

func tornImages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"train-images-idx3-ubyte": "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x1c\x00\x00\x00\x1ctorn",
		"train-labels-idx1-ubyte": "\x00\x00\x08\x01\x00\x00\x00\x02\x01\x02",
		"t10k-images-idx3-ubyte":  "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x1c\x00\x00\x00\x1ctorn",
		"t10k-labels-idx1-ubyte":  "\x00\x00\x08\x01\x00\x00\x00\x02\x01\x02",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Whatever is wrong is said in one line with the place and what was expected, and with the right code.
func TestErrorsAndExitCodes(t *testing.T) {
	word := write(t, "word.csv", numbersWithAWord())
	config := write(t, "run.toml", "epochs = 3\nspeed = 9\n")
	torn := write(t, "torn.toml", "epochs = \n")
	list := write(t, "list.toml", "epochs = 3\nnet = [70, 50]\n")
	words := write(t, "words.toml", "epochs = \"two\"\n")
	numbers := write(t, "numbers.csv", strings.ReplaceAll(numbersWithAWord(), "wide", "3"))
	graph := filepath.Join("testdata", "graph.toml")
	badGraph := write(t, "bad.toml", "[[layer]]\nname = \"a\"\nnodes = -3\n[[layer]]\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"train --data mnist --data-dir " + tornImages(t), 1, "train-images-idx3-ubyte … offset … expected"},
		{"train --data " + word, 1, `word.csv:22 … "width" … wide … expected a number`},
		{"train --data /no/such/file.csv", 1, "/no/such/file.csv"},
		{"train --data letter --data-dir " + t.TempDir(), 1, "letter-recognition.data … newtop data fetch letter"},
		{"train --data lettres", print.ExitUsage, `"lettres" … letters`},
		{"train --opt adam --set schedule=linear --epochs 0", print.ExitUsage, "--set schedule=linear … a last epoch … horizon"},
		{"train --opt magic", print.ExitUsage, `"magic" … tr-newton`},
		{"train --opt tr-gn --set radius=-1", print.ExitUsage, "--set radius=-1 … > 0"},
		{"train --opt tr-gn --set radius=wide", print.ExitUsage, "--set radius=wide … a number"},
		{"train --set nothing", print.ExitUsage, "--set nothing … KEY=VALUE"},
		{"train --net 70-x", print.ExitUsage, "--net 70-x … 70-50"},
		{"train --set skip=some", print.ExitUsage, "--set skip=some … direct"},
		{"train --set tape-memory=lots", print.ExitUsage, "--set tape-memory=lots … 512M"},
		{"train --set experts=five", print.ExitUsage, "--set experts=five … 5x16"},
		{"train --set experts=5x16", print.ExitUsage, "--set experts=5 … --set gate"},
		{"train --set experts=5x16 --set gate=hue --data sine", print.ExitUsage, "--set gate=hue: expected one of x"},
		{"train --set gate=hue", print.ExitUsage, "--set gate=hue … --set experts"},
		{"train --set experts=2x4 --set gate=1 --set gates=maybe", print.ExitUsage, "--set gates=maybe … descent or joint or fixed"},
		{"train --set experts=2x4 --set gate=1 --net 5", print.ExitUsage, "--net … --set experts"},
		{"train --committee 0 --epochs -1", print.ExitUsage, "--epochs -1"},
		{"train --committee -2", print.ExitUsage, "--committee -2: expected a whole number"},
		{"train --set blocks=-2", print.ExitUsage, "--set blocks=-2: expected"},
		{"train --set spectrum-rows=few", print.ExitUsage, "--set spectrum-rows=few … all"},
		{"train --set spectrum-method=magic", print.ExitUsage, "--set spectrum-method=magic … lanczos or power"},
		{"train --set spectrum-of=fisher", print.ExitUsage, "--set spectrum-of=fisher … hessian or gauss-newton"},
		{"train --density=maybe", print.ExitUsage, "--density maybe: expected true or false"},
		{"train --epochs many", print.ExitUsage, "--epochs many: expected a whole number"},
		{"train --seed -1", print.ExitUsage, "--seed -1: expected a whole number ≥ 0"},
		{"train --until error<=low", print.ExitUsage, "--until error<=low: expected terms"},
		{"train --data spirals --until error<=5", print.ExitUsage, "--until 5: expected a fraction … 0.05 for 5 %"},
		{"train --data spirals --until error<=500", print.ExitUsage, "--until 500: expected a fraction … as in 0.05"},
		{"tune --data spirals --until error<=1", print.ExitUsage, "--until 1: expected a fraction"},
		{"tune --budget 0s", print.ExitUsage, "--budget 0s: expected … --trials"},
		{"train --record nowhere/runs.db", print.ExitUsage, "--record nowhere/runs.db: expected … nowhere is not"},
		{"tune --record nowhere/runs.db", print.ExitUsage, "--record nowhere/runs.db: expected … nowhere is not"},
		{"runs --record nowhere/runs.db", print.ExitUsage, "--record nowhere/runs.db: expected … nowhere is not"},
		{"train --until 5", print.ExitUsage, "--until 5: expected terms"},
		{"train --threads 1000000", print.ExitUsage, "--threads 1000000: expected"},
		{"train --spectrum 0", print.ExitUsage, "--spectrum 0: expected a whole number ≥ 1"},
		{"train --net " + graph + " --act relu", print.ExitUsage, "--act relu … --net"},
		{"train --data spirals --net " + badGraph, 1, "bad.toml:1:3 … expected"},
		{"train --data spirals --net /no/such.toml", 1, "--net … /no/such.toml"},
		{"train --data sine --set out=sigmoid --loss xent", print.ExitUsage, "--loss xent … mse"},
		{"train --data sine --set out=softmax", print.ExitUsage, "--set out … softmax over 1 node"},
		{"train --epochs -4", print.ExitUsage, "--epochs -4 … expected"},
		{"train --format xml", print.ExitUsage, "--format xml … jsonl"},
		{"train --data spirals --test 1.5", print.ExitUsage, "--test 1.5: expected"},
		{"train --data " + numbers + " --target z", print.ExitUsage, "--target z: expected"},
		{"train --data sine --loss xent", print.ExitUsage, "--loss xent … mse"},
		{"train --fast", print.ExitUsage, "--fast"},
		{"train now", print.ExitUsage, "now … expected no argument"},
		{"trian", print.ExitUsage, `"trian" … did you mean train`},
		{"train --config " + config, print.ExitUsage, `run.toml:2 … "speed"`},
		{"train --config " + torn, print.ExitUsage, "torn.toml:1"},
		{"train --config " + list, print.ExitUsage, "list.toml:2 … net … expected"},
		{"train --config " + words, print.ExitUsage, "words.toml:1 … epochs = two … a whole number"},
		{"train --config /no/such.toml", 1, "/no/such.toml"},
		{"optimizers magic", print.ExitUsage, `"magic" … expected one of`},
		{"optimizers adam sgd", print.ExitUsage, "newtop optimizers … expected one name"},
		{"data show lettres", print.ExitUsage, `"lettres"`},
		{"data fetch letters", print.ExitUsage, "letters … generated"},
		{"data verify letter --data-dir " + t.TempDir(), 1, "letter-recognition.data is missing … newtop data fetch letter"},
		{"data fetch", print.ExitUsage, "expected one argument"},
		{"train --data sine --act identity --opt sgd --set rate=1e9 --epochs 30", print.ExitDiverged, "sgd diverged in epoch … smaller rate than 1e+09"},
		{"train --data spirals --opt sgd --set rate=1e6 --epochs 30", print.ExitDiverged, "sgd diverged in epoch … smaller rate"},
		{"train --data spirals --set out=tanh --opt sgd --set rate=1e6 --epochs 30", print.ExitDiverged, "sgd diverged in epoch … smaller rate"},
		{"train --data spirals --set out=sigmoid --opt sgd --set rate=1e6 --epochs 30", print.ExitDiverged, "sgd diverged in epoch … smaller rate"},
	} {
		refuses(t, c.code, c.want, strings.Fields(c.args)...)
	}
}

// What has no effect on the chosen method is said in a line, and the run goes on: it may be switched to one that has it.
func TestFlagsWithoutEffect(t *testing.T) {
	for args, want := range map[string]string{
		"train --batch 9":                  "newtop: warning: --batch has no effect on tr-newton, which has no batches\n",
		"--opt scg --batch 9":              "newtop: warning: --batch has no effect on scg, which has no batches\n",
		"train --opt adam --batch 9":       "",
		"train --opt tr-gn --set blocks=2": "",
		"tune --opt tr-gn --batch 9 --trials 1 --finals 0 --format json":         "newtop: warning: --batch has no effect on tr-gn, which has no batches\n",
		"tune --over opt=adam,scg --batch 9 --trials 1 --finals 0 --format json": "",
	} {
		_, errs, code := newtop(append(strings.Fields(args), "--data", "spirals", "--net", "2", "--epochs", "1", "--record", t.TempDir()+"/runs.db")...)
		if code != 0 || !strings.HasPrefix(errs, want) || want == "" && strings.Contains(errs, "no effect") {
			t.Errorf("newtop %s: exit %d, expected %q:\n%s", args, code, want, errs)
		}
	}
}

// A run that reaches a target RMSE above 1 is none of classes.
func TestTargetOfARegression(t *testing.T) {
	if out := succeed(t, "train", "--data", "sine", "--net", "2", "--epochs", "3", "--until", "error<=5"); !strings.Contains(out, "(target)") {
		t.Error(out)
	}
}

// decode returns the events of a run, each of which must be valid.
func decode(t *testing.T, out string) []event.Event {
	t.Helper()
	var events []event.Event
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		e, err := event.DecodeEvent([]byte(line))
		if err != nil || e == nil {
			t.Fatalf("%s: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

func epochs(events []event.Event) (out []event.EpochEvent) {
	for _, e := range events {
		if e, ok := e.(event.EpochEvent); ok {
			out = append(out, e)
		}
	}
	return out
}

func TestTrainPrintsEvents(t *testing.T) {
	out := succeed(t, "train", "--data", "spirals", "--opt", "tr-newton", "--epochs", "3", "--set", "spectrum-every=3", "--format", "jsonl")
	events := decode(t, out)
	if r, ok := events[0].(event.RunEvent); !ok || r.Data.Name != "spirals" || r.Optimizer != "tr-newton" || r.Model.Parameters == 0 || r.Settings["xi"] == nil {
		t.Errorf("opens with %+v", events[0])
	}
	if d, ok := events[len(events)-1].(event.DoneEvent); !ok || d.Reason != event.ReasonEpochs {
		t.Errorf("ends with %+v", events[len(events)-1])
	}
	if n := len(epochs(events)); n != 4 {
		t.Errorf("%d epoch events", n)
	}
}

func TestTrainPrintsText(t *testing.T) {
	for _, c := range []struct{ data, opt, want string }{
		{"spirals", "tr-gn", "\ntest rows: error "},
		{"sine", "adam", "\ntest rows: RMSE "},
	} {
		out, errs, code := newtop("train", "--data", c.data, "--opt", c.opt, "--epochs", "2", "--set", "spectrum-every=2")
		if code != 0 || strings.Count(out, "\n") != 7 || !strings.Contains(out, c.want) || !strings.Contains(errs, "weights") || !strings.Contains(out, "has an eigenvalue in each of") {
			t.Errorf("%s: exit %d\n%s%s", c.data, code, errs, out)
		}
	}
}

// losses returns what must not depend on anything but the seed, digit by digit.
func losses(t *testing.T, args ...string) string {
	t.Helper()
	var b strings.Builder
	for _, e := range epochs(decode(t, succeed(t, append([]string{"train", "--format", "jsonl"}, args...)...))) {
		fmt.Fprintln(&b, e.Loss, e.TestLoss, e.Error, e.TestError, e.StepNorm, e.GradientNorm)
	}
	return b.String()
}

func TestSameDigitsEveryTime(t *testing.T) {
	for _, opt := range []string{"tr-newton", "adam"} {
		args := []string{"--opt", opt, "--epochs", "2", "--seed", "5"}
		if opt == "adam" || !nightly.On() {
			args = append(args, "--data", "digits", "--net", "10")
		}
		first := losses(t, args...)
		if nightly.On() {
			if again := losses(t, args...); again != first {
				t.Errorf("%s: the second run gave\n%sthe first\n%s", opt, again, first)
			}
		}
		if one := losses(t, append(args, "--threads", "1")...); one != first {
			t.Errorf("%s: one thread gave\n%smany\n%s", opt, one, first)
		}
	}
}

func TestRealLetters(t *testing.T) {
	dir := filepath.Dir(shared(t, "letter-recognition.data"))
	nightly.Only(t, "trains to an error of 6.5 %, 9 s; TestPredictRealLetters reads the same rows")
	common := []string{"train", "--data", "letter", "--data-dir", dir, "--seed", "1", "--format", "jsonl", "--opt"}
	all := epochs(decode(t, succeed(t, append(common, "tr-gn", "--epochs", "40", "--until", "error<=0.065")...)))
	if last := all[len(all)-1]; !(last.TestError <= 0.065) {
		t.Errorf("tr-gn: test error %v after %d epochs: expected at most 0.065", last.TestError, last.Epoch)
	}
	negative := 0
	for _, e := range epochs(decode(t, succeed(t, append(common, "tr-newton", "--epochs", "4")...))) {
		for _, s := range e.Inner {
			if s.Stop.String() == "negative-curvature" {
				negative++
			}
		}
	}
	if negative == 0 {
		t.Error("tr-newton met no negative curvature in four epochs")
	}
}

func TestConfigurationFile(t *testing.T) {
	path := write(t, "run.toml", `
data = "spirals"
opt = "adam"
epochs = 7
seed = 3
[set]
rate = 0.01
beta1 = 0.8
`)
	run := decode(t, succeed(t, "train", "--config", path, "--epochs", "1", "--set", "beta1=0.7", "--format", "jsonl"))[0].(event.RunEvent)
	if run.Data.Name != "spirals" || run.Optimizer != "adam" || run.Epochs != 1 || run.Seed != 3 || run.Settings["rate"] != 0.01 || run.Settings["beta1"] != 0.7 {
		t.Errorf("the file and the command line made %+v", run)
	}
	_, errs, code := newtop("train", "--config", write(t, "long.toml", strings.Repeat("#", 1<<20+1)))
	if code != print.ExitUsage || !strings.Contains(errs, "more than 1048576 bytes") {
		t.Errorf("a long one: exit %d\n%s", code, errs)
	}
}

func TestGraphFile(t *testing.T) {
	path := write(t, "net.toml", readFile(t, filepath.Join("testdata", "graph.toml")))
	run := decode(t, succeed(t, "train", "--data", "spirals", "--net", path, "--epochs", "1", "--format", "jsonl"))[0].(event.RunEvent)
	if len(run.Model.Layers) != 4 || len(run.Model.Connections) != 5 {
		t.Errorf("built %+v", run.Model)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOwnTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("x;y;colour\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d;%d;%s\n", i%10, i/10, []string{"red", "blue"}[i%10/5])
	}
	path := write(t, "table.csv", b.String())
	all := epochs(decode(t, succeed(t, "train", "--data", path, "--target", "colour", "--epochs", "20", "--format", "jsonl")))
	if last := all[len(all)-1]; last.TestError != 0 {
		t.Errorf("a separable table ended at test error %v", last.TestError)
	}
}

func TestLists(t *testing.T) {
	out := succeed(t, "optimizers")
	for _, i := range methods.All() {
		if !strings.Contains(out, i.Name+" ") {
			t.Errorf("newtop optimizers lacks %s", i.Name)
		}
		if detail := succeed(t, "optimizers", i.Name); !strings.Contains(detail, i.Primary) || !strings.Contains(detail, i.Paper) {
			t.Errorf("newtop optimizers %s says\n%s", i.Name, detail)
		}
	}
	out = succeed(t, "data")
	for _, i := range datasets.List() {
		if !strings.Contains(out, i.Name+" ") {
			t.Errorf("newtop data lacks %s", i.Name)
		}
	}
	if out := succeed(t, "data", "show", "letters"); !strings.Contains(out, "16000 training rows, 4000 test rows") || !strings.Contains(out, "x-box") {
		t.Errorf("newtop data show letters says\n%s", out)
	}
	if out := succeed(t, "version"); !strings.HasPrefix(out, "newtop ") || !strings.Contains(out, "go1.") {
		t.Errorf("newtop version says %q", out)
	}
}

// TestCommitteesAndMixturesInText reads what the lines of a run say of them.
func TestCommitteesAndMixturesInText(t *testing.T) {
	for args, want := range map[string][]string{
		"--data spirals --net 5 --committee 3 --epochs 2":                          {"members %"},
		"--data sine --net 5 --committee 2 --epochs 2":                             {"members"},
		"--data sine --set experts=3x4 --set gate=x --epochs 2 --opt tr-gn-jacobi": {"3 × 1-4-1"},
		"--data sine --net 3 --epochs 9 --spectrum 1 --set spectrum-every=9 --density --set spectrum-rows=all --set spectrum-of=gauss-newton": {
			"the Gauss–Newton matrix over 400 rows (all) has an eigenvalue in each of", "trace"},
	} {
		out, errs, code := newtop(append([]string{"train"}, strings.Fields(args)...)...)
		if code != 0 {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
		for _, w := range want {
			if !strings.Contains(out+errs, w) {
				t.Errorf("%s: lacks %q:\n%s%s", args, w, out, errs)
			}
		}
	}
}
