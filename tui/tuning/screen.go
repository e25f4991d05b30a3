package tuning

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Run shows a search until the user quits, the context ends or the program fails, and restores the terminal like Run. A
// user who quits while it is under way stops it first, and Tune returns when its last Leaderboard was seen, or at once
// if asked a third time. The search itself is the caller's to run and to end.
func Run(ctx context.Context, s Search, open Opener, o screen.Options) error {
	return screen.NewStack(newTuning(s, open, o)).Run(ctx, o)
}

// clockMsg moves the clock on.
type clockMsg struct{}

// minPause is the least time between two Boards: it bounds what a fast search can cost the screen.
const minPause = 100 * time.Millisecond

// leaderboardMsg is what the search brought.
type leaderboardMsg struct {
	leaderboard *tune.Leaderboard
	err         error
}

// New returns the screen of a search that others are at, or that is over, to stand over another one. Leaving it stops
// nothing.
func New(s Search, open Opener, o screen.Options) screen.Layer { return newTuning(s, open, o) }

func newTuning(s Search, open Opener, o screen.Options) *model {
	m := &model{
		Base:     screen.NewBase(&o),
		search:   s,
		open:     open,
		bindings: bindings(),
		side:     tuneProgress,
		now:      time.Now,
	}
	_, ok, err := m.Prefer(&o)
	if err != nil {
		m.Note(style.Warn, "preferences: "+style.Clean(err.Error()))
	}
	if ok {
		m.Prefs.Start(m.preferences())
	}
	m.Restyle()
	b := s.Leaderboard()
	if b == nil {
		b = &tune.Leaderboard{}
	}
	m.apply(b)
	return m
}

// apply moves to a Leaderboard.
func (m *model) apply(b *tune.Leaderboard) {
	m.received = m.now()
	m.standing = newStanding(b)
	m.list(&m.standing)
}

// Init asks for the background and arms the wait for the first Leaderboard.
func (m *model) Init() tea.Cmd {
	return tea.Batch(m.Opening(), m.wait(0), m.tick())
}

// wait returns the command that waits for what is newer than the Leaderboard on the screen, after a pause.
func (m *model) wait(pause time.Duration) tea.Cmd {
	ctx, search, seen := m.Ctx, m.search, m.leaderboard
	return func() tea.Msg {
		if screen.After(ctx, pause, pause)() == nil {
			return nil
		}
		b, err := search.Wait(ctx, seen)
		return leaderboardMsg{b, err}
	}
}

// tick moves the clock on while the search is under way.
func (m *model) tick() tea.Cmd {
	if m.ticking || !m.underway() {
		return nil
	}
	m.ticking = true
	return screen.After(m.Ctx, time.Second, clockMsg{})
}

// Update delegates.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case leaderboardMsg:
		return m, m.receive(msg)
	case clockMsg:
		m.ticking = false
		return m, m.tick()
	case tea.KeyPressMsg:
		cmd := m.press(msg)
		return m, tea.Batch(cmd, m.Prefs.Notice(m.preferences()))
	case tea.PasteMsg:
		if m.filter.Typing {
			m.filter.Add(style.Clean(msg.Content))
			m.list(&m.standing)
		}
		return m, nil
	case tea.MouseMsg:
		if m.dialog != nil {
			cmd := screen.MouseToDialog(&m.dialog, m, msg)
			return m, tea.Batch(cmd, m.Prefs.Notice(m.preferences()))
		}
		m.mouse(msg)
		return m, nil
	}
	return m, m.Handle(msg)
}

// receive takes a Leaderboard and waits for the next one.
func (m *model) receive(msg leaderboardMsg) tea.Cmd {
	if msg.leaderboard != nil && msg.leaderboard != m.leaderboard {
		m.apply(msg.leaderboard)
	}
	if msg.err == nil && msg.leaderboard != nil {
		pause := minPause
		if screen.Remote(m.Environ) {
			pause *= 2
		}
		return tea.Batch(m.wait(pause), m.tick())
	}
	m.ended = true
	if msg.err != nil && !errors.Is(msg.err, io.EOF) && m.Ctx.Err() == nil {
		m.err = msg.err
	}
	if m.leaving {
		return tea.Quit
	}
	if _, asking := m.dialog.(*quitDialog); asking {
		m.dialog = nil
	}
	if m.leaderboard.Command == "" {
		return nil
	}
	return m.Notify(style.Good, "the search is over: c has the command")
}

