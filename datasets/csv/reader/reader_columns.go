package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// hasHeader reports whether the first row names the columns: it has the name of one, or all of them where they are
// numbers, or, where columns never had names, a word in the place of a number.
func (d *Reader) hasHeader(first []string, t *schema.Table) bool {
	names := make(map[string]bool, len(first))
	for _, name := range schema.ColumnNames(first, true) {
		names[name] = true
	}
	all := true
	for i, f := range t.Fields {
		if f.Kind != schema.LeftOut {
			all = all && names[f.Name]
		}
		if _, err := strconv.Atoi(f.Name); err != nil {
			if names[f.Name] {
				return true
			}
			continue
		}
		j := i
		if len(first) > len(t.Fields) && i+1 >= t.TargetColumn {
			j++
		}
		if j >= len(first) || f.Words != nil || f.Kind != "" || lex.IsMissing(first[j]) {
			continue
		}
		if !lex.Likely(first[j]) {
			return true
		}
	}
	return all && t.Header == "yes"
}

// byName finds the columns by the names in the first line, or by place if none has one of the table's.
func (d *Reader) byName(header []string, t *schema.Table, needed bool) error {
	known := make(map[string]int, len(t.Fields))
	for i, f := range t.Fields {
		known[f.Name] = i
	}
	seen := make(map[string]bool, len(header))
	some := false
	d.names = nil
	for j, name := range schema.ColumnNames(header, true) {
		if d.names = append(d.names, name); seen[name] {
			return d.fault(j, "a second column of that name", "different names")
		}
		seen[name] = true
		_, ok := known[name]
		some = some || ok
	}
	if !some {
		return d.byPosition(len(header), t, needed)
	}
	d.target = slices.Index(d.names, t.Target)
	if needed {
		var expected string
		if d.target, expected = schema.LookUpColumn(t.Target, d.names, len(d.names)); d.target < 0 {
			return &fault.OptionError{Field: "target", Value: t.Target,
				Expected: cmp.Or(expected, "one of the columns "+lex.ListNames(d.names)+format.DidYouMean(
					t.Target, d.names))}
		}
	}
	for j, name := range d.names {
		i, ok := known[name]
		if j == d.target {
			i = -1
		} else if !ok {
			return d.fault(j, "a column that the model does not know",
				"the columns "+lex.ListNames(fieldNames(t.Fields)))
		}
		d.fieldOf = append(d.fieldOf, i)
	}
	for _, f := range t.Fields {
		if f.Kind == schema.LeftOut {
			continue
		}
		if !seen[f.Name] || d.target >= 0 && d.names[d.target] == f.Name {
			return &fault.FormatError{File: d.file, Line: d.line, Found: fmt.Sprintf("no column %q", f.Name),
				Expected: "all that the model takes"}
		}
	}
	return nil
}

// byPosition takes the columns in the table's order.
func (d *Reader) byPosition(columns int, t *schema.Table, needed bool) error {
	position := t.TargetColumn
	if n, err := strconv.Atoi(t.Target); err == nil && (position == 0 || t.Header != "yes") {
		position = n
	}
	switch extra := columns - len(t.Fields); {
	case extra == 0 && !needed:
	case extra == 1 && position >= 1 && position <= columns:
		d.target = position - 1
	case extra == 1:
		return &fault.FormatError{File: d.file, Line: d.line, Found: lex.Plural(columns, "column"),
			Expected: fmt.Sprintf("%d, or the number of the one too many with {Target}", len(t.Fields))}
	case needed:
		return &fault.OptionError{Field: "target", Value: t.Target,
			Expected: fmt.Sprintf("a column beside the %d that the model takes; %s has %d", len(t.Fields), d.file,
				columns)}
	default:
		return &fault.FormatError{File: d.file, Line: d.line, Found: lex.Plural(columns, "column"),
			Expected: fmt.Sprintf("%d as the model takes", len(t.Fields))}
	}
	next := 0
	for j := range columns {
		if j == d.target {
			d.fieldOf = append(d.fieldOf, -1)
			continue
		}
		d.fieldOf = append(d.fieldOf, next)
		next++
	}
	if d.names == nil {
		for j := range columns {
			d.names = append(d.names, strconv.Itoa(j+1))
		}
	}
	return nil
}

func fieldNames(fields []schema.Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}
