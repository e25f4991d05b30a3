//go:build unix

package screen

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// SIGQUIT asks a Go program for the stacks of its goroutines, and ends it. On a screen they would be lost, and the
// terminal would stay as the screen had it. So all terminals are put back first; then the signal is sent again, and Go
// does as always.

// quitting has what puts each terminal back. The signal is the process's, so there is one.
var quitting struct {
	mu      sync.Mutex
	signals chan os.Signal
	number  int
	restore map[int]func()
}

// restorePatience is how long a terminal may take to be put back. One that does not read may stay as it is.
const restorePatience = time.Second

// OnQuit has SIGQUIT call restore before it ends the process, until stop is called. A signal that the caller had
// ignored stays ignored. Restore may be called while anything else continues.
func OnQuit(restore func()) (stop func()) {
	q := &quitting
	q.mu.Lock()
	defer q.mu.Unlock()
	if signal.Ignored(syscall.SIGQUIT) {
		return func() {}
	}
	if len(q.restore) == 0 {
		q.restore, q.signals = map[int]func(){}, make(chan os.Signal, 1)
		signal.Notify(q.signals, syscall.SIGQUIT)
		go quitOn(q.signals)
	}
	q.number++
	n := q.number
	q.restore[n] = restore
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if delete(q.restore, n); len(q.restore) == 0 && q.signals != nil {
			signal.Stop(q.signals)
			close(q.signals)
			q.signals = nil
		}
	}
}

// quitOn ends the process on a signal, and returns when the channel is closed.
func quitOn(signals <-chan os.Signal) {
	if _, ok := <-signals; !ok {
		return
	}
	restoreAll(restorePatience)
	signal.Reset(syscall.SIGQUIT)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGQUIT)
}

// restoreAll puts all terminals back at once.
func restoreAll(patience time.Duration) {
	quitting.mu.Lock()
	var parts sync.WaitGroup
	for _, restore := range quitting.restore {
		parts.Go(func() {
			defer func() { _ = recover() }() // the process ends, and with its stacks
			restore()
		})
	}
	quitting.mu.Unlock()
	done := make(chan struct{})
	go func() {
		parts.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
	}
}
