package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
)

const fairDescription = `Race methods that are tuned alike: as many settings of each, at the same places
of the same axes (rate, batch, horizon, decay, β₂ or momentum; of methods that
solve for steps their first length and how long and exactly they solve), judged
on the same validation rows, and as much work in every run. The best of each
runs on all training rows from the same seeds; differences are paired by seed.`

// newBenchFair returns newtop-bench fair.
func newBenchFair() *cobra.Command {
	var format string
	var o bench.FairOptions
	cmd := &cobra.Command{
		Use:     "fair [flags]",
		Short:   "Race methods that are tuned alike, with as much work",
		Long:    fairDescription,
		Example: "newtop-bench fair --only letter --data-dir DIR --journal letter.jsonl --format md",
		Args:    flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.OneOf("--format", format, "text", "json", "md"); err != nil {
				return err
			}
			if o.Settings < 1 || o.Seeds < 2 {
				return flags.Invalid("--settings, --seeds", fmt.Sprint(o.Settings, ", ", o.Seeds), "at least 1 and 2")
			}
			for _, name := range o.Methods {
				if !slices.Contains(bench.FairMethodNames(), name) {
					return flags.Invalid("--methods", name, "some of "+strings.Join(bench.FairMethodNames(), ", "))
				}
			}
			o.Live = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
			r, err := bench.MeasureFairRaces(cmd.Context(), o)
			if err != nil {
				return err
			}
			return writeReport(cmd.OutOrStdout(), format, r, fairDocument(r))
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&format, "format", "text", "text, json: one JSON object, or md: tables for GitHub")
	flags.Choices(cmd, "format", "text", "json", "md")
	set.StringSliceVar(&o.Only, "only", nil, "`NAMES` of races, parted by commas: "+strings.Join(bench.FairRaceNames(), ", ")+"; none: all")
	set.StringSliceVar(&o.Methods, "methods", nil, "`NAMES` of methods, parted by commas; none: all")
	set.IntVar(&o.Settings, "settings", 32, "settings of each method")
	set.IntVar(&o.Seeds, "seeds", 20, "runs of the best of them")
	set.StringVar(&o.DataDir, "data-dir", "", "`DIR` with the files of real data sets; empty: the cache that newtop data fetch fills")
	flags.Complete(cmd, "data-dir", flags.Directories)
	set.StringVar(&o.Journal, "journal", "", "`FILE` that keeps the trials: the same command goes on where it was stopped")
	set.IntVar(&o.Threads, "threads", 0, "threads; 0: all cores")
	return cmd
}

// fairDocument has a table for each race. Differences are to Adam's runs, or to those of the first method.
func fairDocument(list []*bench.FairRace) (d Document) {
	for _, r := range list {
		to := r.Entries[0]
		for _, e := range r.Entries {
			if e.Method == "adam" {
				to = e
			}
		}
		scale, result := 100.0, "test error, %"
		if r.Regress {
			scale, result = 1, "test RMSE"
		}
		table := &FigureTable{Title: r.What, Columns: []string{"gradient equivalents", result, "less than " + to.Method},
			Key: fmt.Sprintf("%d settings of each method; at most %g gradient equivalents a run; medians of %d seeds, the least and the "+
				"greatest; mean paired difference ± its standard error", r.Settings, r.Budget, len(to.Last))}
		what := scale
		if r.Goal > 0 {
			what = 1
		}
		for _, e := range r.Entries {
			less := "."
			if mean, se := e.Against(to, r.Goal > 0); e != to && !math.IsNaN(mean) {
				less = fmt.Sprintf("%.2g ± %.1g", -what*mean, what*se)
			}
			table.Add(strings.Join(append([]string{e.Method}, e.Set...), " "), spread(e.Work, 1), spread(e.Last, scale), less)
		}
		d = append(d, table)
	}
	return d
}
