package screen

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/tui/style"
)

// TestResizeStorm drags a window for a second: the first and the last size come through, and few between.
func TestResizeStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		msgs := make(chan tea.Msg, 100)
		c := Debouncer{Now: time.Now, Send: func(m tea.Msg) { msgs <- m }}
		var got []tea.WindowSizeMsg
		take := func(m tea.Msg) {
			if s, ok := c.Filter(nil, m).(tea.WindowSizeMsg); ok {
				got = append(got, s)
			}
		}
		for i := range 100 {
			take(tea.WindowSizeMsg{Width: 80 + i, Height: 24})
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		for len(msgs) > 0 {
			take(<-msgs)
		}
		if want := []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 179, Height: 24}}; !slices.Equal(got, want) {
			t.Errorf("sizes %v", got)
		}
		take(tea.WindowSizeMsg{Width: 90, Height: 30})
		if len(got) != 3 {
			t.Error("a single resize had to wait")
		}
	})
}

func TestMotionIsThinned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Debouncer{Now: time.Now}
		n := 0
		for i := range 1000 {
			if c.Filter(nil, tea.MouseMotionMsg{X: i}) != nil {
				n++
			}
			if c.Filter(nil, tea.MouseReleaseMsg{X: i}) == nil || c.Filter(nil, tea.KeyPressMsg{Code: 'x'}) == nil {
				t.Fatal("a release or a key was dropped")
			}
			time.Sleep(time.Millisecond)
		}
		if n < 25 || n > 31 {
			t.Errorf("%d motions in a second", n)
		}
	})
}

// TestRates checks what an environment gets.
func TestRates(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		fps     int
	}{
		"local":   {[]string{"TERM=xterm-256color"}, localFPS},
		"ssh":     {[]string{"SSH_TTY=/dev/pts/1", "SSH_CONNECTION=1 2 3 4"}, remoteFPS},
		"mosh":    {[]string{"SSH_CONNECTION=1 2 3 4"}, remoteFPS},
		"tmux":    {[]string{"TMUX=/tmp/tmux-0/default,1,0"}, localFPS},
		"sudo -s": {[]string{"SSH_TTY="}, localFPS},
	} {
		if got := frames(0, c.environ); got != c.fps {
			t.Errorf("%s: %d flushes a second", name, got)
		}
	}
	if frames(500, nil) != 120 || frames(15, []string{"SSH_TTY=x"}) != 15 {
		t.Error("the rate that was asked for")
	}
}

// TestNotesExpire: a note's end removes that note, and no newer one.
func TestNotesExpire(t *testing.T) {
	b := NewBase(&Options{})
	defer b.Cancel()
	b.Notify(style.Text, "older")
	b.Notify(style.Text, "newer")
	if b.Handle(expireMsg(b.notices - 1)); b.Notice.Text != "newer" {
		t.Error("an older note's end removed a newer note")
	}
	if b.Handle(expireMsg(b.notices)); b.Notice.Text != "" {
		t.Error("the note stays")
	}
}

// TestLargestScreen: of a terminal beyond any monitor's size a part is drawn.
func TestLargestScreen(t *testing.T) {
	c := Debouncer{Now: time.Now}
	if got := c.Filter(nil, tea.WindowSizeMsg{Width: 3000, Height: 3000}); got != (tea.WindowSizeMsg{Width: maxColumns, Height: maxRows}) {
		t.Errorf("%v", got)
	}
}
