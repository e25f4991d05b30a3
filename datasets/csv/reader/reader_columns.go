package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// hasHeader reports whether the first row names the columns: it has the name of one, or of half of those that are words
// but for case, or all of them where they are numbers, or, where columns never had names, a word in the place of a
// number.
func (d *Reader) hasHeader(first []string, t *schema.Table) bool {
	names, lower := make(map[string]bool, len(first)), make(map[string]bool, len(first))
	for _, name := range schema.ColumnNames(first, true) {
		names[name], lower[strings.ToLower(name)] = true, true
	}
	all, words, alike := true, 0, 0
	for i, f := range t.Fields {
		if f.Kind != schema.LeftOut {
			all = all && names[f.Name]
			if name := strings.ToLower(f.Name); name != strings.ToUpper(name) { // a word
				if words++; lower[name] {
					alike++
				}
			}
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
	return (all || alike > 0 && 2*alike >= words) && t.Header == "yes"
}

// hasOtherNames reports whether the first row, which has no name of the table's, names columns nevertheless: nothing in
// it comes twice or is a value of any column.
func (d *Reader) hasOtherNames(first []string) bool {
	evidence := 0
	var values []string
	for i := range d.roles {
		switch r := &d.roles[i]; {
		case r.Field.Kind == schema.LeftOut:
		case r.Code == nil:
			evidence += 2 // a row has a number there, or such
		default:
			evidence++
			values = slices.Concat(values, r.Field.Words, r.Field.Rare)
		}
	}
	for j, text := range first {
		truth, _ := lex.ParseTruth(text)
		if lex.Likely(text) || lex.IsMissing(text) || lex.LooksMissing(text) || truth >= 0 ||
			lex.ReadDate(text).Orders != 0 || slices.Contains(first[:j], text) || slices.Contains(values, text) {
			return false
		}
	}
	return evidence > 1
}

// wanted returns the names of the columns that the table takes.
func (d *Reader) wanted() (names []string) {
	for _, f := range d.table.Fields {
		if f.Kind != schema.LeftOut {
			names = append(names, f.Name)
		}
	}
	return names
}

// byName finds the columns by the names in the first line, else by such that differ in case alone, or by place if none
// has one of the table's. It passes over columns that the table does not have.
func (d *Reader) byName(header []string, t *schema.Table, needed bool) error {
	d.names = schema.ColumnNames(header, true)
	find := d.finder(t, header)
	columns := make([]int, len(t.Fields))
	some := false
	for i, f := range t.Fields {
		var err error
		if columns[i], err = find(f.Name); err != nil {
			return err
		}
		some = some || columns[i] >= 0
	}
	if !some {
		d.notes.renamed = nil
		return d.byPosition(len(header), t, needed)
	}
	var err error
	if !needed {
		d.target, err = find(t.Target)
	} else if d.target, err = d.requestedTarget(t.Target); err == nil {
		d.notes.renamed = slices.DeleteFunc(d.notes.renamed, func(r renaming) bool { return r.column == d.target })
	}
	if err != nil {
		return err
	}
	d.fieldOf = slices.Repeat([]int{-1}, len(d.names))
	var missing []string
	for i, f := range t.Fields {
		switch j := columns[i]; {
		case j >= 0 && j != d.target:
			d.fieldOf[j] = i
		case f.Kind != schema.LeftOut:
			missing = append(missing, strconv.Quote(f.Name))
		}
	}
	for j, name := range d.names {
		if d.fieldOf[j] < 0 && j != d.target {
			d.notes.unknown = append(d.notes.unknown, name)
		}
	}
	if missing == nil {
		return nil
	}
	found := "no column " + missing[0]
	if len(missing) > 1 {
		found = "no columns " + lex.ListNames(missing)
	}
	return &fault.FormatError{File: d.file, Line: d.line, Found: found + " among " + lex.ListNames(d.names),
		Expected: "all that the model takes"}
}

// requestedTarget returns the column of a target that the user asks for.
func (d *Reader) requestedTarget(target string) (int, error) {
	j, expected := schema.LookUpColumn(target, d.names, len(d.names))
	if j < 0 {
		return -1, &fault.OptionError{Field: "target", Value: target, Expected: cmp.Or(expected,
			"one of the columns "+lex.ListNames(d.names)+format.DidYouMean(target, d.names))}
	}
	return j, nil
}

// finder returns a function that finds the column of a name of the table: the one of that name, else the one whose name
// differs in case alone and is no other of the table's, which is found once. It is -1 where there is none, and an error
// where there are two.
func (d *Reader) finder(t *schema.Table, header []string) func(name string) (column int, err error) {
	same, alike := map[string][]int{t.Target: nil}, make(map[string][]int)
	for _, f := range t.Fields {
		same[f.Name] = nil
	}
	for j, name := range d.names {
		if _, ok := same[name]; !ok && header[j] != "" {
			name = format.Printable(header[j]) // which another column has, and the table knows one alone
		}
		if _, ok := same[name]; ok {
			same[name] = append(same[name], j)
		} else {
			alike[strings.ToLower(name)] = append(alike[strings.ToLower(name)], j)
		}
	}
	return func(name string) (int, error) {
		list, found := same[name], "a second column of that name"
		if list == nil {
			list, found = alike[strings.ToLower(name)], fmt.Sprintf("a second column %q, but for case", name)
			delete(alike, strings.ToLower(name))
			if len(list) == 1 {
				d.notes.renamed = append(d.notes.renamed, renaming{list[0], name})
			}
		}
		switch len(list) {
		case 0:
			return -1, nil
		case 1:
			return list[0], nil
		}
		d.names[list[1]] = format.Printable(header[list[1]])
		return -1, d.fault(list[1], found, "different names")
	}
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
		return &fault.FormatError{File: d.file, Line: d.line, Found: format.Counted(columns, "column"),
			Expected: fmt.Sprintf("%d, or the number of the one too many with {Target}", len(t.Fields))}
	case needed:
		return &fault.OptionError{Field: "target", Value: t.Target,
			Expected: fmt.Sprintf("a column beside the %d that the model takes; %s has %d", len(t.Fields), d.file,
				columns)}
	default:
		return &fault.FormatError{File: d.file, Line: d.line, Found: format.Counted(columns, "column"),
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
