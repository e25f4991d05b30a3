package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"newtop/internal/cli/clitest"
	"newtop/internal/cli/print"
)

// foundSearch is of a search in JSON what scripts read.
type foundSearch struct {
	Name, Command    string
	Shard, Of, Count int
	Shards           []int
	Over             []string
	Trials           []struct {
		Final   bool
		Choices map[string]string
	}
}

// quickSearch are the flags of a search of a moment.
func quickSearch(file string) []string {
	return []string{"tune", "--data", "sine", "--net", "3", "--record", file, "--trials", "4", "--trial", "20", "--finals", "1", "--parallel", "1",
		"--over", "opt=adam,scg", "--over", "adam.rate=1e-3..1e-1:log"}
}

// TestTune searches from the flags to the command line of the best, and trains by that.
func TestTune(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	out, errs, code := newtop(append(quickSearch(file), "--name", "first")...)
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, want := range []string{"trial state", "opt=adam rate=0.", "VALIDATION RMSE  TEST RMSE", ", which was not used to choose", "first: ", "the best is trained by\nnewtop train --data sine --validation 0.15 --net 3 --opt "} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	if !strings.Contains(errs, "sine: validation RMSE, at most 4 trials") || !strings.Contains(errs, "newtop tune show first --record "+file) {
		t.Errorf("messages:\n%s", errs)
	}
	alone := succeed(t, "train", "--data", "sine", "--net", "none", "--opt", "lbfgs", "--validation", "0.15", "--set", "patience=30", "--epochs", "1000", "--record", "off")
	_, alone, _ = strings.Cut(alone, "test rows: RMSE ")
	alone, _, _ = strings.Cut(alone, ",")
	if alone == "" || !regexp.MustCompile(`a linear model \(--net none --opt lbfgs\) (has a|is no worse:) test RMSE of `+alone+` against 0\.\d+\n`).MatchString(errs) {
		t.Errorf("a linear model has %s by itself; messages:\n%s", alone, errs)
	}
	if _, errs, _ := newtop(append(quickSearch(file), "--by", "loss")...); !strings.Contains(errs, "lbfgs) has a validation loss of 0.") {
		t.Errorf("by the loss no linear model is told:\n%s", errs)
	}
	command := strings.TrimSuffix(out[strings.LastIndex(strings.TrimSuffix(out, "\n"), "\n")+1:], "\n")
	if again := succeed(t, "tune", "show", "first", "--top", "1", "--record", file); again != command+"\n" {
		t.Errorf("newtop tune show --top 1 says %q, the search %q", again, command)
	}
	args := append(strings.Fields(command)[1:], "--record", "off")
	if text := succeed(t, args...); !strings.Contains(text, "test RMSE") {
		t.Errorf("%s says\n%s", command, text)
	}
	if list := succeed(t, "tune", "list", "--record", file); !strings.Contains(list, "first  ") || !strings.Contains(list, "done") {
		t.Errorf("the list is\n%s", list)
	}
	runs, errs, _ := newtop("runs", "--record", file)
	if strings.Contains(runs, "first.") || !strings.Contains(errs, "--trials") {
		t.Errorf("the runs without trials are\n%s%s", runs, errs)
	}
	for _, all := range [][]string{{"runs", "--trials"}, {"runs", "--text", "first."}} {
		if runs := succeed(t, append(all, "--record", file)...); strings.Count(runs, "first.") < 5 {
			t.Errorf("%v:\n%s", all, runs)
		}
	}
	refuses(t, print.ExitUsage, "first", "tune", "--name", "first", "--data", "sine", "--trials", "1", "--record", file)
	refuses(t, print.ExitUsage, "--yes", "tune", "rm", "first", "--record", file)
	succeed(t, "tune", "rm", "first", "-y", "--record", file)
	if runs := succeed(t, "runs", "--trials", "--record", file); strings.Contains(runs, "first") {
		t.Errorf("the search is removed, and there are\n%s", runs)
	}
}

func TestTuneForScripts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	out := succeed(t, append(quickSearch(file), "--format", "jsonl")...)
	if types := clitest.Types(t, out); types["trial"] < 4 || types["search"] != 1 {
		t.Errorf("%v in\n%s", types, out)
	}
	var b foundSearch
	if err := json.Unmarshal([]byte(succeed(t, append(quickSearch(file), "--format", "json")...)), &b); err != nil || len(b.Trials) != b.Count || b.Command == "" {
		t.Errorf("%+v, %v", b, err)
	}
	if out := succeed(t, append(quickSearch(file), "--top", "1")...); out != b.Command+"\n" {
		t.Errorf("with --top 1 it prints %q, expected %q", out, b.Command)
	}
}

// TestResumeOfADoneSearch prints what came of one that has nothing left to do.
func TestResumeOfADoneSearch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	succeed(t, append(quickSearch(file), "--name", "first")...)
	resume := []string{"tune", "--resume", "first", "--record", file}
	out, errs, code := newtop(append(resume, "--format", "json")...)
	var b foundSearch
	if err := json.Unmarshal([]byte(out), &b); code != 0 || err != nil || b.Name != "first" || b.Count != 5 ||
		!strings.Contains(errs, "nothing left to do: search first: it is done: expected a larger --budget, --most") {
		t.Errorf("exit %d, %v\n%s%s", code, err, out, errs)
	}
	out = succeed(t, append(resume, "--seeds", "2", "--format", "json")...)
	if err := json.Unmarshal([]byte(out), &b); err != nil || b.Count != 6 {
		t.Errorf("with another seed %d trials, %v", b.Count, err)
	}
}

// TestTuneFromAFile takes flags and the space from a file.
func TestTuneFromAFile(t *testing.T) {
	file := write(t, "space.toml", `
data = "sine"
net = "3"
trials = 3
trial = 10
finals = 0
[over]
opt = ["adam", "sgd"]
rate = {low = 1e-3, high = 1e-1, log = true}
`)
	db := filepath.Join(filepath.Dir(file), "runs.db")
	var b foundSearch
	out := succeed(t, "tune", "--config", file, "--record", db, "--over", "opt=sgd", "--format", "json")
	if err := json.Unmarshal([]byte(out), &b); err != nil || b.Count != 3 || strings.Join(b.Over, " ") != "opt=sgd rate=0.001..0.1:log" {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := os.Stat(db); err != nil {
		t.Error(err)
	}
}

// TestTuneOfNothing wants one line that says why no trial worked.
func TestTuneOfNothing(t *testing.T) {
	out, errs, code := newtop("tune", "--data", "sine", "--act", "identity", "--opt", "sgd", "--over", "rate=1e8..1e9", "--trials", "2", "--record", filepath.Join(t.TempDir(), "runs.db"))
	if code != print.ExitFailed || !strings.Contains(out, "diverged") || !strings.Contains(errs, "none of 2 trials succeeded") || strings.Contains(out, "newtop train") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}
