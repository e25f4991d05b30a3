//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/internal/cli/print"
	"newtop/trainer/store"
)

// leave quits a screen and returns what is left behind in the terminal.
func (c *console) leave() string { return c.leaveWith(print.ExitDone) }

// leaveWith is leave with another exit code.
func (c *console) leaveWith(want int) string {
	c.t.Helper()
	c.press("q")
	code, output := c.exit()
	if code != want {
		c.t.Errorf("exit %d, expected %d", code, want)
	}
	restored(c.t, output)
	return output[strings.LastIndex(output, "\x1b[?1049l"):]
}

// epoch returns the epoch that the screen shows.
func (c *console) epoch() int {
	c.t.Helper()
	pattern := `\bepoch (\d+)\b`
	n, err := strconv.Atoi(regexp.MustCompile(pattern).FindStringSubmatch(c.until(pattern))[1])
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// beyond waits until the screen shows a later epoch.
func (c *console) beyond(epoch int) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); c.epoch() <= epoch; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("stayed at epoch %d:\n%s", epoch, c.text())
		}
	}
}

// TestWatchAFile replays a file of events, read-only.
func TestWatchAFile(t *testing.T) {
	file := write(t, "run.jsonl", succeed(t, "train", "--record", "off", "--data", "spirals", "--epochs", "6", "--format", "jsonl"))
	c := startConsole(t, 100, 30, nil, "watch", file)
	c.until(`─ loss +train`, `epoch 6 of 6`, `run\.jsonl`)
	c.press("1")
	c.until(`read-only`)
	c.press("?")
	c.until(`help · esc closes`)
	c.escape(`help · esc closes`)
	if left := c.leave(); !strings.Contains(left, "spirals: tr-newton, 6 epochs in ") {
		t.Errorf("left %q", left)
	}
}

// TestWatchANamedPipe prints what comes through it, from the first byte.
func TestWatchANamedPipe(t *testing.T) {
	events := succeed(t, "train", "--record", "off", "--data", "spirals", "--epochs", "2", "--format", "jsonl")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	go os.WriteFile(pipe, []byte(events), 0o600)
	if out := succeed(t, "watch", pipe, "--format", "jsonl"); out != events {
		t.Errorf("watched\n%s\nwritten\n%s", out, events)
	}
}

// TestWatchAPipe reads keys from the terminal while the events come from standard input.
func TestWatchAPipe(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to make a pipe")
	}
	c := startCommand(t, 100, 30, nil, exec.Command(shell, "-c", `"$0" train --data spirals --opt adam --epochs 0 --record off --format jsonl 2>/dev/null | "$0" watch -`, process(t).Path))
	c.until(`─ loss +train`, `standard input`)
	c.beyond(1)
	c.press("?")
	c.until(`help · esc closes`)
	c.escape(`help · esc closes`)
	c.press("z")
	c.until(`─ loss +train`)
	if left := c.leave(); !strings.Contains(left, "watched from standard input") {
		t.Errorf("left %q", left)
	}
}

// TestWatchAProgramOnTheScreen shows its console and its numbers, and ends as it ended; two q end one that goes on.
func TestWatchAProgramOnTheScreen(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	c := startConsole(t, 100, 36, nil, "watch", "--", "sh", "-c", `echo hello there; for i in 1 2 3; do echo "step $i loss 0.$i"; done; exit 3`)
	c.until(`─ loss +train 0\.3`, `console`, `step 3 loss 0\.3`, `failed: exit status 3`)
	c.leaveWith(3)
	c = startConsole(t, 100, 36, nil, "watch", "--", "sh", "-c", `trap 'exit 5' INT; i=0; while :; do i=$((i+1)); echo "step $i loss 0.$i"; sleep 0.05; done`)
	c.until(`─ loss +train 0\.4`)
	c.press("q")
	c.until(`q again ends the program`)
	c.leaveWith(5)
}

