// Package compare is the screen of recorded runs over one another: their curves, and a table of what each took to get
// where.
package compare

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Recorded is a recorded run as Compare shows it. Nothing in it is changed.
type Recorded struct {
	ID, Name string          // Name may be empty
	State    string          // in a word: "epochs", "running", "interrupted"
	Run      *event.RunEvent // nil for a run that did not begin
	Epochs   []event.EpochEvent
	Switches []event.SwitchEvent
	Settings []event.SettingEvent
	Diverged *event.DivergedEvent
	Done     *event.DoneEvent
}

// Most is how many runs Compare shows at most.
const Most = 8

// Run shows recorded runs over one another until the user quits, the context ends or the program fails, and
// restores the terminal like Run. It panics without runs, or with more than Most.
func Run(ctx context.Context, runs []Recorded, o screen.Options) error {
	m := newComparison(runs, o)
	return m.Run(ctx, m, o)
}

// model is the root model of Compare. Nothing in it moves by itself: what it shows changes with a key, the mouse
// or the size only, so that it writes nothing at rest.
type model struct {
	screen.Base
	bindings []screen.Binding[*model]
	runs     []comparedRun // in the order given, which their letters and colours keep
	order    []int         // best first
	at       int           // the selected run
	faded    bool          // the others stand back
	charts   compareCharts
	targets  []float64 // values of the measure that some runs reach, falling
	target   int       // the one that the table tells about; −1 for none
	zoomed   bool      // the charts have the whole screen
	dialog   screen.Dialog[*model]
	table    widget.List
}

// New returns the screen of recorded runs to stand over another one. It panics like Run.
func New(runs []Recorded, o screen.Options) screen.Layer { return newComparison(runs, o) }

func newComparison(runs []Recorded, o screen.Options) *model {
	if len(runs) == 0 || len(runs) > Most {
		panic(fmt.Sprintf("tui: comparing %d runs: expected 1 to %d", len(runs), Most))
	}
	m := &model{
		Base:     screen.NewBase(&o),
		bindings: compareBindings(),
		runs:     newComparedRuns(runs),
	}
	m.order = ranked(m.runs)
	m.at = m.order[0]
	m.targets = reachable(m.runs)
	m.target = commonTarget(m)
	m.charts.shown, m.charts.flipped = present(m.runs), make([]bool, len(comparedQuantities))
	m.recall(&o)
	m.Restyle()
	return m
}

// recall applies the user's choices where no option says otherwise.
func (m *model) recall(o *screen.Options) {
	p, ok, err := m.Prefer(o)
	if err != nil {
		m.Note(style.Warn, "preferences: "+style.Clean(err.Error()))
	}
	if !ok {
		return
	}
	m.charts.view.SetXAxis(p.XAxis)
	m.Prefs.Begin(m.preferences())
}

// preferences are the choices that the screen shows now.
func (m *model) preferences() screen.Preferences {
	p := m.Looks()
	p.XAxis = m.charts.view.XAxis()
	return p
}

// Init asks for the background.
func (m *model) Init() tea.Cmd {
	return m.Opening()
}

// Update delegates.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		cmd := m.press(msg)
		return m, tea.Batch(cmd, m.Prefs.Notice(m.preferences()))
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

// View draws the screen.
func (m *model) View() tea.View {
	return m.Base.View(m.screen(), m.Title+" · comparison", tea.MouseModeCellMotion)
}

// screen returns exactly the terminal's rows, each exactly as wide as it.
func (m *model) screen() []string {
	if m.Width < layout.MinWidth || m.Height < layout.MinHeight {
		m.charts.view.Begin()
		m.table.Rect = layout.Rect{}
		return m.Small(append([]string{m.header(m.Width)}, drawTable(m, m.Width, max(m.Height-2, 0), false)...),
			m.hints(), screen.InFront(m.dialog, m))
	}
	rows := []string{m.header(m.Width)}
	rows = append(rows, m.body(m.Width, m.Height-len(rows)-layout.FooterRows)...)
	return m.Draw(rows, m.hints(), screen.InFront(m.dialog, m))
}

// body puts the charts over the table.
func (m *model) body(w, h int) []string {
	const top = 1 // under the header
	framed := w >= 80 && h >= 18
	if m.zoomed {
		m.table.Rect = layout.Rect{}
		return m.charts.draw(m, layout.Rect{X: 0, Y: top, W: w, H: h}, framed)
	}
	table := drawTable(m, w, h, framed)
	m.table.Rect = layout.Rect{X: 0, Y: top + h - len(table), W: w, H: len(table)}
	return append(m.charts.draw(m, layout.Rect{X: 0, Y: top, W: w, H: h - len(table)}, framed), table...)
}

// header says what is compared.
func (m *model) header(w int) string {
	l := m.Line(w).Put(style.Text, " ").Put(style.Accent, m.Title)
	n := len(m.runs)
	what := "  " + format.Count(n) + " runs compared"
	if n == 1 {
		what = "  1 run"
	}
	l.Put(style.Strong, what)
	for _, s := range subject(m) {
		l.Group(style.Text.Of("  " + s))
	}
	return l.Full()
}
