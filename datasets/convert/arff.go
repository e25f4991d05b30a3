package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"newtop/datasets/fault"
)

// isARFF reports whether the first line that is no comment is a declaration.
func isARFF(lines [][]byte) bool {
	for _, line := range lines {
		line = bytes.ToLower(bytes.TrimSpace(line))
		if len(line) > 0 && line[0] != '%' {
			return bytes.HasPrefix(line, []byte("@relation")) || bytes.HasPrefix(line, []byte("@attribute"))
		}
	}
	return false
}

// attribute is a column of an ARFF file.
type attribute struct {
	name   string
	kind   kind
	values []string            // of a nominal one
	known  map[string]struct{} // values
	layout string              // of a date, as package time writes it
	clock  bool                // whether that has the time of the day
}

// kind is what the values of an attribute are.
type kind int

const (
	numeric kind = iota
	nominal
	words
	date
)

// arff is a file in Weka's format, see "Attribute-Relation File Format" in its manual.
type arff struct {
	file       File
	attributes []attribute
	begin      int64 // where the rows start
	line       int   // there
	rows       atomic.Int64
}

// openARFF reads the declarations.
func openARFF(f File) (part, error) {
	a := &arff{file: f, line: 1}
	text := bufio.NewReaderSize(io.NewSectionReader(f.Content, 0, f.Size), maxDeclaration)
	for ; ; a.line++ {
		line, err := text.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			return nil, f.onLine(a.line, "", fmt.Sprintf("more than %d bytes", maxDeclaration), "@data and rows")
		case err == io.EOF && len(line) == 0:
			return nil, f.onLine(a.line, "", "the end of the file", "@data and rows")
		case err != nil && err != io.EOF:
			return nil, err
		}
		a.begin += int64(len(line))
		if a.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		done, err := a.declare(strings.TrimSpace(string(line)))
		if err != nil {
			return nil, err
		}
		if done {
			a.line++
			return a, nil
		}
	}
}

const maxDeclaration = 1 << 24 // bytes

// declare reads a line above the rows, and reports whether it is the one before them.
func (a *arff) declare(line string) (done bool, err error) {
	word, rest, _ := strings.Cut(strings.Replace(line, "\t", " ", 1), " ")
	switch strings.ToLower(word) {
	case "@data":
		if len(a.attributes) == 0 {
			return false, a.file.onLine(a.line, "", "@data", "an @attribute before it")
		}
		return true, nil
	case "@attribute":
		return false, a.attribute(strings.TrimSpace(rest))
	case "@relation", "":
		return false, nil
	}
	if line[0] == '%' {
		return false, nil
	}
	return false, a.file.onLine(a.line, "", fault.Quote(line), "@relation, @attribute, @data or a comment behind %")
}

// attribute reads a declaration: a name and a type.
func (a *arff) attribute(text string) error {
	name, rest, err := arffValue([]byte(text), " \t{")
	if err != nil {
		return a.placed(err)
	}
	t := attribute{name: string(name)}
	of := strings.TrimSpace(string(rest))
	wrong := func(found, expected string) error { return a.file.onLine(a.line, t.name, found, expected) }
	if t.name == "" || of == "" {
		return wrong(fault.Quote("@attribute "+text), "@attribute NAME TYPE")
	}
	if len(a.attributes) == maxColumns {
		return a.file.fits(0, maxColumns+1)
	}
	word, format, _ := strings.Cut(strings.Replace(of, "\t", " ", 1), " ")
	switch word = strings.ToLower(word); {
	case of[0] == '{':
		t.kind = nominal
		if t.values, err = a.values(of); err != nil {
			return err
		}
		t.known = make(map[string]struct{}, len(t.values))
		for _, v := range t.values {
			t.known[v] = struct{}{}
		}
	case word == "numeric", word == "real", word == "integer":
	case word == "string":
		t.kind = words
	case word == "date":
		format = cmp.Or(strings.Trim(strings.TrimSpace(format), `"'`), "yyyy-MM-dd'T'HH:mm:ss")
		t.kind, t.clock = date, strings.ContainsAny(format, "Hh")
		if strings.Contains(format, "T") && !strings.Contains(format, "'") {
			format = strings.Replace(format, "T", "'T'", 1) // the quotes were those of the format
		}
		if t.layout = dateLayout(format); t.layout == "" {
			return wrong("dates in the format "+fault.Quote(format),
				"one of y, M, d, H, m, s and S, as yyyy-MM-dd HH:mm:ss")
		}
	default:
		return wrong("the type "+fault.Quote(of), "numeric, real, integer, string, date or {names}")
	}
	a.attributes = append(a.attributes, t)
	return nil
}

