// Package runs is the screen of the recorded runs: a list of them, live ones too, from which a run is watched,
// compared, resumed, tagged or removed.
package runs

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/store"
	"newtop/trainer/tune"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// foundMsg brings what the store has, changedMsg that it has changed.
type (
	foundMsg struct {
		found
		err error
	}
	changedMsg int
)

// New returns the list of a store's runs.
func New(s *store.Store, h Host, o screen.Options) *Model {
	m := &Model{
		Base:     screen.NewBase(&o),
		store:    s,
		host:     h,
		bindings: bindings(),
		curves:   map[string]curve{},
		now:      time.Now,
	}
	m.list = list{marked: map[string]bool{}, opened: map[string]bool{}, table: table{Lead: 4, Color: cellColor,
		Mark: func(l *style.Line, r *row) { drawMark(m, l, r) },
		Columns: newColumns(func(r *row) string { return bestText(m, r) },
			func(r *row, w int) string { return spark(m, r, w) },
			func() time.Time { return m.now() })}}
	p, ok, err := m.Prefer(&o)
	if err != nil {
		m.Note(style.Warn, "preferences: "+style.Clean(err.Error()))
	}
	if ok {
		if p.RunColumns != "" {
			m.chooseColumns(p.RunColumns)
		}
		key, back := strings.CutPrefix(p.RunSort, "-")
		if m.table.Column(key) != nil || strings.HasPrefix(key, settingKey) {
			m.table.Sorted, m.table.Reversed = key, back
		}
		m.Prefs.Start(m.preferences())
	}
	m.Restyle()
	return m
}

// Resume is the ID of the run that the user left to continue with, "" for none.
func (m *Model) Resume() string { return m.resume }

// preferences are the choices that the screen shows now. Those of other screens stay as they were.
func (m *Model) preferences() screen.Preferences {
	p, stored := m.Appearance(), m.Prefs.Stored()
	p.XAxis, p.Save = stored.XAxis, stored.Save
	p.RunColumns, p.RunSort = m.chosenColumns(), m.table.Sorted
	if m.table.Reversed {
		p.RunSort = "-" + p.RunSort
	}
	return p
}

// Init asks for the background, and for the runs.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.Opening(), m.load())
}

// How often the store is looked at: once a second, rarer where reading takes long, so that a run that is trained costs
// no more than a twentieth of a processor here, as long as that is soon enough. Of a process that was killed no file
// reports.
const (
	pollEvery = time.Second
	share     = 20
	repoll    = 10 * time.Second
	minutes   = time.Minute // of the ages
)

// load returns the command that reads the list.
func (m *Model) load() tea.Cmd {
	ctx, s := m.Ctx, m.store
	open := map[string][]string{}
	for key := range m.opened {
		if w := m.sweep(key); w != nil {
			open[key] = partsOf(w)
		}
	}
	return func() tea.Msg {
		begun := time.Now()
		f := found{read: true, stamp: s.Stamp(), trials: map[string][]store.Run{}}
		err := f.fill(ctx, s, open)
		f.took = time.Since(begun)
		return foundMsg{f, err}
	}
}

func (f *found) fill(ctx context.Context, s *store.Store, open map[string][]string) (err error) {
	if f.runs, err = s.Runs(ctx, store.Filter{Alone: true}); err != nil {
		return err
	}
	for key, ids := range open {
		for _, id := range ids {
			trials, err := s.Runs(ctx, store.Filter{Search: id})
			if err != nil {
				return err
			}
			f.trials[key] = append(f.trials[key], trials...)
		}
	}
	sweeps, err := tune.Sweeps(ctx, s)
	f.sweeps = sweeps
	return err
}

// partsOf are the IDs of a sweep's searches.
func partsOf(w *tune.Sweep) (ids []string) {
	for i := range w.Parts {
		ids = append(ids, w.Parts[i].ID)
	}
	return ids
}

// follow returns the command that waits until the store may have something new.
func (m *Model) follow() tea.Cmd {
	m.turn++
	ctx, s, stamp, turn := m.Ctx, m.store, m.stamp, changedMsg(m.turn)
	pause, longest := min(max(pollEvery, share*m.took), repoll), minutes
	if m.live > 0 {
		longest = repoll
	}
	return func() tea.Msg {
		begun := time.Now()
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				if s.Stamp() != stamp || time.Since(begun) >= longest {
					return turn
				}
			}
		}
	}
}

