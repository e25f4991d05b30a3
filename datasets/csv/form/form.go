// Package form turns the text of a table as programs write it into one that the rows of package lex are: UTF-8, a row a
// line, fields parted by one character, the first line their names. Lines that are none of the table become empty, so
// that all others keep their numbers.
package form

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"newtop/internal/format"
)

// Form is how a text is written. The zero value is that of a text to be read as it is.
type Form struct {
	Separator string // one character, or Blanks or Fixed, or several; empty: to be found out by the rows

	encoding encoding.Encoding // nil: UTF-8
	skip     int               // lines before the table
	end      int               // the line at which the table ends; 0: it doesn't
	comment  string            // what lines begin with that are none of the table
	header   int               // the line that names the columns, where names replaces it
	names    []string
	extra    int    // lines behind the header that are none of the table
	columns  []int  // where fields of fixed width begin
	breaks   string // characters that end a line as a line feed does
	trailing bool   // rows end in a separator
	framed   bool   // rows begin and end in a separator, and lines of dashes are between them
	notes    []string
}

// The separators that are no text.
const (
	Blanks = "blanks"
	Fixed  = "fixed"
)

// Notes says what was found out, a line each.
func (f *Form) Notes() []string { return f.notes }

// Plain reports whether a text can be read as it is.
func (f *Form) Plain() bool {
	return f.encoding == nil && f.skip == 0 && f.end == 0 && f.comment == "" && f.names == nil && f.extra == 0 &&
		f.breaks == "" && !f.trailing && !f.framed && !f.rewritten()
}

// rewritten reports whether the rows are parted anew, by tabs.
func (f *Form) rewritten() bool { return len(f.Separator) > 1 }

// Comma is the character that the fields of the text are parted by that Reader returns; empty: to be found out.
func (f *Form) Comma() string {
	if f.rewritten() {
		return "\t"
	}
	return f.Separator
}

// Reader returns the text in the form of package lex.
func (f *Form) Reader(r io.Reader) io.Reader {
	if f.encoding != nil {
		r = transform.NewReader(r, f.encoding.NewDecoder())
	}
	if f.breaks != "" {
		r = &breaker{r, f.breaks}
	}
	return &lines{form: f, in: bufio.NewReaderSize(r, 1<<16)}
}

// breaker reads line feeds for other characters.
type breaker struct {
	io.Reader
	breaks string
}

func (b *breaker) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	breakLines(p[:n], b.breaks)
	return n, err
}

func breakLines(text []byte, breaks string) {
	for i, c := range text {
		if strings.IndexByte(breaks, c) >= 0 {
			text[i] = '\n'
		}
	}
}

// lines writes a text line by line.
type lines struct {
	form   *Form
	in     *bufio.Reader
	number int    // of the next line, from 0
	open   bool   // a quote is
	out    []byte // that was not read yet
	err    error
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.out) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		var line []byte
		line, l.err = l.in.ReadBytes('\n')
		if l.number == 0 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) > 0 {
			l.out = l.form.line(l.out[:0], line, l.number, &l.open)
		}
		l.number++
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	return n, nil
}

// line appends a line as it is to be read. open is whether a quote is open at its start, and then at its end.
func (f *Form) line(out, line []byte, number int, open *bool) []byte {
	text := strings.TrimRight(string(line), "\r\n")
	ending := string(line[len(text):])
	quoted := *open
	if number < f.skip || f.end > 0 && number >= f.end || f.names != nil && number > f.header &&
		number <= f.header+f.extra {
		return append(out, ending...)
	}
	if f.names != nil && number == f.header {
		return append(append(out, f.join(f.names)...), ending...)
	}
	if !quoted && f.leftOut(text) {
		return append(out, ending...)
	}
	if bytes.Count(line, []byte{'"'})%2 == 1 {
		*open = !*open
	}
	if quoted || *open {
		return append(out, line...) // a row of several lines is as it should be
	}
	switch {
	case f.rewritten():
		text = f.join(f.split(text))
	case f.framed:
		text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), f.Separator), f.Separator)
	case f.trailing:
		text = strings.TrimSuffix(strings.TrimRight(text, " "), f.Separator)
	}
	return append(append(out, text...), ending...)
}

// leftOut reports whether a line is none of the table, wherever it stands.
func (f *Form) leftOut(text string) bool {
	return f.comment != "" && strings.HasPrefix(strings.TrimSpace(text), f.comment) || f.framed && isRule(text)
}

// isRule reports whether a line is one that was drawn.
func isRule(text string) bool {
	return strings.Trim(text, "-+=|: \t─┼│├┤┌┐└┘┬┴═╪╞╡━┿") == "" && strings.ContainsAny(text, "-=─═━")
}

// split returns the fields of a line.
func (f *Form) split(text string) []string { return splitLine(text, f.Separator, f.columns) }

func splitLine(text, separator string, columns []int) (fields []string) {
	switch separator {
	case Fixed:
		runes := []rune(text)
		for k, from := range columns {
			to := len(runes)
			if k+1 < len(columns) {
				to = min(to, columns[k+1])
			}
			field := ""
			if from < to {
				field = strings.TrimSpace(string(runes[from:to]))
			}
			fields = append(fields, unquote(field))
		}
		return fields
	case Blanks:
		for text = strings.TrimLeft(text, " \t"); text != ""; text = strings.TrimLeft(text, " \t") {
			end := len(text)
			if i := strings.IndexAny(text, " \t"); i >= 0 {
				end = i
			}
			if n := closing(text); n > 0 {
				end = n
			}
			fields, text = append(fields, unquote(text[:end])), text[end:]
		}
		return fields
	}
	for {
		end, next := len(text), len(text)
		if n := closing(text); n > 0 && (n == len(text) || strings.HasPrefix(text[n:], separator)) {
			end = n
			next = min(n+len(separator), len(text))
		} else if i := strings.Index(text, separator); i >= 0 {
			end, next = i, i+len(separator)
		}
		fields = append(fields, unquote(strings.TrimSpace(text[:end])))
		if end == len(text) {
			return fields
		}
		text = text[next:]
	}
}

// closing returns where the quoted field ends that a text begins with, 0 if it begins with none.
func closing(text string) int {
	if text == "" || text[0] != '"' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '"':
		case i+1 < len(text) && text[i+1] == '"':
			i++
		default:
			return i + 1
		}
	}
	return 0
}

func unquote(field string) string {
	if n := closing(field); n == len(field) && n > 0 {
		return strings.ReplaceAll(field[1:n-1], `""`, `"`)
	}
	return field
}

// join writes fields as a line of the text that Reader returns.
func (f *Form) join(fields []string) string {
	comma := f.Comma()
	var b strings.Builder
	for j, field := range fields {
		if j > 0 {
			b.WriteString(comma)
		}
		if strings.ContainsAny(field, "\"\n"+comma) {
			field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
		}
		b.WriteString(field)
	}
	return b.String()
}

// note keeps what was found out.
func (f *Form) note(text string, values ...any) {
	f.notes = append(f.notes, fmt.Sprintf(text, values...))
}

// quoted writes a line short.
func quoted(line string) string {
	const longest = 40
	if runes := []rune(line); len(runes) > longest {
		line = string(runes[:longest]) + "…"
	}
	return format.Quote(format.Printable(line))
}
