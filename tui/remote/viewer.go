package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard"
	"newtop/tui/render"
	"newtop/tui/screen"
)

// show shows the run to a viewer until they quit, their connection ends or ctx does. A screen that breaks is logged,
// and ends alone.
func (s *Server) show(ctx context.Context, g *viewer) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &render.PanicError{Value: v, Stack: debug.Stack()}
		}
		var broke *render.PanicError
		if errors.As(err, &broke) {
			s.log.Error("a screen broke", "name", g.info.Name, "key", g.info.Key, "why", broke.Value, "stack",
				string(broke.Stack))
			err = errors.New("newtop: this screen broke, and the server's log says how; the run goes on")
		}
	}()
	if dumb(g.environ) {
		return errors.New(
			"newtop: the screen needs a terminal that moves its cursor, and TERM says dumb; ssh HOST status says how " +
				"the run is")
	}
	feed := &steered{Feed: s.common.Feed(), viewer: g.info, room: s.room, saves: s.o.Saves, log: s.log}
	defer feed.Close()
	defer s.room.join(g.info)()
	err = dashboard.RunViewer(ctx, s.common, feed, s.screen(g))
	if ctx.Err() != nil {
		fmt.Fprintf(g.out, "newtop: %s\n", clean(context.Cause(ctx).Error(), longestLine))
	}
	return err
}

// screen are the options of a viewer's screen.
func (s *Server) screen(g *viewer) screen.Options {
	o := s.o.UI
	o.Viewer = &screen.Viewer{Name: g.info.Name, Control: g.info.Control, Saves: s.o.Saves}
	o.Input, o.Output, o.Environ = &typed{Reader: g.in}, g.out, g.environ
	o.Size, o.Resizes = g.size, g.resizes
	o.Preferences, o.Pictures = "", ""
	if g.info.Control {
		o.Pictures = s.o.Saves
	}
	return o
}

// dumb reports whether a terminal can't show a screen.
func dumb(environ []string) bool { return slices.Contains(environ, "TERM=dumb") }

var _ feed.Feed = (*steered)(nil)

// viewer is one who was let in, with a terminal.
type viewer struct {
	info    event.Viewer
	environ []string // TERM, and of what the client sent what a screen may see: COLORTERM, LANG, LC_*, NO_COLOR
	size    screen.Size
	resizes <-chan screen.Size // bounded by Limits.Size
	in      io.Reader
	out     io.Writer           // fails once the client has taken nothing for Limits.Stall
	hangUp  func(reason string) // ends the connection; the log says why
}
