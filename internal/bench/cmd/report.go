package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/cli/print"
)

// Document is a report in blocks, which Markdown and a terminal show alike.
type Document []interface {
	markdown(b *strings.Builder)
	text(b *strings.Builder, width int)
}

// Markdown returns the document as GitHub shows it.
func (d Document) Markdown() string {
	var b strings.Builder
	for _, block := range d {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		block.markdown(&b)
	}
	return b.String()
}

// Text returns the document for a terminal: sentences fold at TextWidth, and tables are cut into parts that fit into a
// width.
func (d Document) Text(width int) string {
	var b strings.Builder
	for _, block := range d {
		block.text(&b, width)
	}
	return b.String()
}

// Title stands above a document in Markdown. A terminal has the command above it.
type Title string

func (t Title) markdown(b *strings.Builder) { fmt.Fprintf(b, "## %s\n", inMarkdown(string(t))) }

func (Title) text(*strings.Builder, int) {}

// Facts are what a report is of, by name. The text of one named command is code.
type Facts [][2]string

func (f Facts) markdown(b *strings.Builder) {
	for _, fact := range f {
		text := inMarkdown(fact[1])
		if fact[0] == "command" {
			text = "`" + fact[1] + "`"
		}
		fmt.Fprintf(b, "- %s: %s\n", fact[0], text)
	}
}

func (f Facts) text(b *strings.Builder, _ int) {
	for _, fact := range f {
		hanging(b, fmt.Sprintf("%-9s ", fact[0]), fact[1])
	}
}

// Cell is one figure of a table.
type Cell struct {
	Figure, Mark, Beside string // mark is that of a footnote
}

// FigureRow is a name and a cell for each column.
type FigureRow struct {
	Name  string
	Cells []Cell
}

// FigureTable is a table of such cells.
type FigureTable struct {
	Title   string
	Key     string   // how cells are read; empty: they need no words
	Columns []string // without that of the names
	Rows    []FigureRow
	Notes   []string
	Command string // that measured it; empty: the document's
	footnotes
}

// Add appends a row of figures.
func (f *FigureTable) Add(name string, cells ...string) {
	row := FigureRow{Name: name}
	for _, text := range cells {
		row.Cells = append(row.Cells, Cell{Figure: text})
	}
	f.Rows = append(f.Rows, row)
}

func (f *FigureTable) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "### %s\n\n| |", inMarkdown(f.Title))
	for _, c := range f.Columns {
		fmt.Fprintf(b, " %s |", inMarkdown(c))
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(f.Columns)) + "\n")
	for _, row := range f.Rows {
		fmt.Fprintf(b, "| %s |", inMarkdown(row.Name))
		for _, c := range row.Cells {
			fmt.Fprintf(b, " %s%s%s |", inMarkdown(c.Figure), c.Mark, c.Beside)
		}
		b.WriteByte('\n')
	}
	var sentences []string
	if f.Key != "" {
		sentences = append(sentences, capital(f.Key)+".")
	}
	for i, text := range f.texts {
		sentences = append(sentences, raised(i+1)+" "+text)
	}
	for _, text := range append(sentences, f.Notes...) {
		b.WriteString("\n" + inMarkdown(text) + "\n")
	}
	if f.Command != "" {
		fmt.Fprintf(b, "\nMeasured by `%s`.\n", f.Command)
	}
}

// columnGap is the space between two columns.
const columnGap = 2

// mostName is the room for the names of rows; longer ones go on below.
const mostName = 24

