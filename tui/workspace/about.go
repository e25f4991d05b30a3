package workspace

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/rundiff"
	"newtop/trainer/event"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// about says in that many rows what the selected run is, and what it chose that others did not.
func about(m *model, w, n int) []string {
	if m.at == nil {
		return nil
	}
	rows := []string{m.Line(w).Write(style.Border, style.Repeat("─", w)).Full()}
	_, word := m.at.state()
	l := m.Line(w).Write(style.Text, " ").Write(style.Strong, ansi.Truncate(
		m.at.name, max(1, w-style.Cells(word)-4), "…")).Write(style.Muted, "  "+word)
	rows = append(rows, l.Full())
	if m.at.source != "" && m.at.source != m.at.name {
		text := m.at.source
		if over := style.Cells(text) - w + 2; over > 0 {
			text = "…" + ansi.TruncateLeft(text, over+1, "")
		}
		rows = append(rows, m.Line(w).Write(style.Muted, " "+text).Full())
	}
	if left := m.at.remaining(); left != "" {
		rows = append(rows, m.Line(w).Write(style.Muted, " left ").Write(style.Text, left).Full())
	}
	for _, r := range m.at.members {
		_, value := m.value(r)
		rows = append(rows, m.Line(w).Write(style.Muted, " "+widget.Cut(r.name, w/2, m.names())+" ").Write(
			style.Text, value).Full())
	}
	for _, c := range m.chosen() {
		l := m.Line(w).Write(style.Muted, " "+ansi.Truncate(c[0], w/2, "…")+" ").Write(
			style.Text, ansi.Truncate(c[1], w, "…"))
		rows = append(rows, l.Full())
	}
	return style.Clip(rows, n)
}

// chosen is what the selected run chose: first what not all runs did.
func (l *list) chosen() (out [][2]string) {
	l.compareChoices()
	at := slices.Index(l.runs, l.at)
	if at < 0 { // a group
		return nil
	}
	for _, differs := range []bool{true, false} {
		for i := range l.choices {
			if r := &l.choices[i]; r.Values[at] != "" && r.Contested() == differs {
				out = append(out, [2]string{style.Clean(r.Name), style.Clean(r.Values[at])})
			}
		}
	}
	return out
}

// compareChoices finds what was chosen for the runs, once they are others.
func (l *list) compareChoices() {
	begun := make([]*event.RunEvent, len(l.runs))
	for i, r := range l.runs {
		begun[i] = r.h.Run
	}
	if !slices.Equal(begun, l.started) {
		openings := make([]*event.RunEvent, len(l.runs))
		for i, r := range l.runs {
			if r.h.Run != nil {
				opening := *r.h.Run
				opening.Settings = r.settings()
				openings[i] = &opening
			}
		}
		l.started, l.choices = begun, rundiff.Table(openings)
	}
}
