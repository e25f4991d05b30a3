package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"newtop/trainer"
)

// Compared is a recorded run as Compare shows it. Nothing in it is changed.
type Compared struct {
	ID, Name string            // Name may be empty
	State    string            // in a word: "epochs", "running", "interrupted"
	Run      *trainer.RunEvent // nil for a run that did not begin
	Epochs   []trainer.EpochEvent
	Switches []trainer.SwitchEvent
	Settings []trainer.SettingEvent
	Diverged *trainer.DivergedEvent
	Done     *trainer.DoneEvent
}

// MostCompared is how many runs Compare shows at most.
const MostCompared = 8

// Compare shows recorded runs over one another until the user quits, the context ends or the program fails, and
// restores the terminal like Run. It panics without runs, or with more than MostCompared.
func Compare(ctx context.Context, runs []Compared, o Options) error {
	return runComparison(ctx, newComparison(runs, o), o)
}

func runComparison(ctx context.Context, m *comparison, o Options) error {
	defer m.cancel()
	defer m.keep.settle()
	var p *tea.Program
	c := calm{now: time.Now, send: func(msg tea.Msg) { p.Send(msg) }}
	p = tea.NewProgram(m, append(o.program(ctx, m.environ, m.noColor), tea.WithFilter(c.filter))...)
	_, err := p.Run()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return ctx.Err()
	}
	return err
}

// comparison is the root model of Compare. Nothing in it moves by itself: what it shows changes with a key, the mouse
// or the size only, so that it writes nothing at rest.
type comparison struct {
	view
	ctx    context.Context // ends the timers of notes
	cancel context.CancelFunc

	bindings []compareBinding
	runs     []comparedRun // in the order given, which their letters and colours keep
	order    []int         // best first
	at       int           // the selected run
	faded    bool          // the others stand back
	charts   compareCharts
	targets  []float64 // values of the measure that some runs reach, falling
	target   int       // the one that the table tells about; −1 for none
	zoomed   bool      // the charts have the whole screen
	front    compareFront
	table    tableView

	title         string
	environ       []string
	theme         Theme
	glyphs        Glyphs
	noColor, dark bool
	noMouse       bool
	profile       colorprofile.Profile
	keep          keeper
	pictures      string
	width, height int
	notice        part
	notices       int
}

// compareFront is what stands in front of the comparison and has the keys.
type compareFront interface {
	// handleKey reports whether it took the key; closed says that it is done with. A key that closes it and is not
	// taken goes on to the comparison.
	handleKey(m *comparison, k string) (taken, closed bool)
	draw(m *comparison, w, h int) []string
	hints() []hint
}

func newComparison(runs []Compared, o Options) *comparison {
	if len(runs) == 0 || len(runs) > MostCompared {
		panic(fmt.Sprintf("tui: comparing %d runs: expected 1 to %d", len(runs), MostCompared))
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Title == "" {
		o.Title = "newtop"
	}
	m := &comparison{
		view:     view{h: &history{}},
		bindings: compareBindings(),
		runs:     newComparedRuns(runs),
		title:    clean(o.Title),
		environ:  o.Environ,
		theme:    max(o.Theme, ThemeAuto),
		glyphs:   max(o.Glyphs, GlyphsAuto),
		noColor:  o.NoColor || lookup(o.Environ, "NO_COLOR") != "",
		noMouse:  o.NoMouse,
		pictures: o.Pictures,
		dark:     true,
		profile:  colorprofile.TrueColor,
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.order = ranked(m.runs)
	m.at = m.order[0]
	m.targets = reachable(m.runs)
	m.target = m.common()
	m.charts.shown, m.charts.flipped = present(m.runs), make([]bool, len(comparedQuantities))
	m.recall(&o)
	m.gl = m.glyphs.set(o.Environ)
	m.restyle()
	return m
}

// recall applies the user's choices where no option says otherwise.
func (m *comparison) recall(o *Options) {
	if o.Preferences == "" {
		return
	}
	p, err := readPreferences(o.Preferences)
	if err != nil {
		m.notice = part{tokWarn, "preferences: " + clean(err.Error())}
		return
	}
	if t, _ := ParseTheme(p.Theme); o.Theme == ThemePreferred && t != ThemePreferred {
		m.theme = t
	}
	if g, _ := ParseGlyphs(p.Glyphs); o.Glyphs == GlyphsPreferred && g != GlyphsPreferred {
		m.glyphs = g
	}
	if p.Mouse != nil && !o.NoMouse {
		m.noMouse = !*p.Mouse
	}
	m.charts.view.adopt(p.XAxis, p.Smoothing)
	m.keep = keeper{path: o.Preferences, stored: p}
	m.keep.last = m.preferences()
}

// preferences are the choices that the screen shows now.
func (m *comparison) preferences() preferences {
	mouse := !m.noMouse
	x, smoothing := m.charts.view.habits()
	return preferences{Theme: m.theme.String(), Glyphs: m.glyphs.String(), Mouse: &mouse, XAxis: x, Smoothing: smoothing}
}

func (m *comparison) restyle() { m.th = m.theme.inks(m.dark, m.profile, m.noColor) }

// Init asks for the background.
func (m *comparison) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, synchronize(m.environ))
}

