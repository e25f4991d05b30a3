//go:build unix

package launch

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/store/sqlfile"
)

// stopped is how long a process that stops itself may take to stand still.
const stopped = 20 * time.Millisecond

// stopBetweenTransactions has ctrl+z stop the process between two transactions, and not within one.
func stopBetweenTransactions() {
	if signal.Ignored(syscall.SIGTSTP) {
		return
	}
	requested := make(chan os.Signal, 1)
	signal.Notify(requested, syscall.SIGTSTP)
	routine.Go(func() {
		for range requested {
			sqlfile.Quiesce(func() {
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				time.Sleep(stopped)
			})
		}
	})
}
