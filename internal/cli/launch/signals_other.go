//go:build !unix

package launch

import (
	"os"
	"syscall"
)

// ending returns the signals that end a run in order.
func ending() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}
