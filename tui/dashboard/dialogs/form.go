// Package dialogs has what stands in front of a run's screen: forms of settings and files, the list of methods, the
// epochs to go back to, and who is watching.
package dialogs

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
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

// settingsForm edits the settings of the current method and the limits of the run, one field a row, beside each what it
// means or what is wrong with it. Nothing is sent before all values are allowed, and then only those that were changed.
type settingsForm struct {
	widget.Form
	method *optim.Info
	rows   []formRow
	keys   int // columns of the names
	values int // and of the fields
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

// Columns of a field.
const (
	minField = 9
	maxField = 18
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

// field makes the row's field: text for a number, names to choose from otherwise.
func (r *formRow) field() widget.Field {
	f := widget.NewField(r.Key, r.Meaning, 40, r.Text)
	if r.setting == nil { // a limit that is not allowed is refused
		return f
	}
	f.Choices = r.setting.Choices
	f.Check = func(text string) string {
		if text == r.Text {
			return ""
		}
		if _, err := r.setting.Parse(strings.TrimSpace(text)); err != nil {
			return "expected " + r.Range
		}
		return ""
	}
	return f
}

// OpenForm opens the form at a setting, "" for the first.
func OpenForm(a *desk.App, key string) tea.Cmd {
	s := &a.H.Status
	i := slices.IndexFunc(a.Methods, func(m *optim.Info) bool { return m.Name == s.Optimizer })
	if i < 0 || len(a.Methods[i].Parameters) == 0 {
		return a.Notify(style.Warn, style.Clean(s.Optimizer)+" has no settings")
	}
	m := a.Methods[i]
	f := &settingsForm{method: m, keys: 8, values: minField}
	for k := range m.Parameters {
		p := &m.Parameters[k]
		row := formRow{event.Setting{Key: p.Key, Text: p.Text(p.Default), Meaning: p.Meaning, Range: p.Range()}, p}
		for _, now := range s.Settings {
			if now.Key == p.Key {
				row.Text = now.Text
			}
		}
		f.rows = append(f.rows, row)
	}
	for _, limit := range s.Limits {
		f.rows = append(f.rows, formRow{limit, nil})
	}
	for k := range f.rows {
		r := &f.rows[k]
		f.keys, f.values = max(f.keys, style.Cells(r.Key)), max(f.values, r.columns())
		f.Fields = append(f.Fields, r.field())
		if r.Key == key {
			f.At = k
		}
	}
	f.values = min(f.values, maxField)
	a.Dialog = f
	return nil
}

func (f *settingsForm) Hints(*desk.App) []widget.Hint {
	return []widget.Hint{widget.NewHint("enter", "apply"), widget.NewHint("esc", "cancel"),
		widget.NewHint("↑↓", "field"), widget.NewHint("ctrl+d", "default"), widget.NewHint("ctrl+u", "clear")}
}

func (f *settingsForm) Handle(a *desk.App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	if k, _ := msg.(tea.KeyPressMsg); k.String() == "ctrl+d" {
		f.Fields[f.At].Set(f.rows[f.At].initial())
		return screen.Stay, nil
	}
	switch f.Form.Handle(msg) {
	case widget.Cancelled:
		return screen.Close, nil
	case widget.Submitted:
		return screen.Close, f.apply(a)
	}
	return screen.Stay, nil
}

// changed reports whether a field has another value than it came with.
func (f *settingsForm) changed(i int) bool { return f.Fields[i].Value() != f.rows[i].Text }

// apply sends what was changed.
func (f *settingsForm) apply(a *desk.App) tea.Cmd {
	if now := a.H.Status.Optimizer; now != f.method.Name {
		return a.Notify(style.Warn, "the method is "+style.Clean(now)+" by now: nothing was changed")
	}
	var cmds []tea.Cmd
	for i := range f.rows {
		if f.changed(i) {
			value := strings.TrimSpace(f.Fields[i].Value())
			cmds = append(cmds, a.Send(event.Set{Key: f.rows[i].Key, Value: value}))
		}
	}
	return tea.Batch(cmds...)
}

func (f *settingsForm) Draw(a *desk.App, w, h int) []string {
	v := a.PaneView()
	bw := min(w-2, 100)
	inner := bw - 4
	about := f.about(v, inner)
	n := len(f.rows)
	room := max(1, min(n, h-2-len(about)-1))
	first := max(0, min(f.At-room/2, n-room))
	rows := make([]string, 0, h)
	for i := first; i < first+room; i++ {
		rows = append(rows, f.row(v, i, inner))
	}
	rows = append(append(rows, ""), about...)
	title := "settings of " + style.Clean(f.method.Name)
	if len(f.rows) > len(f.method.Parameters) {
		title += " and of the run"
	}
	if room < n {
		title += " " + format.Count(f.At+1) + "/" + format.Count(n)
	}
	return widget.DialogBox(&v.Pen, title, style.Clip(rows, h-2), bw)
}

// row is a setting's name, its field, and what it means or what is wrong.
func (f *settingsForm) row(v *pane.View, i int, w int) string {
	p := &f.rows[i]
	l := v.Line(w)
	arrow, color := " ", style.Text
	if i == f.At {
		arrow, color = "▸", style.Accent
	}
	changed := " "
	if f.changed(i) {
		changed = "*"
	}
	l.Write(style.Accent, arrow).Write(style.Warn, changed).Write(color, style.Pad(style.Clean(p.Key), f.keys)+"  ")
	value := v.Line(f.values)
	f.Fields[i].Draw(&v.Pen, value, i == f.At)
	l.Append(value).To(f.keys + f.values + 6)
	if problem := f.Fields[i].Invalid; problem != "" {
		return l.Write(style.Bad, "× "+ansi.Truncate(problem, l.Left()-2, "…")).Full()
	}
	return l.Write(style.Muted, ansi.Truncate(style.Clean(p.Meaning), l.Left(), "…")).Full()
}

// about says all of the chosen setting: what it means, its range, default and source. It takes the same number of
// rows whichever is chosen.
func (f *settingsForm) about(v *pane.View, w int) []string {
	most, all := 0, make([][]string, len(f.rows))
	for i := range f.rows {
		p := &f.rows[i]
		say := func(t style.Token, s string) {
			for _, r := range strings.Split(ansi.Wrap(style.Clean(s), max(w, 8), ""), "\n") {
				all[i] = append(all[i], v.Line(w).Write(t, r).Full())
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
		color := style.Muted
		if f.Fields[i].Invalid != "" {
			color = style.Bad
		}
		say(color, facts)
		most = max(most, len(all[i]))
	}
	return style.Block(all[f.At], w, min(most, 4))
}
