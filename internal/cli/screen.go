package cli

import (
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"newtop/datasets"
	"newtop/trainer"
	"newtop/tui/screen"
	"newtop/tui/style"
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
func (f *screenFlags) options() (o screen.Options, err error) {
	if o.Theme, err = style.ParseTheme(f.theme); err != nil {
		return o, &trainer.ConfigError{Field: "--theme", Value: f.theme, Expected: "auto, dark, light, safe or mono"}
	}
	if o.Glyphs, err = style.ParseGlyphs(f.glyphs); err != nil {
		return o, &trainer.ConfigError{Field: "--glyphs", Value: f.glyphs, Expected: "auto, braille, block or ascii"}
	}
	o.NoMouse, o.Preferences, o.Pictures = f.noMouse, screen.PreferencesFile(), "."
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

// open does what the flags say behind the screen, or as text where there is none.
func open(cmd *cobra.Command, flags *runFlags, screen *screenFlags) error {
	options, err := screen.options()
	if err != nil {
		return err
	}
	in, out, ok := terminal(cmd)
	if !ok {
		j, err := flags.job(cmd, nil)
		if err != nil {
			return err
		}
		return j.train(cmd, &textRecorder{out: cmd.OutOrStdout(), messages: cmd.ErrOrStderr()})
	}
	options.Input, options.Output = in, out
	j, err := flags.job(cmd, func(c *trainer.Config) { spectra(cmd, c) })
	if err != nil {
		return err
	}
	return j.show(cmd, options)
}

// spectra asks for spectra every few epochs where no flag says how often, as on the screen that shows them.
func spectra(cmd *cobra.Command, c *trainer.Config) {
	if !cmd.Flags().Changed("spectrum-every") {
		c.SpectrumEvery, c.SpectrumShare = screenSpectrumEvery, screenSpectrumShare
	}
}
