package tune

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/cli/flags"
	"newtop/internal/score"
	"newtop/internal/version"
	"newtop/trainer/event"
	"newtop/trainer/tune"
)

// The flags that are about programs alone, and those that go with them.
var (
	ofPrograms    = []string{"log", "gpus", "env", "timeout"}
	besideProgram = slices.Concat(ofPrograms, besideResume, []string{"by", "over", "sampler", "shard", "name", "seed"})
)

func addProgram(t *tuner, set *pflag.FlagSet) {
	p := &t.program
	set.IntVar(&t.jobs, "jobs", 0, "trials at once, as --parallel; 0: of a program one, or with --gpus one for each")
	set.StringVar(&p.By, "by", "", "`NAME` of what trials are judged by: of nets "+strings.Join(score.ByKeys(), ", ")+
		"; of a program a metric, as val_loss or max:auc; empty: error or RMSE, of a program the loss or error of "+
		"validation, test or training rows that it tells")
	set.StringVar(&p.Log, "log", "", "`PATH` of a file or directory with a program's values, as {dir}/metrics.csv; "+
		"empty: what it prints")
	set.StringSliceVar(&p.GPUs, "gpus", nil, "`DEVICES` that a program's trials are given one each, as 0,1")
	set.StringArrayVar(&p.Env, "env", nil, "`NAME=VALUE` in a program's environment; may be repeated")
	set.DurationVar(&p.Timeout, "timeout", 0, "end a program's trial after this time; 0: none")
}

// configureProgram makes the configuration of a search with a program.
func configureProgram(t *tuner, cmd *cobra.Command, args []string) (err error) {
	if t.resume != "" {
		return flags.Usagef("%s --resume %s -- %s: a resumed search has its program: expected none",
			cmd.CommandPath(), t.resume, args[0])
	}
	t.run.Visit(cmd, func(flag string, f *pflag.Flag) {
		if err == nil && !slices.Contains(besideProgram, f.Name) {
			err = flags.Invalid(flag, f.Value, "it without a program, whose own arguments stand behind --")
		}
	})
	if err != nil {
		return err
	}
	p := t.program
	if p.Timeout < 0 {
		return flags.Invalid("--timeout", p.Timeout, "a duration > 0 as in 20m, or 0 for none")
	}
	if err := judgedBy(&p); err != nil {
		return err
	}
	c := &t.config
	if c.Over, err = t.dimensions(cmd); err != nil {
		return err
	}
	p.Args = args
	if p.Dir, err = os.Getwd(); err != nil {
		return err
	}
	c.Program, c.Name, c.Seed, c.Version = &p, t.run.Name, t.run.Config.Seed, version.Program()
	c.Base.Seed = c.Seed
	switch {
	case cmd.Flags().Changed("finals"):
	case c.Seeds > 1:
		c.Finals = 1
	default:
		c.Finals = -1
	}
	for _, name := range p.Unmentioned(c.Over) {
		fmt.Fprintf(cmd.ErrOrStderr(), "no argument has %s: the program finds it in its environment\n", name)
	}
	return t.shard()
}

// judgedBy reads --by.
func judgedBy(p *tune.Program) error {
	way, name, ok := strings.Cut(p.By, ":")
	better := event.DirectionOf(p.By, nil)
	switch {
	case ok && (way == "max" || way == "min") && name != "":
		p.By, p.Max = name, way == "max"
	case p.By != "" && better == event.Undirected:
		return flags.Invalid("--by", p.By, "max:"+p.By+" or min:"+p.By)
	default:
		p.Max = better == event.MoreBetter
	}
	return nil
}
