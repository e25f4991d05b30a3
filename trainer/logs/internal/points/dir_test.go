package points

import (
	"fmt"
	"math"
	"testing"
)

func FuzzLine(f *testing.F) {
	for _, line := range []string{"1700000000000 0.5 3", "1700000000000 nan 3", "1 inf", "x", "1 2 3 4", "1 1e999 2", "", "1 0x1p-2 1"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		d := Dir{Columns: []string{"tvs", "tv"}}
		var b Batch
		if !d.add(&b, 0, line) {
			return
		}
		p := b.points[0]
		if again := fmt.Sprintf("%d %v %d", p.wall, p.value, p.step); !d.add(&b, 0, []byte(again)) {
			t.Fatal(again)
		}
		if q := b.points[1]; q.wall != p.wall || q.step != p.step || q.value != p.value && !(math.IsNaN(q.value) && math.IsNaN(p.value)) {
			t.Errorf("%q: %v, and again %v", line, p, q)
		}
	})
}
