package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/version"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/tune"
	"newtop/tui/screen"
)

// Folds trains each fold of a configuration once, several at a time, and reports how far their figures are apart: as
// text, or with the format jsonl as lines, or behind a screen where there is one.
func Folds(cmd *cobra.Command, run *flags.Run, c trainer.Config, format string, behind *screen.Options) (err error) {
	for _, l := range []struct {
		flag string
		bad  bool
		is   any
		want string
	}{
		{"--save", c.Save != "", c.Save, "it with --set fold=N, as each fold has weights of its own"},
		{"--record", run.Store == flags.Unrecorded, run.Store, "a database: folds are always recorded"},
	} {
		if l.bad {
			return flags.Invalid(l.flag, l.is, l.want)
		}
	}
	t := tuner{run: *run, format: format, top: c.Folds}
	if err := job.KeepInput(cmd, &c); err != nil {
		return err
	}
	job.WarnOfUnused(cmd, &c)
	told := job.ResolveDefaults(&c)
	t.config = tune.Config{Name: run.Name, Base: flags.Absolute(c), Seed: c.Seed, Memory: c.Memory,
		Threads: cmp.Or(c.Threads, runtime.GOMAXPROCS(0)),
		Command: flags.Command, Version: version.Program()}
	t.config.Base.Threads, t.config.Base.SpectrumEvery = 0, 0
	s, err := job.OpenStore(run.Store, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	search, err := launch.Until(cmd.Context(), func() (*tune.Search, error) { return tune.New(t.config, s) })
	if err != nil || search == nil {
		return err
	}
	for _, line := range told {
		fmt.Fprintln(cmd.ErrOrStderr(), line)
	}
	if behind != nil {
		return t.show(cmd, search, s, *behind)
	}
	return t.print(cmd, search)
}

// foldReport prints a line for each fold that is over, and what they come to.
type foldReport struct {
	out, messages io.Writer
	reported      map[int]bool // folds by number
}

func (p *foldReport) board(b *tune.Leaderboard) error {
	for i := range b.Trials {
		t := &b.Trials[i]
		if !over(t.State) || p.reported[t.Number] {
			continue
		}
		if len(p.reported) == 0 {
			fmt.Fprintf(p.messages, "%s: %s, %s at once\n", print.Printable(b.Data), print.Count(b.Folds, "fold"),
				strconv.Itoa(b.Parallel))
			if _, err := fmt.Fprintln(p.out, foldHeader(b)); err != nil {
				return err
			}
		}
		p.reported[t.Number] = true
		if _, err := fmt.Fprintln(p.out, foldLine(b, t)); err != nil {
			return err
		}
	}
	return nil
}

func (p *foldReport) end(b *tune.Leaderboard) error {
	if err := p.board(b); err != nil {
		return err
	}
	return printSpread(p.out, b)
}

// foldHeader is the heading over the lines of folds.
func foldHeader(b *tune.Leaderboard) string {
	return foldColumns("fold", "state", b.Measure, b.Test, "best epoch", "epochs", "seconds")
}

func foldColumns(fold, state, figure, test, best, epochs, seconds string) string {
	return fmt.Sprintf("%4s %-8s %16s %10s %10s %6s %8s", fold, state, figure, test, best, epochs, seconds)
}

// foldLine tells of a fold in a line.
func foldLine(b *tune.Leaderboard, t *tune.Trial) string {
	line := foldColumns(choiceOf(t, "fold"), t.State.String(), judged(b, t.Best), judged(b, t.Test),
		strconv.Itoa(t.BestEpoch), strconv.Itoa(t.Epochs),
		print.Fixed(event.Float(t.Seconds), 2))
	if t.Error != "" {
		line += "  " + t.Error
	}
	return print.Printable(line)
}

// printFolds prints a cross-validation as a whole.
func printFolds(out io.Writer, b *tune.Leaderboard) error {
	if _, err := fmt.Fprintln(out, foldHeader(b)); err != nil {
		return err
	}
	for i := range b.Trials {
		if _, err := fmt.Fprintln(out, foldLine(b, &b.Trials[i])); err != nil {
			return err
		}
	}
	return printSpread(out, b)
}

// printSpread says what folds come to.
func printSpread(out io.Writer, b *tune.Leaderboard) error {
	validation, test := b.Crossed()
	for _, s := range []struct {
		name string
		tune.Spread
	}{{b.Measure, validation}, {b.Test, test}} {
		if s.N == 0 || s.name == "" {
			continue
		}
		figure := func(v float64) string { return judged(b, event.Float(v)) }
		_, err := fmt.Fprintf(out, "%s: mean %s ± %s, standard error %s, of %s\n", s.name, figure(s.Mean),
			figure(s.Deviation), figure(s.Error), print.Count(s.N, "fold"))
		if err != nil {
			return err
		}
	}
	return nil
}

// foldLines prints a JSON line for each fold that is over, and one for what they come to.
type foldLines struct{ trialLines }

type spreadJSON struct {
	Mean      event.Float `json:"mean"`
	Deviation event.Float `json:"standard_deviation"`
	Error     event.Float `json:"standard_error"`
}

func (p *foldLines) end(b *tune.Leaderboard) error {
	if err := p.board(b); err != nil {
		return err
	}
	spread := func(s tune.Spread) spreadJSON {
		return spreadJSON{event.Float(s.Mean), event.Float(s.Deviation), event.Float(s.Error)}
	}
	validation, test := b.Crossed()
	return json.NewEncoder(p.out).Encode(struct {
		Type       string     `json:"type"` // folds
		Name       string     `json:"name"`
		Data       string     `json:"data"`
		Measure    string     `json:"measure"`
		Folds      int        `json:"folds"`
		Done       int        `json:"done"`
		Validation spreadJSON `json:"validation"`
		Test       spreadJSON `json:"test"`
	}{"folds", b.Name, b.Data, b.Measure, b.Folds, validation.N, spread(validation), spread(test)})
}
