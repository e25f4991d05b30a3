package remote

import (
	"io"

	"newtop/trainer/event"
	"newtop/tui/screen"
)

// guest is one who was let in, with a terminal.
type guest struct {
	viewer  event.Viewer
	environ []string // TERM, and of what the client sent what a screen may see: COLORTERM, LANG, LC_*, NO_COLOR
	size    screen.Size
	resizes <-chan screen.Size // bounded by Limits.Size
	in      io.Reader
	out     io.Writer        // fails once the client has taken nothing for Limits.Stall
	hangUp  func(why string) // ends the connection; the log says why
}
