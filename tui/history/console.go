package history

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// Bounds of what is kept of a program's console: as many lines, or up to twice as many, and that many bytes of each.
const (
	maxConsole     = 2048
	maxConsoleLine = 4096
)

// Console has the latest lines that the program which trains has printed, safe to draw.
type Console struct {
	Lines   []string
	Dropped int    // lines before the first of them
	Gen     uint64 // counts the changes
}

func (c *Console) apply(lines []event.ConsoleEvent) {
	if len(lines) == 0 {
		return
	}
	for i := range lines {
		text := lines[i].Text
		if len(text) > maxConsoleLine {
			text = text[:maxConsoleLine]
		}
		text = style.Clean(strings.ReplaceAll(ansi.Strip(text), "\t", "    "))
		before := len(c.Lines) + 1
		c.Lines = chart.KeepLast(append(c.Lines, strings.TrimRight(text, " ")), maxConsole)
		c.Dropped += before - len(c.Lines)
	}
	c.Gen++
}
