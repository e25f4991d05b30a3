package trajectory

import (
	"sync"
	"time"
)

// A process that is stopped, by ctrl+z or kill -STOP, does no work: its clocks stand meanwhile. Nothing tells a process
// before it is stopped, and when it goes on any of its goroutines may be the first to ask for the time. So every
// reading of the clock is held against the one before, a ticker sees to it that there is one every awakeTick, and where
// there was none for longer than awakeGap the process was not running, but for as long as readings are apart of late.
const (
	AwakeTick = 400 * time.Millisecond
	AwakeGap  = time.Second
)

// Awake is the clock that the stopwatches go by. Sessions keep it wound up while they run.
var Awake = newAwakeClock()

// AwakeClock counts the time in which the process was not stopped.
type AwakeClock struct {
	Read func() time.Duration // of a clock that goes on meanwhile

	mu       sync.Mutex
	Sessions int
	quit     chan struct{}
	Lost     time.Duration // in stops
	last     time.Duration // when the clock was read
	apart    time.Duration // how far the newest readings were apart, awakeTick at most
}

func newAwakeClock() *AwakeClock {
	base := time.Now()
	return &AwakeClock{Read: func() time.Duration { return time.Since(base) }}
}

// Now returns the time since the clock was made, without stops.
func (c *AwakeClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.Read()
	if gap := at - c.last; c.Sessions > 0 && gap > AwakeGap {
		c.Lost += gap - c.apart
	} else {
		const memory = 8 // readings, which come in clusters
		c.apart = min(max(gap, c.apart-c.apart/memory), AwakeTick)
	}
	c.last = at
	return at - c.Lost
}

// WatchStops has the clock notice stops until the function that it returns is called.
func (c *AwakeClock) WatchStops() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Sessions++; c.Sessions == 1 {
		c.last = c.Read()
		c.quit = make(chan struct{})
		go c.watch(c.quit)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.Sessions--; c.Sessions == 0 {
			close(c.quit)
		}
	}
}

// watch reads the clock until quit is closed.
func (c *AwakeClock) watch(quit <-chan struct{}) {
	ticker := time.NewTicker(AwakeTick)
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
