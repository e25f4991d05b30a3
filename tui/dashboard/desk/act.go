package desk

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
func (a *App) receive(msg DeltaMsg) tea.Cmd {
	if msg.Err != nil {
		return a.lost(msg.Err)
	}
	noted := a.accept(&msg.Delta)
	switch {
	case a.Stopping && a.H.Done != nil:
		return tea.Quit
	case a.H.Done != nil && !a.H.Watched():
		return tea.Batch(a.Wait(0), noted)
	}
	shareBudget(a)
	return tea.Batch(a.Wait(a.pause), tick(a), redraw(a), noted)
}

// accept takes in a Delta, and returns what those who follow the feed have to say.
func (a *App) accept(d *feed.Delta) tea.Cmd {
	a.trained.received = a.Clock()
	if a.Common == nil {
		a.H.Apply(d)
		a.H.Received(a.trained.received)
	} else {
		a.trained.received = a.Common.received
	}
	a.trained.shown = d.Status.Elapsed
	if a.Focus == layout.Loss && !a.Zoomed && a.H.MetricsOnly() && isBlank(a, layout.Loss) {
		if a.Focus = layout.Metrics; isBlank(a, layout.Metrics) { // the run reports other things
			a.Focus = layout.Accuracy
		}
	}
	followRecording(a, &d.Status.Recording)
	if d.Restart {
		for _, p := range a.Panes {
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
	a.Closed = true
	if !errors.Is(err, io.EOF) {
		text := style.Clean(err.Error())
		a.Say(style.Bad, "feed: "+text)
		a.Note(style.Bad, text)
	}
	if a.Stopping {
		return tea.Quit
	}
	return nil
}

// Say adds a line to the log. A history that others have too gets none: a note tells this viewer.
func (a *App) Say(t style.Token, text string) {
	if a.Common == nil {
		a.H.Log.Say(a.H.Status.Epoch, t, "%s", text)
	}
}

// Claim makes a pane this screen's own, to which something is about to be done. What is done may be about what it drew
// last.
func (a *App) Claim(id layout.ID) {
	if a.Common == nil || a.own[id] {
		return
	}
	a.own[id] = true
	s := Division(a, a.Zoomed)
	for i := range s.Slots {
		if s.Slots[i].Pane == id {
			drawPane(a, &s.Slots[i])
		}
	}
}

// Send sends something to the run.
func (a *App) Send(c event.Command) tea.Cmd {
	cmd, ok := a.do(c)
	if !ok {
		return a.Notify(style.Warn, "the run has not answered yet")
	}
	return cmd
}

// replied sees to what was refused, and sends the next command.
func (a *App) replied(msg ReplyMsg) tea.Cmd {
	next := a.answered()
	if msg.Err == nil || a.ctx.Err() != nil {
		return next
	}
	text := style.Clean(msg.Err.Error())
	if errors.Is(msg.Err, feed.ErrReadOnly) {
		a.ReadOnly = true
	}
	if !errors.Is(msg.Err, feed.ErrReadOnly) && !errors.Is(msg.Err, feed.ErrEnded) && !a.H.Watched() {
		text = "refused: " + text
		if a.H.Status.Audience == nil { // else it comes as a action
			a.Say(style.Warn, text)
		}
	}
	return tea.Batch(next, a.Notify(style.Warn, text))
}

// askForPane asks the run for what the pane that has the whole screen wants to show, or one of several at a glance.
func (a *App) askForPane() tea.Cmd {
	if a.Busy || Racing(a) {
		return nil
	}
	if !a.Zoomed {
		return a.askAtAGlance()
	}
	p, ok := a.Panes[a.Focus].(pane.Asker)
	if !ok || !isAnswered(a, a.Focus) {
		return nil
	}
	a.Claim(a.Focus)
	if c := p.Ask(a.H); c != nil {
		return a.Send(c)
	}
	return nil
}

// isAnswered reports whether anybody answers what a pane asks: what a log has of images is there though nobody trains.
func isAnswered(a *App, id layout.ID) bool {
	return Unchangeable(a) == "" || id == layout.Images && !a.Closed
}

func (a *App) askAtAGlance() tea.Cmd {
	for _, place := range Division(a, false).Slots {
		if p, ok := a.Panes[place.Pane].(pane.Glancer); ok && !place.Bare && isAnswered(a, place.Pane) {
			if c := p.Glance(a.H); c != nil {
				return a.Send(c)
			}
		}
	}
	return nil
}

// Quit leaves a run that is another's alone. Its own run it stops first,
// and leaves when that has ended; asked again, it leaves at once.
func (a *App) Quit() tea.Cmd {
	if a.Program && !a.leaving && !a.H.Over() && a.Viewer == nil {
		a.leaving = true
		return a.later(leavePatience, stayMsg{})
	}
	if a.Viewer != nil || !Steerable(a) || a.H.Over() {
		return tea.Quit
	}
	a.Stopping = true
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
	a.Stopping = false
	return a.Notify(style.Warn, "refused: "+style.Clean(err.Error()))
}

// mouse gives what the mouse does to the pane that has the whole screen, or focuses the one that was clicked.
func (a *App) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if _, ok := msg.(tea.MouseClickMsg); ok {
		if cmd, taken := a.Bar.Click(a, m.X, m.Y); taken {
			return cmd
		}
	}
	if p, ok := a.Panes[a.Focus].(pane.Moused); ok && a.Zoomed && a.Dialog == nil && !Racing(a) {
		for _, at := range Division(a, true).Slots {
			if !at.Contains(m.X, m.Y) {
				continue
			}
			a.Claim(a.Focus)
			if p.HandleMouse(a.PaneView(), msg, m.X-at.X-2, m.Y-at.Y-1) {
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
	if a.Dialog != nil || Racing(a) {
		return
	}
	for _, p := range Division(a, a.Zoomed).Slots {
		if p.Contains(x, y) {
			a.Focus = p.Pane
		}
	}
}
