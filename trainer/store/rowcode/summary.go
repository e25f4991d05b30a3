package rowcode

import "strings"

// Prefixed returns a list of columns with a table before each.
func Prefixed(table, columns string) string {
	return table + "." + strings.ReplaceAll(columns, ", ", ", "+table+".")
}
