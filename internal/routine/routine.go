// Package routine starts the goroutines of the program. A panic in any of them ends the process. Terminals that a
// screen has are given back before, so that what Go says of it can be read and the shell be used.
package routine

import (
	"sync"
	"time"
)

// terminals has what puts each terminal back.
var terminals struct {
	mu      sync.Mutex
	number  int
	restore map[int]func()
}

// Patience is how long a terminal may take to be put back. One that does not read may stay as it is.
const Patience = time.Second

// Go calls f in a goroutine of its own.
func Go(f func()) { go Guard(f)() }

// Guard returns f for a goroutine that something else starts: a sync.WaitGroup, a timer, a context.
func Guard(f func()) func() {
	return func() {
		whole := false
		defer func() { // which does not recover: Go prints the stack of what broke
			if !whole {
				Restore()
			}
		}()
		f()
		whole = true
	}
}

// OnPanic has Restore call restore until stop is called. It may be called while anything else continues.
func OnPanic(restore func()) (stop func()) {
	t := &terminals
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.restore == nil {
		t.restore = map[int]func(){}
	}
	t.number++
	n := t.number
	t.restore[n] = restore
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.restore, n)
	}
}

// Restore puts all terminals back at once, before the process ends.
func Restore() {
	t := &terminals
	t.mu.Lock()
	var parts sync.WaitGroup
	for _, restore := range t.restore {
		parts.Go(func() {
			defer func() { _ = recover() }() // the process ends, and says of what
			restore()
		})
	}
	t.mu.Unlock()
	done := make(chan struct{})
	go func() {
		parts.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(Patience):
	}
}
