//go:build unix

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"newtop/internal/cli/print"
)

// launched runs a command as mpirun runs process rank of size, though there is no mpirun: what every process finds that
// was built without MPI, or for another one.
func launched(t *testing.T, state string, rank, size int, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	cmd := process(t, args...)
	cmd.Env = append(cmd.Env, "NEWTOP_STATE_DIR="+state, "OMPI_COMM_WORLD_RANK="+strconv.Itoa(rank), "OMPI_COMM_WORLD_SIZE="+strconv.Itoa(size), "OMPI_COMM_WORLD_LOCAL_SIZE="+strconv.Itoa(size))
	cmd.Stdout, cmd.Stderr = &o, &e
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Error(err)
		return "", "", -1
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// Several processes that can't train together do not train beside each other into one store: process 0 says in one line
// what to do, the others nothing, and all end with the code for wrong usage before any file is written.
func TestLaunchedRefuses(t *testing.T) {
	t.Parallel()
	var waits sync.WaitGroup
	for args, want := range map[string]string{
		"":                       "newtop train",
		"--data sine":            "newtop train",
		"tune --data sine":       "--shard",
		"train --data sine":      "MPI",
		"serve --data sine":      "MPI",
		"resume last":            "MPI",
		"train --reduce most":    "--reduce most: expected fixed or fast",
		"train --hang-timeout 0": "--hang-timeout 0s: expected a duration",
		"train --nix":            "--nix",
		"train now":              "expected no argument",
	} {
		for rank := range 2 {
			dir := t.TempDir()
			waits.Go(func() { // all at once, as processes other than 0 take their time
				out, errs, code := launched(t, dir, rank, 2, strings.Fields(args)...)
				if rank == 0 && (strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "newtop: ") || !strings.Contains(errs, want)) {
					t.Errorf("newtop %s: expected one line with %q:\n%s", args, want, errs)
				}
				if code != print.ExitUsage || out != "" || rank > 0 && errs != "" {
					t.Errorf("newtop %s in process %d: exit %d\n%s%s", args, rank, code, errs, out)
				}
				if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
					t.Errorf("newtop %s in process %d: in the state directory are %v, %v", args, rank, files, err)
				}
			})
		}
	}
	waits.Wait()
}

// Commands that train nothing do in every process what they always do, and so does one process alone.
func TestLaunchedAsEver(t *testing.T) {
	for _, args := range []string{"version", "optimizers", "data list", "runs list"} {
		want := ""
		for rank := range 2 {
			out, errs, code := launched(t, t.TempDir(), rank, 2, strings.Fields(args)...)
			if rank == 0 {
				want = out
			}
			if code != print.ExitDone && args != "runs list" || out != want || args != "runs list" && out == "" {
				t.Errorf("newtop %s in process %d: exit %d\n%s%s", args, rank, code, errs, out)
			}
		}
	}
	args := []string{"train", "--data", "sine", "--epochs", "2", "--record", "off", "--format", "jsonl", "--reduce", "fast"}
	out, errs, code := launched(t, t.TempDir(), 0, 1, args...)
	if code != print.ExitDone || errs != "" {
		t.Fatalf("one process: exit %d\n%s", code, errs)
	}
	same(t, "one process", figures(decode(t, out)), unstopped(t, "--data", "sine", "--epochs", "2"))
	if out, _, code := launched(t, t.TempDir(), 0, 2, "train", "--help", "all"); code != print.ExitDone || !strings.Contains(out, "--reduce") {
		t.Errorf("the help of process 0: exit %d\n%s", code, out)
	}
	if out, errs, code := launched(t, t.TempDir(), 1, 2, "train", "--help"); code != print.ExitDone || out+errs != "" {
		t.Errorf("the help of process 1: exit %d\n%s%s", code, errs, out)
	}
}
