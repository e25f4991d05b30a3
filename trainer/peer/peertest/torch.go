package peertest

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// python is a Python 3 that has a PyTorch that newtop.py is for; "": there is none.
var python = sync.OnceValue(func() string {
	const has = "from importlib.metadata import version; " +
		"assert tuple(map(int, version('torch').split('.')[:2])) >= (2, 2)"
	for _, name := range []string{os.Getenv("NEWTOP_PYTHON"), "/usr/bin/python3", "python3"} {
		if name != "" && exec.Command(name, "-c", has).Run() == nil {
			return name
		}
	}
	return ""
})

// Torch has the models of this test run by a Python that has PyTorch, on one thread, and skips the test where there is
// none. It returns that Python.
func Torch(tb testing.TB) string {
	tb.Helper()
	name := python()
	if name == "" {
		tb.Skip("there is no Python 3 that has PyTorch 2.2 or newer")
	}
	for key, value := range map[string]string{"NEWTOP_PYTHON": name, "OMP_NUM_THREADS": "1",
		"PYTHONDONTWRITEBYTECODE": "1"} {
		tb.Setenv(key, value)
	}
	return name
}
