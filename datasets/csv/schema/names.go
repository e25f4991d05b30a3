package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/format"
)

// ColumnNames returns what the columns are called whose first record, which may be a header, is given. A name that is
// there again has its number behind it, as in pandas and R: a, a.1, a.2.
func ColumnNames(first []string, header bool) []string {
	names, taken := make([]string, len(first)), make(map[string]bool)
	for j, field := range first {
		if header && field != "" {
			name := format.Printable(field)
			names[j] = name
			for i := 1; taken[names[j]]; i++ {
				names[j] = name + "." + strconv.Itoa(i)
			}
			taken[names[j]] = true
		}
	}
	for j := range names {
		if names[j] != "" {
			continue
		}
		if names[j] = strconv.Itoa(j + 1); taken[names[j]] {
			names[j] = fmt.Sprintf("Unnamed: %d", j)
		}
	}
	return names
}

// LookUpColumn returns which column is asked for, or -1 and, where it may be either of two, how to say which.
func LookUpColumn(requested string, names []string, columns int) (j int, either string) {
	placed := func(text string) int {
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= columns {
			return n - 1
		}
		return -1
	}
	byName, byPlace := slices.Index(names, requested), placed(requested)
	switch {
	case byName >= 0 && byPlace >= 0 && byName != byPlace:
		return -1, fmt.Sprintf(
			"name:%s for column %d, which has that name, or place:%s for the column with that number, %q",
			requested, byName+1, requested, names[byPlace])
	case byName >= 0:
		return byName, ""
	case byPlace >= 0:
		return byPlace, ""
	}
	if name, ok := strings.CutPrefix(requested, "name:"); ok {
		return slices.Index(names, name), ""
	}
	if place, ok := strings.CutPrefix(requested, "place:"); ok {
		return placed(place), ""
	}
	return -1, ""
}
