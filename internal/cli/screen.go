package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"newtop/datasets"
	"newtop/trainer"
	"newtop/tui"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// What the screen asks for when nobody says: a spectrum every few epochs, for a fifth of the training time
// at most, and processors beside the workers', so that a key need not wait for a product.
const (
	screenSpectrumEvery = 5
	screenSpectrumShare = 0.2
	screenProcessors    = 2
)

// screenFlags say how the screen appears.
type screenFlags struct {
	theme, glyphs string
	noMouse       bool
}

func (f *screenFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.theme, "theme", "", "colours of the screen: auto (by the background), dark, light, safe (for the colour-blind), mono; empty: as last chosen there")
	set.StringVar(&f.glyphs, "glyphs", "", "what its charts are made of: auto (by the locale), braille, block, ascii; empty: as last chosen there")
	set.BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	for _, name := range []string{"theme", "glyphs", "no-mouse"} {
		wrap(set.Lookup(name))
	}
}

// options checks the flags. They win over what the user has chosen on an earlier screen.
func (f *screenFlags) options() (o tui.Options, err error) {
	if o.Theme, err = tui.ParseTheme(f.theme); err != nil {
		return o, &trainer.ConfigError{Flag: "--theme", Value: f.theme, Expected: "auto, dark, light, safe or mono"}
	}
	if o.Glyphs, err = tui.ParseGlyphs(f.glyphs); err != nil {
		return o, &trainer.ConfigError{Flag: "--glyphs", Value: f.glyphs, Expected: "auto, braille, block or ascii"}
	}
	o.NoMouse, o.Preferences, o.Pictures = f.noMouse, tui.PreferencesFile(), "."
	for _, d := range datasets.List() {
		o.DataSets = append(o.DataSets, d.Name)
	}
	return o, nil
}

// terminal returns the command's input and output if both are terminals that can be drawn on.
func terminal(cmd *cobra.Command) (in, out *os.File, ok bool) {
	in, inOK := cmd.InOrStdin().(*os.File)
	out, outOK := cmd.OutOrStdout().(*os.File)
	ok = inOK && outOK && term.IsTerminal(in.Fd()) && term.IsTerminal(out.Fd()) && os.Getenv("TERM") != "dumb"
	return in, out, ok
}

// openScreen trains in one goroutine and shows it from another. Whichever ends first for good ends the
// other: a run that could not begin closes the screen; a screen that was closed ends the run.
func openScreen(cmd *cobra.Command, config trainer.Config, options tui.Options) error {
	if !cmd.Flags().Changed("spectrum-every") {
		config.SpectrumEvery, config.SpectrumShare = screenSpectrumEvery, screenSpectrumShare
	}
	if config.Threads == 0 {
		config.Threads = runtime.GOMAXPROCS(0)
	}
	runtime.GOMAXPROCS(config.Threads + screenProcessors)
	session, err := trainer.New(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	feed, last := session.Feed(), session.Feed()
	defer feed.Close()
	defer last.Close()
	trained := make(chan error, 1)
	go func() {
		err := session.Run(ctx)
		if unusable(err) {
			cancel()
		}
		trained <- err
	}()
	screenErr := tui.Run(ctx, feed, options)
	cancel()
	runErr := <-trained
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if runErr != nil && !errors.Is(runErr, context.Canceled) {
		return runErr
	}
	if screenErr != nil && !errors.Is(screenErr, context.Canceled) {
		return screenErr
	}
	return printOutcome(cmd, last)
}

// unusable reports whether a run ended so early or so badly that there is nothing to look at.
func unusable(err error) bool {
	var prepare *trainer.PrepareError
	var bug *trainer.PanicError
	return errors.As(err, &prepare) || errors.As(err, &bug)
}

// printOutcome leaves a line behind in the terminal when the screen is gone.
func printOutcome(cmd *cobra.Command, feed trainer.Feed) error {
	// Everything was published before Run returned, so that Wait does not block.
	d, err := feed.Wait(context.Background())
	if err != nil || d.Run == nil || d.Done == nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), summary(d.Run, d.Done, d.Status.Optimizer))
	return err
}
