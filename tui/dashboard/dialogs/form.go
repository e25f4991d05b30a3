// Package dialogs has what stands in front of a run's screen: forms of settings and files, the list of methods, the
// epochs to go back to, and who is watching.
package dialogs

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
	"newtop/tui/dashboard/desk"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// settingsForm edits the settings of the current method and the limits of the run: a huh form of one field a row,
// beside each what it means or what is wrong with it. Nothing is sent before all values are allowed, and then only
// those that were changed.
type settingsForm struct {
	method *optim.Info
	rows   []formRow
	form   *huh.Form
	values []string // as they are in the fields
	before []string // as they were
	At     int
	keys   int  // columns of the names
	field  int  // and of the fields
	fresh  bool // the field has the value that it came with, which the first character replaces
}

// formRow is a setting of the method, or a limit of the run.
type formRow struct {
	event.Setting
	setting *optim.Hyperparameter // nil: a limit
}

func (r *formRow) initial() string {
	if r.setting != nil {
		return r.setting.Text(r.setting.Default)
	}
	return r.Text
}

// The least and the most columns of a field.
const (
	leastField = 9
	mostField  = 18
)

// columns are what the field needs for its value, with a cursor behind it, or for its longest choice between arrows.
func (r *formRow) columns() int {
	n := style.Cells(r.Text) + 1
	if r.setting != nil {
		for _, c := range r.setting.Choices {
			n = max(n, style.Cells(c)+4)
		}
	}
	return n
}

// OpenForm opens the form at a setting, "" for the first.
func OpenForm(a *desk.App, key string) tea.Cmd {
	i := slices.IndexFunc(a.Methods, func(m *optim.Info) bool { return m.Name == a.H.Status.Optimizer })
	if i < 0 || len(a.Methods[i].Parameters) == 0 {
		return a.Tell(style.Warn, style.Clean(a.H.Status.Optimizer)+" has no settings")
	}
	m := a.Methods[i]
	f := &settingsForm{method: m, keys: 8, field: leastField, fresh: true}
	for k := range m.Parameters {
		p := &m.Parameters[k]
		row := formRow{event.Setting{Key: p.Key, Text: p.Text(p.Default), Meaning: p.Meaning, Range: p.Range()}, p}
		for _, s := range a.H.Status.Settings {
			if s.Key == p.Key {
				row.Text = s.Text
			}
		}
		f.rows = append(f.rows, row)
	}
	for _, s := range a.H.Status.Limits {
		f.rows = append(f.rows, formRow{s, nil})
	}
	f.values = make([]string, len(f.rows))
	fields := make([]huh.Field, len(f.rows))
	for k := range f.rows {
		r := &f.rows[k]
		f.keys, f.field = max(f.keys, style.Cells(r.Key)), max(f.field, r.columns())
		f.values[k] = r.Text
		f.before = append(f.before, r.Text)
		fields[k] = f.fieldOf(r, k)
	}
	f.field = min(f.field, mostField)
	f.form = huh.NewForm(huh.NewGroup(fields...)).WithShowHelp(false).WithShowErrors(false).
		WithTheme(huh.ThemeFunc(formTheme)).WithWidth(f.field).WithHeight(len(fields))
	f.form.Init() // its commands blink cursors and ask for sizes, which nobody needs here
	f.form.GetFocusedField().Focus()
	if to := slices.IndexFunc(f.rows, func(r formRow) bool { return r.Key == key }); to > 0 {
		f.move(to)
	}
	a.Dialog = f
	return nil
}

// fieldOf makes a row's field: text for a number, names to choose from otherwise.
func (f *settingsForm) fieldOf(r *formRow, k int) huh.Field {
	if r.setting != nil && r.setting.Choices != nil {
		return huh.NewSelect[string]().Key(r.Key).Options(huh.NewOptions(r.setting.Choices...)...).Value(
			&f.values[k]).Inline(true)
	}
	return huh.NewInput().Key(r.Key).Prompt("").Inline(true).CharLimit(40).Value(&f.values[k])
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

func (f *settingsForm) Hints(*desk.App) []widget.Hint {
	return []widget.Hint{widget.NewHint("enter", "apply"), widget.NewHint("esc", "cancel"),
		widget.NewHint("↑↓", "field"), widget.NewHint("ctrl+d", "default"), widget.NewHint("ctrl+u", "clear")}
}

// move goes to another field.
func (f *settingsForm) move(to int) {
	f.fresh = true
	for ; f.At < to; f.At++ {
		f.form.NextField()
	}
	for ; f.At > to; f.At-- {
		f.form.PrevField()
	}
}

func (f *settingsForm) Handle(a *desk.App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	n := len(f.values)
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "esc":
			return screen.Close, nil
		case "enter":
			return f.apply(a)
		case "tab", "down":
			f.move((f.At + 1) % n)
			return screen.Stay, nil
		case "shift+tab", "up":
			f.move((f.At + n - 1) % n)
			return screen.Stay, nil
		case "ctrl+d":
			f.rewrite(f.rows[f.At].initial())
			return screen.Stay, nil
		}
	}
	f.replace(msg)
	// What a key makes of a field is done when Update returns; its command would only blink the cursor.
	if m, _ := f.form.Update(msg); m != nil {
		f.form, _ = m.(*huh.Form)
	}
	return screen.Stay, nil
}

