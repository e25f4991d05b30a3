package remote

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longestName = 32  // characters of a name
	longestLine = 200 // characters of a message from outside
)

// clean makes text that came from outside fit for a log, a terminal or a name: no control characters, none that change
// the direction of text or join others, and at most limit characters.
func clean(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			r = ' '
		case r == utf8.RuneError:
			r = '?'
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.M, unicode.Zl, unicode.Zp):
			continue
		}
		if n++; n > limit {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
