package cli

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"newtop/internal/cli/print"
)

// old is when a file was written that is no longer.
var old = time.Now().Add(-time.Hour)

// TestWatchOnce prints what each kind of log of lines has.
func TestWatchOnce(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"metrics.csv", "epoch,step,train_loss,val_loss\n0,49,0.5,\n0,99,0.25,\n0,99,,0.75\n", "training loss 0.25 99 0.25 99 0.5 49 2"},
		{"log.jsonl", `{"step":1,"loss":0.5,"val":{"loss":0.7}}` + "\n" + `{"step":2,"loss":NaN}` + "\n", "training loss NaN 2 0.5 1 0.5 1 2 1"},
		{"train.log", "starting\nTrain Epoch: 1 [0/60000 (0%)]\tLoss: 2.297087\nTrain Epoch: 1 [640/60000 (1%)]\tLoss: 1.5\n", "training loss 1.5 640 1.5 640 2.29709 0 2"},
		{"trainer_state.json", `{"log_history":[{"epoch":0.5,"step":10,"loss":2.0},{"epoch":1.0,"step":20,"eval_loss":1.5}],"max_steps":20}`, "validation loss 1.5 20 1.5 20 1.5 20 1"},
		{"run.jsonl", `{"type":"epoch","epoch":1,"loss":3,"lr":0.1}` + "\n" + `{"type":"done","reason":"epochs","epochs":1}` + "\n", "training loss 3 1 3 1 3 1 1"},
	} {
		out := succeed(t, "watch", "--once", write(t, c.name, c.text))
		if words := strings.Join(strings.Fields(out), " "); !strings.Contains(words, c.want) {
			t.Errorf("%s: printed\n%s\nexpected %s", c.name, out, c.want)
		}
	}
}

// TestWatchSeveralOnce prints one after the other.
func TestWatchSeveralOnce(t *testing.T) {
	a, b := write(t, "a.csv", "step,loss\n1,2\n2,1\n"), write(t, "b.jsonl", `{"step":1,"loss":3}`+"\n")
	if out := succeed(t, "watch", "--once", a, b); strings.Count(out, "training loss") != 2 || !strings.Contains(out, "a.csv: 2 steps") || !strings.Contains(out, "b.jsonl: 1 step\n") {
		t.Errorf("printed\n%s", out)
	}
	refuses(t, print.ExitUsage, "--once", "watch", a, b)
}

// TestWatchUntil ends when the condition is met, and with exit 1 when the run ends before.
func TestWatchUntil(t *testing.T) {
	log := write(t, "x.jsonl", `{"step":1,"val_loss":0.5}`+"\n"+`{"step":2,"val_loss":0.05}`+"\n"+`{"step":3,"val_loss":0.7}`+"\n"+`{"type":"done","reason":"epochs","epochs":3}`+"\n")
	if _, errs, code := newtop("watch", log, "--until", "val_loss<0.1"); code != 0 || !strings.Contains(errs, "val_loss < 0.1 at step 2") {
		t.Errorf("exit %d: %s", code, errs)
	}
	refuses(t, print.ExitFailed, "ended at step 3 before val_loss < 0.01", "watch", log, "--until", "val_loss<0.01")
	refuses(t, print.ExitUsage, "--until", "watch", log, "--until", "val_loss")
	open, db := write(t, "y.jsonl", `{"epoch":1,"loss":0.5}`+"\n"+`{"epoch":2,"loss":0.05}`+"\n"), filepath.Join(t.TempDir(), "runs.db")
	for until, state := range map[string]string{"loss<0.1": "target", "epoch>=2": "epochs"} {
		succeed(t, "watch", open, "--until", until, "--save", state, "--record", db)
		if out := succeed(t, "runs", "--state", state, "--record", db); !strings.Contains(out, state) || strings.Count(out, "\n") != 2 {
			t.Errorf("--until %q: %s", until, out)
		}
	}
}

