package history

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// Bounds of what is kept of a program's console: as many lines, or up to twice as many, and so many bytes of each.
const (
	keptConsole = 2048
	keptLine    = 4096
)

// Console has the newest lines that the program which trains has printed, safe to draw.
type Console struct {
	Lines []string
	Gone  int    // lines before the first of them
	Gen   uint64 // counts the changes
}

func (c *Console) take(lines []event.ConsoleEvent) {
	if len(lines) == 0 {
		return
	}
	for i := range lines {
		text := lines[i].Text
		if len(text) > keptLine {
			text = text[:keptLine]
		}
		text = style.Clean(strings.ReplaceAll(ansi.Strip(text), "\t", "    "))
		before := len(c.Lines) + 1
		c.Lines = chart.Newest(append(c.Lines, strings.TrimRight(text, " ")), keptConsole)
		c.Gone += before - len(c.Lines)
	}
	c.Gen++
}
