//go:build unix

package launch

import (
	"os"
	"syscall"
)

// ending returns the signals that end a run in order. USR1 is what batch systems are asked to send ahead of a time
// limit.
func ending() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1}
}
