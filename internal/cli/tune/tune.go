// Package tune has the commands that search for settings, and those about recorded searches.
package tune

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/score"
	"newtop/internal/version"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/tune"
)

const tuneDescription = `Search for the method and the settings that train best within a budget, of newtop's
nets or, behind --, of any program that prints or logs its values: {NAME} in its
arguments stands for a value, {dir} for the trial's directory, {seed}, {trial}.

Many trials are started, and those that fall behind are given up early. With
--until 'error<=5%' the setting that reaches it in the shortest time wins, else the
one with the lowest error or RMSE. The best are run again, alone, to measure them.
Every trial is recorded as a run.

--over KEY=VALUES is an axis of the search: opt, net, act, out, loss, init, batch,
blocks, skip, committee, or a hyperparameter. VALUES is a list or a range:

  --over opt=adam,tr-gn,scg        a list of methods
  --over rate=1e-4..1e-1:log       a range on a logarithmic scale
  --over batch=16..512:log:int     only whole numbers
  --over adam.beta1=0.8,0.9        only for one method
  --over 'wd=1e-5..1:log if opt=sgd,adam'   only with some values of another

Without --over the search has the usual methods and their most important settings.
Run flags apply to all trials. A terminal shows the search on a screen; otherwise
each trial prints a line when it ends.
` + shardHelp

const tuneExamples = `newtop tune --data spirals --budget 20s
newtop tune --over lr=1e-5..0.1:log --trials 30 -- ./train.py --lr {lr}
newtop tune --until 'error<=5%' --budget 60s
newtop tune --opt adam --over rate=1e-4..1e-1:log --over batch=16,64,256
newtop tune --data spirals --trials 30 --top 1 > best.sh
newtop tune --config space.toml --format jsonl > trials.jsonl
newtop tune --shard 2/8 --budget 10m
newtop tune --resume digits-search --budget 5m`

// usualBudget is how long a search takes that nothing else ends.
const usualBudget = time.Minute

// tuner searches for the settings that train best.
type tuner struct {
	run     flags.Run
	screen  flags.Screen
	over    []string
	config  tune.Config
	finals  int
	resume  string
	part    string // --shard
	origin  string // of the shard, in words
	top     int
	format  string
	space   []tune.Dimension // of the configuration file
	program tune.Program
	jobs    int
}

// New returns newtop tune.
func New() *cobra.Command {
	var t tuner
	cmd := &cobra.Command{
		Use:     "tune [flags] [-- PROGRAM…]",
		Short:   "Search for the method and the settings that train best",
		Long:    tuneDescription,
		Example: tuneExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() == 0 && len(args) > 0 {
				return nil
			}
			return flags.NoArguments(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return t.tune(cmd, args) },
	}
	t.add(cmd)
	cmd.AddCommand(newTuneList(), newTuneShow(), newTuneRemove())
	return cmd
}

