package peak

import (
	"testing"
	"time"
)

func TestPeakIsPlausible(t *testing.T) {
	if p := Measure(time.Millisecond); !(p > 0.1 && p < 10_000) {
		t.Errorf("%v GFLOP/s", p)
	}
}
