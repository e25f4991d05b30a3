//go:build unix

package screen

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"newtop/internal/routine"
)

// SIGQUIT asks a Go program for the stacks of its goroutines, and ends it. On a screen they would be lost, and the
// terminal would stay as the screen had it. So all terminals are put back first; then the signal is sent again, and Go
// does as always.

// quitting counts the terminals. The signal is the process's, so there is one.
var quitting struct {
	mu        sync.Mutex
	signals   chan os.Signal
	terminals int
}

// OnQuit has a panic in any goroutine, and SIGQUIT, call restore before the process ends, until stop is called. A
// signal that the caller had ignored stays ignored. Restore may be called while anything else continues.
func OnQuit(restore func()) (stop func()) {
	forget := routine.OnPanic(restore)
	q := &quitting
	q.mu.Lock()
	defer q.mu.Unlock()
	if signal.Ignored(syscall.SIGQUIT) {
		return forget
	}
	if q.terminals++; q.terminals == 1 {
		signals := make(chan os.Signal, 1)
		q.signals = signals
		signal.Notify(signals, syscall.SIGQUIT)
		routine.Go(func() { quitOn(signals) })
	}
	return func() {
		forget()
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.terminals--; q.terminals == 0 {
			signal.Stop(q.signals)
			close(q.signals)
		}
	}
}

// quitOn ends the process on a signal, and returns when the channel is closed.
func quitOn(signals <-chan os.Signal) {
	if _, ok := <-signals; !ok {
		return
	}
	routine.Restore()
	signal.Reset(syscall.SIGQUIT)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGQUIT)
}