func (t *tuner) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.SortFlags = false
	set.StringArrayVar(&t.over, "over", nil,
		"axis of the search, as `KEY=VALUES`: A,B,C, or LOW..HIGH with :log or :int after it; may be repeated; "+
			"none: the usual ones")
	set.DurationVar(&t.config.Budget, "budget", 0,
		"total time of the search, as in 90s or 5m; 0: no limit, with --trials or --most; not given: 60s without them")
	set.IntVar(&t.config.Trials, "trials", 0, "maximum number of trials; 0: as many as the budget allows")
	set.Float64Var(&t.config.MaxWork, "most", 0, "maximum gradient equivalents of all trials together; 0: no limit")
	set.Float64Var(&t.config.Trial, "trial", 0, "maximum gradient equivalents of one trial; 0: from the budget")
	set.StringVar(
		&t.config.Sampler, "sampler", "", "how settings are drawn: sobol, random or tpe; empty: sobol, then tpe")
	set.IntVar(&t.config.Seeds, "seeds", 1, "number of seeds for the best settings")
	set.IntVar(&t.finals, "finals", 3, "best settings to run again alone at the end, to measure them; 0: none")
	set.IntVar(&t.config.Parallel, "parallel", 0, "trials at once; 0: from the cores")
	set.StringVar(&t.part, "shard", "",
		"part `I/N` of the search, with an N-th of the limits; /N: with I from the job; off: the whole; empty: from "+
			"the job if there is one, else the whole")
	set.StringVar(&t.resume, "resume", "", "`NAME` of a search to resume after a stop or a kill")
	set.IntVar(&t.top, "top", 10, "settings in the list at the end; 1: only the command line that trains the best")
	set.StringVar(&t.format, "format", "",
		"instead of the screen: text, json (one object at the end) or jsonl (one line a trial); empty: the screen in "+
			"a terminal, else text")
	addProgram(t, set)
	flags.Choices(cmd, "format", "text", "json", "jsonl")
	flags.Choices(cmd, "sampler", tune.Samplers...)
	set.VisitAll(func(f *pflag.Flag) { flags.Under("search", set, f.Name) })
	flags.Under(flags.Output, set, "top", "format")
	t.run.Add(cmd)
	flags.Complete(cmd, "resume", func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		return completeSearches(&job.StoreFlags{File: t.run.Store})(cmd, nil, begun)
	})
	t.run.Config.Optimizer, t.run.Config.Epochs, t.run.Config.Committee = "", 0, 0
	for name, usage := range map[string]string{
		"name":   "name of the search; its trials are NAME.1, NAME.2, …; empty: by date and time",
		"opt":    "the method whose settings are searched; empty: several",
		"epochs": "outer iterations of one trial; 0: no limit but the search's",
		"until": "end a trial when a term is met, such as 90s or error<=5%; with an error or loss, the fastest " +
			"trial to it wins",
		"threads": "threads of all trials together; 0: all cores",
		"record": "database for the search and its trials; empty: runs.db in the state directory, for a shard " +
			"NAME-IofN.db there",
		"seed":      "seed of the drawn settings and of the trials' weights",
		"committee": "nets of each trial; 0: one, and on a table without --over 8 for the best settings at the end",
		"config":    "file with any of these flags and a table [over], in TOML; the command line overrides it",
	} {
		f := set.Lookup(name)
		f.Usage = usage
		if name == "opt" || name == "epochs" || name == "committee" {
			f.DefValue = f.Value.String()
		}
	}
	for _, name := range []string{"save", "spectrum", "density"} {
		set.Lookup(name).Hidden = true
	}
	t.run.Space = func(file string, text []byte) (err error) {
		t.space, err = tune.ReadSpace(file, text)
		return err
	}
	t.screen.Add(cmd)
}

