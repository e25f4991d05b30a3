package csv

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestReadDate(t *testing.T) {
	for _, c := range []struct {
		text   string
		orders dateOrder
		timed  bool
	}{
		{"2020-02-29", yearFirst, false}, {"2021-02-29", 0, false}, {"2020/2/9", yearFirst, false}, {"2020.12.31", yearFirst, false},
		{"1.2.2020", dayFirst, false}, {"12.31.2020", 0, false}, {"31.12.2020", dayFirst, false}, {"01/02/2020", dayFirst | monthFirst, false},
		{"13/02/2020", dayFirst, false}, {"02-13-2020", monthFirst, false}, {"13/13/2020", 0, false}, {"1-2-20", 0, false}, {"2020-1/2", 0, false},
		{"2020-01-02T03:04:05.678Z", yearFirst, true}, {"2020-01-02 23:59", yearFirst, true}, {"2020-01-02 24:00", 0, false}, {"2020-01-02 3:04:05+02:00", yearFirst, true},
		{"2020-01-02 03:04 -0700", yearFirst, true}, {"2020-01-02 03:4", 0, false}, {"2020-01-02 ", 0, false}, {"2020-01-02x", 0, false}, {"0000-01-02", 0, false},
		{"192.168.100.1", 0, false}, {"1234567890-1-1", 0, false}, {"2020-01-", 0, false}, {"", 0, false}, {"10000-01-01", 0, false}, {"12.2020", 0, false},
	} {
		if d := readDate(c.text); d.orders != c.orders || c.orders != 0 && d.timed != c.timed {
			t.Errorf("%q: orders %b, timed %t", c.text, d.orders, d.timed)
		}
	}
}

// The parts of a date are those that package time finds in the standard form.
func TestDateParts(t *testing.T) {
	forms := map[string]dateOrder{"2006-01-02 15:04:05": yearFirst, "2.1.2006 15:04:05": dayFirst, "01/02/2006 15:04:05": monthFirst}
	for at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 10000; at = at.Add(12345 * time.Hour).Add(678 * time.Second) {
		for form, o := range forms {
			text := at.Format(form)
			if at.Year() < 1000 && o != yearFirst {
				continue
			}
			v, ok := parseDate(text, o)
			parts := make([]float64, 4)
			writeDateParts(parts, v)
			weekday := float64(at.Weekday())
			if weekday == 0 {
				weekday = 7
			}
			want := []float64{float64(at.Year()), float64(at.Month()), weekday, float64(at.Hour()) + float64(at.Minute())/60 + float64(at.Second())/3600}
			if !ok || !slices.Equal(parts[:3], want[:3]) || math.Abs(parts[3]-want[3]) > 1e-12 {
				t.Fatalf("%q: %v, expected %v", text, parts, want)
			}
		}
	}
}
