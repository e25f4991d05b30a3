package dashboard

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// paletteEntry is something that the palette can do.
type paletteEntry struct {
	kind string // what sort of thing it is
	text string // what it is called, or does
	also string // more words that find it, and say more about it
	key  string // what does the same without the palette; "" if nothing does
	why  string // why it can't be done at present; "" if it can
	do   func(a *App) tea.Cmd
}

// palette is one search over all that can be done: commands, methods, panes, settings and looks. Each entry
// shows its key, so that the next time the palette is not needed.
type palette struct {
	entries     []paletteEntry
	names, text []string
	filter      textinput.Model
	shown       []int
	at          int
}

func openPalette(a *App) {
	p := &palette{entries: paletteEntries(a), filter: widget.NewInput(60)}
	for _, e := range p.entries {
		p.names = append(p.names, e.text)
		p.text = append(p.text, e.text+" "+e.also+" "+e.kind)
	}
	p.filter.Focus()
	p.shown = widget.Find("", p.names, p.text)
	a.dialog = p
}

// paletteEntries lists what there is, in the order of an empty search.
func paletteEntries(a *App) (out []paletteEntry) {
	out = append(out, commandEntries(a)...)
	out = append(out, audienceEntries(a)...)
	out = append(out, methodEntries(a)...)
	out = append(out, paneEntries(a)...)
	out = append(out, settingEntries(a)...)
	out = append(out, lookEntries(a)...)
	return append(out, dataEntries(a)...)
}

// commandEntries are the bindings, apart from those that only choose among methods.
func commandEntries(a *App) (out []paletteEntry) {
	for _, b := range byGroup(a) {
		keys := b.Keys()
		if b.Help().Key == "1…9" || keys[0] == ":" {
			continue
		}
		each := b.Each
		if len(each) == 0 {
			each = [][2]string{{keys[0], b.Help().Desc}}
		}
		for _, k := range each {
			out = append(out, paletteEntry{kind: "command", text: k[1], key: k[0], why: b.Lacking(a),
				do: func(a *App) tea.Cmd { return b.Act(a, k[0]) }})
		}
	}
	return out
}

// byGroup lists the bindings in the order of the help: what ends a run does not come first.
func byGroup(a *App) (out []*screen.Binding[*App]) {
	for _, g := range groups {
		for i := range a.bindings {
			if a.bindings[i].Group == g && !a.bindings[i].Absent(a) {
				out = append(out, &a.bindings[i])
			}
		}
	}
	return out
}

func methodEntries(a *App) (out []paletteEntry) {
	why := unchangeable(a)
	for i, m := range a.picker.methods {
		e := paletteEntry{kind: "method", text: m.Name, also: m.Title, why: why,
			do: func(a *App) tea.Cmd { return a.command(event.Switch{Optimizer: m.Name}) }}
		if i < 9 {
			e.key = string(rune('1' + i))
		}
		if m.Name == a.h.Status.Optimizer && why == "" {
			e.also += ", the current method"
		}
		out = append(out, e)
	}
	return out
}

func paneEntries(a *App) (out []paletteEntry) {
	why := covered(a)
	for id := range layout.ID(len(a.panes)) {
		out = append(out, paletteEntry{kind: "pane", text: a.panes[id].Name(a.paneView()), also: "zoom", why: why,
			do: func(a *App) tea.Cmd { a.focus = id; return a.zoom(true) }})
	}
	return out
}

func settingEntries(a *App) (out []paletteEntry) {
	why := unchangeable(a)
	for _, s := range a.h.Status.Settings {
		out = append(out, paletteEntry{kind: "setting", text: style.Clean(s.Key) + " = " + format.Setting(style.Clean(s.Text)), also: style.Clean(s.Meaning), why: why,
			do: func(a *App) tea.Cmd { return openForm(a, s.Key) }})
	}
	return out
}

// lookEntries are how things look.
func lookEntries(a *App) (out []paletteEntry) {
	for t := style.ThemeAuto; t < style.ThemeCount; t++ {
		e := paletteEntry{kind: "theme", text: t.String(), also: "theme colours", do: func(a *App) tea.Cmd { return a.SetTheme(t) }}
		if t == a.ThemeChoice {
			e.also += ", the current theme"
		}
		out = append(out, e)
	}
	for g := style.GlyphsAuto; g < style.GlyphsCount; g++ {
		e := paletteEntry{kind: "glyphs", text: g.String(), also: "glyphs of drawings", do: func(a *App) tea.Cmd { return a.SetGlyphs(g) }}
		if g == a.GlyphChoice {
			e.also += ", the current glyphs"
		}
		out = append(out, e)
	}
	for _, format := range []string{"svg", "png", "pdf"} {
		out = append(out, paletteEntry{kind: "picture", text: "chart as " + strings.ToUpper(format), also: "picture of the focused pane", why: unpicturable(a),
			do: func(a *App) tea.Cmd { return chartPicture(a, format) }})
	}
	return out
}