// Update delegates.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case foundMsg:
		return m, m.receive(msg)
	case changedMsg:
		switch {
		case int(msg) != m.turn:
			return m, nil
		case m.Covered:
			return m, m.follow()
		}
		return m, m.load()
	case curvesMsg:
		return m, receiveCurves(m, msg)
	case expiredMsg:
		return m, expire(m, msg)
	case removedMsg:
		return m, removed(m, msg)
	case annotatedMsg:
		return m, annotated(m, msg)
	case tea.KeyPressMsg:
		cmd := m.press(msg)
		return m, tea.Batch(cmd, m.Prefs.Notice(m.preferences()), readCurves(m))
	case tea.PasteMsg:
		m.paste(style.Clean(msg.Content))
		return m, readCurves(m)
	case tea.MouseMsg:
		if m.dialog != nil {
			cmd := screen.MouseToDialog(&m.dialog, m, msg)
			return m, tea.Batch(cmd, m.Prefs.Notice(m.preferences()), readCurves(m))
		}
		m.mouse(msg)
		return m, tea.Batch(m.Prefs.Notice(m.preferences()), readCurves(m))
	case tea.WindowSizeMsg:
		m.Handle(msg)
		return m, readCurves(m)
	}
	return m, m.Handle(msg)
}

// receive takes what the store has, and waits for more.
func (m *Model) receive(msg foundMsg) tea.Cmd {
	m.err = nil
	if msg.err != nil {
		if m.Ctx.Err() == nil && !errors.Is(msg.err, context.Canceled) {
			m.err = msg.err
		}
		m.stamp, m.took = msg.stamp, msg.took
		return m.follow()
	}
	m.found = msg.found
	m.arrange()
	return tea.Batch(m.follow(), readCurves(m))
}

// View draws the screen.
func (m *Model) View() tea.View {
	return m.Base.View(m.screen(), m.Title+" · runs", tea.MouseModeCellMotion)
}

// The least screen, which is smaller than that of others: a list has no charts.
const (
	minWidth  = 24
	minHeight = 5
)

// previewWidth is the width from which on the selected run stands beside the list.
const previewWidth = 150

// screen returns exactly the terminal's rows, each exactly as wide as it.
func (m *Model) screen() []string {
	m.table.Rect = layout.Rect{}
	if m.Width < minWidth || m.Height < minHeight {
		return m.Small([]string{m.header(m.Width)}, nil, nil)
	}
	rows := []string{m.header(m.Width)}
	at := layout.Rect{Y: len(rows), W: m.Width, H: m.Height - len(rows) - layout.FooterRows}
	if m.previewed() {
		at.W = m.Width * 62 / 100
		side := layout.Rect{X: at.W, Y: at.Y, W: m.Width - at.W, H: at.H}
		right := drawDetail(m, side)
		for i, row := range drawTable(m, at) {
			rows = append(rows, row+right[i])
		}
	} else {
		rows = append(rows, drawTable(m, at)...)
	}
	rows = m.Draw(rows, m.hints(), screen.InFront(m.dialog, m))
	if m.filter.Typing {
		rows[len(rows)-1] = m.filter.Line(&m.Pen, m.Width, m.count(len(m.rows)))
	}
	return rows
}

func (m *Model) previewed() bool { return m.Width >= previewWidth && m.Height >= layout.MinHeight }

// header says how many runs there are.
func (m *Model) header(w int) string {
	l := m.Line(w).Write(style.Text, " ").Write(style.Accent, m.Title)
	if !m.read {
		return l.Write(style.Muted, "  reading the runs").Full()
	}
	l.Write(style.Strong, "  "+format.Counted(len(m.runs)-m.hidden(), "run"))
	if m.live > 0 {
		l.Group(style.Good.Of("  ● " + format.Count(m.live) + " running"))
	}
	if n := len(m.sweeps); n > 0 {
		word := "searches"
		if n == 1 {
			word = "search"
		}
		l.Group(style.Text.Of("  " + format.Count(n) + " " + word))
	}
	if n := len(m.marked); n > 0 {
		l.Group(style.Accent.Of("  ✓ " + format.Count(n) + " marked"))
	}
	if m.err != nil {
		l.Write(style.Bad, "  "+style.Clean(m.err.Error()))
	}
	return l.Full()
}

func (m *Model) count(n int) string {
	return format.Count(n) + " of " + format.Count(len(m.runs)-m.hidden()+len(m.sweeps))
}

