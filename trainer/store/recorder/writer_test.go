package recorder

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestHopeless: what a recorder that is flushed waits for others is longer than for a disk that fails.
func TestHopeless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			failing, flushed time.Duration // for how long
			disk, busy       bool
		}{
			{4 * time.Second, 4 * time.Second, false, false},
			{6 * time.Second, 6 * time.Second, true, false},
			{31 * time.Second, 31 * time.Second, true, true},
			{time.Minute, 2 * time.Second, true, false},
			{time.Minute, 7 * time.Second, true, true},
		} {
			r := &Recorder{Grace: giveUp, closing: true, closed: time.Now().Add(-c.flushed)}
			w := &Writer{recorder: r, failingSince: time.Now().Add(-c.failing)}
			if disk, busy := w.hopeless(false), w.hopeless(true); disk != c.disk || busy != c.busy {
				t.Errorf("%+v: %v, %v", c, disk, busy)
			}
		}
	})
}
