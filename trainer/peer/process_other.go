//go:build !unix

package peer

import (
	"os"
	"os/exec"
	"syscall"
)

var (
	terminate = syscall.SIGTERM
	kill      = os.Kill
)

func group(*exec.Cmd) {}

// signalGroup ends the program, which can be asked for nothing less here.
func signalGroup(cmd *exec.Cmd, _ os.Signal) { _ = cmd.Process.Kill() }

func runnable(path string, _ os.FileInfo) bool {
	_, err := exec.LookPath(path)
	return err == nil
}
