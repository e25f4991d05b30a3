package print

import (
	"math"
	"strings"
	"testing"

	"newtop/trainer/event"
)

// A long line is folded between words alone, so that what is copied from it is whole.
func TestFolded(t *testing.T) {
	text := "newtop train --data 'two words' --opt tr-newton-with-a-long-name --epochs 20"
	for width := 1; width < 90; width++ {
		got := Fold(text, width)
		if strings.ReplaceAll(got, "\n", " ") != text {
			t.Errorf("%d columns: %q", width, got)
		}
		for _, line := range strings.Split(got, "\n") {
			if len(line) > width && strings.Contains(line, " ") {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
	if text := "  aligned   as  it was"; Fold(text, 40) != text {
		t.Errorf("%q became %q", text, Fold(text, 40))
	}
}

func TestElapsed(t *testing.T) {
	for s, want := range map[event.Float]string{0: "0 s", 0.000316: "0.316 ms", 0.361: "361 ms", 7.684: "7.68 s", 59.99: "60 s", 73.8: "1:13", 3725: "1:02:05",
		event.Float(math.NaN()): ".", 1e300: "."} {
		if got := Elapsed(s); got != want {
			t.Errorf("%v s is %q, expected %q", float64(s), got, want)
		}
	}
}

func TestCounts(t *testing.T) {
	for got, want := range map[string]string{
		Count(1, "run"): "1 run", Count(0, "run"): "0 runs", CountOf(1, "process", "processes"): "1 process", CountOf(2, "process", "processes"): "2 processes",
		CountRange(1, 1, "row"): "1 row", CountRange(2, 3, "row"): "2 to 3 rows",
	} {
		if got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
