package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/optim/methods"
)

const raceDescription = `Race methods on the same problems, each with the settings that were best on
validation rows, from the same seeds: seconds and gradient equivalents until the
test error reaches a goal, or the error at the end. docs/race.md has a reading.`

// newBenchRace returns newtop-bench race.
func newBenchRace() *cobra.Command {
	var f benchFlags
	var o bench.RaceOptions
	cmd := &cobra.Command{
		Use:     "race [flags]",
		Short:   "Race methods to the same goals",
		Long:    raceDescription,
		Example: "newtop-bench race --only letter --methods soap,adam --data-dir DIR\nnewtop-bench race --data-dir DIR --format md > race.md",
		Args:    flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check("text", "json", "md"); err != nil {
				return err
			}
			if o.Seeds < 1 || o.Seeds > 999 {
				return flags.Invalid("--seeds", o.Seeds, "a whole number from 1 to 999")
			}
			if (o.Table == "") != (o.Target == "") {
				return flags.Invalid("--target", o.Target, "both --table and --target, or neither")
			}
			for _, name := range o.Methods {
				if _, err := methods.Lookup(name); err != nil {
					return err
				}
			}
			o.Threads = f.threads
			o.Live = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
			r, err := bench.MeasureRaces(cmd.Context(), o)
			if err != nil {
				return err
			}
			return writeReport(cmd.OutOrStdout(), f.format, r, raceDocument(r))
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.format, "format", "text", "text, json: one JSON object, or md: tables for GitHub")
	flags.Choices(cmd, "format", "text", "json", "md")
	set.StringSliceVar(&o.Only, "only", nil, "`NAMES` of races, parted by commas: "+strings.Join(bench.RaceNames(), ", ")+"; none: all")
	set.StringVar(&o.Table, "table", "", "`FILE` of a table to race on, with --target")
	set.StringVar(&o.Target, "target", "", "`COLUMN` of the table to learn")
	set.StringSliceVar(&o.Methods, "methods", nil, "`NAMES` of methods, parted by commas; none: all of a race")
	flags.Complete(cmd, "methods", flags.Methods)
	set.IntVar(&o.Seeds, "seeds", 5, "runs of each method")
	set.Uint64Var(&o.First, "first-seed", 1, "the first run's seed")
	set.StringVar(&o.DataDir, "data-dir", "", "`DIR` with the files of real data sets; empty: the cache that newtop data fetch fills")
	flags.Complete(cmd, "data-dir", flags.Directories)
	set.StringVar(&o.Precision, "precision", "float64", "of the passes")
	flags.Choices(cmd, "precision", models.PrecisionNames()...)
	set.IntVar(&f.threads, "threads", 0, "threads; 0: all cores")
	return cmd
}

// raceDocument has a table for each race.
func raceDocument(r *bench.Races) (d Document) {
	for _, race := range r.Races {
		table := &FigureTable{
			Title: race.What, Key: "medians over the seeds, and the least and the greatest",
			Columns: []string{"reached", "seconds", "gradient equivalents", "epochs", raceError(race), "foreign load"},
		}
		if race.Goal == 0 {
			table.Columns[0] = "runs"
		}
		for _, m := range race.Entries {
			reached := fmt.Sprintf("%d of %d", m.Reached(), len(m.Seconds))
			if race.Goal == 0 {
				reached = fmt.Sprint(len(m.Seconds))
			}
			table.Add(strings.Join(append([]string{m.Method}, m.Set...), " "), reached, spread(m.Seconds, 1), spread(m.Work, 1),
				middle(m.Taken, 1), raceErrors(race, m), percent(m.Foreign))
		}
		d = append(d, table)
	}
	return append(d, Facts{{"machine", machineWords(&r.Machine)}})
}

func raceError(r *bench.RaceResult) string {
	switch {
	case r.Regress:
		return "test RMSE at the end"
	case r.Goal > 0:
		return "least test error, %"
	}
	return "test error at the end, %"
}

func raceErrors(r *bench.RaceResult, m *bench.RaceRunner) string {
	of, scale := m.Last, 100.0
	if r.Goal > 0 {
		of = m.Best
	}
	if r.Regress {
		scale = 1
	}
	return spread(of, scale)
}

// spread writes the median, the least and the greatest of numbers, times a scale.
func spread(of []event.Float, scale float64) string {
	if len(of) == 1 {
		return middle(of, scale)
	}
	least, greatest := "never", "never"
	there := slices.DeleteFunc(slices.Clone(of), event.Float.Absent)
	if len(there) > 0 {
		least = threeDigits(slices.Min(there), scale)
	}
	if len(there) == len(of) {
		greatest = threeDigits(slices.Max(there), scale)
	}
	return fmt.Sprintf("%s (%s–%s)", middle(of, scale), least, greatest)
}

// middle writes the median.
func middle(of []event.Float, scale float64) string { return threeDigits(bench.Median(of), scale) }

func threeDigits(v event.Float, scale float64) string {
	if v.Absent() {
		return "never"
	}
	return short(scale * float64(v))
}

func percent(v event.Float) string {
	if v.Absent() {
		return "."
	}
	return fmt.Sprintf("%.0f %%", 100*float64(v))
}
