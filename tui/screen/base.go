// Package screen is what every screen of newtop has in common: its terminal, themes, notes and preferences (Base), one
// table of keys (Binding), and dialogs in front of it.
package screen

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/layout"
	"newtop/tui/render"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Base is what every screen has of its terminal: how things look on it, its size, a note in the footer, the user's
// preferences, and a context that ends the screen's timers. The model of a screen embeds it.
type Base struct {
	style.Pen
	Title         string
	Environ       []string
	ThemeChoice   style.Theme
	GlyphChoice   style.Glyphs
	NoColor, Dark bool
	NoMouse       bool
	Profile       colorprofile.Profile
	Prefs         PreferenceStore
	Pictures      string // the directory that pictures are written to; "" writes none
	Width, Height int
	Notice        style.Part
	Changes       uint64 // counts changes of how everything looks
	Over, Covered bool   // it stands over another screen, to which it leaves; another one stands over it
	Ctx           context.Context
	Cancel        context.CancelFunc
	Rings         <-chan RingMsg // what calls the user; nil: nothing does
	// Accuracy says whether errors are shown as accuracies; nil: as a log has them, and errors of newtop's own runs.
	Accuracy *bool

	notices int
}

// Screen returns the base of a model that embeds it.
func (b *Base) Screen() *Base { return b }

// NewBase returns the base of a screen with the options; Restyle is still to be called.
func NewBase(o *Options) Base {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Title == "" {
		o.Title = "newtop"
	}
	b := Base{
		Title:       style.Clean(o.Title),
		Environ:     o.Environ,
		ThemeChoice: max(o.Theme, style.ThemeAuto),
		GlyphChoice: max(o.Glyphs, style.GlyphsAuto),
		NoColor:     o.NoColor || style.Lookup(o.Environ, "NO_COLOR") != "",
		NoMouse:     o.NoMouse,
		Pictures:    o.Pictures,
		Rings:       o.Rings,
		Dark:        true,
		Profile:     colorprofile.TrueColor,
	}
	b.Ctx, b.Cancel = context.WithCancel(context.Background())
	return b
}

// Prefer applies the user's choices where no option says otherwise, once, before the program runs, and returns them;
// false if there are none. A file that can't be used is an error, and is left as it is: the next change would replace
// what the user may want to mend.
func (b *Base) Prefer(o *Options) (p Preferences, ok bool, err error) {
	if o.Preferences == "" {
		return p, false, nil
	}
	if p, err = ReadPreferences(o.Preferences); err != nil {
		return p, false, err
	}
	if t, _ := style.ParseTheme(p.Theme); o.Theme == style.ThemePreferred && t != style.ThemePreferred {
		b.ThemeChoice = t
	}
	if g, _ := style.ParseGlyphs(p.Glyphs); o.Glyphs == style.GlyphsPreferred && g != style.GlyphsPreferred {
		b.GlyphChoice = g
	}
	if p.Mouse != nil && !o.NoMouse {
		b.NoMouse = !*p.Mouse
	}
	b.Accuracy, b.Prefs = p.Accuracy, NewPreferenceStore(o.Preferences, p)
	return p, true, nil
}

// Appearance are the choices of how things look that the screen shows now.
func (b *Base) Appearance() Preferences {
	mouse := !b.NoMouse
	return Preferences{Theme: b.ThemeChoice.String(), Glyphs: b.GlyphChoice.String(), Mouse: &mouse,
		Accuracy: b.Accuracy}
}

// Accurate reports whether errors are shown as accuracies: as the user chose, or else as the log has them.
func (b *Base) Accurate(logged bool) bool {
	if b.Accuracy != nil {
		return *b.Accuracy
	}
	return logged
}

// Restyle follows a change of the theme, the glyphs, the background or the terminal's colours.
func (b *Base) Restyle() {
	b.Palette = b.ThemeChoice.Palette(b.Dark, b.Profile, b.NoColor)
	b.Glyphs = b.GlyphChoice.Set(b.Environ)
	b.Changes++
}

// SetTheme changes the colours and says which ones they are now.
func (b *Base) SetTheme(t style.Theme) tea.Cmd {
	b.ThemeChoice = t
	b.Restyle()
	text := "theme: " + t.String()
	switch {
	case b.NoColor && t != style.ThemeMono:
		text += ", without colors: NO_COLOR"
	case t == style.ThemeAuto && b.Dark:
		text += ", dark"
	case t == style.ThemeAuto:
		text += ", light"
	}
	return b.Notify(style.Text, text)
}

// SetGlyphs changes what drawings are made of.
func (b *Base) SetGlyphs(g style.Glyphs) tea.Cmd {
	b.GlyphChoice = g
	b.Restyle()
	return b.Notify(style.Text, "glyphs: "+g.String())
}

// ToggleMouse takes the mouse, or leaves it to the terminal and its selection of text.
func (b *Base) ToggleMouse() tea.Cmd {
	b.NoMouse = !b.NoMouse
	if b.NoMouse {
		return b.Notify(style.Text, "mouse: the terminal's, to select text")
	}
	return b.Notify(style.Text, "mouse: newtop's")
}

// Note shows a text at the right of the footer until another one comes.
func (b *Base) Note(t style.Token, text string) {
	b.Notice = t.Of(text)
	b.notices++
}

// Notify shows a text at the right of the footer for a while.
func (b *Base) Notify(t style.Token, text string) tea.Cmd {
	b.Note(t, text)
	return After(b.Ctx, 5*time.Second, expireMsg(b.notices))
}

// RingMsg makes the terminal ring or notify its user, by a sequence that goes there between two frames, and says why.
type RingMsg struct{ Sequence, Text string }

