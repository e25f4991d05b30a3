package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"newtop/internal/bench"
	"newtop/internal/bench/papers"
	"newtop/internal/cli/print"
	"newtop/trainer/event"
)

// reproduction is a report with where and when it was made.
type reproduction struct {
	Report      *papers.Report
	Short       string
	Machine     bench.Machine
	Version     string
	Command     string // that measured it
	Begun       time.Time
	Seconds     float64
	Quick       bool
	Interrupted bool
}

// facts are what stands above the tables, by name.
func (r *reproduction) facts() (list Facts) {
	p := r.Report
	add := func(name, text string) {
		if text != "" {
			list = append(list, [2]string{name, text})
		}
	}
	trials := strconv.Itoa(p.Trials)
	if seeds := seedsText(p.Seeds); seeds != "" {
		trials += ", " + seeds
	}
	if r.Quick {
		trials += "; quick: smaller problems, which decide nothing"
	}
	measured := fmt.Sprintf("%s, in %s", r.Begun.UTC().Format("2006-01-02 15:04 UTC"), print.Elapsed(event.Float(r.Seconds)))
	if r.Interrupted {
		measured += "; interrupted: what was measured until then"
	}
	add("paper", p.Paper)
	add("data", p.Data)
	add("trials", trials)
	add("newtop", r.Version)
	add("machine", machineWords(&r.Machine))
	add("command", r.Command)
	add("measured", measured)
	return list
}

// reproductionJSON is what --format json prints, a contract with scripts: fractions, seconds, null where there is no
// figure.
type reproductionJSON struct {
	Name        string          `json:"name"`
	Paper       string          `json:"paper"`
	Data        string          `json:"data"`
	Trials      int             `json:"trials"`
	Seeds       []uint64        `json:"seeds"`
	Quick       bool            `json:"quick"`
	Interrupted bool            `json:"interrupted"`
	Version     string          `json:"version"`
	Command     string          `json:"command"`
	Machine     bench.Machine   `json:"machine"`
	Begun       time.Time       `json:"begun"`
	Seconds     float64         `json:"seconds"`
	Tables      []tableJSON     `json:"tables"`
	Statements  []statementJSON `json:"statements"`
}

type tableJSON struct {
	Title   string    `json:"title"`
	Command string    `json:"command"`
	Columns []string  `json:"columns"`
	Rows    []rowJSON `json:"rows"`
	Notes   []string  `json:"notes"`
}

type rowJSON struct {
	Name  string     `json:"name"`
	Unit  string     `json:"unit"` // number, count, fraction, seconds or ratio
	Cells []cellJSON `json:"cells"`
}

type cellJSON struct {
	Value  event.Float `json:"value"`
	Spread event.Float `json:"spread"`
	Bound  string      `json:"bound"` // exact, at-least or at-most
	Paper  event.Float `json:"paper"`
	Note   string      `json:"note"`
}

type statementJSON struct {
	Claim   string `json:"claim"`
	Found   string `json:"found"`
	Verdict string `json:"verdict"` // holds, fails or open
	Why     string `json:"why"`     // of what is open for another reason than the figures
}

var unitNames = map[papers.Unit]string{papers.Number: "number", papers.Count: "count", papers.Percent: "fraction", papers.Seconds: "seconds", papers.Ratio: "ratio"}

var boundNames = map[papers.Bound]string{papers.Exact: "exact", papers.AtLeast: "at-least", papers.AtMost: "at-most"}

func (r *reproduction) json() *reproductionJSON {
	p := r.Report
	out := &reproductionJSON{Name: p.Name, Paper: p.Paper, Data: p.Data, Trials: p.Trials, Seeds: some(p.Seeds), Quick: r.Quick,
		Interrupted: r.Interrupted, Version: r.Version, Command: r.Command, Machine: r.Machine, Begun: r.Begun.UTC(), Seconds: r.Seconds,
		Tables: []tableJSON{}, Statements: []statementJSON{}}
	for i := range p.Tables {
		t := &p.Tables[i]
		table := tableJSON{Title: t.Title, Command: t.Command, Columns: some(t.Columns), Rows: []rowJSON{}, Notes: some(t.Notes)}
		for _, row := range t.Rows {
			cells := []cellJSON{}
			for _, c := range row.Cells {
				spread := event.Float(math.NaN())
				if c.Spread > 0 {
					spread = event.Float(c.Spread)
				}
				cells = append(cells, cellJSON{reached(c.Value), spread, boundNames[c.Bound], reached(c.Paper), c.Note})
			}
			table.Rows = append(table.Rows, rowJSON{row.Name, unitNames[row.Unit], cells})
		}
		out.Tables = append(out.Tables, table)
	}
	for _, s := range p.Statements {
		out.Statements = append(out.Statements, statementJSON{s.Claim, s.Found, verdicts[s.Holds], s.Why})
	}
	return out
}

