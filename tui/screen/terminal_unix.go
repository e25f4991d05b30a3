//go:build unix

package screen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"newtop/internal/routine"
	"newtop/tui/render"
)

// Bubble Tea's renderer looks sixty times a second whether there is a frame, which alone is a percent of a processor,
// and a key waits for its next look. So frames are drawn here as soon as they are there, by the renderer that viewers
// have, and Bubble Tea's is left out. What else it does for a terminal is then the screen's: raw mode, the size, and
// giving the terminal back to a shell.

// Run shows the model of a screen with this base until it quits, the context ends or the program fails, with
// further options of the program if there are any.
func (b *Base) Run(ctx context.Context, m tea.Model, o Options, more ...tea.ProgramOption) error {
	defer b.Cancel()
	defer b.Prefs.Flush()
	t, err := openTerminal(&o, b)
	if err != nil {
		return err
	}
	defer t.close()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &framed{Model: m, base: b, terminal: t, pause: time.Second / time.Duration(frames(o.FPS, b.Environ))}
	var p *tea.Program
	d := Debouncer{Now: time.Now, Send: func(msg tea.Msg) { p.Send(msg) }}
	filter := func(m tea.Model, msg tea.Msg) tea.Msg { return d.Filter(m, t.filter(msg, p.Send)) }
	all := append(o.program(inner, b.Environ, b.NoColor), tea.WithoutRenderer(), tea.WithFPS(otherFlushes),
		tea.WithInput(t.in),
		tea.WithOutput(t.out), tea.WithFilter(filter), tea.WithColorProfile(t.profile))
	if w, h, err := t.size(); err == nil {
		all = append(all, tea.WithWindowSize(w, h))
	}
	p = tea.NewProgram(f, append(all, more...)...)
	routine.Go(func() { Resizes(inner, p, o.Resizes) })
	routine.Go(func() { t.watchSize(inner, p.Send) })
	routine.Go(func() {
		t.renderer.Run()
		cancel() // what is left of the program when its terminal is gone
	})
	defer OnQuit(t.restore)()
	_, err = p.Run()
	left := inner.Err() == nil
	t.leave()
	filmErr := t.film.end()
	switch {
	case ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled):
		return ctx.Err()
	case !left && t.failure() != nil:
		return fmt.Errorf("the terminal: %w", t.failure())
	case err == nil:
		return filmErr
	}
	return err
}

// Opening is what a screen asks of its terminal at first: the renderer has done it.
func (b *Base) Opening() tea.Cmd { return b.rings() }

// otherFlushes is how often a second Bubble Tea writes what is no frame, as text for the clipboard.
const otherFlushes = 2

// terminal is what a screen is drawn on and typed at.
type terminal struct {
	in       io.Reader
	out      io.Writer // one piece at a time
	tty      term.File // what is typed at; nil: no terminal
	was      *term.State
	shown    term.File // what is drawn on; nil: no terminal
	opened   []*os.File
	profile  colorprofile.Profile
	renderer *render.Renderer
	film     *cast // nil: none
	once     sync.Once
}

// openTerminal makes the terminal raw, and asks for it where standard input is none.
func openTerminal(o *Options, b *Base) (t *terminal, err error) {
	t = &terminal{in: o.Input}
	var out io.Writer = os.Stdout
	if o.Output != nil {
		out = o.Output
	}
	if t.in == nil {
		t.in = os.Stdin
		if !term.IsTerminal(os.Stdin.Fd()) {
			in, other, err := tea.OpenTTY()
			if err != nil {
				return nil, fmt.Errorf("the terminal: %w", err)
			}
			t.in, t.opened = in, []*os.File{in, other}
		}
	}
	if f, ok := out.(term.File); ok && term.IsTerminal(f.Fd()) {
		t.shown = f
	}
	if f, ok := t.in.(term.File); ok && term.IsTerminal(f.Fd()) {
		t.tty = f
		if t.was, err = term.MakeRaw(f.Fd()); err != nil {
			t.close()
			return nil, fmt.Errorf("the terminal: %w", err)
		}
	}
	t.profile = colorprofile.Detect(out, b.Environ)
	if b.NoColor {
		t.profile = colorprofile.ASCII
	}
	w, h, _ := t.size()
	if t.film, err = newCast(o.Cast, w, h, b.Environ); err != nil {
		t.close()
		return nil, err
	}
	if t.film != nil {
		out = filmed{out, t.film}
	}
	t.out = &pieces{out: out}
	t.renderer = render.NewRenderer(t.out, b.Environ, nil)
	t.renderer.Owned(t.profile)
	return t, nil
}

// pieces writes one piece after the other, whoever writes.
type pieces struct {
	mu  sync.Mutex
	out io.Writer
}

func (p *pieces) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(text)
}

