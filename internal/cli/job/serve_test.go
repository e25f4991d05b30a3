package job

import (
	"io"
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
)

// TestReminder: how to look is said again before the lines of epochs have scrolled it away.
func TestReminder(t *testing.T) {
	for line, want := range map[string]int{"to look: ssh -p 2222 box": 2, "": 0} {
		var messages strings.Builder
		printer, err := print.NewRecorder("text", io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		r := &reminder{Recorder: printer, messages: &messages, line: line}
		for epoch := range 50 {
			if err := r.Record(event.UnknownEpoch(epoch)); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Count(messages.String(), "\n"); got != want {
			t.Errorf("%q is said %d times, expected %d", line, got, want)
		}
	}
}
