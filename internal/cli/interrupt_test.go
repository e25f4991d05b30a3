//go:build unix

package cli

import (
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/internal/cli/print"
)

// SIGINT ends every command with the same code and a line, whatever it does or waits for.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	record, model := filepath.Join(dir, "runs.db"), filepath.Join(dir, "model.onnx")
	succeed(t, "train", "--data", write(t, "table.csv", strings.ReplaceAll(numbersWithAWord(), "wide", "3")), "--net", "2", "--epochs", "1", "--save", model, "--record", record)
	for _, args := range []string{ // those with - wait for a pipe that does not end
		"train --data spirals --epochs 0 --record " + record,
		"--data spirals --epochs 0 --record " + record,
		"tune --data spirals --budget 60s --format text --record " + record,
		"train --data - --record " + record,
		"tune --data - --budget 60s --record " + record,
		"data show -",
		"predict " + model + " -",
		"watch -",
		"train --config /dev/stdin",
	} {
		cmd := process(t, strings.Fields(args)...)
		cmd.Env = append(cmd.Env, "NEWTOP_STATE_DIR="+dir)
		var errs strings.Builder
		cmd.Stderr = &errs
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		start(t, cmd)
		if strings.HasSuffix(args, "-") || strings.HasSuffix(args, "stdin") || strings.Contains(args, "--data - ") {
			_, err = io.WriteString(in, strings.Repeat("\n", 1<<19)) // more than a pipe holds: somebody reads
		} else {
			_, err = out.Read(make([]byte, 1))
		}
		if err != nil {
			t.Errorf("newtop %s: %v", args, err)
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
		stuck := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		io.Copy(io.Discard, out)
		cmd.Wait()
		stuck.Stop()
		if code := cmd.ProcessState.ExitCode(); code != print.ExitInterrupted || !strings.Contains(errs.String(), "newtop: interrupted") {
			t.Errorf("newtop %s: exit %d, expected %d:\n%s", args, code, print.ExitInterrupted, errs.String())
		}
	}
}
