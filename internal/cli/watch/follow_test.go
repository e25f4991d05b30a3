package watch

import (
	"strings"
	"testing"

	"newtop/trainer/event"
)

// TestPrinterRestart prints what changed of a source that began anew, and nothing else twice.
func TestPrinterRestart(t *testing.T) {
	epoch := func(n int, loss float64) event.Event {
		e := event.UnknownEpoch(n)
		e.Loss = event.Float(loss)
		return e
	}
	run := func(id string) event.Event {
		return event.RunEvent{Version: 1, ID: id, Data: event.DataInfo{Name: id}}
	}
	first := []event.Event{run("a"), epoch(1, 3), epoch(2, 2), epoch(3, 1)}
	for _, test := range []struct {
		name, format string
		then         []event.Event
		out          string // what is printed after the restart, as types and epochs, or its first words
		messages     string
	}{
		{"the same", "jsonl", append(first[:4:4], epoch(4, 0)), "epoch 4", ""},
		{"resumed", "jsonl", append(first[:2:2], event.ResumeEvent{Epoch: 1}, epoch(2, 2)), "rewind 3 resume 1 epoch 2", ""},
		{"cut short", "jsonl", first[:2], "", ""},
		{"a late value", "jsonl", []event.Event{run("a"), epoch(1, 3), epoch(2, 2), epoch(3, 1.5), epoch(4, 0)}, "rewind 3 epoch 3 epoch 4", ""},
		{"all late", "jsonl", []event.Event{run("a"), epoch(1, 4), epoch(2, 2)}, "rewind 3 epoch 1 epoch 2", ""},
		{"another run", "jsonl", []event.Event{run("b"), epoch(1, 3)}, "run epoch 1", "newtop: the run starts again\n"},
		{"late text", "text", []event.Event{run("a"), epoch(1, 3), epoch(2, 2.5)}, "2 2.5", "newtop: what follows replaces the epochs after 1\n"},
		{"other text", "text", []event.Event{run("b"), epoch(1, 3)}, "epoch loss 1 3", "newtop: the run starts again\nb\n"},
	} {
		var out, messages strings.Builder
		p, err := newPrinter(test.format, &out, &messages)
		if err != nil {
			t.Fatal(err)
		}
		tell := func(events []event.Event) {
			for _, e := range events {
				if err := p.print(e); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.out.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		tell(first)
		out.Reset()
		messages.Reset()
		if err := p.restart(); err != nil {
			t.Fatal(err)
		}
		tell(test.then)
		if got := inShort(t, test.format, out.String()); got != test.out {
			t.Errorf("%s: printed %q, expected %q", test.name, got, test.out)
		}
		if got := messages.String(); got != test.messages {
			t.Errorf("%s: messages %q, expected %q", test.name, got, test.messages)
		}
	}
}

// inShort makes types and epochs of JSON lines, and words of a table without the columns of which nothing is known.
func inShort(t *testing.T, format, text string) string {
	t.Helper()
	var words []string
	for line := range strings.Lines(text) {
		if format == "text" {
			words = append(words, strings.Fields(line)[:2]...)
			continue
		}
		e, err := event.DecodeEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		short := strings.SplitN(line, ",", 3)
		words = append(words, strings.Split(short[0], `"`)[3])
		if _, is := e.(event.RunEvent); !is {
			words = append(words, strings.Trim(strings.TrimPrefix(short[1], `"epoch":`), "}\n"))
		}
	}
	return strings.Join(words, " ")
}
