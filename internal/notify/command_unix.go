//go:build unix

package notify

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns a command of sh, whose own children end with it, and which keys of the terminal do not interrupt.
func shell(ctx context.Context, text string) *exec.Cmd {
	p := exec.CommandContext(ctx, "sh", "-c", text)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
	return p
}
