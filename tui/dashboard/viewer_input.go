package dashboard

import (
	"context"
	"io"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"newtop/internal/routine"
	"newtop/tui/render"
	"newtop/tui/style"
)

// A viewer's keys are parsed here and not in the goroutines that Bubble Tea has for it: what breaks there ends the
// process, and with it the run.

// parser turns what is typed into events, until the input or the context ends. It closes nothing.
type parser func(ctx context.Context, events chan<- uv.Event) error

// parserOf is the parser of Bubble Tea.
func parserOf(in io.Reader, environ []string) parser {
	return uv.NewTerminalReader(guarded{in}, style.Lookup(environ, "TERM")).StreamEvents
}

// listen sends a program what its viewer types. An input or a parser that breaks ends the program.
func listen(ctx context.Context, parse parser, send func(tea.Msg)) {
	defer func() {
		if v := recover(); v != nil {
			send(failedMsg{&render.PanicError{Value: v, Stack: debug.Stack()}})
		}
	}()
	events := make(chan uv.Event)
	defer close(events)
	routine.Go(func() {
		for e := range events {
			if msg := typedMsg(e); msg != nil {
				send(msg)
			}
		}
	})
	if err := parse(ctx, events); err != nil && ctx.Err() == nil {
		send(failedMsg{err})
	}
}

// typedMsg is an event as a message, nil for one that no screen listens to.
func typedMsg(e uv.Event) tea.Msg {
	switch e := e.(type) {
	case uv.KeyPressEvent:
		return tea.KeyPressMsg(e)
	case uv.MouseClickEvent:
		return tea.MouseClickMsg(e)
	case uv.MouseMotionEvent:
		return tea.MouseMotionMsg(e)
	case uv.MouseReleaseEvent:
		return tea.MouseReleaseMsg(e)
	case uv.MouseWheelEvent:
		return tea.MouseWheelMsg(e)
	case uv.PasteEvent:
		return tea.PasteMsg(e)
	case uv.BackgroundColorEvent:
		return tea.BackgroundColorMsg(e)
	}
	return nil
}

// guarded is a reader that breaks with an error: the parser reads it in a goroutine of its own.
type guarded struct{ io.Reader }

func (g guarded) Read(p []byte) (n int, err error) {
	defer func() {
		if v := recover(); v != nil {
			n, err = 0, &render.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return g.Reader.Read(p)
}
