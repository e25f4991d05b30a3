package lex

import (
	"math"
	"strings"
	"time"
	"unicode"
)

// DateOrder reports which part of a date comes first. A date may be read in several orders.
type DateOrder uint16

// The orders: year-month-day, day.month.year and month/day/year, parted by the same one of - / . twice, or by others
// too beside a month's name. Points are written between numbers of day, month and year in this order only. Months are
// dates without a day: 2014-02 or 02/2014.
const (
	YearFirst DateOrder = 1 << iota
	DayFirst
	MonthFirst
	YearMonth
	MonthYear
	// no orders: the first and the second number is 1, as that of the day is in dates of months; a month may be a year
	// with the last digits of the next, as 2001-02; the year has two digits, and is one from 1969 to 2068, as in POSIX
	OneFirst
	OneSecond
	Season
	ShortYear
)

// DateOrders are those and what else is counted of a date.
var DateOrders = [...]DateOrder{YearFirst, DayFirst, MonthFirst, YearMonth, MonthYear, OneFirst, OneSecond,
	Season, ShortYear}

// DateOrderNames name orders, as a Field has them: a part for each input but the hour.
var DateOrderNames = map[DateOrder]string{YearFirst: "year-month-day", DayFirst: "day-month-year",
	MonthFirst: "month-day-year", YearMonth: "year-month", MonthYear: "month-year"}

// ParseDateOrder returns the order that words name, 0 for none.
func ParseDateOrder(words string) DateOrder {
	for o, w := range DateOrderNames {
		if w == words {
			return o
		}
	}
	return 0
}

// Date is a field that is written like one.
type Date struct {
	parts   [3]int    // as they follow one another
	Orders  DateOrder // in which it may be read, 0: in none
	Timed   bool      // whether there is a time of day
	seconds int       // since midnight
}

// ReadDate reads a date with or without a time of day behind it: hours and minutes, with seconds or not, of 24 or 12
// hours, and with the distance to UTC or not, which doesn't count, nor do parts of seconds. The month may be an English
// name, before or behind the day, as in "Jan 5, 2024" and "5-Jan-2024"; a day of the week before it does not count.
// The year may have two digits where it is the last, as in 8/15/14, 15.08.14 and 15-Aug-14. A month may have no day,
// and a quarter is its first month.
func ReadDate(field string) (d Date) {
	const longest = len("Wednesday, September 30, 2020 11:59:59.000000000 PM +00:00")
	if len(field) < len("1/1/00") || len(field) > longest {
		return d
	}
	var widths [3]int
	var marks [3]string
	named, rest := -1, afterWeekday(field)
	for i := range d.parts {
		if i == 2 && rest == "" {
			d.month(widths, marks[1], named)
			return d
		}
		if i > 0 {
			between := len(rest) - len(strings.TrimLeft(rest, " -/.,"))
			marks[i], rest = rest[:between], rest[between:]
		}
		if d.parts[i], widths[i], rest = leadingNumber(rest); widths[i] > 0 {
			continue
		}
		if d.parts[i], rest = leadingMonth(rest); d.parts[i] == 0 || named >= 0 || i == 2 {
			return d
		}
		named = i
	}
	for i, mark := range marks[1:] {
		switch mark {
		case "-", "/", ".":
			if i == 1 && named < 0 && mark != marks[1] {
				return d
			}
		case " ", ",", ", ", ". ", "":
			if named < 0 {
				return d
			}
		default:
			return d
		}
	}
	if rest != "" && !d.time(rest) {
		return d
	}
	short := func(i int) bool { return widths[i] == 1 || widths[i] == 2 }
	years := DateOrder(0)
	if widths[2] == 2 && widths[0] < 4 && (marks[2] == "/" || marks[2] == "-" && named == 1 ||
		marks[2] == "." && widths == [3]int{2, 2, 2}) {
		if d.parts[2] += 1900; d.parts[2] < 1969 {
			d.parts[2] += 100
		}
		widths[2], years = 4, ShortYear
	}
	switch month := func(i int) bool { return named == i || named < 0 && short(i) }; {
	case widths[0] == 4 && month(1) && short(2):
		d.allow(YearFirst)
	case widths[2] == 4:
		if short(0) && month(1) {
			d.allow(DayFirst)
		}
		if month(0) && short(1) && (named == 0 || marks[1] != ".") {
			d.allow(MonthFirst)
		}
		if d.Orders == DayFirst|MonthFirst {
			if d.parts[0] == 1 {
				d.Orders |= OneFirst
			}
			if d.parts[1] == 1 {
				d.Orders |= OneSecond
			}
		}
		if d.Orders != 0 {
			d.Orders |= years
		}
	}
	return d
}

// month reads a date without a day, of two parts and a mark between them.
func (d *Date) month(widths [3]int, mark string, named int) {
	order := YearMonth
	if named == 0 || named < 0 && widths[1] == 4 {
		order = MonthYear
		d.parts[0], d.parts[1], widths[0], widths[1] = d.parts[1], d.parts[0], widths[1], widths[0]
	}
	d.parts[2] = 1
	const earliest, latest = 1500, 2500 // other numbers are hardly years
	if widths[0] != 4 || d.parts[0] < earliest || d.parts[0] > latest ||
		named < 0 && (mark != "-" && mark != "/" || widths[1] > 2) {
		return
	}
	if d.allow(order); d.Orders == YearMonth {
		d.Orders |= YearFirst // beside others that have a day
		if d.parts[1] == (d.parts[0]+1)%100 {
			d.Orders |= Season
		}
	}
}

// isName reports whether letters are a name, or the first three of it.
func isName(letters, name string) bool {
	return strings.EqualFold(letters, name) || len(letters) == 3 && strings.EqualFold(letters, name[:3])
}

