package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// figures writes what must not depend on when a run was stopped: every epoch of it that the events tell, in order.
func figures(events []event.Event) []string {
	var out []string
	for _, e := range epochs(events) {
		out = append(out, fmt.Sprint(e.Epoch, e.Optimizer, e.Loss, e.TestLoss, e.Error, e.TestError, e.GradientNorm, e.StepNorm, e.Radius, e.Rho,
			e.Gradients, e.Products, e.Losses, e.GradientEquivalents, e.Metrics, e.Inner))
	}
	return out
}

// same compares two runs epoch by epoch.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d epochs, expected %d", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: epoch %d is\n%s\nexpected\n%s", what, i, got[i], want[i])
		}
	}
}

// unstopped returns the figures of a run that was never stopped.
func unstopped(t *testing.T, args ...string) []string {
	t.Helper()
	return figures(decode(t, succeed(t, append([]string{"train", "--record", "off", "--format", "jsonl"}, args...)...)))
}

// A finished run goes on with a higher limit, to the digits of one that had it from the start, and keeps the limit.
func TestResumeWithAHigherLimit(t *testing.T) {
	args := []string{"--data", "spirals", "--opt", "tr-newton", "--net", "9"}
	db := database(t)
	id := recordedRun(t, db, append(args, "--epochs", "3")...)
	out, errs, code := newtop("resume", "last", "--epochs", "5", "--record", db)
	if code != 0 || !strings.Contains(errs, "resumed after epoch 3\n") || !strings.HasSuffix(errs, "--record "+format.Quote(db)+"\n") || !strings.Contains(out, "\n    5 ") {
		t.Fatalf("exit %d\n%s%s", code, errs, out)
	}
	rest := decode(t, succeed(t, "resume", id, "--epochs", "8", "--format", "jsonl", "--record", db))
	want := unstopped(t, append(args, "--epochs", "8")...)
	same(t, "printed", figures(rest), want[6:])
	same(t, "recorded", figures(decode(t, recordedEvents(t, db, id))), want)
	refuses(t, print.ExitUsage, "has reached its 8 epochs: expected --epochs above 8", "resume", id, "--record", db)
	if run := rest[0].(event.RunEvent); run.ID != id {
		t.Errorf("went on as %s, expected %s", run.ID, id)
	}
}

// process starts the program as one of its own.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asNewtop+"=1")
	return cmd
}

// afterIn is a process that a shell starts after a command of its own.
func afterIn(t *testing.T, first string, args ...string) *exec.Cmd {
	t.Helper()
	program := process(t)
	cmd := exec.Command("sh", append([]string{"-c", first + ` && exec "$0" "$@"`, program.Path}, args...)...)
	cmd.Env = program.Env
	return cmd
}

// start starts a process, which ends with the test at the latest.
func start(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// lastEpoch is that of the newest run of a store, 0 while there is none.
func lastEpoch(t *testing.T, db string) int {
	t.Helper()
	if r := newest(t, db); r != nil && r.Last != nil {
		return r.Last.Epoch
	}
	return 0
}

// furtherThan waits until the newest run is three epochs beyond one, and under way.
func furtherThan(t *testing.T, db string, epoch int) {
	t.Helper()
	until(t, db, "epochs", func(r *store.Run) bool { return r.State == store.Running && r.Last != nil && r.Last.Epoch >= epoch+3 })
}

// newest returns the newest run of a store, nil while there is none.
func newest(t *testing.T, db string) *store.Run {
	t.Helper()
	s, err := store.Open(db, store.Options{ReadOnly: true})
	if err != nil {
		return nil
	}
	defer s.Close()
	r, err := s.Find(t.Context(), "last")
	if err != nil {
		return nil
	}
	return r
}

// patience is how long tests wait for another process.
const patience = time.Minute

// until waits for the newest run to be as it should.
func until(t *testing.T, db, what string, is func(*store.Run) bool) *store.Run {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if r := newest(t, db); r != nil && is(r) {
			return r
		}
	}
	t.Fatalf("waited in vain for %s", what)
	return nil
}

// killed starts a process and kills it without warning when it has recorded a few epochs more. It returns the run.
func killed(t *testing.T, db string, args ...string) *store.Run {
	t.Helper()
	before := lastEpoch(t, db)
	cmd := start(t, process(t, args...))
	furtherThan(t, db, before)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	r := newest(t, db)
	if r == nil || r.State != store.Interrupted {
		t.Fatalf("after the kill the run is %+v", r)
	}
	return r
}

// What is left of a killed run is printed, and why there is no more.
func TestWatchAnInterruptedRun(t *testing.T) {
	db := database(t)
	r := killed(t, db, "train", "--data", "spirals", "--opt", "adam", "--epochs", "0", "--record", db)
	out, errs, code := newtop("watch", "last", "--record", db)
	if code != 0 || !strings.Contains(out, fmt.Sprintf("\n%5d ", r.Last.Epoch)) || !strings.Contains(errs, "is gone") {
		t.Errorf("exit %d\n%s%s", code, errs, out)
	}
}

