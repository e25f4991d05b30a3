package cli

import (
	"bytes"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// refusing is a standard output that can't be written to.
type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: r.err}
}

// Whatever prints fails where its output can't be written, and ends without a word where nobody reads it any more.
func TestUnwritableOutput(t *testing.T) {
	record := t.TempDir() + "/runs.db"
	succeed(t, "train", "--data", "spirals", "--net", "2", "--epochs", "1", "--record", record, "--name", "a")
	for _, args := range []string{
		"--help", "--version", "version", "help train", "train --help", "completion bash", "__complete runs show ", "optimizers", "optimizers adam", "python", "data", "data show spirals",
		"train --data spirals --net 2 --epochs 1 --record off", "train --data spirals --net 2 --epochs 1 --record off --format jsonl",
		"watch a --format text --record " + record, "watch a --format jsonl --record " + record,
		"runs --record " + record, "runs list --format json --record " + record, "runs list --format csv --record " + record,
		"runs show a --record " + record, "runs compare a a --format text --record " + record, "runs export a --record " + record, "runs export a --format jsonl --record " + record,
		"tune --data spirals --net 2 --over opt=adam,sgd --trials 2 --epochs 1 --finals 1 --format text --record " + record,
	} {
		var errs bytes.Buffer
		code := Main(strings.Fields(args), strings.NewReader(""), refusing{syscall.ENOSPC}, &errs)
		const want = "newtop: can't write to standard output: no space left on device\n"
		if code != 1 || !strings.HasSuffix(errs.String(), want) {
			t.Errorf("newtop %s: exit %d: %s", args, code, errs.String())
		}
		errs.Reset()
		code = Main(strings.Fields(args), strings.NewReader(""), refusing{syscall.EPIPE}, &errs)
		if code != 130 || strings.Contains(errs.String(), "pipe") || strings.HasPrefix(args, "runs") && errs.Len() > 0 {
			t.Errorf("newtop %s: nobody reads: exit %d: %s", args, code, errs.String())
		}
	}
}
