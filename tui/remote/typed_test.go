package remote

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestTyped: what people and terminals send passes whole, what never ends is cut off.
func TestTyped(t *testing.T) {
	long := strings.Repeat("1", longestSequence)
	for _, s := range []string{
		"", "q", long + long, "\x1b[A\x1b[1;5C\x1bOP\x1b\x1b[B", "\x1b]11;rgb:0000/0000/0000\x07" + long, "\x1b]11;rgb:0/0/0\x1b\\" + long,
		"\x1bP>|x\x1b\\" + long, pasteStart + "text\x1b[A" + pasteEnds + long, strings.Repeat("\x1b[<35;10;10M", 20_000), "\x1bx" + long, "\x1b]\x1b[A" + long, strings.Repeat("“\u0090é😀”", 20_000),
		strings.Repeat("\x1b", 2*longestSequence),
	} {
		for _, r := range []io.Reader{strings.NewReader(s), iotest.OneByteReader(strings.NewReader(s))} {
			if got, err := io.ReadAll(&typed{Reader: r}); err != nil || string(got) != s {
				t.Errorf("%.20q of %d bytes: %d came, %v", s, len(s), len(got), err)
			}
		}
	}
	for _, s := range []string{"\x1b[", "\x1b]", "\x1bP", "\x1b_", pasteStart, pasteStart + "\x1b[200~", "\x9d", "\x80\x9d", "\xc2\x90\x90", "\x9b"} {
		if _, err := io.ReadAll(&typed{Reader: strings.NewReader("abc" + s + long + long)}); !errors.Is(err, errEndless) {
			t.Errorf("%q is endless: %v", s, err)
		}
	}
}

// FuzzTyped changes nothing of what is short.
func FuzzTyped(f *testing.F) {
	for _, s := range []string{"q", "\x1b[A", pasteStart + "x" + pasteEnds, "\x1b]11;?\x07", "\x1b\x1b\x1b[["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := io.ReadAll(&typed{Reader: strings.NewReader(s)}); len(s) < longestSequence && (err != nil || string(got) != s) {
			t.Errorf("%q became %q, %v", s, got, err)
		}
	})
}
