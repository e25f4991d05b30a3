package sheet

import (
	"fmt"
	"math"
	"testing"
)

// The sketch is within some percent of how many different fields there are.
func TestSketch(t *testing.T) {
	for _, n := range []int{0, 1, 10, 1000, 30_000, 1_000_000} {
		var a, b, all sketch
		for i := range n {
			field := fmt.Appendf(nil, "word %d", i*7919)
			all.add(field)
			[]*sketch{&a, &b}[i%2].add(field)
		}
		a.join(&b)
		if a != all {
			t.Errorf("%d: two sketches are not one", n)
		}
		if got := all.count(); math.Abs(float64(got-n)) > 0.05*float64(n) {
			t.Errorf("%d different fields are estimated as %d", n, got)
		}
	}
}
