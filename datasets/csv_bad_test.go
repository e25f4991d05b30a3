package datasets

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"newtop/datasets/csv/schema"
	"newtop/datasets/fault"
)

// madeColumn is a column of a table that was made up, and what it was meant as.
type madeColumn struct {
	name    string
	head    string // the name in the header
	meant   string // number, word, date, time, truth, rows, one, names or nothing
	cells   []string
	values  []float64 // of numbers that are there
	missing int
}

// badTable is a table with faults, and what is known of it.
type badTable struct {
	columns []madeColumn
	text    string
	header  bool
	faulty  string // what makes it one that must be refused; empty: nothing
	doubt   bool   // what was meant can't be known any more: only that it is told
	o       Options
}

func (b *badTable) target() *madeColumn { return &b.columns[len(b.columns)-1] }

// makeColumn makes up a column.
func makeColumn(rng *rand.Rand, name string, rows int, target bool) madeColumn {
	c := madeColumn{name: name, meant: []string{"number", "number", "word", "date", "time", "truth", "rows", "one", "names", "nothing"}[rng.IntN(10)]}
	if target {
		c.meant = []string{"number", "word", "truth"}[rng.IntN(3)]
	}
	gaps := []float64{0, 0, 0, 0.1, 0.5}[rng.IntN(5)]
	pair := [][2]string{{"yes", "no"}, {"TRUE", "False"}, {"t", "f"}, {"Y", "N"}}[rng.IntN(4)]
	order := rng.IntN(3)
	for i := range rows {
		cell := ""
		v := math.Round(1e3*rng.NormFloat64()) / 1e3
		day := fmt.Sprintf([]string{"%[3]d-%02[2]d-%02[1]d", "%02[1]d.%02[2]d.%[3]d", "%[2]d/%[1]d/%[3]d"}[order], 13+rng.IntN(15), 1+rng.IntN(12), 1990+rng.IntN(40))
		switch c.meant {
		case "number":
			cell = strconv.FormatFloat(v, 'g', -1, 64)
		case "word":
			cell = []string{"red", "green", "dark blue", "Ünder"}[min(rng.IntN(7), 3)]
		case "date":
			cell = day
		case "time":
			cell = fmt.Sprintf("%s %02d:%02d:30", day, rng.IntN(24), rng.IntN(60))
		case "truth":
			cell = pair[rng.IntN(2)]
		case "rows":
			cell = fmt.Sprint(i)
		case "one":
			cell = "7"
		case "names":
			cell = fmt.Sprintf("person %d", rng.IntN(1<<40))
		}
		if c.meant == "nothing" || c.meant != "rows" && c.meant != "one" && rng.Float64() < gaps {
			cell = []string{"", "?", "NA", "nan", "None", "<NA>", "#N/A", "null"}[rng.IntN(8)]
			c.missing++
		} else if c.meant == "number" {
			c.values = append(c.values, v)
		}
		c.cells = append(c.cells, cell)
	}
	return c
}

// makeTable makes up a table and does some harm to it.
func makeTable(rng *rand.Rand) *badTable {
	b := &badTable{header: rng.IntN(5) > 0, o: Options{Seed: 1}}
	rows, columns := 20+rng.IntN(40), 2+rng.IntN(6)
	for j := range columns {
		b.columns = append(b.columns, makeColumn(rng, fmt.Sprintf("col%dx", j), rows, j == columns-1))
		if c := &b.columns[j]; c.meant == "rows" {
			c.name = []string{"id", "index", "day", "PassengerId", "Unnamed: 0"}[rng.IntN(5)]
			if j == 0 && rng.IntN(2) == 0 {
				c.name = ""
			}
		}
	}
	b.o.Columns.Missing = []string{"", "", "mean", "median", "drop"}[rng.IntN(5)]
	if !b.header {
		for j := range b.columns {
			b.columns[j].name = strconv.Itoa(j + 1)
		}
		if rng.IntN(2) == 0 {
			b.o.Columns.Header = "no"
		}
	}
	names := make(map[string]bool)
	for j := range b.columns {
		c := &b.columns[j]
		if c.head = c.name; b.header && c.name == "" {
			c.name = strconv.Itoa(j + 1)
		}
		if names[c.name] {
			b.faulty = "a name twice"
		}
		names[c.name] = true
	}
	b.write(rng, rows)
	return b
}

