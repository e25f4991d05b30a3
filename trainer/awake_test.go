package trainer

import (
	"testing"
	"time"
)

// TestStopsAreNotCounted, whichever comes first when one is over, the ticker or the signal.
func TestStopsAreNotCounted(t *testing.T) {
	const stop = 23 * time.Second
	for _, tickFirst := range []bool{false, true} {
		c := awakeClock{base: time.Now()}
		at := time.Duration(0)
		for range 5 {
			at += awakeTick
			c.tick(at)
		}
		at += stop + awakeTick/2
		if tickFirst {
			c.tick(at)
			at += time.Millisecond
		}
		c.continued(at)
		if c.lost > stop || c.lost < stop-awakeTick {
			t.Errorf("tick first %v: %v lost, expected up to %v", tickFirst, c.lost, stop)
		}
		for range 5 {
			at += awakeTick
			c.tick(at)
		}
		before := c.lost
		if c.continued(at + awakeTick/2); c.lost != before { // nothing was stopped
			t.Errorf("tick first %v: %v more lost", tickFirst, c.lost-before)
		}
	}
}