// leave ends the program, with the search if that is still under way: it asks first, and once that is stopped it waits
// for nothing.
func (m *model) leave() tea.Cmd {
	_, asking := m.dialog.(*quitDialog)
	switch {
	case m.ended || m.leaving || m.Over:
		return tea.Quit
	case !asking:
		m.dialog, m.filter.Typing = &quitDialog{}, false
		return nil
	}
	m.dialog, m.leaving = nil, true
	search := m.search
	return func() tea.Msg { search.Stop(); return nil }
}

// View draws the screen.
func (m *model) View() tea.View {
	return m.Base.View(m.screen(), m.Title+" · tune "+style.Clean(m.leaderboard.Name), tea.MouseModeCellMotion)
}

// screen returns exactly the terminal's rows, each exactly as wide as it.
func (m *model) screen() []string {
	m.slots = arrange(m.Width, m.Height, m.focus, m.side, m.zoomed)
	if len(m.slots) == 0 {
		return m.Small(header(m, m.Width), m.hints(), screen.InFront(m.dialog, m))
	}
	layerTrials(m)
	rows := header(m, m.Width)
	drawn := make([][]string, len(m.slots))
	for i := range m.slots {
		drawn[i] = drawPane(m, &m.slots[i])
	}
	rows = append(rows, layout.Join(m.slots, drawn, m.Width, len(rows), m.Height-len(rows)-layout.FooterRows)...)
	rows = m.Draw(rows, m.hints(), screen.InFront(m.dialog, m))
	if m.filter.Typing {
		rows[len(rows)-1] = m.filter.Line(&m.Pen, m.Width, format.Count(len(m.rows))+" of "+format.Count(
			len(m.leaderboard.Trials)))
	}
	return rows
}

// preferences are the choices that the screen shows now. Those of other screens stay as they were.
func (m *model) preferences() screen.Preferences {
	p := m.Appearance()
	stored := m.Prefs.Stored()
	p.XAxis, p.Save = stored.XAxis, stored.Save
	return p
}

// drawPane draws one of them: exactly its rectangle.
func drawPane(m *model, p *layout.Slot) []string {
	at := layout.Rect{X: p.X + 2, Y: p.Y + 1, W: p.W - 4, H: p.H - 2}
	if p.Bare {
		at = layout.Rect{X: p.X + 1, Y: p.Y + 1, W: p.W - 1, H: p.H - 1}
	}
	var title []style.Part
	var rows []string
	switch p.Pane {
	case tuneTable:
		title, rows = drawTable(m, at)
	case tuneProgress:
		title, rows = drawProgress(m, at)
	case tuneCurves:
		title, rows = drawCurves(m, at)
	case tuneSlice:
		title, rows = drawSlice(m, at)
	case tuneMatters:
		title, rows = drawMatters(m, at)
	case tuneDetails:
		title, rows = []style.Part{style.Strong.Of("selected")}, details(m, at.W)
	}
	rows = style.Block(rows, at.W, at.H)
	if !p.Bare {
		color := style.Border
		if p.Pane == m.focus {
			color, title[0].Token = style.Focus, style.Focus
		}
		return widget.Framed(&m.Pen, color, widget.TitleParts(title, p.W-6), rows, p.W)
	}
	arrow := " "
	if p.Pane == m.focus {
		arrow = "▸"
	}
	l := m.Line(p.W).Write(style.Focus, arrow)
	for _, t := range widget.TitleParts(title, p.W-2) {
		l.Write(t.Token, t.Text)
	}
	out := []string{l.Full()}
	for _, row := range rows {
		out = append(out, " "+row)
	}
	return out
}
