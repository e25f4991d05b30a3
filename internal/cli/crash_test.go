//go:build unix

package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/internal/cli/print"
	"newtop/trainer/store"
)

// crashed is what Go's runtime ends a program with.
const crashed = 2

// A program that crashes has a code of its own, and the same line goes on to the digits of a run that was never stopped.
func TestContinueAfterACrash(t *testing.T) {
	db := database(t)
	run := []string{"--data", "spirals", "--opt", "adam", "--net", "9"}
	line := func(epochs int) []string {
		return append([]string{"train", "--name", "one", "--continue", "--epochs", fmt.Sprint(epochs), "--record", db}, run...)
	}
	if errs, code := interrupted(t, db, syscall.SIGSEGV, line(0)...); code != crashed {
		t.Errorf("exit %d\n%s", code, errs)
	}
	limit := newest(t, db).Last.Epoch + 2
	succeed(t, line(limit)...)
	same(t, "recorded", figures(decode(t, recordedEvents(t, db, newest(t, db).ID))), unstopped(t, append(run, "--epochs", fmt.Sprint(limit))...))
}

// A run that could not be recorded says so and why, with an exit code of its own.
func TestUnrecordedRun(t *testing.T) {
	t.Setenv("NEWTOP_STATE_DIR", filepath.Join(os.DevNull, "none"))
	if _, errs, code := newtop("train", "--data", "sine", "--epochs", "1"); code != print.ExitUnrecorded || !strings.Contains(errs, "newtop: the run is not recorded: ") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}

// One whose record is lost on the way waits for it to come back, and says so too.
func TestRecordLostOnTheWay(t *testing.T) {
	for limit, want := range map[string]string{
		"ulimit -f 400": `: the file may not grow beyond \S+ kB \(ulimit -f\)`,
		"true":          ": the file is gone",
	} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel() // it waits for five seconds
			db := database(t)
			cmd := afterIn(t, limit, "train", "--data", "spirals", "--net", "9-9", "--epochs", "60", "--record", db, "--name", "f")
			var errs strings.Builder
			cmd.Stderr = &errs
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			start(t, cmd)
			if limit == "true" {
				out.Read(make([]byte, 100))
				os.Remove(db)
			}
			io.Copy(io.Discard, out)
			cmd.Wait()
			last := lines(errs.String())[strings.Count(errs.String(), "\n")-1]
			if code := cmd.ProcessState.ExitCode(); code != print.ExitUnrecorded || !regexp.MustCompile("^newtop: (the run is|[0-9]+ of the run's [0-9]+ events are) not recorded: .*"+want+"$").MatchString(last) || strings.Contains(errs.String(), "recorded as") {
				t.Errorf("exit %d\n%s", code, errs.String())
			}
		})
	}
}

// A store that can't be opened for want of files says so, though some are free again by then.
func TestTooManyFiles(t *testing.T) {
	said := 0
	for files := 7; files < 10; files++ { // with fewer Go's runtime does not start
		cmd := afterIn(t, fmt.Sprint("ulimit -n ", files), "train", "--data", "sine", "--epochs", "1", "--record", database(t))
		var errs strings.Builder
		cmd.Stderr = &errs
		cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != print.ExitFailed {
			continue
		}
		if said++; !strings.HasSuffix(errs.String(), ": too many files are open (ulimit -n)\n") {
			t.Errorf("with %d files:\n%s", files, errs.String())
		}
	}
	if said == 0 {
		t.Skip("this system's programs have other files open")
	}
}

// Of two first starts of one line at once one trains, and the other says which.
func TestContinueTwiceAtOnce(t *testing.T) {
	db := database(t)
	line := []string{"train", "--name", "one", "--continue", "--data", "spirals", "--net", "9-9", "--epochs", "60", "--record", db}
	var both [2]*exec.Cmd
	var errs [2]strings.Builder
	for i := range both {
		both[i] = process(t, line...)
		both[i].Stderr = &errs[i]
		start(t, both[i])
	}
	done := 0
	for i, cmd := range both {
		cmd.Wait()
		switch code := cmd.ProcessState.ExitCode(); {
		case code == print.ExitDone:
			done++
		case code != print.ExitFailed || !strings.Contains(errs[i].String(), "is training it: expected") && !strings.Contains(errs[i].String(), errAlready),
			strings.Count(errs[i].String(), "newtop: ") != 1:
			t.Errorf("exit %d\n%s", code, errs[i].String())
		}
	}
	inStore(t, db, func(s *store.Store) {
		if runs, err := s.Runs(t.Context(), store.Filter{}); err != nil || len(runs) != 1 || done == 0 {
			t.Errorf("%d runs of the name, %d were done; %v\n%s%s", len(runs), done, err, errs[0].String(), errs[1].String())
		}
	})
	succeed(t, line...)
}

