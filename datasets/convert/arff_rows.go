package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"newtop/datasets/fault"
)

// write writes the rows.
func (a *arff) write(w io.Writer) error {
	var names []string
	for i := range a.attributes {
		names = append(names, a.attributes[i].name)
	}
	if _, err := w.Write(appendNames(nil, names)); err != nil {
		return err
	}
	a.rows.Store(0)
	return inOrder(w, a.file.chunks(a.begin, a.line), func(dst []byte, c chunk) ([]byte, error) {
		r := arffRow{of: a, given: make([]bool, len(a.attributes)), values: make([][]byte, len(a.attributes))}
		for line, text := range c.lines {
			text = bytes.TrimSpace(text)
			if len(text) == 0 || text[0] == '%' {
				continue
			}
			if err := a.file.fits(a.rows.Add(1), int64(len(a.attributes))); err != nil {
				return nil, err
			}
			r.line = line
			var err error
			if text[0] == '{' {
				dst, err = r.appendSparse(dst, text)
			} else {
				dst, err = r.append(dst, text)
			}
			if err != nil {
				return nil, err
			}
			dst = append(dst, '\n')
		}
		return dst, nil
	})
}

func (a *arff) close() {}

// arffRow writes rows.
type arffRow struct {
	of     *arff
	line   int
	given  []bool   // of each attribute of a sparse row
	values [][]byte // of them
}

// wrong returns a fault in a column of the row; j is its index, negative for none.
func (r *arffRow) wrong(j int, found, expected string) error {
	name := ""
	if j >= 0 && j < len(r.of.attributes) {
		name = r.of.attributes[j].name
	}
	return r.of.file.onLine(r.line, name, found, expected)
}

// value cuts off the next value; it is missing for a question mark without quotes.
func (r *arffRow) value(j int, text []byte, end string) (value, rest []byte, missing bool, err error) {
	value, rest, err = arffValue(text, end)
	if e, ok := errors.AsType[*fault.FormatError](err); ok {
		return nil, nil, false, r.wrong(j, e.Found, e.Expected)
	}
	missing = len(value) == 1 && value[0] == '?' && bytes.TrimLeft(text, " \t")[0] == '?'
	return value, rest, missing, nil
}

// append appends a row that has all values.
func (r *arffRow) append(dst, text []byte) ([]byte, error) {
	n := len(r.of.attributes)
	for j := 0; ; j++ {
		if j >= n && len(bytes.TrimSpace(text)) > 0 && bytes.TrimSpace(text)[0] == '{' {
			return nil, r.wrong(-1, "a weight behind the row", "rows of equal weight")
		}
		value, rest, missing, err := r.value(j, text, ",")
		if err != nil {
			return nil, err
		}
		if j >= n {
			return nil, r.wrong(-1, fmt.Sprintf("%d values", j+1+bytes.Count(rest, []byte{','})),
				fmt.Sprintf("%d, one for each attribute", n))
		}
		if j > 0 {
			dst = append(dst, ',')
		}
		if !missing {
			if dst, err = r.put(dst, j, value); err != nil {
				return nil, err
			}
		}
		if len(rest) == 0 {
			if j < n-1 {
				return nil, r.wrong(-1, fmt.Sprintf("%d values", j+1), fmt.Sprintf("%d, one for each attribute", n))
			}
			return dst, nil
		}
		text = rest[1:]
	}
}

// appendSparse appends a row that has numbers of attributes and their values: {1 x, 3 y}. The others are 0, or the
// first name of a nominal attribute.
func (r *arffRow) appendSparse(dst, text []byte) ([]byte, error) {
	clear(r.given)
	clear(r.values)
	if err := r.scatter(text[1:]); err != nil {
		return nil, err
	}
	for j := range r.of.attributes {
		if j > 0 {
			dst = append(dst, ',')
		}
		t := &r.of.attributes[j]
		var err error
		switch value := r.values[j]; {
		case r.given[j] && value != nil:
			dst, err = r.put(dst, j, value)
		case r.given[j]: // missing
		case t.kind == numeric:
			dst = append(dst, '0')
		case t.kind == nominal:
			dst = appendWord(dst, t.values[0])
		default:
			return nil, r.wrong(j, "no value", "one: only numbers and names may be left out")
		}
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// scatter reads the values of a sparse row, behind the brace.
func (r *arffRow) scatter(text []byte) error {
	for {
		text = bytes.TrimLeft(text, " \t")
		if len(text) == 0 {
			return r.wrong(-1, "the end of the line", "a }")
		}
		if text[0] == '}' {
			if len(bytes.TrimSpace(text[1:])) > 0 {
				return r.wrong(-1, fault.Quote(string(text[1:]))+" behind a row",
					"rows of equal weight, and nothing behind them")
			}
			return nil
		}
		index, rest := token(text)
		j, err := strconv.Atoi(string(index))
		if err != nil || j < 0 || j >= len(r.of.attributes) {
			return r.wrong(-1, fault.Quote(string(index)), fmt.Sprintf(
				"the number of an attribute, from 0 to %d", len(r.of.attributes)-1))
		}
		if r.given[j] {
			return r.wrong(j, "two values", "one")
		}
		value, rest, missing, err := r.value(j, rest, ",}")
		if err != nil {
			return err
		}
		if r.given[j] = true; !missing {
			r.values[j] = append([]byte{}, value...)
		}
		if text = rest; len(text) > 0 && text[0] == ',' {
			text = text[1:]
		}
	}
}

// put appends a value of an attribute.
func (r *arffRow) put(dst []byte, j int, value []byte) ([]byte, error) {
	t := &r.of.attributes[j]
	switch t.kind {
	case numeric:
		if !number(value) && !nan(value) {
			return nil, r.wrong(j, fault.Quote(string(value)), "a finite number, or ? for a missing one")
		}
		return append(dst, value...), nil
	case nominal:
		if _, ok := t.known[string(value)]; !ok {
			list := t.values[:min(len(t.values), 20)]
			return nil, r.wrong(j, fault.Quote(string(value)),
				"one of the attribute's names, "+strings.Join(list, ", "))
		}
	case date:
		when, err := time.Parse(t.layout, string(value))
		if err != nil {
			return nil, r.wrong(j, fault.Quote(string(value)),
				"a date such as "+time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC).Format(t.layout))
		}
		return appendTime(dst, when, t.clock), nil
	}
	return appendWord(dst, value), nil
}

// appendTime appends a date as ISO 8601 writes it, with the time of the day or without, with decimals of a second if
// there are any.
func appendTime(dst []byte, t time.Time, clock bool) []byte {
	if !clock {
		return t.AppendFormat(dst, "2006-01-02")
	}
	return t.AppendFormat(dst, "2006-01-02T15:04:05.999999999")
}
