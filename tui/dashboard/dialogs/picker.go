package dialogs

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
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

// Picker is the list of optimizers with a fuzzy filter. With an empty filter a digit chooses at once.
type Picker struct {
	methods []*optim.Info
	texts   []string // what the filter searches, one a method
	filter  textinput.Model
	shown   []int // indices into methods, best match first
	at      int   // of shown
	window  widget.Window
}

// NewPicker returns the list with a method chosen.
func NewPicker(methods []*optim.Info, current string) *Picker {
	p := &Picker{methods: methods, filter: textinput.New()}
	for _, m := range methods {
		p.texts = append(p.texts, m.Name+" "+m.Title+" "+m.Paper)
	}
	p.filter.Prompt = ""
	p.filter.CharLimit = 40
	p.filter.SetVirtualCursor(false)
	p.filter.Focus()
	p.match()
	p.at = max(0, slices.IndexFunc(methods, func(m *optim.Info) bool { return m.Name == current }))
	return p
}

// OpenPicker opens the list to switch to one of the methods.
func OpenPicker(a *desk.App) { a.Dialog = NewPicker(a.Methods, a.H.Status.Optimizer) }

// Unsupported is why a model can't be trained by a method that it lacks something for.
const Unsupported = "the model lacks what it needs"

// Unsuited is why the run can't switch to a method, "" if it can.
func Unsuited(a *desk.App, m *optim.Info) string {
	if a.H.Lacks(m.Name) {
		return m.Name + ": " + Unsupported
	}
	return ""
}

func (p *Picker) Handle(a *desk.App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	key, _ := msg.(tea.KeyPressMsg)
	chosen := p.numbered(key.String())
	switch key.String() {
	case "esc":
		return screen.Close, nil
	case "enter":
		chosen = p.Chosen()
	default:
		if chosen == nil {
			p.Search(msg)
		}
	}
	switch {
	case chosen == nil:
		return screen.Stay, nil
	case Unsuited(a, chosen) != "":
		return screen.Stay, a.Notify(style.Warn, Unsuited(a, chosen))
	}
	return screen.Close, a.Send(event.Switch{Optimizer: chosen.Name})
}

func (p *Picker) List(*desk.App) (*widget.Window, func(int)) {
	return &p.window, func(row int) { p.at = row }
}

func (*Picker) Hints(*desk.App) []widget.Hint {
	return []widget.Hint{widget.NewHint("enter", "switch"), widget.NewHint("↑↓", "choose"),
		widget.NewHint("1…9", "by number"), widget.NewHint("esc", "close")}
}

// match applies the filter.
func (p *Picker) match() {
	names := make([]string, len(p.methods))
	for i, m := range p.methods {
		names[i] = m.Name
	}
	p.shown, p.at = widget.Find(p.filter.Value(), names, p.texts), 0
}

// numbered is the method that a digit chooses while nothing is searched for, nil if it chooses none.
func (p *Picker) numbered(k string) *optim.Info {
	if n, err := strconv.Atoi(k); err == nil && p.filter.Value() == "" && n >= 1 && n <= len(p.methods) {
		return p.methods[n-1]
	}
	return nil
}

// Chosen is the method that the arrow points at, nil if none matches the filter.
func (p *Picker) Chosen() *optim.Info {
	if p.at < len(p.shown) {
		return p.methods[p.shown[p.at]]
	}
	return nil
}

// Search moves through the list by a key, or gives a key or pasted text to the filter.
func (p *Picker) Search(msg tea.Msg) {
	last := max(0, len(p.shown)-1)
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "up", "shift+tab", "ctrl+p":
			p.at = max(0, p.at-1)
			return
		case "down", "tab", "ctrl+n":
			p.at = min(p.at+1, last)
			return
		case "home", "pgup":
			p.at = 0
			return
		case "end", "pgdown":
			p.at = last
			return
		}
	}

	before := p.filter.Value()
	p.filter, _ = p.filter.Update(msg)
	if p.filter.Value() != before {
		p.match()
	}
}

func (p *Picker) Draw(a *desk.App, w, h int) []string { return p.box(a.PaneView(), w, h) }

// box returns the list in a frame of at most w × h.
func (p *Picker) box(v *pane.View, w, h int) []string {
	bw := min(w-2, 104)
	inner := bw - 4
	title := "optimizers"
	if n := len(p.shown); n > 0 {
		title += " " + strconv.Itoa(p.at+1) + "/" + strconv.Itoa(n)
	}
	rows := make([]string, 0, h)
	l := v.Line(inner)
	p.WriteFilter(l, "type to search · ↑↓ move · enter switches · esc closes")
	rows = append(rows, l.Full(), "")
	room := max(1, h-4-2)
	if bw >= 84 {
		const left = 24
		detail := p.detail(v, inner-left-2, room)
		list := p.list(v, left, min(room, max(len(p.methods), len(detail))), false)
		return widget.DialogBox(&v.Pen, title, append(rows, style.Beside(
			list, left, widget.CutRows(&v.Pen, detail, room))...), bw)
	}
	listed := min(len(p.methods), max(3, room/2))
	list := p.list(v, inner, listed, true)
	rows = append(rows, list...)
	left := room - len(list) - 1
	if detail := p.detail(v, inner, left+1); len(detail) > 1 && left > 0 {
		detail = widget.CutRows(&v.Pen, detail[1:], left) // the list has the title
		rows = append(append(rows, ""), detail...)
	}
	return widget.DialogBox(&v.Pen, title, rows, bw)
}

