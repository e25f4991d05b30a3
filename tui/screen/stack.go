package screen

import (
	"context"
	"reflect"
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Layer is a screen that others can stand over: a model that embeds a Base.
type Layer interface {
	tea.Model
	Model
}

// Stack shows the uppermost of several screens in one program. That one has the keys and the mouse; each gets what its
// own commands bring, so that a run continues beneath. A screen that quits is taken away, and the one at the bottom
// ends the program.
type Stack struct {
	layers []standing
	number int
	size   tea.WindowSizeMsg
}

// standing is a layer in its place.
type standing struct {
	Layer
	number int
	closed func() // nil for nothing to do
}

// pushMsg asks for a layer over all others.
type pushMsg struct {
	layer  Layer
	closed func()
}

// Push returns the message that puts a screen over the one whose command brings it. closed is called when that was
// left, on a goroutine of its own; nil for nothing to do.
func Push(l Layer, closed func()) tea.Msg { return pushMsg{l, closed} }

// RefusedMsg says why a screen could not be opened.
type RefusedMsg string

// Cover returns the command that puts a screen over the one that has the command.
func Cover(open func() (Layer, func(), error)) tea.Cmd {
	return func() tea.Msg {
		l, closed, err := open()
		if err != nil {
			return RefusedMsg(err.Error())
		}
		return Push(l, closed)
	}
}

// layerMsg is what a layer's command brought.
type layerMsg struct {
	number int
	msg    tea.Msg
}

// NewStack returns a stack of one screen.
func NewStack(bottom Layer) *Stack { return &Stack{layers: []standing{{Layer: bottom}}} }

// Run shows the stack as Base.Run shows a model.
func (s *Stack) Run(ctx context.Context, o Options, more ...tea.ProgramOption) error {
	defer func() {
		for i := len(s.layers) - 1; i > 0; i-- {
			s.layers[i].end()
		}
	}()
	return s.layers[0].Screen().Run(ctx, s, o, more...)
}

// Init implements tea.Model.
func (s *Stack) Init() tea.Cmd { return own(0, s.layers[0].Init()) }

// View implements tea.Model.
func (s *Stack) View() tea.View { return s.layers[len(s.layers)-1].View() }

// Update implements tea.Model.
func (s *Stack) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case layerMsg:
		i := slices.IndexFunc(s.layers, func(l standing) bool { return l.number == msg.number })
		if i < 0 {
			return s, nil
		}
		switch inner := msg.msg.(type) {
		case tea.QuitMsg:
			return s, s.leave(i)
		case pushMsg:
			return s, s.push(inner)
		}
		return s, s.pass(i, msg.msg)
	case tea.WindowSizeMsg:
		s.size = msg
		return s, s.toAll(msg)
	case tea.ColorProfileMsg, tea.BackgroundColorMsg:
		return s, s.toAll(msg)
	}
	return s, s.pass(len(s.layers)-1, msg)
}

func (s *Stack) toAll(msg tea.Msg) tea.Cmd {
	var all []tea.Cmd
	for i := range s.layers {
		all = append(all, s.pass(i, msg))
	}
	return tea.Batch(all...)
}

func (s *Stack) pass(i int, msg tea.Msg) tea.Cmd {
	_, cmd := s.layers[i].Update(msg)
	return own(s.layers[i].number, cmd)
}

// own has what a command brings go to its layer. What is Bubble Tea's own is for the program.
func own(number int, cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case nil:
			return nil
		case tea.BatchMsg:
			for i := range msg {
				msg[i] = own(number, msg[i])
			}
			return msg
		case tea.QuitMsg:
			return layerMsg{number, msg}
		default:
			if reflect.TypeOf(msg).PkgPath() == reflect.TypeFor[tea.QuitMsg]().PkgPath() {
				return msg
			}
			return layerMsg{number, msg}
		}
	}
}

// push puts a layer over the others, which looks as they do.
func (s *Stack) push(p pushMsg) tea.Cmd {
	top := s.layers[len(s.layers)-1].Screen()
	s.number++
	s.layers = append(s.layers, standing{p.layer, s.number, p.closed})
	top.Covered, p.layer.Screen().Over = true, true
	p.layer.Screen().follow(top)
	i := len(s.layers) - 1
	return tea.Batch(own(s.number, p.layer.Init()), s.pass(i, s.size))
}

// leave takes a layer away; without the one at the bottom there is nothing to show.
func (s *Stack) leave(i int) tea.Cmd {
	if i == 0 {
		return tea.Quit
	}
	l := s.layers[i]
	s.layers = slices.Delete(s.layers, i, i+1)
	top := s.layers[len(s.layers)-1].Screen()
	if top.Covered = false; i == len(s.layers) {
		top.follow(l.Screen())
	}
	return func() tea.Msg { l.end(); return nil }
}

// end ends what a layer waits for.
func (l *standing) end() {
	l.Screen().Cancel()
	l.Screen().Prefs.Flush()
	if l.closed != nil {
		l.closed()
	}
}

// follow takes over how another screen looks on the terminal, and what the user has chosen for good.
func (b *Base) follow(other *Base) {
	b.ThemeChoice, b.GlyphChoice, b.NoMouse = other.ThemeChoice, other.GlyphChoice, other.NoMouse
	b.Profile, b.Dark = other.Profile, other.Dark
	b.Prefs.stored = other.Prefs.stored
	b.Restyle()
}
