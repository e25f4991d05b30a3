package dashboard

import (
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// receive takes in what came and waits for more.
func (a *App) receive(msg deltaMsg) tea.Cmd {
	if msg.err != nil {
		return a.lost(msg.err)
	}
	_, reading := a.h.Loading()
	noted := a.accept(&msg.delta)
	if _, still := a.h.Loading(); reading && !still {
		a.Changes++ // nothing holds back the picture of the whole
	}
	switch {
	case a.stopping && a.h.Done != nil:
		return tea.Quit
	case a.h.Done != nil && !a.h.Watched():
		return tea.Batch(a.wait(0), noted)
	}
	shareBudget(a)
	return tea.Batch(a.wait(a.pause), a.tick(), redraw(a), noted)
}

// accept takes in a Delta, and returns what those who follow the feed have to say.
func (a *App) accept(d *feed.Delta) tea.Cmd {
	a.trained.heard = a.clock()
	if a.common == nil {
		a.h.Apply(d)
		a.h.Heard(a.trained.heard)
	} else {
		a.trained.heard = a.common.heard
	}
	a.trained.shown = d.Status.Elapsed
	if a.focus == layout.Loss && !a.zoomed && a.h.MetricsOnly() && isBlank(a, layout.Loss) {
		a.focus = layout.Metrics // the run tells other things
	}
	followRecording(a, &d.Status.Recording)
	if d.Restart {
		for _, p := range a.panes {
			if r, ok := p.(pane.Restarter); ok {
				r.Restart()
			}
		}
	}
	noted := []tea.Cmd{a.Bar.Delta(a, d)}
	for _, o := range a.Observers {
		noted = append(noted, o.Delta(a, d))
	}
	return tea.Batch(noted...)
}

// lost notes that nothing more will come.
func (a *App) lost(err error) tea.Cmd {
	if a.ctx.Err() != nil {
		return nil
	}
	a.closed = true
	if !errors.Is(err, io.EOF) {
		text := style.Clean(err.Error())
		a.say(style.Bad, "feed: "+text)
		a.Note(style.Bad, text)
	}
	if a.stopping {
		return tea.Quit
	}
	return nil
}

// say adds a line to the log. A history that others have too gets none: a note tells this viewer.
func (a *App) say(t style.Token, text string) {
	if a.common == nil {
		a.h.Log.Say(a.h.Status.Epoch, t, "%s", text)
	}
}

// take makes a pane this screen's own, to which something is about to be done. What is done may be about what it drew
// last.
func (a *App) take(id layout.ID) {
	if a.common == nil || a.own[id] {
		return
	}
	a.own[id] = true
	s := division(a, a.zoomed)
	for i := range s.Places {
		if s.Places[i].Pane == id {
			drawPane(a, &s.Places[i])
		}
	}
}

// command sends something to the run.
func (a *App) command(c event.Command) tea.Cmd {
	cmd, ok := a.do(c)
	if !ok {
		return a.Tell(style.Warn, "the run has not answered yet")
	}
	return cmd
}

// replied sees to what was refused, and sends the next command.
func (a *App) replied(msg replyMsg) tea.Cmd {
	next := a.answered()
	if msg.err == nil || a.ctx.Err() != nil {
		return next
	}
	text := style.Clean(msg.err.Error())
	if errors.Is(msg.err, feed.ErrReadOnly) {
		a.readOnly = true
	}
	if !errors.Is(msg.err, feed.ErrReadOnly) && !errors.Is(msg.err, feed.ErrEnded) && !a.h.Watched() {
		text = "refused: " + text
		if a.h.Status.Audience == nil { // else it comes as a action
			a.say(style.Warn, text)
		}
	}
	return tea.Batch(next, a.Tell(style.Warn, text))
}

// askForPane asks the run for what the pane that has the whole screen wants to show, or one of several at a glance.
func (a *App) askForPane() tea.Cmd {
	if a.busy || racing(a) || unchangeable(a) != "" {
		return nil
	}
	if !a.zoomed {
		return a.askAtAGlance()
	}
	p, ok := a.panes[a.focus].(pane.Asker)
	if !ok {
		return nil
	}
	a.take(a.focus)
	if c := p.Ask(a.h); c != nil {
		return a.command(c)
	}
	return nil
}

func (a *App) askAtAGlance() tea.Cmd {
	for _, place := range division(a, false).Places {
		if p, ok := a.panes[place.Pane].(pane.Glancer); ok && !place.Bare {
			if c := p.Glance(a.h); c != nil {
				return a.command(c)
			}
		}
	}
	return nil
}

// quit leaves a run that is another's alone. Its own run it stops first,
// and leaves when that has ended; asked again, it leaves at once.
func (a *App) quit() tea.Cmd {
	if a.program && !a.leaving && !a.h.Over() && a.viewer == nil {
		a.leaving = true
		return a.later(leavePatience, stayMsg{})
	}
	if a.viewer != nil || !steerable(a) || a.h.Over() {
		return tea.Quit
	}
	a.stopping = true
	return a.stop()
}

// leavePatience is for how long a second q ends a program.
const leavePatience = 3 * time.Second

// stayMsg ends it.
type stayMsg struct{}

// stopped follows the answer to Stop.
func (a *App) stopped(err error) tea.Cmd {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, feed.ErrReadOnly), errors.Is(err, feed.ErrEnded), a.ctx.Err() != nil:
		return tea.Quit
	}
	a.stopping = false
	return a.Tell(style.Warn, "refused: "+style.Clean(err.Error()))
}

type tickMsg struct{}

// tick moves the clock on, twice a second where news come as often, and only while a run is running here: that of a
// record is the record's.
func (a *App) tick() tea.Cmd {
	if a.h.Status.Phase != event.Running || a.h.Offline() || a.closed || a.trained.ticking {
		return nil
	}
	a.trained.ticking = true
	return a.later(max(500*time.Millisecond, 2*a.every), tickMsg{})
}

// elapsed is the training time now: what the status said, and what has gone by since.
func (a *App) elapsed() float64 {
	if a.h.Status.Phase != event.Running || a.h.Offline() || a.closed || a.h.Status.Computing != "" {
		return a.trained.shown
	}
	return a.trained.shown + max(0, a.clock().Sub(a.trained.heard).Seconds())
}

// zoom gives the focused pane the whole screen, or takes it back.
func (a *App) zoom(on bool) tea.Cmd {
	a.zoomed = on
	return nil
}

// mouse gives what the mouse does to the pane that has the whole screen, or focuses the one that was clicked.
func (a *App) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if _, ok := msg.(tea.MouseClickMsg); ok {
		if cmd, taken := a.Bar.Click(a, m.X, m.Y); taken {
			return cmd
		}
	}
	if p, ok := a.panes[a.focus].(pane.Moused); ok && a.zoomed && a.dialog == nil && !racing(a) {
		for _, at := range division(a, true).Places {
			if !at.Contains(m.X, m.Y) {
				continue
			}
			a.take(a.focus)
			if p.HandleMouse(a.paneView(), msg, m.X-at.X-2, m.Y-at.Y-1) {
				a.Changes++
				return nil
			}
		}
	}
	if _, ok := msg.(tea.MouseClickMsg); ok {
		a.click(m.X, m.Y)
	}
	return nil
}

// click focuses the pane at a cell.
func (a *App) click(x, y int) {
	if a.dialog != nil || racing(a) {
		return
	}
	for _, p := range division(a, a.zoomed).Places {
		if p.Contains(x, y) {
			a.focus = p.Pane
		}
	}
}