// tune does what the flags say.
func (t *tuner) tune(cmd *cobra.Command, program []string) (err error) {
	if err := t.configure(cmd, program); err != nil {
		return err
	}
	options, err := t.screen.Options()
	if err != nil {
		return err
	}
	s, err := job.OpenStore(t.run.Store, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	search, err := launch.Until(cmd.Context(), func() (*tune.Search, error) { return t.search(cmd, s) })
	if err != nil || search == nil {
		return err
	}
	if t.resume == "" && t.config.Program == nil {
		t.report(cmd, search.Base())
	}
	in, out, ok := print.Terminal(cmd)
	if !ok || t.format != "" {
		return t.print(cmd, search)
	}
	options.Input, options.Output = in, out
	return t.show(cmd, search, s, options)
}

// search returns the search that the flags ask for: a new one, or the rest of one; nil where nothing of it is left, of
// which what came of it is printed.
func (t *tuner) search(cmd *cobra.Command, s *store.Store) (search *tune.Search, err error) {
	switch {
	case t.config.Shard.Of > 0:
		search, err = t.startShard(cmd, s)
	case t.resume == "":
		search, err = tune.New(t.config, s)
	default:
		search, err = t.rest(cmd, s)
	}
	if unfit, is := errors.AsType[*trainer.ConfigError](err); is && unfit.Field == "Weights" && t.program.By != "" {
		return nil, &trainer.ConfigError{Field: "By", Value: unfit.Value, Expected: unfit.Expected}
	}
	if exhausted, over := errors.AsType[*tune.ExhaustedError](err); over {
		fmt.Fprintf(cmd.ErrOrStderr(), "nothing left to do: %s\n", print.OneLine(exhausted))
		return nil, t.past(cmd, s, exhausted.Name)
	}
	return search, err
}

// rest returns the search that --resume names, with the limits that the command line gives.
func (t *tuner) rest(cmd *cobra.Command, s *store.Store) (*tune.Search, error) {
	return tune.Resume(cmd.Context(), s, t.resume, func(c *tune.Config) {
		c.Command, c.Version, c.Threads = t.config.Command, t.config.Version, t.config.Threads
		given := func(name string) bool { return t.run.Given(cmd, name) }
		for flag, take := range map[string]func(){
			"budget":      func() { c.Budget = t.config.Budget },
			"trials":      func() { c.Trials = t.config.Trials },
			"most":        func() { c.MaxWork = t.config.MaxWork },
			"parallel":    func() { c.Parallel = t.config.Parallel },
			"jobs":        func() { c.Parallel = t.config.Parallel },
			"finals":      func() { c.Finals = t.config.Finals },
			"seeds":       func() { c.Seeds = t.config.Seeds },
			"tape-memory": func() { c.Memory = t.config.Memory },
		} {
			if given(flag) {
				take()
			}
		}
	})
}

// besideResume are the flags that --resume goes with: limits, and how it is shown.
var besideResume = []string{"budget", "trials", "most", "parallel", "jobs", "finals", "seeds", "tape-memory", "threads",
	"resume", "top", "format", "record", "theme", "glyphs", "no-mouse", "config"}

// configure checks the flags and makes the configuration of them.
func (t *tuner) configure(cmd *cobra.Command, program []string) error {
	base, err := t.run.Parse(cmd)
	var config *trainer.ConfigError // may be that a setting does not suit the usual method
	if set := t.run.Config.Set; len(set) > 0 && base.Optimizer == "" &&
		(err == nil || errors.As(err, &config) && config.Field == "Set") {
		return flags.Invalid("--set", set[0], "--opt beside it; for one of several methods it is --over adam."+set[0])
	}
	if err != nil {
		return err
	}
	if err := t.check(cmd); err != nil {
		return err
	}
	c := &t.config
	c.Parallel = cmp.Or(c.Parallel, t.jobs)
	if c.Finals = t.finals; c.Finals == 0 {
		c.Finals = -1
	}
	c.Threads = cmp.Or(base.Threads, runtime.GOMAXPROCS(0))
	if len(program) > 0 {
		return configureProgram(t, cmd, program)
	}
	for _, name := range ofPrograms {
		if f := cmd.Flags().Lookup(name); f.Changed {
			return flags.Invalid("--"+name, f.Value, "a program behind --, as in -- python3 train.py --lr {lr}")
		}
	}
	if by := t.program.By; by != "" {
		switch err := flags.OneOf("--by", by, score.ByKeys()...); {
		case err != nil:
			return err
		case base.Weights != "":
			return flags.Invalid("--by", by, "it without --set weights="+base.Weights)
		case base.TargetError > 0:
			return flags.Invalid("--by", by, "it without an error in --until, by which trials are judged then")
		}
		base.Weights = by
	}
	if c.Over, err = t.dimensions(cmd); err != nil {
		return err
	}
	if err := job.KeepInput(cmd, &base); err != nil {
		return err
	}
	if base.Optimizer != "" {
		job.WarnOfUnused(cmd, &base)
	}
	c.Name, c.Base, c.Seed, c.Memory = t.run.Name, flags.Absolute(base), base.Seed, base.Memory
	c.Base.Threads = 0
	if c.Budget == 0 && c.Trials == 0 && c.MaxWork == 0 {
		c.Budget = usualBudget
	}
	c.Command, c.Version = flags.Command, version.Program()
	return t.shard()
}

// check refuses what flags can't be.
func (t *tuner) check(cmd *cobra.Command) error {
	c := &t.config
	for _, l := range []struct {
		flag string
		bad  bool
		is   any
		want string
	}{
		{"--seeds", c.Seeds < 1, c.Seeds, "a whole number ≥ 1"},
		{"--finals", t.finals < 0, t.finals, "a whole number ≥ 1, or 0 for none"},
		{"--jobs", t.jobs < 0, t.jobs, "a whole number ≥ 1"},
		{"--top", t.top < 1, t.top, "a whole number ≥ 1"},
		{"--save", t.run.Config.Save != "", t.run.Config.Save, "it with newtop train: a search keeps no weights"},
		{"--set folds", t.run.Config.Folds > 0 && t.run.Config.Fold == 0 && !t.run.Config.FoldCommittee(),
			t.run.Config.Folds, "--set fold=N beside it, as many nets by --committee, or newtop train"},
		{"--record", t.run.Store == flags.Unrecorded, t.run.Store,
			"a database: a search and its trials are always recorded"},
	} {
		if l.bad {
			return flags.Invalid(l.flag, l.is, l.want)
		}
	}
	if err := flags.OneOf("--format", cmp.Or(t.format, "text"), "text", "json", "jsonl"); err != nil {
		return err
	}
	if cmd.Flags().Changed("budget") && c.Budget == 0 && c.Trials == 0 && c.MaxWork == 0 {
		return flags.Invalid("--budget", c.Budget,
			"a duration > 0 as in 60s, or --trials or --most beside 0 for no limit of time")
	}
	if t.run.Name != "" {
		if err := store.CheckName(t.run.Name); err != nil {
			return err
		}
	}
	if t.resume == "" {
		return nil
	}
	var err error
	t.run.Visit(cmd, func(flag string, f *pflag.Flag) {
		if err == nil && !slices.Contains(besideResume, f.Name) {
			err = flags.Invalid(flag, f.Value, "it without --resume: a resumed search keeps its settings")
		}
	})
	return err
}

// dimensions returns the space: that of the command line, and of the file what the command line does not name.
func (t *tuner) dimensions(cmd *cobra.Command) ([]tune.Dimension, error) {
	var list []tune.Dimension
	has := func(key string) bool {
		return slices.ContainsFunc(list, func(d tune.Dimension) bool { return d.Key == key })
	}
	for _, text := range t.over {
		d, err := tune.ParseDimension(text)
		if err != nil {
			return nil, err
		}
		if has(d.Key) {
			return nil, flags.Invalid("--over", text, "each key once, all its values in one list")
		}
		list = append(list, d)
	}
	for _, d := range t.space {
		if !has(d.Key) {
			list = append(list, d)
		}
	}
	for i := range list {
		if err := t.fixed(cmd, list[i].Key); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// fixed refuses to search what a flag says.
func (t *tuner) fixed(cmd *cobra.Command, key string) error {
	const want = "it either here or in --over, not in both"
	var err error
	t.run.Visit(cmd, func(flag string, f *pflag.Flag) {
		if f.Name == key {
			err = flags.Invalid(flag, f.Value, want)
		}
	})
	if err != nil {
		return err
	}
	name := key[strings.LastIndexByte(key, '.')+1:]
	for _, kv := range t.run.Config.Set {
		if k, _, _ := strings.Cut(kv, "="); k == name {
			return flags.Invalid("--set", kv, want)
		}
	}
	return nil
}

// limits says in words what a search may take.
func limits(b *tune.Leaderboard) string {
	var parts []string
	if b.Budget > 0 {
		parts = append(parts, print.Elapsed(event.Float(b.Budget)))
	}
	if b.Planned > 0 {
		parts = append(parts, "at most "+print.Count(b.Planned, "trial"))
	}
	if b.MaxWork > 0 {
		parts = append(parts, strconv.FormatFloat(b.MaxWork, 'g', 4, 64)+" gradient equivalents")
	}
	return strings.Join(parts, ", ")
}
