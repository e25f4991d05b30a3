package tui

import tea "charm.land/bubbletea/v2"

// setTheme changes the colours and says which ones they are now.
func (a *App) setTheme(t Theme) tea.Cmd {
	a.theme = t
	a.restyle()
	text := "theme: " + t.String()
	switch {
	case a.noColor && t != ThemeMono:
		text += ", without colours: NO_COLOR"
	case t == ThemeAuto && a.dark:
		text += ", dark"
	case t == ThemeAuto:
		text += ", light"
	}
	return a.tell(text)
}

// nextTheme goes round the themes.
func (a *App) nextTheme() tea.Cmd {
	t := a.theme + 1
	if t == themeCount {
		t = ThemeAuto
	}
	return a.setTheme(t)
}

// setGlyphs changes what drawings are made of.
func (a *App) setGlyphs(g Glyphs) tea.Cmd {
	a.glyphs = g
	a.gl = g.set(a.environ)
	a.look++
	return a.tell("glyphs: " + g.String())
}

// nextGlyphs goes round the glyph sets.
func (a *App) nextGlyphs() tea.Cmd {
	g := a.glyphs + 1
	if g == glyphsCount {
		g = GlyphsAuto
	}
	return a.setGlyphs(g)
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
	a.note(tokText, text)
	return a.expire()
}
