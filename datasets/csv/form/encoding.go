package form

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"newtop/datasets/fault"
)

// Text is what is looked at of a text: all or some of its start, its end, and what all of it has.
type Text struct {
	Head, Tail []byte
	Lines      int   // in all; 0: nobody knows
	Returns    int   // carriage returns
	Bad        Bytes // of all, or of the head
}

// Bytes counts those that tell of an encoding.
type Bytes struct {
	invalid  int // bytes that are none of UTF-8
	crowded  int // of these, behind two others
	controls int // bytes of no text
	zeros    int
	rest     []byte // the start of a rune at the end of what was seen
}

// Add counts those of the next piece of a text.
func (b *Bytes) Add(piece []byte) {
	b.controls += controls(piece)
	b.zeros += bytes.Count(piece, []byte{0})
	if b.rest != nil {
		piece, b.rest = append(b.rest, piece...), nil
	}
	run := 0
	for len(piece) > 0 {
		if utf8.Valid(piece) {
			return
		}
		r, n := utf8.DecodeRune(piece)
		switch {
		case r != utf8.RuneError || n > 1:
			run = 0
		case !utf8.FullRune(piece):
			b.rest = bytes.Clone(piece)
			return
		default:
			b.invalid++
			if run++; run > 2 {
				b.crowded++
			}
		}
		piece = piece[n:]
	}
}

// controls counts bytes that text in Windows-1252 doesn't have.
func controls(piece []byte) (n int) {
	for _, c := range []byte{1, 2, 3, 4, 5, 6, 7, 8, 0x0e, 0x0f, 0x10, 0x1a, 0x1b} {
		n += bytes.Count(piece, []byte{c})
	}
	return n
}

// voteEncoding finds out the encoding, and decodes the head and the tail. name is what the option says, empty: nothing.
func (f *Form) voteEncoding(t *Text, file, name string) error {
	start := t.Head
	utf16 := func(order unicode.Endianness) encoding.Encoding { return unicode.UTF16(order, unicode.UseBOM) }
	switch {
	case name != "":
		e, err := htmlindex.Get(name)
		if err != nil {
			return &fault.OptionError{Field: "encoding", Value: name,
				Expected: "a name such as utf-8, latin1, windows-1252, utf-16le, shift_jis or gbk"}
		}
		if canonical, _ := htmlindex.Name(e); canonical != "utf-8" {
			f.encoding = e
		}
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}):
		f.encoding = utf16(unicode.LittleEndian)
		f.note("read as UTF-16, as its first bytes say; --table encoding=NAME reads another encoding")
	case bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		f.encoding = utf16(unicode.BigEndian)
		f.note("read as UTF-16, as its first bytes say; --table encoding=NAME reads another encoding")
	case zeros(start, 1) > 0.4 && zeros(start, 0) < 0.1:
		f.encoding = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
		f.note("read as UTF-16, as every other byte is zero; --table encoding=NAME reads another encoding")
	case zeros(start, 0) > 0.4 && zeros(start, 1) < 0.1:
		f.encoding = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
		f.note("read as UTF-16, as every other byte is zero; --table encoding=NAME reads another encoding")
	case t.Bad.invalid == 0 || t.Bad.zeros > 0 || t.Bad.controls > 0: // UTF-8, or no text
	case 2*t.Bad.crowded > t.Bad.invalid:
		return &fault.FormatError{File: file, Line: 1, Found: "text that is not in UTF-8 and not in Latin letters",
			Expected: "--table encoding=NAME, such as windows-1251, gbk, shift_jis or euc-kr"}
	default:
		f.encoding = charmap.Windows1252
		f.note("not UTF-8, read as Windows-1252; --table encoding=NAME reads another encoding")
	}
	if f.encoding == nil {
		t.Head = bytes.TrimPrefix(t.Head, []byte("\xef\xbb\xbf"))
		return nil
	}
	var err error
	if t.Head, err = decode(f.encoding, t.Head); err == nil {
		t.Tail, err = decode(f.encoding, t.Tail)
	}
	return err
}

func decode(e encoding.Encoding, text []byte) ([]byte, error) {
	out, err := e.NewDecoder().Bytes(text)
	return bytes.TrimPrefix(out, []byte("\ufeff")), err
}

// zeros returns the share of zeros among every other byte.
func zeros(text []byte, from int) float64 {
	n, of := 0, 0
	for i := from; i < len(text); i += 2 {
		of++
		if text[i] == 0 {
			n++
		}
	}
	return float64(n) / float64(max(of, 1))
}
