//go:build unix

package launch

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"newtop/trainer/store/sqlfile"
)

// stopped is how long a process that stops itself may take to stand still.
const stopped = 20 * time.Millisecond

// stopAtRest has ctrl+z stop the process between two transactions, and not within one.
func stopAtRest() {
	if signal.Ignored(syscall.SIGTSTP) {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTSTP)
	go func() {
		for range asked {
			sqlfile.Quiesce(func() {
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				time.Sleep(stopped)
			})
		}
	}()
}
