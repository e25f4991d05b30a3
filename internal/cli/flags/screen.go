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
	cast          string
	tour          bool
}

// AddTour declares the flag of a guided tour.
func (f *Screen) AddTour(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.tour, "tour", false, "twenty seconds that show what the screen can do")
	Under(Output, cmd.Flags(), "tour")
}

// Add declares the flags.
func (f *Screen) Add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(
		&f.theme, "theme", "",
		"colors of the screen: auto (by the background), dark, light, safe (for the color-blind), mono; empty: as "+
			"last chosen there")
	set.StringVar(
		&f.glyphs, "glyphs", "",
		"characters of the charts: auto (by the locale), braille, block, ascii; empty: as last chosen there")
	set.BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	set.StringVar(&f.cast, "cast", "", "")
	_ = set.MarkHidden("cast") // newtop record gives it
	Choices(cmd, "theme", themes()...)
	Choices(cmd, "glyphs", glyphs()...)
	Under(Output, set, "theme", "glyphs", "no-mouse")
	Long(set, "theme", "glyphs", "no-mouse")
}

// themes returns the names of the themes that can be chosen.
func themes() (names []string) {
	for t := style.ThemeAuto; t < style.ThemeCount; t++ {
		names = append(names, t.String())
	}
	return names
}

// glyphs returns the names of the glyph sets that can be chosen.
func glyphs() (names []string) {
	for g := style.GlyphsAuto; g < style.GlyphsCount; g++ {
		names = append(names, g.String())
	}
	return names
}

// Options checks the flags. They win over what the user has chosen on an earlier screen.
func (f *Screen) Options() (o screen.Options, err error) {
	if o.Theme, err = style.ParseTheme(f.theme); err != nil {
		return o, OneOf("--theme", f.theme, themes()...)
	}
	if o.Glyphs, err = style.ParseGlyphs(f.glyphs); err != nil {
		return o, OneOf("--glyphs", f.glyphs, glyphs()...)
	}
	o.NoMouse, o.Preferences, o.Pictures, o.Cast = f.noMouse, screen.PreferencesFile(), ".", f.cast
	o.Tour = f.tour
	for _, d := range datasets.List() {
		o.DataSets = append(o.DataSets, d.Name)
	}
	return o, nil
}
