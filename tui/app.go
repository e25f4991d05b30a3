// Package tui is the terminal UI: it shows a trainer.Feed and sends trainer.Commands. It knows what a run
// looks like from outside, and none of its mathematics.
//
// One root model gets every message and delegates. Panes draw from a history that only grows by Deltas,
// and keep their picture until what they show has changed, so that a key, a resize or a quiet run costs
// next to nothing.
package tui

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"newtop/trainer/feed"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// Options say how the UI appears. The zero value is right for a terminal on standard input and output.
type Options struct {
	Title       string    // in the header and the window's title; "" is "newtop"
	NoColor     bool      // no colours, as the environment's NO_COLOR
	Theme       Theme     // zero is the user's preference
	Glyphs      Glyphs    // what drawings are made of; zero is the user's preference
	NoMouse     bool      // leave the mouse to the terminal
	Preferences string    // the file that keeps the user's choices (see PreferencesFile); "" keeps none
	Pictures    string    // the directory that pictures are written to; "" writes none
	DataSets    []string  // names that the palette lists
	FPS         int       // how often a change may be drawn a second, 1…120; 0 is 60, over SSH 30
	Input       io.Reader // nil is standard input
	Output      io.Writer // nil is standard output
	Environ     []string  // nil is this process's environment
	// Guest is who looks, where the run is served to several; nil is its owner. A guest's screen needs Input, Output,
	// Environ and Size, and touches nothing of this process.
	Guest *Guest
	// Size and Resizes tell the size of a terminal that is not Output itself. Zero: Output is asked.
	Size    Size
	Resizes <-chan Size
	// Allowance is shared by the screens of all guests; nil bounds nothing.
	Allowance *Allowance
}

// Size is that of a terminal, in cells.
type Size struct{ Width, Height int }

// Guest is one of several who look at a run that is served to them. Leaving the screen leaves the run alone.
type Guest struct {
	Name    string // as trainer.Viewer has it
	Control bool   // whether the guest may steer the run
	Saves   string // what the directory is called that models are saved in, for readers
}

// App is the root model.
type App struct {
	*bridge
	appearance
	bindings []binding
	panes    [paneCount]pane
	kept     [paneCount]drawn
	picker   *picker

	pace
	dataSets  []string
	guest     *Guest
	allowance *Allowance
	look      uint64 // counts changes of how everything looks
	anew      int    // counts what may have spoilt the terminal: its sizes, and wishes to see it drawn anew

	focus    paneID
	zoomed   bool
	overlay  overlay // nil for none
	race     raceView
	bar      replayBar
	saving   saving
	record   recordState
	stopping bool // Stop was asked for, and the program ends with the run
	closed   bool // nothing more comes from the feed
	readOnly bool

	clock   func() time.Time
	ticking bool
	heard   time.Time // when the newest status came
	shown   float64   // elapsed seconds on the screen
}

// New returns the model for a feed. Whoever runs it in a program of their own must Close it at the end.
func New(feed feed.Feed, o Options) *App { return newApp(feed, o, methods.All()) }

func newApp(feed feed.Feed, o Options, methods []*optim.Info) *App {
	a := &App{
		bridge:     newBridge(feed),
		appearance: newAppearance(&o),
		bindings:   bindings(),
		panes:      newPanes(),
		picker:     newPicker(methods),
		dataSets:   o.DataSets,
		guest:      o.Guest,
		clock:      time.Now,
	}
	if remote(o.Environ) || o.Guest != nil {
		a.interval = remoteInterval
	}
	if o.Guest != nil {
		o.Preferences, a.environ = "", localeOf(o.Environ)
		a.allowance, a.asleep = o.Allowance, true
		a.profile = colours(o.Environ)
	}
	a.h.viewer = o.Guest != nil && !o.Guest.Control
	a.recall(&o)
	a.gl = a.glyphs.set(a.environ)
	a.restyle()
	return a
}

// Close ends what waits on the feed. The feed itself stays open.
func (a *App) Close() { a.cancel() }

// Run shows a feed until the user quits, the context ends or the program fails, and restores the
// terminal on every way out, a panic included. It returns the context's error if that ended it. Signals
// are the caller's: they are expected to end the context.
func Run(ctx context.Context, feed feed.Feed, o Options) error {
	if o.Guest != nil {
		return runGuest(ctx, New(feed, o), o)
	}
	return runApp(ctx, New(feed, o), o)
}

func runApp(ctx context.Context, a *App, o Options) error {
	defer a.Close()
	defer a.keep.settle()
	a.hold, a.touched = patience(a.environ), a.clock()
	var p *tea.Program
	c := calm{now: time.Now, send: func(m tea.Msg) { p.Send(m) }}
	p = tea.NewProgram(a, append(o.program(ctx, a.environ, a.noColor), tea.WithFilter(c.filter))...)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	go resizes(inner, p, o.Resizes)
	_, err := p.Run()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return ctx.Err()
	}
	return err
}

func (o *Options) program(ctx context.Context, environ []string, noColor bool) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(frames(o.FPS, environ)), tea.WithoutSignalHandler()}
	if o.Input != nil {
		opts = append(opts, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		opts = append(opts, tea.WithOutput(o.Output))
	}
	if o.Environ != nil {
		opts = append(opts, tea.WithEnvironment(o.Environ))
	}
	if o.Size != (Size{}) {
		opts = append(opts, tea.WithWindowSize(o.Size.Width, o.Size.Height))
	}
	if noColor {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	return opts
}

// restyle follows a change of the background or of the terminal's colours.
func (a *App) restyle() {
	a.th = a.theme.inks(a.dark, a.profile, a.noColor)
	a.look++
}

// Init asks for the background and arms the wait for the first Delta.
func (a *App) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, synchronize(a.environ), a.wait(0))
}

