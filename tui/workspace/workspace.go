// Package workspace is the screen of several runs that are watched at once: a list of them, and the charts of their
// metrics over one another, which follow the runs as they continue.
package workspace

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/layout"
	"newtop/tui/pane/metrics"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Watched is a run of the workspace. Its feed stays the caller's, who closes it. One of a host whose feed ends before
// anything was reported leaves the workspace: others took its place.
type Watched struct {
	Name   string
	Feed   feed.Feed
	Source string // what it is read from, for readers
	Host   string // on which that lies; "": this machine
	Tags   []string
	// Open opens the run's own screen over the workspace, which closed leaves; nil: that is not to be had. It is called
	// from a command.
	Open func(ctx context.Context) (l screen.Layer, closed func(), err error)
}

// Run shows runs, beside which older ones are left out, until the user quits, the context ends or the program fails,
// and restores the terminal on every way out. more brings runs that are found later, and may be nil or closed. Run
// returns the context's error if that ended it.
func Run(ctx context.Context, runs []Watched, left int, more <-chan Watched, o screen.Options) error {
	m := newModel(runs, more, o)
	m.left = left
	return screen.NewStack(m).Run(ctx, o)
}

// Compare returns the screen of runs whose differences are in sight, the best run first.
func Compare(runs []Watched, o screen.Options) screen.Layer {
	m := newModel(runs, nil, o)
	m.differences.open, m.sorted = true, byBest
	return m
}

// model is the root model. What it knows of the runs comes by messages.
type model struct {
	screen.Base
	receiver
	bindings []*screen.Binding[*model]
	grid     metrics.Grid
	list
	views
	differences differences
	focus       focus
	alone       bool        // the charts have the screen
	faded       bool        // the runs that are not selected stand back
	charts      layout.Rect // where they stand
	dialog      screen.Dialog[*model]
	drawing     time.Duration // that the latest screen took
	left        int           // older runs that are not shown
}

// focus is what has the keys.
type focus uint8

const (
	onList focus = iota
	onCharts
	onDifferences
)

func newModel(runs []Watched, more <-chan Watched, o screen.Options) *model {
	m := &model{
		Base:     screen.NewBase(&o),
		receiver: receiver{news: make(chan came), more: more},
		bindings: bindings(),
	}
	p, ok, err := m.Prefer(&o)
	if err != nil {
		m.Note(style.Warn, "preferences: "+style.Clean(err.Error()))
	}
	if ok {
		m.grid.SetXAxis(p.XAxis)
		metrics.SetCharts(&m.grid, p.Charts)
		recall(m, p.View)
		m.Prefs.Start(m.preferences())
	}
	for _, w := range runs {
		m.enter(w, len(runs))
	}
	m.arrange()
	m.Restyle()
	return m
}

// preferences are the choices that the screen shows now.
func (m *model) preferences() screen.Preferences {
	p := m.Appearance()
	p.XAxis, p.Charts, p.View = m.grid.XAxis(), metrics.Charts(&m.grid), m.kept
	return p
}

// Init follows the runs.
func (m *model) Init() tea.Cmd {
	return tea.Batch(append(due(m), m.Opening(), m.receive(m.Ctx, 0))...)
}

// Update delegates.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case newsMsg:
		return m, receive(m, msg)
	case tea.KeyPressMsg:
		cmd := m.press(msg)
		return m, tea.Batch(append(due(m), cmd, m.Prefs.Notice(m.preferences()))...)
	case tea.PasteMsg:
		m.paste(style.Clean(msg.Content))
		return m, nil
	case tea.MouseMsg:
		if m.dialog != nil {
			return m, screen.MouseToDialog(&m.dialog, m, msg)
		}
		m.mouse(msg)
		return m, nil
	}
	return m, m.Handle(msg)
}

// View draws the screen.
func (m *model) View() tea.View {
	begun := time.Now()
	defer func() { m.drawing = time.Since(begun) }()
	return m.Base.View(m.screen(), m.Title+" · "+format.Counted(len(m.runs), "run"), tea.MouseModeAllMotion)
}

// The least screen, which is smaller than that of others: a list has no charts.
const (
	minWidth        = 24
	minHeight       = 5
	minWidthForList = 80 // for the list beside the charts
)

// listWidth is how many columns the list has beside the charts; 0: it has none there.
func (m *model) listWidth() int {
	if m.Width < minWidthForList || m.alone {
		return 0
	}
	return min(signs+minName+9+(m.Width-minWidthForList)/6, 48) // a name and a value at the least
}

