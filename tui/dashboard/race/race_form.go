package race

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/tui/chart"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// The least and the most that can race.
const (
	fewestRacers = 2
	maxRacers    = 6
)

// form chooses who takes part in a race: methods by search, settings of which several values make several
// racers, and the budget. What would race is shown while it is typed.
type form struct {
	list     *dialogs.Picker // its filter and its place
	chosen   map[string]bool
	settings textinput.Model
	budget   widget.Replaceable
	field    int // 0 the list, 1 the settings, 2 the budget
}

// Open opens the form that starts a race.
func Open(a *desk.App) {
	f := &form{list: dialogs.NewPicker(a.Methods, a.H.Status.Optimizer),
		chosen:   map[string]bool{a.H.Status.Optimizer: true},
		settings: widget.NewInput(200), budget: widget.NewReplaceable(40, optim.Format(usualBudget(&a.H.Status)))}
	shown, _ := f.list.List(a)
	shown.Ticks = true
	f.settings.Focus()
	f.budget.Focus()
	a.Dialog = f
}

// usualBudget is what ten epochs of the run so far cost, in gradient equivalents.
func usualBudget(s *event.Status) float64 {
	if s.Epoch < 1 || !(s.Equivalents > 0) || !format.Finite(s.Equivalents) {
		return 100
	}
	return math.Max(10, math.Min(chart.Nice(10*s.Equivalents/float64(s.Epoch)), 100_000))
}

func (f *form) Hints(*desk.App) []widget.Hint {
	h := []widget.Hint{widget.NewHint("enter", "start"), widget.NewHint("tab", "next field"),
		widget.NewHint("esc", "close")}
	if f.field == 0 {
		h = append(h, widget.NewHint("space", "takes part"), widget.NewHint("↑↓", "choose"))
	}
	return h
}

func (f *form) Handle(a *desk.App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "esc":
			return screen.Close, nil
		case "enter":
			c, err := f.plan(a)
			if err != "" {
				return screen.Stay, nil // the form says what is missing
			}
			return screen.Close, a.Send(c)
		case "tab":
			f.field = (f.field + 1) % 3
			return screen.Stay, nil
		case "shift+tab":
			f.field = (f.field + 2) % 3
			return screen.Stay, nil
		}
	}
	switch f.field {
	case 0:
		return screen.Stay, f.choose(a, msg)
	case 1:
		f.settings, _ = f.settings.Update(msg)
	default:
		f.budget.Handle(msg)
	}
	return screen.Stay, nil
}

func (f *form) List(a *desk.App) (*widget.Window, func(int)) {
	shown, choose := f.list.List(a)
	return shown, func(row int) {
		f.field = 0
		choose(row)
	}
}

// choose gives a message to the list: the space bar takes a method in or out, all else is the filter's.
func (f *form) choose(a *desk.App, msg tea.Msg) tea.Cmd {
	if k, _ := msg.(tea.KeyPressMsg); k.String() != "space" {
		f.list.Search(msg)
		return nil
	}
	m := f.list.Chosen()
	if m == nil {
		return nil
	}
	if reason := dialogs.Unsuited(a, m); reason != "" {
		return a.Notify(style.Warn, reason)
	}
	f.chosen[m.Name] = !f.chosen[m.Name]
	return nil
}

// plan makes the command of what is chosen, or says in a line why that is none.
func (f *form) plan(a *desk.App) (c event.Race, problem string) {
	var methods []*optim.Info
	for _, m := range a.Methods {
		if f.chosen[m.Name] {
			methods = append(methods, m)
		}
	}
	sweeps, problem := parseSweeps(f.settings.Value(), methods)
	if problem != "" {
		return c, problem
	}
	for _, m := range methods {
		c.Racers = append(c.Racers, expand(m, sweeps, &a.H.Status)...)
	}
	if n := len(c.Racers); n < fewestRacers || n > maxRacers {
		problem = format.Counted(n, "racer") + " so far: a race has " + strconv.Itoa(fewestRacers) + " to " +
			strconv.Itoa(maxRacers)
		if n < fewestRacers {
			problem += "; space adds one"
		}
		return c, problem
	}
	c.Equivalents, c.Seconds, problem = parseBudget(f.budget.Value())
	return c, problem
}

