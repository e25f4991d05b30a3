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

// What the screen asks for when nobody says: a spectrum every few epochs, for a fifth of the training time at most.
const (
	screenSpectrumEvery = 5
	screenSpectrumShare = 0.2
)

// ScreenProcessors stand beside the workers' where there is a screen, so that a key need not wait for a product.
const ScreenProcessors = 2

// Screen says how the screen appears.
type Screen struct {
	theme, glyphs string
	noMouse       bool
}

func (f *Screen) Add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.theme, "theme", "", "colours of the screen: auto (by the background), dark, light, safe (for the colour-blind), mono; empty: as last chosen there")
	set.StringVar(&f.glyphs, "glyphs", "", "what its charts are made of: auto (by the locale), braille, block, ascii; empty: as last chosen there")
	set.BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	for _, name := range []string{"theme", "glyphs", "no-mouse"} {
		Wrap(set.Lookup(name))
	}
}

// Options checks the flags. They win over what the user has chosen on an earlier screen.
func (f *Screen) Options() (o screen.Options, err error) {
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

// Terminal returns the command's input and output if both are terminals that can be drawn on.
func Terminal(cmd *cobra.Command) (in, out *os.File, ok bool) {
	in, inOK := cmd.InOrStdin().(*os.File)
	out, outOK := Drawable(cmd.OutOrStdout())
	return in, out, inOK && outOK && term.IsTerminal(in.Fd())
}

// Open does what the flags say behind the screen, or as text where there is none.
func Open(cmd *cobra.Command, run *Run, screen *Screen) error {
	options, err := screen.Options()
	if err != nil {
		return err
	}
	in, out, ok := Terminal(cmd)
	if !ok {
		j, err := newJob(run, cmd, nil)
		if err != nil {
			return err
		}
		return j.Train(cmd, &TextRecorder{out: cmd.OutOrStdout(), messages: cmd.ErrOrStderr()})
	}
	options.Input, options.Output = in, out
	j, err := newJob(run, cmd, func(c *trainer.Config) { defaultSpectra(cmd, c) })
	if err != nil {
		return err
	}
	return j.Show(cmd, options)
}

// defaultSpectra asks for spectra every few epochs where no flag says how often, as on the screen that shows them.
func defaultSpectra(cmd *cobra.Command, c *trainer.Config) {
	if !cmd.Flags().Changed("spectrum-every") {
		c.SpectrumEvery, c.SpectrumShare = screenSpectrumEvery, screenSpectrumShare
	}
}
