package launch

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// signals returns those that end a run in order. What the caller had ignored stays ignored: nohup, and
// jobs in the background of a script.
func signals() []os.Signal {
	return slices.DeleteFunc(ending(), func(s os.Signal) bool { return s != syscall.SIGTERM && signal.Ignored(s) })
}
