package sqlfile

import (
	"fmt"
	"time"
)

// timeLayout is how times stand in the database: in UTC, so that they sort as text and SQL's functions know them.
const timeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime returns a time as the database has it, in UTC.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// ParseTime reads what FormatTime returns.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(timeLayout, text)
	if err != nil {
		return t, fmt.Errorf("time %q: expected one like %s", text, timeLayout)
	}
	return t, nil
}