// Year returns the year of a date whose year is the last of its parts.
func (d *Date) Year() int { return d.parts[2] }

// leadingLetters returns the letters that a text begins with.
func leadingLetters(text string) string {
	return text[:len(text)-len(strings.TrimLeftFunc(text, unicode.IsLetter))]
}

// leadingMonth reads the name of a month that a text begins with, or such as Q2 for its quarter's first; 0: there is
// none.
func leadingMonth(text string) (month int, rest string) {
	if len(text) > 1 && (text[0] == 'Q' || text[0] == 'q') && text[1] >= '1' && text[1] <= '4' {
		return 3*int(text[1]-'1') + 1, text[2:]
	}
	letters := leadingLetters(text)
	for m := time.January; m <= time.December; m++ {
		if isName(letters, m.String()) || m == time.September && strings.EqualFold(letters, "sept") {
			return int(m), text[len(letters):]
		}
	}
	return 0, text
}

// afterWeekday returns what is behind the day of the week that a text begins with.
func afterWeekday(text string) string {
	letters := leadingLetters(text)
	for day := time.Sunday; letters != "" && day <= time.Saturday; day++ {
		if isName(letters, day.String()) {
			return strings.TrimLeft(text[len(letters):], ", ")
		}
	}
	return text
}

// allow adds an order if there is such a day.
func (d *Date) allow(o DateOrder) {
	if _, ok := d.day(o); ok {
		d.Orders |= o
	}
}

// day returns midnight of the date, read in an order.
func (d *Date) day(o DateOrder) (time.Time, bool) {
	year, month, day := d.parts[0], d.parts[1], d.parts[2]
	switch o {
	case DayFirst:
		year, day = d.parts[2], d.parts[0]
	case MonthFirst:
		year, month, day = d.parts[2], d.parts[0], d.parts[1]
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return t, year > 0 && month >= 1 && month <= 12 && day >= 1 && t.Day() == day
}

// time reads the time of day behind a date.
func (d *Date) time(text string) bool {
	if text[0] != 'T' && text[0] != ' ' {
		return false
	}
	hour, n, rest := leadingNumber(text[1:])
	if n < 1 || n > 2 || hour > 23 || rest == "" || rest[0] != ':' {
		return false
	}
	minute, n, rest := leadingNumber(rest[1:])
	if n != 2 || minute > 59 {
		return false
	}
	second := 0
	if rest != "" && rest[0] == ':' {
		if second, n, rest = leadingNumber(rest[1:]); n != 2 || second > 60 {
			return false
		}
		if rest != "" && (rest[0] == '.' || rest[0] == ',') {
			if _, n, rest = leadingNumber(rest[1:]); n == 0 {
				return false
			}
		}
	}
	if half := strings.TrimLeft(rest, " "); len(half) > 1 && (half[1] == 'M' || half[1] == 'm') {
		if hour < 1 || hour > 12 || !strings.ContainsRune("AaPp", rune(half[0])) {
			return false
		}
		if hour %= 12; half[0] == 'P' || half[0] == 'p' {
			hour += 12
		}
		rest = half[2:]
	}
	d.Timed, d.seconds = true, hour*3600+minute*60+second
	return isZone(rest)
}

// isZone reports whether a text is a distance to UTC: nothing, Z, UTC, GMT, or such as +02, +0200 or +02:00.
func isZone(text string) bool {
	if text != "" && text[0] == ' ' {
		text = text[1:]
	}
	switch {
	case text == "", text == "Z", text == "UTC", text == "GMT":
		return true
	case text[0] != '+' && text[0] != '-':
		return false
	}
	_, n, rest := leadingNumber(text[1:])
	if n == 2 && rest != "" && rest[0] == ':' {
		_, n, rest = leadingNumber(rest[1:])
		return n == 2 && rest == ""
	}
	return (n == 2 || n == 4) && rest == ""
}

// leadingNumber reads the digits that a text begins with; there are none where there are more than nine.
func leadingNumber(text string) (v, digits int, rest string) {
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		v = v*10 + int(text[digits]-'0')
		if digits++; digits > 9 {
			return 0, 0, text
		}
	}
	return v, digits, text[digits:]
}

// ParseDate returns the seconds from 1970 to a date in an order. A year alone, among others that begin with it, is its
// first day.
func ParseDate(field string, o DateOrder) (float64, bool) {
	if len(field) == 4 && o&(YearFirst|YearMonth) != 0 {
		field += "-01"
	}
	d := ReadDate(field)
	if o == YearMonth {
		o |= YearFirst // the day doesn't count
	}
	if d.Orders&o == 0 {
		return 0, false
	}
	t, _ := d.day(o)
	return float64(t.Unix() + int64(d.seconds)), true
}

// DatePartNames are what a date becomes, the hour only where there are times of day.
var DatePartNames = []string{"year", "month", "day of week", "hour"}

// WriteDateParts stores what a date becomes: its year, month from 1, and, if there is room for them, day of the week
// from 1 for Monday and the hour with its fraction. What is missing is NaN.
func WriteDateParts(dst []float64, seconds float64) {
	if math.IsNaN(seconds) {
		for k := range dst {
			dst[k] = seconds
		}
		return
	}
	t := time.Unix(int64(seconds), 0).UTC()
	dst[0], dst[1] = float64(t.Year()), float64(t.Month())
	if len(dst) > 2 {
		dst[2] = float64((t.Weekday()+6)%7 + 1)
	}
	if len(dst) > 3 {
		dst[3] = float64(t.Hour()*3600+t.Minute()*60+t.Second()) / 3600
	}
}
