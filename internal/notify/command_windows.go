package notify

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns a command that cmd reads as it stands.
func shell(ctx context.Context, text string) *exec.Cmd {
	p := exec.CommandContext(ctx, "cmd")
	p.SysProcAttr = &syscall.SysProcAttr{CmdLine: "cmd /C " + text}
	return p
}
