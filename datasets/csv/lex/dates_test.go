package lex

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadDate(t *testing.T) {
	for _, c := range []struct {
		text   string
		orders DateOrder
		timed  bool
	}{
		{"2020-02-29", YearFirst, false}, {"2021-02-29", 0, false}, {"2020/2/9", YearFirst, false}, {"2020.12.31", YearFirst, false},
		{"2020-02", YearMonth | YearFirst, false}, {"2020/13", 0, false}, {"2/2020", MonthYear, false}, {"2.2020", 0, false}, {"1234-05", 0, false}, {"Mar-2018", MonthYear, false},
		{"2020Q4", YearMonth | YearFirst, false}, {"Q4 2020", MonthYear, false}, {"Q5 2020", 0, false}, {"2020-2021", 0, false}, {"1984-85", 0, false}, {"Jan 2020 ", 0, false},
		{"8/15/14", MonthFirst | ShortYear, false}, {"15.08.14", DayFirst | ShortYear, false}, {"1.2.20", 0, false}, {"6-Aug-09 9:05", DayFirst | ShortYear, true}, {"13/13/14", 0, false},
		{"1.2.2020", DayFirst, false}, {"12.31.2020", 0, false}, {"31.12.2020", DayFirst, false}, {"01/02/2020", DayFirst | MonthFirst | OneFirst, false},
		{"13/02/2020", DayFirst, false}, {"02-13-2020", MonthFirst, false}, {"13/13/2020", 0, false}, {"1-2-20", 0, false}, {"2020-1/2", 0, false},
		{"2020-01-02T03:04:05.678Z", YearFirst, true}, {"2020-01-02 23:59", YearFirst, true}, {"2020-01-02 24:00", 0, false}, {"2020-01-02 3:04:05+02:00", YearFirst, true},
		{"2020-01-02 03:04 -0700", YearFirst, true}, {"2020-01-02 03:4", 0, false}, {"2020-01-02 ", 0, false}, {"2020-01-02x", 0, false}, {"0000-01-02", 0, false},
		{"Jan 5, 2024", MonthFirst, false}, {"September 25, 2021", MonthFirst, false}, {"Sept. 25, 2021", MonthFirst, false}, {"5-Jan-2024", DayFirst, false},
		{"05JAN2024", DayFirst, false}, {"5 january 2024 17:30", DayFirst, true}, {"2024-Jan-05", YearFirst, false}, {"30 Feb 2024", 0, false}, {"Mai 5, 2024", 0, false},
		{"Tue, 24 Feb 2015 11:35:52 +0000", DayFirst, true}, {"Tuesday, February 24, 2015", MonthFirst, false}, {"Tue 24", 0, false}, {"Jan Feb 2015", 0, false},
		{"01/13/2015 11:00:00 PM", MonthFirst, true}, {"2015-01-13 12:05 am", YearFirst, true}, {"2015-01-13 13:05 PM", 0, false}, {"2015-01-13 1:05 XM", 0, false},
		{"2015-01-13 11:00:00 UTC", YearFirst, true}, {"2015 01 13", 0, false}, {"12 May 24", 0, false}, {"12345 May 2024", 0, false}, {"Model 5, 2024", 0, false},
		{"192.168.100.1", 0, false}, {"1234567890-1-1", 0, false}, {"2020-01-", 0, false}, {"", 0, false}, {"10000-01-01", 0, false}, {"12.2020", 0, false},
	} {
		if d := ReadDate(c.text); d.Orders != c.orders || c.orders != 0 && d.Timed != c.timed {
			t.Errorf("%q: orders %b, timed %t", c.text, d.Orders, d.Timed)
		}
	}
}

// The parts of a date are those that package time finds in the standard form.
func TestDateParts(t *testing.T) {
	forms := map[string]DateOrder{"2006-01-02 15:04:05": YearFirst, "2.1.2006 15:04:05": DayFirst, "01/02/2006 15:04:05": MonthFirst, "Mon, 02-Jan-2006 3:04:05PM": DayFirst, "January 2, 2006 03:04:05 PM": MonthFirst, "1/2/06 15:04:05": MonthFirst, "02-Jan-06 15:04:05": DayFirst}
	for at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 10000; at = at.Add(12345 * time.Hour).Add(678 * time.Second) {
		for form, o := range forms {
			text := at.Format(form)
			if at.Year() < 1000 && o != YearFirst || !strings.Contains(form, "2006") && (at.Year() < 1969 || at.Year() > 2068) {
				continue
			}
			v, ok := ParseDate(text, o)
			parts := make([]float64, 4)
			WriteDateParts(parts, v)
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
