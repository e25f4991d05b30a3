package cli

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/internal/kernel"
)

// TestUnknownKernel: what the variable asks for is refused before anything else happens, on one line.
func TestUnknownKernel(t *testing.T) {
	cmd := exec.Command(os.Args[0], "train", "--epochs", "1")
	cmd.Env = append(os.Environ(), asNewtop+"=1", kernel.Variable+"=sse")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != print.ExitUsage {
		t.Errorf("%v, expected exit code %d", err, print.ExitUsage)
	}
	if got, want := strings.TrimSpace(string(out)), "newtop: NEWTOP_KERNEL=sse: expected generic, avx2, avx512"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