func (t *terminal) size() (w, h int, err error) {
	if t.shown == nil {
		return 0, 0, errors.ErrUnsupported
	}
	return term.GetSize(t.shown.Fd())
}

// watchSize tells the program of the terminal's sizes until the context ends.
func (t *terminal) watchSize(ctx context.Context, send func(tea.Msg)) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	for {
		select {
		case <-changed:
			if w, h, err := t.size(); err == nil {
				t.film.note("r", fmt.Sprintf("%dx%d", w, h))
				send(tea.WindowSizeMsg{Width: w, Height: h})
			}
		case <-ctx.Done():
			return
		}
	}
}

// filter gives the terminal to the shell before the program is stopped, and takes it back. Two escapes that were read
// at once are two, and not one with alt; an enter that was typed before the terminal was raw is one, which came as a
// line's end.
func (t *terminal) filter(msg tea.Msg, send func(tea.Msg)) tea.Msg {
	switch msg := msg.(type) {
	case tea.SuspendMsg:
		t.renderer.Suspend()
		t.cooked()
	case tea.ResumeMsg:
		if t.tty != nil {
			_, _ = term.MakeRaw(t.tty.Fd())
		}
		t.renderer.Resume()
		if w, h, err := t.size(); err == nil {
			routine.Go(func() { send(tea.WindowSizeMsg{Width: w, Height: h}) })
		}
	case tea.KeyPressMsg:
		switch msg.String() {
		case "alt+esc":
			escape := tea.KeyPressMsg{Code: tea.KeyEscape}
			routine.Go(func() { send(escape) })
			return escape
		case "ctrl+j":
			return tea.KeyPressMsg{Code: tea.KeyEnter}
		}
	}
	return msg
}

func (t *terminal) cooked() {
	if t.tty != nil {
		_ = term.Restore(t.tty.Fd(), t.was)
	}
}

// restore gives the terminal back, whatever continues.
func (t *terminal) restore() {
	t.renderer.Restore()
	t.cooked()
	if t.tty != nil {
		_, _ = io.WriteString(t.out, ansi.ResetStyle+"\r\n")
	}
}

// leave ends the drawing. A terminal that does not read is not waited for long.
func (t *terminal) leave() {
	t.once.Do(func() { close(t.renderer.Frames) })
	select {
	case <-t.renderer.Ended:
	case <-time.After(routine.Patience):
	}
}

// failure is why drawing ended, nil while it has not.
func (t *terminal) failure() error {
	select {
	case <-t.renderer.Ended:
		return t.renderer.Err
	default:
		return nil
	}
}

func (t *terminal) close() {
	t.cooked()
	for _, f := range t.opened {
		f.Close()
	}
}

// framed is the model of a screen, whose frames go to the terminal's renderer, that many a second at most.
type framed struct {
	tea.Model
	base     *Base
	terminal *terminal
	pause    time.Duration
	drawn    time.Time
	waiting  bool // a dueMsg is under way
	redraw   int  // counts what may have spoilt the terminal
}

// dueMsg says that a frame that had to wait is due.
type dueMsg struct{}

func (f *framed) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil { // Bubble Tea tells of it where it can be read
			f.terminal.restore()
			panic(v)
		}
	}()
	switch msg := msg.(type) {
	case dueMsg:
		f.waiting = false
		return f, f.frame()
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+l" {
			f.redraw++
		}
	case tea.WindowSizeMsg, tea.ResumeMsg:
		f.redraw++
	}
	f.Model, cmd = f.Model.Update(msg)
	return f, tea.Batch(f.cover(cmd), f.frame())
}

// Init implements tea.Model.
func (f *framed) Init() tea.Cmd { return f.cover(f.Model.Init()) }

// cover has a command that breaks give the terminal back first: Bubble Tea prints what broke.
func (f *framed) cover(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer func() {
			if v := recover(); v != nil {
				f.terminal.restore()
				panic(v)
			}
		}()
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = f.cover(batch[i])
			}
		}
		return msg
	}
}

// frame hands a frame over, or returns the command that has it handed over later.
func (f *framed) frame() tea.Cmd {
	now := time.Now()
	if wait := f.pause - now.Sub(f.drawn); wait > 0 {
		if f.waiting {
			return nil
		}
		f.waiting = true
		return After(f.base.Ctx, wait, dueMsg{})
	}
	v := f.Model.View()
	if v.Content == "" {
		return nil
	}
	f.drawn = now
	f.terminal.renderer.Enqueue(render.Frame{
		Rows: strings.Split(v.Content, "\n"), Width: f.base.Width, Title: v.WindowTitle, Mouse: v.MouseMode,
		Redraws: f.redraw,
	})
	return nil
}

// View draws nothing: the renderer does.
func (f *framed) View() tea.View { return tea.View{} }