// write writes the table in one of the ways in which tables are written, with or without harm.
func (b *badTable) write(rng *rand.Rand, rows int) {
	comma := []string{",", ";", "\t", ", "}[rng.IntN(4)]
	end := []string{"\n", "\r\n"}[rng.IntN(2)]
	var lines []string
	head := make([]string, len(b.columns))
	for j := range b.columns {
		head[j] = b.columns[j].head
	}
	if b.header {
		lines = append(lines, strings.Join(head, comma))
	}
	for i := range rows {
		line := make([]string, len(b.columns))
		for j := range b.columns {
			if line[j] = b.columns[j].cells[i]; rng.IntN(20) == 0 && line[j] != "" {
				line[j] = `"` + line[j] + `"`
			}
		}
		lines = append(lines, strings.Join(line, comma))
	}
	at := 1 + rng.IntN(len(lines)-1)
	switch harm := rng.IntN(16); harm {
	case 0:
		lines[at], b.faulty = lines[at]+comma+"1", "a ragged row"
	case 1:
		lines[at], b.faulty = lines[at]+`"x`, "an odd quote"
	case 2:
		lines[at], b.faulty = "\xff"+lines[at], "a byte that is no text"
	case 3:
		lines[0] = "\ufeff" + lines[0]
	case 4:
		lines = slices.Insert(lines, at, "", "")
	case 5: // the header again
		if b.header {
			lines, b.doubt = slices.Insert(lines, at, strings.Join(head, comma)), true
		}
	case 6, 7, 8: // a cell that is nothing like the others
		j := rng.IntN(len(b.columns))
		c := &b.columns[j]
		i := at
		if b.header {
			i--
		}
		if c.meant == "rows" && !b.header {
			c.meant = "number" // no name says that it counts, and now its numbers don't
		}
		if isGap(c.cells[i]) {
			c.missing--
		}
		// In a row that is left out it does no harm.
		leftOut := b.o.Columns.Missing == "drop" || isGap(b.target().cells[i]) && j < len(b.columns)-1
		if b.doubt = true; c.meant == "number" && c.missing == 0 && !leftOut {
			b.faulty = "a cell that is no number"
		}
		cells := strings.Split(lines[at], comma)
		cells[j] = []string{"1e400", "oops", "2020-13-45"}[harm-6]
		lines[at] = strings.Join(cells, comma)
	case 9:
		b.o.Columns.Drop, b.faulty = []string{"nobody"}, "an unknown column"
	case 10:
		b.o.Columns.Keep, b.faulty = []string{"nobody"}, "an unknown column"
	}
	b.text = strings.Join(lines, end) + end
}

// Of 2,000 made-up tables, with faults of many kinds, none panics, none is refused in more than a line, and whatever is taken in
// another way than it was meant is told.
func TestBadTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	refused := 0
	for n := range 2000 {
		b := makeTable(rng)
		d, err := readText([]byte(b.text), b.o)
		if err != nil {
			refused++
			_, format := errors.AsType[*fault.FormatError](err)
			_, option := errors.AsType[*fault.OptionError](err)
			if !format && !option || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("table %d: %T %q\n%s", n, err, err, b.text)
			}
			if b.faulty == "" && !b.doubt && !b.hopeless() {
				t.Fatalf("table %d is refused without a fault: %v\n%s", n, err, b.text)
			}
			continue
		}
		if b.faulty != "" {
			t.Fatalf("table %d has %s, and passed: %q\n%s", n, b.faulty, d.Notes, b.text)
		}
		if invalid := b.untold(d); invalid != "" {
			t.Fatalf("table %d: %s\n%s\n%s", n, invalid, strings.Join(d.Notes, "\n"), b.text)
		}
	}
	if refused < 400 || refused > 1200 {
		t.Errorf("%d tables were refused", refused)
	}
}

