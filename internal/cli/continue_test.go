//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/trainer/store"
)

// interrupted starts a command, sends it a signal when it has recorded some epochs more, and returns what it then says.
func interrupted(t *testing.T, db string, signal syscall.Signal, args ...string) (errs string, code int) {
	t.Helper()
	before := lastEpoch(t, db)
	cmd := process(t, args...)
	var text strings.Builder
	cmd.Stderr = &text
	start(t, cmd)
	furtherThan(t, db, before)
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	return text.String(), cmd.ProcessState.ExitCode()
}

// One line in a loop begins a run, goes on with it after USR1 and after a kill, to the digits of a run that was never
// stopped, and ends the loop once nothing is left to do.
func TestTrainContinues(t *testing.T) {
	db := database(t)
	run := []string{"--data", "spirals", "--opt", "adam", "--net", "9"}
	line := func(epochs int) []string {
		return append([]string{"train", "--name", "nightly", "--continue", "--epochs", fmt.Sprint(epochs), "--record", db}, run...)
	}
	errs, code := interrupted(t, db, syscall.SIGUSR1, line(0)...)
	if code != print.ExitInterrupted || !strings.HasSuffix(errs, "newtop: interrupted; to continue: newtop resume nightly --record "+format.Quote(db)+"\n") {
		t.Errorf("after USR1: exit %d\n%s", code, errs)
	}
	stopped := newest(t, db)
	inStore(t, db, func(s *store.Store) {
		if c, _, err := s.Checkpoint(t.Context(), stopped.ID); err != nil || c == nil {
			t.Errorf("after USR1 there is no checkpoint: %v", err)
		}
	})
	killed(t, db, line(0)...)
	limit := newest(t, db).Last.Epoch + 2
	succeed(t, line(limit)...)
	last := newest(t, db)
	if last.ID != stopped.ID {
		t.Errorf("went on as %s, expected %s", last.ID, stopped.ID)
	}
	same(t, "recorded", figures(decode(t, recordedEvents(t, db, last.ID))), unstopped(t, append(run, "--epochs", fmt.Sprint(limit))...))
	for _, epochs := range []int{limit, limit - 1} {
		out, errs, code := newtop(line(epochs)...)
		if code != print.ExitDone || out != "" || errs != fmt.Sprintf("run %s has reached its %d epochs: nothing is left to do\n", last.ID, limit) {
			t.Errorf("with --epochs %d: exit %d\n%s%s", epochs, code, errs, out)
		}
	}
	refuses(t, print.ExitUsage, "started with other flags", append(line(limit), "--seed", "2")...)
	refuses(t, print.ExitUsage, "--name NAME", "train", "--continue", "--record", db)
}

// A run that was killed after its last epoch, before it came to its end, is ended.
func TestContinueAfterTheLastEpoch(t *testing.T) {
	db := database(t)
	line := []string{"train", "--name", "late", "--continue", "--data", "sine", "--record", db}
	r := killed(t, db, append(line, "--epochs", "0")...)
	limit := fmt.Sprint(r.Last.Epoch)
	if _, errs, code := newtop(append(line, "--epochs", limit)...); code != print.ExitDone {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if r := newest(t, db); r.State != "epochs" || fmt.Sprint(r.Last.Epoch) != limit {
		t.Errorf("the run is %s after epoch %d, expected epochs after %s", r.State, r.Last.Epoch, limit)
	}
}

// A run that came to its end and whose last checkpoint is not recorded is trained again from the one before.
func TestContinueWithoutTheLastCheckpoint(t *testing.T) {
	db := database(t)
	line := []string{"train", "--name", "cut", "--continue", "--data", "sine", "--epochs", "3", "--record", db}
	succeed(t, line...)
	want := newest(t, db)
	inSQL(t, db, "DELETE FROM checkpoints WHERE epoch = 3")
	if r := newest(t, db); r.Checkpoint == 3 {
		t.Fatalf("a checkpoint of epoch %d", r.Checkpoint)
	}
	_, errs, code := newtop(line...)
	if got := newest(t, db); code != print.ExitDone || got.Checkpoint != 3 || got.State != "epochs" || got.Last.Loss != want.Last.Loss {
		t.Errorf("exit %d, %s with a checkpoint of epoch %d\n%s", code, got.State, got.Checkpoint, errs)
	}
	if _, errs, code := newtop(line...); code != print.ExitDone || !strings.Contains(errs, "nothing is left to do") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}

// What newtop train has begun newtop serve goes on with, whose spectra are more by default.
func TestContinueServed(t *testing.T) {
	db := database(t)
	line := []string{"--name", "both", "--continue", "--data", "sine", "--record", db, "--epochs"}
	succeed(t, append(append([]string{"train"}, line...), "1")...)
	s := startServing(t, append(append([]string{"serve", "--linger", "0"}, line...), "2")...)
	if code, errs := s.ends(); code != print.ExitDone || newest(t, db).Last.Epoch != 2 || !strings.Contains(errs, "resumed after epoch 1") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}

// Whoever is to be able to go on has to have a record.
func TestContinueNeedsARecord(t *testing.T) {
	t.Setenv("NEWTOP_STATE_DIR", filepath.Join(os.DevNull, "none"))
	if out, errs, code := newtop("train", "--name", "one", "--continue", "--data", "sine", "--epochs", "1"); code != print.ExitFailed || out != "" || !strings.Contains(errs, os.DevNull) || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d\n%s%s", code, errs, out)
	}
}

