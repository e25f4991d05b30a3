//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// alone makes a command one whose own children end with it, and which keys of the terminal do not interrupt.
func alone(p *exec.Cmd) {
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
}
