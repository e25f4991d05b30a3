package tui

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// Base is what a screen beside the dashboard has of the terminal: how things look on it, and a note in the footer. The
// model of such a screen embeds it.
type Base struct {
	Look
	ctx    context.Context // ends the timers of notes, and what else waits
	cancel context.CancelFunc
}

func NewBase(o *Options) Base {
	s := Base{Look: NewLook(o)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// recall applies the user's choices, and returns them; false if there are none. What the screen shows then is the
// caller's to give to keep.
func (s *Base) recall(o *Options) (p Preferences, ok bool) {
	p, ok, err := s.prefer(o)
	if err != nil {
		s.notice = style.Warn.Of("preferences: " + style.Clean(err.Error()))
	}
	return p, ok
}

// restyle follows a change of the theme, the background or the terminal's colours.
func (s *Base) restyle() { s.Palette = s.themeChoice.Palette(s.dark, s.profile, s.noColor) }

// run shows a model that has this surface until it quits, the context ends or the program fails.
func (s *Base) run(ctx context.Context, m tea.Model, o Options) error {
	defer s.cancel()
	defer s.keep.settle()
	var p *tea.Program
	c := Debouncer{now: time.Now, send: func(msg tea.Msg) { p.Send(msg) }}
	p = tea.NewProgram(m, append(o.program(ctx, s.environ, s.noColor), tea.WithFilter(c.filter))...)
	_, err := p.Run()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return ctx.Err()
	}
	return err
}

// handle takes the messages that are the same for every screen.
func (s *Base) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = max(msg.Width, 0), max(msg.Height, 0)
	case tea.ColorProfileMsg:
		s.profile = msg.Profile
		s.restyle()
	case tea.BackgroundColorMsg:
		s.dark = msg.IsDark()
		s.restyle()
	case PictureMsg:
		if msg.err != nil {
			return s.tell(style.Warn, "no picture: "+style.Clean(msg.err.Error()))
		}
		return s.tell(style.Text, "wrote "+style.Clean(msg.path))
	case StoredMsg:
		s.keep.busy = false
		if msg.err != nil {
			s.keep.path = "" // once is enough to know
			return s.tell(style.Warn, "preferences: "+style.Clean(msg.err.Error()))
		}
		return s.keep.next()
	case ExpireMsg:
		if int(msg) == s.notices {
			s.notice = style.Part{}
		}
	}
	return nil
}

// tell shows a note at the right of the footer for a while.
func (s *Base) tell(t style.Token, text string) tea.Cmd {
	s.notice = t.Of(text)
	s.notices++
	return After(s.ctx, 5*time.Second, ExpireMsg(s.notices))
}

// frame is the finished screen.
func (s *Base) frame(rows []string, title string) tea.View {
	content := strings.Join(rows, "\n")
	if s.Glyphs.ASCII {
		content = style.ToASCII(content)
	}
	v := tea.NewView(content)
	v.AltScreen = true
	if !s.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = title
	return v
}

func (s *Base) nextTheme(string) tea.Cmd {
	s.themeChoice = s.themeChoice.Next()
	s.restyle()
	return s.tell(style.Text, "theme: "+s.themeChoice.String())
}

func (s *Base) nextGlyphs(string) tea.Cmd {
	s.glyphChoice = s.glyphChoice.Next()
	s.Glyphs = s.glyphChoice.Set(s.environ)
	return s.tell(style.Text, "glyphs: "+s.glyphChoice.String())
}

func (s *Base) toggleMouse(string) tea.Cmd {
	if s.noMouse = !s.noMouse; s.noMouse {
		return s.tell(style.Text, "mouse: the terminal's, to select text")
	}
	return s.tell(style.Text, "mouse: newtop's")
}

// pictureOf has the tea.Cmd that writes a screen's rows as they stand.
func (s *Base) pictureOf(rows []string, name string) tea.Cmd {
	columns, dark := s.width, s.themeChoice.OnDark(s.dark)
	if s.Glyphs.ASCII {
		for i := range rows {
			rows[i] = style.ToASCII(rows[i])
		}
	}
	return s.write(name, func(w io.Writer) error { return WriteSVG(w, rows, columns, dark) })
}

// write has the tea.Cmd that writes a picture and says where.
func (s *Base) write(name string, draw func(io.Writer) error) tea.Cmd {
	if s.pictures == "" {
		return s.tell(style.Warn, "pictures can't be written from here")
	}
	base := filepath.Join(s.pictures, name)
	return func() tea.Msg {
		path, err := WriteNew(base, ".svg", draw)
		return PictureMsg{path, err}
	}
}

// hintLine is the footer: the keys, and at its right end what was last said.
func (s *Base) hintLine(w int, hints []Hint) string {
	l := s.Line(w)
	room := w
	if s.notice.Text != "" {
		room = w - min(style.Cells(s.notice.Text)+3, w*2/3)
	}
	for _, h := range hints {
		if l.Width+style.Cells(h.key)+style.Cells(h.text)+3 > room {
			break
		}
		l.Put(style.Text, " ").Put(style.Accent, h.key).Put(style.Muted, " "+h.text+" ")
	}
	if s.notice.Text != "" {
		text := ansi.Truncate(s.notice.Text, l.Left()-3, "…")
		l.To(w-style.Cells(text)-1).Put(s.notice.Token, text)
	}
	return l.Full()
}

// Binding joins keys to what they do on the screen of a model M. Dispatch, footer and help read one table of them.
type Binding[M any] struct {
	key.Binding
	do    func(m M, k string) tea.Cmd
	short string         // what the footer says; empty for nothing
	now   func(m M) bool // whether it does; nil for always
}

// Bind makes one: how the help shows the keys, what it and the footer say, what they do, and the keys.
func Bind[M any](show, help, short string, do func(m M, k string) tea.Cmd, keys ...string) Binding[M] {
	return Binding[M]{Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(show, help)), do: do, short: short}
}

// Dialog is what stands in front of the screen of a model M and has the keys.
type Dialog[M any] interface {
	// handleKey reports whether it took the key; closed says that it is done with. A key that closes it and is not
	// taken goes on to the screen.
	handleKey(m M, k string) (taken, closed bool)
	draw(m M, w, h int) []string
	hints() []Hint
}
