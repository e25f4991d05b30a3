package print

import (
	"bytes"
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	for _, c := range []struct {
		width int
		share float64
		since time.Duration
		want  string
	}{
		{80, 0, 0, "░░░░░░░░░░░░░░░░░░░░   0 %  C in two blocks, trial 3 of 10"},
		{80, 0.25, time.Minute, "█████░░░░░░░░░░░░░░░  25 %  3:00 left  C in two blocks, trial 3 of 10"},
		{40, 1, time.Minute, "████████████████████ 100 %  0 s left  …"},
		{1, 1, 0, ""},
	} {
		if got := meterText(c.width, c.share, c.since, "C in two blocks, trial 3 of 10"); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	var out bytes.Buffer
	start := time.Unix(0, 0)
	m := NewMeter(&out, start)
	for s := range 100 {
		m.Show(start.Add(time.Duration(s)*time.Second), float64(s)/100, "trial")
	}
	m.End()
	if want := "newtop: 30 % after 30 s: trial\nnewtop: 60 % after 1:00: trial\nnewtop: 90 % after 1:30: trial\n"; out.String() != want {
		t.Errorf("without a terminal it says %q", out.String())
	}
}
