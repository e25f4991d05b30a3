// Package system is the screen of a machine: how busy its processors, memory, GPUs, disks and network are, and which
// processes use its GPUs.
package system

import (
	"context"
	"errors"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	host "newtop/internal/machine"
	"newtop/tui/layout"
	"newtop/tui/pane/machine"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// Model is the root model of the screen. Samples come by commands, one at a time; nothing moves between them.
type Model struct {
	screen.Base
	bindings []*screen.Binding[*Model]
	read     func(context.Context) (host.Sample, error)
	name     string // of the machine
	panel    machine.Panel
	every    int // place in intervals
	paused   bool
	turn     int // counts the waits for a sample, of which the last one counts
	err      error
	dialog   screen.Dialog[*Model]
}

// intervals are how often the machine may be looked at.
var intervals = [...]time.Duration{time.Second / 2, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

const usualInterval = 1

// sampleMsg brings a sample, dueMsg says that the next one is due.
type (
	sampleMsg struct {
		host.Sample
		err  error
		turn int
	}
	dueMsg int
)

// Run shows the machine until the user quits, the context ends or the program fails, and restores the terminal on every
// way out. Options.Machine reads samples; where it is nil, Run does itself.
func Run(ctx context.Context, o screen.Options) error {
	if o.Machine == nil {
		s := host.NewSampler(host.Options{GPUUsers: true})
		defer s.Close()
		o.Machine = s.Sample
	}
	m := New(o)
	return m.Base.Run(ctx, m, o)
}

// New returns the screen of the machine that Options.Machine reads, which must not be nil.
func New(o screen.Options) *Model {
	name, _ := os.Hostname()
	m := &Model{Base: screen.NewBase(&o), bindings: bindings(), read: o.Machine, name: name, every: usualInterval}
	_, ok, err := m.Prefer(&o)
	if err != nil {
		m.Note(style.Warn, "preferences: "+style.Clean(err.Error()))
	}
	if ok {
		m.Prefs.Start(m.preferences())
	}
	m.Restyle()
	return m
}

// preferences are the choices that the screen shows now. Those of other screens stay as they were.
func (m *Model) preferences() screen.Preferences {
	p, looks := m.Prefs.Stored(), m.Appearance()
	p.Theme, p.Glyphs, p.Mouse = looks.Theme, looks.Glyphs, looks.Mouse
	return p
}

// Init asks for the background, and for a sample.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.Opening(), m.sample()) }

// sample returns the command that reads a sample.
func (m *Model) sample() tea.Cmd {
	read, ctx, turn := m.read, m.Ctx, m.turn
	return func() tea.Msg {
		s, err := read(ctx)
		return sampleMsg{s, err, turn}
	}
}

// wait returns the command that brings the next sample's time; a wait before it is void.
func (m *Model) wait() tea.Cmd {
	m.turn++
	if m.paused {
		return nil
	}
	return screen.After(m.Ctx, intervals[m.every], dueMsg(m.turn))
}

// Update delegates.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case sampleMsg:
		return m, m.apply(msg)
	case dueMsg:
		if int(msg) == m.turn && !m.paused {
			return m, m.sample()
		}
		return m, nil
	case tea.KeyPressMsg:
		cmd := m.press(msg)
		return m, tea.Batch(cmd, m.Prefs.Notice(m.preferences()))
	case tea.MouseMsg:
		if m.dialog == nil {
			return m, nil
		}
		cmd := screen.MouseToDialog(&m.dialog, m, msg)
		return m, tea.Batch(cmd, m.Prefs.Notice(m.preferences()))
	}
	return m, m.Handle(msg)
}

// apply takes in a sample, and waits for the next one.
func (m *Model) apply(msg sampleMsg) tea.Cmd {
	if msg.turn != m.turn {
		return nil // another wait began meanwhile, or the screen is paused
	}
	m.err = nil
	switch {
	case msg.err == nil:
		m.panel.Add(msg.Sample)
	case m.Ctx.Err() == nil && !errors.Is(msg.err, context.Canceled):
		m.err = msg.err
	}
	return m.wait()
}

// View draws the screen.
func (m *Model) View() tea.View {
	return m.Base.View(m.screen(), m.Title+" · machine", tea.MouseModeCellMotion)
}

// The least screen.
const (
	minWidth  = 24
	minHeight = 6
)

// screen returns exactly the terminal's rows, each exactly as wide as it.
func (m *Model) screen() []string {
	if m.Width < minWidth || m.Height < minHeight {
		return m.Small([]string{m.header(m.Width), m.panel.Row(&m.Pen, m.Width)}, nil, nil)
	}
	rows := []string{m.header(m.Width)}
	w, h := m.Width-2, m.Height-len(rows)-layout.FooterRows
	users := style.Clip(m.panel.Users(&m.Pen, w), h/3)
	body := m.panel.Draw(&m.Pen, w, h-len(users))
	for _, row := range append(style.Block(body, w, h-len(users)), users...) {
		rows = append(rows, " "+style.Fit(row, w)+" ")
	}
	return m.Draw(rows, m.hints(), screen.InFront(m.dialog, m))
}

// header says which machine it is, and how often it is looked at.
func (m *Model) header(w int) string {
	l := m.Line(w).Write(style.Text, " ").Write(style.Accent, m.Title).Write(style.Strong, "  "+style.Clean(m.name))
	state := style.Good.Of("● every " + format.Tick(intervals[m.every].Seconds()) + " s ")
	if m.paused {
		state = style.Warn.Of("‖ paused ")
	}
	facts := m.Line(l.Left() - style.Cells(state.Text) - 1)
	if s := &m.panel.Latest; m.panel.Samples() > 0 {
		facts.Group(style.Text.Of("  " + format.Counted(len(s.Core), "core")))
		if n := len(s.GPUs); n > 0 {
			facts.Group(style.Text.Of("  " + format.Counted(n, "GPU")))
		}
		facts.Group(style.Muted.Of("  " + m.panel.Span()))
	}
	if m.err != nil {
		facts.Write(style.Bad, "  "+style.Clean(m.err.Error()))
	}
	return l.Append(facts).To(w-style.Cells(state.Text)).Write(state.Token, state.Text).Full()
}
