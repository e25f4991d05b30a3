package remote

import (
	"slices"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"newtop/tui/screen"
)

const (
	longestTerm     = 64 // bytes
	longestVariable = 64 // bytes of a value
)

// passed are the variables that a client can tell its screen: what its terminal can do and what it is called. Nothing
// that names a file.
var passed = []string{
	"COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "NO_COLOR", "TERM_PROGRAM", "TERM_PROGRAM_VERSION",
}

// terminal is what a client has told of its terminal.
type terminal struct {
	term      string
	size      screen.Size
	variables []string // at most one of each name in passed
}

// environ is the environment of the screen.
func (t *terminal) environ() []string { return append([]string{"TERM=" + t.term}, t.variables...) }

// set takes a variable that the client sent, and says whether it was wanted.
func (t *terminal) set(name, value string) bool {
	if !slices.Contains(passed, name) || len(value) > longestVariable || strings.ContainsFunc(value, unprintable) {
		return false
	}
	t.variables = slices.DeleteFunc(t.variables, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	t.variables = append(t.variables, name+"="+value)
	return true
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }

// termName keeps a TERM that could be the name of a terminal, and makes any other xterm: whoever looks a terminal up
// opens a file of that name.
func termName(s string) string {
	odd := func(r rune) bool { return !letter(r) && !strings.ContainsRune("+-._", r) }
	if s == "" || len(s) > longestTerm || strings.ContainsFunc(s, odd) || !letter(rune(s[0])) ||
		strings.Contains(s, "..") {
		return "xterm"
	}
	return s
}

func letter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// The payloads of requests, RFC 4254 §6.2, §6.4, §6.5 and §6.7. Sizes are cells, and pixels that nobody needs.
type (
	ptyRequest struct {
		Term                            string
		Columns, Rows, PixelsX, PixelsY uint32
		Modes                           string
	}
	windowChange struct{ Columns, Rows, PixelsX, PixelsY uint32 }
	envRequest   struct{ Name, Value string }
	execRequest  struct{ Command string }
)

// payload reads a request's payload; it says whether it was well-formed.
func payload(r *gossh.Request, into any) bool { return gossh.Unmarshal(r.Payload, into) == nil }
