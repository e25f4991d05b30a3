//go:build unix

package bench

import (
	"os/exec"
	"syscall"
)

// apart makes a command the first of a group of processes, which is killed as a whole. A ctrl-C in the terminal does
// not reach it, so that it cannot seem to fail by itself just before it is killed.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
