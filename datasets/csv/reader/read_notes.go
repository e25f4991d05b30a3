package reader

import (
	"fmt"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/internal/format"
)

// readNotes counts what a reader decided.
type readNotes struct {
	renamed []renaming     // columns that were found by a name that differs in case
	unknown []string       // columns that the table does not have
	rows    int            // passed over
	fields  []columnCounts // of each
}

// renaming is a column of the file and the name that the table has for it.
type renaming struct {
	column int
	name   string
}

// columnCounts are the fields of a column that the training rows had none of.
type columnCounts struct{ unseen, missing int }

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
	if d.notes.rows > 0 {
		n.Add("%s left out, as in training", schema.RowsAre(d.notes.rows, "with a missing value"))
	}
	for i, c := range d.notes.fields {
		f := &d.table.Fields[i]
		as := "none of the categories"
		switch others := f.Kind == schema.Statistics || f.Other; {
		case others:
			as = "the other rare words"
			if c.unseen > 0 {
				n.Add("%s: %s new or as rare as in training, taken as %s", f.Name, were(c.unseen, "word"), as)
			}
		case c.unseen > 0:
			n.Add("%s: %s not trained on, taken as %s", f.Name, were(c.unseen, "word"), as)
		}
		if f.Words == nil {
			as = "their replacement"
		}
		if c.missing > 0 {
			n.Add("%s: %s missing, unlike in training, taken as %s", f.Name, were(c.missing, "value"),
				as)
		}
	}
	return n.Lines
}

func were(n int, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return fmt.Sprintf("%s %ss were", format.Count(n), what)
}