// sweep is a setting with the values that it takes, of one method or of every one that has it.
type sweep struct {
	method, key string
	values      []string
}

func (s *sweep) of(m *optim.Info) bool {
	return (s.method == "" || s.method == m.Name) && parameter(m, s.key) != nil
}

// parameter returns a method's hyperparameter, nil if it has none of that key.
func parameter(m *optim.Info, key string) *optim.Hyperparameter {
	for i := range m.Parameters {
		if m.Parameters[i].Key == key {
			return &m.Parameters[i]
		}
	}
	return nil
}

// parseSweeps reads [METHOD.]KEY=VALUE[,VALUE]… words and checks each value for every method that it is for.
func parseSweeps(text string, methods []*optim.Info) (out []sweep, problem string) {
	for _, word := range strings.Fields(text) {
		key, values, ok := strings.Cut(word, "=")
		s := sweep{key: key, values: slices.DeleteFunc(strings.Split(values, ","),
			func(v string) bool { return v == "" })}
		if i := strings.LastIndex(key, "."); i >= 0 {
			s.method, s.key = key[:i], key[i+1:]
		}
		if !ok || s.key == "" || len(s.values) == 0 {
			return nil, style.Clean(word) + ": expected KEY=VALUE or KEY=VALUE,VALUE"
		}
		used := false
		for _, m := range methods {
			if !s.of(m) {
				continue
			}
			used = true
			for _, v := range s.values {
				if _, err := parameter(m, s.key).Parse(v); err != nil {
					return nil, style.Clean(m.Name + ": " + err.Error())
				}
			}
		}
		if !used {
			return nil, "none of these has a setting " + style.Clean(key)
		}
		if i := slices.IndexFunc(out, func(o sweep) bool { return o.method == s.method && o.key == s.key }); i >= 0 {
			out[i].values = append(out[i].values, s.values...)
		} else {
			out = append(out, s)
		}
	}
	return out, ""
}

// expand returns the racers of a method: one for each combination of the values that are for it. The method of
// the run begins with the settings that it has now.
func expand(m *optim.Info, sweeps []sweep, now *event.Status) []event.Racer {
	racers := []event.Racer{{Name: m.Name, Optimizer: m.Name}}
	if m.Name == now.Optimizer {
		for _, s := range now.Settings {
			swept := slices.ContainsFunc(sweeps, func(w sweep) bool { return w.key == s.Key && w.of(m) })
			if p := parameter(m, s.Key); p != nil && !swept && s.Text != p.Text(p.Default) {
				racers[0].Set = append(racers[0].Set, s.Key+"="+s.Text)
			}
		}
	}
	for i := range sweeps {
		s := &sweeps[i]
		if !s.of(m) {
			continue
		}
		var next []event.Racer
		for _, r := range racers {
			for _, v := range s.values {
				set := s.key + "=" + v
				next = append(next, event.Racer{Name: r.Name + " " + set, Optimizer: r.Optimizer,
					Set: append(slices.Clone(r.Set), set)})
			}
		}
		racers = next
	}
	return racers
}

// parseBudget reads gradient equivalents, a time such as 30s, or both.
func parseBudget(text string) (equivalents, seconds float64, problem string) {
	for _, word := range strings.Fields(text) {
		if v, err := strconv.ParseFloat(word, 64); err == nil && v > 0 && format.Finite(v) {
			equivalents = v
		} else if d, err := time.ParseDuration(word); err == nil && d > 0 {
			seconds = d.Seconds()
		} else {
			return 0, 0, "budget " + style.Clean(word) + ": expected gradient equivalents, as 200, or a time, as 30s"
		}
	}
	if equivalents == 0 && seconds == 0 {
		return 0, 0, "a race needs a budget: gradient equivalents, as 200, or a time, as 30s"
	}
	return equivalents, seconds, ""
}

