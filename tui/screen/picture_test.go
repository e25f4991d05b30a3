package screen

import (
	"strings"
	"testing"
)

func TestPlainName(t *testing.T) {
	for in, want := range map[string]string{
		"letters": "letters", "../../etc/passwd": "etc-passwd", "My Data.csv": "my-data.csv", "日本": "run", "": "run", "a\x1b[31mb": "a--31mb", ".hidden": "hidden",
		strings.Repeat("x", 200): strings.Repeat("x", 60),
	} {
		if got := PlainName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
