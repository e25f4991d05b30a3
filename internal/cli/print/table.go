// Package print writes for people: errors, numbers, tables, the epochs of a run, meters and reports.
package print

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// columnGap is the space between two columns.
const columnGap = 2

// Table is a table of texts. A heading that begins with > stands over a column that is aligned to the right. Where all
// headings are empty they have no line.
type Table struct {
	Headers []string
	Rows    [][]string
	// Ranks of the columns: what has no room goes, the highest rank first; those of rank 0 stay. nil: all stay.
	Ranks []int
}

// Add appends a row; a cell of which nothing is known is a dot.
func (g *Table) Add(cells ...string) {
	for i, c := range cells {
		if cells[i] = Printable(c); c == "" {
			cells[i] = "."
		}
	}
	g.Rows = append(g.Rows, cells)
}

// Print prints the table whatever its width.
func (g *Table) Print(out io.Writer) error { return g.Fit(out, 0) }

// Fit prints the table in a width; 0 is any.
func (g *Table) Fit(out io.Writer, width int) error {
	wide := g.widths(width)
	first := -1
	if strings.Join(g.Headers, "") == "" {
		first = 0
	}
	for k := first; k < len(g.Rows); k++ {
		var line strings.Builder
		for i, header := range g.Headers {
			if wide[i] == 0 {
				continue
			}
			text, right := strings.CutPrefix(header, ">")
			if k >= 0 {
				text = g.Rows[k][i]
			}
			pad := strings.Repeat(" ", wide[i]-ansi.StringWidth(text))
			if right {
				text = pad + text
			} else {
				text += pad
			}
			line.WriteString(text + strings.Repeat(" ", columnGap))
		}
		if _, err := fmt.Fprintln(out, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Width returns how wide the table is with all its columns.
func (g *Table) Width() int {
	total := -columnGap
	for _, wide := range g.widths(0) {
		total += wide + columnGap
	}
	return total
}

// widths returns how wide each column is, 0 for one that is left out: for want of room, or in a terminal because
// nothing stands in it.
func (g *Table) widths(width int) []int {
	wide := make([]int, len(g.Headers))
	total := -columnGap
	for i, header := range g.Headers {
		wide[i] = ansi.StringWidth(strings.TrimPrefix(header, ">"))
		empty := len(g.Rows) > 0
		for _, row := range g.Rows {
			wide[i] = max(wide[i], ansi.StringWidth(row[i]))
			empty = empty && row[i] == "."
		}
		if empty && width > 0 {
			wide[i] = 0
			continue
		}
		total += wide[i] + columnGap
	}
	for width > 0 && total > width {
		last := -1
		for i, rank := range g.Ranks {
			if wide[i] > 0 && rank > 0 && (last < 0 || rank > g.Ranks[last]) {
				last = i
			}
		}
		if last < 0 {
			break
		}
		total -= wide[last] + columnGap
		wide[last] = 0
	}
	return wide
}
