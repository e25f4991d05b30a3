package store

import "sync"

// resting keeps this process's transactions from beginning.
var resting sync.RWMutex

// AtRest calls f between the transactions of this process, none of which begins before f has returned: a process that is stopped
// within one would keep all others from writing.
func AtRest(f func()) {
	resting.Lock()
	defer resting.Unlock()
	f()
}
