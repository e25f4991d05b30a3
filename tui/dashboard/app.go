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
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/render"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// App is the root model.
type App struct {
	screen.Base
	*bridge
	h      *history.History
	panes  []pane.Pane
	cached []pane.Cache
	Above
	methods []*optim.Info
	opened

	pace
	viewing
	// counts what may have spoilt the terminal: its sizes, and wishes to see it drawn again
	redraws int

	focus    layout.ID
	zoomed   bool
	dialog   screen.Dialog[*App] // nil for none
	record   recordState
	stopping bool // Stop was asked for, and the program ends with the run
	leaving  bool // who pressed q is told so, and may press again
	closed   bool // nothing more comes from the feed
	readOnly bool

	clock   func() time.Time
	trained trainedClock
}

// Above is what stands above the root model and is called by it.
type Above struct {
	Bindings  []screen.Binding[*App]
	Race      Mode
	Bar       Bar
	Observers []Observer
	// Touched follows a key and what the mouse did to a dialog.
	Touched func(*App) tea.Cmd
	// Other acts on a message that the root model does not know.
	Other func(*App, tea.Msg) tea.Cmd
}

// Mode takes the place of the panes while it is on, and has the keys before them.
type Mode interface {
	Press(a *App, k string) (cmd tea.Cmd, taken bool)
	Draw(v *pane.View, w, h int) []string
	Keys(a *App) []widget.Hint
}

// Bar shows where in a watched run its screen is.
type Bar interface {
	// Line draws the bar. named adds the method, which has no other place on a small screen.
	Line(a *App, w int, named bool) string
	// Hide notes that the bar is not drawn.
	Hide()
	// Click acts on a click on the bar; false: it was elsewhere.
	Click(a *App, x, y int) (tea.Cmd, bool)
	Observer
}

// Observer follows the feed.
type Observer interface {
	// Delta is called after the history has taken the Delta in.
	Delta(a *App, d *feed.Delta) tea.Cmd
}

// opened is what a screen was opened with.
type opened struct {
	dataSets []string
	browse   func() (screen.Layer, func(), error)
	machine  func(context.Context) (host.Sample, error) // nil: the state of the machine is not shown
	program  bool                                       // a watched program ends with the screen
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

// NewApp returns the root model for a feed. Whoever runs it in a program of their own must Close it at the end.
func NewApp(feed feed.Feed, o *screen.Options, methods []*optim.Info, above Above) *App {
	a := &App{
		Base:    screen.NewBase(o),
		h:       &history.History{},
		panes:   newPanes(),
		methods: methods,
		Above:   above,
		opened:  opened{dataSets: o.DataSets, browse: o.Browse, machine: o.Machine, program: o.Program},
		viewing: viewing{viewer: o.Viewer},
		clock:   time.Now,
	}
	a.cached = make([]pane.Cache, len(a.panes))
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
	return a
}

// Close ends what waits on the feed. The feed itself stays open.
func (a *App) Close() { a.Cancel() }

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
		a.redraws++
	case tea.KeyPressMsg:
		a.touched = a.clock()
		return a, tea.Batch(a.press(msg), a.Touched(a), a.askForPane())
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
			return a, tea.Batch(cmd, a.Touched(a), a.askForPane())
		}
		if msg, ok := msg.(tea.MouseWheelMsg); ok && racing(a) {
			return a, wheel(a, msg)
		}
		return a, a.mouse(msg)
	case deltaMsg:
		return a, tea.Batch(a.receive(msg), a.askForPane())
	case pane.AskMsg:
		if why := unsteerable(a); why != "" {
			return a, a.Tell(style.Warn, why)
		}
		return a, a.command(msg.Command)
	case replyMsg:
		return a, a.replied(msg)
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
	return a, a.Other(a, msg)
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
		if cmd, taken := a.Race.Press(a, k); taken {
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
	return screen.Press(a.Bindings, a, k)
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
		rows = append(rows, a.Race.Draw(a.paneView(), a.Width, a.Height-s.Header.H-layout.FooterRows)...)
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
