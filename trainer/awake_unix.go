//go:build unix

package trainer

import (
	"os"
	"os/signal"
	"syscall"
)

// continuations tells when the process goes on after it was stopped, until release is called.
func continuations() (over <-chan os.Signal, release func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGCONT)
	return c, func() { signal.Stop(c) }
}
