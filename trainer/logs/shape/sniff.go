package shape

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Sniff reports whether the beginning of a file may be text with numbers in it.
func Sniff(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for i := 0; i < utf8.UTFMax && len(head) > 0; i++ { // the last character may be cut
		if r, n := utf8.DecodeLastRune(head); r != utf8.RuneError || n > 1 {
			break
		}
		if i == utf8.UTFMax-1 {
			return false
		}
		head = head[:len(head)-1]
	}
	if !utf8.Valid(head) {
		return false
	}
	digits := bytes.ContainsAny(head, "0123456789")
	for _, c := range head {
		if c < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\a\x1b", rune(c)) {
			return false
		}
	}
	return digits
}