// A run that has diverged does so for whoever goes on with it.
func TestContinueADivergedRun(t *testing.T) {
	db := database(t)
	line := []string{"train", "--name", "wild", "--continue", "--data", "sine", "--act", "identity", "--opt", "sgd", "--set", "rate=1e9", "--record", db}
	for range 2 {
		refuses(t, print.ExitDiverged, "diverged in epoch", line...)
	}
}

// A run whose output nobody reads any more ends in order, and can be gone on with.
func TestTrainIntoAClosedPipe(t *testing.T) {
	for _, format := range []string{"text", "jsonl"} {
		db := database(t)
		cmd := process(t, "train", "--name", "one", "--data", "spirals", "--opt", "adam", "--net", "9", "--epochs", "0", "--format", format, "--record", db)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		cmd.Stderr = &errs
		start(t, cmd)
		if _, err := out.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		out.Close()
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != print.ExitInterrupted || !strings.Contains(errs.String(), "newtop: nobody reads standard output any more; to continue: newtop resume one") {
			t.Errorf("%s: exit %d\n%s", format, code, errs.String())
		}
		r := newest(t, db)
		if r.State != "stopped" || r.Checkpoint != r.Last.Epoch {
			t.Errorf("%s: the run is %s after epoch %d, and its checkpoint of epoch %d", format, r.State, r.Last.Epoch, r.Checkpoint)
		}
		succeed(t, "resume", "one", "--epochs", fmt.Sprint(r.Last.Epoch+1), "--record", db)
	}
}

// What newtop train serves is served as long as it trains, and looks at nothing else.
func TestTrainServes(t *testing.T) {
	s := startServing(t, "train", "--data", "spirals", "--opt", "adam", "--net", "9", "--epochs", "0", "--record", "off")
	if facts := s.status(); facts.Name != "spirals" || facts.Phase == "ended" {
		t.Errorf("the status is %+v", facts)
	}
	s.cmd.Process.Signal(syscall.SIGUSR1)
	if code, errs := s.ends(); code != print.ExitInterrupted {
		t.Errorf("exit %d\n%s", code, errs)
	}
	args := []string{"--data", "spirals", "--opt", "tr-newton", "--net", "9", "--epochs", "4"}
	s = startServing(t, append([]string{"train", "--format", "jsonl", "--record", "off"}, args...)...)
	if code, errs := s.ends(); code != print.ExitDone {
		t.Errorf("exit %d\n%s", code, errs)
	}
	same(t, "printed", figures(decode(t, s.out.String())), unstopped(t, args...))
	_, keys := keyFile(t)
	for args, want := range map[string]string{
		"train --serve nowhere --authorized-keys " + keys: "--serve nowhere: expected",
		"train --linger 5m":             "--linger: expected --serve with it",
		"resume last --control " + keys: "--control: expected --listen with it",
	} {
		refuses(t, print.ExitUsage, want, append(strings.Fields(args), "--record", database(t))...)
	}
}

// A process on another machine counts as gone ten seconds after its last sign of life: so long a run that goes on waits,
// and one that somebody resumes by hand does not.
func TestContinueWaits(t *testing.T) {
	db := database(t)
	killed(t, db, "train", "--name", "moved", "--data", "sine", "--epochs", "0", "--record", db)
	heard := func(ago time.Duration) {
		inSQL(t, db, "UPDATE runs SET owner = 'x', host = 'n7', process = 12, identity = 'n7', heartbeat = ?, crc = NULL",
			time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	heard(-time.Hour)
	refuses(t, print.ExitFailed, "process 12 on n7 is training it", "resume", "moved", "--record", db)
	limit := fmt.Sprint(newest(t, db).Last.Epoch + 2)
	cmd := process(t, "train", "--name", "moved", "--continue", "--data", "sine", "--epochs", limit, "--record", db)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	errs := bufio.NewReader(pipe)
	line, _ := errs.ReadString('\n')
	heard(10 * time.Second)
	rest, _ := io.ReadAll(errs)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != print.ExitDone || line != "waiting for process 12 on n7, which recorded the run\n" {
		t.Errorf("exit %d\n%s%s", code, line, rest)
	}
}

// A process of this machine that trains the run is not waited for: one line says which it is.
func TestContinueWhileItIsTrained(t *testing.T) {
	db := database(t)
	line := []string{"train", "--name", "busy", "--continue", "--data", "sine", "--threads", "1", "--epochs", "0", "--record", db}
	first := start(t, process(t, line...))
	until(t, db, "epochs", func(r *store.Run) bool { return r.State == store.Running && r.Last != nil })
	first.Process.Signal(syscall.SIGTSTP) // or it trains on the cores of the others for three seconds
	host, _ := os.Hostname()
	want := fmt.Sprintf(": process %d on %s is training it: expected a run that no process records\n", first.Process.Pid, host)
	if out, errs, code := newtop(line...); code != print.ExitFailed || out != "" || !strings.HasPrefix(errs, "newtop: run ") || !strings.HasSuffix(errs, want) || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d\n%s%s", code, errs, out)
	}
}

// A time limit counts evaluations too, which the run's seconds leave out: the same line finds that it is reached.
func TestContinueAfterTheTime(t *testing.T) {
	line := []string{"train", "--data", "spirals", "--opt", "adam", "--net", "9", "--epochs", "0", "--record", database(t), "--name", "one", "--continue"}
	succeed(t, append(line, "--until", "50ms")...)
	if _, errs, code := newtop(line...); code != print.ExitDone || !strings.Contains(errs, "has reached its time limit of 50ms: nothing is left to do") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}
