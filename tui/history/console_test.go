package history

import (
	"fmt"
	"strings"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// TestConsole: lines are safe to draw and bounded, the newest stay, and a restart forgets them.
func TestConsole(t *testing.T) {
	h := &History{}
	h.Apply(&feed.Delta{Console: []event.ConsoleEvent{{Text: "\x1b[31mepoch\x1b[m\t1\u202e\r"}, {Text: strings.Repeat("x", 1<<20)}}})
	if got := h.Console.Lines; len(got) != 2 || got[0] != "epoch    1" || len(got[1]) != maxConsoleLine {
		t.Errorf("%.40q", got)
	}
	gen := h.Console.Gen
	const n = 3 * maxConsole
	for i := range n {
		h.Apply(&feed.Delta{Console: []event.ConsoleEvent{{Text: fmt.Sprint(i)}}})
	}
	c := &h.Console
	if len(c.Lines) < maxConsole || len(c.Lines) > 2*maxConsole || c.Dropped+len(c.Lines) != n+2 || c.Lines[len(c.Lines)-1] != fmt.Sprint(n-1) || c.Gen == gen {
		t.Errorf("%d lines, %d gone, generation %d", len(c.Lines), c.Dropped, c.Gen)
	}
	gen = c.Gen
	h.Apply(&feed.Delta{Restart: true})
	if len(h.Console.Lines) != 0 || h.Console.Gen == gen {
		t.Errorf("after a restart: %d lines", len(h.Console.Lines))
	}
}