func (f *form) Draw(a *desk.App, w, h int) []string {
	v := a.PaneView()
	bw := min(w-2, 96)
	inner := bw - 4
	c, problem := f.plan(a)
	below := []string{"", f.entry(v, 1, "settings", &f.settings,
		"such as rate=0.001,0.003,0.01: a racer for each value", inner),
		f.entry(v, 2, "budget", &f.budget.Model, f.costs(a, c, problem), inner), ""}
	below = append(below, f.preview(v, c, problem, inner)...)
	header := v.Line(inner)
	f.label(header, 0, "methods")
	f.list.WriteFilter(header, "type to search · space takes part")
	room := max(2, h-2-1-len(below))
	rows := append([]string{header.Full()}, f.methods(v, inner, min(room, len(a.Methods)))...)
	return widget.DialogBox(&v.Pen, "race from the current weights", style.Clip(append(rows, below...), h-2), bw)
}

// label begins a field's row.
func (f *form) label(l *style.Line, field int, name string) {
	arrow, color := " ", style.Muted
	if f.field == field {
		arrow, color = "▸", style.Accent
	}
	l.Write(style.Accent, arrow).Write(color, style.Pad(name, 10))
}

// entry is a row with a field to type into, and what it is for while there is room.
func (f *form) entry(v *pane.View, field int, name string, t *textinput.Model, about string, w int) string {
	l := v.Line(w)
	f.label(l, field, name)
	widget.InputLine(&v.Pen, l, t, f.field == field)
	if style.Cells(about)+3 <= l.Left() {
		l.Write(style.Muted, "   "+about)
	}
	return l.Full()
}

// costs says what the budget will take, by the run so far.
func (f *form) costs(a *desk.App, c event.Race, problem string) string {
	s := &a.H.Status
	if problem != "" {
		return "gradient equivalents, or a time such as 30s"
	}
	text := budgetText(c.Equivalents, c.Seconds) + " each"
	if each := c.Equivalents / s.Equivalents * s.Elapsed; c.Seconds == 0 && format.Finite(each) && each > 0 {
		text += ", about " + format.Span(each*float64(len(c.Racers))) + " in all"
	}
	return text
}

// preview names the racers, or says what is wrong.
func (f *form) preview(v *pane.View, c event.Race, problem string, w int) []string {
	l := v.Line(w)
	if problem != "" {
		var rows []string
		for _, s := range strings.Split(ansi.Wrap(problem, max(w-2, 8), ""), "\n") {
			rows = append(rows, v.Line(w).Write(style.Warn, " "+s).Full())
		}
		return rows
	}
	l.Write(style.Text, " ")
	rows := make([]string, 0, 3)
	for i, r := range c.Racers {
		name := style.RacerLetter(i) + " " + style.Clean(r.Name)
		if l.Left() < style.Cells(name)+2 && l.Width > 1 && len(rows) < 2 {
			rows = append(rows, l.Full())
			l = v.Line(w).Write(style.Text, " ")
		}
		l.Write(style.RacerToken(i), name).Write(style.Text, "  ")
	}
	return append(rows, l.Full())
}

// methods is the list, each method with a mark that says whether it takes part.
func (f *form) methods(v *pane.View, w, n int) []string {
	shown, chosen := f.list.Visible(n, 2, w)
	if len(shown) == 0 {
		return style.Block([]string{v.Line(w).To(11).Write(style.Warn, "no optimizer matches").Full()}, w, n)
	}
	var rows []string
	for i, m := range shown {
		l := v.Line(w)
		arrow, name := " ", style.Text
		about, box := m.Title, style.Muted.Of("[ ] ")
		switch {
		case v.H.Lacks(m.Name):
			name, about, box = style.Muted, dialogs.Unsupported, style.Muted.Of("    ")
		case f.chosen[m.Name]:
			box = style.Accent.Of("[×] ")
		}
		if i == chosen && f.field == 0 {
			arrow, name = "▸", style.Chosen
		}
		l.Write(style.Accent, "  "+arrow+" ").Write(box.Token, box.Text).Write(name, m.Name).To(24)
		l.Write(style.Muted, ansi.Truncate(about, l.Left(), "…"))
		rows = append(rows, l.Full())
	}
	return style.Block(rows, w, n)
}