// WriteFilter writes what is searched for, and while that is nothing what can be done.
func (p *Picker) WriteFilter(l *style.Line, hint string) {
	if text := p.filter.Value(); text != "" {
		l.Write(style.Muted, "filter ").Write(style.Strong, style.Clean(text)).Write(style.Accent, "▏")
	} else {
		l.Write(style.Muted, hint)
	}
}

// Visible returns at most n methods around the chosen one, which stand in lines of w columns that begin at line y of
// the dialog, and the place of the chosen one among them.
func (p *Picker) Visible(n, y, w int) (methods []*optim.Info, chosen int) {
	first, end := p.window.Show(p.at, len(p.shown), n, y, w)
	for _, k := range p.shown[first:end] {
		methods = append(methods, p.methods[k])
	}
	return methods, p.at - first
}

// list returns at most n rows around the chosen one, with the methods' titles if asked.
func (p *Picker) list(v *pane.View, w, n int, titles bool) []string {
	rows := make([]string, 0, n)
	first, end := p.window.Show(p.at, len(p.shown), n, 3, w)
	if len(p.shown) == 0 {
		return append(rows, v.Line(w).Write(style.Warn, "no optimizer matches").Full())
	}
	for i := first; i < end; i++ {
		k := p.shown[i]
		m := p.methods[k]
		l := v.Line(w)
		number := "   "
		if k < 9 {
			number = " " + strconv.Itoa(k+1) + " "
		}
		name, title, arrow := style.Strong, style.Muted, " "
		about := m.Title
		switch {
		case i == p.at: // the detail says what it lacks
			name, title, arrow = style.Chosen, style.Text, "▸"
		case v.H.Lacks(m.Name):
			name, about = style.Muted, Unsupported
		}
		l.Write(style.Accent, arrow+number)
		l.Write(name, m.Name)
		if titles {
			l.To(20).Write(title, ansi.Truncate(about, l.Left(), "…"))
		}
		rows = append(rows, l.Full())
	}
	return rows
}

// detail says what the chosen method is, what it costs and what can be set. Where that is more than that many rows, the
// settings stand without their meanings.
func (p *Picker) detail(v *pane.View, w, room int) []string {
	m := p.Chosen()
	if m == nil {
		return nil
	}
	var rows []string
	say := func(t style.Token, s string) {
		for _, r := range strings.Split(ansi.Wrap(style.Clean(s), max(w, 8), ""), "\n") {
			rows = append(rows, v.Line(w).Write(t, r).Full())
		}
	}
	say(style.Strong, m.Title)
	if v.H.Lacks(m.Name) {
		say(style.Warn, Unsupported)
	}
	paper := m.Paper
	if m.Equations != "" {
		paper += ", " + m.Equations
	}
	if paper != "" {
		say(style.Muted, paper)
	}
	say(style.Text, m.Summary)
	if m.Cost != "" {
		say(style.Text, "cost  "+m.Cost)
	}
	if len(rows)+len(m.Parameters) > room {
		return append(rows, settingText(v, m, w)...)
	}
	return append(rows, settingRows(v, m, w)...)
}

// settingRows has a row for each of a method's settings: its default and what it means.
func settingRows(v *pane.View, m *optim.Info, w int) (rows []string) {
	keys, values := 0, 0
	for i := range m.Parameters {
		keys, values = max(keys, style.Cells(m.Parameters[i].Key)), max(values, style.Cells(setting(&m.Parameters[i])))
	}
	for i := range m.Parameters {
		h := &m.Parameters[i]
		l := v.Line(w)
		l.Write(keyColor(m, h), style.Pad(h.Key, keys)).Write(style.Strong, "  "+style.Pad(setting(h), values)+"  ")
		l.Write(style.Muted, ansi.Truncate(style.Clean(h.Meaning), l.Left(), "…"))
		rows = append(rows, l.Full())
	}
	return rows
}

// settingText has as many settings in a row as it has room for.
func settingText(v *pane.View, m *optim.Info, w int) (rows []string) {
	l := v.Line(w)
	for i := range m.Parameters {
		h := &m.Parameters[i]
		parts := []style.Part{keyColor(m, h).Of(h.Key), style.Text.Of(" "), style.Strong.Of(setting(h))}
		if l.Width > 0 && style.Width(parts)+3 > l.Left() {
			rows = append(rows, l.Full())
			l = v.Line(w)
		}
		if l.Width > 0 {
			l.Write(style.Text, "   ")
		}
		for _, p := range parts {
			l.Write(p.Token, p.Text)
		}
	}
	return append(rows, l.Full())
}

// keyColor is that of a setting's name: the one that + and − scale stands out.
func keyColor(m *optim.Info, h *optim.Hyperparameter) style.Token {
	if h.Key == m.Primary {
		return style.Accent
	}
	return style.Text
}

// setting writes a default.
func setting(h *optim.Hyperparameter) string {
	if math.IsInf(h.Default, 0) {
		return format.Number(h.Default)
	}
	return format.Setting(h.Text(h.Default))
}

// SwitchTo asks for the method with an index in the list.
func SwitchTo(a *desk.App, i int) tea.Cmd {
	if i >= len(a.Methods) {
		return a.Notify(style.Warn, "there is no optimizer "+strconv.Itoa(i+1))
	}
	if reason := Unsuited(a, a.Methods[i]); reason != "" {
		return a.Notify(style.Warn, reason)
	}
	return a.Send(event.Switch{Optimizer: a.Methods[i].Name})
}
