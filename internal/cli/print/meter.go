package print

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"newtop/trainer/event"
)

// How often a meter is drawn, and how often it says a line where it can't be.
const (
	meterRedraw = 200 * time.Millisecond
	meterLine   = 30 * time.Second
)

// Meter shows how far something is: on a terminal as a bar in one line, elsewhere as a line now and then. It is used
// from one goroutine at a time.
type Meter struct {
	out      io.Writer
	terminal *os.File // nil: none that can be drawn on
	started  time.Time
	next     time.Time // not drawn before
	drawn    bool      // a bar stands on the terminal
}

// NewMeter returns the meter of something that begins now.
func NewMeter(out io.Writer, now time.Time) *Meter {
	m := &Meter{out: out, started: now, next: now}
	if f, ok := Drawable(out); ok {
		m.terminal = f
	} else {
		m.next = now.Add(meterLine)
	}
	return m
}

// Drawable returns what out writes to if that is a terminal that can be drawn on.
func Drawable(out io.Writer) (f *os.File, ok bool) {
	f, ok = File(out)
	return f, ok && term.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
}

// Show says that share of all, 0…1, is done, and what is being done now.
func (m *Meter) Show(now time.Time, share float64, what string) {
	if now.Before(m.next) {
		return
	}
	share = min(max(share, 0), 1)
	if m.terminal == nil {
		m.next = now.Add(meterLine)
		fmt.Fprintf(m.out, "newtop: %.0f %% after %s: %s\n", 100*share,
			Elapsed(event.Float(now.Sub(m.started).Seconds())), Printable(what))
		return
	}
	m.next = now.Add(meterRedraw)
	m.drawn = true
	fmt.Fprint(m.terminal, "\r"+meterText(Width(m.terminal), share, now.Sub(m.started), what)+"\x1b[K")
}

// End takes the bar away.
func (m *Meter) End() {
	if m.drawn {
		fmt.Fprint(m.terminal, "\r\x1b[K")
		m.drawn = false
	}
}

// meterText returns the bar in less than a width, so that the cursor stays in its line.
func meterText(width int, share float64, since time.Duration, what string) string {
	const bar = 20
	full := int(share*bar + 0.5)
	text := fmt.Sprintf("%s%s %3.0f %%  ", strings.Repeat("█", full), strings.Repeat("░", bar-full), 100*share)
	const soon = 3 * time.Second // before that nothing is known of the pace
	if share > 0.01 && since > soon {
		text += Elapsed(event.Float(since.Seconds()*(1-share)/share)) + " left  "
	}
	return ansi.Truncate(text+Printable(what), max(width-1, 0), "…")
}
