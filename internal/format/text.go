package format

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable returns text, which may be a stranger's, as one line that a terminal shows as it is: control characters,
// line ends and tabs among them, and what is invisible or changes the direction of text become escapes that can be
// read, as \n or \u202e. In a JSON string they mean the same characters.
func Printable(text string) string {
	if strings.IndexFunc(text, unprintable) < 0 && utf8.ValidString(text) {
		return text
	}
	b := make([]byte, 0, len(text)+16)
	for _, r := range text { // a byte that is no UTF-8 is U+FFFD
		b = AppendPrintable(b, r)
	}
	return string(b)
}

// AppendPrintable appends a character as Printable writes it.
func AppendPrintable(b []byte, r rune) []byte {
	switch {
	case !unprintable(r):
		return utf8.AppendRune(b, r)
	case r < ' ': // which JSON has no characters of
		quoted := strconv.AppendQuoteRune(nil, r)
		return append(b, quoted[1:len(quoted)-1]...)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return appendEscape(appendEscape(b, high), low)
	}
	return appendEscape(b, r)
}

func unprintable(r rune) bool { return !strconv.IsPrint(r) }

func appendEscape(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// How long what a message repeats of its cause may be, in characters.
const (
	longestQuote = 80   // between quotation marks
	longestWord  = 240  // without spaces; paths are long
	longestText  = 2000 // all of it
)

// Shortened returns a message with … in the middle of what is long in it: an argument or a field of a file that it
// repeats.
func Shortened(text string) string {
	if len(text) <= longestQuote {
		return text
	}
	var b strings.Builder
	for rest := cut(text, 100*longestText); rest != ""; {
		word, width := firstWord(rest), longestWord
		if word[0] == '"' {
			width = longestQuote
		}
		b.WriteString(cut(word, width))
		rest = rest[len(word):]
	}
	return cut(b.String(), longestText)
}

// firstWord returns what a text, which is not empty, begins with: what stands between quotation marks, or all before
// the next space or quotation mark.
func firstWord(text string) string {
	if text[0] == '"' {
		if quoted, err := strconv.QuotedPrefix(text); err == nil {
			return quoted
		}
	}
	if i := strings.IndexAny(text[1:], ` "`); i >= 0 {
		return text[:1+i]
	}
	return text
}

// cut leaves that many characters of a text, those of its beginning and of its end.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:width/2]) + "…" + string(runes[len(runes)-width/2+1:])
}

// StyleLength is the length of the sequence that a text begins with if that chooses colours and attributes (SGR), and 0
// if it begins with anything else.
func StyleLength[T string | []byte](s T) int {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}

// QuoteAll joins arguments so that a shell takes them apart again.
func QuoteAll(args []string) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = Quote(a)
	}
	return strings.Join(parts, " ")
}

// Quote returns an argument as a shell reads it: as it is where nothing in it means anything to a shell.
func Quote(arg string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' ||
			strings.ContainsRune("-_=+:,./@%", r)
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !plain(r) }) < 0 {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