// Update delegates.
func (m *comparison) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 0), max(msg.Height, 0)
	case tea.ColorProfileMsg:
		m.profile = msg.Profile
		m.restyle()
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.restyle()
	case tea.KeyPressMsg:
		cmd := m.press(msg.String())
		if m.keep.path == "" {
			return m, cmd
		}
		return m, tea.Batch(cmd, m.keep.notice(m.preferences()))
	case tea.MouseMsg:
		m.mouse(msg)
	case pictureMsg:
		if msg.err != nil {
			return m, m.tell(tokWarn, "no picture: "+clean(msg.err.Error()))
		}
		return m, m.tell(tokText, "wrote "+clean(msg.path))
	case storedMsg:
		m.keep.busy = false
		if msg.err != nil {
			m.keep.path = "" // once is enough to know
			return m, m.tell(tokWarn, "preferences: "+clean(msg.err.Error()))
		}
		return m, m.keep.next()
	case expireMsg:
		if int(msg) == m.notices {
			m.notice = part{}
		}
	}
	return m, nil
}

// tell shows a note at the right of the footer for a while.
func (m *comparison) tell(t token, text string) tea.Cmd {
	m.notice = part{t, text}
	m.notices++
	return after(m.ctx, 5*time.Second, expireMsg(m.notices))
}

// View draws the screen.
func (m *comparison) View() tea.View {
	content := strings.Join(m.screen(), "\n")
	if m.gl.ascii {
		content = toASCII(content)
	}
	v := tea.NewView(content)
	v.AltScreen = true
	if !m.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = m.title + " · comparison"
	return v
}

// screen returns exactly the terminal's rows, each exactly as wide as it.
func (m *comparison) screen() []string {
	if m.width < minWidth || m.height < minHeight {
		m.charts.view.begin()
		m.table.rect = rect{}
		return m.th.tooSmall(m.width, m.height)
	}
	rows := []string{m.header(m.width)}
	rows = append(rows, m.body(m.width, m.height-len(rows)-footerRows)...)
	rows = append(rows, m.footer(m.width))
	if m.front != nil {
		lay(rows[:m.height-footerRows], m.front.draw(m, m.width, m.height-footerRows), m.width)
	}
	return rows
}

// body puts the charts over the table.
func (m *comparison) body(w, h int) []string {
	const top = 1 // under the header
	framed := w >= 80 && h >= 18
	if m.zoomed {
		m.table.rect = rect{}
		return m.charts.draw(m, rect{0, top, w, h}, framed)
	}
	table := m.drawTable(w, h, framed)
	m.table.rect = rect{0, top + h - len(table), w, len(table)}
	return append(m.charts.draw(m, rect{0, top, w, h - len(table)}, framed), table...)
}

// header says what is compared.
func (m *comparison) header(w int) string {
	l := m.th.line(w).put(tokText, " ").put(tokAccent, m.title)
	n := len(m.runs)
	what := "  " + count(n) + " runs compared"
	if n == 1 {
		what = "  1 run"
	}
	l.put(tokStrong, what)
	for _, s := range m.subject() {
		l.group(part{tokText, "  " + s})
	}
	return l.full()
}
