package dashboard

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// settingsForm edits the settings of the current method: a huh form of one field a row, beside each what it means
// or what is wrong with it. Nothing is sent before all values are allowed, and then only those that were changed.
type settingsForm struct {
	method *optim.Info
	form   *huh.Form
	values []string // as they are in the fields
	before []string // as they were
	at     int
	keys   int // columns of the names
}

// What the fields look like: huh's own styles would not follow the theme.
const formField = 18

// openForm opens the form at a setting, "" for the first.
func openForm(a *App, key string) tea.Cmd {
	i := slices.IndexFunc(a.picker.methods, func(m *optim.Info) bool { return m.Name == a.h.Status.Optimizer })
	if i < 0 || len(a.picker.methods[i].Parameters) == 0 {
		return a.Tell(style.Warn, style.Clean(a.h.Status.Optimizer)+" has no settings")
	}
	m := a.picker.methods[i]
	f := &settingsForm{method: m, values: make([]string, len(m.Parameters)), keys: 8}
	fields := make([]huh.Field, len(m.Parameters))
	for k := range m.Parameters {
		p := &m.Parameters[k]
		f.keys = max(f.keys, style.Cells(p.Key))
		f.values[k] = p.Text(p.Default)
		for _, s := range a.h.Status.Settings {
			if s.Key == p.Key {
				f.values[k] = s.Text
			}
		}
		f.before = append(f.before, f.values[k])
		fields[k] = f.fieldOf(p, k)
	}
	f.form = huh.NewForm(huh.NewGroup(fields...)).WithShowHelp(false).WithShowErrors(false).
		WithTheme(huh.ThemeFunc(formTheme)).WithWidth(formField).WithHeight(len(fields))
	f.form.Init() // its commands blink cursors and ask for sizes, which nobody needs here
	f.form.GetFocusedField().Focus()
	if to := slices.IndexFunc(m.Parameters, func(p optim.Hyperparameter) bool { return p.Key == key }); to > 0 {
		f.move(to)
	}
	a.dialog = f
	return nil
}

// fieldOf makes a setting's field: text for a number, names to choose from otherwise.
func (f *settingsForm) fieldOf(p *optim.Hyperparameter, k int) huh.Field {
	if p.Choices != nil {
		return huh.NewSelect[string]().Key(p.Key).Options(huh.NewOptions(p.Choices...)...).Value(&f.values[k]).Inline(true)
	}
	return huh.NewInput().Key(p.Key).Prompt("").Inline(true).CharLimit(40).Value(&f.values[k])
}

// formTheme leaves fields bare: labels, inks and errors are the dialog's.
func formTheme(bool) *huh.Styles {
	var s huh.Styles
	s.FieldSeparator = lipgloss.NewStyle().SetString("\n")
	s.Focused.PrevIndicator = lipgloss.NewStyle().SetString("← ")
	s.Focused.NextIndicator = lipgloss.NewStyle().SetString(" →")
	s.Focused.TextInput.Text = lipgloss.NewStyle().Bold(true)
	s.Focused.SelectedOption = lipgloss.NewStyle().Bold(true)
	return &s
}

func (f *settingsForm) Hints(*App) []widget.Hint {
	return []widget.Hint{widget.NewHint("enter", "apply"), widget.NewHint("esc", "cancel"), widget.NewHint("↑↓", "field"), widget.NewHint("ctrl+d", "default"), widget.NewHint("ctrl+u", "clear")}
}

// move goes to another field.
func (f *settingsForm) move(to int) {
	for ; f.at < to; f.at++ {
		f.form.NextField()
	}
	for ; f.at > to; f.at-- {
		f.form.PrevField()
	}
}

func (f *settingsForm) Handle(a *App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	n := len(f.values)
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "esc":
			return screen.Close, nil
		case "enter":
			return f.apply(a)
		case "tab", "down":
			f.move((f.at + 1) % n)
			return screen.Stay, nil
		case "shift+tab", "up":
			f.move((f.at + n - 1) % n)
			return screen.Stay, nil
		case "ctrl+d":
			f.reset()
			return screen.Stay, nil
		}
	}
	// What a key makes of a field is done when Update returns; its command would only blink the cursor.
	if m, _ := f.form.Update(msg); m != nil {
		f.form, _ = m.(*huh.Form)
	}
	return screen.Stay, nil
}

