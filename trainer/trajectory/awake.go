package trajectory

import (
	"sync"
	"time"

	"newtop/internal/routine"
)

// A process that is stopped, by ctrl+z or kill -STOP, does no work: its clocks stand meanwhile. Nothing tells a process
// before it is stopped, and when it continues any of its goroutines may be the first to ask for the time. So every
// reading of the clock is held against the one before, a ticker sees to it that there is one every awakeTick, and where
// there was none for longer than awakeGap the process was not running, but for as long as readings are apart of late.
const (
	awakeTick = 400 * time.Millisecond
	awakeGap  = time.Second
)

// Awake is the clock that the stopwatches go by. Sessions keep it wound up while they run.
var Awake = newAwakeClock()

// awakeClock counts the time in which the process was not stopped.
type awakeClock struct {
	read func() time.Duration // of a clock that continues meanwhile

	mu       sync.Mutex
	sessions int
	quit     chan struct{}
	lost     time.Duration // in stops
	last     time.Duration // when the clock was read
	apart    time.Duration // how far the newest readings were apart, awakeTick at most
}

func newAwakeClock() *awakeClock {
	base := time.Now()
	return &awakeClock{read: func() time.Duration { return time.Since(base) }}
}

// Now returns the time since the clock was made, without stops.
func (c *awakeClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.read()
	if gap := at - c.last; c.sessions > 0 && gap > awakeGap {
		c.lost += gap - c.apart
	} else {
		const memory = 8 // readings, which come in clusters
		c.apart = min(max(gap, c.apart-c.apart/memory), awakeTick)
	}
	c.last = at
	return at - c.lost
}

// WatchStops has the clock notice stops until the function that it returns is called.
func (c *awakeClock) WatchStops() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions++; c.sessions == 1 {
		c.last = c.read()
		quit := make(chan struct{})
		c.quit = quit
		routine.Go(func() { c.watch(quit) })
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.sessions--; c.sessions == 0 {
			close(c.quit)
		}
	}
}

// watch reads the clock until quit is closed.
func (c *awakeClock) watch(quit <-chan struct{}) {
	ticker := time.NewTicker(awakeTick)
	defer ticker.Stop()
	for {
		select {
		case <-quit:
			return
		case <-ticker.C:
			c.Now()
		}
	}
}
