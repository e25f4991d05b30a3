package csv

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/sheet"
	"newtop/datasets/fault"
)

// checkWhole returns the line and the first byte at fault, 0 if there is none.
func checkWhole(text []byte) (line int, b byte) {
	at := bytes.IndexByte(text, 0)
	if at < 0 {
		for at = 0; at < len(text); {
			r, n := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
	}
	if at == len(text) {
		return 0, 0
	}
	return 1 + bytes.Count(text[:at], []byte{'\n'}), text[at]
}

// Runes and faults are seen wherever the chunks of a text end.
func TestCheckTextInPieces(t *testing.T) {
	for _, tail := range []string{"é\n", "€\n", "😀\n", "\xe2\x82\n", "\xf0\x9f\x98", "\x80\x80\x80\x80\n\x00", "\xff\nö\n\x00\n", "a\x00", "\xf0\x9f\n\x98\x80"} {
		for n := 1<<10 - 9; n <= 1<<10+1; n++ {
			text := []byte(strings.Repeat("a,b\n", n)[:n] + tail + strings.Repeat("ü,2\n", 2000))
			line, b := checkWhole(text)
			_, err := sheet.SurveyInChunks([]lex.Source{source("f", string(text))}, 0, &lex.Options{}, 1<<10, 2)
			if line == 0 {
				if e, ok := errors.AsType[*fault.FormatError](err); ok && e.Expected == "text in UTF-8" {
					t.Fatalf("%q behind %d bytes: %v", tail, n, err)
				}
				continue
			}
			if want := lex.NotTextError("f", line, b); err == nil || err.Error() != want.Error() {
				t.Fatalf("%q behind %d bytes: %v, want %v", tail, n, err, want)
			}
		}
	}
}