// Update delegates.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = max(msg.Width, 0), max(msg.Height, 0)
		a.anew++
	case tea.ColorProfileMsg:
		a.profile = msg.Profile
		a.restyle()
	case tea.BackgroundColorMsg:
		if a.dark != msg.IsDark() {
			a.dark = msg.IsDark()
			a.restyle()
		}
	case tea.KeyPressMsg:
		a.touched = a.clock()
		return a, tea.Batch(a.press(msg), a.remember(), a.glance())
	case tea.PasteMsg:
		if a.overlay != nil {
			msg.Content = clean(msg.Content)
			return a, a.overlay.handle(a, msg)
		}
	case tea.MouseWheelMsg:
		if a.overlay != nil || a.racing() {
			return a, a.wheel(msg)
		}
		return a, a.mouse(msg)
	case tea.MouseMsg:
		return a, a.mouse(msg)
	case deltaMsg:
		return a, tea.Batch(a.receive(msg), a.glance())
	case askMsg:
		if why := unsteerable(a); why != "" {
			return a, a.refuse(why)
		}
		return a, a.command(msg.command)
	case replyMsg:
		return a, a.replied(msg)
	case pictureMsg:
		return a, a.pictureWritten(msg)
	case storedMsg:
		return a, a.stored(msg.err)
	case stoppedMsg:
		return a, a.stopped(msg.err)
	case tickMsg:
		a.ticking = false
		return a, a.tick()
	case drawMsg:
		return a, a.redrawn()
	case expireMsg:
		if int(msg) == a.notices {
			a.notice = part{}
		}
	}
	return a, nil
}

// press gives a key to the overlay in front, then to the table of bindings.
func (a *App) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch {
	case k == "ctrl+c" || k == "ctrl+z" || k == "ctrl+l":
	case a.overlay != nil:
		msg.Text = clean(msg.Text)
		return a.overlay.handle(a, msg)
	case a.racing():
		if cmd, taken := a.race.handleKey(a, k); taken {
			return cmd
		}
	}
	if p, ok := a.panes[a.focus].(keyed); ok && a.zoomed && !a.racing() {
		if cmd, taken := p.handleKey(&a.view, k); taken {
			a.look++
			return cmd
		}
	}
	for i := range a.bindings {
		if b := &a.bindings[i]; !b.absent(a) && slices.Contains(b.Keys(), k) {
			return b.act(a, k)
		}
	}
	return nil
}

// View draws the screen from the panes' kept pictures.
func (a *App) View() tea.View {
	v := tea.NewView(strings.Join(a.finished(), "\n"))
	v.AltScreen = true
	v.MouseMode = a.mouseMode()
	v.WindowTitle = a.windowTitle()
	return v
}

// finished is the screen in the characters that its glyphs allow.
func (a *App) finished() []string {
	rows := a.screen()
	if a.gl.ascii {
		for i := range rows {
			rows[i] = toASCII(rows[i])
		}
	}
	return rows
}

// mouseMode is what the terminal should tell of the mouse.
func (a *App) mouseMode() tea.MouseMode {
	if a.noMouse {
		return tea.MouseModeNone
	}
	if _, ok := a.panes[a.focus].(moused); ok && a.zoomed {
		return tea.MouseModeAllMotion
	}
	return tea.MouseModeCellMotion
}

func (a *App) windowTitle() string {
	if a.h.run == nil {
		return a.title
	}
	return a.title + " · " + clean(a.h.run.Data.Name)
}

// screen returns exactly the terminal's rows, each exactly as wide as it.
func (a *App) screen() []string {
	s := a.layout(a.zoomed)
	if len(s.places) == 0 {
		return a.th.tooSmall(a.width, a.height)
	}
	rows := make([]string, 0, a.height)
	rows = append(rows, a.header(a.width)...)
	if a.racing() {
		rows = append(rows, a.race.draw(&a.view, a.width, a.height-s.header.h-footerRows)...)
	} else {
		rows = append(rows, a.body(&s)...)
	}
	rows = append(rows, a.footer(a.width))
	if a.overlay != nil {
		lay(rows[:a.height-footerRows], a.overlay.draw(a, a.width, a.height-footerRows), a.width)
	}
	return rows
}

// body joins the panes' rows. A layout is made of bands, so panes of a row of cells are in order.
func (a *App) body(s *screenLayout) []string {
	a.stale = false
	rowsOf := make([][]string, len(s.places))
	for i := range s.places {
		rowsOf[i] = a.pane(&s.places[i])
	}
	rows := make([]strings.Builder, s.h-s.header.h-footerRows)
	for y := range rows {
		for x := 0; x < s.w; {
			next := s.w
			for i := range s.places {
				p := &s.places[i]
				if p.contains(x, y+s.header.h) {
					rows[y].WriteString(rowsOf[i][y+s.header.h-p.y])
					next = p.x + p.w
					break
				}
			}
			x = next
		}
	}
	out := make([]string, len(rows))
	for y := range rows {
		out[y] = rows[y].String()
	}
	return out
}

// tooSmall says what the screen needs, in whatever room there is.
func (t *theme) tooSmall(w, h int) []string {
	rows := make([]string, h)
	texts := []string{"newtop needs 60 × 16", "this is " + count(w) + " × " + count(h)}
	for i := range rows {
		l := t.line(w)
		if k := i - (h-len(texts))/2; k >= 0 && k < len(texts) {
			l.to((w-cells(texts[k]))/2).put(tokMuted, texts[k])
		}
		rows[i] = l.full()
	}
	return rows
}
