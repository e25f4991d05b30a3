package bench

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

func TestRoundsTakeTurns(t *testing.T) {
	var calls []int
	call := func(i int) func() { return func() { calls = append(calls, i) } }
	c := &clock{ctx: t.Context(), least: 3}
	ns := c.rounds(0, call(1), call(2))
	if want := []int{1, 2, 1, 2, 1, 2, 1, 2}; !reflect.DeepEqual(calls, want) {
		t.Errorf("called %v: expected %v, the first two to warm up", calls, want)
	}
	if len(ns) != 2 || len(ns[0]) != 3 || len(ns[1]) != 3 {
		t.Errorf("times %v: expected three of each", ns)
	}
}

func TestRoundsSpendTheirBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{ctx: t.Context(), least: 1}
		ns := c.rounds(20*time.Millisecond, func() { time.Sleep(time.Millisecond) })
		if n := len(ns[0]); n != 20 {
			t.Errorf("%d rounds of 1 ms in 20 ms", n)
		}
	})
}

func TestRepeatTimesOneCall(t *testing.T) {
	c := &clock{ctx: t.Context(), least: 3}
	calls := 0
	slow := c.repeat(0, func() { calls++; time.Sleep(2 * sampleTime) })
	if calls != 1+1+3 { // to find out how long it is, to warm up, to time
		t.Errorf("%d calls of what is long enough", calls)
	}
	if slow.best < float64(2*sampleTime) || slow.median < slow.best {
		t.Errorf("a call of %v or more took %+v", 2*sampleTime, slow)
	}
	if short := c.repeat(0, func() {}); !(short.best < float64(sampleTime)/8) {
		t.Errorf("a call of nothing took %+v: as long as its sample", short)
	}
}

func TestNothingIsMeasuredAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	c := &clock{ctx: ctx, least: 100}
	c.rounds(time.Hour, func() {
		if calls++; calls == 5 {
			cancel()
		}
	})
	if calls != 5 {
		t.Errorf("%d calls, of which the fifth cancelled", calls)
	}
	if got := c.repeat(time.Hour, func() { calls++ }); got != (timing{}) || calls != 5 {
		t.Errorf("measured %+v in %d calls", got, calls-5)
	}
	if _, err := MeasureCore(ctx, Options{}); err != context.Canceled {
		t.Errorf("MeasureCore returned %v", err)
	}
}

func TestMedianAndRatio(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}} {
		if got := median(c.v); got != c.want {
			t.Errorf("the median of %v is %g", c.v, got)
		}
	}
	// A machine that is three times slower in the second round leaves the ratio alone.
	if got := ratio([]float64{2, 6, 2, 2}, []float64{1, 3, 1}); got != 2 {
		t.Errorf("the ratio is %g", got)
	}
}

var kept []byte

func TestAllocated(t *testing.T) {
	if got := allocated(func() { kept = make([]byte, 1<<20) }); got < 1<<20 || got > 1<<21 {
		t.Errorf("%d bytes for a megabyte", got)
	}
	if got := allocated(func() {}); got != 0 {
		t.Errorf("%d bytes for nothing", got)
	}
}
