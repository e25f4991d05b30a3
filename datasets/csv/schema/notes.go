package schema

import (
	"fmt"
	"strings"

	"newtop/internal/format"
)

// Notes are lines about what was decided. Where the same is to be said of many columns, one line says it.
type Notes struct{ Lines []string }

// maxLines is how many columns have a line each for the same reason.
const maxLines = 5

// Add appends a note, formatted.
func (n *Notes) Add(format string, values ...any) {
	n.Lines = append(n.Lines, fmt.Sprintf(format, values...))
}

// AddGroup says the same of columns: a line each, or one for many of them, in which COLUMN stands for each.
func (n *Notes) AddGroup(columns []string, about func(column string) string) {
	if len(columns) <= maxLines {
		for _, c := range columns {
			n.Lines = append(n.Lines, about(c))
		}
		return
	}
	first := strings.Join(columns[:maxLines], ", ")
	line := about("COLUMN")
	n.Lines = append(n.Lines, fmt.Sprintf("%s and %d others%s", first, len(columns)-maxLines,
		strings.TrimPrefix(line, "COLUMN")))
}

// RowsAre counts rows of a kind, of which something is said.
func RowsAre(n int, which string) string {
	if n == 1 {
		return "1 row " + which + " is"
	}
	return format.Count(n) + " rows " + which + " are"
}
