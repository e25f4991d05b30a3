// Package desk is the root model of a run's screen: it takes in a feed, divides the screen among panes, and sends
// commands. What stands above it, the race, the bar of a watched run and the dialogs, it knows by what it calls of
// them.
//
// Panes draw from a history that only grows by Deltas, and keep their picture until what they show has changed, so that
// a key, a resize or a quiet run costs next to nothing.
package desk

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
	H      *history.History
	Panes  []pane.Pane
	cached []pane.Cache
	Above
	Methods []*optim.Info
	opened

	pace
	viewing
	// counts what may have spoilt the terminal: its sizes, and wishes to see it drawn again
	Redraws int

	Focus    layout.ID
	Zoomed   bool
	Dialog   screen.Dialog[*App] // nil for none
	record   recordState
	Stopping bool // Stop was asked for, and the program ends with the run
	leaving  bool // who pressed q is told so, and may press again
	Closed   bool // nothing more comes from the feed
	ReadOnly bool

	Clock   func() time.Time
	trained trainedClock
}

// Above is what stands above the root model and is called by it.
type Above struct {
	Bindings  []*screen.Binding[*App]
	Race      Mode
	Bar       Bar
	Observers []Observer
	// Touched follows a key and what the mouse did to a dialog.
	Touched func(*App) tea.Cmd
	// Caption is a sentence below the header, empty for none.
	Caption string
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
	DataSets []string
	Browse   func() (screen.Layer, func(), error)
	Machine  func(context.Context) (host.Sample, error) // nil: the state of the machine is not shown
	Program  bool                                       // a watched program ends with the screen
	First    bool                                       // ? begins the tour
}

// viewing is what the screen of a viewer has.
type viewing struct {
	Viewer *screen.Viewer // nil: it is the owner's
	budget *render.Budget
	Common *Common            // that the history is of; nil: it is this screen's own
	own    [layout.Panes]bool // panes that something was done to, so that they are not drawn as everybody's
}

// NewApp returns the root model for a feed. Whoever runs it in a program of their own must Close it at the end.
func NewApp(feed feed.Feed, o *screen.Options, methods []*optim.Info, above Above) *App {
	a := &App{
		Base:    screen.NewBase(o),
		H:       &history.History{},
		Panes:   NewPanes(),
		Methods: methods,
		Above:   above,
		opened:  opened{DataSets: o.DataSets, Browse: o.Browse, Machine: o.Machine, Program: o.Program, First: o.First},
		viewing: viewing{Viewer: o.Viewer},
		Clock:   time.Now,
	}
	a.cached = make([]pane.Cache, len(a.Panes))
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

// OnlyViews reports whether the screen is that of a viewer who may look and no more.
func (a *App) OnlyViews() bool { return a.Viewer != nil && !a.Viewer.Control }

// PaneView is what panes are drawn from.
func (a *App) PaneView() *pane.View {
	return &pane.View{Pen: a.Pen, H: a.H, Viewer: a.OnlyViews(), Accuracy: a.ShowsAccuracy()}
}

// ShowsAccuracy reports whether errors are shown as accuracies: as the user chose, or else where a log has such.
func (a *App) ShowsAccuracy() bool {
	return a.Accurate(pane.LogsAccuracy(a.H))
}

// Join has a screen show the common history.
func (a *App) Join(c *Common) {
	defer c.Lock()()
	a.Common, a.H = c, c.h
}
