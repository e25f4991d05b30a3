// Package tuning is the screen of a search for settings: its trials, how far it is, and what it found that matters.
package tuning

import (
	"context"
	"strings"
	"time"

	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/chart"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// Search is a search under way, as Tune shows it; tune.Search is one.
type Search interface {
	// Wait blocks until there is a newer Leaderboard than seen; io.EOF after the last one was seen.
	Wait(ctx context.Context, seen *tune.Leaderboard) (*tune.Leaderboard, error)
	// Leaderboard is the latest one.
	Leaderboard() *tune.Leaderboard
	// Stop ends the search in order, without waiting for it.
	Stop()
}

// Opener opens the screen of a trial's run; closed is called when that was left.
type Opener func(ctx context.Context, t *tune.Trial) (l screen.Layer, closed func(), err error)

// model is the root model of Tune. It waits for one Leaderboard at a time: a terminal that does not read stops the
// waiting, and nobody else. Between Boards only the clock moves, once a second while the search is under way.
type model struct {
	screen.Base
	search   Search
	open     Opener
	bindings []*screen.Binding[*model]

	standing
	listing
	charts  charts
	focus   layout.ID
	side    layout.ID // the chart that a small screen shows
	zoomed  bool
	dialog  screen.Dialog[*model]
	slots   []layout.Slot // of what is on the screen
	err     error         // why nothing more comes from the search, if that is not its end
	ended   bool          // nothing more comes
	leaving bool          // the search was stopped, and the program ends with it

	now      func() time.Time
	received time.Time // when the latest Leaderboard came
	ticking  bool
}

// underway reports whether the search continues.
func (m *model) underway() bool {
	return !m.ended && m.leaderboard.Phase != "done" && m.leaderboard.Phase != "stopped"
}

// elapsed are the search's own seconds now: what the Leaderboard said, and what has gone by since.
func (m *model) elapsed() float64 {
	s := m.leaderboard.Seconds
	if m.underway() && len(m.leaderboard.Trials) > 0 {
		s += max(0, m.now().Sub(m.received).Seconds())
	}
	return s
}

// text writes a value of the measure.
func (m *model) text(v float64) string { return m.widthText(m.shown(v)) }

// widthText writes how far values of the measure are apart.
func (m *model) widthText(v float64) string {
	if m.leaderboard.Share() {
		return format.Percent(v)
	}
	return format.Number(v)
}

// measure names what trials are judged by.
func (m *model) measure() string {
	switch name := style.Clean(m.leaderboard.Measure); {
	case name == "":
		return "measure"
	case m.accurate():
		return strings.Replace(name, "error", "accuracy", 1)
	default:
		return name
	}
}

// accurate reports whether errors are shown as accuracies.
func (m *model) accurate() bool { return m.leaderboard.Share() && m.Accurate(false) }

// shown is a value of the measure as it is written.
func (m *model) shown(v float64) float64 {
	if m.accurate() {
		return 1 - v
	}
	return v
}

// targetText writes the target as short as it is round.
func (m *model) targetText() string {
	return format.Target(m.shown(m.leaderboard.Target), m.leaderboard.Share())
}

// counts names what trials count: a program's the steps of its log.
func (m *model) counts() string {
	if m.leaderboard.Program != nil {
		return "step"
	}
	return "epoch"
}

// goal is what the trials are judged by.
func (m *model) goal() string {
	if m.leaderboard.Target > 0 {
		return "time to " + m.targetText() + " " + m.measure()
	}
	return m.measure()
}

// charts is how the charts of a search are drawn, and where.
type charts struct {
	work     bool            // x are gradient equivalents instead of seconds
	measure  bool            // values are the measure, although some trial reached the target
	parallel bool            // parallel coordinates stand in the place of the slice
	linear   [tunePanes]bool // y
	dim      string          // that the slice is over; empty: that which matters most
	chart    [tunePanes]chart.Canvas
	dots     [tunePanes]drawnDots
	blocks   chart.Blocks // of the curves in the table
	matters  layout.Rect  // where the shares stand
	shares   []string     // the dimension of each of its rows
	layers   []int        // the listed trials, in the order in which they are drawn
}

// drawnDots are the trials that a chart drew as dots, for the mouse.
type drawnDots struct {
	at     layout.Rect // of the chart
	cells  [][2]int    // in it
	trials []int       // their indices
}