// bindings is the table of the keys, in the order of the footer.
func bindings() []*screen.Binding[*Model] {
	on, use := screen.Bind[*Model], screen.Use[*Model]
	return []*screen.Binding[*Model]{
		use(groupList, "all runs; then back to the screen beneath, or quit", screen.Back).On(showAll).Footer(
			"all runs").While(func(m *Model) bool { return m.filter.Text != "" }),
		screen.QuitKey[*Model](groupHelp, "quit, or back to the screen beneath"),
		on(groupHelp, "R", "back to the screen beneath", "R").On(func(*Model, string) tea.Cmd { return tea.Quit }).Only(
			func(m *Model) bool { return m.Over }),
		use(groupHelp, "this help", screen.ShowHelp).
			Then(func(m *Model, _ string) { m.dialog = screen.Help(helpSections) }).DefaultFooter(),
		screen.CommandsKey(groupHelp, func(m *Model) {
			m.dialog = screen.NewPalette(entries(m), "commands and columns")
		}),
		use(groupRun, "watch the run, or look at the search", screen.Open).On(open).FooterBy(
			func(m *Model) string {
				if r := m.selected(); r != nil && r.sweep != nil {
					return "search"
				}
				return "watch"
			}).Unless(nothing),
		use(groupList, "show only runs with words, as letters adam -failed", screen.Filter).Then(
			func(m *Model, _ string) { m.filter.Typing = true }).DefaultFooter(),
		use(groupRun, "mark it, to be compared", screen.Toggle).Then(mark).Footer("mark").Unless(unmarkable),
		on(groupList, "a", "mark all that are listed, or none", "a").Then(markAll),
		on(groupList, "c", "compare the marked runs", "c").On(compareMarked).Footer("compare").Unless(
			incomparable).While(func(m *Model) bool { return incomparable(m) == "" }),
		on(groupRun, "r", "go on with the run, as newtop resume does", "r").On(goOn).Footer("resume").Unless(
			unresumable).While(func(m *Model) bool { return unresumable(m) == "" }),
		on(groupList, "u", "bring back what was removed last", "u").On(restore).Footer("undo").While(
			func(m *Model) bool { return len(m.pending) > 0 }).Unless(func(m *Model) string {
			if len(m.pending) == 0 {
				return "nothing was removed in the last 10 s"
			}
			return ""
		}),
		use(groupList, "sort by the next column; or click a title", screen.Sort).Then(func(m *Model, _ string) {
			m.table.SortNext()
			m.arrange()
		}).DefaultFooter(),
		on(groupList, "s", "the other way round", "s").Then(func(m *Model, _ string) { m.sortBy(m.table.Sorted) }),
		on(groupList, "→ ←", "open a search into its trials, and close it", "right", "left", "l", "h").On(
			unfold).Footer("trials").While(func(m *Model) bool {
			r := m.selected()
			return r != nil && (r.sweep != nil || r.trial)
		}).Unless(folded).By([2]string{"right", "open a search into its trials"}, [2]string{"left", "close a search"}),
		on(groupRun, "d", "remove it; u brings it back within 10 s", "d").On(remove).Footer("remove").Unless(
			unremovable).While(func(m *Model) bool { return unremovable(m) == "" }),
		on(groupRun, "n", "write a note on it", "n").Then(noteOn).Footer("note").Unless(unnoted),
		on(groupRun, "t", "edit its tags", "t").Then(tagsOf).Footer("tags").Unless(unnoted),
		on(groupRun, "N", "give it another name", "N").Then(nameOf).Unless(unnoted),
		on(groupRun, "Y", "copy its name", "Y").On(copyName).Footer("copy").Unless(nothing),
		on(groupList, "C", "choose the columns", "C").Then(func(m *Model, _ string) {
			m.dialog = &columnDialog{}
		}).Footer("columns"),
		on(groupList, "↑↓", "select another one; also j k, pgup pgdown, home end", widget.MoveKeys...).Then(
			func(m *Model, k string) { m.move(k) }),
		screen.AccuracyKey(logsAccuracy).While(func(*Model) bool { return false }),
		screen.ScreenshotKey("newtop-runs-screen", (*Model).screen),
		screen.ThemeKey[*Model]().DefaultFooter(),
		screen.GlyphsKey[*Model](),
		screen.MouseKey[*Model](),
		screen.RedrawKey[*Model](),
		screen.SuspendKey[*Model](groupHelp),
	}
}

// annotated shows what was written.
func annotated(m *Model, msg annotatedMsg) tea.Cmd {
	if msg.err != nil {
		return m.Notify(style.Warn, style.Clean(msg.err.Error()))
	}
	return m.load()
}

// unfold opens the selected search into its trials, or closes it.
func unfold(m *Model, k string) tea.Cmd {
	r := m.selected()
	if k == "left" || k == "h" {
		for at := m.position; at >= 0; at-- {
			if m.rows[at].sweep != nil {
				delete(m.opened, m.rows[at].key)
				m.selectRow(at)
				break
			}
		}
		m.arrange()
		return nil
	}
	if r.sweep == nil || m.opened[r.key] {
		return nil
	}
	m.opened[r.key] = true
	m.arrange()
	return m.load()
}
