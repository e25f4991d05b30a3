package screen

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/routine"
	"newtop/tui/style"
)

// How often the screen changes. What a run does is gathered for an interval; a key does not wait for it. How many
// frames there are a second at most bounds how long a key takes to show, and what a held one may cost.
const (
	RemoteInterval = 100 * time.Millisecond // of the run's news over SSH
	localFPS       = 120                    // a key shows within 9 ms of the frame before
	remoteFPS      = 30
	motionPause    = 33 * time.Millisecond // the least time between two motions of the mouse
	resizePause    = 60 * time.Millisecond // how long a size must stand in a storm of resizes

	// The largest screen that is drawn, beyond any monitor's: what a terminal has more stays empty. Bubble Tea looks at
	// every cell before it takes the next key.
	maxColumns = 1000
	maxRows    = 300
)

// Remote reports whether a terminal is at the other end of an SSH connection.
func Remote(environ []string) bool {
	return style.Lookup(environ, "SSH_TTY") != "" || style.Lookup(environ, "SSH_CONNECTION") != ""
}

// frames is the rate of flushes for an environment, or what was asked for.
func frames(asked int, environ []string) int {
	switch {
	case asked > 0:
		return min(asked, 120)
	case Remote(environ):
		return remoteFPS
	}
	return localFPS
}

// Debouncer thins what a terminal sends in storms, before anything is drawn for it: motions of the mouse, of which
// the release brings the last place, and sizes while a window is dragged, of which the last one is drawn.
type Debouncer struct {
	Now   func() time.Time
	Send  func(tea.Msg) // into the program, from another goroutine
	moved time.Time
	sized time.Time
	size  *tea.WindowSizeMsg // that waits until no other comes
	turn  int
}

// stillMsg says that no size came for a while.
type stillMsg int

// Filter is Bubble Tea's filter: it returns the message that takes msg's place, or nil. The program's one
// goroutine calls it.
func (c *Debouncer) Filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.MouseMotionMsg:
		if c.Now().Sub(c.moved) < motionPause {
			return nil
		}
		c.moved = c.Now()
	case tea.WindowSizeMsg:
		msg.Width, msg.Height = min(msg.Width, maxColumns), min(msg.Height, maxRows)
		quiet := c.Now().Sub(c.sized) >= resizePause
		c.sized = c.Now()
		if quiet && c.size == nil {
			return msg
		}
		c.size = &msg
		c.turn++
		turn := stillMsg(c.turn)
		time.AfterFunc(resizePause, routine.Guard(func() { c.Send(turn) }))
		return nil
	case stillMsg:
		if int(msg) != c.turn || c.size == nil {
			return nil
		}
		size := *c.size
		c.size = nil
		return size
	}
	return msg
}