// hopeless reports whether nothing can be learnt from the table: no input, a target of one value, or no rows left.
func (b *badTable) hopeless() bool {
	inputs, whole := 0, 0
	for _, c := range b.columns[:len(b.columns)-1] {
		if c.meant != "nothing" && c.meant != "names" {
			inputs++
		}
	}
	seen := make(map[string]bool)
	for i, cell := range b.target().cells {
		gap := false
		for j := range b.columns {
			gap = gap || b.columns[j].meant != "nothing" && b.columns[j].meant != "names" && isGap(b.columns[j].cells[i])
		}
		if !gap {
			whole++
		}
		if !isGap(cell) {
			seen[cell] = true
		}
	}
	return inputs == 0 || len(seen) < 2 || b.o.Columns.Missing == "drop" && whole < 4
}

func isGap(cell string) bool {
	return slices.Contains([]string{"", "?", "NA", "nan", "None", "<NA>", "#N/A", "null"}, cell)
}

// untold says what was taken in another way than it was meant without a word, nothing if there is no such thing.
func (b *badTable) untold(d *Dataset) string {
	told := func(about ...string) bool {
		return slices.ContainsFunc(d.Notes, func(note string) bool {
			return !slices.ContainsFunc(about, func(a string) bool { return !strings.Contains(note, a) })
		})
	}
	if len(d.Table.Fields) != len(b.columns)-1 {
		return "another number of columns"
	}
	if (d.Table.Header == "yes") != b.header && b.o.Columns.Header == "" && !told("first row") && !told("no row names") {
		return "the header is taken wrongly"
	}
	if d.Table.Header == "yes" != b.header {
		return ""
	}
	if !told(b.target().name, "is the target") {
		return "the target is not told"
	}
	rows := len(b.target().cells) - b.target().missing
	if got := d.Train.Rows() + d.Test.Rows(); !b.doubt && got != rows && !told("missing value", "left out") {
		return fmt.Sprintf("%d rows of %d", got, rows)
	}
	if b.target().missing > 0 && !told("without a target", "left out") {
		return "rows without a target are not told"
	}
	for i := range d.Table.Fields {
		if invalid := b.untoldColumn(d, &d.Table.Fields[i], &b.columns[i], told); invalid != "" {
			return fmt.Sprintf("column %q: %s", d.Table.Fields[i].Name, invalid)
		}
	}
	return ""
}

// untoldColumn is untold of a column.
func (b *badTable) untoldColumn(d *Dataset, f *schema.Field, c *madeColumn, told func(about ...string) bool) string {
	if f.Name != c.name {
		return "meant as " + c.name
	}
	is := f.Kind
	if is == "" {
		if is = "number"; f.Words != nil {
			is = "word"
		}
	}
	want := map[string]string{"number": "number", "word": "word", "date": schema.Date, "time": schema.Time, "truth": schema.Boolean}[c.meant]
	switch {
	case is != want && !told(f.Name+":") && !told(f.Name, "one value in all training rows"):
		return fmt.Sprintf("a %s is taken as %s", c.meant, is)
	case (is != "number" && is != "word" || f.Other) && !told(f.Name+":"):
		return "taken as " + is
	case c.missing > 0 && is != schema.LeftOut && !told(f.Name+":", "missing value") && !told("rows with", "left out") && !told("row with", "left out"):
		return "missing values"
	case is != "number" || c.missing > 0 || b.doubt || d.Train.Rows()+d.Test.Rows() < len(c.values):
		return ""
	}
	at := slices.Index(d.InputNames, f.Name)
	var got []float64
	for _, s := range []*Split{&d.Train, &d.Test} {
		for i := range s.Rows() {
			got = append(got, raw(d, s, i)[at])
		}
	}
	slices.Sort(got)
	for i, v := range slices.Sorted(slices.Values(c.values)) {
		if math.Abs(v-got[i]) > 1e-9 {
			return fmt.Sprintf("a number %g is taken as %g", v, got[i])
		}
	}
	return ""
}
