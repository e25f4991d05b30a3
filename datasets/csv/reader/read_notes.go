package reader

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/internal/format"
)

// readNotes counts what a reader decided.
type readNotes struct {
	renamed    []renaming     // columns that were found by a name that differs in case
	unknown    []string       // columns that the table does not have
	positional bool           // columns were taken in order although the table has names
	rows       int            // passed over
	fields     []columnCounts // of each
}

// renaming is a column of the file and the name that the table has for it.
type renaming struct {
	column int
	name   string
}

// columnCounts are the fields of a column that the training rows had none of.
type columnCounts struct {
	missing   int
	unseen    int
	words     []string // the first of those unseen, one more than are named
	outside   int      // numbers far outside the range
	low, high float64  // the least and the greatest of these
}

// maxNamed is how many new words of a column are named.
const maxNamed = 3

// addWord counts a word that was not trained on.
func (c *columnCounts) addWord(word string) {
	if c.unseen++; len(c.words) <= maxNamed && !slices.Contains(c.words, format.Printable(word)) {
		c.words = append(c.words, format.Printable(word))
	}
}

// addNumber counts a number if it is farther outside the range trained on than half of that.
func (c *columnCounts) addNumber(bounds []float64, v float64) {
	if bounds == nil || math.Abs(2*v-bounds[0]-bounds[1]) <= 2*(bounds[1]-bounds[0]) {
		return
	}
	if c.outside++; c.outside == 1 {
		c.low, c.high = v, v
	}
	c.low, c.high = min(c.low, v), max(c.high, v)
}

// Notes says what the reader decided so far, a line each.
func (d *Reader) Notes() []string {
	var n schema.Notes
	var renamed []string
	for _, r := range d.notes.renamed {
		renamed = append(renamed, d.names[r.column]+" for "+r.name)
	}
	if renamed != nil {
		n.Add("%s found by a name that differs in case: %s", were(len(renamed), "column"), lex.ListNames(renamed))
	}
	if unknown := d.notes.unknown; unknown != nil {
		n.Add("%s unknown to the model, and not used: %s", were(len(unknown), "column"), lex.ListNames(unknown))
	}
	if d.notes.positional {
		n.Add("no row names the columns: they are taken in the order of training, %s", lex.ListNames(d.wanted()))
	}
	if d.notes.rows > 0 {
		n.Add("%s left out, as in training", schema.RowsAre(d.notes.rows, "with a missing value"))
	}
	for i := range d.notes.fields {
		f := &d.table.Fields[i]
		if parts := d.notes.fields[i].about(f); parts != nil {
			n.Add("%s: %s", f.Name, strings.Join(parts, "; "))
		}
	}
	return n.Lines
}

// about says what of a column was not trained on.
func (c *columnCounts) about(f *schema.Field) (parts []string) {
	as := "none of the categories"
	if f.Kind == schema.Statistics || f.Other {
		as = "the other rare words"
	}
	if c.unseen > 0 {
		what := "words the model never saw"
		if f.Rare == nil && (f.Kind == schema.Statistics || f.Other) {
			what = "words that are new, or as rare as in training"
		}
		words := strings.Join(c.words[:min(len(c.words), maxNamed)], ", ")
		if len(c.words) > maxNamed {
			words += ", …"
		}
		parts = append(parts, fmt.Sprintf("%s %s: %s (read as %s)", have(c.unseen), what, words, as))
	}
	if c.outside > 0 {
		what := "numbers"
		if f.Kind != "" {
			what = "years"
		}
		seen := fmt.Sprintf("%.6g", c.low)
		if c.high > c.low {
			seen += fmt.Sprintf(" to %.6g", c.high)
		}
		parts = append(parts, fmt.Sprintf("%s %s far outside those trained on, %.6g to %.6g: %s", have(c.outside), what,
			f.Range[0], f.Range[1], seen))
	}
	if f.Words == nil {
		as = "their replacement"
	}
	if c.missing > 0 {
		parts = append(parts, fmt.Sprintf("%s no value, unlike in training (read as %s)", have(c.missing), as))
	}
	return parts
}

func have(n int) string {
	if n == 1 {
		return "1 row has"
	}
	return format.Count(n) + " rows have"
}

func were(n int, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return fmt.Sprintf("%s %ss were", format.Count(n), what)
}
