package runs

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/rundiff"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/tui"
)

// comparer compares runs.
type comparer struct {
	format string
	reach  string
	screen flags.Screen
}

func newRunsCompare(a *job.StoreFlags) *cobra.Command {
	var c comparer
	cmd := &cobra.Command{
		Use:   "compare RUN RUN…",
		Short: "Compare recorded runs, on the screen or as a table",
		Long: `Compare recorded runs: on the screen in a terminal, else as text.

The table shows the best values of each run and their work, the work to the errors
of --reach, and the settings that differ.`,
		Example: "newtop runs compare last last~1\nnewtop runs compare last last~1 --reach 0.1,0.05 " +
			"--format text",
		Args:              flags.Arguments(2, 0, "two runs or more, by ID or name"),
		ValidArgsFunction: a.Complete(0, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(store.Options{ReadOnly: true}, func(s *store.Store) error { return c.compare(cmd, s, args) })
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&c.format, "format", "", "text or json; empty: the screen in a terminal, without --reach, else text")
	flags.Choices(cmd, "format", "text", "json")
	flags.Under(flags.Output, set, "format")
	set.StringVar(&c.reach, "reach", "",
		"a `LIST` of errors as fractions (or RMSEs), as in 0.1,0.05, to compare the work to each; empty: the best "+
			"of the worst run")
	c.screen.Add(cmd)
	return cmd
}

func (c *comparer) compare(cmd *cobra.Command, s *store.Store, names []string) error {
	levels, err := c.levels()
	if err != nil {
		return err
	}
	if err := flags.OneOf("--format", cmp.Or(c.format, "text"), "text", "json"); err != nil {
		return err
	}
	options, err := c.screen.Options()
	if err != nil {
		return err
	}
	list, err := summaries(cmd, s, names, false)
	if err != nil {
		return err
	}
	in, out, ok := print.Terminal(cmd)
	if ok && c.format == "" && levels == nil && len(list) <= tui.MaxCompared {
		options.Input, options.Output = in, out
		var ids []string
		for _, t := range list {
			ids = append(ids, t.run.ID)
		}
		return tui.Compare(cmd.Context(), s, ids, options)
	}
	t := tabulate(list, levels)
	if c.format == "json" {
		return print.JSON(cmd.OutOrStdout(), t)
	}
	return t.print(cmd.OutOrStdout())
}

// levels reads --reach.
func (c *comparer) levels() (out []float64, err error) {
	if c.reach == "" {
		return nil, nil
	}
	for _, part := range strings.Split(c.reach, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return nil, flags.Invalid("--reach", c.reach, "errors as fractions, as in 0.1,0.05")
		}
		out = append(out, v)
	}
	return out, nil
}

// comparison is what runs compare prints.
type comparison struct {
	Runs    []rival       `json:"runs"`
	Differs []rundiff.Row `json:"-"`
	// Choices has the rows of Differs by name.
	Choices map[string][]string `json:"differs"`
	levels  []float64
}

// rival is one run of a comparison.
type rival struct {
	Label   string      `json:"label"`
	ID      string      `json:"id"`
	State   store.State `json:"state"`
	Measure string      `json:"measure"` // what Best, Last and Reached are
	Best    *fact       `json:"best"`
	Last    *fact       `json:"last"`
	Reached []reached   `json:"reached"`
	Loss    event.Float `json:"loss"` // of the latest epoch
	measure event.Measure
}

// fact is what a run had reached after an epoch, and what that had taken.
type fact struct {
	Epoch       int         `json:"epoch"`
	Value       event.Float `json:"value"`
	Seconds     event.Float `json:"seconds"`
	Equivalents event.Float `json:"gradient_equivalents"`
}

// reached is the first epoch at which an error was reached, nil for never.
type reached struct {
	Level event.Float `json:"level"`
	At    *fact       `json:"at"`
}

func factOf(m event.Measure, e *event.EpochEvent) *fact {
	if e == nil {
		return nil
	}
	return &fact{Epoch: e.Epoch, Value: event.Float(m.Value(e)), Seconds: e.Elapsed, Equivalents: e.GradientEquivalents}
}

