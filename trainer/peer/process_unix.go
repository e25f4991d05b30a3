//go:build unix

package peer

import (
	"os"
	"os/exec"
	"syscall"
)

const (
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
)

// group makes a command the first of a group of processes, which keys of the terminal do not interrupt.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup reaches the whole group. That nobody is left is as good.
func signalGroup(cmd *exec.Cmd, s os.Signal) { _ = syscall.Kill(-cmd.Process.Pid, s.(syscall.Signal)) }

func runnable(_ string, info os.FileInfo) bool { return info.Mode().Perm()&0o111 != 0 }
