package pane

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/tuitest"
)

func consoleView(n int) *View {
	d := feed.Delta{}
	for i := range n {
		d.Console = append(d.Console, event.ConsoleEvent{Text: fmt.Sprintf("step %d: loss 0.%03d, and a good deal more that is told on the same line until it is too wide", i+1, 900-i)})
	}
	d.Console = append(d.Console, event.ConsoleEvent{Text: "Traceback (most recent call last):"}, event.ConsoleEvent{},
		event.ConsoleEvent{Text: "torch.cuda.OutOfMemoryError: CUDA out of memory"}, event.ConsoleEvent{Text: "no terrors here, 0 errors"})
	v := viewOf()
	v.H.Apply(&d)
	return v
}

func TestConsole(t *testing.T) {
	add := tuitest.Archive(t)
	for _, w := range []int{40, 80, 120} {
		v, p := consoleView(30), &Console{}
		add(fmt.Sprintf("%d columns", w), ansi.Strip(strings.Join(p.Body(v, w, 8, false), "\n")))
		for _, keys := range []string{"", "pgup k", "home", "right right", "/oom", "/out of"} {
			p := &Console{}
			if text, found := strings.CutPrefix(keys, "/"); found {
				p.Search()
				for _, r := range text {
					key := string(r)
					if r == ' ' {
						key = "space"
					}
					Press(p, v, key)
				}
			} else {
				zoomedBody(t, v, p, w, 8, keys)
			}
			add(fmt.Sprintf("%d columns, zoomed, %s", w, keys), ansi.Strip(strings.Join(p.Body(v, w, 8, true), "\n")))
		}
	}
}

// TestConsoleFollows: the newest line stays in sight, and who has scrolled away keeps what he reads.
func TestConsoleFollows(t *testing.T) {
	v, p := consoleView(30), &Console{}
	last := func() string { return strings.TrimRight(ansi.Strip(p.Body(v, 60, 5, true)[3]), " ") }
	if !strings.HasPrefix(last(), "no terrors") {
		t.Error(last())
	}
	Press(p, v, "pgup")
	before := last()
	v.H.Apply(&feed.Delta{Console: []event.ConsoleEvent{{Text: "one"}, {Text: "two"}}})
	if last() != before || !strings.HasPrefix(before, "step 24") {
		t.Errorf("%q, then %q", before, last())
	}
	Press(p, v, "end")
	if last() != "two" {
		t.Error(last())
	}
}

// TestFailureIsTinted: what failed stands out, what speaks of none does not.
func TestFailureIsTinted(t *testing.T) {
	for text, want := range map[string]bool{
		"Traceback (most recent call last):": true, "ValueError: x": true, "RuntimeError: CUDA out of memory.": true, "[rank0] ERROR at y": true,
		"Exception in thread 3": true, "loss 0.1 error 0.2": false, "0 errors": false, "mean squared error": false,
	} {
		if failure.MatchString(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