// screen returns exactly the terminal's rows, each exactly as wide as it.
func (m *model) screen() []string {
	m.charts, m.table.Rect = layout.Rect{}, layout.Rect{}
	if m.Width < minWidth || m.Height < minHeight {
		return m.Small([]string{m.header(m.Width)}, nil, nil)
	}
	metrics.SetAccuracy(&m.grid, accurate(m))
	m.grid.Show(shownRuns(m))
	m.grid.Aim(aimedAt(m))
	rows := []string{m.header(m.Width)}
	at := layout.Rect{Y: 1, W: m.Width, H: m.Height - 1 - layout.FooterRows}
	w := m.listWidth()
	switch {
	case w > 0:
		rows = append(rows, m.beside(at, w)...)
	case m.focus == onList:
		rows = append(rows, drawList(m, at)...)
	case m.focus == onDifferences:
		rows = append(rows, drawDifferences(m, at)...)
	case m.alone || at.H < 8:
		rows = append(rows, m.drawCharts(at)...)
	default:
		rows = append(rows, listLine(m, m.Width))
		at.Y, at.H = at.Y+1, at.H-1
		rows = append(rows, m.drawCharts(at)...)
	}
	rows = m.Draw(rows, m.hints(), screen.InFront(m.dialog, m))
	if m.filter.Typing {
		rows[len(rows)-1] = filterLine(m, m.Width)
	}
	return rows
}

// beside puts the list at the left of the charts. The charts are drawn first: they say where the cursor is.
func (m *model) beside(at layout.Rect, w int) []string {
	at.X, at.W = at.X+w+1, at.W-w-1
	high := chartsHeight(m, at.H)
	right := m.drawCharts(layout.Rect{X: at.X, Y: at.Y, W: at.W, H: high})
	if high < at.H {
		right = append(right, drawDifferences(m, layout.Rect{X: at.X, Y: at.Y + high, W: at.W, H: at.H - high})...)
	}
	left := drawList(m, layout.Rect{X: at.X - w - 1, Y: at.Y, W: w, H: at.H})
	edge := m.Line(1).Write(style.Border, "│").Full()
	for i := range left {
		left[i] += edge + right[i]
	}
	return left
}

// drawCharts draws the grid of the runs that are shown.
func (m *model) drawCharts(at layout.Rect) []string {
	const margin = 1
	m.charts = layout.Rect{X: at.X + margin, Y: at.Y, W: at.W - 2*margin, H: at.H}
	rows := style.Block(m.grid.Draw(&m.Pen, m.charts.W, m.charts.H, true), m.charts.W, at.H)
	for i := range rows {
		rows[i] = " " + rows[i] + " "
	}
	return rows
}

// header says how many runs there are, and how they are shown.
func (m *model) header(w int) string {
	l := m.Line(w).Write(style.Text, " ").Write(style.Accent, m.Title).Write(
		style.Strong, "  "+format.Counted(len(m.runs), "run"))
	if m.left > 0 {
		l.Group(style.Warn.Of("  " + format.Count(m.left) + " older ones left out"))
	}
	live := 0
	for _, r := range m.runs {
		if _, word := r.state(); word == "running" {
			live++
		}
	}
	if live > 0 {
		l.Group(style.Good.Of("  ● " + format.Count(live) + " running"))
	}
	if m.differences.open {
		for _, s := range m.subject() {
			l.Group(style.Text.Of("  " + s))
		}
	}
	switch shown := len(m.shown()); {
	case m.solo != nil:
		l.Group(style.Accent.Of("  only " + m.solo.name))
	case m.within != nil:
		l.Group(style.Accent.Of("  only " + m.within.name))
	case m.by != "":
		l.Group(style.Text.Of("  " + format.Counted(len(m.units), "group")))
		l.Group(style.Text.Of(" by "), style.Accent.Of(style.Clean(m.by)))
		l.Group(style.Muted.Of("  mean, " + m.spread.String()))
	case shown < len(m.runs):
		l.Group(style.Text.Of("  " + format.Count(shown) + " shown"))
	}
	if m.filter.Text != "" && m.invalid == "" {
		l.Group(style.Muted.Of("  of "), style.Strong.Of(style.Clean(m.filter.Text)))
	}
	if x := metrics.XName(&m.grid); x != chart.Epochs.Counting(m.counted()) && x != chart.Epochs.Name() {
		l.Group(style.Muted.Of("  over " + style.Clean(x)))
	}
	if m.grid.Half > 0 {
		l.Group(style.Muted.Of("  smoothed " + format.Tick(m.grid.Half)))
	}
	return l.Full()
}

// hints are what the footer names.
func (m *model) hints() []widget.Hint {
	if m.dialog != nil {
		return m.dialog.Hints(m)
	}
	return screen.Hints(m.bindings, m)
}
