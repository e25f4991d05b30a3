package main

import (
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/trainer/mpi"
)

func TestBenchScaleErrors(t *testing.T) {
	for _, c := range []struct {
		args, want string
	}{
		{"--format xml", "--format xml: expected text, json or md"},
		{"--threads 2000", "--threads 2000"},
		{"--ranks 1", "--ranks 1: expected a whole number from 2 to 32"},
		{"now", "expected no argument"},
	} {
		_, errs, code := run(append([]string{"scale"}, strings.Fields(c.args)...)...)
		if code != print.ExitUsage || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("scale %s: exit %d: %s", c.args, code, errs)
		}
	}
	if mpi.Built() {
		return
	}
	_, errs, code := run("scale")
	if code != print.ExitUsage || errs != "newtop: scale: this newtop-bench is built without MPI: build it with CC=mpicc go build -C internal/bench -tags mpi -o newtop-bench ./cmd\n" {
		t.Errorf("without MPI: exit %d: %s", code, errs)
	}
}