// TestWatchSeveralOnTheScreen lays logs over one another.
func TestWatchSeveralOnTheScreen(t *testing.T) {
	t.Parallel() // the directory is looked through again after five seconds
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(`{"step":1,"loss":0.5}`+"\n"+`{"step":2,"loss":0.25}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := startConsole(t, 100, 30, nil, "watch", dir)
	c.until(`2 runs`, `a\.jsonl`, `b\.jsonl`, `loss`)
	if err := os.WriteFile(filepath.Join(dir, "c.csv"), []byte("step,loss\n1,3\n2,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.until(`3 runs`, `c\.csv`)
	c.press("q")
	if code, output := c.exit(); code != 0 {
		t.Errorf("exit %d\n%s", code, output)
	}
}

// TestWatchALiveRun follows a run that another process trains and records, to its end.
func TestWatchALiveRun(t *testing.T) {
	t.Parallel()
	db := database(t)
	trainer := process(t, "train", "--data", "spirals", "--opt", "adam", "--epochs", "0", "--record", db, "--name", "live")
	start(t, trainer)
	until(t, db, "a run", func(*store.Run) bool { return true })
	c := startConsole(t, 100, 30, nil, "watch", "live", "--record", db)
	c.until(`live`, `epoch [1-9]\d*`)
	c.beyond(c.epoch())
	if err := trainer.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	trainer.Wait()
	c.until(`stopped`)
	if left := c.leave(); !strings.Contains(left, "(stopped)") {
		t.Errorf("left %q", left)
	}
}

// TestResumeOnTheScreen stops a run with q, and goes on with it behind the screen.
func TestResumeOnTheScreen(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := startConsole(t, 100, 30, nil, "--data", "spirals", "--opt", "adam", "--epochs", "0", "--record", db)
	c.until(`epoch [1-9]\d*`)
	left := c.leave()
	said := regexp.MustCompile(`recorded as (\S+): (newtop resume \S+ --record \S+)`).FindStringSubmatch(left)
	if said == nil {
		t.Fatalf("left %q", left)
	}
	before := lastEpoch(t, db)
	c = startConsole(t, 100, 30, nil, strings.Fields(said[2])[1:]...)
	c.beyond(before)
	if left := c.leave(); !strings.Contains(left, "recorded as "+said[1]) {
		t.Errorf("left %q", left)
	}
}

// TestUnrecordedOnTheScreen says on the screen that nothing is recorded, and goes on.
func TestUnrecordedOnTheScreen(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(write(t, "file", ""), "state")
	c := startConsole(t, 120, 30, []string{"NEWTOP_STATE_DIR=" + nowhere}, "--data", "spirals", "--epochs", "0")
	c.until(`not recorded: stat `+regexp.QuoteMeta(nowhere)[:12], `epoch [1-9]`)
	if left := c.leaveWith(print.ExitUnrecorded); strings.Contains(left, "recorded as") || !strings.Contains(left, "spirals: tr-newton") {
		t.Errorf("left %q", left)
	}
}

// TestCompareOnTheScreen shows recorded runs over one another.
func TestCompareOnTheScreen(t *testing.T) {
	db, ids := collection(t)
	c := startConsole(t, 120, 40, nil, "runs", "compare", ids[0], ids[1], "--record", db)
	c.until(`newton`, `adam`)
	c.press("?")
	c.until(`esc closes`)
	c.escape(`esc closes`)
	c.leave()
}

// TestRemoveAsks removes nothing unless the answer is yes.
func TestRemoveAsks(t *testing.T) {
	db, ids := collection(t)
	for _, answer := range []string{"n", "y"} {
		c := startConsole(t, 100, 30, nil, "runs", "rm", "newton", "--record", db)
		c.until(`newton spirals tr-newton, 4 epochs`, `Remove 1 run for good\? \[y/N\]`)
		c.press(answer + "\r")
		code, _ := c.exit()
		_, _, gone := newtop("runs", "show", ids[0], "--record", db)
		if answer == "y" && (code != 0 || gone == 0) || answer == "n" && (code != print.ExitFailed || gone != 0) {
			t.Errorf("%s: exit %d, then %d", answer, code, gone)
		}
	}
}

// TestWatchNothingYet waits for a file, and shows it when it comes.
func TestWatchNothingYet(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "later.jsonl")
	c := startConsole(t, 120, 30, nil, "watch", path)
	c.until(`nothing there yet`)
	if err := os.WriteFile(path, []byte("{\"step\":7,\"loss\":0.5}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.until(`step 7`)
	c.leave()
}

// TestWatchNothing says what is wrong with what can't be watched, without a screen left over.
func TestWatchNothing(t *testing.T) {
	c := startConsole(t, 80, 24, []string{"NEWTOP_STATE_DIR=" + t.TempDir()}, "watch", "nothing-of-that-name")
	code, output := c.exit()
	if code != print.ExitFailed || !strings.Contains(output, "nothing-of-that-name") {
		t.Errorf("exit %d\n%s", code, output)
	}
	restored(t, output)
	c = startConsole(t, 80, 24, nil, "watch", "-")
	if code, output := c.exit(); code != print.ExitUsage || !strings.Contains(output, "expected a log from a pipe") {
		t.Errorf("exit %d\n%s", code, output)
	}
}
