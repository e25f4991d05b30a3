package csv

import (
	"fmt"
	"newtop/internal/format"
	"strings"
)

// notes are lines about what was decided. Where the same is to be said of many columns, one line says it.
type notes struct{ lines []string }

// maxLines is how many columns have a line each for the same reason.
const maxLines = 5

func (n *notes) add(format string, values ...any) {
	n.lines = append(n.lines, fmt.Sprintf(format, values...))
}

// addGroup says the same of columns: a line each, or one for many of them, in which COLUMN stands for each.
func (n *notes) addGroup(columns []string, about func(column string) string) {
	if len(columns) <= maxLines {
		for _, c := range columns {
			n.lines = append(n.lines, about(c))
		}
		return
	}
	first := strings.Join(columns[:maxLines], ", ")
	line := about("COLUMN")
	n.lines = append(n.lines, fmt.Sprintf("%s and %d others%s", first, len(columns)-maxLines,
		strings.TrimPrefix(line, "COLUMN")))
}

// rowsAre counts rows of a kind, of which something is said.
func rowsAre(n int, which string) string {
	if n == 1 {
		return "1 row " + which + " is"
	}
	return format.Count(n) + " rows " + which + " are"
}
