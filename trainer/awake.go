package trainer

import (
	"sync"
	"time"
)

// A process that is stopped, by ctrl+z or kill -STOP, does no work: its clocks stand meanwhile. Of the stop the system tells
// when it is over alone, so that a ticker tells when it began.
const awakeTick = 100 * time.Millisecond

// awake is the clock that the stopwatches go by. Sessions keep it wound up while they run.
var awake = awakeClock{base: time.Now()}

// awakeClock counts the time in which the process was not stopped.
type awakeClock struct {
	base time.Time

	mu       sync.Mutex
	sessions int
	quit     chan struct{}
	lost     time.Duration // in stops
	last     time.Duration // of the ticker, since base
	gap      time.Duration // before that
}

// now returns the time since the clock was made, without stops.
func (c *awakeClock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.base) - c.lost
}

// tick notes that the process was not stopped at a time.
func (c *awakeClock) tick(at time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.gap = at, at-c.last
}

// continued takes out the stop that is over at a time. The ticker may have been faster.
func (c *awakeClock) continued(at time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := at - c.last
	if stop < awakeTick {
		stop = c.gap
	}
	c.lost += max(0, stop-awakeTick)
	c.last, c.gap = at, 0
}

// wind has the clock notice stops until the function that it returns is called.
func (c *awakeClock) wind() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions++; c.sessions == 1 {
		c.last, c.gap = time.Since(c.base), 0
		c.quit = make(chan struct{})
		go c.watch(c.quit)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.sessions--; c.sessions == 0 {
			close(c.quit)
		}
	}
}

// watch notices stops until quit is closed.
func (c *awakeClock) watch(quit <-chan struct{}) {
	over, release := continuations()
	defer release()
	ticker := time.NewTicker(awakeTick)
	defer ticker.Stop()
	for {
		select {
		case <-quit:
			return
		case <-ticker.C:
			c.tick(time.Since(c.base))
		case <-over:
			c.continued(time.Since(c.base))
		}
	}
}
