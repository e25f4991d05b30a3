// Package papers reproduces the tables of the papers that newtop implements, and prints the papers' columns beside its
// own: letter and recipes of [MD], bpls and toys of [T], scg of [M].
package papers

import (
	"context"
	"math"
)

// Cell is one figure of a table, with its paper's where there is one.
type Cell struct {
	Value  float64 // NaN: not measured
	Spread float64 // standard deviation over the trials; 0: none
	Paper  float64 // NaN: the paper has none
	Bound  Bound   // of Value, where a trial did not end within its budget
	Note   string  // a few words, as "8 of 10 reached it"
}

// Bound says that a figure is not exact.
type Bound int8

// The bounds.
const (
	Exact   Bound = iota
	AtLeast       // the true value is at least this
	AtMost
)

// None is a cell without any figure.
func None() Cell { return figure(math.NaN()) }

// figure is a cell of one figure, of which the paper has none.
func figure(v float64) Cell { return Cell{Value: v, Paper: math.NaN()} }

// Row is one quantity over the columns of its table.
type Row struct {
	Name  string
	Unit  Unit
	Cells []Cell // one for each column
}

// rowOf returns a row with the cells of so many columns.
func rowOf(name string, unit Unit, columns int, cell func(i int) Cell) Row {
	row := Row{name, unit, make([]Cell, columns)}
	for i := range row.Cells {
		row.Cells[i] = cell(i)
	}
	return row
}

// Unit says how a row's figures are written.
type Unit uint8

// The units.
const (
	Number  Unit = iota
	Count        // whole, or a mean of whole numbers
	Percent      // a fraction, written in per cent
	Seconds      // written with their unit; the paper's were converted to it
	Ratio        // written with ×
)

// Table is one of a paper's tables, or one beside it.
type Table struct {
	Title   string // as "[MD] table 2: UCI letter, 16-70-50-26"
	Command string // what measured it
	Columns []string
	Rows    []Row
	Notes   []string // what a reader must know: data, deviations, what was left out
	Brief   []string // the names of the rows that a brief report has, where it has the table at all
}

// Statement is one of a paper's claims, or a target, held against the tables.
type Statement struct {
	Claim string // in words, as "C in four blocks reaches its best test epoch in at most 36.6 epochs"
	Found string // in words with figures, as "19.0 epochs over 10 trials"
	Holds Verdict
	Why   string // of what figures would decide and something else leaves open: what they say, and the reason
}

// Verdict is whether a claim holds.
type Verdict uint8

// The verdicts.
const (
	Open Verdict = iota // the measurement does not decide it
	Holds
	Fails
)

// Report is what a reproduction found.
type Report struct {
	Name       string // as newtop-bench takes it
	Paper      string // reference in full
	Data       string // what it ran on, with rows and source
	Trials     int
	Seeds      []uint64
	Tables     []Table
	Statements []Statement
}

// Options are common to all reproductions. The zero value is the whole of it.
type Options struct {
	DataDir string   // where files of real data are; empty: the cache directory
	Data    string   // a data set instead of the usual one; empty: the real one where its files are, else the generated one
	Trials  int      // seeds 1, 2, …; 0: as many as the paper
	Threads int      // 0: all cores
	Quick   bool     // fewer trials on smaller problems, in well under a minute
	Only    []string // columns to run, by name; nil: all
	Journal *Journal // of trials that are done and need not be run again; nil: none
	// Progress hears how far it is, from one goroutine at a time; nil: nobody.
	Progress func(Progress)
}

// trials returns how many trials there are: those asked for, else the paper's, or fewer in a quick look.
func (o *Options) trials(paper, quick int) int {
	switch {
	case o.Trials > 0:
		return o.Trials
	case o.Quick:
		return quick
	}
	return paper
}

// Progress is how far a reproduction is.
type Progress struct {
	Share float64 // of the whole, 0…1, by the expected work
	What  string  // as "C in two blocks, trial 3 of 10, epoch 12"
}

// Reproduction is one of those that newtop-bench runs.
type Reproduction struct {
	Name, Short string
	Trials      int // the paper's number of them
	Run         func(context.Context, Options) (*Report, error)
}

// All returns the reproductions in the order of the help.
func All() []Reproduction {
	return []Reproduction{
		{"letter", "[MD] table 2: UCI letter, online, in blocks and in batch mode", 10, Letter},
		{"recipes", "[MD] table 1: colour recipes, one net and five experts", 20, Recipes},
		{"bpls", "[T] tables I and II: least squares beside first-order methods on images", 10, BPLS},
		{"toys", "[T] figures 4 and 5: error against noise on two toy problems", 1000, Toys},
		{"scg", "[M] §4.1: exact products against differences in scaled conjugate gradients", 10, SCG},
	}
}
