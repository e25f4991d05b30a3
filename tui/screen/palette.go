package screen

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Entry is something that the search for commands can do.
type Entry[M Model] struct {
	Kind   string // what sort of thing it is
	Text   string // what it is called, or does
	Also   string // more words that find it, and say more about it
	Words  string // more that find it
	Key    string // what does the same without the search; "" if nothing does
	Reason string // why it can't be done at present; "" if it can
	Do     func(m M) tea.Cmd
}

// synonyms are words that people type for what a key's help says otherwise.
var synonyms = [...][2]string{{"rate or damping", "learning rate lr step size"}, {"halve the", "slower"},
	{"double the", "faster"}, {"compute the spectrum", "eigenvalues hessian curvature sharpness"},
	{"race methods", "compare against versus branch"}, {"an earlier epoch", "undo rewind restore checkpoint"},
	{"save the model", "export weights checkpoint download"}, {"pause", "stop hold continue resume"},
	{"an optimizer", "method algorithm change switch"}, {"theme", "colors dark light"}, {"help", "keys shortcuts"},
	{"recorded runs", "history list experiments compare load open"}, {"quit", "exit close leave"},
	{"edit the settings", "hyperparameters options configure change limit epochs batch"}, {"accuracy", "errors"},
	{"picture", "screenshot image export svg"}, {"logarithmic", "scale axis linear"}, {"zoom", "maximize enlarge full"}}

// wordsFor are the synonyms of what a help says.
func wordsFor(help string) (out string) {
	for _, s := range synonyms {
		if strings.Contains(help, s[0]) {
			out += " " + s[1]
		}
	}
	return out
}

// BoundEntries returns what a binding does as entries, one for each of its keys that differ.
func BoundEntries[M Model](b *Binding[M], m M) (out []Entry[M]) {
	each := b.Each
	if len(each) == 0 {
		each = [][2]string{{b.Keys[0], b.Help}}
	}
	for _, k := range each {
		out = append(out, Entry[M]{Kind: "command", Text: k[1], Words: wordsFor(k[1]), Key: k[0], Reason: b.Reason(m),
			Do: func(m M) tea.Cmd { return b.Act(m, k[0]) }})
	}
	return out
}

// Commands returns the entries of all bindings but the search's own.
func Commands[M Model](bindings []*Binding[M], m M) (out []Entry[M]) {
	for _, b := range bindings {
		if b.Keys[0] != ":" && !b.Absent(m) {
			out = append(out, BoundEntries(b, m)...)
		}
	}
	return out
}

// Palette is one search over all that can be done. Each entry shows its key, so that the next time it is not needed.
type Palette[M Model] struct {
	entries     []Entry[M]
	names, text []string
	about       string // what can be searched, for whom has not typed
	title       string
	filter      textinput.Model
	shown       []int
	at          int
	window      widget.Window
}

// NewPalette returns the search over entries, in the order of an empty one.
func NewPalette[M Model](entries []Entry[M], about string) *Palette[M] {
	p := &Palette[M]{entries: entries, about: about, title: "commands", filter: widget.NewInput(60)}
	for _, e := range p.entries {
		p.names = append(p.names, e.Text)
		p.text = append(p.text, e.Text+" "+e.Also+" "+e.Kind+" "+e.Words)
	}
	p.filter.Focus()
	p.shown = widget.Find("", p.names, p.text)
	return p
}

// NewOverview returns a search over facts, each a kind, a name and a value, of which one is copied.
func NewOverview[M Model](facts [][3]string, title string) *Palette[M] {
	var entries []Entry[M]
	for _, f := range facts {
		entries = append(entries, Entry[M]{Kind: f[0], Text: style.Clean(f[1]), Also: style.Clean(f[2]),
			Do: func(m M) tea.Cmd {
				return tea.Batch(tea.SetClipboard(f[2]), m.Screen().Notify(style.Text,
					"sent to the terminal's clipboard: "+style.Clean(f[2])))
			}})
	}
	return NewPalette(entries, "settings, machine, summary, metrics; enter copies").Titled(title)
}

// Titled gives it another title than that of a search for commands.
func (p *Palette[M]) Titled(title string) *Palette[M] { p.title = title; return p }

