package trajectory

import (
	"testing"
	"time"
)

// Whoever reads the clock first when a stop is over is told the time without it.
func TestStopsAreNotCounted(t *testing.T) {
	const stop = 23 * time.Second
	var at time.Duration
	c := &awakeClock{read: func() time.Duration { return at }, sessions: 1}
	work := func(d time.Duration) (before, after time.Duration) {
		before = c.Now()
		for end := at + d; at < end; {
			at += awakeTick
			c.Now()
		}
		return before, c.Now()
	}
	for i := range 3 {
		if before, after := work(4 * time.Second); after-before != 4*time.Second {
			t.Errorf("after %d stops 4s of work took %v", i, after-before)
		}
		before := c.Now()
		at += stop
		const apart = awakeTick * 7 / 8 * 7 / 8 // of readings, the newest two of which were at once
		if took := c.Now() - before; took != apart {
			t.Errorf("a stop of %v took %v", stop, took)
		}
	}
	for range 100 { // of a run with short epochs
		at += time.Millisecond
		c.Now()
	}
	before := c.Now()
	at += stop
	if took := c.Now() - before; took > time.Millisecond {
		t.Errorf("a stop of %v between epochs of 1ms took %v", stop, took)
	}
	for range 100 { // as its ticker reads it again
		at += awakeTick
		c.Now()
	}
	before = c.Now()
	at += awakeGap // as on a machine that has much to do
	if took := c.Now() - before; took != awakeGap {
		t.Errorf("%v without a reading took %v", awakeGap, took)
	}
}

// The time between two sessions is no stop of either.
func TestClockBetweenSessions(t *testing.T) {
	var at time.Duration
	c := &awakeClock{read: func() time.Duration { return at }}
	c.WatchStops()()
	at += time.Hour
	release := c.WatchStops()
	defer release()
	if c.lost != 0 {
		t.Errorf("%v were lost between two sessions", c.lost)
	}
}
