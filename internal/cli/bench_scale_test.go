package cli

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
		_, errs, code := newtop(append([]string{"bench", "scale"}, strings.Fields(c.args)...)...)
		if code != print.ExitUsage || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("bench scale %s: exit %d: %s", c.args, code, errs)
		}
	}
	if mpi.Built() {
		return
	}
	_, errs, code := newtop("bench", "scale")
	if code != print.ExitUsage || errs != "newtop: bench scale: this newtop is built without MPI: build it with CC=mpicc go build -tags mpi\n" {
		t.Errorf("without MPI: exit %d: %s", code, errs)
	}
}