// values reads the names of a nominal attribute.
func (a *arff) values(text string) (list []string, err error) {
	rest := []byte(text[1:])
	for {
		var v []byte
		if v, rest, err = arffValue(rest, ",}"); err != nil {
			return nil, a.placed(err)
		}
		list = append(list, string(v))
		if len(rest) == 0 {
			return nil, a.file.onLine(a.line, "", fault.Quote(text), "a } behind the names")
		}
		if rest[0] == '}' {
			return list, nil
		}
		rest = rest[1:]
	}
}

// placed says where a fault of arffValue is.
func (a *arff) placed(err error) error {
	if e, ok := errors.AsType[*fault.FormatError](err); ok {
		e.File, e.Line = a.file.Name, a.line
	}
	return err
}

// arffValue reads a value, in quotes or not, up to one of the characters of end, with which rest begins. Its faults
// don't say where.
func arffValue(text []byte, end string) (value, rest []byte, err error) {
	text = bytes.TrimLeft(text, " \t")
	if len(text) == 0 || text[0] != '\'' && text[0] != '"' {
		i := bytes.IndexAny(text, end)
		if i < 0 {
			i = len(text)
		}
		return bytes.TrimRight(text[:i], " \t"), text[i:], nil
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
			continue
		case text[0]:
			rest := bytes.TrimLeft(text[i+1:], " \t")
			if len(rest) > 0 && !strings.ContainsRune(end, rune(rest[0])) && !strings.Contains(end, " ") {
				return nil, nil, &fault.FormatError{Found: fault.Quote(string(rest)) + " behind a quote",
					Expected: "a comma"}
			}
			return unescape(text[1:i]), rest, nil
		}
	}
	return nil, nil, &fault.FormatError{Found: "a quote without its end", Expected: "one on the same line"}
}

// unescape resolves what stands behind backslashes.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i == len(text)-1 {
			out = append(out, text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
	}
	return out
}

// dateLetters are the letters of Java's SimpleDateFormat and what package time has for them.
var dateLetters = map[string]string{"yyyy": "2006", "yy": "06", "MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1",
	"dd": "02", "d": "2",
	"HH": "15", "H": "15", "hh": "03", "h": "3", "mm": "04", "m": "4", "ss": "05", "s": "5", "SSS": "000", "a": "PM",
	"EEE": "Mon", "EEEE": "Monday", "Z": "-0700", "X": "Z07", "XXX": "Z07:00"}

// dateLayout returns the layout of a date's format, empty for one that can't be read.
func dateLayout(format string) string {
	var b strings.Builder
	for i := 0; i < len(format); {
		c := format[i]
		if c == '\'' {
			text, _, ok := strings.Cut(format[i+1:], "'")
			if !ok || strings.ContainsAny(text, "0123456789_") {
				return ""
			}
			b.WriteString(text)
			i += len(text) + 2
			continue
		}
		end := i + 1
		for end < len(format) && format[end] == c {
			end++
		}
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		layout, ok := dateLetters[format[i:end]]
		switch {
		case letter && !ok, c >= '0' && c <= '9', c == '_':
			return ""
		case letter:
			b.WriteString(layout)
		default:
			b.WriteString(format[i:end])
		}
		i = end
	}
	return b.String()
}