// reset puts the default into the field.
func (f *settingsForm) reset() {
	p := &f.method.Parameters[f.at]
	f.values[f.at] = p.Text(p.Default)
	switch field := f.form.GetFocusedField().(type) {
	case *huh.Input:
		field.Value(&f.values[f.at])
	case *huh.Select[string]:
		field.Value(&f.values[f.at])
	}
}

// problem says what is wrong with a field's value, "" if nothing is.
func (f *settingsForm) problem(i int) string {
	if f.values[i] == f.before[i] {
		return ""
	}
	if _, err := f.method.Parameters[i].Parse(strings.TrimSpace(f.values[i])); err != nil {
		return "expected " + f.method.Parameters[i].Range()
	}
	return ""
}

// apply sends what was changed, or goes to the first value that is not allowed.
func (f *settingsForm) apply(a *App) (screen.Answer, tea.Cmd) {
	for i := range f.values {
		if f.problem(i) != "" {
			f.move(i)
			return screen.Stay, nil
		}
	}
	if a.h.Status.Optimizer != f.method.Name {
		return screen.Close, a.Tell(style.Warn, "the method is "+style.Clean(a.h.Status.Optimizer)+" by now: nothing was changed")
	}
	var cmds []tea.Cmd
	for i, text := range f.values {
		if text = strings.TrimSpace(text); text != f.before[i] {
			cmds = append(cmds, a.command(event.Set{Key: f.method.Parameters[i].Key, Value: text}))
		}
	}
	return screen.Close, tea.Batch(cmds...)
}

func (f *settingsForm) Draw(a *App, w, h int) []string {
	v := a.paneView()
	bw := min(w-2, 100)
	inner := bw - 4
	fields := strings.Split(f.form.View(), "\n")
	about := f.about(v, inner)
	room := max(1, min(len(f.values), h-2-len(about)-1))
	first := max(0, min(f.at-room/2, len(f.values)-room))
	rows := make([]string, 0, h)
	for i := first; i < first+room; i++ {
		field := ""
		if i < len(fields) {
			field = fields[i]
		}
		rows = append(rows, f.row(v, i, field, inner))
	}
	rows = append(append(rows, ""), about...)
	title := "settings of " + style.Clean(f.method.Name)
	if room < len(f.values) {
		title += " " + format.Count(f.at+1) + "/" + format.Count(len(f.values))
	}
	return widget.DialogBox(&v.Pen, title, style.Clip(rows, h-2), bw)
}

// row is a setting's name, its field, and what it means or what is wrong.
func (f *settingsForm) row(v *pane.View, i int, field string, w int) string {
	p := &f.method.Parameters[i]
	l := v.Line(w)
	arrow, ink := " ", style.Text
	if i == f.at {
		arrow, ink = "▸", style.Accent
	}
	changed := " "
	if f.values[i] != f.before[i] {
		changed = "*"
	}
	l.Put(style.Accent, arrow).Put(style.Warn, changed).Put(ink, style.Pad(style.Clean(p.Key), f.keys)+"  ")
	l.Raw(style.Fit(field, formField), formField).Put(style.Text, "  ")
	if problem := f.problem(i); problem != "" {
		return l.Put(style.Bad, "× "+ansi.Truncate(problem, l.Left()-2, "…")).Full()
	}
	return l.Put(style.Muted, ansi.Truncate(style.Clean(p.Meaning), l.Left(), "…")).Full()
}

// about says all of the chosen setting: what it means, its range, default and source. It takes the same number of
// rows whichever is chosen.
func (f *settingsForm) about(v *pane.View, w int) []string {
	most, all := 0, make([][]string, len(f.method.Parameters))
	for i := range f.method.Parameters {
		p := &f.method.Parameters[i]
		say := func(t style.Token, s string) {
			for _, r := range strings.Split(ansi.Wrap(style.Clean(s), max(w, 8), ""), "\n") {
				all[i] = append(all[i], v.Line(w).Put(t, r).Full())
			}
		}
		say(style.Text, p.Key+": "+p.Meaning)
		facts := p.Range() + " · default " + setting(p)
		if p.Source != "" {
			facts += " · " + p.Source
		}
		ink := style.Muted
		if f.problem(i) != "" {
			ink = style.Bad
		}
		say(ink, facts)
		most = max(most, len(all[i]))
	}
	return style.Block(all[f.at], w, min(most, 4))
}
