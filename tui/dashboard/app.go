// Package dashboard is the screen of a run: it shows a feed and sends commands. It knows what a run looks like from
// outside, and none of its mathematics.
//
// One root model gets every message and delegates. Panes draw from a history that only grows by Deltas, and keep their
// picture until what they show has changed, so that a key, a resize or a quiet run costs next to nothing.
package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	host "newtop/internal/machine"
	"newtop/trainer/feed"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/render"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// App is the root model.
type App struct {
	screen.Base
	*bridge
	h        *history.History
	bindings []screen.Binding[*App]
	panes    []pane.Pane
	kept     []pane.Cache
	picker   *picker

	pace
	viewing
	dataSets []string
	browse   func() (screen.Layer, func(), error)
	machine  func(context.Context) (host.Sample, error) // nil: how the machine does is not told
	// counts what may have spoilt the terminal: its sizes, and wishes to see it drawn anew
	anew int

	focus    layout.ID
	zoomed   bool
	dialog   screen.Dialog[*App] // nil for none
	race     raceView
	bar      replayBar
	saving   saving
	xAxes    []string // of each of the charted panes, when it was last asked
	record   recordState
	stopping bool // Stop was asked for, and the program ends with the run
	program  bool // a watched program ends with the screen
	leaving  bool // who pressed q is told so, and may press again
	closed   bool // nothing more comes from the feed
	readOnly bool

	clock   func() time.Time
	trained trainedClock
}

// viewing is what the screen of a viewer has.
type viewing struct {
	viewer *screen.Viewer // nil: it is the owner's
	budget *render.Budget
	common *Common            // that the history is of; nil: it is this screen's own
	own    [layout.Panes]bool // panes that something was done to, so that they are not drawn as everybody's
}

// trainedClock tells the seconds of training between two statuses.
type trainedClock struct {
	ticking bool      // a tickMsg is under way
	heard   time.Time // when the newest status came
	shown   float64   // elapsed seconds on the screen
}

// New returns the model for a feed. Whoever runs it in a program of their own must Close it at the end.
func New(feed feed.Feed, o screen.Options) *App { return newApp(feed, o, methods.All()) }

func newApp(feed feed.Feed, o screen.Options, methods []*optim.Info) *App {
	a := &App{
		Base:     screen.NewBase(&o),
		h:        &history.History{},
		bindings: bindings(),
		race:     raceView{keys: raceBindings()},
		panes:    newPanes(),
		picker:   newPicker(methods),
		dataSets: o.DataSets,
		browse:   o.Browse,
		program:  o.Program,
		machine:  o.Machine,
		viewing:  viewing{viewer: o.Viewer},
		clock:    time.Now,
	}
	a.kept = make([]pane.Cache, len(a.panes))
	a.own[layout.Machine] = true // what it shows is not in the history that others have too
	a.bridge = newBridge(a.Ctx, feed)
	if screen.Remote(o.Environ) || o.Viewer != nil {
		a.interval = screen.RemoteInterval
	}
	if o.Viewer != nil {
		o.Preferences, a.Environ = "", style.LocaleOf(o.Environ)
		a.budget = o.Budget
		a.Profile = style.ColorProfile(o.Environ)
	}
	recallPrefs(a, &o)
	a.Restyle()
	return a
}

// Close ends what waits on the feed. The feed itself stays open.
func (a *App) Close() { a.Cancel() }

// Run shows a feed until the user quits, the context ends or the program fails, and restores the
// terminal on every way out, a panic included. It returns the context's error if that ended it. Signals
// are the caller's: they are expected to end the context.
func Run(ctx context.Context, feed feed.Feed, o screen.Options) error {
	if o.Viewer != nil {
		return runViewer(ctx, New(feed, o), o)
	}
	return runApp(ctx, New(feed, o), o)
}

func runApp(ctx context.Context, a *App, o screen.Options) error {
	a.settle()
	return screen.NewStack(a).Run(ctx, o)
}

// Layer returns the screen of a feed to stand over another one. The feed stays open.
func Layer(feed feed.Feed, o screen.Options) screen.Layer {
	a := New(feed, o)
	a.settle()
	return a
}

// settle has curves be drawn rarer than news come.
func (a *App) settle() { a.hold, a.touched = patience(a.Environ), a.clock() }

// Init asks for the background and arms the wait for the first Delta.
func (a *App) Init() tea.Cmd {
	return tea.Batch(a.Opening(), a.wait(0), a.sampleMachine())
}

