package train

import (
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/cli/tune"
	"newtop/trainer"
	"newtop/trainer/store"
)

// What the screen asks for when nobody says: a spectrum every few epochs, for a hundredth of the training time at most.
const (
	screenSpectrumEvery = 5
	screenSpectrumShare = 0.01
)

// The run on the screen of which nothing is said keeps an eighth of its rows for validation, and ends when they stop
// improving.
const (
	firstValidation = "0.125"
	firstPatience   = 8
)

// untold reports whether no flag says what is trained, how, or for how long.
func untold(cmd *cobra.Command, run *flags.Run) bool {
	said := false
	run.Visit(cmd, func(flag string, _ *pflag.Flag) {
		said = said || !slices.Contains([]string{"--tour", "--theme", "--glyphs", "--no-mouse", "--cast", "--record",
			"--name", "--save", "--threads"}, flag)
	})
	return !said
}

// Open does what the flags say behind the screen, or as text where there is none.
func Open(cmd *cobra.Command, run *flags.Run, screen *flags.Screen, browser job.Browser) error {
	options, err := screen.Options()
	if err != nil {
		return err
	}
	in, out, ok := print.Terminal(cmd)
	if c, err := run.Parse(cmd); err == nil && folds(&c) {
		if options.Input, options.Output = in, out; !ok {
			return tune.Folds(cmd, run, c, "text", nil)
		}
		return tune.Folds(cmd, run, c, "text", &options)
	}
	if !ok {
		printer, _ := print.NewRecorder("text", cmd.OutOrStdout(), cmd.ErrOrStderr())
		j, err := job.New(run, cmd, nil)
		if err != nil {
			return err
		}
		return j.Train(cmd, printer)
	}
	options.Input, options.Output = in, out
	j, err := job.New(run, cmd, func(c *trainer.Config) {
		defaultSpectra(cmd, run, c)
		if untold(cmd, run) {
			c.Validation, c.Patience = firstValidation, firstPatience
			options.First = !recorded()
		}
		if options.Tour { // for which the run has to last
			c.Patience = -1
		}
	})
	if err != nil {
		return err
	}
	return j.Show(cmd, options, browser)
}

// recorded reports whether a run was recorded before.
func recorded() bool {
	path, err := store.DefaultPath()
	if err == nil {
		_, err = os.Stat(path)
	}
	return err == nil
}

// folds reports whether all folds are to be trained, one after the other.
func folds(c *trainer.Config) bool { return c.Folds > 0 && c.Fold == 0 && !c.FoldCommittee() }

// defaultSpectra asks for spectra every few epochs where nobody says how often, as on the screen that shows them.
func defaultSpectra(cmd *cobra.Command, run *flags.Run, c *trainer.Config) {
	if !run.Given(cmd, "spectrum-every") {
		c.SpectrumEvery, c.SpectrumShare = screenSpectrumEvery, screenSpectrumShare
	}
}
