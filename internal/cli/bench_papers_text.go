package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/papers"
)

// textWidth is what sentences fit into, and tables where no terminal is wider.
const textWidth = 80

// reproductionText writes a reproduction for people: the tables in parts that fit into a width, then what holds.
func reproductionText(r *reproduction, width int) string {
	var b strings.Builder
	for _, f := range r.facts() {
		hanging(&b, fmt.Sprintf("%-10s", f[0]), f[1])
	}
	for i := range r.Report.Tables {
		tableText(&b, &r.Report.Tables[i], width)
	}
	statementsText(&b, r.Report.Statements)
	return b.String()
}

// hanging writes a text behind a head, folded under itself.
func hanging(b *strings.Builder, head, text string) {
	in := ansi.StringWidth(head)
	for i, line := range strings.Split(folded(printable(text), textWidth-in), "\n") {
		if i > 0 {
			head = strings.Repeat(" ", in)
		}
		b.WriteString(strings.TrimRight(head+line, " ") + "\n")
	}
}

// pairedColumn is a column of a table as texts: newtop's figures, the paper's in brackets, marks of footnotes.
type pairedColumn struct {
	head               string
	ours, marks, paper []string
	our, mark, their   int // widths
}

func (c *pairedColumn) width() int { return max(ansi.StringWidth(c.head), c.our+c.mark+c.their) }

// cell returns row i, its figures aligned.
func (c *pairedColumn) cell(i int) string {
	text := before(c.ours[i], c.our) + after(c.marks[i], c.mark) + after(c.paper[i], c.their)
	return before(text, c.width())
}

// before aligns a text to the right of a width, after to the left.
func before(text string, width int) string {
	return strings.Repeat(" ", max(width-ansi.StringWidth(text), 0)) + text
}

func after(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// pairedColumns writes a table's figures.
func pairedColumns(t *papers.Table, notes *footnotes) []pairedColumn {
	list := make([]pairedColumn, len(t.Columns))
	for j := range list {
		list[j].head = printable(t.Columns[j])
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		for j := range list {
			none := papers.None()
			cell := &none
			if j < len(row.Cells) {
				cell = &row.Cells[j]
			}
			c := &list[j]
			own, mark, paper := ours(cell, row.Unit), notes.mark(cell.Note), papersOwn(cell, row.Unit)
			if paper != "" {
				paper = " (" + paper + ")"
			}
			c.ours, c.marks, c.paper = append(c.ours, own), append(c.marks, mark), append(c.paper, paper)
			c.our = max(c.our, ansi.StringWidth(own))
			c.mark = max(c.mark, ansi.StringWidth(mark))
			c.their = max(c.their, ansi.StringWidth(paper))
		}
	}
	return list
}

// mostName is the room for the names of rows; longer ones go on below.
const mostName = 24

// tableText writes a table, in as many parts below one another as its columns need.
func tableText(b *strings.Builder, t *papers.Table, width int) {
	b.WriteByte('\n')
	hanging(b, "", t.Title)
	if key := keyText(t); key != "" {
		hanging(b, "  ", key)
	}
	var notes footnotes
	columns := pairedColumns(t, &notes)
	names := make([][]string, len(t.Rows))
	wide := 0
	for i := range t.Rows {
		names[i] = strings.Split(folded(printable(rowName(&t.Rows[i])), mostName), "\n")
		for _, line := range names[i] {
			wide = max(wide, ansi.StringWidth(line))
		}
	}
	for len(columns) > 0 {
		n := fitting(columns, width-2-wide)
		partText(b, names, wide, columns[:n])
		columns = columns[n:]
		if len(columns) > 0 {
			b.WriteByte('\n')
		}
	}
	for i, text := range notes.texts {
		hanging(b, "  "+raised(i+1)+" ", text)
	}
	for _, text := range t.Notes {
		hanging(b, "  ", text)
	}
	if t.Command != "" {
		hanging(b, "  ", "measured by "+t.Command)
	}
}

// fitting returns how many of the first columns have room in a width, at least one.
func fitting(columns []pairedColumn, width int) int {
	for n := range columns {
		width -= columnGap + columns[n].width()
		if width < 0 && n > 0 {
			return n
		}
	}
	return len(columns)
}

func partText(b *strings.Builder, names [][]string, wide int, columns []pairedColumn) {
	gap := strings.Repeat(" ", columnGap)
	line := after("", 2+wide)
	for i := range columns {
		line += gap + before(columns[i].head, columns[i].width())
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
	for i, name := range names {
		for k, part := range name {
			line := "  " + after(part, wide)
			for j := 0; k == 0 && j < len(columns); j++ {
				line += gap + columns[j].cell(i)
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
}

// keyText says how the cells of a table are read. What ± means its notes may say themselves.
func keyText(t *papers.Table) string {
	spread, paper := false, false
	for i := range t.Rows {
		for _, c := range t.Rows[i].Cells {
			spread = spread || c.Spread > 0
			paper = paper || !math.IsNaN(c.Paper)
		}
	}
	text := ""
	if spread && !slices.ContainsFunc(t.Notes, func(note string) bool { return strings.Contains(note, "±") }) {
		text = "mean ± standard deviation over the trials"
	}
	if paper {
		text = strings.TrimLeft(text+", the paper's figure in brackets", ", ")
	}
	return text
}

// statementsText writes what holds and what does not.
func statementsText(b *strings.Builder, list []papers.Statement) {
	if len(list) == 0 {
		return
	}
	b.WriteByte('\n')
	for i := range list {
		s := &list[i]
		text := s.Claim
		if s.Found != "" {
			text += ": " + s.Found
		}
		hanging(b, fmt.Sprintf("%-7s", verdicts[s.Holds]), text)
	}
	fmt.Fprintln(b, tally(list))
}
