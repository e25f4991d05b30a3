package main

import (
	"fmt"
	"math"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
)

const tablesDescription = `Have newtop tune, scikit-learn's methods with their defaults, and XGBoost with
the best of 20 settings by five folds learn from the same rows of twelve tables,
and compare their errors on the same other rows, a quarter of each table drawn
by each seed.

newtop tune gets nothing but the file, the target and a bound on its work, so
that others' load changes nothing. A split of all takes half an hour on two
cores. Needs Python with sklearn, pandas and xgboost.`

// newBenchTables returns newtop-bench tables.
func newBenchTables() *cobra.Command {
	var f benchFlags
	var o bench.TableOptions
	cmd := &cobra.Command{
		Use:     "tables [flags]",
		Short:   "Compare newtop tune with scikit-learn and XGBoost on twelve tables",
		Long:    tablesDescription,
		Example: "newtop-bench tables --only iris,diabetes --work 3e5 --seeds 2\nnewtop-bench tables --journal tables.jsonl --format md > tables.md",
		Args:    flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check("text", "json", "md"); err != nil {
				return err
			}
			if o.Seeds < 1 || o.Seeds > 99 {
				return flags.Invalid("--seeds", o.Seeds, "a whole number from 1 to 99")
			}
			if !(o.Work >= 1e5 && o.Work <= 1e12) {
				return flags.Invalid("--work", o.Work, "a number from 1e5 to 1e12")
			}
			path, err := exec.LookPath(o.Newtop)
			if err != nil {
				return flags.Invalid("--newtop", o.Newtop, "a program: newtop in PATH, or its file")
			}
			o.Newtop = path
			o.Live = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
			t, err := bench.MeasureTables(cmd.Context(), o)
			if err != nil {
				return err
			}
			return writeReport(cmd.OutOrStdout(), f.format, t, tablesDocument(t))
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.format, "format", "text", "text, json: one JSON object, or md: tables for GitHub")
	flags.Choices(cmd, "format", "text", "json", "md")
	set.IntVar(&o.Seeds, "seeds", 10, "splits of each table")
	set.Float64Var(&o.Work, "work", 3e6, "gradients of single rows that newtop tune may take for each")
	set.StringSliceVar(&o.Only, "only", nil, "`NAMES` of tables, parted by commas; none: all")
	set.StringVar(&o.Journal, "journal", "", "`FILE` that keeps the scores: the same command goes on where it was stopped")
	set.StringVar(&o.Newtop, "newtop", "newtop", "`FILE` of the program")
	set.StringVar(&o.Python, "python", "", "`FILE` that runs the peers; empty: the first of python3 and /usr/bin/python3 that can")
	return cmd
}

// tablesDocument has the means and newtop's differences, of tables with classes and of those with numbers.
func tablesDocument(t *bench.Tables) (d Document) {
	better, worse, splits := 0, 0, 0
	for _, classes := range []bool{true, false} {
		what, scale, mean := "test RMSE", 1.0, "%.4g"
		if classes {
			what, scale, mean = "test error, %", 100, "%.2f"
		}
		means := &FigureTable{Title: capital(what)}
		less := &FigureTable{Title: "newtop's " + what + " less each other's", Key: "paired by split, ± standard error"}
		for i := range t.Tables {
			of := &t.Tables[i]
			if (of.Classes > 0) != classes {
				continue
			}
			name := fmt.Sprintf("%s, %d × %d", of.Name, of.Rows, of.Columns)
			var row []string
			means.Columns, less.Columns = nil, []string{"the best other"}
			best := of.BestPeer()
			under := FigureRow{Name: name, Cells: []Cell{lessCell(less, best, scale)}}
			for k := range of.Methods {
				m := &of.Methods[k]
				splits = max(splits, len(m.Scores))
				means.Columns, row = append(means.Columns, m.Name), append(row, fmt.Sprintf(mean, scale*m.Mean))
				if m.Name != "newtop" {
					less.Columns, under.Cells = append(less.Columns, m.Name), append(under.Cells, lessCell(less, m, scale))
				}
			}
			means.Add(name, row...)
			less.Rows = append(less.Rows, under)
			if best.Differs && best.Less < 0 {
				better++
			} else if best.Differs {
				worse++
			}
		}
		if means.Rows != nil {
			d = append(d, means, less)
		}
	}
	n := len(t.Tables)
	return append(d, Facts{
		{"against the best other", fmt.Sprintf("better on %d of %d tables, worse on %d, no difference shown on %d", better, n, worse, n-better-worse)},
		{"splits", fmt.Sprint(splits)},
		{"peers", t.Peers},
		{"machine", machineWords(&t.Machine)},
	})
}

// lessCell writes a difference with as many digits as its standard error has two of, and marks one that is shown.
func lessCell(table *FigureTable, m *bench.TableMethod, scale float64) Cell {
	less, spread := scale*float64(m.Less), scale*float64(m.Spread)
	digits := 2
	if spread > 0 {
		digits = max(0, 1-int(math.Floor(math.Log10(spread))))
	}
	text := fmt.Sprintf("%.*f ± %.*f", digits, less, digits, spread)
	if math.IsNaN(spread) { // of one split
		text = fmt.Sprintf("%.2f", less)
	}
	c := Cell{Figure: strings.ReplaceAll(text, "-", "−")}
	if m.Differs {
		c.Mark = table.Note("beyond Student's 5 % bound; splits share rows, which the standard error allows for (Nadeau & Bengio 2003)")
	}
	return c
}
