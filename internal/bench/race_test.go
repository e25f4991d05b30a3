package bench

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/event"
)

// Runs on a table come from their own seeds, are charged, and end after their epochs.
func TestRaceOnATable(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,side\n")
	for i := range 200 {
		a, b := math.Sin(float64(i)), math.Cos(float64(3*i))
		fmt.Fprintf(&text, "%.6f,%.6f,%v\n", a, b, map[bool]string{true: "left", false: "right"}[a > b])
	}
	file := filepath.Join(t.TempDir(), "sides.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var told []string
	got, err := MeasureRaces(t.Context(), RaceOptions{
		Table: file, Target: "side", Methods: []string{"adam", "tr-newton"}, Seeds: 2, First: 3, Threads: 1,
		Live: func(line string) { told = append(told, line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Races) != 1 || got.Races[0].Regress || len(got.Races[0].Entries) != 2 || len(told) != 2 {
		t.Fatalf("%+v, told %q", got.Races, told)
	}
	for i, epochs := range []event.Float{30, 8} {
		r := got.Races[0].Entries[i]
		if !slices.Equal(r.Taken, []event.Float{epochs, epochs}) || r.Reached() != 2 || len(r.Last) != 2 {
			t.Errorf("%+v", r)
		}
		for seed := range r.Last {
			if float64(r.Work[seed]) < float64(epochs)*(1-1e-9) || r.Best[seed] > r.Last[seed] || r.Last[seed] > 0.3 {
				t.Errorf("%s, seed %d: work %v, error %v, best %v", r.Method, 3+seed, r.Work[seed], r.Last[seed], r.Best[seed])
			}
		}
	}
}

func TestMedian(t *testing.T) {
	never := event.Absent
	for _, c := range []struct {
		of   []event.Float
		want event.Float
	}{
		{[]event.Float{3, 1, 2}, 2}, {[]event.Float{4, 1, 2, 3}, 2.5}, {[]event.Float{never, 1, 2}, 2},
		{[]event.Float{never, never, 1}, never}, {[]event.Float{never, 1, 2, never}, never},
	} {
		if got := Median(c.of); got != c.want && !(got.Absent() && c.want.Absent()) {
			t.Errorf("of %v: %v, expected %v", c.of, got, c.want)
		}
	}
}