// TestKillAndResume kills runs without warning, twice each, and has them go on to the digits of a run that was never
// stopped.
func TestKillAndResume(t *testing.T) {
	for _, args := range [][]string{
		{"--opt", "tr-newton", "--data", "spirals", "--net", "12-12"},
		{"--opt", "adam", "--data", "digits", "--net", "12"},
	}[:nightly.Of(2, 1)] {
		t.Run(args[1], func(t *testing.T) {
			db := database(t)
			common := []string{"--epochs", "0", "--record", db}
			first := killed(t, db, append(append([]string{"train"}, common...), args...)...)
			second := killed(t, db, append([]string{"resume", "last"}, common...)...)
			if second.ID != first.ID {
				t.Errorf("went on as %s, expected %s", second.ID, first.ID)
			}
			limit := fmt.Sprint(second.Last.Epoch + 2)
			succeed(t, "resume", print.ShortID(first.ID), "--threads", "1", "--epochs", limit, "--record", db)
			same(t, "recorded", figures(decode(t, recordedEvents(t, db, first.ID))), unstopped(t, append(args, "--epochs", limit)...))
		})
	}
}

// A run that is being trained can be watched from another process, but neither resumed nor removed.
func TestRunOfAnotherProcess(t *testing.T) {
	db := database(t)
	cmd := start(t, process(t, "train", "--data", "spirals", "--opt", "adam", "--epochs", "0", "--record", db))
	until(t, db, "a run", func(*store.Run) bool { return true })
	host, _ := os.Hostname()
	for _, args := range []string{"resume last", "runs rm last -y"} {
		_, errs, code := newtop(append(strings.Fields(args), "--record", db)...)
		if code != print.ExitFailed || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, host) || !strings.Contains(errs, fmt.Sprint(cmd.Process.Pid)) {
			t.Errorf("%s: exit %d, %q", args, code, errs)
		}
	}
	if out := succeed(t, "runs", "--state", "running", "--record", db); len(lines(out)) != 2 {
		t.Errorf("running are\n%s", out)
	}
	watched := make(chan string, 1)
	go func() {
		out, _, _ := newtop("watch", "last", "--record", db)
		watched <- out
	}()
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != print.ExitInterrupted {
		t.Errorf("exit %d", code)
	}
	select {
	case out := <-watched:
		if !strings.Contains(out, "(stopped)") {
			t.Errorf("watched\n%s", out)
		}
	case <-time.After(patience):
		t.Fatal("the watcher did not see the end")
	}
}

// A run whose data have changed is not gone on with, and stays as it was.
func TestResumeWithOtherData(t *testing.T) {
	db := database(t)
	table := write(t, "numbers.csv", strings.ReplaceAll(numbersWithAWord(), "wide", "3"))
	id := recordedRun(t, db, "--data", table, "--epochs", "2", "--net", "3")
	before := recordedEvents(t, db, id)
	if err := os.WriteFile(table, []byte(strings.ReplaceAll(numbersWithAWord(), "wide", "4")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := newtop("resume", "last", "--epochs", "4", "--record", db)
	if code != print.ExitFailed || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "data") || !strings.Contains(errs, "expected") {
		t.Errorf("exit %d\n%s%s", code, errs, out)
	}
	if after := recordedEvents(t, db, id); after != before {
		t.Errorf("the record is now\n%s\nit was\n%s", after, before)
	}
	inStore(t, db, func(s *store.Store) {
		if r, err := s.Find(t.Context(), id); err != nil || r.State != "epochs" || r.Config.Epochs != 2 {
			t.Errorf("the run is %+v, %v", r, err)
		}
	})
}

// A run of a table goes on from another directory than it began in.
func TestResumeFromElsewhere(t *testing.T) {
	db := database(t)
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("numbers.csv", []byte(strings.ReplaceAll(numbersWithAWord(), "wide", "3")), 0o600); err != nil {
		t.Fatal(err)
	}
	recordedRun(t, db, "--data", "numbers.csv", "--epochs", "2", "--net", "5", "--save", "model.onnx")
	t.Chdir(t.TempDir())
	os.Remove(dir + "/model.onnx")
	if out := succeed(t, "resume", "last", "--epochs", "4", "--record", db); !strings.Contains(out, "\n    4 ") {
		t.Errorf("went on to\n%s", out)
	}
	if _, err := os.Stat(dir + "/model.onnx"); err != nil {
		t.Error(err)
	}
}

// Going on with a run makes no store where there is none.
func TestResumeWithoutAStore(t *testing.T) {
	db := filepath.Join(t.TempDir(), "none.db")
	if _, errs, code := newtop("resume", "last", "--record", db); code == 0 || !strings.Contains(errs, db) {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat(db); err == nil {
		t.Error("there is a store now")
	}
}
