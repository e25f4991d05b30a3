// Package system is the screen of machines: how busy their processors, memory, GPUs, disks and network are, and which
// processes use their GPUs. Of several each has a row, and the selected one its curves.
package system

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	host "newtop/internal/machine"
	"newtop/tui/layout"
	"newtop/tui/pane/machine"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Host is a machine that the screen shows.
type Host struct {
	Name string
	Read func(context.Context) (host.Sample, error) // waits while the machine can't be asked
	Away func() string                              // why it can't, "" where it can; nil: it always can
	// Trouble is given what begins to be wrong with the machine; nil: nobody is called.
	Trouble func(name, text string)
}

// Model is the root model of the screen. Samples come by commands, one at a time of a machine; nothing moves between
// them.
type Model struct {
	screen.Base
	bindings []*screen.Binding[*Model]
	*watched             // the selected machine
	all      []*watched  // as they were given
	table    widget.List // of several
	every    int         // place in intervals
	paused   bool
	dialog   screen.Dialog[*Model]
}

// watched is what is known of a machine.
type watched struct {
	Host
	name     string
	panel    machine.Panel
	turn     int // counts the waits for a sample, of which the last one counts
	err      error
	troubles host.Troubles
	found    []host.Trouble // by the latest sample
}

// intervals are how often the machine may be looked at.
var intervals = [...]time.Duration{time.Second / 2, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

const (
	usualInterval  = 1
	usualElsewhere = 2
)

// sampleMsg brings a sample, dueMsg says that the next one is due.
type (
	sampleMsg struct {
		host.Sample
		err  error
		turn int
		of   *watched // nil: the selected one
	}
	dueMsg struct {
		turn int
		of   *watched
	}
	awayMsg struct{} // hosts may be away, or back
)

// Run shows machines until the user quits, the context ends or the program fails, and restores the terminal on every
// way out.
func Run(ctx context.Context, hosts []Host, o screen.Options) error {
	m := New(hosts, o)
	return m.Base.Run(ctx, m, o)
}

// New returns the screen of some machines, of which there must be one.
func New(hosts []Host, o screen.Options) *Model {
	m := &Model{Base: screen.NewBase(&o), bindings: bindings(), every: usualInterval}
	for _, h := range hosts {
		m.all = append(m.all, &watched{Host: h, name: style.Clean(h.Name)})
	}
	if m.watched = m.all[0]; m.Away != nil {
		m.every = usualElsewhere
	}
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

// Init asks for the background, and for samples.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.Opening(), m.sampleAll(), m.glance()) }

// sampleAll returns the command that reads a sample of each machine.
func (m *Model) sampleAll() tea.Cmd {
	var all []tea.Cmd
	for _, h := range m.all {
		all = append(all, m.sample(h))
	}
	return tea.Batch(all...)
}

// sample returns the command that reads a sample of a machine.
func (m *Model) sample(h *watched) tea.Cmd {
	read, ctx, turn := h.Read, m.Ctx, h.turn
	return func() tea.Msg {
		s, err := read(ctx)
		return sampleMsg{s, err, turn, h}
	}
}

// wait returns the command that brings the time of a machine's next sample; a wait before it is void.
func (m *Model) wait(h *watched) tea.Cmd {
	h.turn++
	if m.paused {
		return nil
	}
	return screen.After(m.Ctx, intervals[m.every], dueMsg{h.turn, h})
}

// glance returns the command that has it seen who is away.
func (m *Model) glance() tea.Cmd {
	if m.Away == nil {
		return nil
	}
	return screen.After(m.Ctx, time.Second, awayMsg{})
}

// Update delegates.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case sampleMsg:
		return m, m.apply(msg)
	case dueMsg:
		if msg.turn == msg.of.turn && !m.paused {
			return m, m.sample(msg.of)
		}
		return m, nil
	case awayMsg:
		return m, m.glance()
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
	h := msg.of
	if msg.turn != h.turn {
		return nil // another wait began meanwhile, or the screen is paused
	}
	h.err = nil
	switch {
	case msg.err == nil:
		h.panel.Add(msg.Sample)
		h.see(&msg.Sample)
	case m.Ctx.Err() == nil && !errors.Is(msg.err, context.Canceled):
		h.err = msg.err
	}
	return m.wait(h)
}

// see reports what begins to be wrong.
func (h *watched) see(s *host.Sample) {
	before := h.found
	h.found = h.troubles.See(s)
	for _, t := range h.found {
		known := slices.ContainsFunc(before, func(b host.Trouble) bool { return b.Kind == t.Kind })
		if !known && h.Trouble != nil {
			h.Trouble(h.Name, t.Text)
		}
	}
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
	m.table.Rect = layout.Rect{}
	if m.Width < minWidth || m.Height < minHeight {
		return m.Small([]string{m.header(m.Width), m.panel.Row(&m.Pen, m.Width)}, nil, nil)
	}
	rows := []string{m.header(m.Width)}
	if len(m.all) > 1 {
		rows = append(rows, m.list(max(1, (m.Height-len(rows)-layout.FooterRows)/2))...)
	}
	w, h := m.Width-2, m.Height-len(rows)-layout.FooterRows
	users := style.Clip(m.panel.Users(&m.Pen, w), h/3)
	body := m.panel.Draw(&m.Pen, w, h-len(users))
	for _, row := range append(style.Block(body, w, h-len(users)), users...) {
		rows = append(rows, " "+style.Fit(row, w)+" ")
	}
	return m.Draw(rows, m.hints(), screen.InFront(m.dialog, m))
}

// list has a row of each machine, as far as there is room.
func (m *Model) list(room int) (rows []string) {
	m.table.Show(slices.Index(m.all, m.watched), len(m.all), room)
	m.table.Rect = layout.Rect{Y: 1, W: m.Width, H: m.table.Rows}
	wide := 0
	for _, h := range m.all {
		wide = max(wide, min(style.Cells(h.name), m.Width/4))
	}
	for _, h := range m.all[m.table.Top : m.table.Top+m.table.Rows] {
		l := m.Line(m.Width)
		if h == m.watched {
			l.Write(style.Focus, "▸")
		}
		l.To(1).Write(style.Strong, ansi.Truncate(h.name, wide, "…")).To(wide + 1)
		text, token := h.wrong()
		if h.panel.Samples() == 0 || token == style.Bad {
			rows = append(rows, l.Write(token, " "+cmp.Or(text, "connecting")).Full())
			continue
		}
		if text != "" {
			text = "  " + text
		}
		w := max(0, l.Left()-min(style.Cells(text), l.Left()/2))
		rows = append(rows, l.Raw(h.panel.Row(&m.Pen, w), w).Write(token, text).Full())
	}
	return rows
}

// wrong says what is wrong with a machine.
func (h *watched) wrong() (text string, t style.Token) {
	if h.Away != nil && h.Away() != "" {
		return style.Clean(h.Away()), style.Bad
	}
	if h.err != nil {
		return style.Clean(h.err.Error()), style.Bad
	}
	for i, f := range h.found {
		if i > 0 {
			text += ", "
		}
		text += f.Text
	}
	return text, style.Warn
}

// header says which machine it is, and how often it is looked at.
func (m *Model) header(w int) string {
	l := m.Line(w).Write(style.Text, " ").Write(style.Accent, m.Title).Write(style.Strong, "  "+m.name)
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
	if text, token := m.wrong(); text != "" {
		facts.Write(token, "  "+text)
	}
	return l.Append(facts).To(w-style.Cells(state.Text)).Write(state.Token, state.Text).Full()
}