func (f *FigureTable) text(b *strings.Builder, width int) {
	b.WriteByte('\n')
	hanging(b, "", f.Title)
	if f.Key != "" {
		hanging(b, "  ", f.Key)
	}
	names := make([][]string, len(f.Rows))
	wide := 0
	for i, row := range f.Rows {
		names[i] = strings.Split(print.Fold(print.Printable(row.Name), mostName), "\n")
		for _, line := range names[i] {
			wide = max(wide, ansi.StringWidth(line))
		}
	}
	for from := 0; from < len(f.Columns); {
		if from > 0 {
			b.WriteByte('\n')
		}
		part := []string{after("", 2+wide)}
		for i := range names {
			part = append(part, "  "+after(names[i][0], wide))
		}
		for left := width - len(part[0]); from < len(f.Columns); from++ {
			column := f.column(from)
			left -= columnGap + ansi.StringWidth(column[0])
			if left < 0 && ansi.StringWidth(part[0]) > 2+wide {
				break
			}
			for i := range part {
				part[i] += strings.Repeat(" ", columnGap) + column[i]
			}
		}
		for i, line := range part {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			for k := 1; i > 0 && k < len(names[i-1]); k++ {
				b.WriteString("  " + names[i-1][k] + "\n")
			}
		}
	}
	for i, text := range f.texts {
		hanging(b, "  "+raised(i+1)+" ", text)
	}
	for _, text := range f.Notes {
		hanging(b, "  ", text)
	}
	if f.Command != "" {
		hanging(b, "  ", "measured by "+f.Command)
	}
}

// column returns a column's head and its cells, the figures aligned, as texts of one width.
func (f *FigureTable) column(j int) []string {
	var own, mark, beside int
	for _, row := range f.Rows {
		c := row.Cells[j]
		own, mark, beside = max(own, ansi.StringWidth(c.Figure)), max(mark, ansi.StringWidth(c.Mark)), max(
			beside, ansi.StringWidth(c.Beside))
	}
	head := print.Printable(f.Columns[j])
	wide := max(ansi.StringWidth(head), own+mark+beside)
	list := []string{before(head, wide)}
	for _, row := range f.Rows {
		c := row.Cells[j]
		list = append(list, before(before(c.Figure, own)+after(c.Mark, mark)+after(c.Beside, beside), wide))
	}
	return list
}

// Claims are sentences of which each holds or not, and how many do.
type Claims struct {
	Rows  [][3]string // verdict, claim, what was found
	Tally string
}

func (c *Claims) markdown(b *strings.Builder) {
	b.WriteString("| | claim | found |\n|---|---|---|\n")
	for _, row := range c.Rows {
		fmt.Fprintf(b, "| **%s** | %s | %s |\n", row[0], inMarkdown(row[1]), inMarkdown(row[2]))
	}
	fmt.Fprintf(b, "\n%s.\n", capital(c.Tally))
}

func (c *Claims) text(b *strings.Builder, _ int) {
	b.WriteByte('\n')
	for _, row := range c.Rows {
		text := row[1]
		if row[2] != "" {
			text += ": " + row[2]
		}
		hanging(b, fmt.Sprintf("%-7s", row[0]), text)
	}
	b.WriteString(c.Tally + "\n")
}

// footnotes number what is said about single cells; the same words have the same number.
type footnotes struct{ texts []string }

// Note returns the mark of a footnote, empty for none.
func (f *footnotes) Note(text string) string {
	if text == "" {
		return ""
	}
	for i, t := range f.texts {
		if t == text {
			return raised(i + 1)
		}
	}
	f.texts = append(f.texts, text)
	return raised(len(f.texts))
}

// raised writes a number in superior figures.
func raised(n int) string {
	return strings.Map(func(r rune) rune { return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0'] }, strconv.Itoa(n))
}

// capital begins a text as a sentence begins.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// inMarkdown keeps a text within its cell or line, without markup of its own.
func inMarkdown(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`", "\n", " ").Replace(text)
}

// hanging writes a text behind a head, folded under itself.
func hanging(b *strings.Builder, head, text string) {
	in := ansi.StringWidth(head)
	for i, line := range strings.Split(print.Fold(print.Printable(text), print.TextWidth-in), "\n") {
		if i > 0 {
			head = strings.Repeat(" ", in)
		}
		b.WriteString(strings.TrimRight(head+line, " ") + "\n")
	}
}

// before aligns a text to the right of a width, after to the left.
func before(text string, width int) string {
	return strings.Repeat(" ", max(width-ansi.StringWidth(text), 0)) + text
}

func after(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}