// TestWatchAProgram shows its numbers and ends as it ended.
func TestWatchAProgram(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	out, errs, code := newtop("watch", "--", "sh", "-c", `for i in 1 2 3; do echo "step $i loss 0.$i"; done; echo '{"step":4,"loss":9}' >> $NEWTOP_LOG; sleep 0.1; exit 7`)
	if code != 7 || !strings.Contains(out, "0.3") || !strings.Contains(out, "9") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if _, errs, code := newtop("watch", "--", "sh", "-c", "kill -TERM $$"); code != 128+15 {
		t.Errorf("exit %d: %s", code, errs)
	}
	refuses(t, print.ExitFailed, "no-such-program", "watch", "--", "no-such-program")
	if _, errs, code := newtop("watch", "--until", "loss<0.2", "--", "sh", "-c", "echo step 1 loss 0.1; sleep 60"); code != 0 || !strings.Contains(errs, "loss < 0.2") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestWatchEnds: the end of a pipe is the run's, what comes through one is news, and a program's end is not put off by a
// child that has its terminal.
func TestWatchEnds(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	dir := t.TempDir()
	calls := func(args ...string) string {
		t.Helper()
		out := filepath.Join(dir, "calls")
		os.Remove(out)
		cmd := process(t, append([]string{"watch", "-", "--alert", "cmd=echo $NEWTOP_KIND >> '" + out + "'"}, args...)...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(in, "epoch 1 loss 1\nepoch 2 loss nan\n")
		in.Close()
		if text, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(text), "2 epochs (finished)") {
			t.Errorf("%v: %s", err, text)
		}
		text, _ := os.ReadFile(out)
		return string(text)
	}
	if got := calls(); got != "nan\nend\n" {
		t.Errorf("called for %q", got)
	}
	if got := calls("--alert-on", "loss<2"); got != "condition\n" {
		t.Errorf("called for %q", got)
	}
	_, errs, code := newtop("watch", "--", "sh", "-c", `trap "" HUP; echo step 1 loss 0.1; sleep 600 & echo $! > "`+dir+`/child"`)
	if code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "child")); err == nil {
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			if child, err := os.FindProcess(pid); err == nil && child.Kill() != nil {
				t.Error("the child ended first")
			}
		}
	}
}

// TestWatchSaved records what is watched.
func TestWatchSaved(t *testing.T) {
	db := filepath.Join(t.TempDir(), "runs.db")
	log := write(t, "x.csv", "step,loss,val_loss,other\n1,0.5,,3\n2,nan,0.75,4\n")
	succeed(t, "watch", "--once", "--record", db, "--save", "copy", log)
	if out := succeed(t, "runs", "list", "--record", db); !strings.Contains(out, "copy") {
		t.Errorf("listed\n%s", out)
	}
	out := succeed(t, "runs", "export", "copy", "--record", db, "--format", "jsonl")
	for _, want := range []string{`"validation_loss":0.75`, `"loss":"NaN"`, `"key":"other","value":4`} {
		if !strings.Contains(out, want) {
			t.Errorf("exported\n%s\nexpected %s", out, want)
		}
	}
}

