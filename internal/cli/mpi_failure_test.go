//go:build mpi && linux

package cli

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/internal/cli/print"
	"newtop/trainer/mpi"
	"newtop/trainer/store"
)

// begun starts a run that ends by what is done to it, or goes on with it, and returns when it has recorded a few epochs.
func begun(t *testing.T, db string, ranks int, args ...string) *crewRun {
	t.Helper()
	before := lastEpoch(t, db)
	l := startRanks(t, ranks, append([]string{"train", "--name", "one", "--continue", "--record", db, "--epochs", "0", "--format", "jsonl"}, args...)...)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if r := newest(t, db); r != nil && r.State == store.Running && r.Last != nil && r.Last.Epoch >= before+3 {
			return l
		}
		if l.cmd.Process.Signal(syscall.Signal(0)) != nil {
			break
		}
	}
	t.Fatalf("no epochs were recorded\n%s%s", l.errs.String(), l.out.String())
	return nil
}

// problem goes on for as long as a test may need.
var problem = []string{"--data", "digits", "--opt", "tr-newton", "--net", "9", "--threads", "1"}

// finished has the run go on in ranks until it has two epochs more, and compares all of it to one that was never stopped.
func finished(t *testing.T, db string, ranks int) {
	t.Helper()
	limit := fmt.Sprint(newest(t, db).Last.Epoch + 2)
	args := append([]string{"train", "--name", "one", "--continue", "--record", db, "--epochs", limit}, problem...)
	crewTrains(t, ranks, args...)
	same(t, "recorded", figures(decode(t, recordedEvents(t, db, newest(t, db).ID))), unstopped(t, append(problem, "--epochs", limit)...))
	crewTrains(t, ranks, args...) // a run that is over is no failure, so that a loop ends
}

// A killed or crashed rank ends all of them, and the same command goes on to the digits of a run that was never stopped.
func TestRanksKilled(t *testing.T) {
	db := database(t)
	for rank, signal := range map[int]syscall.Signal{0: syscall.SIGKILL, 1: syscall.SIGSEGV, 2: syscall.SIGKILL} {
		l := begun(t, db, 3, problem...)
		start := time.Now()
		if err := syscall.Kill(l.rank(rank), signal); err != nil {
			t.Fatal(err)
		}
		if code := l.ends(); code == print.ExitDone || code == print.ExitUsage || code == print.ExitDiverged {
			t.Errorf("rank %d was killed: exit %d", rank, code)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("rank %d was killed: ended after %v", rank, took)
		}
		for r := range 3 {
			if pid := l.rank(r); pid != 0 {
				t.Errorf("rank %d was killed: rank %d is there yet", rank, r)
			}
		}
	}
	finished(t, db, 2)
}

// A rank that stands still ends the run with a code of its own.
func TestRanksStopped(t *testing.T) {
	db := database(t)
	for _, rank := range []int{1, 0} {
		l := begun(t, db, 2, append(problem, "--hang-timeout", "2s")...)
		if err := syscall.Kill(l.rank(rank), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		code := l.ends()
		if took := time.Since(start); code != mpi.ExitHung || took < time.Second || took > 12*time.Second {
			t.Errorf("rank %d stood still: exit %d after %v, expected %d\n%s", rank, code, took, mpi.ExitHung, l.errs.String())
		}
		if !regexp.MustCompile(`newtop: rank \d on \S+: .* (for|within) 2s`).MatchString(l.errs.String()) {
			t.Errorf("rank %d stood still, and it is not said:\n%s", rank, l.errs.String())
		}
	}
	finished(t, db, 2)
}

// A paused machine that comes back in time costs nothing.
func TestRanksPaused(t *testing.T) {
	db := database(t)
	l := begun(t, db, 2, append(problem, "--hang-timeout", "20s")...)
	pid := l.rank(1)
	syscall.Kill(pid, syscall.SIGSTOP)
	time.Sleep(time.Second)
	syscall.Kill(pid, syscall.SIGCONT)
	before := newest(t, db).Last.Epoch
	until(t, db, "more epochs", func(r *store.Run) bool { return r.Last.Epoch > before+3 })
	l.cmd.Process.Signal(syscall.SIGUSR1)
	if code := l.ends(); code != print.ExitInterrupted {
		t.Errorf("exit %d\n%s", code, l.errs.String())
	}
	finished(t, db, 2)
}

// Signals to mpirun end the run in order, with a checkpoint.
func TestRanksSignalled(t *testing.T) {
	db := database(t)
	for _, signal := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT} {
		l := begun(t, db, 2, problem...)
		l.cmd.Process.Signal(signal)
		code := l.ends()
		if signal == syscall.SIGUSR1 && code != print.ExitInterrupted || code == print.ExitDone || code == print.ExitUsage || code == print.ExitDiverged {
			t.Errorf("%v: exit %d\n%s", signal, code, l.errs.String())
		}
		r := newest(t, db)
		if r.State != "stopped" && r.State != store.Interrupted {
			t.Errorf("%v: the run is %v", signal, r.State)
		}
		if signal == syscall.SIGUSR1 && !strings.Contains(l.errs.String(), "to continue: newtop resume") {
			t.Errorf("%v: not said how to go on:\n%s", signal, l.errs.String())
		}
	}
	finished(t, db, 3)
}
