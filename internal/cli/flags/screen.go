package flags

import (
	"github.com/spf13/cobra"

	"newtop/datasets"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// Screen says how the screen appears.
type Screen struct {
	theme, glyphs string
	noMouse       bool
}

// Add declares the flags.
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
		return o, Wrong("--theme", f.theme, "auto, dark, light, safe or mono")
	}
	if o.Glyphs, err = style.ParseGlyphs(f.glyphs); err != nil {
		return o, Wrong("--glyphs", f.glyphs, "auto, braille, block or ascii")
	}
	o.NoMouse, o.Preferences, o.Pictures = f.noMouse, screen.PreferencesFile(), "."
	for _, d := range datasets.List() {
		o.DataSets = append(o.DataSets, d.Name)
	}
	return o, nil
}