const errAlready = "another process has started a run of this name meanwhile"

// state returns what /proc says a process does, "" where there is no /proc.
func state(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	return strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:]))[0]
}

// A run that is stopped by ctrl+z holds no lock, and the stop is not counted as time that it trains.
func TestStoppedRun(t *testing.T) {
	db, begin := database(t), time.Now()
	cmd := start(t, process(t, "train", "--name", "one", "--data", "spirals", "--opt", "tr-newton", "--net", "60-60", "--threads", "1", "--epochs", "0", "--record", db))
	until(t, db, "epochs", func(r *store.Run) bool { return r.Last != nil && r.Last.Epoch > 3 })
	if state(cmd.Process.Pid) == "" {
		t.Skip("there is no /proc to tell by whether a process is stopped")
	}
	stopped := time.Duration(0)
	for range 2 {
		cmd.Process.Signal(syscall.SIGTSTP)
		for begin := time.Now(); state(cmd.Process.Pid) != "T"; time.Sleep(time.Millisecond) {
			if time.Since(begin) > patience {
				t.Fatalf("the process does not stop: it is %s", state(cmd.Process.Pid))
			}
		}
		since := time.Now()
		recordedRun(t, db, "--data", "sine", "--epochs", "1")
		time.Sleep(1100 * time.Millisecond)                 // what is shorter may have been the machine's
		stopped += time.Since(since) - 400*time.Millisecond // as far as readings of the clock may be apart
		cmd.Process.Signal(syscall.SIGCONT)
	}
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	most := time.Since(begin) - stopped
	inStore(t, db, func(s *store.Store) {
		if r, err := s.Find(t.Context(), "one"); err != nil || r.Done == nil || float64(r.Done.Elapsed) > most.Seconds() {
			t.Errorf("the run ended as %+v, %v: expected %v at most", r.Done, err, most)
		}
	})
}

// documented returns the block of a document that matches a pattern, without its indentation.
func documented(t *testing.T, file, pattern string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", file))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)` + pattern).FindString(string(text))
	if block == "" {
		t.Fatalf("%s: nothing matches %s", file, pattern)
	}
	return block
}

// The loops of the documents start a crashed run again, and none that would fail again.
func TestLoopsOfTheDocuments(t *testing.T) {
	unit := strings.Fields(documented(t, "remote.md", `RestartPreventExitStatus=[^\n]*`))
	unit[0] = strings.TrimPrefix(unit[0], "RestartPreventExitStatus=")
	if want := []string{fmt.Sprint(print.ExitDiverged), fmt.Sprint(print.ExitUsage)}; !slices.Equal(unit, want) {
		t.Errorf("the unit is not started again after %s, expected %s", unit, want)
	}
	for name, script := range map[string]string{
		"mpirun": documented(t, "cluster.md", "#!/bin/bash\n# One run until.*?\n```"),
		"Slurm":  documented(t, "cluster/long.sbatch", "#!/bin/bash\n#SBATCH.*"),
	} {
		script = strings.TrimSuffix(script, "```")
		for _, c := range []struct{ first, tries, code int }{
			{crashed, 3, print.ExitDone}, {print.ExitFailed, 3, print.ExitDone}, {print.ExitBug, 3, print.ExitDone},
			{print.ExitDone, 1, print.ExitDone}, {print.ExitUsage, 1, print.ExitUsage}, {print.ExitDiverged, 1, print.ExitDiverged}, {print.ExitUnrecorded, 3, print.ExitDone},
		} {
			dir := t.TempDir()
			for command, text := range map[string]string{
				"mpirun": fmt.Sprintf("echo >> '%s/tries'\n[ $(wc -l < '%s/tries') -ge 3 ] || exit %d\n", dir, dir, c.first),
				"sleep":  "",
			} {
				for _, as := range append([]string{command}, map[string][]string{"mpirun": {"srun"}}[command]...) {
					if err := os.WriteFile(filepath.Join(dir, as), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			cmd := exec.Command("bash", "-c", script)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			out, _ := cmd.CombinedOutput()
			tries, _ := os.ReadFile(filepath.Join(dir, "tries"))
			if code := cmd.ProcessState.ExitCode(); code != c.code || len(tries) != c.tries {
				t.Errorf("%s: after exit code %d the loop ended with %d in try %d, expected %d in try %d\n%s", name, c.first, code, len(tries), c.code, c.tries, out)
			}
		}
	}
}
