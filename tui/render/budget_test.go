package render

import (
	"testing"
	"time"
)

// TestBudget: the more viewers there are and the more their frames cost, the less often each gets news.
func TestBudget(t *testing.T) {
	const remote = 100 * time.Millisecond
	var none *Budget
	none.Enter()()
	none.Updated(time.Now())
	if none.Interval(remote) != remote {
		t.Error("no allowance bounds something")
	}
	a := &Budget{Part: 0.01}
	if a.Interval(remote) != remote {
		t.Error("nobody has to wait")
	}
	a.update, a.draw = lowTime(time.Millisecond), lowTime(time.Millisecond)
	for range 1000 {
		defer a.Enter()()
	}
	if got := a.Interval(remote); got != slowNews {
		t.Errorf("a thousand wait %v", got)
	}
	var low lowTime
	for i := range 1000 {
		if low.see(time.Millisecond); i%3 == 0 {
			low.see(20 * time.Millisecond)
		}
	}
	if d := time.Duration(low); d < time.Millisecond || d > 6*time.Millisecond {
		t.Errorf("of times that are 1 ms or more and mostly that, %v", d)
	}
}
