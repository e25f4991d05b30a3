package tui

import (
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"newtop/tui/style"
)

// Look is how a screen looks on its terminal, whose size it has, and the note in its footer. The models of all
// screens embed it.
type Look struct {
	style.Pen
	title         string
	environ       []string
	themeChoice   style.Theme
	glyphChoice   style.Glyphs
	noColor, dark bool
	noMouse       bool
	profile       colorprofile.Profile
	keep          PreferenceStore
	pictures      string
	width, height int
	notice        style.Part
	notices       int
}

func NewLook(o *Options) Look {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Title == "" {
		o.Title = "newtop"
	}
	return Look{
		title:       style.Clean(o.Title),
		environ:     o.Environ,
		themeChoice: max(o.Theme, style.ThemeAuto),
		glyphChoice: max(o.Glyphs, style.GlyphsAuto),
		noColor:     o.NoColor || style.Lookup(o.Environ, "NO_COLOR") != "",
		noMouse:     o.NoMouse,
		pictures:    o.Pictures,
		dark:        true,
		profile:     colorprofile.TrueColor,
	}
}

// prefer applies the user's choices where no option says otherwise, once, before the program runs, and returns them;
// false if there are none. A file that can't be used is an error, and left as it is: the next change would replace what
// the user may want to mend.
func (l *Look) prefer(o *Options) (p Preferences, ok bool, err error) {
	if o.Preferences == "" {
		return p, false, nil
	}
	if p, err = readPreferences(o.Preferences); err != nil {
		return p, false, err
	}
	if t, _ := style.ParseTheme(p.Theme); o.Theme == style.ThemePreferred && t != style.ThemePreferred {
		l.themeChoice = t
	}
	if g, _ := style.ParseGlyphs(p.Glyphs); o.Glyphs == style.GlyphsPreferred && g != style.GlyphsPreferred {
		l.glyphChoice = g
	}
	if p.Mouse != nil && !o.NoMouse {
		l.noMouse = !*p.Mouse
	}
	l.keep = PreferenceStore{path: o.Preferences, stored: p}
	return p, true, nil
}

// looks are the choices of how things look that the screen shows now.
func (l *Look) looks() Preferences {
	mouse := !l.noMouse
	return Preferences{Theme: l.themeChoice.String(), Glyphs: l.glyphChoice.String(), Mouse: &mouse}
}

// setTheme changes the colours and says which ones they are now.
func (a *App) setTheme(t style.Theme) tea.Cmd {
	a.themeChoice = t
	a.restyle()
	text := "theme: " + t.String()
	switch {
	case a.noColor && t != style.ThemeMono:
		text += ", without colours: NO_COLOR"
	case t == style.ThemeAuto && a.dark:
		text += ", dark"
	case t == style.ThemeAuto:
		text += ", light"
	}
	return a.tell(text)
}

// nextTheme goes round the themes.
func (a *App) nextTheme() tea.Cmd {
	return a.setTheme(a.themeChoice.Next())
}

// setGlyphs changes what drawings are made of.
func (a *App) setGlyphs(g style.Glyphs) tea.Cmd {
	a.glyphChoice = g
	a.Glyphs = g.Set(a.environ)
	a.look++
	return a.tell("glyphs: " + g.String())
}

// nextGlyphs goes round the glyph sets.
func (a *App) nextGlyphs() tea.Cmd {
	return a.setGlyphs(a.glyphChoice.Next())
}

// toggleMouse takes the mouse, or leaves it to the terminal and its selection of text.
func (a *App) toggleMouse() tea.Cmd {
	a.noMouse = !a.noMouse
	if a.noMouse {
		return a.tell("mouse: the terminal's, to select text")
	}
	return a.tell("mouse: newtop's")
}

// tell shows a note for a while.
func (a *App) tell(text string) tea.Cmd {
	a.note(style.Text, text)
	return a.expire()
}