// At is the place of the chosen entry, from 0.
func (p *Palette[M]) At() int { return p.at }

// List implements Lister.
func (p *Palette[M]) List(M) (*widget.Window, func(int)) {
	return &p.window, func(row int) { p.at = row }
}

// Hints implements Dialog.
func (p *Palette[M]) Hints(M) []widget.Hint {
	return []widget.Hint{widget.NewHint("enter", "do"), widget.NewHint("↑↓", "choose"),
		widget.NewHint("type", "to search"), widget.NewHint("esc", "close")}
}

// Handle implements Dialog.
func (p *Palette[M]) Handle(m M, msg tea.Msg) (Answer, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		last := max(0, len(p.shown)-1)
		switch k.String() {
		case "esc":
			return Close, nil
		case "enter":
			return p.choose(m)
		case "up", "shift+tab", "ctrl+p":
			p.at = max(0, p.at-1)
			return Stay, nil
		case "down", "tab", "ctrl+n":
			p.at = min(p.at+1, last)
			return Stay, nil
		case "pgup":
			p.at = max(0, p.at-10)
			return Stay, nil
		case "pgdown":
			p.at = min(p.at+10, last)
			return Stay, nil
		}
	}
	before := p.filter.Value()
	p.filter, _ = p.filter.Update(msg)
	if p.filter.Value() != before {
		p.shown, p.at = widget.Find(p.filter.Value(), p.names, p.text), 0
	}
	return Stay, nil
}

// choose does what is chosen. What can't be done says why, and leaves the palette open.
func (p *Palette[M]) choose(m M) (Answer, tea.Cmd) {
	if p.at >= len(p.shown) {
		return Stay, nil
	}
	e := &p.entries[p.shown[p.at]]
	if e.Reason != "" {
		return Stay, m.Screen().Notify(style.Warn, e.Reason)
	}
	return Close, e.Do(m)
}

// Draw implements Dialog.
func (p *Palette[M]) Draw(m M, w, h int) []string {
	v := &m.Screen().Pen
	bw := min(w-2, 92)
	inner := bw - 4
	l := v.Line(inner)
	l.Write(style.Accent, ": ")
	if p.filter.Value() == "" {
		l.Write(style.Accent, "▏").Write(style.Muted, "type to search "+p.about)
	} else {
		widget.InputLine(v, l, &p.filter, true)
	}
	rows := []string{l.Full(), ""}
	room := max(1, min(h-4, 26)-2)
	if len(p.shown) == 0 {
		rows = append(rows, v.Line(inner).Write(style.Warn, "nothing matches").Full())
		room--
	}
	first, end := p.window.Show(p.at, len(p.shown), room, 1+len(rows), inner)
	for i := first; i < end; i++ {
		rows = append(rows, p.row(v, &p.entries[p.shown[i]], i == p.at, inner))
	}
	title := p.title
	if n := len(p.shown); n > 0 {
		title += " " + format.Count(p.at+1) + "/" + format.Count(n)
	}
	return widget.DialogBox(v, title, style.Clip(style.Block(rows, inner, room+2), h-2), bw)
}

// row has the kind, the text with more about it, and the key at the right end.
func (p *Palette[M]) row(v *style.Pen, e *Entry[M], chosen bool, w int) string {
	arrow, color, more := " ", style.Text, style.Muted
	switch {
	case chosen:
		arrow, color = "▸", style.Chosen
	case e.Reason != "":
		color = style.Muted
	}
	right := v.Line(12)
	if e.Key != "" {
		right.Write(style.Accent, e.Key)
	}
	l := v.Line(w - max(right.Width, 3) - 1)
	l.Write(style.Accent, arrow+" ").Write(style.Muted, style.Pad(e.Kind, 9)).Write(
		color, ansi.Truncate(e.Text, l.Left(), "…"))
	about := e.Also
	if e.Reason != "" {
		about = e.Reason
		if chosen {
			more = style.Warn
		}
	}
	if about != "" && l.Left() > 6 {
		l.Write(more, "  "+ansi.Truncate(about, l.Left()-2, "…"))
	}
	row := v.Line(w).Raw(l.Full(), l.Room)
	return row.To(w - right.Width).Append(right).Full()
}
