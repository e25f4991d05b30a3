// Package dashboard is the screen of a run: it shows a feed and sends commands. It knows what a run looks like from
// outside, and none of its mathematics. It puts together the root model of desk, the keys, and what stands in front.
package dashboard

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/feed"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/dashboard/race"
	"newtop/tui/dashboard/replay"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// New returns the model for a feed. Whoever runs it in a program of their own must Close it at the end.
func New(feed feed.Feed, o screen.Options) *desk.App { return newApp(feed, o, methods.All()) }

func newApp(feed feed.Feed, o screen.Options, methods []*optim.Info) *desk.App {
	s, b := &dialogs.Saves{}, &replay.Bar{}
	c := &choices{saves: s}
	t := newTour(o.Tour)
	a := desk.NewApp(feed, &o, methods, desk.Above{
		Bindings:  bindings(s, b),
		Race:      race.New(),
		Bar:       b,
		Observers: []desk.Observer{s, t},
		Touched: func(a *desk.App) tea.Cmd {
			t.end(a)
			return a.Prefs.Notice(c.now(a))
		},
		Other: func(a *desk.App, msg tea.Msg) tea.Cmd {
			if msg, ok := msg.(sceneMsg); ok {
				return t.show(a, int(msg))
			}
			return other(a, msg)
		},
	})
	c.recall(a, &o)
	a.Restyle()
	return a
}

// other acts on messages that are no news of the run.
func other(a *desk.App, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.PictureMsg:
		return pictureWritten(a, msg)
	case screen.StoredMsg:
		return stored(a, msg)
	case unopenedMsg:
		return a.Notify(style.Warn, style.Clean(msg.err.Error()))
	}
	return a.Handle(msg)
}

// Run shows a feed until the user quits, the context ends or the program fails, and restores the
// terminal on every way out, a panic included. It returns the context's error if that ended it. Signals
// are the caller's: they are expected to end the context.
func Run(ctx context.Context, feed feed.Feed, o screen.Options) error {
	if o.Viewer != nil {
		return runViewer(ctx, New(feed, o), o)
	}
	return runApp(ctx, New(feed, o), o)
}

func runApp(ctx context.Context, a *desk.App, o screen.Options) error {
	a.Throttle()
	return screen.NewStack(a).Run(ctx, o)
}

// Layer returns the screen of a feed to stand over another one. The feed stays open.
func Layer(feed feed.Feed, o screen.Options) screen.Layer {
	a := New(feed, o)
	a.Throttle()
	return a
}

// RunViewer shows a run to one of the viewers who have a history in common, like Run. The feed is one of the Common, or
// leads to one.
func RunViewer(ctx context.Context, c *desk.Common, f feed.Feed, o screen.Options) error {
	o.Budget = c.Budget()
	a := New(f, o)
	a.Join(c)
	return runViewer(ctx, a, o)
}
