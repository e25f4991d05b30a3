package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
)

const tablesDescription = `Have newtop tune and scikit-learn's methods, with their defaults, learn from the
same rows of twelve tables, and compare their errors on the same other rows, a
quarter of each table drawn by each seed.

newtop tune gets nothing but the file, the target and the budget. All takes
about an hour. Needs Python with sklearn and pandas.`

// newBenchTables returns newtop-bench tables.
func newBenchTables() *cobra.Command {
	var f benchFlags
	var o bench.TableOptions
	cmd := &cobra.Command{
		Use:     "tables [flags]",
		Short:   "Compare newtop tune with scikit-learn on twelve tables",
		Long:    tablesDescription,
		Example: "newtop-bench tables --only iris,diabetes --budget 10s --seeds 2\nnewtop-bench tables --format md > tables.md",
		Args:    flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := f.check("text", "json", "md"); err != nil {
				return err
			}
			if o.Seeds < 1 || o.Seeds > 99 {
				return flags.Invalid("--seeds", o.Seeds, "a whole number from 1 to 99")
			}
			if o.Budget < time.Second {
				return flags.Invalid("--budget", o.Budget, "a duration ≥ 1s")
			}
			if o.Newtop, err = os.Executable(); err != nil {
				return err
			}
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
	set.IntVar(&o.Seeds, "seeds", 5, "splits of each table")
	set.DurationVar(&o.Budget, "budget", time.Minute, "what newtop tune gets for each")
	set.StringSliceVar(&o.Only, "only", nil, "`NAMES` of tables, parted by commas; none: all")
	set.StringVar(&o.Python, "python", "", "`FILE` that runs scikit-learn; empty: the first of python3 and /usr/bin/python3 that has it")
	return cmd
}

// tablesDocument has a table for classes and one for numbers.
func tablesDocument(t *bench.Tables) (d Document) {
	ahead, near := 0, 0
	for _, classes := range []bool{true, false} {
		table := &FigureTable{Title: "RMSE on the test rows", Key: "mean ± its standard error over the splits"}
		if classes {
			table.Title = "Error on the test rows, %"
		}
		for i := range t.Tables {
			of := &t.Tables[i]
			if (of.Classes > 0) != classes {
				continue
			}
			var cells []string
			table.Columns = nil
			for k := range of.Methods {
				m := &of.Methods[k]
				table.Columns = append(table.Columns, m.Name)
				cells = append(cells, m.Text(classes))
			}
			table.Add(fmt.Sprintf("%s, %d × %d", of.Name, of.Rows, of.Columns), cells...)
			own, mlp := of.Of("newtop"), of.Of("MLP")
			if own.Mean < mlp.Mean {
				ahead++
			}
			if own.WithinOne() {
				near++
			}
		}
		if table.Rows != nil {
			d = append(d, table)
		}
	}
	n := len(t.Tables)
	return append(d, Facts{
		{"ahead of the MLP", fmt.Sprintf("on %d of %d tables", ahead, n)},
		{"the best, or within one standard error of it", fmt.Sprintf("on %d of %d", near, n)},
		{"machine", machineWords(&t.Machine)},
	})
}