// dataEntries name the data sets. A run has one data set for good, so they only say how to train on another.
func dataEntries(a *App) (out []paletteEntry) {
	for _, name := range a.dataSets {
		name = style.Clean(name)
		why := "starts another run: newtop --data " + name
		if a.h.Run != nil && name == style.Clean(a.h.Run.Data.Name) {
			why = "this run trains on it"
		}
		out = append(out, paletteEntry{kind: "data", text: name, also: "data set", why: why})
	}
	return out
}

func (p *palette) Hints(*App) []widget.Hint {
	return []widget.Hint{widget.NewHint("enter", "do"), widget.NewHint("↑↓", "choose"), widget.NewHint("type", "to search"), widget.NewHint("esc", "close")}
}

func (p *palette) Handle(a *App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		last := max(0, len(p.shown)-1)
		switch k.String() {
		case "esc":
			return screen.Close, nil
		case "enter":
			return p.choose(a)
		case "up", "shift+tab", "ctrl+p":
			p.at = max(0, p.at-1)
			return screen.Stay, nil
		case "down", "tab", "ctrl+n":
			p.at = min(p.at+1, last)
			return screen.Stay, nil
		case "pgup":
			p.at = max(0, p.at-10)
			return screen.Stay, nil
		case "pgdown":
			p.at = min(p.at+10, last)
			return screen.Stay, nil
		}
	}
	before := p.filter.Value()
	p.filter, _ = p.filter.Update(msg)
	if p.filter.Value() != before {
		p.shown, p.at = widget.Find(p.filter.Value(), p.names, p.text), 0
	}
	return screen.Stay, nil
}

// choose does what is chosen. What can't be done says why, and leaves the palette open.
func (p *palette) choose(a *App) (screen.Answer, tea.Cmd) {
	if p.at >= len(p.shown) {
		return screen.Stay, nil
	}
	e := &p.entries[p.shown[p.at]]
	if e.why != "" {
		return screen.Stay, a.Tell(style.Warn, e.why)
	}
	return screen.Close, e.do(a)
}

func (p *palette) Draw(a *App, w, h int) []string {
	v := a.paneView()
	bw := min(w-2, 92)
	inner := bw - 4
	l := v.Line(inner)
	l.Put(style.Accent, ": ")
	if p.filter.Value() == "" {
		l.Put(style.Accent, "▏").Put(style.Muted, "type to search commands, methods, panes, settings, themes")
	} else {
		widget.InputLine(&v.Pen, l, &p.filter, true)
	}
	rows := []string{l.Full(), ""}
	room := max(1, min(h-4, 26)-2)
	if len(p.shown) == 0 {
		rows = append(rows, v.Line(inner).Put(style.Warn, "nothing matches").Full())
		room--
	}
	first := max(0, min(p.at-room/2, len(p.shown)-room))
	for i := first; i < min(first+room, len(p.shown)); i++ {
		rows = append(rows, p.row(v, &p.entries[p.shown[i]], i == p.at, inner))
	}
	title := "commands"
	if n := len(p.shown); n > 0 {
		title += " " + format.Count(p.at+1) + "/" + format.Count(n)
	}
	return widget.DialogBox(&v.Pen, title, style.Clip(style.Block(rows, inner, room+2), h-2), bw)
}

// row has the kind, the text with more about it, and the key at the right end.
func (p *palette) row(v *pane.View, e *paletteEntry, chosen bool, w int) string {
	arrow, ink, more := " ", style.Text, style.Muted
	switch {
	case chosen:
		arrow, ink = "▸", style.Chosen
	case e.why != "":
		ink = style.Muted
	}
	right := v.Line(12)
	if e.key != "" {
		right.Put(style.Accent, e.key)
	}
	l := v.Line(w - max(right.Width, 3) - 1)
	l.Put(style.Accent, arrow+" ").Put(style.Muted, style.Pad(e.kind, 9)).Put(ink, ansi.Truncate(e.text, l.Left(), "…"))
	about := e.also
	if e.why != "" {
		about = e.why
		if chosen {
			more = style.Warn
		}
	}
	if about != "" && l.Left() > 6 {
		l.Put(more, "  "+ansi.Truncate(about, l.Left()-2, "…"))
	}
	row := v.Line(w).Raw(l.Full(), l.Room)
	return row.To(w - right.Width).Append(right).Full()
}