// some returns a slice that JSON writes as a list even if it is empty.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// document is the report for people.
func (r *reproduction) document() Document {
	heading := "newtop-bench " + r.Report.Name
	if r.Short != "" {
		heading = r.Short
	}
	d := Document{Title(heading), r.facts()}
	for i := range r.Report.Tables {
		d = append(d, tableOf(&r.Report.Tables[i]))
	}
	if claims := r.claims(); claims != nil {
		d = append(d, claims)
	}
	return d
}

// claims has the report's claims, nil where it has none.
func (r *reproduction) claims() *Claims {
	list := r.Report.Statements
	if len(list) == 0 {
		return nil
	}
	c := &Claims{Tally: tally(list)}
	for _, s := range list {
		found := s.Found
		if s.Why != "" {
			found += ". " + strings.ToUpper(s.Why[:1]) + s.Why[1:]
		}
		c.Rows = append(c.Rows, [3]string{verdicts[s.Holds], s.Claim, found})
	}
	return c
}

// brief is the report for docs/papers.md: some rows of some tables, a method a line and means alone, the claims, and a line
// on where it was measured.
func (r *reproduction) brief() (d Document) {
	for i := range r.Report.Tables {
		if t := &r.Report.Tables[i]; len(t.Brief) > 0 {
			d = append(d, briefTable(t))
		}
	}
	if claims := r.claims(); claims != nil {
		d = append(d, claims)
	}
	var words []string
	for _, fact := range r.facts() {
		if fact[0] != "paper" && fact[0] != "command" {
			words = append(words, fact[0]+" "+fact[1])
		}
	}
	return append(d, Facts{{"command", r.Command}, {"on", strings.Join(words, "; ")}})
}

// briefTable is a table on its side.
func briefTable(t *papers.Table) *FigureTable {
	f := &FigureTable{Title: t.Title}
	for j := range t.Columns {
		f.Rows = append(f.Rows, FigureRow{Name: t.Columns[j]})
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		if !slices.Contains(t.Brief, row.Name) {
			continue
		}
		f.Columns = append(f.Columns, rowName(row))
		for j, cell := range row.Cells {
			cell.Spread = 0
			text := ours(&cell, row.Unit)
			if paper := papersOwn(&cell, row.Unit); paper != "" {
				text += " (" + paper + ")"
			}
			f.Rows[j].Cells = append(f.Rows[j].Cells, Cell{Figure: text})
		}
	}
	return f
}

// tableOf writes a table's figures, the paper's in brackets.
func tableOf(t *papers.Table) *FigureTable {
	f := &FigureTable{Title: t.Title, Key: keyText(t), Columns: t.Columns, Notes: t.Notes, Command: t.Command}
	for i := range t.Rows {
		row := &t.Rows[i]
		cells := make([]Cell, len(t.Columns))
		for j := range cells {
			of := papers.None()
			if j < len(row.Cells) {
				of = row.Cells[j]
			}
			cells[j] = Cell{Figure: ours(&of, row.Unit), Mark: f.Note(of.Note)}
			if paper := papersOwn(&of, row.Unit); paper != "" {
				cells[j].Beside = " (" + paper + ")"
			}
		}
		f.Rows = append(f.Rows, FigureRow{Name: rowName(row), Cells: cells})
	}
	return f
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

// reached is a number of a cell as JSON has it: one that was not reached is absent.
func reached(v float64) event.Float {
	if f := event.Float(v); f.Finite() {
		return f
	}
	return event.Absent
}