// ring carries it out, and waits for the next one.
func (b *Base) ring(m RingMsg) tea.Cmd {
	cmds := []tea.Cmd{b.rings()}
	if m.Sequence != "" {
		cmds = append(cmds, tea.Raw(m.Sequence))
	}
	if m.Text != "" {
		cmds = append(cmds, b.Notify(style.Warn, style.Clean(m.Text)))
	}
	return tea.Batch(cmds...)
}

// rings waits for what is to ring.
func (b *Base) rings() tea.Cmd {
	if b.Rings == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case m := <-b.Rings:
			return m
		case <-b.Ctx.Done():
			return nil
		}
	}
}

// expireMsg ends the note of a number.
type expireMsg int

// After returns the command that brings a message after a while, or nil at the context's end: tea.Tick would keep its
// goroutine until the time is up.
func After(ctx context.Context, d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	}
}

// Handle takes the messages that are the same for every screen.
func (b *Base) Handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		b.Width, b.Height = max(msg.Width, 0), max(msg.Height, 0)
	case tea.ColorProfileMsg:
		b.Profile = msg.Profile
		b.Restyle()
	case tea.BackgroundColorMsg:
		if b.Dark != msg.IsDark() {
			b.Dark = msg.IsDark()
			b.Restyle()
		}
	case PictureMsg:
		if msg.Err != nil {
			return b.Notify(style.Warn, "no picture: "+style.Clean(msg.Err.Error()))
		}
		return b.Notify(style.Text, "wrote "+style.Clean(msg.Path)+msg.Also)
	case StoredMsg:
		cmd, err := b.Prefs.Written(msg)
		if err != nil {
			return b.Notify(style.Warn, "preferences: "+style.Clean(err.Error()))
		}
		return cmd
	case RefusedMsg:
		return b.Notify(style.Warn, style.Clean(string(msg)))
	case RingMsg:
		return b.ring(msg)
	case expireMsg:
		if int(msg) == b.notices {
			b.Notice = style.Part{}
		}
	}
	return nil
}

// Finished returns rows in the characters that the glyphs allow, with nothing in them that acts on a terminal.
func (b *Base) Finished(rows []string) []string {
	for i := range rows {
		rows[i] = style.Shown(rows[i])
		if b.Glyphs.ASCII {
			rows[i] = style.ToASCII(rows[i])
		}
	}
	return rows
}

// View is the finished screen, which wants that much of the mouse.
func (b *Base) View(rows []string, title string, mouse tea.MouseMode) tea.View {
	v := tea.NewView(strings.Join(b.Finished(rows), "\n"))
	v.AltScreen = true
	if !b.NoMouse {
		v.MouseMode = mouse
	}
	v.WindowTitle = style.Clean(title)
	return v
}

// Draw puts the parts of a screen together: rows under one another, the footer with the hints last, and over them the
// dialog that is in front, unless that is nil.
func (b *Base) Draw(rows []string, hints []widget.Hint, dialog func(w, h int) []string) []string {
	rows = append(rows, b.Footer(b.Width, hints))
	if dialog != nil {
		widget.Overlay(rows[:b.Height-layout.FooterRows], dialog(b.Width, b.Height-layout.FooterRows), b.Width)
	}
	return rows
}

// Footer names the keys that matter now, and at its right end what was last said.
func (b *Base) Footer(w int, hints []widget.Hint) string {
	l := b.Line(w)
	room := w
	if b.Notice.Text != "" {
		room = w - min(style.Cells(b.Notice.Text)+3, w*2/3)
	}
	for _, h := range hints {
		h.Key = b.Glyphs.Keys(h.Key)
		if l.Width+style.Cells(h.Key)+style.Cells(h.Text)+3 > room {
			break
		}
		l.Write(style.Text, " ").Write(style.Accent, h.Key).Write(style.Muted, " "+h.Text+" ")
	}
	if b.Notice.Text != "" {
		text := ansi.Truncate(b.Notice.Text, l.Left()-3, "…")
		l.To(w-style.Cells(text)-1).Write(b.Notice.Token, text)
	}
	return l.Full()
}

// Small is the screen of a terminal that is too small for more: the first rows of what there is to say, and the footer.
func (b *Base) Small(rows []string, hints []widget.Hint, dialog func(w, h int) []string) []string {
	h := b.Height - layout.FooterRows
	rows = style.Block(rows, b.Width, max(h, 1))
	if h < 1 {
		return style.Clip(rows, b.Height)
	}
	return b.Draw(rows, hints, dialog)
}

// ScreenPicture returns the command that writes a screen's rows as they stand, as SVG and as PNG.
func (b *Base) ScreenPicture(rows []string, name string) tea.Cmd {
	rows, columns, dark := b.Finished(rows), b.Width, b.ThemeChoice.OnDark(b.Dark)
	return b.Picture(name,
		Drawing{".svg", func(w io.Writer) error { return render.WriteSVG(w, rows, columns, dark) }},
		Drawing{".png", func(w io.Writer) error { return render.WritePNG(w, rows, columns, dark) }})
}

// Picture returns the command that writes a picture in some formats and says where.
func (b *Base) Picture(name string, drawings ...Drawing) tea.Cmd {
	if b.Pictures == "" {
		return b.Notify(style.Warn, "pictures can't be written from here")
	}
	base := filepath.Join(b.Pictures, name)
	return func() tea.Msg {
		var msg PictureMsg
		msg.Path, msg.Err = WriteNew(base, drawings...)
		for _, d := range drawings[1:] {
			msg.Also += " and " + d.Suffix
		}
		return msg
	}
}