// Update delegates.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.anew++
	case tea.KeyPressMsg:
		a.touched = a.clock()
		return a, tea.Batch(a.press(msg), a.Prefs.Notice(preferences(a)), a.askForPane())
	case tea.PasteMsg:
		if a.dialog != nil {
			msg.Content = style.Clean(msg.Content)
			cmd, _ := screen.ToDialog(&a.dialog, a, msg)
			return a, cmd
		}
	case tea.MouseMsg:
		if a.dialog != nil {
			a.touched = a.clock()
			cmd := screen.MouseToDialog(&a.dialog, a, msg)
			return a, tea.Batch(cmd, a.Prefs.Notice(preferences(a)), a.askForPane())
		}
		if msg, ok := msg.(tea.MouseWheelMsg); ok && racing(a) {
			return a, wheel(a, msg)
		}
		return a, a.mouse(msg)
	case deltaMsg:
		return a, tea.Batch(a.receive(msg), a.askForPane())
	case unopenedMsg:
		return a, a.Tell(style.Warn, style.Clean(msg.err.Error()))
	case pane.AskMsg:
		if why := unsteerable(a); why != "" {
			return a, a.Tell(style.Warn, why)
		}
		return a, a.command(msg.Command)
	case replyMsg:
		return a, a.replied(msg)
	case screen.PictureMsg:
		return a, pictureWritten(a, msg)
	case screen.StoredMsg:
		return a, stored(a, msg)
	case stoppedMsg:
		return a, a.stopped(msg.err)
	case tickMsg:
		a.trained.ticking = false
		return a, a.tick()
	case machineMsg:
		return a, a.takeMachine(msg)
	case stayMsg:
		a.leaving = false
	case drawMsg:
		return a, redrawn(a)
	}
	return a, a.Handle(msg)
}

// press gives a key to the dialog in front, then to the table of bindings.
func (a *App) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch {
	case k == "ctrl+c" || k == "ctrl+z" || k == "ctrl+l":
	case a.dialog != nil:
		msg.Text = style.Clean(msg.Text)
		if cmd, passed := screen.ToDialog(&a.dialog, a, msg); !passed {
			return cmd
		}
	case racing(a):
		if cmd, taken := a.race.press(a, k); taken {
			return cmd
		}
	}
	if p, ok := a.panes[a.focus].(pane.Keyed); ok && a.zoomed && !racing(a) {
		if pane.Binds(p, k) {
			a.take(a.focus)
		}
		if cmd, taken := pane.Press(p, a.paneView(), k); taken {
			a.Changes++
			return cmd
		}
	}
	return screen.Press(a.bindings, a, k)
}

// View draws the screen from the panes' kept pictures.
func (a *App) View() tea.View {
	v := a.Base.View(a.screen(), a.windowTitle(), tea.MouseModeNone)
	v.MouseMode = a.mouseMode()
	return v
}

// mouseMode is what the terminal should tell of the mouse.
func (a *App) mouseMode() tea.MouseMode {
	if a.NoMouse {
		return tea.MouseModeNone
	}
	if _, ok := a.panes[a.focus].(pane.Moused); ok && a.zoomed {
		return tea.MouseModeAllMotion
	}
	return tea.MouseModeCellMotion
}

func (a *App) windowTitle() string {
	if a.h.Run == nil {
		return a.Title
	}
	return a.Title + " · " + style.Clean(a.h.Run.Data.Name)
}

// screen returns exactly the terminal's rows, each exactly as wide as it.
func (a *App) screen() []string {
	s := division(a, a.zoomed)
	if len(s.Places) == 0 {
		return strip(a)
	}
	rows := make([]string, 0, a.Height)
	rows = append(rows, header(a, a.Width)...)
	if racing(a) {
		rows = append(rows, a.race.draw(a.paneView(), a.Width, a.Height-s.Header.H-layout.FooterRows)...)
	} else {
		rows = append(rows, a.body(&s)...)
	}
	return a.Draw(rows, hints(a), screen.InFront(a.dialog, a))
}

// body joins the panes' rows.
func (a *App) body(s *layout.Screen) []string {
	a.stale = false
	drawn := make([][]string, len(s.Places))
	for i := range s.Places {
		drawn[i] = drawPane(a, &s.Places[i])
	}
	return layout.Join(s.Places, drawn, s.W, s.Header.H, s.H-s.Header.H-layout.FooterRows)
}

// paneView is what panes are drawn from.
func (a *App) paneView() *pane.View { return &pane.View{Pen: a.Pen, H: a.h, Viewer: a.onlooker()} }

// onlooker reports whether the screen is that of a viewer who may look and no more.
func (a *App) onlooker() bool { return a.viewer != nil && !a.viewer.Control }
