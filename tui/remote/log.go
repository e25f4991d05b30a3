package remote

import (
	"strings"

	"newtop/tui/style"
)

const (
	longestName = 32  // characters of a name
	longestLine = 200 // characters of a message from outside
)

// clean makes text that came from outside fit for a log, a terminal or a name: what may be drawn, and at most limit
// characters.
func clean(s string, limit int) string {
	runes := []rune(style.Clean(s))
	if len(runes) > limit {
		runes = append(runes[:limit], '…')
	}
	return strings.TrimSpace(string(runes))
}
