package render

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// PanicError says that the program of a viewer's screen broke. The run and the other screens continue.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("the screen broke: %v", e.Value) }

// Budget bounds how much of the machine the screens of all viewers take together: the more they are and the dearer
// their frames, the less often each shows the run's news. Keys are answered at once however many there are. The zero
// value is ready, and its methods may be called from any goroutine.
type Budget struct {
	Part float64 // of all processors; 0: a 25th

	mu           sync.Mutex
	guests       int
	update, draw lowTime
	render       lowTime // of a frame that others are shown too
	rendered     float64 // how many of those there are for each frame of a viewer
}

// Enter counts a viewer until leave is called. A nil budget bounds nothing.
func (a *Budget) Enter() (leave func()) {
	if a == nil {
		return func() {}
	}
	count := func(n int) {
		a.mu.Lock()
		a.guests += n
		a.mu.Unlock()
	}
	count(1)
	return func() { count(-1) }
}

// Updated and drew tell how long it took to make a frame of news, and to draw one.
func (a *Budget) Updated(since time.Time) {
	a.see(since, func() *lowTime {
		a.rendered *= 1 - 1./lately
		return &a.update
	})
}

func (a *Budget) drew(since time.Time) { a.see(since, func() *lowTime { return &a.draw }) }

// Rendered reports how long it took to make a frame of news that others are shown too. It is a part of no other time.
func (a *Budget) Rendered(took time.Duration) {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.render.see(took)
	a.rendered += 1. / lately
	a.mu.Unlock()
}

func (a *Budget) see(since time.Time, which func() *lowTime) {
	if a == nil {
		return
	}
	d := time.Since(since)
	a.mu.Lock()
	which().see(d)
	a.mu.Unlock()
}

// Interval is the time between two frames of news for each viewer, at least the one given.
func (a *Budget) Interval(least time.Duration) time.Duration {
	if a == nil {
		return least
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	part := a.Part
	if part <= 0 {
		part = usualPart
	}
	each := hidden*time.Duration(a.update+a.draw+lowTime(a.rendered*float64(a.render))) + awake
	all := time.Duration(float64(a.guests) * float64(each) / (part * float64(runtime.NumCPU())))
	return max(least, min(all, slowNews))
}

const (
	usualPart = 0.04
	slowNews  = 3 * time.Second // no viewer waits longer for news
	// hidden and awake are how much more a frame takes than is measured here: collecting garbage; waking up,
	// encrypting, sending.
	hidden = 2
	awake  = 150 * time.Microsecond
	lately = 64 // frames of viewers that rendered is about
)

// lowTime follows the lower values of times: those in which nobody else had the processor meanwhile.
type lowTime time.Duration

func (t *lowTime) see(d time.Duration) {
	rate := lowTime(8)
	if lowTime(d) > *t && *t != 0 {
		rate = 64
	}
	if *t == 0 {
		rate = 1
	}
	*t += (lowTime(d) - *t) / rate
}
