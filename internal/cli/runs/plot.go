package runs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/figure"
	"newtop/internal/rundiff"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

func newRunsPlot(a *job.StoreFlags) *cobra.Command {
	var o figure.Options
	var file, what string
	cmd := &cobra.Command{
		Use:   "plot RUN…",
		Short: "Draw recorded runs as SVG, PNG or PDF",
		Example: "newtop runs plot last -o figure.svg\nnewtop runs plot last last~1 -o figure.pdf --what " +
			"test_error --x seconds",
		Args:              flags.Arguments(1, 0, "the runs to draw, by ID or name"),
		ValidArgsFunction: a.Complete(0, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return flags.Usagef("%s: expected -o FILE, ending in .svg, .png or .pdf", cmd.CommandPath())
			}
			if what != "" {
				o.What = strings.Split(what, ",")
			}
			return a.With(store.Options{ReadOnly: true}, func(
				s *store.Store) error {
				return plot(cmd, s, args, file, o)
			})
		},
	}
	var names []string
	for _, q := range figure.Quantities() {
		names = append(names, q.Name)
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVarP(&file, "output", "o", "", "the `FILE`; its extension sets the format: .svg, .png or .pdf")
	set.StringVar(&what, "what", "",
		"metrics to draw, a `LIST` with one for each panel: "+strings.Join(names, ", ")+"; empty: loss, and error "+
			"or rmse")
	flags.Complete(cmd, "what", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	set.StringVar(&o.X, "x", "epoch", "x axis: epoch, seconds or equivalents")
	flags.Choices(cmd, "x", "epoch", "seconds", "equivalents")
	set.StringVar(
		&o.Rows, "rows", "", "rows of the metrics: test, train or both; empty: both for up to three runs, else test")
	flags.Files(cmd, "output", "svg", "png", "pdf")
	flags.Choices(cmd, "rows", "test", "train", "both")
	set.BoolVar(&o.LogX, "log", false, "logarithmic x axis")
	set.BoolVar(&o.Linear, "linear", false, "linear y axes")
	set.Float64Var(
		&o.Smooth, "smooth", 0,
		"draw an exponential average with this half-life in epochs, over the pale curves; 0: none")
	set.Float64Var(&o.Width, "width", 0, "width in cm; 0: 16")
	set.Float64Var(&o.Height, "height", 0, "height in cm; 0: by the number of panels")
	set.StringVar(&o.Title, "title", "", "title; empty: the data and the net that the runs have in common")
	return cmd
}

func plot(cmd *cobra.Command, s *store.Store, names []string, file string, o figure.Options) error {
	stories, err := summaries(cmd, s, names, o.Smooth > 0) // what is thinned has another average
	if err != nil {
		return err
	}
	labels := labels(stories)
	runs := make([]figure.Run, len(stories))
	for i, t := range stories {
		runs[i] = figure.Run{ID: t.run.ID, Name: labels[i], Opening: t.run.Opening, Epochs: t.epochs,
			Switches: t.switches, Diverged: t.diverged}
	}
	if err := figure.Write(file, runs, o); err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), file)
	return nil
}

// summaries returns runs with their epochs, those of long runs thinned if not whole.
func summaries(cmd *cobra.Command, s *store.Store, names []string, whole bool) ([]*summary, error) {
	runs, err := job.FindRuns(cmd, s, names)
	if err != nil {
		return nil, err
	}
	list := make([]*summary, len(runs))
	for i, r := range runs {
		if !whole {
			list[i], err = watched(cmd.Context(), s, r, true)
		} else {
			list[i] = newSummary(r)
			err = events(cmd, s, r, func(e event.Event) error { list[i].add(e, true); return nil })
		}
		if err != nil {
			return nil, err
		}
		list[i].warn(cmd)
	}
	return list, nil
}

// labels returns short names that tell runs apart.
func labels(list []*summary) []string {
	openings := make([]*event.RunEvent, len(list))
	names := make([]string, len(list))
	for i, t := range list {
		openings[i], names[i] = t.run.Opening, t.run.Name
	}
	return rundiff.Labels(openings, names)
}