// TestWatchSavedSteps: a program that prints before its first step is recorded once, and counts steps in its record.
func TestWatchSavedSteps(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	db := filepath.Join(t.TempDir(), "runs.db")
	if _, errs, code := newtop("watch", "--record", db, "--save", "copy", "--", "sh", "-c", "echo hello; sleep 0.1; for i in 1 2 3; do echo step $i loss 0.$i; done"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	out := succeed(t, "watch", "--record", db, "--format", "text", "copy")
	if !strings.HasPrefix(out, " step ") || !strings.Contains(out, ": 3 steps") {
		t.Errorf("printed\n%s", out)
	}
	if out := succeed(t, "runs", "show", "--record", db, "last"); !strings.Contains(out, "3 steps, ") || !strings.Contains(out, " copy\n") {
		t.Errorf("showed\n%s", out)
	}
}

// TestWatchOnceUntil: a condition is judged by what a log has now.
func TestWatchOnceUntil(t *testing.T) {
	log := write(t, "log.csv", "epoch,loss\n1,0.5\n2,0.3\n")
	succeed(t, "watch", "--once", "--until", "loss<0.4", log)
	refuses(t, print.ExitFailed, "by epoch 2 not yet loss < 0.1", "watch", "--once", "--until", "loss<0.1", log)
}

// TestWatchADirectory finds what lies there.
func TestWatchADirectory(t *testing.T) {
	dir := t.TempDir()
	if _, errs, code := newtop("watch", "--once", dir); code != print.ExitFailed || !strings.Contains(errs, "nothing to watch") {
		t.Errorf("exit %d: %s", code, errs)
	}
	sub := filepath.Join(dir, "lightning_logs", "version_0")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sub, "metrics.csv"), []byte("epoch,step,train_loss\n0,9,0.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := succeed(t, "watch", "--once", dir); !strings.Contains(out, "training loss") {
		t.Errorf("printed\n%s", out)
	}
	other := filepath.Join(dir, "lightning_logs", "version_1")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "metrics.csv"), []byte("epoch,step,train_loss\n0,9,0.25\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := succeed(t, "watch", "--once", dir)
	for _, words := range []string{"lightning_logs/version_0/metrics.csv: 1 step", "lightning_logs/version_1/metrics.csv: 1 step", "0.25", "0.5"} {
		if !strings.Contains(out, words) {
			t.Errorf("expected both runs, and %q: printed\n%s", words, out)
		}
	}
	var names []string
	for dec := json.NewDecoder(strings.NewReader(succeed(t, "watch", "--once", "--format", "json", dir))); dec.More(); {
		var now print.Now
		if err := dec.Decode(&now); err != nil {
			t.Fatal(err)
		}
		names = append(names, now.Name)
		if now.State != "live" || now.ExitCode != nil || now.Written == nil || len(now.Metrics) != 2 || now.Metrics[0].Name != "loss" ||
			now.Metrics[0].Latest.X != 9 || now.Metrics[0].Values != 1 {
			t.Errorf("%+v", now)
		}
	}
	if slices.Sort(names); strings.Join(names, " ") != "lightning_logs/version_0/metrics.csv lightning_logs/version_1/metrics.csv" {
		t.Errorf("%q", names)
	}
	refuses(t, print.ExitUsage, "--once", "watch", "--format", "json", dir)
	if out := succeed(t, "watch", "--once", "--format", "jsonl", dir); strings.Count(out, `"type":"epoch"`) != 2 {
		t.Errorf("printed\n%s", out)
	}
}

// TestWatchRefusals: what can't be read or done is one line.
func TestWatchRefusals(t *testing.T) {
	binary := write(t, "x.bin", "\x7fELF\x02\x01\x01\x00\x00")
	prose := write(t, "x.txt", strings.Repeat("words\n", 200))
	if err := os.Chtimes(prose, old, old); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"watch"}, print.ExitUsage, "expected a recorded run, a file"},
		{[]string{"watch", "--"}, print.ExitUsage, "expected a program"},
		{[]string{"watch", binary}, print.ExitFailed, "is not text"},
		{[]string{"watch", prose}, print.ExitFailed, "no metric in 200 lines"},
		{[]string{"watch", "/dev/zero"}, print.ExitFailed, "is not text"},
		{[]string{"watch", "--alert", "siren", prose}, print.ExitUsage, "--alert"},
		{[]string{"watch", "--alert-on", "nan", prose}, print.ExitUsage, "--alert"},
		{[]string{"watch", "--system"}, print.ExitUsage, "expected a terminal"},
	} {
		refuses(t, c.code, c.want, c.args...)
	}
}
