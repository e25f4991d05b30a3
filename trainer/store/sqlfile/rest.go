package sqlfile

import (
	"sync"
	"time"

	"newtop/internal/routine"
)

// resting keeps this process's transactions from beginning.
var resting sync.RWMutex

// restPatience is how long a transaction may take that is waited for.
const restPatience = 5 * time.Second

// Quiesce calls f between the transactions of this process, none of which begins before f has returned: a process that
// is stopped within one would keep all others from writing. It does not wait for ever, as a disk may not answer.
func Quiesce(f func()) { QuiesceFor(restPatience, f) }

// QuiesceFor is Quiesce with how long it waits.
func QuiesceFor(patience time.Duration, f func()) {
	rests, over := make(chan struct{}), make(chan struct{})
	routine.Go(func() {
		resting.Lock() // which also keeps others from beginning while it waits
		close(rests)
		<-over
		resting.Unlock()
	})
	defer close(over)
	select {
	case <-rests:
	case <-time.After(patience):
	}
	f()
}
