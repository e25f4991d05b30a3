package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// TextWidth is what sentences fit into, and tables where no terminal is wider.
const TextWidth = 80

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
		hanging(b, fmt.Sprintf("%-10s", fact[0]), fact[1])
	}
}

// Cell is one figure of a table.
type Cell struct {
	figure, mark, beside string // mark is that of a footnote
}

// FigureRow is a name and a cell for each column.
type FigureRow struct {
	name  string
	cells []Cell
}

// FigureTable is a table of such cells.
type FigureTable struct {
	title   string
	key     string   // how cells are read; empty: they need no words
	columns []string // without that of the names
	rows    []FigureRow
	notes   []string
	command string // that measured it; empty: the document's
	footnotes
}

func (f *FigureTable) Add(name string, cells ...string) {
	row := FigureRow{name: name}
	for _, text := range cells {
		row.cells = append(row.cells, Cell{figure: text})
	}
	f.rows = append(f.rows, row)
}

func (f *FigureTable) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "### %s\n\n| |", inMarkdown(f.title))
	for _, c := range f.columns {
		fmt.Fprintf(b, " %s |", inMarkdown(c))
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(f.columns)) + "\n")
	for _, row := range f.rows {
		fmt.Fprintf(b, "| %s |", inMarkdown(row.name))
		for _, c := range row.cells {
			fmt.Fprintf(b, " %s%s%s |", inMarkdown(c.figure), c.mark, c.beside)
		}
		b.WriteByte('\n')
	}
	var sentences []string
	if f.key != "" {
		sentences = append(sentences, capital(f.key)+".")
	}
	for i, text := range f.texts {
		sentences = append(sentences, raised(i+1)+" "+text)
	}
	for _, text := range append(sentences, f.notes...) {
		b.WriteString("\n" + inMarkdown(text) + "\n")
	}
	if f.command != "" {
		fmt.Fprintf(b, "\nMeasured by `%s`.\n", f.command)
	}
}

// mostName is the room for the names of rows; longer ones go on below.
const mostName = 24

func (f *FigureTable) text(b *strings.Builder, width int) {
	b.WriteByte('\n')
	hanging(b, "", f.title)
	if f.key != "" {
		hanging(b, "  ", f.key)
	}
	names := make([][]string, len(f.rows))
	wide := 0
	for i, row := range f.rows {
		names[i] = strings.Split(Fold(Printable(row.name), mostName), "\n")
		for _, line := range names[i] {
			wide = max(wide, ansi.StringWidth(line))
		}
	}
	for from := 0; from < len(f.columns); {
		if from > 0 {
			b.WriteByte('\n')
		}
		part := []string{after("", 2+wide)}
		for i := range names {
			part = append(part, "  "+after(names[i][0], wide))
		}
		for left := width - len(part[0]); from < len(f.columns); from++ {
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
	for _, text := range f.notes {
		hanging(b, "  ", text)
	}
	if f.command != "" {
		hanging(b, "  ", "measured by "+f.command)
	}
}

// column returns a column's head and its cells, the figures aligned, as texts of one width.
func (f *FigureTable) column(j int) []string {
	var own, mark, beside int
	for _, row := range f.rows {
		c := row.cells[j]
		own, mark, beside = max(own, ansi.StringWidth(c.figure)), max(mark, ansi.StringWidth(c.mark)), max(beside, ansi.StringWidth(c.beside))
	}
	head := Printable(f.columns[j])
	wide := max(ansi.StringWidth(head), own+mark+beside)
	list := []string{before(head, wide)}
	for _, row := range f.rows {
		c := row.cells[j]
		list = append(list, before(before(c.figure, own)+after(c.mark, mark)+after(c.beside, beside), wide))
	}
	return list
}

// Claims are sentences of which each holds or not, and how many do.
type Claims struct {
	rows  [][3]string // verdict, claim, what was found
	tally string
}

func (c *Claims) markdown(b *strings.Builder) {
	b.WriteString("| | claim | found |\n|---|---|---|\n")
	for _, row := range c.rows {
		fmt.Fprintf(b, "| **%s** | %s | %s |\n", row[0], inMarkdown(row[1]), inMarkdown(row[2]))
	}
	fmt.Fprintf(b, "\n%s.\n", capital(c.tally))
}

func (c *Claims) text(b *strings.Builder, _ int) {
	b.WriteByte('\n')
	for _, row := range c.rows {
		text := row[1]
		if row[2] != "" {
			text += ": " + row[2]
		}
		hanging(b, fmt.Sprintf("%-7s", row[0]), text)
	}
	b.WriteString(c.tally + "\n")
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
	for i, line := range strings.Split(Fold(Printable(text), TextWidth-in), "\n") {
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
