package screen

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/tui/style"
)

// sheet is a screen that notes what comes to it.
type sheet struct {
	Base
	name string
	came []string
	next func(msg tea.Msg) tea.Cmd
}

type newsMsg string

func newSheet(name string) *sheet {
	s := &sheet{Base: NewBase(&Options{Environ: []string{"LANG=C.UTF-8"}}), name: name}
	s.Restyle()
	return s
}

func (s *sheet) Init() tea.Cmd { return func() tea.Msg { return newsMsg("init of " + s.name) } }

func (s *sheet) View() tea.View { return tea.NewView(s.name) }

func (s *sheet) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case newsMsg:
		s.came = append(s.came, string(msg))
	case tea.KeyPressMsg:
		s.came = append(s.came, msg.String())
	case tea.WindowSizeMsg:
		s.Handle(msg)
	}
	if s.next != nil {
		return s, s.next(msg)
	}
	return s, nil
}

// settle runs commands until nothing comes of them any more, and reports whether the program ends.
func settle(s *Stack, cmd tea.Cmd) (ended bool) {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			ended = settle(s, c) || ended
		}
	case tea.QuitMsg:
		return true
	default:
		_, next := s.Update(msg)
		return settle(s, next)
	}
	return ended
}

// A screen over another has the keys, looks like it and leaves to it; what the one beneath waits for still comes to that.
func TestStack(t *testing.T) {
	under, over := newSheet("under"), newSheet("over")
	var closed bool
	pending := func() tea.Msg { return newsMsg("late") }
	under.next = func(msg tea.Msg) tea.Cmd {
		k, ok := msg.(tea.KeyPressMsg)
		switch {
		case !ok:
			return nil
		case k.String() == "q":
			return tea.Quit
		}
		return func() tea.Msg { return Push(over, func() { closed = true }) }
	}
	over.next = func(msg tea.Msg) tea.Cmd {
		if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "q" {
			return tea.Quit
		}
		return nil
	}
	s := NewStack(under)
	press := func(k rune) bool {
		_, cmd := s.Update(tea.KeyPressMsg{Code: k, Text: string(k)})
		return settle(s, cmd)
	}
	settle(s, s.Init())
	s.Update(tea.WindowSizeMsg{Width: 70, Height: 20})
	under.ThemeChoice = style.ThemeSafe
	late := own(0, pending)
	press('p')
	if s.View().Content != "over" || over.Width != 70 || over.ThemeChoice != style.ThemeSafe || !over.Over || !under.Covered {
		t.Errorf("%q shows, %d wide, theme %v", s.View().Content, over.Width, over.ThemeChoice)
	}
	settle(s, late)
	press('x')
	over.ThemeChoice = style.ThemeLight
	if press('q') || s.View().Content != "under" || !closed || under.ThemeChoice != style.ThemeLight || under.Covered || over.Ctx.Err() == nil {
		t.Errorf("%q shows after the upper one was left, closed %v, theme %v", s.View().Content, closed, under.ThemeChoice)
	}
	if !press('q') {
		t.Error("the last screen does not end the program")
	}
	want := [2]string{"init of under p late q", "init of over x q"}
	for i, m := range []*sheet{under, over} {
		got := ""
		for _, c := range m.came {
			got += " " + c
		}
		if got != " "+want[i] {
			t.Errorf("%s got%s, not %s", m.name, got, want[i])
		}
	}
}