// replace empties a field whose value the first character replaces.
func (f *settingsForm) replace(msg tea.Msg) {
	if _, ok := f.form.GetFocusedField().(*huh.Input); ok && f.fresh && widget.Types(msg) {
		f.rewrite("")
	}
	f.fresh = f.fresh && !widget.Edits(msg)
}

// rewrite puts a text into the field.
func (f *settingsForm) rewrite(text string) {
	f.values[f.At], f.fresh = text, true
	switch field := f.form.GetFocusedField().(type) {
	case *huh.Input:
		field.Value(&f.values[f.At])
	case *huh.Select[string]:
		field.Value(&f.values[f.At])
	}
}

// problem says what is wrong with a field's value, "" if nothing is.
func (f *settingsForm) problem(i int) string {
	r := &f.rows[i]
	if f.values[i] == f.before[i] || r.setting == nil { // a limit that is not allowed is refused
		return ""
	}
	if _, err := r.setting.Parse(strings.TrimSpace(f.values[i])); err != nil {
		return "expected " + r.Range
	}
	return ""
}

// apply sends what was changed, or goes to the first value that is not allowed.
func (f *settingsForm) apply(a *desk.App) (screen.Answer, tea.Cmd) {
	for i := range f.values {
		if f.problem(i) != "" {
			f.move(i)
			return screen.Stay, nil
		}
	}
	if a.H.Status.Optimizer != f.method.Name {
		return screen.Close, a.Tell(style.Warn, "the method is "+style.Clean(
			a.H.Status.Optimizer)+" by now: nothing was changed")
	}
	var cmds []tea.Cmd
	for i, text := range f.values {
		if text = strings.TrimSpace(text); text != f.before[i] {
			cmds = append(cmds, a.Send(event.Set{Key: f.rows[i].Key, Value: text}))
		}
	}
	return screen.Close, tea.Batch(cmds...)
}

func (f *settingsForm) Draw(a *desk.App, w, h int) []string {
	v := a.PaneView()
	bw := min(w-2, 100)
	inner := bw - 4
	fields := strings.Split(f.form.View(), "\n")
	about := f.about(v, inner)
	room := max(1, min(len(f.values), h-2-len(about)-1))
	first := max(0, min(f.At-room/2, len(f.values)-room))
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
	if len(f.rows) > len(f.method.Parameters) {
		title += " and of the run"
	}
	if room < len(f.values) {
		title += " " + format.Count(f.At+1) + "/" + format.Count(len(f.values))
	}
	return widget.DialogBox(&v.Pen, title, style.Clip(rows, h-2), bw)
}

// row is a setting's name, its field, and what it means or what is wrong.
func (f *settingsForm) row(v *pane.View, i int, field string, w int) string {
	p := &f.rows[i]
	l := v.Line(w)
	arrow, ink := " ", style.Text
	if i == f.At {
		arrow, ink = "▸", style.Accent
	}
	changed := " "
	if f.values[i] != f.before[i] {
		changed = "*"
	}
	l.Put(style.Accent, arrow).Put(style.Warn, changed).Put(ink, style.Pad(style.Clean(p.Key), f.keys)+"  ")
	l.Raw(style.Fit(field, f.field), f.field).Put(style.Text, "  ")
	if problem := f.problem(i); problem != "" {
		return l.Put(style.Bad, "× "+ansi.Truncate(problem, l.Left()-2, "…")).Full()
	}
	return l.Put(style.Muted, ansi.Truncate(style.Clean(p.Meaning), l.Left(), "…")).Full()
}

// about says all of the chosen setting: what it means, its range, default and source. It takes the same number of
// rows whichever is chosen.
func (f *settingsForm) about(v *pane.View, w int) []string {
	most, all := 0, make([][]string, len(f.rows))
	for i := range f.rows {
		p := &f.rows[i]
		say := func(t style.Token, s string) {
			for _, r := range strings.Split(ansi.Wrap(style.Clean(s), max(w, 8), ""), "\n") {
				all[i] = append(all[i], v.Line(w).Put(t, r).Full())
			}
		}
		say(style.Text, p.Key+": "+p.Meaning)
		facts := p.Range
		if p.setting != nil {
			facts += " · default " + setting(p.setting)
			if p.setting.Source != "" {
				facts += " · " + p.setting.Source
			}
		}
		ink := style.Muted
		if f.problem(i) != "" {
			ink = style.Bad
		}
		say(ink, facts)
		most = max(most, len(all[i]))
	}
	return style.Block(all[f.At], w, min(most, 4))
}