// tabulate compares runs; without levels they are held against the best of the run that does worst.
func tabulate(list []*summary, levels []float64) *comparison {
	c := &comparison{levels: levels, Choices: map[string][]string{}}
	names := labels(list)
	var openings []*event.RunEvent
	var configs []*trainer.Config
	worst := math.Inf(-1)
	for i, t := range list {
		m := event.MeasureOf(t.run.Opening, t.epochs)
		v := rival{Label: names[i], ID: t.run.ID, State: t.run.State, Measure: m.Info().Name, measure: m,
			Loss: event.Float(math.NaN())}
		v.Best = factOf(m, m.Best(t.epochs))
		if n := len(t.epochs); n > 0 {
			v.Last, v.Loss = factOf(m, &t.epochs[n-1]), t.epochs[n-1].Loss
		}
		if v.Best != nil {
			worst = max(worst, float64(v.Best.Value))
		}
		c.Runs = append(c.Runs, v)
		openings = append(openings, t.run.Opening)
		configs = append(configs, &t.run.Config)
	}
	if len(c.levels) == 0 && !math.IsInf(worst, 0) && c.measure() != mixedMeasures {
		c.levels = []float64{worst}
	}
	for i, t := range list {
		for _, level := range c.levels {
			v := &c.Runs[i]
			at := reached{Level: event.Float(level)}
			if c.comparable(v) {
				at.At = factOf(v.measure, v.measure.Reach(t.epochs, level))
			}
			v.Reached = append(v.Reached, at)
		}
	}
	for _, row := range append(rundiff.Table(openings), flags.Differences(configs)...) {
		if row.Differs {
			c.Differs = append(c.Differs, row)
			c.Choices[row.Name] = row.Values
		}
	}
	return c
}

// print writes the comparison: a line a run, then what it took them to reach each level, then what differs.
func (c *comparison) print(out io.Writer) error {
	all := print.Table{Headers: []string{"RUN", "ID", ">BEST " + strings.ToUpper(c.measure()), ">EPOCH", ">LAST",
		">EPOCHS", ">TIME", ">EQUIVALENTS", "STATE"}}
	for _, v := range c.ranked() {
		best, last := orNone(v.Best), orNone(v.Last)
		all.Add(v.Label, print.ShortID(v.ID), print.Measure(v.measure, float64(best.Value)), strconv.Itoa(best.Epoch),
			print.Measure(v.measure, float64(last.Value)),
			strconv.Itoa(last.Epoch), print.Elapsed(last.Seconds), print.Work(last.Equivalents), string(v.State))
	}
	grids := []print.Table{all}
	for k, level := range c.levels {
		g := print.Table{Headers: []string{"TO REACH " + print.Measure(c.Runs[0].measure, level), "ID", ">EPOCH",
			">TIME",
			">EQUIVALENTS"}}
		for _, v := range c.ranked() {
			if !c.comparable(&v) {
				continue
			}
			if at := v.Reached[k].At; at != nil {
				g.Add(v.Label, print.ShortID(v.ID), strconv.Itoa(at.Epoch), print.Elapsed(at.Seconds),
					print.Work(at.Equivalents))
			} else {
				g.Add(v.Label, print.ShortID(v.ID), "never", ".", ".")
			}
		}
		grids = append(grids, g)
	}
	g := print.Table{Headers: []string{"DIFFERS"}}
	for _, v := range c.Runs {
		g.Headers = append(g.Headers, print.ShortID(v.ID))
	}
	for _, row := range c.Differs {
		if strings.HasPrefix(row.Name, "--") || row.Contested() {
			g.Add(append([]string{row.Name}, row.Values...)...)
		}
	}
	for i, g := range append(grids, g) {
		if len(g.Rows) == 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := g.Print(out); err != nil {
			return err
		}
	}
	return nil
}

// comparable reports whether a run is judged by what the first is: an error says nothing beside an RMSE.
func (c *comparison) comparable(v *rival) bool { return v.measure == c.Runs[0].measure }

// ranked returns the runs by what they reached, the best first and those that reached nothing last, but for those that
// are judged by something else than the first, which come after.
func (c *comparison) ranked() []rival {
	other := func(v *rival) int {
		if c.comparable(v) {
			return 0
		}
		return 1
	}
	reached := func(v *rival) float64 {
		if v.Best == nil {
			return math.Inf(1)
		}
		return float64(v.Best.Value)
	}
	runs := slices.Clone(c.Runs)
	sort.SliceStable(runs, func(i, j int) bool {
		a, b := &runs[i], &runs[j]
		return cmp.Or(other(a)-other(b), cmp.Compare(reached(a), reached(b))) < 0
	})
	return runs
}

// mixedMeasures heads a table of runs that can't be held against one another: of classes and of numbers.
const mixedMeasures = "figure"

// measure names what all runs are judged by.
func (c *comparison) measure() string {
	name := c.Runs[0].Measure
	for _, v := range c.Runs {
		if v.Measure != name {
			return mixedMeasures
		}
	}
	return name
}

// orNone returns a fact to print where there is none.
func orNone(f *fact) fact {
	if f == nil {
		nan := event.Float(math.NaN())
		return fact{Value: nan, Seconds: nan, Equivalents: nan}
	}
	return *f
}
