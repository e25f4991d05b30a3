package load

import (
	"math"
	"testing"
	"time"
)

func TestForeignLoad(t *testing.T) {
	before := Load{all: 100, busy: 40, own: 5}
	for _, c := range []struct {
		later Load
		spent time.Duration
		want  float64
	}{
		{Load{120, 55, 10}, 6 * time.Second, 0.2}, // of 20 seconds 15 are busy, 5 newtop's and 6 the script's
		{Load{120, 55, 10}, 12 * time.Second, 0},  // counters run apart by a little
		{Load{}, time.Second, math.NaN()},
	} {
		if got := before.Foreign(c.later, c.spent); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("until %v: %g, expected %g", c.later, got, c.want)
		}
	}
	if l := Now(t.Context()); l.all < l.busy || l.busy < l.own && l.own > 1 {
		t.Errorf("now %+v", l)
	}
}
